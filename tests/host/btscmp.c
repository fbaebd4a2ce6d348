// SPDX-License-Identifier: GPL-2.0
/*
 * btscmp: are the records of the Branch Trace Store the branches that the CPU took?
 *
 *   btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--buffer N] RECORDS RAN
 *
 * RECORDS are those of CPU N as it wrote them, in order, the last one at the file's end.
 * RAN is execlog's output from QEMU's own execution log.
 *   --user      BTS was on for user code only; kernel addresses are hidden
 *   --kernel    BTS was on for the kernel only
 *   --newest    older records were overwritten: the first record may be any
 *   --padded    records of zeros are padding, as perf's driver writes it
 *   --buffer N  records between two WRMSRs go through a buffer of N records: after it is full,
 *               branches up to the next WRMSR are lost
 *
 * From the log follow the edges that a CPU with BTS on for all privilege levels records (SDM,
 * "Branch Trace Store"): any JMP, CALL, RET and far transfer and each taken conditional branch,
 * from its own address; an interrupt or exception, from the address that it will return to.
 * After any other instruction the next one in memory must follow: otherwise the log has a hole,
 * and nothing is compared. With BTS on for one level only, the edges that lead to that level are
 * recorded.
 *
 * WRMSR turns BTS on and off. So records may be missing only from one WRMSR of the CPU to
 * another and, between the first record and the last, only of kernel code. Everything else must
 * be equal, edge for edge.
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
	size_t count, space;
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
	if (e->count == e->space) {
		e->space = e->space ? 2 * e->space : 1 << 16;
		e->edge = realloc(e->edge, e->space * sizeof(*e->edge));
		if (!e->edge)
			die("list", strerror(ENOMEM));
	}
	e->edge[e->count++] = edge;
}

static bool is_user(uint64_t ip)
{
	return !(ip >> 63);
}

/* Options of the command line. */
static bool user_only, kernel_only, newest, padded;
static size_t buffer_size = SIZE_MAX;

/* Reduce an edge to what its record shows; false: no record. The target's level decides. */
static bool is_shown(struct edge *e)
{
	if (is_user(e->to) ? kernel_only : user_only)
		return false;
	if (user_only && !is_user(e->from))
		e->from = 0;
	return true;
}

/* Does the step from an instruction to @to make a record? */
static bool is_edge(uint64_t word, uint64_t to)
{
	bool next = to == ran_ip(word) + ran_length(word);

	if (!ran_length(word))
		die("log", "it lacks the bytes of an instruction that ran");
	switch (ran_class(word)) {
	case RAN_JCC:
		return !next;
	case RAN_NEAR:
	case RAN_FAR:
		return true;
	default:
		/* The same again: a REP string, or QEMU restarted the instruction. */
		if (next || to == ran_ip(word))
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
 * The number of records from @r on that equal the edges from @i on, up to the next WRMSR, which
 * may turn BTS off. The code after a WRMSR begins alike whatever was written, so only a match of
 * the whole way to the next WRMSR (@whole) proves that BTS was on.
 */
static size_t match(const struct edges *edges, size_t i, const struct edges *records, size_t r,
		    bool *whole)
{
	size_t n = 0;

	while (i + n < edges->count && r + n < records->count && n < buffer_size &&
	       !(n && edges->edge[i + n].switched) &&
	       same(&edges->edge[i + n], &records->edge[r + n]))
		n++;
	*whole = n && (i + n == edges->count || r + n == records->count || n == buffer_size ||
		       edges->edge[i + n].switched);
	return n;
}

/*
 * Find the first edge from @i on, after a WRMSR, from which record @r and those after it match.
 * The number of records; 0 if there is none, and the longest match has been shown.
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

/* Compare from edge @i on; if @anywhere the first record must be that edge. */
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
		full = n == buffer_size;
		out->full += full;
		for (; n; n--) {
			out->user += edges->edge[i++].user;
			out->compared++;
			r++;
		}
	}
	/* After the last record no edge may be missing either. */
	if (i < edges->count && !edges->edge[i].switched && !full) {
		show(edges, i, records, r);
		return false;
	}
	return true;
}

/*
 * The edge of the first record is unknown: try each edge from which the records match up to a
 * WRMSR. A loop has several such edges, of which one is right; the failures of the others are
 * not reported.
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
		{ "buffer", required_argument, NULL, 'b' },
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
		case 'b':
			buffer_size = strtoul(optarg, NULL, 0);
			break;
		default:
			return 2;
		}
	}
	if (argc - optind != 2 || cpu < 0 || !buffer_size || (user_only && kernel_only)) {
		fprintf(stderr, "usage: btscmp --cpu N [--user | --kernel] [--newest] [--padded] [--buffer N] RECORDS RAN\n");
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
