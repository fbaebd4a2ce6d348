/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_PROCESSOR_H
#define SHIM_LINUX_PROCESSOR_H

#include <linux/kernel.h>

#define cpu_relax()	shim_point()

#endif /* SHIM_LINUX_PROCESSOR_H */
