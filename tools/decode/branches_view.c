// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * BTS records, one a line: time, source, target, and what was executed since the previous
 * branch. auxtrace-script(1) specifies the format.
 */
#include <inttypes.h>
#include <stdio.h>

#include "view_text.h"
#include "views.h"

/* Bit 4 of a record's flags; only old CPUs set it. */
#define PREDICTED	(1ull << 4)

struct branches_view {
	struct view view;
	unsigned int cpu;
};

static unsigned int cpu_of(const struct view *v)
{
	return ((const struct branches_view *)v)->cpu;
}

static void show_bound(const struct flow *f, uint64_t tsc)
{
	uint64_t ns = 0;
	bool known = tsc && flow_clock(f, tsc, &ns);

	text_time(stdout, known, ns);
}

static void show_place(const struct flow *f, uint64_t tsc, uint64_t ip)
{
	struct code_name name;

	code_name(f->code, CODE_NO_CR3, tsc, ip, &name);
	text_name(stdout, ip, &name);
}

static void branches_branch(struct view *v, const struct flow *f, const struct branch *b)
{
	printf("%3u ", cpu_of(v));
	show_bound(f, b->after);
	show_bound(f, b->before);
	fputs("  ", stdout);
	if (b->from)
		show_place(f, b->after, b->from);
	else
		putchar('-');
	fputs(" -> ", stdout);
	show_place(f, b->after, b->to);
	if (b->walked)
		printf("  %" PRIu64 " instructions, %" PRIu64 " bytes", b->instructions, b->bytes);
	if (b->async)
		fputs("  <interrupt>", stdout);
	if (b->flags & PREDICTED)
		fputs("  <predicted>", stdout);
	if (b->flags & ~PREDICTED)
		printf("  <flags %#" PRIx64 ">", (uint64_t)(b->flags & ~PREDICTED));
	putchar('\n');
}

static void branches_cpu(struct view *v, unsigned int cpu)
{
	((struct branches_view *)v)->cpu = cpu;
}

static void branches_window(struct view *v, const struct flow *f, uint64_t seq)
{
	text_window(stdout, cpu_of(v), f, seq);
}

static void branches_sample(struct view *v, const struct flow *f, size_t nr,
			    const struct auxtrace_record_sample *s)
{
	text_sample(stdout, cpu_of(v), f, nr, s);
}

static void branches_overflow(struct view *v, const struct flow *f, uint64_t ip, bool known)
{
	(void)f, (void)ip, (void)known;
	text_overflow(stdout, cpu_of(v));
}

static void branches_skip(struct view *v, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	text_skip(stdout, cpu_of(v), f, ip, cr3);
}

static void branches_error(struct view *v, const struct flow *f, uint64_t offset, uint64_t ip,
			   const char *message)
{
	(void)f;
	text_error(stdout, cpu_of(v), offset, ip, message);
}

struct view *branches_view(void)
{
	static struct branches_view branches = {
		.view = {
			.cpu = branches_cpu,
			.window = branches_window,
			.sample = branches_sample,
			.enable = no_enable,
			.disable = no_disable,
			.insn = no_insn,
			.async = no_async,
			.overflow = branches_overflow,
			.skip = branches_skip,
			.error = branches_error,
			.branch = branches_branch,
		},
	};

	return &branches.view;
}
