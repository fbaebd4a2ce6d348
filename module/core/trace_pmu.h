/* SPDX-License-Identifier: GPL-2.0-only */
/* struct trace_pmu: the contract between core/ and the trace hardware (Intel PT, BTS). */
#ifndef AUXT_TRACE_PMU_H
#define AUXT_TRACE_PMU_H

#include <linux/auxtrace.h>
#include <linux/types.h>

struct auxt_caps;
struct auxt_channel;
struct auxt_filters;
struct cpumask;
struct perf_event_attr;
struct auxtrace_setup;

/* Greater than each trace_pmu.number. */
#define TRACE_PMUS	(AUXTRACE_PMU_INTEL_BTS + 1)

/* What trace_pmu.stop found. */
#define TRACE_STOPPED	(1u << 0)	/* the hardware had stopped at the STOP mark */
#define TRACE_ERROR	(1u << 1)	/* an operational error, or the hardware cannot be turned off */
#define TRACE_FOREIGN	(1u << 2)	/* other code had turned the hardware off */
#define TRACE_LATE	(1u << 3)	/* the hardware had stopped with space left: its interrupt came too late. Sets no FULL */

/**
 * struct trace_pmu - operations of a trace PMU
 * @number: AUXTRACE_PMU_*
 * @name: name of perf's PMU for the same hardware, which is reserved to keep perf off
 * @reserve_instead: event to reserve where perf has no PMU of that name; NULL: there is none
 * @granule: size in bytes of a piece of trace that can be decoded on its own; 1: any size
 * @missing: AUXTRACE_PMU_STATE_*: why sessions cannot use it on this machine; OK: they can.
 *	Task context
 * @excludes: AUXTRACE_EXCLUDES_*, if sessions can use it. Task context
 * @describe: adds the capability that is its own, if the CPU has it. Task context
 * @check: can the hardware of all these CPUs trace with this setup and these filters? 0, -EINVAL or
 *	-EOPNOTSUPP. Task context
 * @in_use: -EBUSY if the hardware of this CPU traces already, else 0. Interrupts off
 * @table_pages: pages that @setup will allocate for one channel, charged before it runs
 * @setup: allocate the tables of a channel, whose AUX pages exist, and set its
 *	auxt_position.cycle, and region and margin if they are not a page. Task context
 * @cleanup: undo @setup. If the channel is stuck, keep what the hardware may use. Task context
 * @claim: save the registers of this CPU and point them at the produced position, with tracing
 *	off. 0 or an errno. Sets auxt_channel.stuck if it fails and cannot undo what it did.
 *	Interrupts off
 * @release: turn tracing off, whatever turned it on, and restore the registers. Sets
 *	auxt_channel.stuck if the CPU refuses, else clears it. Interrupts off
 * @start: turn tracing on, with the STOP and INT marks of auxt_position. @new_window: begin a
 *	window (with PSB+); else the open window goes on. 0, or -EIO with tracing off
 * @stop: turn tracing off. @alone: TRACE_FOREIGN need not be told. Afterwards all trace is in memory, auxt_position.produced is the
 *	position up to which it was written, also by the trace PMU itself with bytes that mean nothing
 *	(unchanged if that is unknown), and the channel's
 *	off_tsc the time at which it stopped. Returns TRACE_*
 * @relocate: the channel's slot has changed while tracing is off: the next @start goes on there
 * @interrupt: has the hardware passed the INT mark, stopped or failed? Tracing may be on
 * @acknowledge: clear the trace PMU's bit in the interrupt status, and nothing else: the other
 *	bits are perf's. Returns whether it was set
 * @emergency_stop: turn tracing off on this CPU, whatever state a channel is in. Any time,
 *	interrupts off or NMI
 * @recover: after @release has left a channel stuck on this CPU: turn tracing off, and restore the
 *	registers as @release would have. The channel may be freed by now. 0 or -EIO. Interrupts off
 *
 * @start, @stop and @relocate run on the channel's CPU with interrupts off, also in NMIs, and are
 * never nested in each other (see settle.c). @interrupt and @acknowledge run in NMIs only, which
 * may have interrupted one of those.
 */
struct trace_pmu {
	u32 number;
	const char *name;
	const struct perf_event_attr *reserve_instead;
	u32 granule;
	u32 (*missing)(void);
	u32 (*excludes)(void);
	void (*describe)(struct auxt_caps *caps);
	int (*check)(const struct auxtrace_setup *setup, const struct auxt_filters *filters,
		     const struct cpumask *cpus);
	int (*in_use)(void);
	unsigned long (*table_pages)(const struct auxtrace_setup *setup);
	int (*setup)(struct auxt_channel *ch, u32 flags, u64 config);
	void (*cleanup)(struct auxt_channel *ch);
	int (*claim)(struct auxt_channel *ch);
	void (*release)(struct auxt_channel *ch);
	int (*start)(struct auxt_channel *ch, bool new_window);
	u32 (*stop)(struct auxt_channel *ch, bool alone);
	void (*relocate)(struct auxt_channel *ch);
	bool (*interrupt)(struct auxt_channel *ch);
	bool (*acknowledge)(struct auxt_channel *ch);
	void (*emergency_stop)(void);
	int (*recover)(void);
};

#endif /* AUXT_TRACE_PMU_H */
