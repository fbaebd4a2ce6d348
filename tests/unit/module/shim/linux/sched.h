/* SPDX-License-Identifier: GPL-2.0-only */
/* The task that the CPU runs is the test's. */
#ifndef SHIM_LINUX_SCHED_H
#define SHIM_LINUX_SCHED_H

struct pid;

struct task_struct {
	int pid;
	int tgid;
	unsigned int flags;
	int exit_state;
	struct pid *pid_of_process;
};

#define PF_EXITING	4
#define cond_resched()	((void)0)

/* A test of several tasks says which of them runs. */
#ifdef current
extern struct task_struct *shim_current;
#else
extern struct task_struct shim_task;
# define current (&shim_task)
#endif

#endif /* SHIM_LINUX_SCHED_H */
