/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_SCHED_SIGNAL_H
#define SHIM_LINUX_SCHED_SIGNAL_H

#include <stdbool.h>

/* Is the test's, where something asks for it. */
bool fatal_signal_pending(const void *task);

#define task_tgid(task)		((task)->pid_of_process)

#endif /* SHIM_LINUX_SCHED_SIGNAL_H */
