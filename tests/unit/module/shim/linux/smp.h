/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls to CPUs are carried out when the test says so. */
#ifndef SHIM_LINUX_SMP_H
#define SHIM_LINUX_SMP_H

#include <stdbool.h>

struct cpumask;

typedef struct {
	void (*func)(void *info);
	void *info;
} call_single_data_t;

int smp_processor_id(void);
int smp_call_function_single_async(int cpu, call_single_data_t *csd);
int smp_call_function_single(int cpu, void (*func)(void *info), void *info, int wait);
void on_each_cpu_mask(const struct cpumask *mask, void (*func)(void *info), void *info, bool wait);

#endif /* SHIM_LINUX_SMP_H */
