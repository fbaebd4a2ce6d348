/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_ERR_H
#define SHIM_LINUX_ERR_H

#include <errno.h>

#define ERR_PTR(error)	((void *)(long)(error))
#define PTR_ERR(p)	((long)(p))
#define IS_ERR(p)	((unsigned long)(p) >= -4095ul)

#endif /* SHIM_LINUX_ERR_H */
