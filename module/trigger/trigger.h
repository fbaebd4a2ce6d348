/* SPDX-License-Identifier: GPL-2.0-only */
/* A trigger: a kernel event bound to an action of a session. */
#ifndef AUXT_TRIGGER_H
#define AUXT_TRIGGER_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/cache.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include "core/request.h"
#include "trigger/kinds.h"

struct auxt_delay;
struct auxt_trigger;
struct auxt_trigger_set;
struct cpumask;
struct pid;

/**
 * struct trigger_kind - a source of events
 * @attach: makes the event hit from now on; sets @event. Runs as the caller of TRIGGER_ADD.
 *	Returns 0 or an errno of the ABI
 * @detach: when it returns, no hit runs and none will follow, @event is freed, and @dropped
 *	holds what @missed would return
 * @renew: may be NULL; a CPU is online again: creates the part of the event that the CPU lost
 *	when it went offline
 * @missed: may be NULL; number of events that the kernel itself dropped. While attached
 *
 * All run in task context with the set's lock held and without cpus_read_lock(), which the
 * kernel's interfaces for events take themselves.
 */
struct trigger_kind {
	int (*attach)(struct auxt_trigger *t, const struct auxtrace_trigger *arg);
	void (*detach)(struct auxt_trigger *t);
	void (*renew)(struct auxt_trigger *t);
	u64 (*missed)(const struct auxt_trigger *t);
};

/**
 * struct trigger_counts - counts of one trigger on one CPU
 * @acted: see struct auxtrace_trigger_state
 * @held: likewise
 * @idle: likewise
 * @missed: likewise
 * @acted_tsc: TSC when the trigger acted last, for the hold-off; 0: never
 *
 * Changed on that CPU only, by single instructions, also in NMIs. A hit that changes nothing else writes here:
 * nothing that other CPUs read is in the same cache line.
 */
struct trigger_counts {
	u64 acted;
	u64 held;
	u64 idle;
	u64 missed;
	u64 acted_tsc;
} ____cacheline_aligned;

#define TRIGGER_IS_COUNTED	(1u << 0)	/* has after_hits, count, hold-off or no action */
#define TRIGGER_IS_CLOCK	(1u << 1)	/* starts or stops clocks of latency triggers */
#define TRIGGER_IS_DELAYED	(1u << 2)	/* has a delay in time */
#define TRIGGER_IS_BROADCAST	(1u << 3)	/* PAUSE or RESUME with ALL_CPUS */
#define TRIGGER_IS_OF_PROCESS	(1u << 4)	/* has a pid */
#define TRIGGER_IS_OF_MEMBERS	(1u << 5)	/* its session has a task scope */

/**
 * struct auxt_trigger - a kernel event bound to an action
 * @kind: source of its events
 * @event: @kind's data
 * @set: the trigger set of its session; a hit compares it with that of the channel
 * @pmu: AUXTRACE_PMU_* of the session
 * @counts: by CPU
 * @request: made of the channel at each hit that acts; holds the trigger's id
 * @is: TRIGGER_IS_*; if any, the hit does more than check the channel and make a request
 * @noop_mask: the reasons (AUXTRACE_INHIBIT_*) that its action changes at once; 0: none
 * @noop: value of these reasons at which a hit has nothing to do
 * @noop_count: offset in @counts of what such a hit counts as: @held for FREEZE, else @acted
 * @dropped: number of events that the kernel itself dropped; valid once detached
 * @pid: process whose events count; NULL: all processes
 * @number: of the system call, or -1 for all
 * @after_hits: number of hits that do not act before the first that may
 * @seen: number of hits so far, if there is @after_hits
 * @allowance: number of times that it may act; 0: no limit
 * @left: what is left of @allowance
 * @hold_off: in ticks of the TSC
 * @bound: latency: ticks of the TSC; timer: nanoseconds
 * @delay_ns: time between a hit and the action
 * @delay: by CPU: its delay in time; NULL: it has none
 * @starts: latency triggers whose clock it starts, a bit for each by its place in the set
 * @stops: latency triggers whose clock it stops, likewise
 * @cpus: CPUs of the session
 * @siblings: the triggers of the session, by place in the set; NULL: a free place
 * @place: of this trigger in the set
 */
struct auxt_trigger {
	const struct trigger_kind *kind;
	void *event;
	struct auxt_trigger_set *set;
	u32 pmu;
	struct trigger_counts __percpu *counts;
	struct auxt_request request;
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
	const struct cpumask *cpus;
	struct auxt_trigger *const *siblings;
	int place;
};

/* Task context. */
struct auxt_trigger *auxt_trigger_new(const struct trigger_kind *kind,
				      const struct auxtrace_trigger *arg);
void auxt_trigger_free(struct auxt_trigger *t);
void auxt_trigger_sum(const struct auxt_trigger *t, struct auxtrace_trigger_state *to);
char *auxt_trigger_name(const struct auxtrace_trigger *arg);

/* Task context, with the set's lock held. */
struct auxt_trigger *auxt_trigger_find(struct auxt_trigger *const *siblings, u32 id);

#define KIND(constant, operations, members) \
	extern const struct trigger_kind auxt_trigger_##operations;
AUXT_TRIGGER_KINDS(KIND)
#undef KIND

#endif /* AUXT_TRIGGER_H */
