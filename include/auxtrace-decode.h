/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * libauxtrace-decode: what ran, from a recording that libauxtrace or `auxtrace record` wrote (auxtrace-recording(5)).
 * The auxtrace command decodes by the same code.
 *
 *	struct auxtrace_decoder_options o = { .size = sizeof(o), .cpu = -1 };
 *	struct auxtrace_decoder *d = auxtrace_decoder_open("auxtrace.data", &o);
 *	struct auxtrace_call_handler h = { .size = sizeof(h), .end = count };
 *
 *	if (!d || auxtrace_decode_calls(d, &h, NULL))
 *		errx(1, "%s", auxtrace_decoder_error());
 *	auxtrace_decoder_close(d);
 *
 * Errors. A call that fails returns NULL or -1 and sets errno; auxtrace_decoder_error() returns a sentence that says
 * what was wrong. What is wrong with parts of a recording (damage, code that is not there) is no error: the handler is
 * told where it happens, auxtrace_decoder_options.message in words, and auxtrace_decoder_sum() how often.
 * Without memory the process ends by abort(3).
 *
 * Ownership. A decoder owns all strings and structs that it hands out. Strings are valid until
 * auxtrace_decoder_close(), structs until the handler returns, except where stated.
 *
 * Names are as the traced programs chose them, control characters and all: who prints them to a terminal takes these
 * out first. Messages have none.
 *
 * Sizes. Later versions add members at the ends of structs. What a program hands over has its size in it: a later library
 * takes the sizes of earlier versions, an earlier library refuses one that it does not know. What a handler is told may
 * be longer than the program knows.
 *
 * Threads. Different decoders are independent; one decoder is used by one thread at a time. Handlers are called by the
 * thread that decodes, and must not use the decoder but for the calls that say so. They return: no longjmp(3), no
 * exception of C++.
 *
 * Blocking. All calls read files. If DEBUGINFOD_URLS is in the environment, libdw also asks these servers for debug
 * information, and waits for them. Calls wait for nothing else.
 *
 * Units. Times that end in _ns are nanoseconds of the kernel's clock (CLOCK_MONOTONIC or perf's, as the recording
 * has it); 0: not known. Sizes are in bytes.
 */
#ifndef AUXTRACE_DECODE_H
#define AUXTRACE_DECODE_H

#include <stdint.h>

#include <linux/auxtrace.h>

#ifdef __cplusplus
extern "C" {
#endif

struct auxtrace_decoder;

/**
 * auxtrace_decoder_error - explain the last call of this thread that failed
 *
 * Return: a sentence without a period, valid until the next failing call of this thread; empty before the first
 * failure, never NULL.
 */
const char *auxtrace_decoder_error(void);

/* Decode the samples that triggers took, each on its own, instead of the AUX areas. */
#define AUXTRACE_DECODER_SAMPLES	(1u << 0)

/**
 * struct auxtrace_decoder_options - what is decoded, and how
 * @size: sizeof(struct auxtrace_decoder_options)
 * @flags: AUXTRACE_DECODER_*
 * @cpu: only this CPU; -1: all
 * @tid: only this thread's calls; 0: all
 * @window: only window number @window of each CPU; 0: all
 * @begin_ns, @end_ns: only calls between these times, cut at the edges; 0: no limit
 * @function: only calls of this function, "NAME" or "NAME@FILE", and what is inside them; NULL: all
 * @max_depth: only so many calls deep; 0: all
 * @symfs: the traced programs' files are below this directory; NULL: they are where they were
 * @message: gets what there is to say of the recording, a sentence a call; NULL: it is dropped
 * @context: for @message
 *
 * @tid to @max_depth choose calls: auxtrace_decode_instructions() does not use them. The struct and its strings must
 * outlive the decoder.
 */
struct auxtrace_decoder_options {
	uint32_t size;
	uint32_t flags;
	int32_t cpu;
	uint32_t tid;
	uint64_t window;
	uint64_t begin_ns, end_ns;
	const char *function;
	uint32_t max_depth;
	uint32_t reserved;	/* 0 */
	const char *symfs;
	void (*message)(void *context, const char *text);
	void *context;
};

/**
 * auxtrace_decoder_open - open a recording, or a snapshot of one
 * @dir: its directory
 * @options: NULL: all of it
 *
 * Return: the decoder, to be freed by auxtrace_decoder_close(); or NULL:
 *  EINVAL   @options has a size, flags or a reserved member that this version does not know; or limits of time that
 *	     exclude each other or for which the recording has no clock
 *  EBADMSG  @dir is no complete recording, or cannot be read
 */
struct auxtrace_decoder *auxtrace_decoder_open(const char *dir, const struct auxtrace_decoder_options *options);

/** auxtrace_decoder_close - free a decoder; NULL is allowed */
void auxtrace_decoder_close(struct auxtrace_decoder *decoder);

/* ---- calls -------------------------------------------------------------------- */

#define AUXTRACE_CALL_BEGUN	(1u << 0)	/* it was seen to begin; else it had begun before, and came to light */
#define AUXTRACE_CALL_RETURNED	(1u << 1)	/* it was seen to end; else the trace ends before that */
#define AUXTRACE_CALL_KERNEL	(1u << 2)	/* kernel code */
#define AUXTRACE_CALL_THREAD	(1u << 3)	/* @pid and @tid are known */

/**
 * struct auxtrace_call - a call of a function
 * @flags: AUXTRACE_CALL_*. RETURNED is known when it has ended
 * @cpu: where it began
 * @pid, @tid: the thread, with AUXTRACE_CALL_THREAD
 * @comm: the thread's name; NULL: not known
 * @caller: the call around it; NULL: not known, or it is not in the part that is decoded. Valid until that ends
 * @depth: number of calls around it
 * @ip: where the function was entered, or found
 * @function: its name; NULL: not known
 * @offset: of @ip in the function; if that is not known, in the file
 * @object: base name of the function's file; "[kernel]", "[vdso]", "[jit]"; NULL: not known
 * @how: how it was entered if not by a call or jump, in words; else NULL
 * @window: number of the window of its CPU in which it began; 0: not known
 * @begin_ns: when it began: an estimate between bounds by packets that tell the time
 * @own: the handler's; NULL at first
 *
 * When it has ended:
 * @end_ns: when, an estimate; 0 also before
 * @instructions: executed inside it, with those of callees and interrupts
 * @callee_instructions: those of callees that the handler was told of
 * @away_ns: how long other threads ran instead
 */
struct auxtrace_call {
	uint32_t flags;
	uint32_t cpu;
	uint32_t pid, tid;
	const char *comm;
	const struct auxtrace_call *caller;
	uint32_t depth;
	uint32_t reserved;
	uint64_t ip;
	const char *function;
	uint64_t offset;
	const char *object;
	const char *how;
	uint64_t window;
	uint64_t begin_ns, end_ns;
	uint64_t instructions, callee_instructions;
	uint64_t away_ns;
	void *own;
};

/**
 * struct auxtrace_source_line - a line of source that a call executes
 * @file: path of the source, as the compiler had it
 * @line: number of the line, from 1
 * @inlined: number of inlined functions at this place
 * @function: name of the innermost of them; NULL: none
 * @time_ns: when, an estimate
 */
struct auxtrace_source_line {
	const char *file;
	uint32_t line;
	uint32_t inlined;
	const char *function;
	uint64_t time_ns;
};

/* What happens between instructions or calls: */
enum auxtrace_flow_what {
	AUXTRACE_FLOW_WINDOW = 1,	/* a window begins; @number: its number, 0: not known */
	AUXTRACE_FLOW_SAMPLE,		/* a sample begins; @number: its SAMPLE record's number on this CPU, from 1 */
	AUXTRACE_FLOW_OVERFLOW,	/* the CPU lost packets */
	AUXTRACE_FLOW_SKIPPED,		/* code at @ip is not in the recording */
	AUXTRACE_FLOW_ERROR,		/* what follows cannot be decoded: @text says why; @number: offset in the trace */
	/* Of instructions only: */
	AUXTRACE_FLOW_THREAD,		/* another thread runs, which auxtrace_decoder_thread() tells */
	AUXTRACE_FLOW_BEGIN,		/* contiguous flow begins at @ip */
	AUXTRACE_FLOW_END,		/* it ends; @ip: where control goes, 0: not known */
	AUXTRACE_FLOW_INTERRUPT,	/* an interrupt or exception, before the instruction at @ip */
};

/* Later versions may have other values of @what: ignore these. */
struct auxtrace_flow_event {
	uint32_t what;		/* enum auxtrace_flow_what */
	uint32_t cpu;
	uint64_t number;
	uint64_t ip;
	const char *text;
};

/**
 * struct auxtrace_call_handler - who is told of calls
 * @size: sizeof(struct auxtrace_call_handler)
 * @begin: a call begins; its time is known
 * @end: it ends; all calls inside it have ended
 * @line: a call goes on in another line, or inlined function, of its source. NULL: lines are not looked up
 * @event: see enum auxtrace_flow_what
 *
 * Any of them may be NULL. A handler that does not return 0 ends the decoding soon, and is not called again.
 *
 * Begins and ends of one thread's calls come in order and are nested, also if the thread goes from CPU to CPU. Those
 * of all CPUs come in the order in which their threads got a CPU.
 */
struct auxtrace_call_handler {
	uint32_t size;
	uint32_t reserved;	/* 0 */
	int (*begin)(void *context, struct auxtrace_call *call);
	int (*end)(void *context, struct auxtrace_call *call);
	int (*line)(void *context, struct auxtrace_call *call, const struct auxtrace_source_line *line);
	int (*event)(void *context, const struct auxtrace_flow_event *event);
};

/**
 * auxtrace_decode_calls - find the calls of functions
 *
 * May be called several times; each decodes anew.
 *
 * Return: 0; what a handler returned, if that was not 0; or -1:
 *  EINVAL   @handler has a size or a reserved member that this version does not know
 *  EBADMSG  a file of the recording cannot be read
 *  ENOENT   the recording does not have the CPU or window
 */
int auxtrace_decode_calls(struct auxtrace_decoder *decoder, const struct auxtrace_call_handler *handler, void *context);

/* ---- instructions --------------------------------------------------------------- */

/* Later versions may have other values. */
enum auxtrace_instruction_class {
	AUXTRACE_INSTRUCTION_OTHER,
	AUXTRACE_INSTRUCTION_CALL,
	AUXTRACE_INSTRUCTION_RETURN,
	AUXTRACE_INSTRUCTION_JUMP,
	AUXTRACE_INSTRUCTION_CONDITIONAL_JUMP,
	AUXTRACE_INSTRUCTION_FAR_CALL,		/* SYSCALL, SYSENTER, INT, ... */
	AUXTRACE_INSTRUCTION_FAR_RETURN,	/* IRET, SYSRET, ... */
	AUXTRACE_INSTRUCTION_FAR_JUMP,
};

struct auxtrace_instruction {
	uint64_t ip;
	uint32_t length;
	uint32_t iclass;	/* enum auxtrace_instruction_class */
};

/**
 * struct auxtrace_instruction_handler - who is told of instructions
 * @size: sizeof(struct auxtrace_instruction_handler)
 * @instruction: it was executed; NULL: only events are wanted
 * @event: see enum auxtrace_flow_what; NULL: none are wanted
 *
 * The CPUs come one after the other. A handler that does not return 0 ends the decoding soon, and is not called again.
 */
struct auxtrace_instruction_handler {
	uint32_t size;
	uint32_t reserved;	/* 0 */
	int (*instruction)(void *context, const struct auxtrace_instruction *instruction);
	int (*event)(void *context, const struct auxtrace_flow_event *event);
};

/**
 * auxtrace_decode_instructions - each instruction that was executed
 *
 * Return: as auxtrace_decode_calls().
 */
int auxtrace_decode_instructions(struct auxtrace_decoder *decoder, const struct auxtrace_instruction_handler *handler,
				 void *context);

/* What handlers of auxtrace_decode_instructions() may call, of where the flow is: */

/**
 * auxtrace_decoder_thread - the thread that runs
 *
 * Return: 0, or -1 if it is not known.
 */
int auxtrace_decoder_thread(const struct auxtrace_decoder *decoder, uint32_t *pid, uint32_t *tid);

/** auxtrace_decoder_time - the time of the last packet that told it; 0: not known */
uint64_t auxtrace_decoder_time(const struct auxtrace_decoder *decoder);

/**
 * auxtrace_decoder_name - the function of the code at @ip
 * @function: gets its name; NULL: not known
 * @offset: gets the offset of @ip in it; if it is not known, in the file
 * @object: gets the file, as auxtrace_call.object
 */
void auxtrace_decoder_name(struct auxtrace_decoder *decoder, uint64_t ip, const char **function, uint64_t *offset,
			   const char **object);

/* ---- the recording --------------------------------------------------------------- */

/**
 * auxtrace_decoder_windows - the windows' records of a CPU (AUXTRACE_RECORD_WINDOW)
 * @visit: called for each, in the order of their numbers. One that does not return 0 ends this
 *
 * Return: 0; what @visit returned; or -1:
 *  EBADMSG  a file of the recording cannot be read
 *  ENOENT   the recording does not have the CPU
 */
int auxtrace_decoder_windows(struct auxtrace_decoder *decoder, unsigned int cpu,
			     int (*visit)(void *context, const struct auxtrace_record_window *window), void *context);

/** auxtrace_decoder_cpu - CPU number @index of the recording, in ascending order; -1: it has no more */
int auxtrace_decoder_cpu(const struct auxtrace_decoder *decoder, unsigned int index);

/** auxtrace_decoder_trigger - what trigger @id was, as `record --on` had it; "": not known */
const char *auxtrace_decoder_trigger(const struct auxtrace_decoder *decoder, uint32_t id);

/**
 * struct auxtrace_decoder_sum - what the last auxtrace_decode_*() decoded
 * @size: sizeof(struct auxtrace_decoder_sum), which the caller sets
 * @unsynced: bytes that cannot be decoded because the trace, or a sample, begins in the middle
 * @unsampled: samples whose bytes are not in the recording
 */
struct auxtrace_decoder_sum {
	uint32_t size;
	uint32_t reserved;	/* 0 */
	uint64_t instructions, windows, samples, bytes;
	uint64_t errors, overflows, skipped, unsynced;
	uint64_t unsampled;
};

/**
 * auxtrace_decoder_sum - fill @sum
 *
 * Return: 0; or -1 and EINVAL: @sum has a size that this version does not know.
 */
int auxtrace_decoder_sum(const struct auxtrace_decoder *decoder, struct auxtrace_decoder_sum *sum);

#ifdef __cplusplus
}
#endif

#endif
