/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow of one CPU, told to a view: of Intel PT by libipt's instruction decoder, of
 * BTS from its branches and the code between them (branches.h).
 *
 * Order of what a view is told: cpu; then for each stretch of flow enable, any
 * instructions and events, disable. All that interrupts a stretch (an error, an
 * overflow, code that is not in the recording) is told as itself and ends it.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdbool.h>
#include <stdint.h>

#include <intel-pt.h>

#include "code_image.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "records.h"

struct flow;
struct windows;

/* A record of BTS. */
struct branch {
	uint64_t from;		/* 0: kernel code, which the session may not see */
	uint64_t to;
	uint64_t flags;		/* as the hardware wrote them */
	bool async;		/* an interrupt or exception, before @from was executed */
	bool walked;		/* the block that it ends is known: */
	uint64_t instructions, bytes; /* executed since the branch before it */
	uint64_t after, before;	/* TSCs that it lies between; 0: not known */
};

struct view {
	void (*cpu)(struct view *v, unsigned int cpu);
	/* Window @seq begins; 0: its number is not known. */
	void (*window)(struct view *v, const struct flow *f, uint64_t seq);
	/* A sample begins: SAMPLE record number @nr of the CPU, from 1. */
	void (*sample)(struct view *v, const struct flow *f, size_t nr,
		       const struct auxtrace_record_sample *sample);
	void (*enable)(struct view *v, const struct flow *f, uint64_t ip);
	/* @ip: where control went; @known: else packets did not say. */
	void (*disable)(struct view *v, const struct flow *f, uint64_t ip, bool known);
	void (*insn)(struct view *v, const struct flow *f, const struct pt_insn *insn);
	void (*async)(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known);
	void (*overflow)(struct view *v, const struct flow *f, uint64_t ip, bool known);
	void (*skip)(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3);
	void (*error)(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
		      const char *message);
	/* BTS only, may be NULL: a record, after all that it tells. */
	void (*branch)(struct view *v, const struct flow *f, const struct branch *branch);
};

/* Unknown code, by address space. */
struct skipped {
	uint64_t cr3;		/* CODE_NO_CR3: a trace that names none */
	uint64_t ip;		/* the first one, as an example */
	uint64_t times;
	bool probes;		/* the kernel's page for probed instructions */
};

struct flow {
	const struct meta *meta;
	const struct meta_cpu *cpu;
	struct code_image *code;
	struct view *view;
	struct pt_config config;
	struct pt_insn_decoder *decoder; /* NULL: BTS */
	uint64_t cr3, tsc;	/* now (BTS: not before); CODE_NO_CR3, 0: not known */
	const struct windows *windows_of_cpu;
	struct records records;	/* of this CPU */
	size_t next_window, enables;
	uint64_t proven_at;	/* offset when it was last looked whether it changes */
	uint64_t passed;	/* offset up to which PSBs have been told of */
	bool open;		/* between enable and disable */
	bool resumed;		/* the last enable went on where the last disable was */
	bool spliced;		/* since a skip: returns to frames before it are not known */
	bool in_probes;		/* it was of CODE_PROBES */
	bool no_task;		/* the last read found no task */
	/* Sums over all CPUs: */
	uint64_t samples, unsampled; /* decoded; whose bytes are not in the recording */
	uint64_t instructions, windows, bytes, errors, overflows, skips, unsynced;
	uint64_t branches;	/* BTS */
	struct skipped *skipped;
	size_t nr_skipped;
};

void flow_free(struct flow *f);

/* Nanoseconds of the kernel's clock; false if the time is not known. */
bool flow_time(const struct flow *f, uint64_t *ns);
/* The same for a TSC; false if nothing tells how they follow each other. */
bool flow_clock(const struct flow *f, uint64_t tsc, uint64_t *ns);

#endif
