// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "environment.h"
#include "lib/json.h"
#include "lib/tool.h"
#include "selftest.h"

#define MAX_CHECKS	64
#define MAX_FIGURES	6

static const struct check *const tables[] = {
	environment_checks, mode_checks, scope_checks, ring_checks, trigger_checks, action_checks, flow_checks,
	drain_checks, cost_checks,
};
static const char *const outcomes[] = { [PASSED] = "passed", [FAILED] = "failed", [SKIPPED] = "skipped" };

struct result {
	const struct check *check;
	enum outcome outcome;
	double seconds;
	char why[400];
	struct {
		const char *name, *unit;
		double value;
	} figures[MAX_FIGURES];
	unsigned int nr_figures;
};

static struct result results[MAX_CHECKS];
static unsigned int nr_results;
static struct result *current;

static enum outcome selftest_because(enum outcome outcome, const char *format, va_list ap)
{
	vsnprintf(current->why, sizeof(current->why), format, ap);
	return outcome;
}

enum outcome check_failed(const char *format, ...)
{
	enum outcome outcome;
	va_list ap;

	va_start(ap, format);
	outcome = selftest_because(FAILED, format, ap);
	va_end(ap);
	return outcome;
}

enum outcome check_skipped(const char *format, ...)
{
	enum outcome outcome;
	va_list ap;

	va_start(ap, format);
	outcome = selftest_because(SKIPPED, format, ap);
	va_end(ap);
	return outcome;
}

void check_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	selftest_because(PASSED, format, ap);
	va_end(ap);
}

void check_figure(const char *name, double value, const char *unit)
{
	if (current->nr_figures == MAX_FIGURES)
		return;
	current->figures[current->nr_figures].name = name;
	current->figures[current->nr_figures].value = value;
	current->figures[current->nr_figures++].unit = unit;
}

static void selftest_add(const struct check *check)
{
	if (nr_results < MAX_CHECKS)
		results[nr_results++].check = check;
}

void selftest_choose(char *const *names)
{
	bool all = !*names;

	for (; all || *names; names++) {
		bool found = all;

		for (unsigned int i = 0; i < ARRAY_SIZE(tables); i++)
			for (const struct check *c = tables[i]; c->name; c++)
				if (all || !strcmp(c->name, *names)) {
					selftest_add(c);
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

static void selftest_tell(const struct result *r)
{
	static const char *const marks[] = { [PASSED] = "ok    ", [FAILED] = "FAILED", [SKIPPED] = "skip  " };

	printf("%s  %-14s %s", marks[r->outcome], r->check->name, r->check->claim);
	for (unsigned int i = 0; i < r->nr_figures; i++)
		printf("%s%s %.6g%s%s", i ? ", " : " (", r->figures[i].name, r->figures[i].value,
		       r->figures[i].unit[0] ? " " : "", r->figures[i].unit);
	puts(r->nr_figures ? ")" : "");
	if (r->why[0])
		printf("        %-14s %s\n", "", r->why);
	fflush(stdout);
}

bool selftest_run(const struct selftest *t, bool silent)
{
	bool good = !t->unusable;

	if (!silent)
		environment_text(stdout);
	for (unsigned int i = 0; i < nr_results; i++) {
		struct timespec begin, end;

		current = &results[i];
		clock_gettime(CLOCK_MONOTONIC, &begin);
		if (t->quick && current->check->thorough)
			current->outcome = check_skipped("not in a quick run");
		else if (t->unusable && current->check != environment_checks)
			current->outcome = check_skipped("%s", t->unusable);
		else
			current->outcome = current->check->run(t);
		clock_gettime(CLOCK_MONOTONIC, &end);
		current->seconds = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9;
		good &= current->outcome != FAILED;
		if (!silent)
			selftest_tell(current);
	}
	if (!silent) {
		unsigned int n[ARRAY_SIZE(outcomes)] = { 0 };

		for (unsigned int i = 0; i < nr_results; i++)
			n[results[i].outcome]++;
		printf("%u passed, %u failed, %u skipped\n", n[PASSED], n[FAILED], n[SKIPPED]);
	}
	return good;
}

void selftest_json(const struct selftest *t, FILE *out)
{
	putc('{', out);
	environment_json(out);
	fprintf(out, "\n  \"source\": \"%s\",\n  \"quick\": %s,\n  \"checks\": [", t->source->name, t->quick ? "true" : "false");
	for (unsigned int i = 0; i < nr_results; i++) {
		const struct result *r = &results[i];

		fprintf(out, "%s\n    { \"name\": \"%s\", \"claim\": ", i ? "," : "", r->check->name);
		json_string(out, r->check->claim);
		fprintf(out, ", \"outcome\": \"%s\", \"seconds\": %.3f", outcomes[r->outcome], r->seconds);
		if (r->why[0]) {
			fprintf(out, ", \"%s\": ", r->outcome == PASSED ? "note" : "why");
			json_string(out, r->why);
		}
		for (unsigned int j = 0; j < r->nr_figures; j++)
			fprintf(out, "%s\"%s\": { \"value\": %.17g, \"unit\": \"%s\" }", j ? ", " : ", \"figures\": { ",
				r->figures[j].name, r->figures[j].value, r->figures[j].unit);
		fputs(r->nr_figures ? " } }" : " }", out);
	}
	fputs("\n  ]\n}\n", out);
}
