// SPDX-License-Identifier: LGPL-2.1-or-later
/* Views for programs: instructions, or errors only. auxtrace-script(1) specifies the formats. */
#include <inttypes.h>
#include <stdio.h>

#include "views.h"

static void show_cpu(struct view *v, unsigned int cpu)
{
	(void)v;
	printf("# cpu %u\n", cpu);
}

static void show_thread(struct view *v, const struct flow *f)
{
	const struct run *t = flow_thread(f);

	(void)v;
	if (t)
		printf("# thread %u %u\n", t->pid, t->tid);
	else
		puts("# thread -");
}

static void show_window(struct view *v, const struct flow *f, uint64_t seq)
{
	(void)v, (void)f;
	if (seq)
		printf("# window %" PRIu64 "\n", seq);
	else
		puts("# window ?");
}

static void show_sample(struct view *v, const struct flow *f, size_t nr,
			const struct auxtrace_record_sample *s)
{
	(void)v, (void)f;
	printf("# sample %zu %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", nr, s->trigger, (uint64_t)s->aux_end,
	       (uint64_t)s->length, (uint64_t)s->wanted);
}

static void show_ip(const char *event, uint64_t ip, bool known)
{
	if (known)
		printf("# %s %016" PRIx64 "\n", event, ip);
	else
		printf("# %s -\n", event);
}

static void show_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	(void)v, (void)f;
	show_ip("enable", ip, true);
}

static void show_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)v, (void)f;
	show_ip("disable", ip, known);
}

static void show_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)v, (void)f;
	show_ip("overflow", ip, known);
}

static void show_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	(void)v, (void)f;
	printf("# async %016" PRIx64, from);
	if (known)
		printf(" %016" PRIx64 "\n", to);
	else
		puts(" -");
}

static void show_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	(void)v, (void)f;
	if (cr3 == CODE_NO_CR3)
		printf("# skip %016" PRIx64 " -\n", ip);
	else
		printf("# skip %016" PRIx64 " %" PRIx64 "\n", ip, cr3);
}

static void show_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
		       const char *message)
{
	(void)v, (void)f;
	printf("# error %" PRIx64 " %016" PRIx64 " %s\n", offset, ip, message);
}

static void show_cfe(const struct cpu_event *e)
{
	printf("# cfe %u %u", e->type, e->vector);
	if (e->known)
		printf(" %016" PRIx64, e->ip);
	else
		fputs(" -", stdout);
	for (unsigned int i = 0; i < e->nr_data; i++)
		printf(" %u %" PRIx64, e->data[i].type, e->data[i].value);
	putchar('\n');
}

static void show_cpu_event(struct view *v, const struct flow *f, const struct cpu_event *e)
{
	(void)v, (void)f;
	switch (e->what) {
	case CPU_NOTHING:
		break;
	case CPU_MWAIT:
		printf("# mwait %x %x\n", e->hints, e->extensions);
		break;
	case CPU_PWRE:
		printf("# pwre %u %u %u\n", e->hw, e->state, e->sub_state);
		break;
	case CPU_EXSTOP:
		show_ip("exstop", e->ip, e->known);
		break;
	case CPU_PWRX:
		printf("# pwrx %u %u %x\n", e->deepest, e->last, e->reason);
		break;
	case CPU_CFE:
		show_cfe(e);
		break;
	case CPU_PTWRITE:
		printf("# ptwrite %" PRIx64, e->payload);
		if (e->known)
			printf(" %016" PRIx64 "\n", e->ip);
		else
			puts(" -");
		break;
	case CPU_IFLAG:
		show_ip(e->iflag ? "iflag 1" : "iflag 0", e->ip, e->known);
		break;
	}
}

/* Formatted by hand: this runs for each of millions of instructions. */
static void show_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	static const char digits[] = "0123456789abcdef";
	char line[20];

	(void)v, (void)f;
	for (int i = 0; i < 16; i++)
		line[i] = digits[insn->ip >> (60 - 4 * i) & 0xf];
	line[16] = ' ';
	line[17] = digits[insn->size & 0xf];
	line[18] = '\n';
	fwrite_unlocked(line, 1, 19, stdout);
}

static void no_block(struct view *v, const struct flow *f, const struct code_block *block, unsigned int count)
{
	(void)v, (void)f, (void)block, (void)count;
}

static void no_window(struct view *v, const struct flow *f, uint64_t seq)
{
	(void)v, (void)f, (void)seq;
}

static void no_sample(struct view *v, const struct flow *f, size_t nr,
		      const struct auxtrace_record_sample *s)
{
	(void)v, (void)f, (void)nr, (void)s;
}

void no_enable(struct view *v, const struct flow *f, uint64_t ip)
{
	(void)v, (void)f, (void)ip;
}

void no_disable(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)v, (void)f, (void)ip, (void)known;
}

void no_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known)
{
	(void)v, (void)f, (void)from, (void)to, (void)known;
}

void no_insn(struct view *v, const struct flow *f, const struct pt_insn *insn)
{
	(void)v, (void)f, (void)insn;
}

struct view *insn_view(void)
{
	static struct view view = {
		.cpu = show_cpu,
		.thread = show_thread,
		.window = show_window,
		.sample = show_sample,
		.enable = show_enable,
		.disable = show_disable,
		.insn = show_insn,
		.async = show_async,
		.overflow = show_overflow,
		.skip = show_skip,
		.error = show_error,
		.cpu_event = show_cpu_event,
	};

	return &view;
}

struct view *errors_view(void)
{
	static struct view view = {
		.cpu = show_cpu,
		.window = no_window,
		.sample = no_sample,
		.enable = no_enable,
		.disable = no_disable,
		.insn = no_insn,
		.block = no_block,
		.no_code = true,
		.async = no_async,
		.overflow = show_overflow,
		.skip = show_skip,
		.error = show_error,
	};

	return &view;
}
