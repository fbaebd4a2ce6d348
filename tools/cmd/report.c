// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace report: where the time went, by function; and what a slow call did otherwise than others. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "lib/output.h"
#include "part.h"
#include "report/report.h"

#define DEFAULT_ROWS	40

static void usage(FILE *f)
{
	fputs("usage: auxtrace report [OPTION]... [DIR]\n\n"
	      "Show where the time of a recording (DIR, by default " DEFAULT_DIR ") went: for each\n"
	      "function its calls, times and instructions.\n\n"
	      "      --by WHAT         a row for each function (the default), or for each function\n"
	      "                        of a thread or of a process: function, thread, process\n"
	      "      --sort KEY        self (the default), total, waited, calls, p50, p99, max or\n"
	      "                        instructions\n"
	      "      --compare F       what the slowest call of function F did otherwise than its\n"
	      "                        other calls. F is NAME or NAME@FILE. Without this, the function\n"
	      "                        that a latency trigger waited for, if there was one\n"
	      "      --limit N         so many rows (40 by default; 0: all)\n"
	      "      --html FILE       write a page for a browser instead: calls over time by thread, a\n"
	      "                        flame view, search, and these tables\n", f);
	fputs(part_usage, f);
	fputs("  -h, --help            this text\n\n"
	      "A summary goes to stderr. Exit status: 0; 1 decode errors, or the recording cannot\n"
	      "be read; 2 wrong usage.\n", f);
}

static enum rows_by parse_by(const char *text)
{
	static const char *const names[] = { "function", "process", "thread" };

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (!strcmp(text, names[i]))
			return i;
	die(EXIT_USAGE, "--by %s: it takes function, thread or process", text);
}

static enum rows_key parse_key(const char *text)
{
	for (unsigned int i = 0; i < NR_KEYS; i++)
		if (!strcmp(text, row_keys[i]))
			return i;
	die(EXIT_USAGE, "--sort %s: it takes self, total, waited, calls, p50, p99, max or instructions", text);
}

/*
 * The function between whose begin and end a latency trigger measured: of
 * latency:uprobe:FILE:NAME..uretprobe:FILE:NAME>TIME=ACTION that is NAME. NULL: there is none. To be freed.
 */
static char *function_of_trigger(const struct meta *meta)
{
	for (unsigned int i = 0; i < meta->nr_triggers; i++) {
		const char *text = meta->trigger[i].text, *end = strstr(text, ".."), *name;
		static const char kprobe[] = "latency:kprobe:", uprobe[] = "latency:uprobe:";
		char *function, *number;

		/* Not that of a path. */
		while (end && end[2] == '/')
			end = strstr(end + 2, "..");
		if (!end || (strncmp(text, kprobe, strlen(kprobe)) && strncmp(text, uprobe, strlen(uprobe))))
			continue;
		for (name = end; name[-1] != ':'; name--)
			;
		function = strndup(name, end - name);
		function[strcspn(function, "+")] = 0;
		/* Which one of several it is does not matter here: named_function.h. */
		number = strrchr(function, '#');
		if (number && number[1 + strspn(number + 1, "0123456789gG")] == 0)
			*number = 0;
		return function;
	}
	return NULL;
}

static void print(const struct report *report, enum rows_key key, size_t limit, const struct meta *meta)
{
	rows_print(&report->rows, key, limit, meta);
	if (!report->compare)
		return;
	putchar('\n');
	contrast_print(&report->contrast, report->compare, limit, meta);
}

int cmd_report(int argc, char **argv)
{
	enum { BY = 256, SORT, COMPARE, HTML, LIMIT };
	static const struct option options[] = {
		{ "by", required_argument, NULL, BY },
		{ "sort", required_argument, NULL, SORT },
		{ "compare", required_argument, NULL, COMPARE },
		{ "html", required_argument, NULL, HTML },
		{ "limit", required_argument, NULL, LIMIT },
		PART_LONG,
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct replay *replay;
	struct part part;
	enum rows_key key = KEY_SELF;
	const char *html = NULL;
	size_t limit = DEFAULT_ROWS;
	struct page page = { 0 };
	struct report report;
	char *waited_for = NULL;
	int c;

	report_begin(&report);
	part_begin(&part);
	while ((c = getopt_long(argc, argv, "h" PART_SHORT, options, NULL)) != -1) {
		if (part_option(&part, c, optarg))
			continue;
		switch (c) {
		case BY:
			report.rows.by = parse_by(optarg);
			break;
		case SORT:
			key = parse_key(optarg);
			break;
		case COMPARE:
			report.compare = optarg;
			break;
		case HTML:
			html = optarg;
			break;
		case LIMIT:
			limit = parse_number("--limit", optarg, 0, SIZE_MAX);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (html)
		output_must_be_new(html);
	part_open(&part, recording_argument(argc, argv));
	replay = &part.replay;
	if (!report.compare)
		report.compare = waited_for = function_of_trigger(replay->meta);
	if (html)
		report.page = &page;
	part_calls(&part, &report.sink);
	if (html)
		page_write(&page, html, replay->dir, &report, replay->meta);
	else
		print(&report, key, limit, replay->meta);
	if (report.cut)
		say("%" PRIu64 " calls are not whole (cut): begin or end is not in the trace; their known part is in total and self",
		    report.cut);
	c = part_summary(&part);
	page_free(&page);
	report_free(&report);
	free(waited_for);
	replay_close(replay);
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the output");
	return c;
}
