/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages are the test's. */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

struct cpumask;
typedef struct cpumask *cpumask_var_t;
struct page;
struct vm_area_struct;

/* All that the test has. */
extern int shim_nr_cpus;
#define nr_cpu_ids	((unsigned int)shim_nr_cpus)
#define for_each_cpu(cpu, mask) \
	for ((void)(mask), (cpu) = 0; (cpu) < (unsigned int)shim_nr_cpus; (cpu)++)

#endif /* SHIM_LINUX_CPUMASK_H */
