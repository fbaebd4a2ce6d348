// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers at system calls: probes of the raw tracepoints sys_enter and sys_exit,
 * past perf's overflow path.
 *
 * The number is that of the 64-bit table: a call by the 32-bit entry has
 * another meaning under the same number, and never hits.
 */

#include <linux/compat.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/ptrace.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/syscall.h>
#include "trigger/hit.h"

static bool is_ours(const struct auxt_trigger *t, long number)
{
	return (t->number == -1 || t->number == number) && !in_compat_syscall();
}

static void on_enter(void *data, struct pt_regs *regs, long number)
{
	struct auxt_trigger *t = data;

	if (is_ours(t, number))
		auxt_trigger_hit(t, number);
}

static void on_exit(void *data, struct pt_regs *regs, long result)
{
	struct auxt_trigger *t = data;

	if (is_ours(t, syscall_get_nr(current, regs)))
		auxt_trigger_hit(t, result);
}

struct search {
	const char *name;
	struct tracepoint *found;
};

static void compare(struct tracepoint *tp, void *priv)
{
	struct search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}

/* The tracepoints' symbols are not exported; a walk over all of them is. */
static int attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg,
		  const char *name, void *probe)
{
	struct search search = { .name = name };

	if (arg->number < -1 || arg->number >= NR_syscalls)
		return -EINVAL;
	for_each_kernel_tracepoint(compare, &search);
	if (!search.found)
		return -ENOENT;
	t->event = search.found;
	return tracepoint_probe_register(search.found, probe, t);
}

static void detach(struct auxt_trigger *t, void *probe)
{
	tracepoint_probe_unregister(t->event, probe, t);
	tracepoint_synchronize_unregister();
}

static int enter_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return attach(t, arg, "sys_enter", on_enter);
}

static void enter_detach(struct auxt_trigger *t)
{
	detach(t, on_enter);
}

static int exit_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return attach(t, arg, "sys_exit", on_exit);
}

static void exit_detach(struct auxt_trigger *t)
{
	detach(t, on_exit);
}

const struct trigger_kind auxt_trigger_syscall_enter = {
	.uses = USES_NUMBER,
	.attach = enter_attach,
	.detach = enter_detach,
};

const struct trigger_kind auxt_trigger_syscall_exit = {
	.uses = USES_NUMBER,
	.attach = exit_attach,
	.detach = exit_detach,
};
