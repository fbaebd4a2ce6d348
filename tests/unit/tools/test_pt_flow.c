// SPDX-License-Identifier: GPL-2.0-only
/* tools/decode/pt_flow.c by auxtrace script: the flow of trace that a test made, instruction for instruction. */
#include "made.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "packets.h"

/* f alone is traced: packets are disabled and enabled within a window, and a PSB comes between. */
static void a_filtered_trace_is_decoded(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	line("# cpu 0");
	for (int i = 0; i < 3; i++) {
		ip_packet(ppt_tip_pge, F);
		if (!i)
			line("# window 1");
		line("# enable %016llx", F);
		tnt(i % 2 ? "!" : ".");
		ip_packet(ppt_tip_pgd, MAIN + 5);
		insn(F, 2);
		insn(F + 2, 2);
		if (i % 2 == 0) {
			insn(F + 4, 1);
			insn(F + 5, 1);
		}
		insn(F + 6, 1);
		line("# disable %016llx", MAIN + 5);
		if (i == 1)
			psb(CR3, 2000, 0);
	}
	/* A range in which tracing stops. */
	plain(ppt_stop);
	write_trace(stream, position(), MACHINE "filter trace 0x401010 0x401016\nfilter stop 0xffffffff81000000 0xffffffff81000fff\n",
		    BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# enable 0000000000401010");
	expect_part(r->err, "2 window starts in the trace, the kernel counted 1: the window numbers are not known (in a trace of some code only");
}

/* Erratum SKL014: the TIP.PGD of a direct call may have no address. The ranges tell where it goes. */
static void a_direct_branch_out_of_a_range_may_have_no_address(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	line("# cpu 0");
	line("# window 1");
	for (int i = 0; i < 2; i++) {
		ip_packet(ppt_tip_pge, MAIN);
		line("# enable %016llx", MAIN);
		suppressed(ppt_tip_pgd);
		insn(MAIN, 5);
		line("# disable -");
	}
	write_trace(stream, position(), MACHINE "filter trace 0x401000 0x401006\n", BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_filter_that_meta_has_not_right_is_told(void **state)
{
	static const char *const wrong[] = {
		"filter trace 0x1\n", "filter start 0x1 0x2\n", "filter trace x 0x2\n",
		"filter stop 1 1\nfilter stop 2 2\nfilter stop 3 3\nfilter stop 4 4\nfilter stop 5 5\n",
	};

	(void)state;
	psb(CR3, 1000, 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct result *r;

		write_trace(stream, position(), wrong[i], BOTH, "windows 1");
		r = script("--insn");
		assert_int_equal(r->status, 1);
		expect_part(r->err, "expected at most 4 filters, each trace or stop with two addresses");
	}
}

/* Another address space is switched to and left while packets are disabled, as with filters. */
static void the_address_space_changes_also_where_packets_are_disabled(void **state)
{
	const struct result *r;

	(void)state;
	write_task("200", OTHER, 0, program_path("prog"), BASE + 0x100000);
	psb(CR3, 1000, 0);
	line("# cpu 0");
	line("# window 1");
	for (int i = 0; i < 4; i++) {
		uint64_t base = i % 2 ? BASE + 0x100000 : BASE;

		if (i)
			pip(i % 2 ? OTHER : CR3);
		ip_packet(ppt_tip_pge, base + 0x1000);
		tnt("!!");
		suppressed(ppt_tip_pgd);
		line("# enable %016" PRIx64, base + 0x1000);
		expect_main(base, true);
		line("# disable -");
	}
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

/* An interrupt that is not traced stops the code within a block. What comes then cannot be. */
static void an_error_names_the_last_instruction_that_ran(void **state)
{
	const struct result *r;
	char error[80];

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, F);
	tnt(".");
	ip_packet(ppt_fup, F + 5);
	suppressed(ppt_tip_pgd);
	ip_packet(ppt_tip, MAIN);
	finish(BOTH, "windows 1");
	r = script("--insn");
	snprintf(error, sizeof(error), "%016llx 1\n# disable -\n# error ", F + 4);
	expect_part(r->out, error);
	snprintf(error, sizeof(error), " %016llx ", F + 4);
	expect_part(r->out, error);
}

/* Also where the decoder goes over several blocks at once, as it does when it knows them. */
static void an_error_behind_several_blocks_names_the_last_instruction(void **state)
{
	const struct result *r;
	char error[80];

	(void)state;
	for (int times = 0; times < 2; times++) {
		psb(CR3, 1000, 0);
		ip_packet(ppt_tip_pge, F);
		/* The return of the second window is compressed to a branch that is not taken. */
		tnt(times ? ".." : ".");
		ip_packet(ppt_tip, MAIN + 5);
		ip_packet(ppt_fup, MAIN + 5);
		suppressed(ppt_tip_pgd);
	}
	finish(BOTH, "windows 2");
	r = script("--errors");
	expect_part(r->err, "10 instructions in 2 windows");
	expect_part(r->err, "decode errors: 1");
	snprintf(error, sizeof(error), " %016llx ", F + 6);
	expect_part(r->out, error);
}

static void user_and_kernel_flow_is_decoded_instruction_for_instruction(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	for (int i = 0; i < 100; i++) {
		tnt(i % 3 ? ".!" : "!!");
		ip_packet(ppt_tip, ENTRY);
		ip_packet(ppt_tip, MAIN + 7);
		expect_main(BASE, i % 3 == 0);
		insn(ENTRY, 1);
		insn(ENTRY + 1, 3);
		insn(MAIN + 7, 2);
	}
	/* An interrupt in f, and the end there. */
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, IRQ);
	insn(MAIN, 5);
	line("# async %016llx %016llx", F, IRQ);
	insn(IRQ, 1);
	insn(IRQ + 1, 2);
	ip_packet(ppt_tip, F);
	ip_packet(ppt_fup, F + 2);
	suppressed(ppt_tip_pgd);
	insn(F, 2);
	line("# disable -");
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "1 windows");
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 0");
	assert_null(strstr(r->err, "kcore.changes"));
	r = script("--errors");
	assert_string_equal(r->out, "# cpu 0\n");
	append("kcore.changes", "");
	assert_null(strstr(script("--errors")->err, "kcore.changes"));
	append("kcore.changes", "patched 0xffffffff81001000 90 cc\ngone 0xffffffffa0000000 0xffffffffa0001000\n");
	expect_part(script("--errors")->err, "the kernel's code changed at 2 places during the recording");
}

/* Context switch to @cr3 from main, and @user returns to user code there. */
static void switch_to(uint64_t cr3, uint64_t user)
{
	ip_packet(ppt_fup, MAIN);
	ip_packet(ppt_tip, SCHED);
	pip(cr3);
	tnt("!");
	ip_packet(ppt_tip, user);
}

static void expect_switch(uint64_t from)
{
	line("# async %016" PRIx64 " %016llx", from, SCHED);
	insn(SCHED, 5);
	insn(SWITCH, 3);
	insn(SWITCH + 3, 1);
	insn(SCHED + 5, 2);
}

static void a_process_that_is_not_recorded_is_skipped_and_the_kernel_is_not(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_to(OTHER, 0x7f0000001234ull);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	expect_switch(MAIN);
	/* It runs for a while: branches, an indirect one, then a system call. */
	tnt("!.!.");
	ip_packet(ppt_tip, 0x7f0000002000ull);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	line("# disable %016llx", 0x7f0000001234ull);
	line("# skip %016llx %llx", 0x7f0000001234ull, OTHER);
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	insn(ENTRY + 1, 3);
	/* Back in it, and an interrupt at once, later one further on. */
	ip_packet(ppt_tip, 0x7f0000003000ull);
	ip_packet(ppt_fup, 0x7f0000003000ull);
	ip_packet(ppt_tip, IRQ);
	line("# async %016llx %016llx", 0x7f0000003000ull, IRQ);
	insn(IRQ, 1);
	insn(IRQ + 1, 2);
	ip_packet(ppt_tip, 0x7f0000003000ull);
	ip_packet(ppt_fup, 0x7f0000003010ull);
	ip_packet(ppt_tip, SCHED);
	pip(CR3);
	tnt("!");
	line("# disable %016llx", 0x7f0000003000ull);
	line("# skip %016llx %llx", 0x7f0000003000ull, OTHER);
	line("# enable %016llx", SCHED);
	insn(SCHED, 5);
	insn(SWITCH, 3);
	insn(SWITCH + 3, 1);
	insn(SCHED + 5, 2);
	ip_packet(ppt_tip, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	expect_main(BASE, true);
	insn(ENTRY, 1);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	line("# disable -");
	finish(BOTH, "windows 1");
	r = script("-i");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 2");
	expect_part(r->err, "skipped 2 times: user code of CR3 0x9000, a process that is not in the recording, or only from later on, the first at 0x7f0000001234");
}

/* Its page tables are those of a process that was recorded later: that one has no code there, so it is another one. */
static void who_had_the_cr3_before_a_process_was_recorded_is_skipped(void **state)
{
	const struct result *r;

	(void)state;
	write_task("200", OTHER, 5000, program_path("prog"), BASE);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_to(OTHER, 0x7f0000001234ull);
	tnt("!.!.");
	ip_packet(ppt_tip, ENTRY);
	/* Where it has the code, it is taken for the same: it may have run before it was recorded. */
	ip_packet(ppt_tip, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# skip 00007f0000001234 9000\n# enable ffffffff81000000\n");
	expect_part(r->out, "\n0000000000401000 ");
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 1");
}

static void a_return_into_a_frame_from_before_a_skip_is_no_error(void **state)
{
	const struct result *r;

	(void)state;
	/* In switch() the kernel changes to a process that is not recorded ... */
	psb(CR3, 1000, SCHED);
	pip(OTHER);
	tnt("!");
	ip_packet(ppt_tip, 0x7f0000001234ull);
	tnt("!");
	/* ... which enters at switch: its RET is predicted, from before the skip. */
	ip_packet(ppt_tip, SWITCH);
	pip(CR3);
	tnt("!");
	psb(CR3, 2000, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# skip 00007f0000001234 9000\n# enable ffffffff81000020\nffffffff81000020 3\n");
	/* It goes on at the next PSB. */
	expect_part(r->out, "# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 2");
}

static void bytes_that_are_no_packets_are_an_error_and_it_goes_on_at_the_next_psb(void **state)
{
	const struct result *r;
	uint64_t at;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	at = position();
	for (int i = 0; i < 4; i++)
		plain(ppt_pad);
	stream[at] = 0x02;
	stream[at + 1] = 0x0b;	/* no such extended opcode */
	psb(CR3, 2000, ENTRY);
	ip_packet(ppt_tip, MAIN);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "\n# error ");
	expect_part(r->out, "# enable ffffffff81000000\nffffffff81000000 1\nffffffff81000001 3\n# disable -\n");
	expect_part(r->err, "decode errors: 1;");
	r = script("--errors");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "# error ");
	r = script("");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "  0 error: ");
}

static void a_flow_that_went_into_an_endless_loop_is_an_error_and_ends(void **state)
{
	const struct result *r;
	char sum[100];

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, TRAP);
	tnt("!!");
	psb(CR3, 2000, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--errors");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "the flow goes on and on without a packet");
	expect_part(r->err, "decode errors: 1;");
	snprintf(sum, sizeof(sum), "%.*s", (int)strcspn(r->err, ";"), r->err);
	r = script("--insn");
	expect_part(r->out, "# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
	/* As many, whether the view has the blocks one by one or not. */
	expect_part(r->err, sum);
}

/* perf goes from TIP to TIP then, and does not walk the code. */
static void without_tnt_packets_no_flow_is_decoded(void **state)
{
	const struct result *r;
	char text[300];

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	ip_packet(ppt_tip, F);
	write_trace(stream, position(), "config 0x80000000000400\n", BOTH, "windows 1");
	r = script("");
	assert_int_equal(r->status, 1);
	assert_string_equal(r->out, "");
	expect_part(r->err, "was recorded without TNT packets (--config notnt)");
	expect_part(r->err, "auxtrace dump shows its packets");
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  tip ");
}

static void an_overflow_is_shown_and_counted(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	plain(ppt_ovf);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_fup, F + 2);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	line("# disable -");
	line("# overflow %016llx", F);
	line("# enable %016llx", F);
	insn(F, 2);
	line("# disable -");
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "decode errors: 0; overflows: 1;");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_filtered_trace_is_decoded),
		t(a_direct_branch_out_of_a_range_may_have_no_address),
		t(a_filter_that_meta_has_not_right_is_told),
		t(the_address_space_changes_also_where_packets_are_disabled),
		t(an_error_names_the_last_instruction_that_ran),
		t(an_error_behind_several_blocks_names_the_last_instruction),
		t(user_and_kernel_flow_is_decoded_instruction_for_instruction),
		t(a_process_that_is_not_recorded_is_skipped_and_the_kernel_is_not),
		t(who_had_the_cr3_before_a_process_was_recorded_is_skipped),
		t(a_return_into_a_frame_from_before_a_skip_is_no_error),
		t(bytes_that_are_no_packets_are_an_error_and_it_goes_on_at_the_next_psb),
		t(a_flow_that_went_into_an_endless_loop_is_an_error_and_ends),
		t(without_tnt_packets_no_flow_is_decoded),
		t(an_overflow_is_shown_and_counted),
	};

	return cmocka_run_group_tests_name("pt_flow", tests, NULL, NULL);
}
