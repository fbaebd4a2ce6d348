/* SPDX-License-Identifier: GPL-2.0 */
/* struct trace_pmu: the hardware that produces trace: Intel PT, BTS. */
#ifndef AUXT_TRACE_PMU_H
#define AUXT_TRACE_PMU_H

#include <linux/auxtrace.h>
#include <linux/types.h>

struct auxt_channel;
struct perf_event_attr;
struct auxtrace_setup;

/* Their numbers are below this. */
#define TRACE_PMUS	(AUXTRACE_PMU_INTEL_BTS + 1)

/* What a pause found (trace_pmu.stop). */
#define TRACE_STOPPED	(1u << 0)	/* it had met the STOP mark by itself */
#define TRACE_ERROR	(1u << 1)	/* it had met an operational error */
#define TRACE_FOREIGN	(1u << 2)	/* somebody else had turned it off */

/**
 * struct trace_pmu - operations of a trace unit
 * @number: AUXTRACE_PMU_*
 * @name: as of perf's PMU for the same hardware, whose guard keeps perf out
 * @reserve_instead: what guards it where perf has no PMU of that name; NULL: nothing can
 * @granule: bytes of a piece of trace that means something on its own; 1: any may
 * @missing: why sessions cannot use it here: AUXTRACE_PT_*, AUXTRACE_BTS_*; task context
 * @check: 0, or why the hardware cannot trace like that (-EINVAL, -EOPNOTSUPP)
 * @in_use: -EBUSY if it traces on this CPU already; interrupts off
 * @table_pages: memory that @setup will take for one channel, in pages, to be charged
 * @setup: tables of a channel, whose ring pages exist; sets the ring's cycle. Task context
 * @cleanup: undoes @setup. Task context
 * @claim: take the registers of this CPU over and point them at the ring's
 *	produced position, tracing off. 0 or an errno. Interrupts off
 * @release: put them back as they were found. Interrupts off
 * @start: tracing on, with the marks where the ring wants its stop and call; @new_window: a
 *	new window (with PSB+), else the open one goes on
 * @stop: tracing off; afterwards everything it wrote is in memory, the ring's produced
 *	position says how far it came (untouched if that cannot be told), and the
 *	channel's off_tsc when it stopped. TRACE_*
 * @relocate: tracing is off: the channel's slot has changed, and the next start is to
 *	go on there
 * @interrupt: is there reason to look (call mark passed, stopped, error)? Tracing
 *	may be on
 * @acknowledge: is an interrupt asserted that was not looked at? Then no more, and
 *	nothing else is touched: the rest is perf's
 * @emergency_stop: tracing off on this CPU, whatever state a channel is in. Any time,
 *	interrupts off or NMI
 *
 * @start, @stop and @relocate run on the channel's own CPU with interrupts
 * off, also in NMIs, and never nested in each other (settle.c says how);
 * @interrupt and @acknowledge in NMIs only, which may have interrupted one of them.
 */
struct trace_pmu {
	u32 number;
	const char *name;
	const struct perf_event_attr *reserve_instead;
	u32 granule;
	u32 (*missing)(void);
	int (*check)(const struct auxtrace_setup *setup);
	int (*in_use)(void);
	unsigned long (*table_pages)(const struct auxtrace_setup *setup);
	int (*setup)(struct auxt_channel *ch, u32 flags, u64 config);
	void (*cleanup)(struct auxt_channel *ch);
	int (*claim)(struct auxt_channel *ch);
	void (*release)(struct auxt_channel *ch);
	int (*start)(struct auxt_channel *ch, bool new_window);
	u32 (*stop)(struct auxt_channel *ch);
	void (*relocate)(struct auxt_channel *ch);
	bool (*interrupt)(struct auxt_channel *ch);
	bool (*acknowledge)(struct auxt_channel *ch);
	void (*emergency_stop)(void);
};

#endif /* AUXT_TRACE_PMU_H */
