// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "calls.h"
#include "calls_cut.h"
#include "stacks.h"

/*
 * At a switch of threads the kernel fills the CPU's stack of return addresses by calls that do not
 * return: each goes over the few bytes of a trap.
 */
#define MAX_TRAP	8
/* Open calls of a thread. A stack of the usual 8 MiB has so many of 32 bytes. Deeper than that, it begins anew with none. */
#define MAX_DEPTH	(1u << 18)
/*
 * An instruction is taken to last no longer than this many ticks. So what comes before a halt or a time without
 * trace is not spread over it.
 */
#define MAX_TICKS	64
/* Calls of the kernel's entry for system calls inwards, up to the function that carries one out. */
#define MAX_ENTRY	8
/* Open calls among which unwind() and kernel_entry() seek: it bounds the time that a hostile recording takes. */
#define MAX_UNWOUND	1024
/* Bytes of the instruction SYSCALL, as of INT 80H */
#define SYSCALL_SIZE	2
/* Begins, ends and lines that wait for a packet with the time. */
#define MAX_HELD	65536

struct held {
	enum { BEGINS, ENDS, EXECUTES, HAPPENS } what;
	struct call *call;
	union {
		struct call_line line;		/* that it executes */
		struct cpu_event cpu_event;	/* HAPPENS: what happened to the CPU */
	};
	uint64_t instructions;	/* executed since the CPU's time */
	uint64_t tsc;		/* when; 0: now */
};

/* Of one CPU. */
struct cpu_calls {
	struct view view;
	struct calls *all;
	struct cpu_calls *chain;
	unsigned int cpu;
	uint64_t window;
	struct stack *stack;	/* of the thread that runs */
	/* How control leaves the last instruction: */
	enum { FLOWS, CALLS, RETURNS, JUMPS, ENTERS } leaves;
	uint64_t next;		/* the address behind it */
	const char *how;	/* note beside the function that is entered next */
	const char *function;	/* where control arrived last, or NULL */
	bool in_thunk;
	/* Where the last instruction is in its source, if lines are wanted; start and end 0: look anew */
	struct source_place place;
	uint64_t place_cr3;
	const struct call *place_call;	/* only to compare: it may have ended */
	uint64_t tsc, earlier;	/* the time, and the one that the packets told before it; 0: not known */
	uint64_t instructions;	/* executed since then */
	struct held *held;	/* none between two steps of the decoder */
	unsigned int nr_held;
};

struct calls {
	struct calls_sink *sink;
	const struct calls_cut *cut;
	struct stacks stacks;	/* of all threads and CPUs */
	struct cpu_calls *cpus;
	struct call *free;	/* to be used again; linked by @caller */
	bool told;		/* that there were too many open calls */
};

/* ---- time ----------------------------------------------------------------- */

static void finish(struct calls *all, struct call *call)
{
	calls_cut_ends(all->cut, all->sink, call);
	call->caller = all->free;
	all->free = call;
}

/*
 * The decoder's time is that of the last packet that told it, and things happen behind it. But conditional branches
 * share a packet, which follows the last of them: some of them may have been before that time, though
 * not before the time that was told before it.
 */
static struct call_time time_of(const struct cpu_calls *c, const struct held *h, uint64_t now)
{
	struct call_time t = { c->earlier, now, c->tsc };
	uint64_t share = 0;

	if (h->tsc)
		return (struct call_time){ h->tsc, h->tsc, h->tsc };
	if (c->tsc && now > c->tsc && c->instructions)
		share = (unsigned __int128)(now - c->tsc) * h->instructions / c->instructions;
	t.tsc += share < MAX_TICKS * h->instructions ? share : MAX_TICKS * h->instructions;
	return t;
}

/* The time goes on to @now (0: it is not known): what was held lies before that. */
static void settle(struct cpu_calls *c, uint64_t now)
{
	for (unsigned int i = 0; i < c->nr_held; i++) {
		struct held *h = &c->held[i];
		struct call_time t = time_of(c, h, now);

		switch (h->what) {
		case BEGINS:
			h->call->begin = t;
			calls_cut_begins(c->all->cut, c->all->sink, h->call);
			break;
		case ENDS:
			h->call->end = t;
			finish(c->all, h->call);
			break;
		case EXECUTES:
			h->line.tsc = t.tsc;
			calls_cut_line(c->all->cut, c->all->sink, h->call, &h->line);
			break;
		case HAPPENS:
			calls_cut_event(c->all->cut, c->all->sink, c->cpu, &h->cpu_event, t.tsc);
			break;
		}
	}
	c->nr_held = 0;
}

static void hold(struct cpu_calls *c, struct held held)
{
	if (c->nr_held == MAX_HELD)
		settle(c, 0);
	held.instructions = c->instructions;
	c->held[c->nr_held++] = held;
}

static void advance(struct cpu_calls *c, const struct flow *f)
{
	if (f->tsc == c->tsc)
		return;
	settle(c, f->tsc);
	c->earlier = c->tsc;
	c->tsc = f->tsc;
	c->instructions = 0;
}

/* ---- calls ---------------------------------------------------------------- */

/* Take the call out of frame @i, and sum it up; NULL: there is none. */
static struct call *take_call(struct stack *s, unsigned int i)
{
	struct call *call = s->frame[i].call;

	if (!call)
		return NULL;
	s->frame[i].call = NULL;
	call->instructions = s->instructions - call->instructions;
	call->away = s->away - call->away;
	return call;
}

/* The call at frame @i of the running thread ends. @tsc: when; 0: now. */
static void end_call(struct cpu_calls *c, unsigned int i, bool returned, uint64_t tsc)
{
	struct call *call = take_call(c->stack, i);

	if (!call)
		return;
	call->returned = returned;
	hold(c, (struct held){ .what = ENDS, .call = call, .tsc = tsc });
	/* The one around it may go on in the same line. */
	c->place.start = c->place.end = 0;
}

/* The running thread's calls from frame @i on inwards end. */
static void end_calls(struct cpu_calls *c, unsigned int i, bool returned, uint64_t tsc)
{
	struct stack *s = c->stack;

	for (unsigned int at = s->depth + 1; at > i; at--)
		end_call(c, at - 1, returned, tsc);
	stack_cut(s, i ? i - 1 : 0);
}

static struct call *caller_at(const struct stack *s)
{
	for (unsigned int i = s->depth; i > 0; i--)
		if (s->frame[i - 1].call)
			return s->frame[i - 1].call;
	return NULL;
}

static struct call *new_call(struct calls *all)
{
	struct call *call = all->free;

	if (!call)
		return xcalloc(1, sizeof(*call));
	all->free = call->caller;
	return call;
}

/* What @function carries out, with the kernel's name of the call. They have such names since 4.17; NULL: nothing. */
static const char *system_call_of(const char *function)
{
	static const char *const prefixes[] = {
		"__x64_sys_", "__ia32_sys_", "__ia32_compat_sys_", "__x32_compat_sys_", "__x64_compat_sys_",
		"__do_sys_",	/* the same address, if it takes no arguments */
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t length = strlen(prefixes[i]);

		if (!strncmp(function, prefixes[i], length))
			/* One that the kernel does not have goes here. */
			return strcmp(function + length, "ni_syscall") ? function + length : NULL;
	}
	return NULL;
}

/* The frame of the call by which control came from user code into the kernel, where it is; 0: not known. */
static unsigned int kernel_entry(const struct stack *s)
{
	unsigned int least = s->depth > MAX_UNWOUND ? s->depth - MAX_UNWOUND : 0;

	for (unsigned int i = s->depth; i > least && s->frame[i].call && code_is_kernel(s->frame[i].call->ip); i--)
		if (!code_is_kernel(s->frame[i].back))
			return i;
	return 0;
}

/* If @call carries out a system call: say so of the one by which control entered the kernel, or the trace began there. */
static void name_system_call(const struct call *call)
{
	const char *name = call->name.function, *system_call;
	struct call *entry = call->caller;

	if (!code_is_kernel(call->ip) || !name || strncmp(name, "__", 2) || !(system_call = system_call_of(name)))
		return;
	for (unsigned int i = 0; entry && !entry->how && i < MAX_ENTRY; i++)
		entry = entry->caller;
	if (entry && entry->how && !entry->system_call)
		entry->system_call = system_call;
}

/* The kernel comes here only when it has replaced the program. */
static void note_exec(struct stack *s, const struct call *call)
{
	if (code_is_kernel(call->ip) && call->name.function && !strcmp(call->name.function, "setup_new_exec"))
		s->frame[kernel_entry(s)].exec = true;
}

/* Function @name runs at the current depth, instead of the one that ran there. */
static void begin_call(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name,
		       const char *how, bool begun)
{
	const struct run *t = flow_thread(f);
	struct stack *s = c->stack;
	struct call *call = new_call(c->all);

	end_call(c, s->depth, begun, 0);
	*call = (struct call){
		.caller = caller_at(s),
		.ip = ip,
		.name = *name,
		.how = how,
		.cpu = c->cpu,
		.depth = s->depth,
		.window = c->window,
		.known = t,
		.thread = t ? *t : (struct run){ 0 },
		.comm = t ? threads_name(f->threads, t->tid, f->tsc) : NULL,
		.begun = begun,
		.instructions = s->instructions,
		.away = s->away,
	};
	name_system_call(call);
	s->frame[s->depth].call = call;
	note_exec(s, call);
	hold(c, (struct held){ .what = BEGINS, .call = call });
	c->place = (struct source_place){ 0 };
}

static void push(struct cpu_calls *c)
{
	if (c->stack->depth == MAX_DEPTH) {
		if (!c->all->told)
			say("a thread has more than %u open calls, one inside the other: they are taken to end there", MAX_DEPTH);
		c->all->told = true;
		end_calls(c, 0, false, 0);
	}
	stack_push(c->stack, c->next);
}

/* The innermost call that returns to @ip ends, and all calls inside it. False: there is none. */
static bool return_matching(struct cpu_calls *c, uint64_t ip)
{
	unsigned int i = stack_find(c->stack, ip);

	if (i)
		end_calls(c, i, true, 0);
	return i;
}

static const char *function_of(const struct call *call)
{
	return call ? call->name.function : NULL;
}

/*
 * A uretprobe lets the function return to a page of the kernel, where a breakpoint leads to the kernel, and
 * that returns to the caller.
 */
static bool is_trampoline(const struct code_name *name)
{
	return name->object && !strcmp(name->object, "[uprobes]");
}

/* The compiler has moved the part of @function that seldom runs to @part. A demangled name says so in brackets. */
static bool is_cold_part(const char *part, const char *function)
{
	size_t length = function ? strlen(function) : 0;

	if (!length || strncmp(part, function, length))
		return false;
	part += length;
	return !strncmp(part, ".cold", 5) || !strncmp(part, " [clone .cold", 13);
}

/* Is @name inside the function that ran at the current depth last? */
static bool goes_on(const struct stack *s, const struct code_name *name)
{
	return name->function && name->offset && function_of(s->frame[s->depth].call) == name->function;
}

/* What follows is not connected to what this thread did before @tsc; 0: before now. */
static void forget_stack(struct cpu_calls *c, uint64_t tsc)
{
	end_calls(c, 0, false, tsc);
	c->stack->next = 0;
}

/* ---- returns, and what ends several calls at once ----------------------------- */

/*
 * Control went into the midst of a function that is open further outwards, as by longjmp(3) or an exception: what is inside
 * it ends. Of several such calls it is the innermost. Returns false if no such function is open.
 */
static bool unwind(struct cpu_calls *c, const struct code_name *name)
{
	struct stack *s = c->stack;
	unsigned int least = s->depth > MAX_UNWOUND ? s->depth - MAX_UNWOUND : 0;
	bool cold;

	if (!name->function)
		return false;
	/* Few names have it: only these are compared with each function's. */
	cold = strstr(name->function, ".cold");
	if (!name->offset && !cold)
		return false;
	for (unsigned int i = s->depth; i-- > least;) {
		const char *function = function_of(s->frame[i].call);

		if (!function || (function != name->function && !(cold && is_cold_part(name->function, function))))
			continue;
		end_calls(c, i + 1, true, 0);
		return true;
	}
	return false;
}

/* Control is in another function, which will return where the running one was to return. @how, @begun: as begin_call() */
static void replace_call(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name, const char *how,
			 bool begun)
{
	end_call(c, c->stack->depth, true, 0);
	begin_call(c, f, ip, name, how, begun);
}

static void begin_program(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name)
{
	forget_stack(c, 0);
	begin_call(c, f, ip, name, "exec", true);
}

/*
 * Can the handler of a signal begin there that came while @running ran? What has no name may be anything, and a function that
 * interrupts itself is taken to go on.
 */
static bool may_handle(const struct code_name *name, const struct call *running)
{
	return name->function && !name->offset && name->function != function_of(running);
}

/* Is frame @i that of a signal whose handler has returned? Then the code runs there that lets the kernel go on. */
static bool is_handled(const struct stack *s, unsigned int i)
{
	return s->frame[i].handler && s->frame[i].call && !s->frame[i].call->how;
}

/*
 * Behind the handler of frame @i, the kernel goes on at @ip: with the handler of the next signal, or wherever the handler told it
 * to, as that of a runtime may do.
 */
static void leave_handler(struct cpu_calls *c, const struct flow *f, unsigned int i, uint64_t ip, const struct code_name *name)
{
	struct stack *s = c->stack;

	if (may_handle(name, s->frame[i - 1].call)) {
		end_calls(c, i + 1, true, 0);
		replace_call(c, f, ip, name, "signal", true);
		return;
	}
	end_calls(c, i, true, 0);
	if (!unwind(c, name) && name->function && function_of(s->frame[s->depth].call) != name->function)
		begin_call(c, f, ip, name, NULL, false);
}

/* The kernel returns to user code at @ip, but not to where it was entered. False: it is not known why. */
static bool return_elsewhere(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name)
{
	unsigned int entry = kernel_entry(c->stack);

	if (entry && c->stack->frame[entry].exec) {
		begin_program(c, f, ip, name);
		return true;
	}
	/* A system call that a signal has interrupted is made anew. */
	if (return_matching(c, ip + SYSCALL_SIZE))
		return true;
	if (entry && is_handled(c->stack, entry - 1)) {
		leave_handler(c, f, entry - 1, ip, name);
		return true;
	}
	if (unwind(c, name))
		return true;
	if (!entry || !may_handle(name, c->stack->frame[entry - 1].call))
		return false;
	end_calls(c, entry + 1, true, 0);
	c->stack->frame[entry].handler = true;
	replace_call(c, f, ip, name, "signal", true);
	return true;
}

/* The kernel's probes of returns let functions return here. It goes on where the function was to return. */
static bool is_return_trampoline(const struct code_name *name)
{
	return name->function && !name->offset &&
	       (strstr(name->function, "trampoline") || !strcmp(name->function, "return_to_handler"));
}

/* A return to @ip, in function @name. If it matches no call, one ends nevertheless. */
static void return_to(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name)
{
	struct stack *s = c->stack;
	struct call *running;

	if (return_matching(c, ip)) {
		/* What called the function, from before the trace, comes to light. */
		if (!s->frame[s->depth].call && !is_trampoline(name))
			begin_call(c, f, ip, name, NULL, false);
		return;
	}
	if (code_is_kernel(c->next) && !code_is_kernel(ip)) {
		if (return_elsewhere(c, f, ip, name))
			return;
	} else if (!is_trampoline(name) &&
		   (s->frame[s->depth].handler || (code_is_kernel(ip) && is_return_trampoline(name)))) {
		/* A handler returns to code that lets the kernel go on. */
		replace_call(c, f, ip, name, NULL, false);
		return;
	} else if (unwind(c, name)) {
		return;
	}
	end_calls(c, s->depth, true, 0);
	running = s->frame[s->depth].call;
	if (!is_trampoline(name) && (!running || function_of(running) != name->function))
		begin_call(c, f, ip, name, NULL, false);
}

/* ---- arrivals ----------------------------------------------------------------- */

/* Is each piece of user code traced that the thread runs, and nothing else? */
static bool traces_user_code(const struct flow *f)
{
	return flow_thread(f) && !(f->meta->flags & AUXTRACE_SETUP_KERNEL) && !f->meta->nr_filters;
}

/*
 * The trace goes on at @ip. If it is of user code, that was left for the kernel at c->next (0: not known), which did not let it
 * go on there.
 */
static void enter(struct cpu_calls *c, const struct flow *f, uint64_t ip, const struct code_name *name)
{
	const struct run *t = flow_thread(f);
	struct stack *s = c->stack;
	uint64_t exec;

	if (!c->next || !traces_user_code(f)) {
		begin_call(c, f, ip, name, c->how, false);
	} else if ((exec = threads_exec(f->threads, t->tid, s->off, f->tsc))) {
		s->off = exec;
		begin_program(c, f, ip, name);
	} else if (s->depth && is_handled(s, s->depth)) {
		leave_handler(c, f, s->depth, ip, name);
	} else if (may_handle(name, s->frame[s->depth].call)) {
		push(c);
		s->frame[s->depth].handler = true;
		begin_call(c, f, ip, name, "signal", true);
	} else if (!unwind(c, name)) {
		begin_call(c, f, ip, name, c->how, false);
	}
}

/* Is @name inside the function of the running call, or either of them a part of the other one that seldom runs? */
static bool runs_within(const struct stack *s, const struct code_name *name)
{
	const char *function = function_of(s->frame[s->depth].call);

	return function && name->function && (function == name->function || is_cold_part(name->function, function) ||
					      is_cold_part(function, name->function));
}

static void arrive(struct cpu_calls *c, const struct flow *f, uint64_t ip)
{
	struct code_name name;
	bool from_thunk = c->in_thunk;

	if (c->leaves == CALLS && ip == c->next && !c->how)
		return;		/* a call of the next instruction only pushes its address */
	code_name(f->code, f->cr3, f->tsc, ip, &name);
	if (c->leaves == CALLS && ip > c->next && ip - c->next <= MAX_TRAP && !c->how && name.offset)
		return;
	c->in_thunk = name.thunk;
	if (c->in_thunk) {
		if (c->leaves == CALLS && !from_thunk)
			push(c);
		else if (c->leaves == RETURNS)
			return_matching(c, ip);
		return;
	}
	switch (c->leaves) {
	case FLOWS:
		break;
	case CALLS:
		push(c);
		begin_call(c, f, ip, &name, c->how, true);
		break;
	case RETURNS:
		/* A retpoline jumps by a return. */
		if (from_thunk && name.function && !name.offset)
			begin_call(c, f, ip, &name, NULL, true);
		else
			return_to(c, f, ip, &name);
		break;
	case JUMPS:
		if (name.function && !name.offset && name.function != c->function &&
		    !is_cold_part(name.function, c->function))
			begin_call(c, f, ip, &name, NULL, true);
		else if (name.function != c->function && !runs_within(c->stack, &name))
			unwind(c, &name);
		break;
	case ENTERS:
		if (!goes_on(c->stack, &name))
			enter(c, f, ip, &name);
		break;
	}
	c->function = name.function;
}

static void take_arrival(struct cpu_calls *c, const struct flow *f, uint64_t ip)
{
	if (c->leaves == FLOWS)
		return;
	arrive(c, f, ip);
	c->leaves = FLOWS;
	c->how = NULL;
}

/* ---- source lines ------------------------------------------------------------ */

static bool is_same_line(const struct source_place *a, const struct source_place *b)
{
	return a->file == b->file && a->line == b->line && a->inlined == b->inlined;
}

/* The running call is at @ip. */
static void execute(struct cpu_calls *c, const struct flow *f, uint64_t ip)
{
	struct call *call = c->stack->frame[c->stack->depth].call;
	struct source_place place;

	if (ip >= c->place.start && ip < c->place.end && f->cr3 == c->place_cr3)
		return;
	c->place_cr3 = f->cr3;
	if (!code_place(f->code, f->cr3, f->tsc, ip, &place)) {
		/* It goes on in the line that was known last, as far as anybody can tell. */
		c->place.start = place.start;
		c->place.end = place.end;
		return;
	}
	if (call && (call != c->place_call || !is_same_line(&place, &c->place)))
		hold(c, (struct held){
			.what = EXECUTES,
			.call = call,
			.line = { .file = place.file, .number = place.line, .inlined = place.inlined },
		});
	c->place = place;
	c->place_call = call;
}

/* ---- the view --------------------------------------------------------------- */

static struct cpu_calls *of_view(struct view *v)
{
	return (struct cpu_calls *)v;
}

/* Control is at the instruction at @ip. */
static void come_to(struct cpu_calls *c, const struct flow *f, uint64_t ip)
{
	take_arrival(c, f, ip);
	if (c->all->sink->line)
		execute(c, f, ip);
}

static void calls_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	struct cpu_calls *c = of_view(v);

	advance(c, f);
	come_to(c, f, insn->ip);
	c->stack->instructions++;
	c->instructions++;
	c->next = insn->ip + insn->size;
	switch (insn->iclass) {
	case ptic_call:
		c->leaves = CALLS;
		break;
	case ptic_far_call:
		c->leaves = CALLS;
		c->how = CALL_HOW_SYSTEM;
		break;
	case ptic_return:
	case ptic_far_return:
		c->leaves = RETURNS;
		break;
	case ptic_jump:
		c->leaves = JUMPS;
		break;
	default:
		c->leaves = FLOWS;
	}
}

/* Control comes from another function to the first one only, and goes to another one from the last one only. */
static void calls_blocks(struct view *v, const struct flow *f, uint64_t ip, unsigned int count, const struct pt_insn *last)
{
	struct cpu_calls *c = of_view(v);

	if (count > 1) {
		advance(c, f);
		come_to(c, f, ip);
		c->stack->instructions += count - 1;
		c->instructions += count - 1;
		c->leaves = FLOWS;
	}
	calls_insn(v, f, last);
}

/* As that of each of its instructions: only the last one can lead elsewhere. */
static void calls_block(struct view *v, const struct flow *f, const struct code_block *block, unsigned int count)
{
	const struct pt_insn last = block_last_insn(block);
	struct cpu_calls *c = of_view(v);

	if (count == block->count) {
		calls_blocks(v, f, block->ip, count, &last);
		return;
	}
	if (count) {
		advance(c, f);
		come_to(c, f, block->ip);
		c->stack->instructions += count;
		c->instructions += count;
		c->leaves = FLOWS;
	}
	c->next = block->ip;
	for (unsigned int i = 0; i < count; i++)
		c->next += block->size[i];
}

static void calls_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	struct cpu_calls *c = of_view(v);

	(void)to, (void)known;
	/* Control reached the instruction at @from; it runs when the interrupt returns. */
	come_to(c, f, from);
	advance(c, f);
	c->leaves = CALLS;
	c->next = from;
	c->how = "interrupt";
}

static void rest(struct cpu_calls *c)
{
	c->leaves = FLOWS;
	c->how = NULL;
	c->in_thunk = false;
}

static void forget(struct cpu_calls *c)
{
	forget_stack(c, 0);
	c->next = c->stack->next = 0;
	rest(c);
}

static void take_stack(struct cpu_calls *c, const struct run *thread)
{
	bool stale;

	c->stack = stacks_of(&c->all->stacks, thread, c->cpu, &stale);
	c->place = (struct source_place){ 0 };
	if (stale)
		forget_stack(c, c->stack->left);
	if (c->stack->left)
		c->stack->away += calls_cut_ticks(c->all->cut, c->stack->left, c->tsc);
	c->stack->left = 0;
}

static void calls_cpu(struct view *v, unsigned int cpu)
{
	struct cpu_calls *c = of_view(v);

	c->cpu = cpu;
	take_stack(c, NULL);
	c->next = 0;
	rest(c);
}

/* Within a run of flow, control is on its way from the one thread to the other. */
static void calls_thread(struct view *v, const struct flow *f)
{
	struct cpu_calls *c = of_view(v);

	advance(c, f);
	settle(c, 0);
	c->stack->left = c->tsc;
	if (!flow_thread(f))
		stacks_forget_cpu(&c->all->stacks, c->cpu);
	take_stack(c, flow_thread(f));
	if (f->open)
		return;
	c->next = c->stack->next;
	rest(c);
}

static void calls_turn(struct view *v, const struct flow *f)
{
	struct cpu_calls *c = of_view(v);

	settle(c, f->turn_tsc);
}

static void calls_sample(struct view *v, const struct flow *f, size_t nr,
			 const struct auxtrace_record_sample *s)
{
	struct cpu_calls *c = of_view(v);

	forget(c);
	settle(c, 0);
	if (c->all->sink->sample)
		c->all->sink->sample(c->all->sink, c->cpu, f, nr, s);
}

/* A thread of the session's scope goes on where it was when its last window ended. */
static bool is_turn(const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);

	return w && w->begin_cause == AUXTRACE_CAUSE_TASK;
}

static void calls_window(struct view *v, const struct flow *f, uint64_t seq)
{
	struct cpu_calls *c = of_view(v);

	if (is_turn(f, seq)) {
		rest(c);
	} else {
		stacks_forget_cpu(&c->all->stacks, c->cpu);
		forget(c);
	}
	settle(c, 0);
	c->window = seq;
	if (c->all->sink->window)
		c->all->sink->window(c->all->sink, c->cpu, f, seq);
}

static void calls_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	struct cpu_calls *c = of_view(v);

	advance(c, f);
	/* Nothing from before the stop is behind this packet. */
	c->earlier = c->tsc;
	/* User code that continues after a fault or a short stop. */
	if (f->resumed)
		return;
	c->leaves = FLOWS;
	/* Or after a system call, which may be made anew. */
	if (ip == c->next || return_matching(c, ip))
		return;
	if (traces_user_code(f) && (ip + SYSCALL_SIZE == c->next || return_matching(c, ip + SYSCALL_SIZE)))
		return;
	c->leaves = ENTERS;
	c->how = "trace begins";
}

static void calls_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	struct cpu_calls *c = of_view(v);

	(void)ip, (void)known;
	/* Control came there, even if it never goes on: a crash is where it is. */
	if (f->reached) {
		come_to(c, f, f->reached);
		c->next = f->reached;
	}
	/* What was held does not reach into the time without trace. */
	advance(c, f);
	if (c->stack->off < c->earlier)
		c->stack->off = c->earlier;
	settle(c, 0);
	/* Another CPU may be the next one to run the thread, before anything is heard of this one again. */
	c->stack->next = c->next;
	c->in_thunk = false;
	/* A branch whose target faulted arrives when the target is resumed. */
	if (!c->how)
		return;
	c->leaves = FLOWS;
	c->how = NULL;
}

static void calls_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	struct cpu_calls *c = of_view(v);

	(void)f, (void)ip, (void)known;
	forget(c);
	settle(c, 0);
	if (c->all->sink->overflow)
		c->all->sink->overflow(c->all->sink, c->cpu);
}

static void calls_cpu_event(struct view *v, const struct flow *f, const struct cpu_event *e)
{
	struct cpu_calls *c = of_view(v);

	advance(c, f);
	hold(c, (struct held){ .what = HAPPENS, .cpu_event = *e, .tsc = e->tsc });
}

static void calls_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	struct cpu_calls *c = of_view(v);

	forget(c);
	settle(c, 0);
	if (c->all->sink->skip)
		c->all->sink->skip(c->all->sink, c->cpu, f, ip, cr3);
}

static void calls_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
			const char *message)
{
	struct cpu_calls *c = of_view(v);

	(void)f;
	forget(c);
	settle(c, 0);
	if (c->all->sink->error)
		c->all->sink->error(c->all->sink, c->cpu, offset, ip, message);
}

/* ---- all CPUs --------------------------------------------------------------- */

struct calls *calls_begin(struct calls_sink *sink, const struct calls_cut *cut)
{
	struct calls *all = xcalloc(1, sizeof(*all));

	all->sink = sink;
	all->cut = cut;
	return all;
}

struct view *calls_view_of_cpu(void *calls)
{
	struct calls *all = calls;
	struct cpu_calls *c = xcalloc(1, sizeof(*c));

	c->all = all;
	c->held = xcalloc(MAX_HELD, sizeof(*c->held));
	c->chain = all->cpus;
	all->cpus = c;
	c->view = (struct view){
		.cpu = calls_cpu,
		.thread = calls_thread,
		.turn = calls_turn,
		.window = calls_window,
		.sample = calls_sample,
		.enable = calls_enable,
		.disable = calls_disable,
		.insn = calls_insn,
		/* Source lines may change within a block. */
		.block = all->sink->line ? NULL : calls_block,
		.blocks = all->sink->line ? NULL : calls_blocks,
		.async = calls_async,
		.overflow = calls_overflow,
		.cpu_event = all->sink->cpu_event ? calls_cpu_event : NULL,
		.skip = calls_skip,
		.error = calls_error,
	};
	return &c->view;
}

/* The calls of @s end, when the thread left its CPU last or, at the end of the trace, where it runs. */
static void end_thread(struct calls *all, struct stack *s)
{
	struct call_time t = { s->left, s->left, s->left };

	for (unsigned int i = s->depth + 1; i > 0; i--) {
		struct call *call = take_call(s, i - 1);

		if (!call)
			continue;
		call->end = t;
		finish(all, call);
	}
}

void calls_end(struct calls *all)
{
	for (struct cpu_calls *c = all->cpus; c; c = c->chain)
		if (c->stack)
			c->stack->left = c->tsc;
	for (size_t i = 0; i < all->stacks.buckets; i++)
		for (struct stack *s = all->stacks.bucket[i]; s; s = s->chain)
			end_thread(all, s);
	stacks_free(&all->stacks);
	while (all->cpus) {
		struct cpu_calls *c = all->cpus;

		all->cpus = c->chain;
		free(c->held);
		free(c);
	}
	while (all->free) {
		struct call *call = all->free;

		all->free = call->caller;
		free(call);
	}
	free(all);
}
