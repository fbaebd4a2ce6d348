/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_DUMPABLE_H
#define AUXT_COMPAT_DUMPABLE_H

#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/coredump.h>
#include <linux/sched/task.h>
#ifdef AUXT_HAVE_EXEC_STATE
# include <linux/sched/exec_state.h>
#endif

/*
 * May the user of a thread's process debug it? Not if its program cannot be read, if an execve(2) has
 * changed its rights, or if it says so itself by prctl(2) with PR_SET_DUMPABLE. False if the thread
 * has no address space any more. @task is the current thread, or the caller may take a task_lock().
 */
static inline bool auxt_is_dumpable(struct task_struct *task)
{
	bool dumpable;

#ifdef AUXT_HAVE_EXEC_STATE
	rcu_read_lock();
	dumpable = READ_ONCE(rcu_dereference(task->exec_state)->dumpable) == TASK_DUMPABLE_OWNER;
	rcu_read_unlock();
#else
	/* The thread itself changes its address space. */
	if (task == current)
		return task->mm && get_dumpable(task->mm) == SUID_DUMP_USER;
	task_lock(task);
	dumpable = task->mm && get_dumpable(task->mm) == SUID_DUMP_USER;
	task_unlock(task);
#endif
	return dumpable;
}

#endif /* AUXT_COMPAT_DUMPABLE_H */
