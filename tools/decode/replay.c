// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "relay.h"
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
	if (r->decoder->check && !r->decoder->check(dir, r->meta))
		return false;
	if (!side_read(&r->side, dir, r->meta))
		return false;
	r->code = code_open(dir, r->meta, symfs, &r->side);
	if (!r->code)
		return false;
	r->blocks = code_blocks_open(r->code, code_kernel_function(r->code, SWITCH_FUNCTION), 1);
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
	if (f->relay) {
		relay_end(f);
		return;
	}
	if (r->decoder->end)
		r->decoder->end(f);
	flow_end(f);
}

static int step_here(const struct replay *r, struct flow *f)
{
	bool more = flow_step(f, r->decoder);

	if (f->view->turn)
		f->view->turn(f->view, f);
	return more;
}

/* Returns 1, 0 if that was all of it, or a negative errno. */
static int step(const struct replay *r, struct flow *f)
{
	int more = f->relay ? relay_step(f) : step_here(r, f);

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

static int run_by_time(const struct replay *r, struct flow *flow, unsigned int count)
{
	struct flow *f;
	int more = 0;

	while (!r->stop && more >= 0 && (f = earliest(flow, count)))
		more = step(r, f);
	return more < 0 ? more : 0;
}

static int run_by_cpu(const struct replay *r, struct flow *flow, unsigned int count)
{
	int more = 0;

	for (unsigned int i = 0; i < count && more >= 0; i++)
		while (!r->stop && (more = step(r, &flow[i])) > 0)
			;
	return more < 0 ? more : 0;
}

static bool is_wanted(const struct replay *r, const struct meta_cpu *cpu)
{
	return r->cpu < 0 || cpu->cpu == (unsigned int)r->cpu;
}

static int begin_flow(struct replay *r, struct flow *f, const struct meta_cpu *cpu)
{
	if (f->relay)
		return relay_begin(f);
	if (!flow_begin(f, cpu))
		return -EBADMSG;
	if (r->decoder->begin)
		r->decoder->begin(f);
	return 0;
}

/* If there cannot be a thread for each CPU, there is none: nothing has been told of their flow yet. */
static void start_relays(struct replay *r, struct flow *flow, const struct meta_cpu **wanted, unsigned int count)
{
	unsigned int jobs = r->jobs < count ? r->jobs : count;

	if (jobs < 2 || count > RELAYS_MAX)
		return;
	r->relays = relays_open(count, jobs);
	for (unsigned int i = 0; i < count; i++)
		if (!relay_start(r->relays, &flow[i], r->decoder, wanted[i])) {
			relays_give_up(r->relays);
			r->relays = NULL;
			return;
		}
}

static int begin(struct replay *r, struct flow *flow, const struct meta_cpu **wanted, unsigned int count,
		 struct view *(*view_of)(void *context), void *context)
{
	int err = 0;

	for (unsigned int i = 0; i < count; i++)
		flow[i] = (struct flow){
			.meta = r->meta, .code = r->code, .blocks = r->blocks, .side = &r->side,
			.threads = &r->threads, .sum = &r->sum, .dir = r->dir, .window = r->window,
			.samples = r->samples, .stop = &r->stop, .decoded = &r->decoded, .view = view_of(context),
		};
	start_relays(r, flow, wanted, count);
	for (unsigned int i = 0; i < count && !err && !r->stop; i++)
		err = begin_flow(r, &flow[i], wanted[i]);
	return err;
}

static int run(struct replay *r, struct flow *flow, const struct meta_cpu **wanted,
	       struct view *(*view_of)(void *context), void *context)
{
	unsigned int count = 0;
	int err;

	r->decoded = 0;
	r->wanted = 0;
	for (unsigned int i = 0; i < r->meta->nr_cpus; i++)
		if (is_wanted(r, &r->meta->cpu[i])) {
			wanted[count++] = &r->meta->cpu[i];
			if (!r->window && !r->samples)
				r->wanted += r->meta->cpu[i].pad + r->meta->cpu[i].read;
		}
	if (!count) {
		say("CPU %d is not in %s", r->cpu, r->dir);
		return -ENOENT;
	}
	err = begin(r, flow, wanted, count, view_of, context);
	if (!err)
		err = r->by_time && !r->samples ? run_by_time(r, flow, count) : run_by_cpu(r, flow, count);
	if (err)
		return err;
	if (!r->stop && r->window && !r->sum.bytes && !r->sum.windows) {
		say("window %" PRIu64 " is not in %s", r->window, r->dir);
		return -ENOENT;
	}
	return 0;
}

int replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context)
{
	const struct meta_cpu **wanted = xcalloc(r->meta->nr_cpus, sizeof(*wanted));
	struct flow *flow = xcalloc(r->meta->nr_cpus, sizeof(*flow));
	int err;

	flow_sum_free(&r->sum);
	err = run(r, flow, wanted, view_of, context);
	/* Those that did not come to their end. */
	if (r->relays)
		relays_close(r->relays);
	r->relays = NULL;
	for (unsigned int i = 0; i < r->meta->nr_cpus; i++)
		if (flow[i].cpu)
			end_flow(r, &flow[i]);
	free(wanted);
	free(flow);
	return err;
}
