/* SPDX-License-Identifier: GPL-2.0-only */
/* Options that a test changes. */
#ifndef SHIM_LINUX_KCONFIG_H
#define SHIM_LINUX_KCONFIG_H

#include <stdbool.h>

__attribute__((weak)) bool shim_preempt_rt;

#define CONFIG_PREEMPT_RT	shim_preempt_rt
#define IS_ENABLED(option)	(option)

#endif /* SHIM_LINUX_KCONFIG_H */
