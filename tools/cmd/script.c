// SPDX-License-Identifier: GPL-2.0
/* auxtrace script: decodes a recording and shows its flow. */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cmd.h"
#include "decode/stacks.h"
#include "decode/views.h"
#include "source/source.h"

/* Of more address spaces only the number is reported. */
#define MAX_NAMED	10

static void summary(const struct flow_sum *f, const struct code_image *code, const struct source *source,
		    bool samples)
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
	if (code_changes(code))
		say("the kernel's code changed at %zu places during the recording (the file kcore.changes), and perf did not report when: what ran there before is decoded as it was at the end",
		    code_changes(code));
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

struct script {
	struct view *view;	/* NULL: calls */
	int cpu;		/* -1: all */
	const struct source *source;
	const struct meta *meta;
	struct side side;
	struct threads threads;
	struct stacks stacks;
	struct flow_sum sum;
	struct flow *flow;	/* of each CPU that is wanted */
	unsigned int nr_flows;
};

static void begin_flow(struct script *s, struct flow *f, const struct meta_cpu *cpu)
{
	flow_begin(f, cpu);
	s->source->begin(f);
}

/* False: that was all of it. */
static bool step_flow(struct script *s, struct flow *f)
{
	flow_resume(f);
	if (s->source->step(f))
		return true;
	s->source->end(f);
	flow_end(f);
	return false;
}

static struct flow *earliest(const struct script *s)
{
	struct flow *found = NULL;

	for (unsigned int i = 0; i < s->nr_flows; i++) {
		struct flow *f = &s->flow[i];

		if (f->cpu && (!found || f->turn_tsc < found->turn_tsc))
			found = f;
	}
	return found;
}

/* The turns of threads on all CPUs, in the order of time: a thread may go from CPU to CPU. */
static void decode_turns(struct script *s)
{
	struct flow *f;

	while ((f = earliest(s)))
		step_flow(s, f);
}

static void decode_cpus(struct script *s)
{
	for (unsigned int i = 0; i < s->nr_flows; i++)
		while (step_flow(s, &s->flow[i]))
			;
}

/* The flows of the CPUs that are wanted, each as @pattern is but for its view. */
static void decode(struct script *s, const struct flow *pattern)
{
	s->flow = xcalloc(s->meta->nr_cpus, sizeof(*s->flow));
	for (unsigned int i = 0; i < s->meta->nr_cpus; i++) {
		const struct meta_cpu *cpu = &s->meta->cpu[i];
		struct flow *f = &s->flow[s->nr_flows];

		if (s->cpu >= 0 && cpu->cpu != (unsigned int)s->cpu)
			continue;
		s->nr_flows++;
		*f = *pattern;
		f->view = s->view ?: calls_view(&s->stacks);
		begin_flow(s, f, cpu);
	}
	if (s->view || pattern->samples)
		decode_cpus(s);
	else
		decode_turns(s);
	for (unsigned int i = 0; !s->view && i < s->nr_flows; i++)
		free(s->flow[i].view);
	free(s->flow);
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
	struct script s = { .cpu = -1 };
	struct flow pattern = { .side = &s.side, .threads = &s.threads, .sum = &s.sum };
	const char *symfs = "";
	struct meta *meta;
	int c;

	while ((c = getopt_long(argc, argv, "C:w:ibesh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			s.cpu = parse_number("--cpu", optarg, 0, MAX_CPU);
			break;
		case 'w':
			pattern.window = parse_number("--window", optarg, 1, UINT64_MAX);
			break;
		case CALLS:
			s.view = NULL;
			break;
		case 'i':
			s.view = insn_view();
			break;
		case 'b':
			s.view = branches_view();
			break;
		case 'e':
			s.view = errors_view();
			break;
		case 's':
			pattern.samples = true;
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
	if (pattern.samples && pattern.window)
		die(EXIT_USAGE, "--samples and --window: a sample may reach over several windows");
	pattern.dir = meta_argument(argc, argv);
	setvbuf(stdout, NULL, _IOFBF, 1 << 20);
	s.meta = pattern.meta = meta = meta_read(pattern.dir);
	s.source = source_of_recording(meta, pattern.dir);
	if (s.view && s.view->branch && s.source->no_branches)
		die(EXIT_USAGE, "--branches: %s %s", pattern.dir, s.source->no_branches);
	side_read(&s.side, pattern.dir, meta);
	pattern.code = code_open(pattern.dir, meta, symfs, &s.side);
	threads_read(&s.threads, pattern.dir, &s.side);
	decode(&s, &pattern);
	if (!s.nr_flows)
		die(1, "CPU %d is not in %s", s.cpu, pattern.dir);
	if (pattern.window && !s.sum.bytes && !s.sum.windows)
		die(1, "window %" PRIu64 " is not in %s", pattern.window, pattern.dir);
	summary(&s.sum, pattern.code, s.source, pattern.samples);
	c = s.sum.errors ? 1 : 0;
	flow_sum_free(&s.sum);
	stacks_free(&s.stacks);
	threads_free(&s.threads);
	code_close(pattern.code);
	side_free(&s.side);
	meta_free(meta);
	if (fflush(stdout) || ferror(stdout))
		die(1, "cannot write the output");
	return c;
}
