// SPDX-License-Identifier: GPL-2.0-only
/*
 * flowcmp: is the decoded trace what the CPU executed?
 *
 *   flowcmp --cpu N [--user-only] [--newest] [--slack N] DECODED RAN
 *   flowcmp --cpu N --range FIRST-LAST [--range FIRST-LAST]... DECODED RAN
 *   flowcmp --cpu N --members RANGE [--user-only] DECODED RAN
 *   flowcmp --cpu N --members RANGE --switch ADDRESS [--others RANGE]... [--threads FILE] DECODED RAN
 *
 * DECODED is the output of `auxtrace script --insn` for CPU N. RAN is execlog's output from
 * QEMU's own execution log, which is independent of the trace model.
 *
 * A REP string is several executions and one decoded instruction, so equal neighbours count as
 * one, on both sides.
 *
 * The decoded flow is a list of stretches, each from an enable to a disable. Each stretch must
 * be found in the log completely, instruction for instruction, after the stretch before it.
 * With --newest the search goes from the last stretch to the first, as an overwrite recording
 * may begin anywhere. Instructions between two stretches ran while the hardware was off. They
 * may only be the tracer's own: no user code, and at most --slack kernel instructions for each
 * stretch (default 20000). --slack -1 is for a recording that was paused between windows.
 *
 * --range is for a session with filters: the decoded flow must be all of the log that is in one of the
 * ranges, and nothing else. Only kernel code may be missing, before the first stretch and behind the
 * last one: the log begins before the session and ends after it.
 *
 * --members and what may follow it are for a session of a task's scope (scope.h). With --user-only the
 * decoded flow must be all of the log that is in the range of the members. Else each stretch must
 * be found as above, and then the turns are judged.
 *
 * Exit status: 0 equal, 1 different, 2 cannot compare.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ran.h"
#include "scope.h"

struct insn {
	uint64_t ip;
	bool user, wrmsr;
};

struct flow {
	struct insn *insn;
	size_t count, space;
};

struct stretch {
	size_t first, count;	/* in the decoded flow */
	unsigned long line;	/* of its enable, for messages */
};

struct decoded {
	struct flow flow;
	struct stretch *stretch;
	size_t count, space;
	unsigned long errors, skips;
};

/* IA32_RTIT_ADDRn have no more. */
#define MAX_RANGES	4

struct filter_range {
	uint64_t first, last;
};

struct options {
	unsigned int cpu;
	bool user_only, newest;
	long slack;
	struct filter_range range[MAX_RANGES];
	unsigned int nr_ranges;
	struct scope scope;
};

static bool is_scoped(const struct options *o)
{
	return o->scope.members.end;
}

static void die(const char *what, const char *which)
{
	fprintf(stderr, "flowcmp: %s: %s\n", which, what);
	exit(2);
}

static void *grow(void *array, size_t *space, size_t size)
{
	*space = *space ? 2 * *space : 4096;
	array = realloc(array, *space * size);
	if (!array)
		die(strerror(ENOMEM), "list");
	return array;
}

static void flow_push(struct flow *f, struct insn insn)
{
	if (f->count == f->space)
		f->insn = grow(f->insn, &f->space, sizeof(*f->insn));
	f->insn[f->count++] = insn;
}

static bool flow_ends_with(const struct flow *f, uint64_t ip)
{
	return f->count && f->insn[f->count - 1].ip == ip;
}

static FILE *open_input(const char *path)
{
	FILE *f = fopen(path, "r");

	if (!f)
		die(strerror(errno), path);
	return f;
}

static bool is_in_range(const struct options *o, uint64_t ip)
{
	for (unsigned int i = 0; i < o->nr_ranges; i++)
		if (ip >= o->range[i].first && ip <= o->range[i].last)
			return true;
	return false;
}

static bool add_range(struct options *o, const char *text)
{
	struct filter_range *r = &o->range[o->nr_ranges];

	return o->nr_ranges < MAX_RANGES && ++o->nr_ranges &&
	       sscanf(text, "%" SCNx64 "-%" SCNx64, &r->first, &r->last) == 2 && r->first <= r->last;
}

/* Does the session trace it? */
static bool is_wanted(const struct options *o, uint64_t word)
{
	if (o->nr_ranges)
		return is_in_range(o, ran_ip(word));
	if (!o->user_only)
		return true;
	return ran_user(word) &&
	       (!is_scoped(o) || scope_step(&o->scope, ran_ip(word), true) == SCOPE_MEMBER);
}

static void read_ran(const char *path, const struct options *o, struct flow *out)
{
	struct ran ran = { 0 };
	uint64_t before = 0;

	ran_load(&ran, path, o->cpu);
	/* The filters come last, so that they do not create equal neighbours. */
	for (size_t i = 0; i < ran.count; i++) {
		uint64_t word = ran.word[i];

		if (ran_kind(word) != RAN_INSN)
			continue;
		if (ran_ip(word) != before && is_wanted(o, word))
			flow_push(out, (struct insn){ .ip = ran_ip(word), .user = ran_user(word),
						      .wrmsr = ran_class(word) == RAN_WRMSR });
		before = ran_ip(word);
	}
	free(ran.word);
}

static void read_decoded(const char *path, struct decoded *d)
{
	FILE *f = open_input(path);
	char line[512];
	unsigned long n = 0;
	bool open = false;

	while (fgets(line, sizeof(line), f)) {
		n++;
		if (line[0] == '#') {
			if (!strncmp(line, "# enable", 8) && !open) {
				if (d->count == d->space)
					d->stretch = grow(d->stretch, &d->space, sizeof(*d->stretch));
				d->stretch[d->count++] = (struct stretch){
					.first = d->flow.count, .line = n };
				open = true;
			} else if (!strncmp(line, "# disable", 9)) {
				open = false;
			} else if (!strncmp(line, "# error", 7) ||
				   !strncmp(line, "# overflow", 10)) {
				fprintf(stderr, "flowcmp: %s:%lu: %s", path, n, line);
				d->errors++;
			}
			d->skips += !strncmp(line, "# skip", 6);
			continue;
		}
		uint64_t ip = strtoull(line, NULL, 16);

		if (!open)
			die("an instruction outside enable and disable", path);
		struct stretch *s = &d->stretch[d->count - 1];

		if (s->count && flow_ends_with(&d->flow, ip))
			continue;
		flow_push(&d->flow, (struct insn){ .ip = ip });
		s->count++;
	}
	fclose(f);
}

static size_t match_length(const struct insn *a, size_t na, const struct insn *b, size_t nb)
{
	size_t n = 0;

	while (n < na && n < nb && a[n].ip == b[n].ip)
		n++;
	return n;
}

static void show_difference(const struct decoded *d, const struct stretch *s,
			    const struct flow *log, size_t at, size_t matched)
{
	const struct insn *want = d->flow.insn + s->first;

	fprintf(stderr, "flowcmp: the stretch at line %lu of the decoded flow (%zu instructions) is not in the log;\n"
		"the longest match is %zu instructions, at instruction %zu of the log:\n"
		"      decoded             executed\n", s->line, s->count, matched, at);
	for (size_t i = matched > 8 ? matched - 8 : 0; i < matched + 8; i++) {
		char left[20] = "-", right[20] = "-";

		if (i < s->count)
			snprintf(left, sizeof(left), "%016" PRIx64, want[i].ip);
		if (at + i < log->count)
			snprintf(right, sizeof(right), "%016" PRIx64, log->insn[at + i].ip);
		fprintf(stderr, "    %c %-18s  %s\n", i == matched ? '>' : ' ', left, right);
	}
}

/*
 * The first place between @low and @high where the log has the whole stretch, or the last if
 * @newest. SIZE_MAX: none, and the longest match has been shown.
 */
static size_t find_stretch(const struct decoded *d, const struct stretch *s,
			   const struct flow *log, size_t low, size_t high, bool newest)
{
	const struct insn *want = d->flow.insn + s->first;
	size_t best = 0, best_at = low;

	for (size_t i = low; i < high; i++) {
		size_t at = newest ? high - 1 - (i - low) : i;
		size_t n = match_length(want, s->count, log->insn + at, high - at);

		if (n == s->count)
			return at;
		if (n > best) {
			best = n;
			best_at = at;
		}
	}
	show_difference(d, s, log, best_at, best);
	return SIZE_MAX;
}

/* The number of instructions between two stretches; -1 if the hardware cannot have been off. */
static long off_between(const struct flow *log, size_t from, size_t to, long slack)
{
	size_t user = 0;

	for (size_t i = from; i < to; i++)
		user += log->insn[i].user;
	if (slack >= 0 && (user || to - from > (size_t)slack)) {
		fprintf(stderr, "flowcmp: %zu executed instructions, %zu of user code, are missing before instruction %zu of the log\n",
			to - from, user, to);
		return -1;
	}
	return to - from;
}

/* Does the trace have the turns of members only? @step says what it has of the log. */
static bool judge_turns(const struct flow *log, const struct options *o, uint8_t *step,
			struct scope_turns *turns)
{
	/* A WRMSR turns the hardware on and off. It is not in the flow. */
	for (size_t i = 1; i < log->count; i++) {
		if (step[i] != step[i - 1] && !log->insn[step[i] ? i - 1 : i].wrmsr) {
			fprintf(stderr, "flowcmp: at %zu in the log: the trace %s where no WRMSR is\n", i,
				step[i] ? "begins" : "ends");
			return false;
		}
	}
	for (size_t i = 0; i < log->count; i++)
		step[i] |= scope_step(&o->scope, log->insn[i].ip, log->insn[i].user);
	return scope_judge(&o->scope, step, log->count, o->slack, turns);
}

/*
 * Nothing is missing between two stretches, so the decoded flow is in one piece in what the log has of
 * the ranges. The kernel may have run the same code in the same way before the session: only the
 * whole flow tells where it began.
 */
static int compare_ranges(const struct decoded *d, const struct flow *log, const struct options *o)
{
	const struct stretch all = { .count = d->flow.count };
	size_t at = find_stretch(d, &all, log, 0, log->count, false), end = at + all.count, users = 0;

	if (at == SIZE_MAX || off_between(log, 0, at, o->slack) < 0 ||
	    off_between(log, end, log->count, o->slack) < 0)
		return 1;
	for (size_t i = at; i < end; i++)
		users += log->insn[i].user;
	printf("%zu instructions equal (%zu user, %zu kernel) in %zu stretches; %zu ran in the ranges before and after the session\n",
	       all.count, users, all.count - users, d->count, log->count - all.count);
	return 0;
}

static int compare(const struct decoded *d, const struct flow *log, const struct options *o)
{
	const bool judges_turns = is_scoped(o) && !o->user_only;
	const long slack = judges_turns ? -1 : o->slack;
	size_t low = 0, high, compared = 0, skipped = 0, users = 0;
	struct scope_turns turns;
	bool any = is_scoped(o);
	uint8_t *step;

	if (d->errors || ((is_scoped(o) || o->nr_ranges) && d->skips) || !d->flow.count || !log->count) {
		fprintf(stderr, "flowcmp: %lu decode errors, %lu skipped, %zu decoded, %zu executed instructions\n",
			d->errors, d->skips, d->flow.count, log->count);
		return d->errors || d->skips ? 1 : 2;
	}
	if (o->nr_ranges)
		return compare_ranges(d, log, o);
	step = calloc(log->count, sizeof(*step));
	if (!step)
		die(strerror(ENOMEM), "list");
	high = log->count;
	for (size_t i = 0; i < d->count; i++) {
		const struct stretch *s = &d->stretch[o->newest ? d->count - 1 - i : i];
		size_t at;
		long off = 0;

		if (!s->count)
			continue;
		at = find_stretch(d, s, log, low, high, o->newest);
		if (at == SIZE_MAX)
			return 1;
		if (any)
			off = o->newest ? off_between(log, at + s->count, high, slack) :
					  off_between(log, low, at, slack);
		if (off < 0)
			return 1;
		any = true;
		skipped += off;
		for (size_t k = at; k < at + s->count; k++) {
			users += log->insn[k].user;
			step[k] = SCOPE_TRACED;
		}
		compared += s->count;
		if (o->newest)
			high = at;
		else
			low = at + s->count;
	}
	/* Of members nothing may be missing before the first stretch and behind the last one. */
	if (is_scoped(o) && off_between(log, low, high, slack) < 0)
		return 1;
	if (judges_turns && !judge_turns(log, o, step, &turns))
		return 1;
	printf("%zu instructions equal (%zu user, %zu kernel) in %zu stretches; %zu ran between them with the hardware off\n",
	       compared, users, compared - users, d->count, skipped);
	if (judges_turns)
		scope_print(&turns, "instructions");
	free(step);
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: flowcmp --cpu N [--user-only] [--newest] [--slack N] DECODED RAN\n"
		"       flowcmp --cpu N --range FIRST-LAST [--range FIRST-LAST]... DECODED RAN\n"
		"       flowcmp --cpu N --members RANGE [--user-only] DECODED RAN\n"
		"       flowcmp --cpu N --members RANGE --switch ADDRESS [--others RANGE]... [--threads FILE] DECODED RAN\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "user-only", no_argument, NULL, 'u' },
		{ "newest", no_argument, NULL, 'n' },
		{ "slack", required_argument, NULL, 's' },
		{ "range", required_argument, NULL, 'r' },
		{ "members", required_argument, NULL, 'm' },
		{ "switch", required_argument, NULL, 'w' },
		{ "others", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 't' },
		{ 0 },
	};
	struct options o = { .slack = 20000 };
	struct decoded d = { 0 };
	struct flow log = { 0 };
	long cpu = -1;
	int c, status;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			cpu = strtol(optarg, NULL, 0);
		else if (c == 'u')
			o.user_only = true;
		else if (c == 'n')
			o.newest = true;
		else if (c == 's')
			o.slack = strtol(optarg, NULL, 0);
		else if (c == 'r' && !add_range(&o, optarg))
			return usage();
		else if (c != 'r' && !scope_option(&o.scope, c, optarg))
			return usage();
	}
	if (o.nr_ranges && (o.user_only || o.newest || o.slack < 0 || is_scoped(&o)))
		return usage();
	if (argc - optind != 2 || cpu < 0 || (is_scoped(&o) && (o.newest || o.slack < 0)) ||
	    (is_scoped(&o) ? o.user_only == !!o.scope.switch_at : !!o.scope.switch_at))
		return usage();
	o.cpu = cpu;
	read_decoded(argv[optind], &d);
	read_ran(argv[optind + 1], &o, &log);
	status = compare(&d, &log, &o);
	free(d.flow.insn);
	free(d.stretch);
	free(log.insn);
	free(o.scope.tid);
	return status;
}
