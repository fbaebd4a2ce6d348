// SPDX-License-Identifier: GPL-2.0
/* auxtrace script: decodes a recording and shows its flow. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "decode/views.h"
#include "source/source.h"

/* Of more address spaces only the number is reported. */
#define MAX_NAMED	10

static void summary(const struct flow *f, const struct source *source, bool samples)
{
	if (source->summarize)
		source->summarize(f);
	if (samples)
		say("%" PRIu64 " instructions in %" PRIu64 " samples, %" PRIu64 " bytes; decode errors: %" PRIu64
		    "; overflows: %" PRIu64 "; skipped: %" PRIu64 "; not in the recording: %" PRIu64,
		    f->instructions, f->samples, f->bytes, f->errors, f->overflows, f->skips, f->unsampled);
	else
		say("%" PRIu64 " instructions in %" PRIu64 " windows, %" PRIu64 " bytes; decode errors: %" PRIu64
		    "; overflows: %" PRIu64 "; skipped: %" PRIu64,
		    f->instructions, f->windows, f->bytes, f->errors, f->overflows, f->skips);
	for (size_t i = 0; i < f->nr_skipped && i < MAX_NAMED; i++) {
		const struct skipped *s = &f->skipped[i];

		if (s->probes)
			say("skipped %" PRIu64 " times: a uprobe's instruction or return, which the kernel runs on a page that cannot be read, at %#" PRIx64,
			    s->times, s->ip);
		else if (s->cr3 == CODE_NO_CR3)
			say("skipped %" PRIu64 " times: user code that no recorded process has, or several have with different bytes, the first at %#" PRIx64,
			    s->times, s->ip);
		else
			say("skipped %" PRIu64 " times: user code of CR3 %#" PRIx64 ", a process that is not in the recording, the first at %#" PRIx64,
			    s->times, s->cr3, s->ip);
	}
	if (f->nr_skipped > MAX_NAMED)
		say("and of %zu more address spaces", f->nr_skipped - MAX_NAMED);
	if (code_changes(f->code))
		say("the kernel's code changed at %zu places during the recording (the file kcore.changes): what ran there before is decoded as it was at the end",
		    code_changes(f->code));
	if (f->unsynced)
		say("%" PRIu64 " bytes %s (%s begins anywhere)", f->unsynced, source->unsynced,
		    samples ? "a sample" : "an overwrite recording");
}

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
	const char *dir, *symfs = "";
	struct flow flow = { .view = calls_view() };
	uint64_t window = 0;
	bool found = false, samples = false;
	const struct source *source;
	struct meta *meta;
	int cpu = -1, c;

	while ((c = getopt_long(argc, argv, "C:w:ibesh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 'w':
			window = parse_number("--window", optarg, 1, UINT64_MAX);
			break;
		case CALLS:
			flow.view = calls_view();
			break;
		case 'i':
			flow.view = insn_view();
			break;
		case 'b':
			flow.view = branches_view();
			break;
		case 'e':
			flow.view = errors_view();
			break;
		case 's':
			samples = true;
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
	if (samples && window)
		die(EXIT_USAGE, "--samples and --window: a sample may reach over several windows");
	dir = meta_argument(argc, argv);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	meta = meta_read(dir);
	flow.meta = meta;
	source = source_of_recording(meta, dir);
	if (flow.view->branch && source->no_branches)
		die(EXIT_USAGE, "--branches: %s %s", dir, source->no_branches);
	flow.code = code_open(dir, symfs);
	for (unsigned int i = 0; i < meta->nr_cpus; i++) {
		if (cpu >= 0 && meta->cpu[i].cpu != (unsigned int)cpu)
			continue;
		found = true;
		if (samples)
			source->decode_samples(&flow, dir, &meta->cpu[i]);
		else
			source->decode(&flow, dir, &meta->cpu[i], window);
	}
	if (!found)
		die(1, "CPU %d is not in %s", cpu, dir);
	if (window && !flow.bytes && !flow.windows)
		die(1, "window %" PRIu64 " is not in %s", window, dir);
	summary(&flow, source, samples);
	c = flow.errors ? 1 : 0;
	flow_free(&flow);
	code_close(flow.code);
	meta_free(meta);
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the output");
	return c;
}
