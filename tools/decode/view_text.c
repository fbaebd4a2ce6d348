// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "view_text.h"

void text_time(bool known, uint64_t ns)
{
	char when[32] = "-";

	if (known)
		snprintf(when, sizeof(when), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	printf("%18s", when);
}

void text_thread(const struct flow *f)
{
	const struct run *t = flow_thread(f);
	char number[32] = "-";
	const char *name;

	name = t ? threads_name(f->threads, t->tid, f->tsc) : NULL;
	if (t && (!t->pid || t->pid == t->tid))
		snprintf(number, sizeof(number), "%u", t->tid);
	else if (t)
		snprintf(number, sizeof(number), "%u/%u", t->pid, t->tid);
	printf(" %-15.15s %-11s", name ?: "-", number);
}

void text_name(uint64_t ip, const struct code_name *name)
{
	if (name->function) {
		fputs(name->function, stdout);
		if (name->offset)
			printf("+%#" PRIx64, name->offset);
	} else {
		printf("%#" PRIx64, ip);
	}
	if (name->object && !(name->function && code_is_kernel(ip)))
		printf(" (%s)", name->object);
}

/* "trigger 3, kprobe:...=resume", "thread 77", or the cause's name. */
static void show_cause(const struct flow *f, uint32_t cause, uint32_t trigger, uint32_t tid)
{
	const char *text = meta_trigger_text(f->meta, trigger);

	if (cause == AUXTRACE_CAUSE_TRIGGER && trigger)
		printf("trigger %u%s%s", trigger, *text ? ", " : "", text);
	else if (cause == AUXTRACE_CAUSE_TASK)
		printf("thread %u", tid);
	else
		fputs(auxtrace_cause_name(cause), stdout);
}

/* If a latency trigger's freeze ended the window: the latency. */
static void show_latency(const struct flow *f, const struct auxtrace_record_window *w)
{
	for (size_t i = 0; i < f->records.nr_freezes; i++) {
		const struct auxtrace_record_trigger *t = &f->records.freeze[i]->trigger;

		if (t->trigger == w->end_trigger && t->position == w->end_position && t->value &&
		    !strncmp(meta_trigger_text(f->meta, t->trigger), "latency:", 8))
			printf(", after %" PRIu64 " ns", (uint64_t)t->value);
	}
}

static void show_causes(const struct flow *f, const struct auxtrace_record_window *w)
{
	fputs("  <", stdout);
	show_cause(f, w->begin_cause, w->begin_trigger, w->begin_tid);
	fputs(" to ", stdout);
	show_cause(f, w->end_cause, w->end_trigger, w->tid);
	show_latency(f, w);
	printf(", %" PRIu64 " bytes, %s>", (uint64_t)(w->end_position - w->begin),
	       records_part(&f->records, w));
}

void text_window(unsigned int cpu, const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);

	if (seq)
		printf("%3u window %" PRIu64, cpu, seq);
	else
		printf("%3u window ?", cpu);
	if (w)
		show_causes(f, w);
	putchar('\n');
}

void text_sample(unsigned int cpu, const struct flow *f, size_t nr, const struct auxtrace_record_sample *s)
{
	const char *text = meta_trigger_text(f->meta, s->trigger);

	printf("%3u sample %zu  <trigger %u%s%s, process %u, %" PRIu64 " bytes", cpu, nr, s->trigger,
	       *text ? ", " : "", text, s->pid, (uint64_t)s->length);
	if (!f->records.bytes[nr - 1])
		printf(", not in the recording");
	if (s->flags & AUXTRACE_SAMPLE_CUT)
		printf(", cut short by %" PRIu64, (uint64_t)(s->wanted - s->length));
	puts(">");
}

void text_overflow(unsigned int cpu)
{
	printf("%3u overflow: the CPU lost packets here\n", cpu);
}

void text_skip(unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	if (f->in_probes)
		printf("%3u skipped: a probed instruction, on the kernel's page at %#" PRIx64 "\n", cpu, ip);
	else if (cr3 == CODE_NO_CR3)
		printf("%3u skipped: code at %#" PRIx64 " that is not in the recording\n", cpu, ip);
	else
		printf("%3u skipped: a process that is not in the recording (CR3 %#" PRIx64 ")\n",
		       cpu, cr3);
}

void text_error(unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	printf("%3u error: %s, at %#" PRIx64 ", offset %#" PRIx64 " of the trace\n", cpu, message,
	       ip, offset);
}
