// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "collector.h"
#include "decode/replay.h"
#include "decode/views.h"

static struct collector *collector_of(struct view *v)
{
	return (struct collector *)v;
}

static void collect_cpu(struct view *v, unsigned int cpu)
{
	(void)v, (void)cpu;
}

static void collect_window(struct view *v, const struct flow *f, uint64_t seq)
{
	(void)v, (void)f, (void)seq;
}

static void collect_sample(struct view *v, const struct flow *f, size_t nr, const struct auxtrace_record_sample *sample)
{
	(void)v, (void)f, (void)nr, (void)sample;
}

static void collect_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	(void)f;
	struct collector *c = collector_of(v);

	if (insn->ip < c->begin || insn->ip >= c->end) {
		c->others++;
		return;
	}
	steps_add(&c->steps, insn->ip);
	steps_add(&c->behind, insn->ip + insn->size);
	c->returns += insn->iclass == ptic_return;
}

static void collect_event(struct view *v, const struct flow *f, const struct cpu_event *event)
{
	(void)f;
	struct collector *c = collector_of(v);

	list_grow(c->event, c->events);
	c->event[c->events++] = *event;
}

static void collect_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)f, (void)ip, (void)known;
	collector_of(v)->overflows++;
}

static void collect_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)f, (void)ip, (void)cr3;
	collector_of(v)->skips++;
}

static void collect_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	(void)f, (void)offset, (void)ip, (void)message;
	collector_of(v)->errors++;
}

static struct view *collector_view(void *collector)
{
	return collector;
}

void collector_free(struct collector *c)
{
	steps_free(&c->steps);
	steps_free(&c->behind);
	free(c->event);
}

bool collector_decode(struct collector *c, const char *dir)
{
	struct replay replay = { .cpu = -1, .samples = c->samples };
	bool decoded;

	c->view = (struct view){
		.cpu = collect_cpu,
		.window = collect_window,
		.sample = collect_sample,
		.enable = no_enable,
		.disable = no_disable,
		.insn = collect_insn,
		.async = no_async,
		.overflow = collect_overflow,
		.skip = collect_skip,
		.error = collect_error,
		.cpu_event = collect_event,
	};
	if (!replay_open(&replay, dir, ""))
		return false;
	decoded = !replay_run(&replay, collector_view, c);
	replay_close(&replay);
	return decoded;
}
