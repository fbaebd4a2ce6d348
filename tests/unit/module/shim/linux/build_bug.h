/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BUILD_BUG_H
#define SHIM_LINUX_BUILD_BUG_H

#define static_assert(condition)	_Static_assert(condition, #condition)

#endif /* SHIM_LINUX_BUILD_BUG_H */
