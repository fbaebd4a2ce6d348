// SPDX-License-Identifier: GPL-2.0
/*
 * Function calls, indented by depth. There is a line where control enters a function: by a
 * call, a jump to its begin, an interrupt, a system call, or because tracing begins
 * there. Returns have no line; they reduce the indentation.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view_text.h"
#include "views.h"

#define MAX_DEPTH	4096	/* deeper calls drop the outermost frame */
#define MAX_INDENT	40

struct calls {
	struct view view;
	unsigned int cpu;
	uint64_t back[MAX_DEPTH]; /* return address of each open call */
	unsigned int depth;
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
	unsigned int indent = c->depth < MAX_INDENT ? c->depth : MAX_INDENT;
	uint64_t ns;
	bool timed = flow_time(f, &ns);

	printf("%3u ", c->cpu);
	text_time(timed, ns);
	printf(" %c  %*s", code_is_kernel(ip) ? 'k' : 'u', 2 * indent, "");
	text_name(ip, name);
	if (how)
		printf("  <%s>", how);
	putchar('\n');
}

static void push(struct calls *c, uint64_t back)
{
	if (c->depth == MAX_DEPTH) {
		memmove(c->back, c->back + 1, (MAX_DEPTH - 1) * sizeof(*c->back));
		c->depth--;
	}
	c->back[c->depth++] = back;
}

/* Pop the innermost call that returns to @ip, and all calls inside it. False: there is none. */
static bool pop_matching(struct calls *c, uint64_t ip)
{
	for (unsigned int i = c->depth; i > 0; i--)
		if (c->back[i - 1] == ip) {
			c->depth = i - 1;
			return true;
		}
	return false;
}

/* A return to @ip. If it matches no call, pop one nevertheless. */
static void pop(struct calls *c, uint64_t ip)
{
	if (!pop_matching(c, ip) && c->depth)
		c->depth--;
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
	c->in_thunk = is_thunk(name.function);
	if (c->in_thunk) {
		if (c->leaves == CALLS && !from_thunk)
			push(c, c->next);
		else if (c->leaves == RETURNS)
			pop_matching(c, ip);
		return;
	}
	switch (c->leaves) {
	case FLOWS:
		break;
	case CALLS:
		push(c, c->next);
		show_line(c, f, ip, &name, c->how);
		break;
	case RETURNS:
		/* A retpoline jumps by a return. */
		if (from_thunk && name.function && !name.offset)
			show_line(c, f, ip, &name, NULL);
		else
			pop(c, ip);
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

/* What follows is not connected to what was before. */
static void forget(struct calls *c)
{
	c->depth = 0;
	c->next = 0;
	c->leaves = FLOWS;
	c->how = NULL;
	c->in_thunk = false;
}

static void calls_cpu(struct view *v, unsigned int cpu)
{
	struct calls *c = (struct calls *)v;

	c->cpu = cpu;
	forget(c);
}

static void calls_sample(struct view *v, const struct flow *f, size_t nr,
			 const struct auxtrace_record_sample *s)
{
	struct calls *c = (struct calls *)v;

	text_sample(c->cpu, f, nr, s);
	forget(c);
}

static void calls_window(struct view *v, const struct flow *f, uint64_t seq)
{
	struct calls *c = (struct calls *)v;

	text_window(c->cpu, f, seq);
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
	if (pop_matching(c, ip) || ip == c->next)
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

struct view *calls_view(void)
{
	static struct calls calls = {
		.view = {
			.cpu = calls_cpu,
			.window = calls_window,
			.sample = calls_sample,
			.enable = calls_enable,
			.disable = calls_disable,
			.insn = calls_insn,
			.async = calls_async,
			.overflow = calls_overflow,
			.skip = calls_skip,
			.error = calls_error,
		},
	};

	return &calls.view;
}
