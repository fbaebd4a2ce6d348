// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/clock.h"
#include "lib/json.h"
#include "lib/tool.h"
#include "results.h"

#define MAX_CHECKS	64
#define MAX_FIGURES	6

static const char *const words[] = {
	[PASSED] = "passed", [FAILED] = "failed", [SKIPPED] = "skipped", [CRASHED] = "crashed",
	[HUNG] = "hung", [INTERRUPTED] = "interrupted", [NOT_RUN] = "not run",
};
static const char *const marks[] = {
	[PASSED] = "ok    ", [FAILED] = "FAILED", [SKIPPED] = "skip  ", [CRASHED] = "CRASHED",
	[HUNG] = "HUNG  ", [INTERRUPTED] = "INTERRUPTED", [NOT_RUN] = "not run",
};

/* It has no pointers: a check that crashes may have written anywhere before. */
struct result {
	enum outcome outcome;
	double seconds;
	char why[400];
	struct {
		char name[32], unit[16];
		double value;
	} figures[MAX_FIGURES];
	unsigned int nr_figures;
};

/* In memory that both processes have. Check number begun - 1 is running while begun > ended. */
struct results {
	atomic_uint begun, ended;
	int64_t begin_ns;
	struct result result[MAX_CHECKS];
};

static const struct check *checks[MAX_CHECKS];
static unsigned int nr_checks;
static struct results *results;

void results_clear(void)
{
	if (!results) {
		results = mmap(NULL, sizeof(*results), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (results == MAP_FAILED)
			die(1, "selftest: no memory for the results: %s", strerror(errno));
	}
	memset(results, 0, sizeof(*results));
	nr_checks = 0;
}

void results_add(const struct check *check)
{
	if (nr_checks == MAX_CHECKS)
		return;
	results->result[nr_checks].outcome = NOT_RUN;
	checks[nr_checks++] = check;
}

unsigned int results_count(void)
{
	return nr_checks;
}

const struct check *results_check(unsigned int i)
{
	return checks[i];
}

unsigned int results_begun(void)
{
	unsigned int begun = atomic_load(&results->begun);

	return begun < nr_checks ? begun : nr_checks;
}

bool results_running(void)
{
	return results_begun() > atomic_load(&results->ended);
}

void results_begin(void)
{
	results->begin_ns = clock_now_ns();
	atomic_fetch_add(&results->begun, 1);
}

/* That of the check that began last */
static struct result *results_current(void)
{
	return &results->result[results_begun() - 1];
}

void results_end(enum outcome outcome)
{
	struct result *r = results_current();

	r->outcome = outcome;
	r->seconds = (double)(clock_now_ns() - results->begin_ns) / 1e9;
	atomic_store(&results->ended, results_begun());
}

static void results_explain(const char *format, va_list ap)
{
	struct result *r = results_current();

	vsnprintf(r->why, sizeof(r->why), format, ap);
}

void results_close(enum outcome outcome, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	results_explain(format, ap);
	va_end(ap);
	results_end(outcome);
}

enum outcome check_failed(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	results_explain(format, ap);
	va_end(ap);
	return FAILED;
}

enum outcome check_skipped(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	results_explain(format, ap);
	va_end(ap);
	return SKIPPED;
}

void check_note(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	results_explain(format, ap);
	va_end(ap);
}

void check_figure(const char *name, double value, const char *unit)
{
	struct result *r = results_current();

	if (r->nr_figures >= MAX_FIGURES)
		return;
	snprintf(r->figures[r->nr_figures].name, sizeof(r->figures[0].name), "%s", name);
	snprintf(r->figures[r->nr_figures].unit, sizeof(r->figures[0].unit), "%s", unit);
	r->figures[r->nr_figures++].value = value;
}

/* A copy that can be printed, whatever a check that crashed has written there. */
static struct result results_read(unsigned int i)
{
	struct result r = results->result[i];

	if ((unsigned int)r.outcome > NOT_RUN)
		r.outcome = CRASHED;
	r.why[sizeof(r.why) - 1] = '\0';
	if (r.nr_figures > MAX_FIGURES)
		r.nr_figures = MAX_FIGURES;
	for (unsigned int j = 0; j < r.nr_figures; j++) {
		r.figures[j].name[sizeof(r.figures[j].name) - 1] = '\0';
		r.figures[j].unit[sizeof(r.figures[j].unit) - 1] = '\0';
		if (!isfinite(r.figures[j].value))
			r.figures[j].value = 0;
	}
	if (r.outcome == NOT_RUN)
		snprintf(r.why, sizeof(r.why), "the run ended before it");
	return r;
}

unsigned int results_with(enum outcome outcome)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < nr_checks; i++)
		n += results_read(i).outcome == outcome;
	return n;
}

void results_tell(unsigned int i, FILE *out)
{
	struct result r = results_read(i);

	fprintf(out, "%s  %-14s %s", marks[r.outcome], checks[i]->name, checks[i]->claim);
	for (unsigned int j = 0; j < r.nr_figures; j++)
		fprintf(out, "%s%s %.6g%s%s", j ? ", " : " (", r.figures[j].name,
			r.figures[j].value, r.figures[j].unit[0] ? " " : "", r.figures[j].unit);
	fputs(r.nr_figures ? ")\n" : "\n", out);
	if (r.why[0])
		fprintf(out, "        %-14s %s\n", "", r.why);
	fflush(out);
}

void results_sum(FILE *out)
{
	for (enum outcome o = PASSED; o <= NOT_RUN; o++) {
		unsigned int n = results_with(o);

		if (n || o <= SKIPPED)
			fprintf(out, "%s%u %s", o ? ", " : "", n, words[o]);
	}
	putc('\n', out);
}

void results_json(FILE *out)
{
	putc('[', out);
	for (unsigned int i = 0; i < nr_checks; i++) {
		struct result r = results_read(i);

		fprintf(out, "%s\n    { \"name\": \"%s\", \"claim\": ", i ? "," : "",
			checks[i]->name);
		json_string(out, checks[i]->claim);
		fprintf(out, ", \"outcome\": \"%s\", \"seconds\": %.3f", words[r.outcome],
			r.seconds);
		if (r.why[0]) {
			fprintf(out, ", \"%s\": ", r.outcome == PASSED ? "note" : "why");
			json_string(out, r.why);
		}
		for (unsigned int j = 0; j < r.nr_figures; j++) {
			fputs(j ? ", " : ", \"figures\": { ", out);
			json_string(out, r.figures[j].name);
			fprintf(out, ": { \"value\": %.17g, \"unit\": ", r.figures[j].value);
			json_string(out, r.figures[j].unit);
			fputs(" }", out);
		}
		fputs(r.nr_figures ? " } }" : " }", out);
	}
	fputs("\n  ]", out);
}
