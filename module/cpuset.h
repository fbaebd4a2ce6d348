/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU sets from user space. */
#ifndef AUXT_CPUSET_H
#define AUXT_CPUSET_H

#include <linux/cpumask.h>

int auxt_cpuset_get(struct cpumask *cpus, u64 user, u32 len);

#endif /* AUXT_CPUSET_H */
