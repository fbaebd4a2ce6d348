// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"

/* ---- open and close ------------------------------------------------------------ */

static int take_options(struct auxtrace_decoder *d, const struct auxtrace_decoder_options *o)
{
	d->options = (struct auxtrace_decoder_options){ .size = sizeof(d->options), .cpu = -1 };
	if (!o)
		return 0;
	if (o->size != sizeof(*o))
		return decoder_fail(EINVAL, "size is %u: sizeof(struct auxtrace_decoder_options) is %zu", o->size, sizeof(*o));
	if (o->flags & ~AUXTRACE_DECODER_SAMPLES || o->reserved)
		return decoder_fail(EINVAL, "flags %#x or reserved %#x: this version knows no such bits", o->flags, o->reserved);
	if (o->flags & AUXTRACE_DECODER_SAMPLES && o->window)
		return decoder_fail(EINVAL, "AUXTRACE_DECODER_SAMPLES and a window: a sample may reach over several windows");
	if (o->cpu < -1)
		return decoder_fail(EINVAL, "cpu is %d: a number, or -1 for all", o->cpu);
	d->options = *o;
	return 0;
}

/* What of the recording is wanted. */
static int take_part(struct auxtrace_decoder *d)
{
	const struct auxtrace_decoder_options *o = &d->options;
	const struct meta *meta = d->replay.meta;
	uint64_t ns;

	if ((o->begin_ns || o->end_ns) && !meta_clock(meta, 0, &ns))
		return decoder_fail(EINVAL, "begin_ns, end_ns: this recording has no clock");
	if (o->begin_ns && o->end_ns && o->end_ns <= o->begin_ns)
		return decoder_fail(EINVAL, "end_ns is not behind begin_ns");
	d->cut = (struct calls_cut){
		.begin = o->begin_ns ? meta_tsc(meta, o->begin_ns) : 0,
		/* The clock may be ahead of the TSC: an end before the TSC's 0 is a limit, too. */
		.end = o->end_ns ? meta_tsc(meta, o->end_ns) ?: 1 : 0,
		.tid = o->tid,
		.depth = o->max_depth,
		.function = o->function,
	};
	return 0;
}

static int open_recording(struct auxtrace_decoder *d, const char *dir, const struct auxtrace_decoder_options *o)
{
	if (take_options(d, o))
		return -1;
	d->replay.cpu = d->options.cpu;
	d->replay.window = d->options.window;
	d->replay.samples = d->options.flags & AUXTRACE_DECODER_SAMPLES;
	if (!replay_open(&d->replay, dir, d->options.symfs ?: ""))
		return decoder_fail_as_said(EBADMSG);
	if (!take_part(d))
		return 0;
	replay_close(&d->replay);
	return -1;
}

DECODE_API struct auxtrace_decoder *auxtrace_decoder_open(const char *dir, const struct auxtrace_decoder_options *options)
{
	struct auxtrace_decoder *d = xcalloc(1, sizeof(*d));
	const struct auxtrace_decoder *before = say_to(d);
	char *own = xstrdup(dir);
	int err;

	/* replay_open() keeps the name. */
	err = open_recording(d, own, options);
	say_back(before);
	if (!err)
		return d;
	err = errno;
	free(own);
	free(d);
	errno = err;
	return NULL;
}

DECODE_API void auxtrace_decoder_close(struct auxtrace_decoder *d)
{
	if (!d)
		return;
	free((char *)d->replay.dir);
	replay_close(&d->replay);
	free(d);
}

/* ---- decoding -------------------------------------------------------------------- */

uint64_t decoder_ns(const struct auxtrace_decoder *d, uint64_t tsc)
{
	uint64_t ns;

	return tsc && meta_clock(d->replay.meta, tsc, &ns) ? ns : 0;
}

void decoder_heard(struct auxtrace_decoder *d, int result)
{
	d->result = result;
	d->replay.stop = result;
}

int decoder_run(struct auxtrace_decoder *d, struct view *(*view_of)(void *context), void *context)
{
	const struct auxtrace_decoder *before = say_to(d);
	int err;

	d->result = 0;
	d->replay.stop = false;
	err = replay_run(&d->replay, view_of, context);
	say_back(before);
	return err ? decoder_fail_as_said(-err) : 0;
}

DECODE_API int auxtrace_decoder_sum(const struct auxtrace_decoder *d, struct auxtrace_decoder_sum *sum)
{
	const struct flow_sum *s = &d->replay.sum;

	if (sum->size != sizeof(*sum))
		return decoder_fail(EINVAL, "size is %u: sizeof(struct auxtrace_decoder_sum) is %zu", sum->size, sizeof(*sum));
	*sum = (struct auxtrace_decoder_sum){
		.size = sizeof(*sum),
		.instructions = s->instructions,
		.windows = s->windows,
		.samples = s->samples,
		.bytes = s->bytes,
		.errors = s->errors,
		.overflows = s->overflows,
		.skipped = s->skips,
		.unsynced = s->unsynced,
		.unsampled = s->unsampled,
	};
	return 0;
}

/* ---- the recording ---------------------------------------------------------------- */

DECODE_API int auxtrace_decoder_cpu(const struct auxtrace_decoder *d, unsigned int index)
{
	return index < d->replay.meta->nr_cpus ? (int)d->replay.meta->cpu[index].cpu : -1;
}

DECODE_API const char *auxtrace_decoder_trigger(const struct auxtrace_decoder *d, uint32_t id)
{
	return meta_trigger_text(d->replay.meta, id);
}

static const struct meta_cpu *find_cpu(const struct auxtrace_decoder *d, unsigned int cpu)
{
	const struct meta *meta = d->replay.meta;

	for (unsigned int i = 0; i < meta->nr_cpus; i++)
		if (meta->cpu[i].cpu == cpu)
			return &meta->cpu[i];
	return NULL;
}

DECODE_API int auxtrace_decoder_windows(struct auxtrace_decoder *d, unsigned int cpu,
					int (*visit)(void *context, const struct auxtrace_record_window *window),
					void *context)
{
	const struct meta_cpu *of_cpu = find_cpu(d, cpu);
	const struct auxtrace_decoder *before;
	struct records records;
	bool right;
	int result = 0;

	if (!of_cpu)
		return decoder_fail(ENOENT, "CPU %u is not in %s", cpu, d->replay.dir);
	before = say_to(d);
	right = records_read(&records, d->replay.dir, of_cpu);
	say_back(before);
	if (!right)
		return decoder_fail_as_said(EBADMSG);
	for (size_t i = 0; i < records.nr_windows && !result; i++)
		result = visit(context, records.window[i]);
	records_free(&records);
	return result;
}
