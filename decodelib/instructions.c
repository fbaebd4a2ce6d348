// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>

#include "decoder.h"

struct instruction_run {
	struct view view;
	struct auxtrace_decoder *d;
	const struct auxtrace_instruction_handler *handler;
	void *context;
	unsigned int cpu;
};

static struct instruction_run *of_view(struct view *v)
{
	return (struct instruction_run *)v;
}

static void tell(struct view *v, const struct flow *f, struct auxtrace_flow_event event)
{
	struct instruction_run *run = of_view(v);

	if (run->d->result || !run->handler->event)
		return;
	event.cpu = run->cpu;
	run->d->flow = f;
	decoder_heard(run->d, run->handler->event(run->context, &event));
	run->d->flow = NULL;
}

static void run_cpu(struct view *v, unsigned int cpu)
{
	of_view(v)->cpu = cpu;
}

static void run_thread(struct view *v, const struct flow *f)
{
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_THREAD });
}

static void run_window(struct view *v, const struct flow *f, uint64_t seq)
{
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_WINDOW, .number = seq });
}

static void run_sample(struct view *v, const struct flow *f, size_t nr, const struct auxtrace_record_sample *sample)
{
	(void)sample;
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_SAMPLE, .number = nr });
}

static void run_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_BEGIN, .ip = ip });
}

static void run_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_END, .ip = known ? ip : 0 });
}

static uint32_t class_of(enum pt_insn_class iclass)
{
	switch (iclass) {
	case ptic_call:
		return AUXTRACE_INSTRUCTION_CALL;
	case ptic_return:
		return AUXTRACE_INSTRUCTION_RETURN;
	case ptic_jump:
		return AUXTRACE_INSTRUCTION_JUMP;
	case ptic_cond_jump:
		return AUXTRACE_INSTRUCTION_CONDITIONAL_JUMP;
	case ptic_far_call:
		return AUXTRACE_INSTRUCTION_FAR_CALL;
	case ptic_far_return:
		return AUXTRACE_INSTRUCTION_FAR_RETURN;
	case ptic_far_jump:
		return AUXTRACE_INSTRUCTION_FAR_JUMP;
	default:
		return AUXTRACE_INSTRUCTION_OTHER;
	}
}

static void run_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	struct instruction_run *run = of_view(v);
	const struct auxtrace_instruction instruction = {
		.ip = insn->ip, .length = insn->size, .iclass = class_of(insn->iclass),
	};

	if (run->d->result || !run->handler->instruction)
		return;
	run->d->flow = f;
	decoder_heard(run->d, run->handler->instruction(run->context, &instruction));
	run->d->flow = NULL;
}

static void run_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	(void)to, (void)known;
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_INTERRUPT, .ip = from });
}

static void run_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_OVERFLOW, .ip = known ? ip : 0 });
}

static void run_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)cr3;
	tell(v, f, (struct auxtrace_flow_event){ .what = AUXTRACE_FLOW_SKIPPED, .ip = ip });
}

static void run_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	tell(v, f, (struct auxtrace_flow_event){
		.what = AUXTRACE_FLOW_ERROR, .number = offset, .ip = ip, .text = message,
	});
}

static struct view *same_view(void *run)
{
	return run;
}

DECODE_API int auxtrace_decode_instructions(struct auxtrace_decoder *d, const struct auxtrace_instruction_handler *handler,
					    void *context)
{
	struct instruction_run run = {
		.view = {
			.cpu = run_cpu,
			.thread = run_thread,
			.window = run_window,
			.sample = run_sample,
			.enable = run_enable,
			.disable = run_disable,
			.insn = run_insn,
			.async = run_async,
			.overflow = run_overflow,
			.skip = run_skip,
			.error = run_error,
		},
		.d = d,
		.handler = handler,
		.context = context,
	};
	int err;

	if (handler->size != sizeof(*handler) || handler->reserved)
		return decoder_fail(EINVAL, "size is %u: sizeof(struct auxtrace_instruction_handler) is %zu; reserved is 0",
			    handler->size, sizeof(*handler));
	d->replay.by_time = false;
	err = decoder_run(d, same_view, &run);
	return d->result ? d->result : err;
}

/* ---- where the flow is -------------------------------------------------------------- */

DECODE_API int auxtrace_decoder_thread(const struct auxtrace_decoder *d, uint32_t *pid, uint32_t *tid)
{
	const struct run *t = d->flow ? flow_thread(d->flow) : NULL;

	if (!t)
		return -1;
	*pid = t->pid;
	*tid = t->tid;
	return 0;
}

DECODE_API uint64_t auxtrace_decoder_time(const struct auxtrace_decoder *d)
{
	return d->flow ? decoder_ns(d, d->flow->tsc) : 0;
}

DECODE_API void auxtrace_decoder_name(struct auxtrace_decoder *d, uint64_t ip, const char **function, uint64_t *offset,
				      const char **object)
{
	struct code_name name = { .offset = ip };

	if (d->flow)
		code_name(d->replay.code, d->flow->cr3, d->flow->tsc, ip, &name);
	*function = name.function;
	*offset = name.offset;
	*object = name.object;
}
