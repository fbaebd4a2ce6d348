// SPDX-License-Identifier: GPL-2.0-only
/*
 * btscmp: compares the records of the Branch Trace Store with the branches that the CPU
 * took.
 *
 *   btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--buffer N] RECORDS RAN
 *   btscmp --cpu N --members RANGE [--user-only] RECORDS RAN
 *   btscmp --cpu N --members RANGE --switch ADDRESS [--others RANGE]... [--threads FILE] RECORDS RAN
 *
 * RECORDS are those of CPU N as it wrote them, in order, the last one at the file's end.
 * RAN is the output of execlog, from QEMU's own execution log.
 *   --user      BTS was on for user code only; kernel addresses are recorded as 0. --user-only is
 *               the same
 *   --kernel    BTS was on for the kernel only
 *   --newest    older records were overwritten: the first record may be any edge
 *   --padded    zeros are not records: perf's driver fills its buffers with them
 *   --buffer N  the records between two WRMSRs go through a buffer of N records: when it
 *               is full, further branches up to the next WRMSR are lost
 *
 * The log determines the edges that a CPU with BTS on for all privilege levels records
 * (SDM, "Branch Trace Store"): from its own address, a conditional branch that is taken
 * and any JMP, CALL, RET and far transfer; an interrupt or exception from its return
 * address. Any other instruction must be followed by the next one; otherwise the log has
 * a hole, and nothing is compared.
 *
 * WRMSR switches BTS on and off, so records may be absent only from one WRMSR of the CPU
 * to another, and between the first and the last record only for kernel code. Everything
 * else must be equal, edge by edge.
 *
 * With BTS on for one level only, the edges are those that lead to that level.
 *
 * --members and what may follow it are for a session of a task's scope (scope.h). Records may be
 * absent also for user code that is not the members'. With --user all edges that lead to the members'
 * code must be recorded, and no others. Else, when all records have been found, the turns are judged.
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

/* Edges of a member that may be absent at a time, while the module does its upkeep. */
#define SLACK	5000

struct edge {
	uint64_t from, to;
	bool switched;		/* a WRMSR ran since the edge before */
	bool user;		/* it begins or ends in user code that must be traced */
	uint8_t step;		/* of a scope: enum scope_step */
};

struct edges {
	struct edge *edge;
	size_t count, allocated;
};

struct result {
	size_t compared, user, gaps, off, full, lost;
};

static void die(const char *which, const char *what)
{
	fprintf(stderr, "btscmp: %s: %s\n", which, what);
	exit(2);
}

static void push(struct edges *e, struct edge edge)
{
	if (e->count == e->allocated) {
		e->allocated = e->allocated ? 2 * e->allocated : 1 << 16;
		e->edge = realloc(e->edge, e->allocated * sizeof(*e->edge));
		if (!e->edge)
			die("list", strerror(ENOMEM));
	}
	e->edge[e->count++] = edge;
}

static bool is_user(uint64_t ip)
{
	return !(ip >> 63);
}

/* The options. */
static bool user_only, kernel_only, newest, padded;
static size_t buffer = SIZE_MAX;
static struct scope scope;

static bool is_scoped(void)
{
	return scope.members.end;
}

/* Of a scope: what is known of an edge by its two ends. */
static uint8_t edge_step(const struct edge *e)
{
	uint8_t from = scope_step(&scope, e->from, is_user(e->from));

	/* Only an edge that leads there begins a turn: one record of each. */
	return (from & ~SCOPE_SWITCH) | scope_step(&scope, e->to, is_user(e->to));
}

/* Reduces @e to what its record shows; false if it has none. The CPL after it decides. */
static bool is_shown(struct edge *e)
{
	if (is_user(e->to) ? kernel_only : user_only)
		return false;
	if (is_scoped() && user_only && e->step & SCOPE_OTHER)
		return false;
	if (user_only && !is_user(e->from))
		e->from = 0;
	return true;
}

/* Whether the step from an instruction to the next one in the log makes a record. */
static bool is_edge(uint64_t word, uint64_t to)
{
	bool on = to == ran_ip(word) + ran_length(word);

	if (!ran_length(word))
		die("log", "an instruction without its bytes");
	switch (ran_class(word)) {
	case RAN_JCC:
		return !on;
	case RAN_NEAR:
	case RAN_FAR:
		return true;
	default:
		/* The same again: an iteration of a REP string, or QEMU restarted it. */
		if (on || to == ran_ip(word))
			return false;
		fprintf(stderr, "btscmp: the log goes from %" PRIx64 ", no branch of %u bytes, to %" PRIx64 "\n",
			ran_ip(word), ran_length(word), to);
		exit(2);
	}
}

static void find_edges(struct edges *e, const struct ran *ran)
{
	bool switched = false;

	for (size_t i = 0; i + 1 < ran->count; i++) {
		uint64_t word = ran->word[i], from = ran_ip(word), to = ran_ip(ran->word[i + 1]);
		struct edge edge;

		if (ran_kind(word) == RAN_INSN) {
			switched |= ran_class(word) == RAN_WRMSR;
			if (!is_edge(word, to))
				continue;
		}
		edge = (struct edge) { .from = from, .to = to, .switched = switched,
				       .user = is_user(from) || is_user(to) };
		if (is_scoped()) {
			edge.step = edge_step(&edge);
			edge.user = edge.step & SCOPE_MEMBER;
		}
		if (!is_shown(&edge))
			continue;
		push(e, edge);
		switched = false;
	}
}

/* The record of the 64-bit format; the model defines no flag. */
struct record {
	uint64_t from, to, flags;
};

static void read_records(struct edges *e, const char *path)
{
	FILE *f = fopen(path, "r");
	struct record record;
	long size;
	size_t n;

	if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0)
		die(path, strerror(errno));
	if (size % sizeof(record) && !newest)
		die(path, "not whole records");
	if (fseek(f, size % sizeof(record), SEEK_SET))
		die(path, strerror(errno));
	while ((n = fread(&record, 1, sizeof(record), f)) == sizeof(record)) {
		if (record.flags)
			die(path, "a record with flags");
		if (!padded || record.from || record.to)
			push(e, (struct edge) { .from = record.from, .to = record.to });
	}
	if (n || ferror(f))
		die(path, "not whole records");
	fclose(f);
}

static bool same(const struct edge *a, const struct edge *b)
{
	return a->from == b->from && a->to == b->to;
}

static bool quiet;

static void show(const struct edges *edges, size_t i, const struct edges *records, size_t r)
{
	size_t before = i < r ? i : r;

	if (quiet)
		return;
	if (before > 8)
		before = 8;
	fprintf(stderr, "btscmp: record %zu of %zu is not what ran:\n"
		"      recorded                             executed\n", r, records->count);
	for (size_t k = 0; k < before + 8; k++) {
		const struct edge *a = &records->edge[r - before + k];
		const struct edge *b = &edges->edge[i - before + k];

		fprintf(stderr, "    %c ", k == before ? '>' : ' ');
		if (r - before + k < records->count)
			fprintf(stderr, "%016" PRIx64 " %016" PRIx64, a->from, a->to);
		else
			fprintf(stderr, "%-33s", "-");
		if (i - before + k < edges->count)
			fprintf(stderr, "  %c %016" PRIx64 " %016" PRIx64,
				b->switched ? 'W' : ' ', b->from, b->to);
		fputc('\n', stderr);
	}
}

/*
 * Returns how many records from @r equal the edges from @i, up to a WRMSR, which may
 * switch BTS. The code after a WRMSR begins the same whatever it wrote, so that only a
 * match of all edges up to the next WRMSR (@whole) proves that BTS was on.
 */
static size_t match(const struct edges *edges, size_t i, const struct edges *records, size_t r,
		    bool *whole)
{
	size_t n = 0;

	while (i + n < edges->count && r + n < records->count && n < buffer &&
	       !(n && edges->edge[i + n].switched) &&
	       same(&edges->edge[i + n], &records->edge[r + n]))
		n++;
	*whole = n && (i + n == edges->count || r + n == records->count || n == buffer ||
		       edges->edge[i + n].switched);
	return n;
}

/*
 * Finds the next edge after a WRMSR, from @i, at which BTS is on for record @r. Sets @i to
 * it and returns the number of equal records. If there is none, shows the longest match
 * and returns 0.
 */
static size_t next_on(const struct edges *edges, size_t *i, const struct edges *records, size_t r)
{
	size_t best = 0, best_at = *i;

	for (; *i < edges->count; ++*i) {
		bool whole;
		size_t n;

		if (!edges->edge[*i].switched)
			continue;
		n = match(edges, *i, records, r, &whole);
		if (whole)
			return n;
		if (n > best) {
			best = n;
			best_at = *i;
		}
	}
	show(edges, best_at + best, records, r + best);
	return 0;
}

/* Compares from edge @i; if @anywhere, that edge is the first record. Marks edges as traced. */
static bool compare(struct edges *edges, size_t i, const struct edges *records, bool anywhere,
		    struct result *out)
{
	bool full = false;
	size_t r = 0;

	*out = (struct result) { 0 };
	while (r < records->count) {
		size_t from = i, n = 0;
		bool whole;

		for (; full && i < edges->count && !edges->edge[i].switched; from = ++i)
			out->lost++;

		if (anywhere && !r)
			n = match(edges, i, records, r, &whole);
		if (!n)
			n = next_on(edges, &i, records, r);

		if (!n)
			return false;
		out->gaps += r && i > from;
		for (size_t off = from; (r || is_scoped()) && off < i; off++) {
			if (edges->edge[off].user) {
				show(edges, off, records, r);
				return false;
			}
			out->off++;
		}
		full = n == buffer;
		out->full += full;
		for (; n; n--) {
			edges->edge[i].step |= SCOPE_TRACED;
			out->user += edges->edge[i++].user;
			out->compared++;
			r++;
		}
	}
	/* No edge may be missing after the last record either. */
	if (i < edges->count && !edges->edge[i].switched && !full) {
		show(edges, i, records, r);
		return false;
	}
	for (; is_scoped() && i < edges->count; i++) {
		if (edges->edge[i].user) {
			show(edges, i, records, r);
			return false;
		}
	}
	return true;
}

/* Do the records have the turns of members only? compare() has marked them. */
static bool judge_turns(const struct edges *edges, struct scope_turns *turns)
{
	uint8_t *step = malloc(edges->count);
	bool right;

	if (!step)
		die("list", strerror(ENOMEM));
	for (size_t i = 0; i < edges->count; i++)
		step[i] = edges->edge[i].step;
	right = scope_judge(&scope, step, edges->count, SLACK, turns);
	free(step);
	return right;
}

/*
 * The edge of the first record is unknown: try each edge from which all records up to a
 * WRMSR are equal. In a loop there are several such edges, of which one is right, so the
 * differences of the others are not shown.
 */
static bool compare_newest(struct edges *edges, const struct edges *records,
			   struct result *out)
{
	size_t best = 0, best_at = 0;

	quiet = true;
	for (size_t i = 0; i < edges->count; i++) {
		bool whole;
		size_t n = match(edges, i, records, 0, &whole);

		if (n > best) {
			best = n;
			best_at = i;
		}
		if (whole && compare(edges, i, records, true, out))
			return true;
	}
	quiet = false;
	return compare(edges, best_at, records, true, out);
}

static int usage(void)
{
	fprintf(stderr, "usage: btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--buffer N] RECORDS RAN\n"
		"       btscmp --cpu N --members RANGE [--user-only] RECORDS RAN\n"
		"       btscmp --cpu N --members RANGE --switch ADDRESS [--others RANGE]... [--threads FILE] RECORDS RAN\n");
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "user", no_argument, NULL, 'u' },
		{ "user-only", no_argument, NULL, 'u' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "newest", no_argument, NULL, 'n' },
		{ "padded", no_argument, NULL, 'p' },
		{ "buffer", required_argument, NULL, 'b' },
		{ "members", required_argument, NULL, 'm' },
		{ "switch", required_argument, NULL, 'w' },
		{ "others", required_argument, NULL, 'o' },
		{ "threads", required_argument, NULL, 't' },
		{ 0 },
	};
	struct edges edges = { 0 }, records = { 0 };
	struct scope_turns turns = { 0 };
	struct result result = { 0 };
	struct ran ran = { 0 };
	long cpu = -1;
	bool equal;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'c':
			cpu = strtol(optarg, NULL, 0);
			break;
		case 'u':
			user_only = true;
			break;
		case 'k':
			kernel_only = true;
			break;
		case 'n':
			newest = true;
			break;
		case 'p':
			padded = true;
			break;
		case 'b':
			buffer = strtoul(optarg, NULL, 0);
			break;
		default:
			if (!scope_option(&scope, c, optarg))
				return usage();
		}
	}
	if (argc - optind != 2 || cpu < 0 || !buffer || (user_only && kernel_only) ||
	    (is_scoped() && (newest || kernel_only)) ||
	    (is_scoped() ? user_only == !!scope.switch_at : !!scope.switch_at))
		return usage();
	read_records(&records, argv[optind]);
	ran_load(&ran, argv[optind + 1], cpu);
	find_edges(&edges, &ran);
	if (!records.count || !edges.count) {
		fprintf(stderr, "btscmp: %zu records, %zu edges ran\n", records.count, edges.count);
		return 2;
	}
	equal = newest ? compare_newest(&edges, &records, &result) :
			 compare(&edges, 0, &records, false, &result);
	if (equal && scope.switch_at)
		equal = judge_turns(&edges, &turns);
	if (equal)
		printf("%zu records equal (%zu of user code) in %zu pieces; %zu edges between them ran with BTS off; %zu filled the buffer, which lost %zu edges\n",
		       result.compared, result.user, result.gaps + 1, result.off, result.full,
		       result.lost);
	if (equal && scope.switch_at)
		scope_print(&turns, "edges");
	free(ran.word);
	free(edges.edge);
	free(records.edge);
	free(scope.tid);
	return equal ? 0 : 1;
}
