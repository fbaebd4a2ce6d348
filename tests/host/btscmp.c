// SPDX-License-Identifier: GPL-2.0
/*
 * btscmp: are the records of the Branch Trace Store the branches that the CPU took?
 *
 *   btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--room N] RECORDS RAN
 *
 * RECORDS are those of CPU N as it wrote them, in order, the last one at the file's end.
 * RAN is what execlog made of QEMU's own execution log.
 *   --user     BTS was on for user code alone; of kernel addresses nothing is told
 *   --kernel   it was on for the kernel alone
 *   --newest   older records were overwritten: the first one may be any
 *   --padded   zeros are no records: perf's driver fills its buffers with them
 *   --room N   what is recorded between two WRMSRs goes through a buffer of N records: where
 *              it is full, what the CPU does up to the next WRMSR is lost
 *
 * What ran tells the edges that a CPU with BTS on for all privilege levels records
 * (SDM, "Branch Trace Store"): a branch that does not go on behind itself, and any
 * JMP, CALL, RET and far transfer, from its own address; an interrupt or exception
 * from the address that it will return to. Nothing else may go elsewhere than on
 * behind itself: then the log has a hole, and nothing is compared.
 *
 * BTS is switched by WRMSR, so records may be absent only from one WRMSR of the
 * CPU to another, and between the first record and the last of kernel code only.
 * Everything else is equal, edge for edge.
 *
 * For one level alone these are the edges that lead to it.
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

struct edge {
	uint64_t from, to;
	bool switched;		/* a WRMSR ran since the edge before */
	bool user;		/* it begins or ends in user code */
};

struct edges {
	struct edge *edge;
	size_t count, room;
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
	if (e->count == e->room) {
		e->room = e->room ? 2 * e->room : 1 << 16;
		e->edge = realloc(e->edge, e->room * sizeof(*e->edge));
		if (!e->edge)
			die("list", strerror(ENOMEM));
	}
	e->edge[e->count++] = edge;
}

static bool is_user(uint64_t ip)
{
	return !(ip >> 63);
}

/* What the command line says. */
static bool user_only, kernel_only, newest, padded;
static size_t room = SIZE_MAX;

/* Leaves what of an edge @e shows; false: none. Whose level counts is the CPL behind it. */
static bool is_shown(struct edge *e)
{
	if (is_user(e->to) ? kernel_only : user_only)
		return false;
	if (user_only && !is_user(e->from))
		e->from = 0;
	return true;
}

/* Does the step from an instruction to what comes next make a record? */
static bool is_edge(uint64_t word, uint64_t to)
{
	bool on = to == ran_ip(word) + ran_length(word);

	if (!ran_length(word))
		die("log", "an instruction ran whose bytes it does not tell");
	switch (ran_class(word)) {
	case RAN_JCC:
		return !on;
	case RAN_NEAR:
	case RAN_FAR:
		return true;
	default:
		/* Again the same: a REP string, or QEMU began anew. */
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
 * How many records from @r on are what ran from edge @i on, as far as nothing can
 * have switched BTS. What follows a WRMSR begins alike whatever it wrote, so that
 * only the whole way to the next one tells whether BTS is on.
 */
static size_t match(const struct edges *edges, size_t i, const struct edges *records, size_t r,
		    bool *whole)
{
	size_t n = 0;

	while (i + n < edges->count && r + n < records->count && n < room &&
	       !(n && edges->edge[i + n].switched) &&
	       same(&edges->edge[i + n], &records->edge[r + n]))
		n++;
	*whole = n && (i + n == edges->count || r + n == records->count || n == room ||
		       edges->edge[i + n].switched);
	return n;
}

/*
 * The edge from @i on where BTS is on for record @r, after a WRMSR, and how many
 * records that is; 0 if nowhere, and the edge is where most of them are.
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

/* From edge @i on; if @anywhere the first record is that edge. */
static bool compare(const struct edges *edges, size_t i, const struct edges *records, bool anywhere,
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
		for (size_t off = from; r && off < i; off++) {
			if (edges->edge[off].user) {
				show(edges, off, records, r);
				return false;
			}
			out->off++;
		}
		full = n == room;
		out->full += full;
		for (; n; n--) {
			out->user += edges->edge[i++].user;
			out->compared++;
			r++;
		}
	}
	/* Behind the last record nothing may be missing either. */
	if (i < edges->count && !edges->edge[i].switched && !full) {
		show(edges, i, records, r);
		return false;
	}
	return true;
}

/*
 * Where the first record is to be found is not known: at each edge from which as many are
 * equal as there are up to a WRMSR. Of a loop these are several, and only one is right;
 * what is wrong with the others is not to be told.
 */
static bool compare_newest(const struct edges *edges, const struct edges *records,
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

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "user", no_argument, NULL, 'u' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "newest", no_argument, NULL, 'n' },
		{ "padded", no_argument, NULL, 'p' },
		{ "room", required_argument, NULL, 'r' },
		{ 0 },
	};
	struct edges edges = { 0 }, records = { 0 };
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
		case 'r':
			room = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || cpu < 0 || !room || (user_only && kernel_only)) {
		fprintf(stderr, "usage: btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--room N] RECORDS RAN\n");
		return 2;
	}
	read_records(&records, argv[optind]);
	ran_load(&ran, argv[optind + 1], cpu);
	find_edges(&edges, &ran);
	if (!records.count || !edges.count) {
		fprintf(stderr, "btscmp: %zu records, %zu edges ran\n", records.count, edges.count);
		return 2;
	}
	equal = newest ? compare_newest(&edges, &records, &result) :
			 compare(&edges, 0, &records, false, &result);
	if (equal)
		printf("%zu records equal (%zu of user code) in %zu stretches; %zu edges between them ran with BTS off; %zu filled the buffer, which lost %zu edges\n",
		       result.compared, result.user, result.gaps + 1, result.off, result.full,
		       result.lost);
	free(ran.word);
	free(edges.edge);
	free(records.edge);
	return equal ? 0 : 1;
}
