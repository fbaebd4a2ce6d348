// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "environment.h"
#include "lib/json.h"
#include "lib/tool.h"
#include "results.h"
#include "selftest.h"
#include "traced.h"
#include "watch.h"

static const struct check *const tables[] = {
	environment_checks, mode_checks, session_checks, scope_checks, ring_checks, trigger_checks, action_checks,
	flow_checks, config_checks, drain_checks, cost_checks,
};

void selftest_choose(char *const *names)
{
	bool all = !*names;

	results_clear();
	for (; all || *names; names++) {
		bool found = all;

		for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
			for (const struct check *c = tables[i]; c->name; c++)
				if (all || !strcmp(c->name, *names)) {
					results_add(c);
					found = true;
				}
		if (!found) {
			fprintf(stderr, "auxtrace: selftest has no check \"%s\"; the checks are", *names);
			for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
				for (const struct check *c = tables[i]; c->name; c++)
					fprintf(stderr, "%s %s", i || c != tables[i] ? "," : "", c->name);
			putc('\n', stderr);
			exit(EXIT_USAGE);
		}
		if (all)
			return;
	}
}

void selftest_text(FILE *out)
{
	environment_text(out);
	fflush(out);
}

/* ---- in the child ------------------------------------------------------------------ */

struct run {
	const struct selftest *t;
	bool silent;
};

/* A check that found all as it claims fails if something else was wrong meanwhile that always has to be right. */
static enum outcome selftest_invariants(enum outcome outcome)
{
	const char *broken = traced_broken();

	return broken && outcome == PASSED ? check_failed("%s", broken) : outcome;
}

static enum outcome selftest_check(const struct selftest *t, const struct check *check)
{
	if (t->unusable && check != environment_checks)
		return check_skipped("%s", t->unusable);
	if (t->quick && check->thorough)
		return check_skipped("not in a quick run");
	return selftest_invariants(check->run(t));
}

static void selftest_work(void *context)
{
	const struct run *run = context;

	traced_pin((int)run->t->cpu);
	for (unsigned int i = results_begun(); i < results_count(); i++) {
		results_begin();
		results_end(selftest_check(run->t, results_check(i)));
		if (!run->silent)
			results_tell(i, stdout);
	}
}

/* ---- in the parent ----------------------------------------------------------------- */

/* The running check, if there is one, ended as the process did. */
static void selftest_close(const struct selftest *t, const struct watch *w)
{
	const char *stays = w->stays ? ", and its process does not end though it is killed" : "";

	if (w->overdue)
		results_close(HUNG, "it did not end in %u s%s", t->limit, stays);
	else if (w->signal)
		results_close(INTERRUPTED, "signal %d (%s)%s", w->signal, strsignal(w->signal), stays);
	else if (WIFSIGNALED(w->status))
		results_close(CRASHED, "signal %d (%s)", WTERMSIG(w->status),
			      strsignal(WTERMSIG(w->status)));
	else
		results_close(CRASHED, "its process ended with exit status %d",
			      WEXITSTATUS(w->status));
}

int selftest_run(const struct selftest *t, bool silent)
{
	struct run run = { .t = t, .silent = silent };
	struct watch w = {
		.work = selftest_work, .context = &run, .step = results_begun, .limit = t->limit,
	};

	/* A process that ends between two checks has no reason to, and is not replaced. */
	for (bool goes_on = true; goes_on;) {
		if (!watch_run(&w)) {
			say("selftest: no process for the checks: %s", strerror(errno));
			return 0;
		}
		goes_on = results_running() && !w.signal && !w.overdue;
		if (results_running()) {
			selftest_close(t, &w);
			if (!silent)
				results_tell(results_begun() - 1, stdout);
		}
	}
	return w.signal;
}

/* ---- the report -------------------------------------------------------------------- */

/* A word that stays */
static const char *selftest_result(const struct selftest *t)
{
	if (t->unusable)
		return "untested";
	if (results_with(FAILED) + results_with(CRASHED) + results_with(HUNG))
		return "failed";
	return results_with(INTERRUPTED) + results_with(NOT_RUN) ? "incomplete" : "passed";
}

bool selftest_passed(const struct selftest *t)
{
	return !strcmp(selftest_result(t), "passed");
}

void selftest_sum(const struct selftest *t, FILE *out)
{
	results_sum(out);
	if (t->unusable)
		fprintf(out, "auxtrace could not be tested here: %s\n", t->unusable);
}

void selftest_json(const struct selftest *t, FILE *out)
{
	putc('{', out);
	environment_json(out);
	fprintf(out, "\n  \"source\": \"%s\",\n  \"quick\": %s,\n  \"result\": \"%s\",",
		t->source->name, t->quick ? "true" : "false", selftest_result(t));
	if (t->unusable) {
		fputs("\n  \"why\": ", out);
		json_string(out, t->unusable);
		putc(',', out);
	}
	fputs("\n  \"checks\": ", out);
	results_json(out);
	fputs("\n}\n", out);
}
