// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "scope.h"

/*
 * From where the module turns the hardware on or off to where the stacks change. Interrupts are off
 * there; an NMI may come.
 */
#define SWITCH_LIMIT	5000

static bool parse_range(struct range *r, const char *arg)
{
	char *end;

	r->begin = strtoull(arg, &end, 16);
	if (*end != '-')
		return false;
	r->end = strtoull(end + 1, &end, 16);
	return !*end && r->begin < r->end;
}

bool scope_option(struct scope *scope, int option, const char *arg)
{
	char *end;

	switch (option) {
	case 'm':
		return parse_range(&scope->members, arg);
	case 'w':
		scope->switch_at = strtoull(arg, &end, 16);
		return !*end && scope->switch_at;
	case 'o':
		return scope->nr_others < SCOPE_MAX_OTHERS &&
		       parse_range(&scope->other[scope->nr_others++], arg);
	default:
		return false;
	}
}

static bool is_in(const struct range *r, uint64_t ip)
{
	return ip >= r->begin && ip < r->end;
}

uint8_t scope_step(const struct scope *scope, uint64_t ip, bool user)
{
	if (user)
		return is_in(&scope->members, ip) ? SCOPE_MEMBER : SCOPE_OTHER;
	if (ip == scope->switch_at)
		return SCOPE_SWITCH;
	for (unsigned int i = 0; i < scope->nr_others; i++)
		if (is_in(&scope->other[i], ip))
			return SCOPE_OTHER;
	return 0;
}

static bool fail(size_t at, const char *what)
{
	fprintf(stderr, "scope: at %zu in the log: %s\n", at, what);
	return false;
}

/* The end of the steps from @i on, before @end, that are all traced, or all not. */
static size_t same_until(const uint8_t *step, size_t i, size_t end)
{
	uint8_t traced = step[i] & SCOPE_TRACED;

	while (i < end && (step[i] & SCOPE_TRACED) == traced)
		i++;
	return i;
}

static bool is_short(size_t from, size_t to, struct scope_turns *turns)
{
	if (to - from > turns->longest)
		turns->longest = to - from;
	return to - from <= SWITCH_LIMIT;
}

static bool judge_member(const uint8_t *step, size_t begin, size_t end, size_t slack,
			 struct scope_turns *turns)
{
	size_t next;

	for (size_t i = begin; i < end; i = next) {
		next = same_until(step, i, end);
		if (step[i] & SCOPE_TRACED)
			continue;
		for (size_t k = i; k < next; k++)
			if (step[k] & SCOPE_MEMBER)
				return fail(k, "a member's user code is missing in the trace");
		if (next == end ? !is_short(i, next, turns) : next - i > slack)
			return fail(i, "while a member ran, the hardware was off for long");
	}
	turns->members++;
	return true;
}

static bool judge_other(const uint8_t *step, size_t begin, size_t end, bool last,
			struct scope_turns *turns)
{
	size_t on = begin;

	while (on < end && !(step[on] & SCOPE_TRACED))
		on++;
	for (size_t i = on; i < end; i++)
		if (step[i] & SCOPE_OTHER)
			return fail(i, "what no member runs is in the trace");
	if (on < end && (last || !is_short(on, end, turns) || !(step[end] & SCOPE_TRACED)))
		return fail(on, "the hardware was on though no member ran");
	turns->others++;
	return true;
}

bool scope_judge(const uint8_t *step, size_t count, size_t slack, struct scope_turns *turns)
{
	size_t begin = 0, end;

	*turns = (struct scope_turns){ 0 };
	for (; begin < count; begin = end) {
		uint8_t all = step[begin];

		for (end = begin + 1; end < count && !(step[end] & SCOPE_SWITCH); end++)
			all |= step[end];
		if (all & SCOPE_MEMBER && all & SCOPE_OTHER)
			return fail(begin, "one turn has code of members and of others");
		if (step[begin] & SCOPE_TRACED ? all & SCOPE_OTHER : all & SCOPE_MEMBER)
			return fail(begin, step[begin] & SCOPE_TRACED ?
				    "the turn of a thread that is no member is in the trace" :
				    "a member's turn is not in the trace");
		if (step[begin] & SCOPE_TRACED ? !judge_member(step, begin, end, slack, turns) :
						 !judge_other(step, begin, end, end == count, turns))
			return false;
	}
	return true;
}
