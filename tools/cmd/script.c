// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace script: decodes a recording and shows its flow. */
#include <getopt.h>
#include <stdio.h>
#include <sys/stat.h>

#include "cmd.h"
#include "decode/calls_text.h"
#include "decode/views.h"
#include "lib/source_text.h"
#include "lib/terminal.h"
#include "part.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace script [OPTION]... [DIR]\n\n"
	      "Show the flow of a recording (DIR, by default " DEFAULT_DIR ").\n\n"
	      "      --calls       function calls with CPU, time and symbol (the default)\n"
	      "  -l, --lines       the same, with the source lines that they execute and inlined\n"
	      "                    functions, where there is debug information\n"
	      "  -i, --insn        each instruction, for programs: address and size, hexadecimal,\n"
	      "                    and lines that begin with # for what happens between them\n"
	      "  -b, --branches    BTS: each branch, with what was executed since the one before\n"
	      "  -e, --errors      only what could not be decoded\n"
	      "  -s, --samples     the samples that triggers took, each decoded on its own\n"
	      "\n", f);
	fputs(part_usage, f);
	fputs("                        (from --tid to --max-depth: of calls only)\n"
	      "      --color WHEN  auto (the default: on a terminal), always, never\n"
	      "      --no-pager    on a terminal, do not show the output with $AUXTRACE_PAGER, $PAGER\n"
	      "                    or less\n"
	      "  -h, --help        this text\n\n"
	      "A summary goes to stderr. Exit status: 0; 1 decode errors, or the recording cannot\n"
	      "be read; 2 wrong usage.\n", f);
}

/* When the recording was written. */
static time_t written(const char *dir)
{
	char path[4200];
	struct stat st;

	snprintf(path, sizeof(path), "%s/meta", dir);
	return stat(path, &st) ? 0 : st.st_mtime;
}

static void show_calls(struct part *part, bool lines)
{
	struct source_text *source = lines ? source_text_begin(part->symfs, written(part->replay.dir)) : NULL;
	struct calls_sink *sink = calls_text_begin(part->replay.meta, source);

	part_calls(part, sink);
	calls_text_end(sink);
	if (source)
		source_text_end(source);
}

int cmd_script(int argc, char **argv)
{
	enum { CALLS = 256, COLOR, NO_PAGER };
	static const struct option options[] = {
		{ "calls", no_argument, NULL, CALLS },
		{ "lines", no_argument, NULL, 'l' },
		{ "insn", no_argument, NULL, 'i' },
		{ "branches", no_argument, NULL, 'b' },
		{ "errors", no_argument, NULL, 'e' },
		{ "samples", no_argument, NULL, 's' },
		PART_LONG,
		{ "color", required_argument, NULL, COLOR },
		{ "no-pager", no_argument, NULL, NO_PAGER },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct replay *r;
	struct part part;
	struct view *view = NULL;	/* NULL: calls */
	bool lines = false, page = true;
	const char *color = "auto";
	int c;

	part_begin(&part);
	part.text = true;
	while ((c = getopt_long(argc, argv, "libesh" PART_SHORT, options, NULL)) != -1) {
		if (part_option(&part, c, optarg))
			continue;
		switch (c) {
		case CALLS:
			view = NULL;
			break;
		case 'l':
			lines = true;
			break;
		case 'i':
			view = insn_view();
			break;
		case 'b':
			view = branches_view();
			break;
		case 'e':
			view = errors_view();
			break;
		case 's':
			part.replay.samples = true;
			break;
		case COLOR:
			color = optarg;
			break;
		case NO_PAGER:
			page = false;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	r = &part.replay;
	if (view && part.of_calls)
		die(EXIT_USAGE, "--tid, --time, --function and --max-depth choose calls: they go with --calls");
	if (view && lines)
		die(EXIT_USAGE, "--lines shows the source lines of calls: it goes with --calls");
	if (r->samples && r->window)
		die(EXIT_USAGE, "--samples and --window: a sample may reach over several windows");
	terminal_colour(color);
	if (page)
		pager_begin();
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	part_open(&part, recording_argument(argc, argv));
	if (view && view->branch && part.source->no_branches)
		die(EXIT_USAGE, "--branches: %s %s", r->dir, part.source->no_branches);
	if (view)
		part_run(&part, view);
	else
		show_calls(&part, lines);
	/* The summary comes behind it, also where both go to one place. */
	fflush(stdout);
	c = part_summary(&part);
	replay_close(r);
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the output");
	pager_end();
	return c;
}
