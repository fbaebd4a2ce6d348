/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The flow of one CPU: a decoder (pt_flow.c, bts_flow.c) emits it to a view.
 *
 * Order of a view's callbacks: cpu; then for each run of flow enable, any instructions and
 * events, disable. An error, an overflow and code that is not in the recording have
 * callbacks of their own, and each ends the run. The thread changes between two runs or, where the
 * kernel is traced, within one.
 *
 * A decoder goes on from one change of the thread to the next (struct flow_decoder, @step). So
 * who reads several CPUs can take the turns of threads in the order of time.
 */
#ifndef FLOW_H
#define FLOW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <intel-pt.h>

#include "code_blocks.h"
#include "code_image.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "records.h"
#include "runs.h"
#include "threads.h"

/* The kernel has switched to another thread when this one is entered. */
#define SWITCH_FUNCTION	"__switch_to"

struct flow;
struct relay;
struct windows;

/* A BTS record. */
struct branch {
	uint64_t from;		/* 0: kernel code, which the session may not see */
	uint64_t to;
	uint64_t flags;		/* as the hardware wrote them */
	bool async;		/* an interrupt or exception, before @from was executed */
	bool walked;		/* the code since the previous branch is known: */
	uint64_t instructions, bytes; /* executed since the previous branch */
	uint64_t after, before;	/* TSCs that bound its time; 0: not known */
};

/*
 * The CPU sleeps or wakes, or is interrupted; RFLAGS.IF has changed; or a PTWRITE instruction has run. C-states are numbers of MWAIT's hints: 0 is C1.
 */
struct cpu_event {
	enum { CPU_NOTHING, CPU_MWAIT, CPU_PWRE, CPU_EXSTOP, CPU_PWRX, CPU_CFE, CPU_IFLAG, CPU_PTWRITE } what;
	bool known;		/* MWAIT, EXSTOP, CFE, IFLAG, PTWRITE: its address is in the trace */
	bool hw;		/* PWRE: no instruction asked for it */
	uint8_t state, sub_state;	/* PWRE */
	uint8_t last, deepest;	/* PWRX: states of the core */
	uint8_t reason;		/* PWRX: as in the packet: 1 an interrupt, 4 a store, 8 the hardware */
	uint8_t extensions;	/* MWAIT: ECX */
	uint32_t hints;		/* MWAIT: EAX */
	uint8_t type, vector;	/* CFE: as in the packet */
	uint8_t nr_data;	/* CFE: what EVD packets say of it: */
	struct {
		uint8_t type;
		uint64_t value;
	} data[2];
	bool iflag;		/* IFLAG: its new value. Without an address a branch changed it */
	uint64_t payload;	/* PTWRITE: the operand */
	uint64_t ip;
	uint64_t tsc;		/* that its packet had: the flow's may be later already; 0: not known */
};

struct view {
	void (*cpu)(struct view *v, unsigned int cpu);
	/* May be NULL. Another thread runs from here on, or it is not known any more which one. */
	void (*thread)(struct view *v, const struct flow *f);
	/* May be NULL. A step of the decoder ends here. What comes next on this CPU is not before f->turn_tsc. */
	void (*turn)(struct view *v, const struct flow *f);
	/* Window @seq begins; 0: its number is not known. */
	void (*window)(struct view *v, const struct flow *f, uint64_t seq);
	/* A sample begins: SAMPLE record number @nr of the CPU, from 1. */
	void (*sample)(struct view *v, const struct flow *f, size_t nr,
		       const struct auxtrace_record_sample *sample);
	void (*enable)(struct view *v, const struct flow *f, uint64_t ip);
	/* @ip: where control went; @known: else packets did not say. */
	void (*disable)(struct view *v, const struct flow *f, uint64_t ip, bool known);
	/* @insn has its address, size and class. */
	void (*insn)(struct view *v, const struct flow *f, const struct pt_insn *insn);
	/* @insn and @block do nothing: they need not be called. */
	bool no_code;
	/* May be NULL, else it is called for the first @count instructions of @block instead. */
	void (*block)(struct view *v, const struct flow *f, const struct code_block *block, unsigned int count);
	/*
	 * May be NULL, else it may be called for several such blocks that ran whole, one after the other: @count
	 * instructions, of which the first is at @ip. All but @last are plain, or conditional jumps.
	 */
	void (*blocks)(struct view *v, const struct flow *f, uint64_t ip, unsigned int count, const struct pt_insn *last);
	void (*async)(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known);
	void (*overflow)(struct view *v, const struct flow *f, uint64_t ip, bool known);
	void (*skip)(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3);
	void (*error)(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
		      const char *message);
	/* May be NULL. An event without an address may be some instructions early. */
	void (*cpu_event)(struct view *v, const struct flow *f, const struct cpu_event *event);
	/* May be NULL. BTS: a record, after the callbacks for the flow that it ends. */
	void (*branch)(struct view *v, const struct flow *f, const struct branch *branch);
	/* May be NULL. The decoder has gone on by 4 KiB of trace or more, whether there was something to tell or not. */
	void (*passed)(struct view *v);
};

/* Code that is not in the recording, by address space. */
struct skipped {
	uint64_t cr3;		/* CODE_NO_CR3: the trace has none */
	uint64_t ip;		/* of the first time */
	uint64_t times;
	bool probes;		/* the kernel's page for probed instructions */
};

/* Sums over all CPUs. */
struct flow_sum {
	uint64_t samples;	/* decoded */
	uint64_t unsampled;	/* samples whose bytes are not in the recording */
	uint64_t instructions, windows, bytes, errors, overflows, skips, unsynced;
	uint64_t branches;	/* BTS */
	uint64_t decoded;	/* bytes of trace */
	struct skipped *skipped;
	size_t nr_skipped;
};

struct flow {
	const struct meta *meta;
	const struct meta_cpu *cpu;
	struct code_image *code;
	struct code_blocks *blocks;	/* of that code */
	const struct side *side;
	const struct threads *threads;
	struct view *view;
	struct flow_sum *sum;
	const char *dir;	/* of the recording */
	struct mapped aux;	/* the CPU's trace, a private copy: cpuN.aux; not with @samples */
	uint64_t window;	/* decode only this one; 0: all */
	bool samples;		/* decode the samples instead, each on its own */
	const volatile bool *stop;	/* a view or ^C has set it: nobody wants what follows */
	void *decoding;		/* the decoder's own, from open to close */
	struct relay *relay;	/* another thread decodes it; NULL: this one does */
	struct pt_config config;
	uint64_t cr3, tsc;	/* current (BTS: a lower bound); CODE_NO_CR3, 0: not known */
	const struct windows *windows_of_cpu;
	struct records records;	/* of this CPU */
	struct runs runs;	/* of this CPU */
	size_t run;		/* index of the thread that runs; runs.count: not known */
	uint64_t turn_tsc;	/* when what the next step decodes began; 0: not known */
	bool switched;		/* the kernel's switch to it has been decoded */
	uint64_t switch_ip;	/* where the kernel switches; 0: not known */
	size_t next_window, enables;
	uint64_t last_offset;	/* the decoder's, when makes_progress() was called last */
	uint64_t passed;	/* offset up to which the flow has reported PSBs */
	_Atomic uint64_t *decoded;	/* bytes of trace that are decoded, of all CPUs */
	uint64_t decoded_here;	/* this CPU's share */
	bool open;		/* between enable and disable */
	bool resumed;		/* the last enable continued where the last disable was */
	uint64_t reached;	/* at disable: the instruction that an interrupt or fault stopped; 0: none, or not known */
	bool spliced;		/* decoding continued after a skip: earlier frames are unknown */
	bool in_probes;		/* the last read returned CODE_PROBES */
};

/**
 * struct flow_decoder - decodes the trace of a trace PMU
 * @check: can the recording be decoded? False, with a message: no. NULL: always
 * @begin: prepare to decode what flow_begin() was told; NULL: there is nothing to prepare
 * @step: decode up to the next change of the thread, which comes first in the next step. Returns
 *	false if that was all
 * @end: free what @begin and @step made; NULL: nothing
 */
struct flow_decoder {
	bool (*check)(const char *dir, const struct meta *meta);
	void (*begin)(struct flow *f);
	bool (*step)(struct flow *f);
	void (*end)(struct flow *f);
};

extern const struct flow_decoder pt_decoder, bts_decoder;

/* The decoder of traces of @pmu (AUXTRACE_PMU_*), or NULL. */
const struct flow_decoder *flow_decoder_of(uint32_t pmu);

/*
 * Read the trace and the records of CPU @cpu of the recording in f->dir, and who ran. Returns false, with a message, if
 * they cannot be read.
 */
bool flow_begin(struct flow *f, const struct meta_cpu *cpu);
void flow_end(struct flow *f);
/* The decoder is at @offset of f->aux. */
void flow_passed(struct flow *f, uint64_t offset);
/* Prepare for a step, after other flows had theirs. */
void flow_resume(const struct flow *f);
/* One step of @decoder. Returns false if it was the last one. */
bool flow_step(struct flow *f, const struct flow_decoder *decoder);

/* The thread that runs; NULL: not known. */
const struct run *flow_thread(const struct flow *f);

/* Add what @more counts, but for what was skipped. */
void flow_sum_add(struct flow_sum *sum, const struct flow_sum *more);
void flow_sum_free(struct flow_sum *sum);

/* The kernel's clock at @tsc, in ns; false if their relation is not known. */
bool flow_clock(const struct flow *f, uint64_t tsc, uint64_t *ns);

#endif
