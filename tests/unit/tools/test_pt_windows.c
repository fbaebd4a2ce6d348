// SPDX-License-Identifier: GPL-2.0-only
/* Which window a PSB begins, what number it has, and what a cut packet takes with it. */
#include "made.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/auxtrace.h>

#include "packets.h"

static void windows_have_the_kernel_s_numbers(void **state)
{
	const struct result *r;

	(void)state;
	line("# cpu 0");
	for (int i = 1; i <= 3; i++) {
		window_packets(1000 * i);
		expect_window(i);
		/* A short stop is none. */
		if (i == 2) {
			ip_packet(ppt_tip_pge, IRQ);
			ip_packet(ppt_fup, IRQ + 1);
			suppressed(ppt_tip_pgd);
			line("# enable %016llx", IRQ);
			insn(IRQ, 1);
			line("# disable -");
		}
	}
	finish(BOTH, "windows 3");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "3 windows");
}

static void one_window_can_be_asked_for(void **state)
{
	const struct result *r;

	(void)state;
	for (int i = 1; i <= 4; i++)
		window_packets(1000 * i);
	finish(BOTH, "windows 4");
	line("# cpu 0");
	expect_window(3);
	r = script("--insn --window 3");
	expect_flow(r);
	expect_part(r->err, "1 instructions in 1 windows");
	r = script("--insn --window 4");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 4\n");
	r = script("--insn --window 5");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "window 5 is not in ");
}

static void a_cut_packet_takes_no_window_with_it(void **state)
{
	(void)state;
	line("# cpu 0");
	expect_window(2);
	for (const struct cut_packet *cut = cut_packets; cut->size; cut++)
		for (size_t rest = 1; rest < cut->size; rest++) {
			const struct result *r;
			char text[128];

			begin_trace();
			window_packets(1000);
			raw(cut->bytes, rest);
			window_packets(2000);
			window_packets(3000);
			/* Without records: by counting. */
			finish(BOTH, "windows 3");
			r = script("--insn --window 2");
			expect_flow(r);
			assert_int_equal(r->status, 0);
			r = script("--insn");
			expect_part(r->out, "# window 1\n");
			expect_part(r->out, "# window 2\n# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
			expect_part(r->out, "# window 3\n# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
			expect_part(r->err, "decode errors: 1");
			snprintf(text, sizeof(text), "dump %s", dir);
			r = run_auxtrace(text);
			assert_null(strstr(r->out, "1844674"));
		}
}

/* An area may be full behind a whole PSB, too. */
static void a_psb_without_a_window_is_one(void **state)
{
	const struct result *r;

	(void)state;
	window_packets(1000);
	raw(cut_packets->bytes, cut_packets->size);
	window_packets(2000);
	finish(BOTH, "windows 3");
	r = script("--insn --window 3");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 3\n# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
}

/* However often it goes wrong: each PSB is tried once. */
static void behind_damage_decoding_goes_on(void **state)
{
	static const uint8_t unknown = 0x02;
	const struct result *r;

	(void)state;
	for (int i = 0; i < 100; i++) {
		plain(ppt_psb);
		raw(&unknown, 1);
	}
	window_packets(1000);
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_part(r->out, "# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
}

static void an_overwrite_recording_counts_windows_back_from_the_newest(void **state)
{
	const struct result *r;
	char cpu[128];
	uint64_t newest;

	(void)state;
	/* The end of some packet, and the rest of window 6: a PSB in its middle. */
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	psb(CR3, 500, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	window_packets(1000);
	newest = window_packets(2000);
	snprintf(cpu, sizeof(cpu), "begin 5000 overwritten 5000 windows 8 window_begin %" PRIu64, 5000 + newest);
	finish(BOTH | AUXTRACE_SETUP_OVERWRITE, cpu);
	line("# cpu 0");
	expect_window(6);
	expect_window(7);
	expect_window(8);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "8 bytes before the first PSB cannot be decoded");
}

static void a_user_trace_does_not_guess_window_numbers(void **state)
{
	const struct result *r;

	(void)state;
	/* A PSB during a system call looks like a window's begin. */
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	psb(0, 2000, 0);
	ip_packet(ppt_tip_pge, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1 window_begin 0");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "2 window starts in the trace, the kernel counted 1");
	expect_part(r->out, "# window 1\n");
	expect_part(r->out, "# window ?\n");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(windows_have_the_kernel_s_numbers),
		t(one_window_can_be_asked_for),
		t(a_cut_packet_takes_no_window_with_it),
		t(a_psb_without_a_window_is_one),
		t(behind_damage_decoding_goes_on),
		t(an_overwrite_recording_counts_windows_back_from_the_newest),
		t(a_user_trace_does_not_guess_window_numbers),
	};

	return cmocka_run_group_tests_name("pt_windows", tests, NULL, NULL);
}
