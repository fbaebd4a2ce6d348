// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "scope.h"

/*
 * From where the module turns the hardware on or off to where the stacks change. Interrupts are off
 * there; an NMI may come.
 */
#define SWITCH_LIMIT	5000

#define MAX_TID		(1u << 22)

/* What a CPU ran from one switch to the next. */
struct turn {
	size_t begin, end;
	uint8_t all;		/* SCOPE_MEMBER, SCOPE_OTHER: of all its steps, then of its thread */
};

struct turns {
	struct turn *turn;
	size_t count, space;
};

static void *grow(void *array, size_t *space, size_t size)
{
	*space = *space ? 2 * *space : 1024;
	array = realloc(array, *space * size);
	if (!array) {
		fprintf(stderr, "scope: %s\n", strerror(ENOMEM));
		exit(2);
	}
	return array;
}

static bool parse_range(struct range *r, const char *arg)
{
	char *end;

	r->begin = strtoull(arg, &end, 16);
	if (*end != '-')
		return false;
	r->end = strtoull(end + 1, &end, 16);
	return !*end && r->begin < r->end;
}

static bool read_threads(struct scope *scope, const char *path)
{
	FILE *f = fopen(path, "r");
	unsigned int tid;
	int got;

	if (!f) {
		fprintf(stderr, "scope: %s: %s\n", path, strerror(errno));
		return false;
	}
	while ((got = fscanf(f, "%u", &tid)) == 1 && tid < MAX_TID) {
		if (scope->nr_tids == scope->space)
			scope->tid = grow(scope->tid, &scope->space, sizeof(*scope->tid));
		scope->tid[scope->nr_tids++] = tid;
	}
	fclose(f);
	return got == EOF;
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
	case 't':
		return read_threads(scope, arg);
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

static bool judge_member(const uint8_t *step, const struct turn *t, size_t slack,
			 struct scope_turns *turns)
{
	size_t next;

	for (size_t i = t->begin; i < t->end; i = next) {
		next = same_until(step, i, t->end);
		if (step[i] & SCOPE_TRACED)
			continue;
		for (size_t k = i; k < next; k++)
			if (step[k] & SCOPE_MEMBER)
				return fail(k, "a member's user code is missing in the trace");
		if (next == t->end ? !is_short(i, next, turns) : next - i > slack)
			return fail(i, "while a member ran, the hardware was off for long");
	}
	turns->members++;
	return true;
}

static bool judge_other(const uint8_t *step, const struct turn *t, bool last,
			struct scope_turns *turns)
{
	size_t on = t->begin;

	while (on < t->end && !(step[on] & SCOPE_TRACED))
		on++;
	for (size_t i = on; i < t->end; i++)
		if (step[i] & SCOPE_OTHER)
			return fail(i, "what no member runs is in the trace");
	if (on < t->end && (last || !(step[t->end] & SCOPE_TRACED)))
		return fail(on, "the hardware was on, and no member had the next turn");
	if (on < t->end && !is_short(on, t->end, turns))
		return fail(on, "the hardware was on long before a member's turn");
	turns->others++;
	return true;
}

static bool judge_turn(const uint8_t *step, const struct turn *t, bool last, size_t slack,
		       struct scope_turns *turns)
{
	bool traced = step[t->begin] & SCOPE_TRACED;

	if (traced && t->all & SCOPE_OTHER)
		return fail(t->begin, "the turn of a thread that is no member is in the trace");
	if (!traced && t->all & SCOPE_MEMBER)
		return fail(t->begin, "a member's turn is not in the trace");
	turns->unknown += !t->all;
	return traced ? judge_member(step, t, slack, turns) : judge_other(step, t, last, turns);
}

static void find_turns(const uint8_t *step, size_t count, struct turns *out)
{
	for (size_t i = 0; i < count; i++) {
		if (!i || step[i] & SCOPE_SWITCH) {
			if (out->count == out->space)
				out->turn = grow(out->turn, &out->space, sizeof(*out->turn));
			out->turn[out->count++] = (struct turn){ .begin = i };
		}
		out->turn[out->count - 1].end = i + 1;
		out->turn[out->count - 1].all |= step[i] & (SCOPE_MEMBER | SCOPE_OTHER);
	}
}

/*
 * What is known of each thread, if the first record is of turn @first. Returns false if one would be a
 * member and not.
 */
static bool find_threads(const struct scope *scope, const struct turns *turns, size_t first,
			 uint8_t *thread)
{
	memset(thread, 0, MAX_TID);
	thread[0] = SCOPE_OTHER;	/* of an idle CPU */
	for (size_t i = 0; i < scope->nr_tids; i++) {
		uint8_t *known = &thread[scope->tid[i]];

		*known |= turns->turn[first + i].all;
		if (*known == (SCOPE_MEMBER | SCOPE_OTHER))
			return false;
	}
	return true;
}

/* Adds to each turn what is known of its thread. */
static bool name_turns(const struct scope *scope, struct turns *turns)
{
	uint8_t *thread = malloc(MAX_TID);
	size_t places = 0, place = 0;

	/* Before the first switch in the log there was another turn. */
	for (size_t first = 1; thread && first + scope->nr_tids <= turns->count; first++) {
		if (!find_threads(scope, turns, first, thread))
			continue;
		places++;
		place = first;
	}
	if (places != 1) {
		fprintf(stderr, "scope: %zu SWITCH records fit to %zu switches in the log in %zu places\n",
			scope->nr_tids, turns->count - 1, places);
		free(thread);
		return false;
	}
	find_threads(scope, turns, place, thread);
	for (size_t i = 0; i < scope->nr_tids; i++)
		turns->turn[place + i].all |= thread[scope->tid[i]];
	free(thread);
	return true;
}

bool scope_judge(const struct scope *scope, const uint8_t *step, size_t count, size_t slack,
		 struct scope_turns *out)
{
	struct turns turns = { 0 };
	bool right;

	*out = (struct scope_turns){ 0 };
	find_turns(step, count, &turns);
	right = !scope->nr_tids || name_turns(scope, &turns);
	for (size_t i = 0; right && i < turns.count; i++)
		right = judge_turn(step, &turns.turn[i], i + 1 == turns.count, slack, out);
	free(turns.turn);
	if (right && !(out->members && out->others)) {
		fprintf(stderr, "scope: %zu turns of members, %zu of others\n", out->members, out->others);
		return false;
	}
	return right;
}

void scope_print(const struct scope_turns *turns, const char *unit)
{
	printf("%zu turns of members, %zu of others, %zu of these of threads not known; up to %zu %s from where the hardware was turned on or off to the switch\n",
	       turns->members, turns->others, turns->unknown, turns->longest, unit);
}
