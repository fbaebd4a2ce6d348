/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_PROBE_H
#define AUXT_COMPAT_PROBE_H

#include <linux/kprobes.h>

/* The kretprobe of an instance; NULL if it has been unregistered since the call. */
static __always_inline struct kretprobe *auxt_get_kretprobe(struct kretprobe_instance *instance)
{
#ifdef AUXT_HAVE_GET_KRETPROBE
	return get_kretprobe(instance);
#else
	return READ_ONCE(instance->rp);
#endif
}

/* Parameters of a probe of the tracepoint sched_process_exit. */
#ifdef AUXT_HAVE_EXIT_GROUP_DEAD
# define AUXT_PROCESS_EXIT_ARGS	void *data, struct task_struct *task, bool group_dead
#else
# define AUXT_PROCESS_EXIT_ARGS	void *data, struct task_struct *task
#endif

/* Parameters of a probe of the tracepoint task_newtask. */
#ifdef AUXT_HAVE_NEWTASK_U64
# define AUXT_NEWTASK_ARGS	void *data, struct task_struct *task, u64 clone_flags
#else
# define AUXT_NEWTASK_ARGS	void *data, struct task_struct *task, unsigned long clone_flags
#endif

#endif /* AUXT_COMPAT_PROBE_H */
