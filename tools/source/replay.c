// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdlib.h>

#include "replay.h"

/* Of more address spaces only the number is reported. */
#define MAX_NAMED	10

static bool open_parts(struct replay *r, const char *dir, const char *symfs)
{
	r->dir = dir;
	r->meta = meta_read(dir);
	if (!r->meta)
		return false;
	r->source = source_of_recording(r->meta, dir);
	if (!side_read(&r->side, dir, r->meta))
		return false;
	r->code = code_open(dir, r->meta, symfs, &r->side);
	if (!r->code)
		return false;
	r->blocks = code_blocks_open(r->code, code_kernel_function(r->code, SWITCH_FUNCTION));
	return threads_read(&r->threads, dir, &r->side);
}

bool replay_open(struct replay *r, const char *dir, const char *symfs)
{
	if (open_parts(r, dir, symfs))
		return true;
	replay_close(r);
	return false;
}

void replay_close(struct replay *r)
{
	flow_sum_free(&r->sum);
	threads_free(&r->threads);
	if (r->blocks)
		code_blocks_close(r->blocks);
	if (r->code)
		code_close(r->code);
	side_free(&r->side);
	if (r->meta)
		meta_free(r->meta);
}

/* False: that was all of it. */
static bool step(const struct replay *r, struct flow *f)
{
	bool more;

	flow_resume(f);
	more = r->source->step(f);
	if (f->view->turn)
		f->view->turn(f->view, f);
	if (more)
		return true;
	r->source->end(f);
	flow_end(f);
	return false;
}

static struct flow *earliest(struct flow *flow, unsigned int count)
{
	struct flow *found = NULL;

	for (unsigned int i = 0; i < count; i++) {
		struct flow *f = &flow[i];

		if (f->cpu && (!found || f->turn_tsc < found->turn_tsc))
			found = f;
	}
	return found;
}

static void run_by_time(const struct replay *r, struct flow *flow, unsigned int count)
{
	struct flow *f;

	while ((f = earliest(flow, count)))
		step(r, f);
}

static void run_by_cpu(const struct replay *r, struct flow *flow, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		while (step(r, &flow[i]))
			;
}

void replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context)
{
	struct flow *flow = xcalloc(r->meta->nr_cpus, sizeof(*flow));
	unsigned int count = 0;

	for (unsigned int i = 0; i < r->meta->nr_cpus; i++) {
		const struct meta_cpu *cpu = &r->meta->cpu[i];
		struct flow *f = &flow[count];

		if (r->cpu >= 0 && cpu->cpu != (unsigned int)r->cpu)
			continue;
		count++;
		*f = (struct flow){
			.meta = r->meta, .code = r->code, .blocks = r->blocks, .side = &r->side, .threads = &r->threads,
			.sum = &r->sum, .dir = r->dir, .window = r->window, .samples = r->samples,
			.view = view_of(context),
		};
		flow_begin(f, cpu);
		r->source->begin(f);
	}
	if (r->by_time && !r->samples)
		run_by_time(r, flow, count);
	else
		run_by_cpu(r, flow, count);
	free(flow);
	if (!count)
		die(1, "CPU %d is not in %s", r->cpu, r->dir);
	if (r->window && !r->sum.bytes && !r->sum.windows)
		die(1, "window %" PRIu64 " is not in %s", r->window, r->dir);
}

static void say_skipped(const struct skipped *s)
{
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

void replay_summary(const struct replay *r)
{
	const struct flow_sum *f = &r->sum;

	if (r->source->summarize)
		r->source->summarize(f);
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
	if (code_changes(r->code))
		say("the kernel's code changed at %zu places during the recording (the file kcore.changes), and perf did not report when: what ran there before is decoded as it was at the end",
		    code_changes(r->code));
	if (f->unsynced)
		say("%" PRIu64 " bytes %s (%s begins anywhere)", f->unsynced, r->source->unsynced,
		    r->samples ? "a sample" : "an overwrite recording");
}
