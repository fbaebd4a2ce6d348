/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's events; the test creates them. */
#ifndef SHIM_LINUX_PERF_EVENT_H
#define SHIM_LINUX_PERF_EVENT_H

#include_next <linux/perf_event.h>
#include <linux/types.h>

struct perf_event;
struct perf_sample_data;
struct pt_regs;
struct task_struct;

typedef void (*perf_overflow_handler_t)(struct perf_event *event, struct perf_sample_data *data,
					struct pt_regs *regs);

enum { PERF_EVENT_STATE_ERROR = -2, PERF_EVENT_STATE_INACTIVE = 0, PERF_EVENT_STATE_ACTIVE = 1 };

#define PERF_ATTACH_CONTEXT	1

struct pmu {
	const char *name;
};

struct perf_event {
	struct perf_event_attr attr;
	struct {
		u64 interrupts;
	} hw;
	const struct pmu *pmu;
	int state;
	unsigned int attach_state;
	perf_overflow_handler_t overflow_handler;
	void *overflow_handler_context;
	int cpu;
};

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t handler,
						    void *context);
int perf_event_release_kernel(struct perf_event *event);

#endif /* SHIM_LINUX_PERF_EVENT_H */
