// SPDX-License-Identifier: GPL-2.0-only
#include <getopt.h>
#include <inttypes.h>

#include "lib/followed.h"
#include "part.h"
#include "progress.h"
#include "time_limits.h"

/* Of more address spaces only the number is reported. */
#define MAX_NAMED	10

const char part_usage[] =
	"  -C, --cpu N           this CPU only\n"
	"  -w, --window N        this window only (each CPU's own number N)\n"
	"  -t, --tid N           this thread only\n"
	"      --time A,B        from A to B only, in seconds as script shows them, or as\n"
	"                        freeze-2ms, before an event froze it; either may be empty\n"
	"      --function F      calls of function F only, NAME or NAME@FILE, and what is inside\n"
	"      --max-depth N     so many calls deep\n"
	"      --symfs DIR       the traced programs' files are below DIR\n"
	"      --jobs N          decode N CPUs of the recording at a time, by threads (1)\n";

void part_begin(struct part *p)
{
	*p = (struct part){ .replay = { .cpu = -1 }, .symfs = "" };
}

bool part_option(struct part *p, int c, const char *arg)
{
	switch (c) {
	case 'C':
		p->replay.cpu = parse_number("--cpu", arg, 0, MAX_CPU);
		break;
	case 'w':
		p->replay.window = parse_number("--window", arg, 1, UINT64_MAX);
		break;
	case 't':
		p->cut.tid = parse_number("--tid", arg, 1, INT32_MAX);
		p->of_calls = true;
		break;
	case PART_TIME:
		p->time = arg;
		p->of_calls = true;
		break;
	case PART_FUNCTION:
		p->cut.function = arg;
		p->of_calls = true;
		break;
	case PART_DEPTH:
		p->cut.depth = parse_number("--max-depth", arg, 1, UINT32_MAX);
		p->of_calls = true;
		break;
	case PART_SYMFS:
		p->symfs = arg;
		break;
	case PART_JOBS:
		p->replay.jobs = parse_number("--jobs", arg, 1, UINT32_MAX);
		return true;	/* This chooses nothing. */
	default:
		return false;
	}
	p->given = true;
	return true;
}

void part_open(struct part *p, const char *dir)
{
	must(replay_open(&p->replay, dir, p->symfs));
	p->source = source_of_recording(p->replay.meta, dir);
	if (p->time)
		time_limits_parse(&p->cut, p->time, dir, p->replay.meta);
}

static void run(struct part *p, struct view *(*view_of)(void *context), void *context)
{
	must(!progress_run(&p->replay, view_of, context, p->text));
}

static struct view *same_view(void *view)
{
	return view;
}

void part_run(struct part *p, struct view *view)
{
	run(p, same_view, view);
}

void part_calls(struct part *p, struct calls_sink *sink)
{
	struct calls *calls = calls_begin(sink, &p->cut);

	p->replay.by_time = true;
	run(p, calls_view_of_cpu, calls);
	calls_end(calls);
}

/* Losses of the recorder: what is not known for that reason. */
static void say_lost(const struct replay *r)
{
	struct followed f;

	followed_read(&f, r->dir);
	followed_say(&f);
	if (r->side.lost)
		say("perf lost %" PRIu64 " records of the side files: the names of threads and who ran may be wrong", r->side.lost);
}

/* ---- what was decoded ------------------------------------------------------------ */

static void say_skipped(const struct skipped *s)
{
	if (s->probes)
		say("skipped %" PRIu64 " times: a uprobe's instruction or return, which the kernel runs on a page that cannot be read, at %#" PRIx64,
		    s->times, s->ip);
	else if (s->cr3 == CODE_NO_CR3)
		say("skipped %" PRIu64 " times: user code that no recorded process has, or several have with different bytes, the first at %#" PRIx64,
		    s->times, s->ip);
	else
		say("skipped %" PRIu64 " times: user code of CR3 %#" PRIx64 ", a process that is not in the recording, or only from later on, the first at %#" PRIx64,
		    s->times, s->cr3, s->ip);
}

int part_summary(const struct part *p)
{
	const struct replay *r = &p->replay;
	const struct flow_sum *f = &r->sum;

	progress_summary();
	if (p->source->summarize)
		p->source->summarize(f);
	if (r->samples)
		say("%" PRIu64 " instructions in %" PRIu64 " samples, %" PRIu64 " bytes; decode errors: %" PRIu64
		    "; overflows: %" PRIu64 "; skipped: %" PRIu64 "; not in the recording: %" PRIu64,
		    f->instructions, f->samples, f->bytes, f->errors, f->overflows, f->skips, f->unsampled);
	else
		say("%" PRIu64 " instructions in %" PRIu64 " windows, %" PRIu64 " bytes; decode errors: %" PRIu64
		    "; overflows: %" PRIu64 "; skipped: %" PRIu64,
		    f->instructions, f->windows, f->bytes, f->errors, f->overflows, f->skips);
	for (size_t i = 0; i < f->nr_skipped && i < MAX_NAMED; i++)
		say_skipped(&f->skipped[i]);
	if (f->nr_skipped > MAX_NAMED)
		say("and of %zu more address spaces", f->nr_skipped - MAX_NAMED);
	say_lost(r);
	if (code_changes(r->code))
		say("the kernel's code changed at %zu places during the recording (the file kcore.changes), and perf did not report when: what ran there before is decoded as it was at the end",
		    code_changes(r->code));
	if (f->unsynced)
		say("%" PRIu64 " bytes %s (%s begins anywhere)", f->unsynced, p->source->unsynced,
		    r->samples ? "a sample" : "an overwrite recording");
	return f->errors ? 1 : 0;
}

const char *recording_argument(int argc, char **argv)
{
	if (argc - optind > 1)
		die(EXIT_USAGE, "one recording at a time: \"%s\" is too much", argv[optind + 1]);
	return optind < argc ? argv[optind] : DEFAULT_DIR;
}
