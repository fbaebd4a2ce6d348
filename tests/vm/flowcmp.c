// SPDX-License-Identifier: GPL-2.0
/*
 * flowcmp: is the decoded trace what the CPU executed?
 *
 *   flowcmp --cpu N [--user-only] [--newest] [--slack N] DECODED LOG
 *
 * DECODED is the output of `auxtrace script --insn` for CPU N. LOG is what QEMU
 * itself wrote with -d exec,int,nochain, one instruction a translation block and
 * all CPUs in one thread: its own execution log, which knows nothing of the
 * trace model.
 *
 * Reading the log. A "Trace" line is an attempt to execute one instruction. It
 * was not completed if
 *   - a "Stopped execution" line for the same address follows, or
 *   - an interrupt or exception (the "v=" line) follows whose return address is
 *     that instruction: a fault, an INT n (both decoders place them before the
 *     instruction), or an interrupt inside a REP string. The line does not tell
 *     the CPU, but the register dump below it does: the task register's base is
 *     of one CPU only, and as a rule the next Trace line, the handler's first
 *     instruction, tells whose.
 * A REP string is one line an iteration and one decoded instruction, and an
 * instruction that QEMU restarts (an atomic, self-modified code) is logged
 * twice, so equal neighbours count as one, on both sides.
 *
 * Comparing. The decoded flow is a list of stretches, each from an enable to a
 * disable. Each must be found in the log, whole, instruction for instruction,
 * after the one before; or, with --newest, from the last stretch to the first,
 * each before the one after, as an overwrite recording begins anywhere. What the
 * log has in between ran while the hardware was off. That may be the tracer's own
 * code only: never user code, and at most --slack kernel instructions a stretch
 * (default 20000); a recording that was paused on purpose between windows is
 * compared with --slack -1.
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

struct insn {
	uint64_t ip;
	bool user;
};

struct flow {
	struct insn *insn;
	size_t count, room;
};

struct stretch {
	size_t first, count;	/* in the decoded flow */
	unsigned long line;	/* of its enable, for messages */
};

struct decoded {
	struct flow flow;
	struct stretch *stretch;
	size_t count, room;
	unsigned long errors;
};

static void die(const char *what, const char *which)
{
	fprintf(stderr, "flowcmp: %s: %s\n", which, what);
	exit(2);
}

static void *grow(void *array, size_t *room, size_t size)
{
	*room = *room ? 2 * *room : 4096;
	array = realloc(array, *room * size);
	if (!array)
		die(strerror(ENOMEM), "list");
	return array;
}

static void flow_push(struct flow *f, uint64_t ip, bool user)
{
	if (f->count == f->room)
		f->insn = grow(f->insn, &f->room, sizeof(*f->insn));
	f->insn[f->count++] = (struct insn){ .ip = ip, .user = user };
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

/* "Trace 0: 0x7f.. [cs_base/pc/flags/cflags] symbol": the CPL is in flags[1:0]. */
static bool parse_trace(const char *line, uint64_t *pc, unsigned int *cpl)
{
	uint64_t flags;
	const char *p = strchr(line, '[');

	if (!p || sscanf(p, "[%*[0-9a-f]/%" SCNx64 "/%" SCNx64 "/", pc, &flags) != 2)
		return false;
	*cpl = flags & 3;
	return true;
}

/* The run of attempts at @ip that ends the flow was not completed. */
static void flow_drop(struct flow *f, uint64_t ip)
{
	while (flow_ends_with(f, ip))
		f->count--;
}

/* An interrupt or exception in the log. */
struct event {
	uint64_t ip;		/* where the handler will return to */
	uint64_t tr;		/* base of the task register */
	size_t at;		/* attempts of our CPU before it */
};

struct events {
	struct event *event;
	size_t count, room;
};

/* How often the first instruction after an event was ours, by task register. */
struct owner {
	uint64_t tr;
	unsigned long ours, others;
};

#define MAX_CPUS	256

struct owners {
	struct owner owner[MAX_CPUS];
	unsigned int count;
};

static struct owner *owner_of(struct owners *o, uint64_t tr)
{
	for (unsigned int i = 0; i < o->count; i++)
		if (o->owner[i].tr == tr)
			return &o->owner[i];
	if (o->count == MAX_CPUS)
		die("more task registers than CPUs", "log");
	o->owner[o->count] = (struct owner){ .tr = tr };
	return &o->owner[o->count++];
}

static uint64_t scan_hex(const char *line, const char *from, const char *format, const char *path)
{
	const char *at = from ? strstr(line, from) : strrchr(line, '[');
	uint64_t value;

	if (!at || sscanf(at, format, &value) != 1)
		die("a line that is not understood", path);
	return value;
}

/* All attempts of one CPU, and all events of any. */
static void scan_log(const char *path, unsigned int cpu, struct flow *raw,
		     struct events *events, struct owners *owners)
{
	FILE *f = open_input(path);
	char line[1024];
	uint64_t ip;
	unsigned int cpl, line_cpu = ~0u;
	size_t told = 0;	/* events whose next instruction has been seen */

	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Trace ", 6)) {
			if (!parse_trace(line, &ip, &cpl))
				die("a Trace line that is not understood", path);
			line_cpu = strtoul(line + 6, NULL, 10);
			for (; told < events->count; told++) {
				struct owner *o = owner_of(owners, events->event[told].tr);

				if (line_cpu == cpu)
					o->ours++;
				else
					o->others++;
			}
			if (line_cpu == cpu)
				flow_push(raw, ip, cpl == 3);
		} else if (!strncmp(line, "Stopped execution", 17)) {
			if (line_cpu == cpu)
				flow_drop(raw, scan_hex(line, NULL, "[%" SCNx64, path));
		} else if (strstr(line, ": v=") && strstr(line, " IP=")) {
			if (events->count == events->room)
				events->event = grow(events->event, &events->room,
						     sizeof(*events->event));
			events->event[events->count++] = (struct event){
				.ip = scan_hex(line, " IP=", " IP=%*[0-9a-f]:%" SCNx64, path),
				.at = raw->count,
			};
		} else if (!strncmp(line, "TR =", 4) && events->count) {
			events->event[events->count - 1].tr =
				scan_hex(line, "TR =", "TR =%*x %" SCNx64, path);
		}
	}
	fclose(f);
}

static void read_log(const char *path, unsigned int cpu, bool user_only, struct flow *out)
{
	static struct owners owners;
	struct events events = { 0 };
	struct flow raw = { 0 }, done = { 0 };
	size_t next = 0;

	scan_log(path, cpu, &raw, &events, &owners);
	for (size_t i = 0; i <= raw.count; i++) {
		for (; next < events.count && events.event[next].at == i; next++) {
			const struct owner *o = owner_of(&owners, events.event[next].tr);

			if (o->ours > o->others)
				flow_drop(&done, events.event[next].ip);
		}
		if (i < raw.count)
			flow_push(&done, raw.insn[i].ip, raw.insn[i].user);
	}
	/* The CPL filter comes last, so that it brings no neighbours together too early. */
	for (size_t i = 0; i < done.count; i++) {
		if (user_only && !done.insn[i].user)
			continue;
		if (i && done.insn[i].ip == done.insn[i - 1].ip)
			continue;
		flow_push(out, done.insn[i].ip, done.insn[i].user);
	}
	free(raw.insn);
	free(done.insn);
	free(events.event);
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
				if (d->count == d->room)
					d->stretch = grow(d->stretch, &d->room, sizeof(*d->stretch));
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
			continue;
		}
		uint64_t ip = strtoull(line, NULL, 16);

		if (!open)
			die("an instruction outside enable and disable", path);
		struct stretch *s = &d->stretch[d->count - 1];

		if (s->count && flow_ends_with(&d->flow, ip))
			continue;
		flow_push(&d->flow, ip, false);
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
 * Where the log has the whole stretch, between @low and @high; the first place, or
 * the last if @newest. SIZE_MAX: nowhere, and it is shown how far it comes.
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

/* What ran between two stretches, with the hardware off; -1 if it may not have been. */
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

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'c' },
		{ "user-only", no_argument, NULL, 'u' },
		{ "newest", no_argument, NULL, 'n' },
		{ "slack", required_argument, NULL, 's' },
		{ 0 },
	};
	struct decoded d = { 0 };
	struct flow log = { 0 };
	bool user_only = false, newest = false, any = false;
	long slack = 20000, cpu = -1;
	size_t low = 0, high, compared = 0, skipped = 0, users = 0;
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (c == 'c')
			cpu = strtol(optarg, NULL, 0);
		else if (c == 'u')
			user_only = true;
		else if (c == 'n')
			newest = true;
		else if (c == 's')
			slack = strtol(optarg, NULL, 0);
		else
			return 2;
	}
	if (argc - optind != 2 || cpu < 0) {
		fprintf(stderr, "usage: flowcmp --cpu N [--user-only] [--newest] [--slack N] DECODED LOG\n");
		return 2;
	}
	read_decoded(argv[optind], &d);
	read_log(argv[optind + 1], cpu, user_only, &log);
	if (d.errors || !d.flow.count || !log.count) {
		fprintf(stderr, "flowcmp: %lu decode errors, %zu decoded, %zu executed instructions\n",
			d.errors, d.flow.count, log.count);
		return d.errors ? 1 : 2;
	}
	high = log.count;
	for (size_t i = 0; i < d.count; i++) {
		const struct stretch *s = &d.stretch[newest ? d.count - 1 - i : i];
		size_t at;
		long off = 0;

		if (!s->count)
			continue;
		at = find_stretch(&d, s, &log, low, high, newest);
		if (at == SIZE_MAX)
			return 1;
		if (any)
			off = newest ? off_between(&log, at + s->count, high, slack) :
				       off_between(&log, low, at, slack);
		if (off < 0)
			return 1;
		any = true;
		skipped += off;
		for (size_t k = at; k < at + s->count; k++)
			users += log.insn[k].user;
		compared += s->count;
		if (newest)
			high = at;
		else
			low = at + s->count;
	}
	printf("%zu instructions equal (%zu user, %zu kernel) in %zu stretches; %zu ran between them with the hardware off\n",
	       compared, users, compared - users, d.count, skipped);
	return 0;
}
