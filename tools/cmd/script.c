// SPDX-License-Identifier: GPL-2.0
/* auxtrace script: decodes a recording and shows its flow. */
#include <getopt.h>
#include <stdio.h>

#include "cmd.h"
#include "decode/calls.h"
#include "decode/calls_text.h"
#include "decode/views.h"
#include "source/replay.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace script [OPTION]... [DIR]\n\n"
	      "Show the flow of a recording (DIR, by default " DEFAULT_DIR ").\n\n"
	      "  -C, --cpu N       this CPU only\n"
	      "  -w, --window N    this window only (each CPU's own number N)\n"
	      "      --calls       function calls with CPU, time and symbol (the default)\n"
	      "  -i, --insn        each instruction, for programs: address and size, hexadecimal,\n"
	      "                    and lines that begin with # for what happens between them\n"
	      "  -b, --branches    BTS: each branch, with what was executed since the one before\n"
	      "  -e, --errors      only what could not be decoded\n"
	      "  -s, --samples     the samples that triggers took, each decoded on its own\n"
	      "      --symfs DIR   the traced programs' files are below DIR\n"
	      "  -h, --help        this text\n\n"
	      "A summary goes to stderr. Exit status: 0; 1 decode errors, or the recording cannot\n"
	      "be read; 2 wrong usage.\n", f);
}

static struct view *same_view(void *view)
{
	return view;
}

static void show_calls(struct replay *r)
{
	struct calls_sink *sink = calls_text_begin(r->meta);
	struct calls *calls = calls_begin(sink);

	r->by_time = true;
	replay_run(r, calls_view_of_cpu, calls);
	calls_end(calls);
	calls_text_end(sink);
}

int cmd_script(int argc, char **argv)
{
	enum { CALLS = 256, SYMFS };
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'C' },
		{ "window", required_argument, NULL, 'w' },
		{ "calls", no_argument, NULL, CALLS },
		{ "insn", no_argument, NULL, 'i' },
		{ "branches", no_argument, NULL, 'b' },
		{ "errors", no_argument, NULL, 'e' },
		{ "samples", no_argument, NULL, 's' },
		{ "symfs", required_argument, NULL, SYMFS },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct replay r = { .cpu = -1 };
	struct view *view = NULL;	/* NULL: calls */
	const char *symfs = "";
	int c;

	while ((c = getopt_long(argc, argv, "C:w:ibesh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			r.cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 'w':
			r.window = parse_number("--window", optarg, 1, UINT64_MAX);
			break;
		case CALLS:
			view = NULL;
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
			r.samples = true;
			break;
		case SYMFS:
			symfs = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (r.samples && r.window)
		die(EXIT_USAGE, "--samples and --window: a sample may reach over several windows");
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	replay_open(&r, meta_argument(argc, argv), symfs);
	if (view && view->branch && r.source->no_branches)
		die(EXIT_USAGE, "--branches: %s %s", r.dir, r.source->no_branches);
	if (view)
		replay_run(&r, same_view, view);
	else
		show_calls(&r);
	replay_summary(&r);
	c = r.sum.errors ? 1 : 0;
	replay_close(&r);
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the output");
	return c;
}
