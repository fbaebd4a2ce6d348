/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_MINMAX_H
#define SHIM_LINUX_MINMAX_H

#include <linux/kernel.h>

#define max_t(type, a, b)	max((type)(a), (type)(b))

#endif /* SHIM_LINUX_MINMAX_H */
