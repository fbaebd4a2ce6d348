// SPDX-License-Identifier: GPL-2.0
/*
 * Function calls, indented by depth. There is a line where control enters a function: by a
 * call, a jump to its begin, an interrupt, a system call, or because tracing begins
 * there. Returns have no line; they reduce the indentation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stacks.h"
#include "view_text.h"
#include "views.h"

#define MAX_INDENT	40
/*
 * At a switch of threads the kernel fills the CPU's stack of return addresses by calls that do not
 * return: each goes over the few bytes of a trap.
 */
#define MAX_TRAP	8

struct calls {
	struct view view;
	unsigned int cpu;
	struct stacks *stacks;	/* of all threads and CPUs */
	struct stack *stack;	/* of the thread that runs */
	/* How control leaves the last instruction: */
	enum { FLOWS, CALLS, RETURNS, JUMPS, ENTERS } leaves;
	uint64_t next;		/* the address behind it */
	const char *how;	/* note beside the function that is entered next */
	const char *function;	/* of the last line, or NULL */
	bool in_thunk;
};

static void show_line(struct calls *c, const struct flow *f, uint64_t ip,
		      const struct code_name *name, const char *how)
{
	unsigned int indent = c->stack->depth < MAX_INDENT ? c->stack->depth : MAX_INDENT;
	uint64_t ns;
	bool timed = flow_time(f, &ns);

	printf("%3u ", c->cpu);
	text_time(timed, ns);
	text_thread(f);
	printf(" %c  %*s", code_is_kernel(ip) ? 'k' : 'u', 2 * indent, "");
	text_name(ip, name);
	if (how)
		printf("  <%s>", how);
	putchar('\n');
}

/*
 * The kernel's retpolines and return thunks are parts of a call or return, not functions
 * of their own.
 */
static bool is_thunk(const char *function)
{
	return function && (strstr(function, "indirect_thunk") || strstr(function, "return_thunk"));
}

static void arrive(struct calls *c, const struct flow *f, uint64_t ip)
{
	struct code_name name;
	bool from_thunk = c->in_thunk;

	if (c->leaves == CALLS && ip == c->next && !c->how)
		return;		/* a call of the next instruction only pushes its address */
	code_name(f->code, f->cr3, f->tsc, ip, &name);
	if (c->leaves == CALLS && ip > c->next && ip - c->next <= MAX_TRAP && !c->how && name.offset)
		return;
	c->in_thunk = is_thunk(name.function);
	if (c->in_thunk) {
		if (c->leaves == CALLS && !from_thunk)
			stack_push(c->stack, c->next);
		else if (c->leaves == RETURNS)
			stack_pop_matching(c->stack, ip);
		return;
	}
	switch (c->leaves) {
	case FLOWS:
		break;
	case CALLS:
		stack_push(c->stack, c->next);
		show_line(c, f, ip, &name, c->how);
		break;
	case RETURNS:
		/* A retpoline jumps by a return. */
		if (from_thunk && name.function && !name.offset)
			show_line(c, f, ip, &name, NULL);
		else
			stack_pop(c->stack, ip);
		break;
	case JUMPS:
		if (name.function && !name.offset && name.function != c->function)
			show_line(c, f, ip, &name, NULL);
		break;
	case ENTERS:
		show_line(c, f, ip, &name, c->how);
		break;
	}
	c->function = name.function;
}

static void show_arrival(struct calls *c, const struct flow *f, uint64_t ip)
{
	if (c->leaves == FLOWS)
		return;
	arrive(c, f, ip);
	c->leaves = FLOWS;
	c->how = NULL;
}

static void calls_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	struct calls *c = (struct calls *)v;

	show_arrival(c, f, insn->ip);
	c->next = insn->ip + insn->size;
	switch (insn->iclass) {
	case ptic_call:
		c->leaves = CALLS;
		break;
	case ptic_far_call:
		c->leaves = CALLS;
		c->how = "system call";
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

static void calls_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	struct calls *c = (struct calls *)v;

	(void)to, (void)known;
	/* Control reached the instruction at @from; it runs when the interrupt returns. */
	show_arrival(c, f, from);
	c->leaves = CALLS;
	c->next = from;
	c->how = "interrupt";
}

static void rest(struct calls *c)
{
	c->leaves = FLOWS;
	c->how = NULL;
	c->in_thunk = false;
}

/* What follows is not connected to what this thread did before. */
static void forget(struct calls *c)
{
	stack_clear(c->stack);
	rest(c);
}

static void calls_cpu(struct view *v, unsigned int cpu)
{
	struct calls *c = (struct calls *)v;

	c->cpu = cpu;
	c->stack = stacks_of(c->stacks, NULL, cpu);
	c->next = 0;
	rest(c);
}

/* Within a run of flow, control is on its way from the one thread to the other. */
static void calls_thread(struct view *v, const struct flow *f)
{
	struct calls *c = (struct calls *)v;

	if (!f->open)
		c->stack->next = c->next;
	if (!flow_thread(f))
		stacks_forget_cpu(c->stacks, c->cpu);
	c->stack = stacks_of(c->stacks, flow_thread(f), c->cpu);
	if (f->open)
		return;
	c->next = c->stack->next;
	rest(c);
}

static void calls_sample(struct view *v, const struct flow *f, size_t nr,
			 const struct auxtrace_record_sample *s)
{
	struct calls *c = (struct calls *)v;

	text_sample(c->cpu, f, nr, s);
	forget(c);
}

/* A thread of the session's scope goes on where it was when its last window ended. */
static bool is_turn(const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);

	return w && w->begin_cause == AUXTRACE_CAUSE_TASK;
}

static void calls_window(struct view *v, const struct flow *f, uint64_t seq)
{
	struct calls *c = (struct calls *)v;

	text_window(c->cpu, f, seq);
	if (is_turn(f, seq)) {
		rest(c);
		return;
	}
	stacks_forget_cpu(c->stacks, c->cpu);
	c->next = 0;
	forget(c);
}

static void calls_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	struct calls *c = (struct calls *)v;

	/* User code that continues after a fault or a short stop. */
	if (f->resumed)
		return;
	c->leaves = FLOWS;
	/* Or after a system call. */
	if (stack_pop_matching(c->stack, ip) || ip == c->next)
		return;
	c->leaves = ENTERS;
	c->how = "trace begins";
}

static void calls_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	struct calls *c = (struct calls *)v;

	(void)f, (void)ip, (void)known;
	c->in_thunk = false;
	/* A branch whose target faulted arrives when the target is resumed. */
	if (!c->how)
		return;
	c->leaves = FLOWS;
	c->how = NULL;
}

static void calls_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	struct calls *c = (struct calls *)v;

	(void)f, (void)ip, (void)known;
	text_overflow(c->cpu);
	forget(c);
}

static void calls_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	struct calls *c = (struct calls *)v;

	text_skip(c->cpu, f, ip, cr3);
	forget(c);
}

static void calls_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
			const char *message)
{
	struct calls *c = (struct calls *)v;

	(void)f;
	text_error(c->cpu, offset, ip, message);
	forget(c);
}

struct view *calls_view(struct stacks *stacks)
{
	struct calls *calls = xcalloc(1, sizeof(*calls));

	calls->stacks = stacks;
	calls->view = (struct view){
		.cpu = calls_cpu,
		.thread = calls_thread,
		.window = calls_window,
		.sample = calls_sample,
		.enable = calls_enable,
		.disable = calls_disable,
		.insn = calls_insn,
		.async = calls_async,
		.overflow = calls_overflow,
		.skip = calls_skip,
		.error = calls_error,
	};
	return &calls->view;
}
