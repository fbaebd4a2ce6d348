/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_TIME64_H
#define SHIM_LINUX_TIME64_H

#define NSEC_PER_MSEC	1000000ull
#define ns_to_ktime(ns)	(ns)

#endif /* SHIM_LINUX_TIME64_H */
