/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_HW_BREAKPOINT_H
#define SHIM_LINUX_HW_BREAKPOINT_H

#include_next <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

/* The kernel's: pinned, and a hit at each access. */
static inline void hw_breakpoint_init(struct perf_event_attr *attr)
{
	*attr = (struct perf_event_attr) {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(*attr), .pinned = 1, .sample_period = 1,
	};
}

#endif /* SHIM_LINUX_HW_BREAKPOINT_H */
