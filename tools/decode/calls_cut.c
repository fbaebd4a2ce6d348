// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "calls_cut.h"
#include "functions.h"

/* Wanted calls around @call. */
static unsigned int depth_of(const struct call *call)
{
	return call->caller ? call->caller->wanted : 0;
}

/* Whatever its time and depth */
static bool is_wanted(const struct calls_cut *c, const struct call *call)
{
	if (c->tid && (!call->known || call->thread.tid != c->tid))
		return false;
	return !c->function || depth_of(call) || call_is_of(call, c->function);
}

static bool is_due(const struct call *call)
{
	return call && call->shown == call && !call->handed_on;
}

static void hand_on_one(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	if (call->begin.tsc < c->begin) {
		call->begin = (struct call_time){ c->begin, c->begin, c->begin };
		call->begun = false;
		call->clipped = true;
	}
	call->handed_on = true;
	if (to->begin)
		to->begin(to, call);
}

/* Hand on that @call and those around it have begun, which may have been before the part. They may be many. */
static void hand_on(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	struct call **due;
	size_t count = 0;

	if (!is_due(call))
		return;
	if (!is_due(call->caller)) {
		hand_on_one(c, to, call);
		return;
	}
	for (struct call *at = call; is_due(at); at = at->caller)
		count++;
	due = xcalloc(count, sizeof(*due));
	for (size_t i = 0; i < count; i++, call = call->caller)
		due[i] = call;
	while (count > 0)
		hand_on_one(c, to, due[--count]);
	free(due);
}

uint64_t calls_cut_ticks(const struct calls_cut *c, uint64_t begin, uint64_t end)
{
	if (begin < c->begin)
		begin = c->begin;
	if (c->end && end > c->end)
		end = c->end;
	return end > begin ? end - begin : 0;
}

void calls_cut_begins(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	if (!is_wanted(c, call))
		return;
	call->wanted = depth_of(call) + 1;
	call->shown = !c->depth || call->wanted <= c->depth ? call : call->caller->shown;
	if ((c->begin || c->end) && !call->begin.tsc)
		return;
	if (call->begin.tsc >= c->begin && (!c->end || call->begin.tsc < c->end))
		hand_on(c, to, call->shown);
}

void calls_cut_ends(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	/* It may reach into the part, or over all of it, with nothing inside that does. */
	if (is_due(call) && c->begin && call->begin.tsc && call->begin.tsc < c->begin && call->end.tsc > c->begin)
		hand_on(c, to, call);
	if (!call->handed_on)
		return;
	if (c->end && call->end.tsc > c->end) {
		call->end = (struct call_time){ c->end, c->end, c->end };
		call->returned = false;
		call->clipped = true;
	}
	/* What is not shown of a call is its own. */
	if (call->caller) {
		call->caller->callee_instructions += call->instructions;
		call->caller->callee_ticks += call_own_ticks(call);
	}
	if (to->end)
		to->end(to, call);
}

void calls_cut_line(const struct calls_cut *c, struct calls_sink *to, struct call *call, const struct call_line *line)
{
	if (line->tsc < c->begin || (c->end && line->tsc >= c->end))
		return;
	/* Nothing that it called inside the part may have handed it on. */
	if (is_due(call) && c->begin && call->begin.tsc && call->begin.tsc < c->begin)
		hand_on(c, to, call);
	if (call->handed_on)
		to->line(to, call, line);
}

/* It is of no thread and of no call: wanted only where these do not choose. */
void calls_cut_event(const struct calls_cut *c, struct calls_sink *to, unsigned int cpu,
		     const struct cpu_event *event, uint64_t tsc)
{
	if (c->tid || c->function || tsc < c->begin || (c->end && (!tsc || tsc >= c->end)))
		return;
	to->cpu_event(to, cpu, event, tsc);
}
