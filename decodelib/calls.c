// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>

#include "decode/calls.h"
#include "decoder.h"

struct call_run {
	struct calls_sink sink;
	struct auxtrace_decoder *d;
	const struct auxtrace_call_handler *handler;
	void *context;
};

static struct call_run *of_sink(struct calls_sink *s)
{
	return (struct call_run *)s;
}

static void run_begin(struct calls_sink *s, struct call *c)
{
	struct auxtrace_call *call = xcalloc(1, sizeof(*call));
	struct call_run *run = of_sink(s);

	*call = (struct auxtrace_call){
		.flags = (c->begun ? AUXTRACE_CALL_BEGUN : 0) | (c->known ? AUXTRACE_CALL_THREAD : 0) |
			 (code_is_kernel(c->ip) ? AUXTRACE_CALL_KERNEL : 0),
		.cpu = c->cpu,
		.pid = c->thread.pid,
		.tid = c->thread.tid,
		.comm = c->comm,
		.caller = c->caller && c->caller->handed_on ? c->caller->own : NULL,
		.depth = c->wanted - 1,
		.ip = c->ip,
		.function = c->name.function,
		.offset = c->name.offset,
		.object = c->name.object,
		.how = c->how,
		.window = c->window,
		.begin_ns = decoder_ns(run->d, c->begin.tsc),
	};
	c->own = call;
	if (!run->d->result && run->handler->begin)
		decoder_heard(run->d, run->handler->begin(run->context, call));
}

static void run_end(struct calls_sink *s, struct call *c)
{
	struct auxtrace_call *call = c->own;
	struct call_run *run = of_sink(s);

	if (c->returned)
		call->flags |= AUXTRACE_CALL_RETURNED;
	call->end_ns = decoder_ns(run->d, c->end.tsc);
	call->instructions = c->instructions;
	call->callee_instructions = c->callee_instructions;
	meta_duration(run->d->replay.meta, c->away, &call->away_ns);
	if (!run->d->result && run->handler->end)
		decoder_heard(run->d, run->handler->end(run->context, call));
	free(call);
}

static void run_line(struct calls_sink *s, struct call *c, const struct call_line *l)
{
	struct call_run *run = of_sink(s);
	const struct auxtrace_source_line line = {
		.file = l->file,
		.line = l->number,
		.inlined = l->inlined ? l->inlined->depth + 1 : 0,
		.function = l->inlined ? l->inlined->function : NULL,
		.time_ns = decoder_ns(run->d, l->tsc),
	};

	if (!run->d->result)
		decoder_heard(run->d, run->handler->line(run->context, c->own, &line));
}

static void tell(struct calls_sink *s, const struct auxtrace_flow_event *event)
{
	struct call_run *run = of_sink(s);

	if (!run->d->result && run->handler->event)
		decoder_heard(run->d, run->handler->event(run->context, event));
}

static void run_window(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	(void)f;
	tell(s, &(struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_WINDOW, .cpu = cpu, .number = seq });
}

static void run_sample(struct calls_sink *s, unsigned int cpu, const struct flow *f, size_t nr,
		       const struct auxtrace_record_sample *sample)
{
	(void)f, (void)sample;
	tell(s, &(struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_SAMPLE, .cpu = cpu, .number = nr });
}

static void run_overflow(struct calls_sink *s, unsigned int cpu)
{
	tell(s, &(struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_OVERFLOW, .cpu = cpu });
}

static void run_skip(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)f, (void)cr3;
	tell(s, &(struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_SKIPPED, .cpu = cpu, .ip = ip });
}

static void run_error(struct calls_sink *s, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	tell(s, &(struct auxtrace_flow_event){
		.what = AUXTRACE_FLOW_ERROR, .cpu = cpu, .number = offset, .ip = ip, .text = message,
	});
}

DECODE_API int auxtrace_decode_calls(struct auxtrace_decoder *d, const struct auxtrace_call_handler *handler, void *context)
{
	struct call_run run = {
		.sink = {
			.begin = run_begin,
			.end = run_end,
			.line = handler->line ? run_line : NULL,
			.window = run_window,
			.sample = run_sample,
			.overflow = run_overflow,
			.skip = run_skip,
			.error = run_error,
		},
		.d = d,
		.handler = handler,
		.context = context,
	};
	struct calls *calls;
	int err;

	if (handler->size != sizeof(*handler) || handler->reserved)
		return decoder_fail(EINVAL, "size is %u: sizeof(struct auxtrace_call_handler) is %zu; reserved is 0", handler->size,
			    sizeof(*handler));
	calls = calls_begin(&run.sink, &d->cut);
	d->replay.by_time = true;
	err = decoder_run(d, calls_view_of_cpu, calls);
	calls_end(calls);
	return d->result ? d->result : err;
}
