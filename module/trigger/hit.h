/* SPDX-License-Identifier: GPL-2.0 */
/* Triggers: kernel events bound to what a session shall do. */
#ifndef AUXT_TRIGGER_HIT_H
#define AUXT_TRIGGER_HIT_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/cpumask.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include "core/request.h"

struct auxt_channel;
struct auxt_trigger;
struct pid;

/**
 * struct trigger_kind - where events come from
 * @uses: which members of struct auxtrace_trigger it reads (USES_*); the others must be 0
 * @attach: let the event hit from now on; sets @event. Task context of the caller of
 *	TRIGGER_ADD. 0 or an errno of the ABI
 * @detach: no hit is running or will come when it returns, and @event is gone; what
 *	@missed would say stands in @dropped then. Task context
 * @renew: may be NULL: a CPU came back and the event has to be made there anew. Task context
 * @missed: may be NULL: events that the kernel itself dropped; while attached
 *
 * Task context with the set's lock held, and never cpus_read_lock(): the kernel's
 * own interfaces below take that.
 */
struct trigger_kind {
	u32 uses;
	int (*attach)(struct auxt_trigger *t, const struct auxtrace_trigger *arg);
	void (*detach)(struct auxt_trigger *t);
	void (*renew)(struct auxt_trigger *t);
	u64 (*missed)(const struct auxt_trigger *t);
};

#define USES_ATTR	(1u << 0)
#define USES_NUMBER	(1u << 1)
#define USES_ADDRESS	(1u << 2)
#define USES_NAME	(1u << 3)
#define USES_BOUND	(1u << 4)
#define USES_OTHERS	(1u << 5)

/**
 * struct trigger_counts - of one trigger on one CPU; changed there, also in NMIs,
 *	by single instructions
 * @acted: see struct auxtrace_trigger_state
 * @held: likewise
 * @idle: likewise
 * @missed: likewise
 * @acted_tsc: when it acted last, for the hold-off; 0: never
 */
struct trigger_counts {
	u64 acted;
	u64 held;
	u64 idle;
	u64 missed;
	u64 acted_tsc;
};

#define TRIGGER_IS_COUNTED	(1u << 0)	/* after_hits, count, hold-off or no action */
#define TRIGGER_IS_CLOCK	(1u << 1)	/* others' clocks wait for it */
#define TRIGGER_IS_DELAYED	(1u << 2)	/* by time */
#define TRIGGER_IS_BROADCAST	(1u << 3)	/* all_cpus, and may be undone on other CPUs alone */
/* A hit is more than a look whether the channel is as it should be, and a request. */
#define TRIGGER_IS_LONG		(TRIGGER_IS_COUNTED | TRIGGER_IS_CLOCK | TRIGGER_IS_DELAYED)

/**
 * struct auxt_trigger - a kernel event bound to an action
 * @kind: where its events come from
 * @event: @kind's own
 * @set: the triggers of its session
 * @pmu: AUXTRACE_PMU_* of that
 * @counts: by CPU
 * @request: what a hit asks for; with its id, its number in the session, from 1
 * @flags: AUXTRACE_TRIGGER_*
 * @is: TRIGGER_IS_*
 * @noop_mask: the reasons that it changes; 0: none, or not at once
 * @noop: what of them holds when there is nothing to be done
 * @noop_count: which of @counts a hit belongs to then: @held of a FREEZE, else @acted
 * @dropped: events that the kernel itself dropped, once detached
 * @pid: of the process whose events count; NULL: all
 * @number: system call, or -1
 * @after_hits: so many hits come before the first that acts
 * @seen: hits, for @after_hits
 * @allowance: acts so often; 0: without end
 * @left: of @allowance
 * @hold_off: in ticks of the TSC
 * @bound: latency: ticks of the TSC; timer: nanoseconds
 * @delay_ns: acts later
 * @delay: what makes it act later, if by time
 * @starts: latency triggers whose clock it starts, by place in the set
 * @stops: those whose clock it stops
 */
struct auxt_trigger {
	const struct trigger_kind *kind;
	void *event;
	struct auxt_trigger_set *set;
	u32 pmu;
	struct trigger_counts __percpu *counts;
	struct auxt_request request;
	u32 flags;
	u32 is;
	u32 noop_mask;
	u32 noop;
	u32 noop_count;
	u64 dropped;
	struct pid *pid;
	s64 number;
	u64 after_hits;
	atomic64_t seen;
	u64 allowance;
	atomic64_t left;
	u64 hold_off;
	u64 bound;
	u64 delay_ns;
	struct auxt_delay __percpu *delay;
	u64 starts;
	u64 stops;
};

/* Any context; the caller need not have disabled anything. */
void auxt_trigger_hit(struct auxt_trigger *t, u64 value);

/* Task context. */
const struct cpumask *auxt_trigger_cpus(const struct auxt_trigger *t);
char *auxt_trigger_name(const struct auxtrace_trigger *arg);

extern const struct trigger_kind auxt_trigger_perf;
extern const struct trigger_kind auxt_trigger_breakpoint;
extern const struct trigger_kind auxt_trigger_syscall_enter;
extern const struct trigger_kind auxt_trigger_syscall_exit;
extern const struct trigger_kind auxt_trigger_kprobe;
extern const struct trigger_kind auxt_trigger_kretprobe;
extern const struct trigger_kind auxt_trigger_uprobe;
extern const struct trigger_kind auxt_trigger_uretprobe;
extern const struct trigger_kind auxt_trigger_latency;
extern const struct trigger_kind auxt_trigger_timer;

#endif /* AUXT_TRIGGER_HIT_H */
