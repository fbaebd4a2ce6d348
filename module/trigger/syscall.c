// SPDX-License-Identifier: GPL-2.0-only
/*
 * System call triggers: probes of the raw tracepoints sys_enter and sys_exit, which avoids
 * perf's overflow path.
 *
 * The number is one of the 64-bit table. The same number means another system call at the
 * 32-bit entry, so calls through that entry never hit.
 */

#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/tracepoint.h>
#include <asm/syscall.h>
#include "trigger/hit.h"
#include "trigger/tracepoint.h"
#include "trigger/trigger.h"

static __always_inline bool syscall_trigger_matches(const struct auxt_trigger *t, long number)
{
	return (t->number == -1 || t->number == number) && !in_compat_syscall();
}

static void syscall_trigger_on_enter(void *data, struct pt_regs *regs, long number)
{
	struct auxt_trigger *t = data;

	if (syscall_trigger_matches(t, number))
		auxt_trigger_hit(t, number);
}
NOKPROBE_SYMBOL(syscall_trigger_on_enter);

static void syscall_trigger_on_exit(void *data, struct pt_regs *regs, long result)
{
	struct auxt_trigger *t = data;

	if (syscall_trigger_matches(t, syscall_get_nr(current, regs)))
		auxt_trigger_hit(t, result);
}
NOKPROBE_SYMBOL(syscall_trigger_on_exit);

static int syscall_trigger_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg,
				  const char *name, void *probe)
{
	struct tracepoint *tp;

	if (arg->number < -1 || arg->number >= NR_syscalls)
		return -EINVAL;
	tp = auxt_tracepoint_find(name);
	if (!tp)
		return -ENOENT;
	t->event = tp;
	return tracepoint_probe_register(tp, probe, t);
}
NOKPROBE_SYMBOL(syscall_trigger_attach);

static void syscall_trigger_detach(struct auxt_trigger *t, void *probe)
{
	tracepoint_probe_unregister(t->event, probe, t);
	tracepoint_synchronize_unregister();
}
NOKPROBE_SYMBOL(syscall_trigger_detach);

static int syscall_trigger_attach_enter(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return syscall_trigger_attach(t, arg, "sys_enter", syscall_trigger_on_enter);
}
NOKPROBE_SYMBOL(syscall_trigger_attach_enter);

static void syscall_trigger_detach_enter(struct auxt_trigger *t)
{
	syscall_trigger_detach(t, syscall_trigger_on_enter);
}
NOKPROBE_SYMBOL(syscall_trigger_detach_enter);

static int syscall_trigger_attach_exit(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return syscall_trigger_attach(t, arg, "sys_exit", syscall_trigger_on_exit);
}
NOKPROBE_SYMBOL(syscall_trigger_attach_exit);

static void syscall_trigger_detach_exit(struct auxt_trigger *t)
{
	syscall_trigger_detach(t, syscall_trigger_on_exit);
}
NOKPROBE_SYMBOL(syscall_trigger_detach_exit);

const struct trigger_kind auxt_trigger_syscall_enter = {
	.attach = syscall_trigger_attach_enter,
	.detach = syscall_trigger_detach_enter,
};

const struct trigger_kind auxt_trigger_syscall_exit = {
	.attach = syscall_trigger_attach_exit,
	.detach = syscall_trigger_detach_exit,
};
