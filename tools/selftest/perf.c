// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tool.h"
#include "perf.h"
#include "traced.h"

#define MAX_INSN	15	/* bytes of an instruction */

struct branch {
	uint64_t from, to;
};

struct decoded_by_perf {
	struct steps insns;
	struct branch *branch;
	size_t branches, errors;
	char error[120];
};

static bool perf_in_work(uint64_t ip)
{
	return ip >= (uintptr_t)work_begin && ip < (uintptr_t)work_end;
}

/* "IP", "FROM => TO", or perf's words for what it cannot decode */
static void perf_take_line(struct decoded_by_perf *d, char *line)
{
	uint64_t from, to;
	int end = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, " %" SCNx64 " => %" SCNx64 " %n", &from, &to, &end) == 2 && !line[end]) {
		if (!perf_in_work(from) || !perf_in_work(to))
			return;
		list_grow(d->branch, d->branches);
		d->branch[d->branches++] = (struct branch){ from, to };
	} else if (sscanf(line, " %" SCNx64 " %n", &from, &end) == 1 && !line[end]) {
		if (perf_in_work(from))
			steps_add(&d->insns, from);
	} else if (line[strspn(line, " \t")]) {
		if (!d->errors++)
			snprintf(d->error, sizeof(d->error), "%.100s", line);
	}
}

/* The first line of the file @dir/@name, in @line */
static void perf_first_line(const char *dir, const char *name, char *line, size_t size)
{
	char path[4200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f || !fgets(line, size, f))
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	if (f)
		fclose(f);
}

/* Runs @command with the shell, for @d what it prints; its first message to stderr goes to @said. Its exit status, or -1. */
static int perf_run(const struct selftest *t, const char *command, struct decoded_by_perf *d, char *said, size_t size)
{
	char line[512], whole[9000];
	int status;
	FILE *f;

	snprintf(whole, sizeof(whole), "{ %s; } 2> %s/perf.err", command, t->dir);
	f = popen(whole, "re");
	if (!f) {
		snprintf(said, size, "%s", strerror(errno));
		return -1;
	}
	while (fgets(line, sizeof(line), f))
		if (d)
			perf_take_line(d, line);
	status = pclose(f);
	perf_first_line(t->dir, "perf.err", said, size);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static enum outcome perf_same_insns(const struct steps *ours, const struct steps *theirs)
{
	size_t i = 0;

	while (i < ours->count && i < theirs->count && ours->ip[i] == theirs->ip[i])
		i++;
	if (i == ours->count && i == theirs->count)
		return PASSED;
	return check_failed("%zu instructions are decoded, by perf %zu; number %zu differs: %#" PRIx64 ", by perf %#" PRIx64,
			    ours->count, theirs->count, i + 1, i < ours->count ? ours->ip[i] : 0,
			    i < theirs->count ? theirs->ip[i] : 0);
}

/* Where an instruction does not follow the one before, perf has the branch; and it has no other. */
static enum outcome perf_same_branches(const struct steps *ours, const struct decoded_by_perf *theirs)
{
	size_t taken = 0;

	for (size_t i = 0; i + 1 < ours->count; i++) {
		const struct branch *next = &theirs->branch[taken];

		if (taken < theirs->branches && next->from == ours->ip[i] && next->to == ours->ip[i + 1])
			taken++;
		else if (ours->ip[i + 1] <= ours->ip[i] || ours->ip[i + 1] > ours->ip[i] + MAX_INSN)
			return check_failed("branch %zu, from %#" PRIx64 " to %#" PRIx64 ", perf does not have", taken + 1,
					    ours->ip[i], ours->ip[i + 1]);
	}
	if (taken == theirs->branches)
		return PASSED;
	return check_failed("perf has %zu branches, of which number %zu, from %#" PRIx64 " to %#" PRIx64 ", was not decoded",
			    theirs->branches, taken + 1, theirs->branch[taken].from, theirs->branch[taken].to);
}

static enum outcome perf_compare(bool branches, const struct steps *ours, const struct decoded_by_perf *theirs)
{
	size_t count = branches ? theirs->branches : theirs->insns.count;
	enum outcome outcome;

	if (theirs->errors)
		return check_failed("perf does not decode all, %zu messages, the first: %s", theirs->errors, theirs->error);
	if (!count)
		return check_failed("perf decodes nothing of the work");
	outcome = branches ? perf_same_branches(ours, theirs) : perf_same_insns(ours, &theirs->insns);
	if (outcome == PASSED)
		check_figure(branches ? "branches" : "instructions", (double)count, "");
	return outcome;
}

enum outcome perf_agrees(const struct selftest *t, const char *name, const struct steps *decoded)
{
	bool branches = t->source->pmu == AUXTRACE_PMU_INTEL_BTS;
	struct decoded_by_perf d = { 0 };
	char command[8700], said[200];
	enum outcome outcome;
	int status;

	if (perf_run(t, "perf --version", NULL, said, sizeof(said)))
		return check_skipped("there is no perf (%s)", said);
	snprintf(command, sizeof(command), "/proc/%d/exe export --format perf -o %s/%s.perf %s/%s", getpid(), t->dir, name, t->dir,
		 name);
	if (perf_run(t, command, NULL, said, sizeof(said)))
		return check_failed("the recording is not exported: %s", said);
	snprintf(command, sizeof(command), "perf script -f -i %s/%s.perf %s", t->dir, name,
		 branches ? "--itrace=b -F ip,addr" : "--itrace=i0ns -F ip");
	status = perf_run(t, command, &d, said, sizeof(said));
	if (status)
		outcome = check_failed("perf script ends with %d: %s", status, said);
	else
		outcome = perf_compare(branches, decoded, &d);
	steps_free(&d.insns);
	free(d.branch);
	return outcome;
}
