/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Function calls: a view (flow.h) that finds in the flow where control enters and leaves functions, and
 * tells a sink. A function is entered by a call, a jump to its begin, an interrupt, a system call, a signal, exec,
 * or because tracing begins there. It is left by a return, or because control goes to where a function outside of it
 * goes on, as by longjmp(3) or an exception.
 *
 * When. Packets that tell the time come now and then. So a call that begins or ends is held until the next
 * one of them bounds it; its time in between follows from the number of instructions executed.
 *
 * Order. The begins and ends of one thread's calls come in order and are nested, also when the thread
 * goes from CPU to CPU.
 *
 * Source lines. A sink that wants them is told whenever a call goes on in another line, or another inlined function:
 * in order with the begins and ends.
 */
#ifndef CALLS_H
#define CALLS_H

#include "flow.h"
#include "lib/source_lines.h"

/* When something happened, as TSC values. */
struct call_time {
	uint64_t after, before;	/* bounds by packets; 0: there is none */
	uint64_t tsc;		/* an estimate between them; 0: not known */
};

/* How system calls are entered (struct call, @how). */
#define CALL_HOW_SYSTEM	"system call"

struct call {
	struct call *caller;	/* the innermost open call around it; NULL: not known */
	uint64_t ip;		/* where the function was entered, or found */
	struct code_name name;
	const char *how;	/* it was entered if not by a call or jump, for people; else NULL */
	const char *system_call;	/* it is the kernel's entry for this system call, as the kernel names it; NULL: no, or not known */
	unsigned int cpu;	/* where it began */
	unsigned int depth;	/* open calls around it */
	uint64_t window;	/* in which window of that CPU; 0: not known */
	bool known;		/* which thread it is: */
	struct run thread;
	const char *comm;	/* the thread's name; NULL: not known */
	bool begun;		/* the function was entered here; else it had begun before, and came to light now */
	bool returned;		/* and it was seen to end; else the trace ends before that */
	struct call_time begin, end;
	/* Between them, when it has ended: */
	uint64_t instructions;	/* with those of callees and interrupts */
	uint64_t callee_instructions;	/* of callees that the sink was told of */
	uint64_t away;		/* TSC ticks in which other threads ran instead, in the part that is wanted */
	uint64_t callee_ticks;	/* TSC ticks of these, without those in which other threads ran */
	void *own;		/* the sink's, NULL at first */
	/* calls_cut.c: */
	unsigned int wanted;	/* 1 more than the number of wanted calls around it; 0: it is not wanted */
	struct call *shown;	/* this one, or the innermost around it that is not too deep */
	bool handed_on;		/* the sink was told of it */
	bool clipped;		/* it reaches out of the part by time: what @instructions has is not all inside */
};

/* @call executes a line of its source. */
struct call_line {
	const char *file;	/* as the compiler had it */
	unsigned int number;
	const struct source_inline *inlined;	/* the innermost inlined function; NULL: none */
	uint64_t tsc;		/* when, an estimate; 0: not known */
};

/**
 * struct calls_sink - who is told
 * @begin: a call begins; its time is known
 * @end: it ends, and is freed behind this. All calls inside it have ended
 * @line: an open call goes on at another line, where its source is known; NULL: they are not looked up
 * @window, @sample, @overflow, @skip, @error: as those of struct view, on CPU @cpu. Any of them may be NULL
 * @cpu_event: the same, in order with the begins and ends of that CPU, at @tsc, an estimate; 0: not known
 */
struct calls_sink {
	void (*begin)(struct calls_sink *s, struct call *call);
	void (*end)(struct calls_sink *s, struct call *call);
	void (*line)(struct calls_sink *s, struct call *call, const struct call_line *line);
	void (*window)(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq);
	void (*sample)(struct calls_sink *s, unsigned int cpu, const struct flow *f, size_t nr,
		       const struct auxtrace_record_sample *sample);
	void (*overflow)(struct calls_sink *s, unsigned int cpu);
	void (*cpu_event)(struct calls_sink *s, unsigned int cpu, const struct cpu_event *event, uint64_t tsc);
	void (*skip)(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3);
	void (*error)(struct calls_sink *s, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message);
};

/* The time between begin and end; 0 if one of them is not known. */
static inline uint64_t call_ticks(const struct call *c)
{
	return c->begin.tsc && c->end.tsc > c->begin.tsc ? c->end.tsc - c->begin.tsc : 0;
}

/* Of that the thread's own: without the time in which other threads ran. */
static inline uint64_t call_own_ticks(const struct call *c)
{
	uint64_t ticks = call_ticks(c);

	return ticks > c->away ? ticks - c->away : 0;
}

/* All CPUs' calls of a recording. */
struct calls;
struct calls_cut;

/* The sink is told of the part @cut. Both must outlive it. */
struct calls *calls_begin(struct calls_sink *sink, const struct calls_cut *cut);
/* The view of one more CPU, for replay_run(); @calls: a struct calls. */
struct view *calls_view_of_cpu(void *calls);
/* Calls that are still open end here. Frees @calls and its views. */
void calls_end(struct calls *calls);

#endif
