// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "replay.h"

static bool open_parts(struct replay *r, const char *dir, const char *symfs)
{
	r->dir = dir;
	r->meta = meta_read(dir);
	if (!r->meta)
		return false;
	r->decoder = flow_decoder_of(r->meta->pmu);
	if (!r->decoder)
		return wrong("%s/meta: a trace of PMU %u, which this version does not know", dir, r->meta->pmu);
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

static void end_flow(const struct replay *r, struct flow *f)
{
	if (r->decoder->end)
		r->decoder->end(f);
	flow_end(f);
}

/* False: that was all of it. */
static bool step(const struct replay *r, struct flow *f)
{
	bool more;

	flow_resume(f);
	more = r->decoder->step(f);
	if (f->view->turn)
		f->view->turn(f->view, f);
	if (!more)
		end_flow(r, f);
	return more;
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

	while (!r->stop && (f = earliest(flow, count)))
		step(r, f);
}

static void run_by_cpu(const struct replay *r, struct flow *flow, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		while (!r->stop && step(r, &flow[i]))
			;
}

static bool begin_flow(struct replay *r, struct flow *f, const struct meta_cpu *cpu, struct view *view)
{
	*f = (struct flow){
		.meta = r->meta, .code = r->code, .blocks = r->blocks, .side = &r->side, .threads = &r->threads,
		.sum = &r->sum, .dir = r->dir, .window = r->window, .samples = r->samples, .stop = &r->stop,
		.view = view,
	};
	if (!flow_begin(f, cpu))
		return false;
	if (r->decoder->begin)
		r->decoder->begin(f);
	return true;
}

static int run(struct replay *r, struct flow *flow, struct view *(*view_of)(void *context), void *context)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < r->meta->nr_cpus; i++) {
		const struct meta_cpu *cpu = &r->meta->cpu[i];

		if (r->cpu >= 0 && cpu->cpu != (unsigned int)r->cpu)
			continue;
		if (!begin_flow(r, &flow[count], cpu, view_of(context)))
			return -EBADMSG;
		count++;
	}
	if (!count) {
		say("CPU %d is not in %s", r->cpu, r->dir);
		return -ENOENT;
	}
	if (r->by_time && !r->samples)
		run_by_time(r, flow, count);
	else
		run_by_cpu(r, flow, count);
	if (r->window && !r->sum.bytes && !r->sum.windows) {
		say("window %" PRIu64 " is not in %s", r->window, r->dir);
		return -ENOENT;
	}
	return 0;
}

int replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context)
{
	struct flow *flow = xcalloc(r->meta->nr_cpus, sizeof(*flow));
	int err;

	flow_sum_free(&r->sum);
	err = run(r, flow, view_of, context);
	/* Those that did not come to their end. */
	for (unsigned int i = 0; i < r->meta->nr_cpus; i++)
		if (flow[i].cpu)
			end_flow(r, &flow[i]);
	free(flow);
	return err;
}
