/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * The kinds and actions of triggers, and which members of struct auxtrace_trigger each
 * uses. TRIGGER_ADD refuses a member that is set and not used. The module, the library
 * and the command compile this header.
 */
#ifndef AUXT_TRIGGER_KINDS_H
#define AUXT_TRIGGER_KINDS_H

#ifdef __KERNEL__
#include <linux/stddef.h>
#else
#include <stddef.h>
#endif
#include <linux/auxtrace.h>

/* Members that belong to some kinds. */
#define USES_ATTR	(1u << 0)	/* attr, attr_len */
#define USES_NUMBER	(1u << 1)	/* number */
#define USES_ADDRESS	(1u << 2)	/* address */
#define USES_NAME	(1u << 3)	/* name, name_len */
#define USES_BOUND	(1u << 4)	/* bound_ns */
#define USES_OTHERS	(1u << 5)	/* a, b */

/* Members and flags that belong to some actions. */
#define USES_LIMITS	(1u << 6)	/* after_hits, count, hold_off_ns, flags */
#define USES_ALL_CPUS	(1u << 7)	/* AUXTRACE_TRIGGER_ALL_CPUS */
#define USES_DELAY	(1u << 8)	/* delay_ns, delay_bytes */
#define USES_SAMPLE	(1u << 9)	/* sample_size */

/* KIND(AUXTRACE_TRIGGER_ constant, its auxt_trigger_ operations in the module, members) */
#define AUXT_TRIGGER_KINDS(KIND)						\
	KIND(PERF,		perf,		USES_ATTR)			\
	KIND(SYSCALL_ENTER,	syscall_enter,	USES_NUMBER)			\
	KIND(SYSCALL_EXIT,	syscall_exit,	USES_NUMBER)			\
	KIND(KPROBE,		kprobe,		USES_NAME | USES_ADDRESS)	\
	KIND(KRETPROBE,		kretprobe,	USES_NAME | USES_ADDRESS)	\
	KIND(UPROBE,		uprobe,		USES_NAME | USES_ADDRESS)	\
	KIND(URETPROBE,		uretprobe,	USES_NAME | USES_ADDRESS)	\
	KIND(BREAKPOINT,	breakpoint,	USES_NUMBER | USES_ADDRESS)	\
	KIND(LATENCY,		latency,	USES_BOUND | USES_OTHERS)	\
	KIND(TIMER,		timer,		USES_BOUND)

/* ACTION(AUXTRACE_ACTION_ constant, its name in messages and on a command line, members) */
#define AUXT_TRIGGER_ACTIONS(ACTION)						\
	ACTION(NONE,	"none",		0)					\
	ACTION(PAUSE,	"pause",	USES_LIMITS | USES_ALL_CPUS | USES_DELAY) \
	ACTION(RESUME,	"resume",	USES_LIMITS | USES_ALL_CPUS)		\
	ACTION(SAMPLE,	"sample",	USES_LIMITS | USES_SAMPLE)		\
	ACTION(FREEZE,	"freeze",	USES_LIMITS | USES_DELAY)

/* Indexed by number. A NULL name marks a number that is not in use. */
struct auxt_trigger_names {
	const char *name;
	__u32 uses;
};

static const struct auxt_trigger_names auxt_trigger_kinds[] = {
#define KIND(constant, operations, members) \
	[AUXTRACE_TRIGGER_##constant] = { #constant, members },
	AUXT_TRIGGER_KINDS(KIND)
#undef KIND
};

static const struct auxt_trigger_names auxt_trigger_actions[] = {
#define ACTION(constant, name, members) \
	[AUXTRACE_ACTION_##constant] = { name, members },
	AUXT_TRIGGER_ACTIONS(ACTION)
#undef ACTION
};

#define AUXT_NR_TRIGGER_KINDS	(sizeof(auxt_trigger_kinds) / sizeof(auxt_trigger_kinds[0]))
#define AUXT_NR_TRIGGER_ACTIONS	(sizeof(auxt_trigger_actions) / sizeof(auxt_trigger_actions[0]))

/**
 * auxt_trigger_unused() - a member that is set but does not belong to the kind
 * @t: its kind is less than AUXT_NR_TRIGGER_KINDS
 *
 * Return: the name of the first such member, or NULL.
 */
static inline const char *auxt_trigger_unused(const struct auxtrace_trigger *t)
{
	__u32 uses = auxt_trigger_kinds[t->kind].uses;

	if (!(uses & USES_ATTR) && (t->attr || t->attr_len))
		return "attr";
	if (!(uses & USES_NUMBER) && t->number)
		return "number";
	if (!(uses & USES_ADDRESS) && t->address)
		return "address";
	if (!(uses & USES_NAME) && (t->name || t->name_len))
		return "name";
	if (!(uses & USES_BOUND) && t->bound_ns)
		return "bound_ns";
	if (!(uses & USES_OTHERS) && (t->a || t->b))
		return "a and b";
	return NULL;
}

#endif /* AUXT_TRIGGER_KINDS_H */
