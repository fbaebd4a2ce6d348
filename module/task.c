// SPDX-License-Identifier: GPL-2.0-only
/* TASK: the CR3 that identifies a process in a trace. */

#include <linux/auxtrace.h>
#include <linux/capability.h>
#include <linux/err.h>
#include <linux/pid.h>
#include <linux/sched/mm.h>
#include <linux/sched/task.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include "info.h"

/*
 * A PIP packet carries CR3 bits 51:5 (SDM volume 3, "Paging Information Packet"). Bits 11:0 are
 * the PCID, or cache control. With page-table isolation a process has a pair of top-level tables:
 * bit 12 is set for the one that is used in user mode.
 */
#define TASK_CR3_TABLE	0x000ffffffffff000ull
#define TASK_CR3_PTI	BIT_ULL(12)

/**
 * auxt_task_get_mm() - the address space of a process
 * @tid: one of its threads, in the caller's PID namespace; 0: the caller
 *
 * Return: it, to be released by mmput(); ERR_PTR(-ESRCH) no such thread; ERR_PTR(-ENXIO) it has none.
 */
struct mm_struct *auxt_task_get_mm(u32 tid)
{
	struct task_struct *task;
	struct mm_struct *mm;
	struct pid *pid;

	if (!tid)
		return get_task_mm(current) ?: ERR_PTR(-ENXIO);
	pid = find_get_pid(tid);
	task = get_pid_task(pid, PIDTYPE_PID);
	put_pid(pid);
	if (!task)
		return ERR_PTR(-ESRCH);
	mm = get_task_mm(task);
	put_task_struct(task);
	return mm ?: ERR_PTR(-ENXIO);
}

/**
 * auxt_task() - AUXTRACE_IOC_TASK
 * @session: unused
 * @data: struct auxtrace_task
 *
 * Return: 0; -EINVAL unknown flag or non-zero reserved member; -EACCES no CAP_PERFMON; -ESRCH no
 * such process; -ENXIO the process has no address space.
 */
int auxt_task(struct auxt_session *session, void *data)
{
	struct auxtrace_task *arg = data;
	struct mm_struct *mm;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	if (!perfmon_capable())
		return -EACCES;

	mm = auxt_task_get_mm(arg->pid);
	if (IS_ERR(mm))
		return PTR_ERR(mm);
	arg->out_context_mask = TASK_CR3_TABLE;
	if (boot_cpu_has(X86_FEATURE_PTI))
		arg->out_context_mask &= ~TASK_CR3_PTI;
	arg->out_context = __pa(mm->pgd) & arg->out_context_mask;
	mmput(mm);
	return 0;
}
