// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tool.h"
#include "perf.h"
#include "traced.h"

#define NOT_EXECUTED	127	/* exit status, as the shell's */

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
static void perf_take_line(void *context, char *line)
{
	struct decoded_by_perf *d = context;
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

/* The last line of the file @dir/perf.err that says something, in @line */
static void perf_last_line(const char *dir, char *line, size_t size)
{
	char path[4200], next[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/perf.err", dir);
	snprintf(line, size, "no message");
	f = fopen(path, "re");
	while (f && fgets(next, sizeof(next), f)) {
		next[strcspn(next, "\n")] = '\0';
		if (next[strspn(next, " \t")])
			snprintf(line, size, "%.190s", next);
	}
	if (f)
		fclose(f);
}

/* In the child: stdout is the pipe @out, stderr the file perf.err; it ends with this process. */
static void __attribute__((noreturn)) perf_exec(const struct selftest *t, int out, const char *path, char *const *argv)
{
	char err[4200];
	int fd;

	snprintf(err, sizeof(err), "%s/perf.err", t->dir);
	fd = open(err, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	/* Not root's own settings: they may change what perf decodes. */
	setenv("PERF_CONFIG", "/dev/null", 1);
	if (fd >= 0 && dup2(fd, STDERR_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0)
		execvp(path, argv);
	dprintf(STDERR_FILENO, "%s: %s\n", argv[0], strerror(errno));
	_exit(NOT_EXECUTED);
}

/*
 * Runs @path with @argv. Each line of its output goes to @take, with @context. Returns its exit status, or -1; @said is the
 * last thing that it said on stderr.
 */
static int perf_run(const struct selftest *t, const char *path, char *const *argv, void (*take)(void *context, char *line),
		    void *context, char *said, size_t size)
{
	char line[512];
	int out[2], status;
	pid_t child;
	FILE *f;

	snprintf(said, size, "%s", "no process or pipe for it");
	if (pipe2(out, O_CLOEXEC))
		return -1;
	f = fdopen(out[0], "r");
	fflush(NULL);
	child = f ? traced_fork() : -1;
	if (!child)
		perf_exec(t, out[1], path, argv);
	close(out[1]);
	while (f && child > 0 && fgets(line, sizeof(line), f))
		take(context, line);
	if (f)
		fclose(f);
	else
		close(out[0]);
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return -1;
	perf_last_line(t->dir, said, size);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void perf_no_output(void *context, char *line)
{
	(void)context, (void)line;
}

/* perf version --build-options: "             auxtrace: [ OFF ]  # HAVE_AUXTRACE_SUPPORT" */
static void perf_find_off(void *context, char *line)
{
	if (strstr(line, "HAVE_AUXTRACE_SUPPORT") && strstr(line, "OFF"))
		*(bool *)context = true;
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

/* Where an instruction is not the one behind the one before, perf has the branch; and it has no other. */
static enum outcome perf_same_branches(const struct steps *ours, const struct steps *behind, const struct decoded_by_perf *theirs)
{
	size_t taken = 0;

	for (size_t i = 0; i + 1 < ours->count; i++) {
		struct branch branch = { ours->ip[i], ours->ip[i + 1] };

		if (branch.to == behind->ip[i])
			continue;
		if (taken == theirs->branches || theirs->branch[taken].from != branch.from || theirs->branch[taken].to != branch.to)
			return check_failed("branch %zu, from %#" PRIx64 " to %#" PRIx64 ", perf does not have", taken + 1,
					    branch.from, branch.to);
		taken++;
	}
	if (taken == theirs->branches)
		return PASSED;
	return check_failed("perf has %zu branches, of which number %zu, from %#" PRIx64 " to %#" PRIx64 ", was not decoded",
			    theirs->branches, taken + 1, theirs->branch[taken].from, theirs->branch[taken].to);
}

static enum outcome perf_compare(bool branches, const struct steps *ours, const struct steps *behind,
				 const struct decoded_by_perf *theirs)
{
	size_t count = branches ? theirs->branches : theirs->insns.count;
	enum outcome outcome;

	if (theirs->errors)
		return check_failed("perf does not decode all, %zu messages, the first: %s", theirs->errors, theirs->error);
	if (!count)
		return check_failed("perf decodes nothing of the work");
	outcome = branches ? perf_same_branches(ours, behind, theirs) : perf_same_insns(ours, &theirs->insns);
	if (outcome == PASSED)
		check_figure(branches ? "branches" : "instructions", (double)count, "");
	return outcome;
}

enum outcome perf_agrees(const struct selftest *t, const char *name, const struct steps *decoded, const struct steps *behind)
{
	bool branches = t->source->pmu == AUXTRACE_PMU_INTEL_BTS, off = false;
	char recording[4200], exported[4200], said[200];
	char *version[] = { "perf", "version", "--build-options", NULL };
	char *export[] = { "auxtrace", "export", "--format", "perf", "-o", exported, recording, NULL };
	char *script[] = { "perf", "script", "-f", "-i", exported, branches ? "--itrace=b" : "--itrace=i0nse", "-F",
			   branches ? "ip,addr" : "ip", NULL };
	struct decoded_by_perf d = { 0 };
	enum outcome outcome;
	int status;

	snprintf(recording, sizeof(recording), "%s/%s", t->dir, name);
	snprintf(exported, sizeof(exported), "%s/%s.data", t->dir, name);
	if (perf_run(t, "perf", version, perf_find_off, &off, said, sizeof(said)))
		return check_skipped("there is no perf (%s)", said);
	if (off)
		return check_skipped("the installed perf was built without AUX area tracing");
	if (perf_run(t, "/proc/self/exe", export, perf_no_output, NULL, said, sizeof(said)))
		return check_failed("the recording is not exported: %s", said);
	status = perf_run(t, "perf", script, perf_take_line, &d, said, sizeof(said));
	if (status)
		outcome = check_failed("perf script ends with %d: %s", status, said);
	else
		outcome = perf_compare(branches, decoded, behind, &d);
	steps_free(&d.insns);
	free(d.branch);
	return outcome;
}
