// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/terminal.h"
#include "lib/tool.h"
#include "trigger/syscalls.h"
#include "view_text.h"

void text_time(FILE *out, bool known, uint64_t ns)
{
	char when[32] = "-";

	if (known)
		snprintf(when, sizeof(when), "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	fprintf(out, "%18s", when);
}

void text_run(FILE *out, const struct run *t, const char *name)
{
	char number[32] = "-", plain[16];

	if (t && (!t->pid || t->pid == t->tid))
		snprintf(number, sizeof(number), "%u", t->tid);
	else if (t)
		snprintf(number, sizeof(number), "%u/%u", t->pid, t->tid);
	snprintf(plain, sizeof(plain), "%s", name ?: "-");
	make_plain(plain);
	fprintf(out, " %-15s %-11s", plain, number);
}

void text_name(FILE *out, uint64_t ip, const struct code_name *name)
{
	if (name->function) {
		print_plain(out, name->function);
		if (name->offset)
			fprintf(out, "+%#" PRIx64, name->offset);
	} else {
		fprintf(out, "%#" PRIx64, ip);
	}
	if (name->object && !(name->function && code_is_kernel(ip))) {
		fputs(" (", out);
		print_plain(out, name->object);
		putc(')', out);
	}
}

/* "trigger 3, kprobe:...=resume", "thread 77", or the cause's name. */
static void show_cause(FILE *out, const struct flow *f, uint32_t cause, uint32_t trigger, uint32_t tid)
{
	const char *text = meta_trigger_text(f->meta, trigger);

	if (cause == AUXTRACE_CAUSE_TRIGGER && trigger)
		fprintf(out, "trigger %u%s%s", trigger, *text ? ", " : "", text);
	else if (cause == AUXTRACE_CAUSE_TASK)
		fprintf(out, "thread %u", tid);
	else
		fputs(auxtrace_cause_name(cause), out);
}

/*
 * Is the value that of the hit? A CPU that follows a hit on another one has a record with the value 0: where others
 * follow, a 0 says nothing.
 */
static bool is_own(const struct auxtrace_record_trigger *t, const char *text)
{
	return t->value || (t->action != AUXTRACE_ACTION_FREEZE && !strstr(text, ",all-cpus"));
}

/* "newuname = -14 EFAULT"; @name: NAME:exit=..., as --on has it. */
static void show_result(FILE *out, const char *name, uint64_t value)
{
	const char *error = syscall_error(value);
	int length = strcspn(name, ":");

	if (*name == '*' || isdigit((unsigned char)*name))
		fputs(", result = ", out);
	else
		fprintf(out, ", %.*s = ", length, name);
	if (value > UINT32_MAX && value < UINT64_MAX - UINT32_MAX)	/* an address */
		fprintf(out, "%#" PRIx64, value);
	else
		fprintf(out, "%" PRId64, (int64_t)value);
	if (error)
		fprintf(out, " %s", error);
}

/* What the trigger that began or ended a window there and then tells of its event: a latency, or a system call's result. */
static void show_value(FILE *out, const struct flow *f, uint32_t trigger, uint64_t position, uint64_t tsc)
{
	const struct auxtrace_record_trigger *t = trigger ? records_trigger(&f->records, trigger, position, tsc) : NULL;
	const char *text = meta_trigger_text(f->meta, trigger);

	if (!t || !is_own(t, text))
		return;
	if (!strncmp(text, "latency:", 8) && t->value)
		fprintf(out, ", after %" PRIu64 " ns", (uint64_t)t->value);
	else if (!strncmp(text, "syscall:", 8) && strstr(text, ":exit="))
		show_result(out, text + 8, t->value);
}

static void show_end(FILE *out, const struct flow *f, const struct auxtrace_record_window *w)
{
	show_cause(out, f, w->end_cause, w->end_trigger, w->tid);
	show_value(out, f, w->end_trigger, w->end_position, w->end_time);
}

static void show_causes(FILE *out, const struct flow *f, const struct auxtrace_record_window *w)
{
	fputs("  <", out);
	show_cause(out, f, w->begin_cause, w->begin_trigger, w->begin_tid);
	show_value(out, f, w->begin_trigger, w->begin, w->begin_time);
	fputs(" to ", out);
	show_end(out, f, w);
	fprintf(out, ", %" PRIu64 " bytes, %s>", (uint64_t)(w->end_position - w->begin),
	       records_part(&f->records, w));
}

void text_window(FILE *out, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);

	if (seq)
		fprintf(out, "%s%3u window %" PRIu64, style(STYLE_HEADING), cpu, seq);
	else
		fprintf(out, "%s%3u window ?", style(STYLE_HEADING), cpu);
	if (w)
		show_causes(out, f, w);
	fprintf(out, "%s\n", style(STYLE_PLAIN));
}

char *window_text(unsigned int cpu, const struct flow *f, uint64_t seq)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		out_of_memory();
	text_window(out, cpu, f, seq);
	if (fclose(out))
		out_of_memory();
	text[strcspn(text, "\n")] = 0;
	return text;
}

char *window_end_text(const struct flow *f, const struct auxtrace_record_window *w)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		out_of_memory();
	fprintf(out, "window %" PRIu64 " ends: ", (uint64_t)w->window);
	show_end(out, f, w);
	if (fclose(out))
		out_of_memory();
	return text;
}

void text_sample(FILE *out, unsigned int cpu, const struct flow *f, size_t nr, const struct auxtrace_record_sample *s)
{
	const char *text = meta_trigger_text(f->meta, s->trigger);

	fprintf(out, "%s%3u sample %zu  <trigger %u%s%s, process %u, %" PRIu64 " bytes", style(STYLE_HEADING), cpu, nr, s->trigger,
	       *text ? ", " : "", text, s->pid, (uint64_t)s->length);
	if (!f->records.bytes[nr - 1])
		fprintf(out, ", not in the recording");
	if (s->flags & AUXTRACE_SAMPLE_CUT)
		fprintf(out, ", cut short by %" PRIu64, (uint64_t)(s->wanted - s->length));
	fprintf(out, ">%s\n", style(STYLE_PLAIN));
}

static void text_cfe(FILE *out, const struct cpu_event *e)
{
	static const char *const types[] = {
		NULL, "INTR", "IRET", "SMI", "RSM", "SIPI", "INIT", "VMENTRY", "VMEXIT", "VMEXIT_INTR", "SHUTDOWN", NULL,
		"UINTR", "UIRET",
	};
	static const char *const data[] = { "PFA", "VMXQ", "VMXR" };

	fputs("evt: cfe: ", out);
	if (e->type < ARRAY_SIZE(types) && types[e->type])
		fputs(types[e->type], out);
	else
		fprintf(out, "%u", e->type);
	fprintf(out, " IP: %u vector: %u", e->known, e->vector);
	for (unsigned int i = 0; i < e->nr_data; i++)
		if (e->data[i].type < ARRAY_SIZE(data))
			fprintf(out, " %s: %#" PRIx64, data[e->data[i].type], e->data[i].value);
		else
			fprintf(out, " EVD_%u: %#" PRIx64, e->data[i].type, e->data[i].value);
	putc('\n', out);
}

void text_cpu_event(FILE *out, unsigned int cpu, bool timed, uint64_t ns, const struct cpu_event *e)
{
	fprintf(out, "%s%3u ", style(STYLE_FAINT), cpu);
	text_time(out, timed, ns);
	fprintf(out, "%s ", style(STYLE_PLAIN));
	switch (e->what) {
	case CPU_NOTHING:
		break;
	case CPU_MWAIT:
		fprintf(out, "mwait: hints: %#x extensions: %#x\n", e->hints, e->extensions);
		break;
	case CPU_PWRE:
		fprintf(out, "pwre: hw: %u cstate: %u sub-cstate: %u\n", e->hw, e->state, e->sub_state);
		break;
	case CPU_EXSTOP:
		fprintf(out, "exstop: ip: %u\n", e->known);
		break;
	case CPU_PWRX:
		fprintf(out, "pwrx: deepest cstate: %u last cstate: %u wake reason: %#x\n", e->deepest, e->last,
			e->reason);
		break;
	case CPU_CFE:
		text_cfe(out, e);
		break;
	case CPU_PTWRITE:
		fprintf(out, "ptwrite: IP: %u payload: %#" PRIx64 "\n", e->known, e->payload);
		break;
	case CPU_IFLAG:
		fprintf(out, "iflag: IFLAG: %u->%u %s branch\n", !e->iflag, e->iflag, e->known ? "non" : "via");
		break;
	}
}

void text_overflow(FILE *out, unsigned int cpu)
{
	fprintf(out, "%s%3u overflow: the CPU lost packets here%s\n", style(STYLE_BAD), cpu, style(STYLE_PLAIN));
}

void text_skip(FILE *out, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	if (f->in_probes)
		fprintf(out, "%3u skipped: a probed instruction, on the kernel's page at %#" PRIx64 "\n", cpu, ip);
	else if (cr3 == CODE_NO_CR3)
		fprintf(out, "%3u skipped: code at %#" PRIx64 " that is not in the recording\n", cpu, ip);
	else
		fprintf(out, "%3u skipped: a process that is not in the recording, or only from later on (CR3 %#" PRIx64 ")\n",
		       cpu, cr3);
}

void text_error(FILE *out, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	fprintf(out, "%s%3u error: %s, at %#" PRIx64 ", offset %#" PRIx64 " of the trace%s\n", style(STYLE_BAD), cpu,
		message, ip, offset, style(STYLE_PLAIN));
}
