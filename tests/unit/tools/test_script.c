// SPDX-License-Identifier: GPL-2.0-only
/*
 * auxtrace script and dump on recordings made here: packets by libipt's encoder,
 * over a few bytes of code whose flow is plain to see.
 */
#include "made.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "packets.h"

#define BOTH (AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

/* ---- tests -------------------------------------------------------------- */

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

/*
 * HLT at ENTRY, for a second; then MWAIT at IRQ, with a wake at once. From 2.2 on, libipt tells of a PWRE
 * when the CPU wakes: behind the EXSTOP.
 */
static void sleep_in_the_kernel(void)
{
	packet(&(struct pt_packet){ .type = ppt_pwre, .payload.pwre = { .state = 2, .sub_state = 1, .hw = 1 } });
	packet(&(struct pt_packet){ .type = ppt_exstop, .payload.exstop.ip = 1 });
	ip_packet(ppt_fup, ENTRY);
	tsc(1000001000);
	packet(&(struct pt_packet){ .type = ppt_pwrx,
				    .payload.pwrx = { .last = 1, .deepest = 2, .interrupt = 1, .store = 1, .autonomous = 1 } });
	ip_packet(ppt_fup, ENTRY + 1);
	ip_packet(ppt_tip, IRQ);
	packet(&(struct pt_packet){ .type = ppt_mwait, .payload.mwait = { .hints = 0x60, .ext = 1 } });
	packet(&(struct pt_packet){ .type = ppt_pwre });
	packet(&(struct pt_packet){ .type = ppt_exstop, .payload.exstop.ip = 1 });
	ip_packet(ppt_fup, IRQ);
	packet(&(struct pt_packet){ .type = ppt_pwrx, .payload.pwrx = { .store = 1 } });
}

static void the_cpu_sleeps_and_wakes(void **state)
{
	const char *first = "  0        1.000001000 pwre: hw: 1 cstate: 2 sub-cstate: 1\n";
	bool late = libipt_version() >= 202;
	const struct result *r;
	char text[300];

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, ENTRY);
	sleep_in_the_kernel();
	ip_packet(ppt_fup, IRQ + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", ENTRY);
	if (!late)
		line("# pwre 1 2 1");
	line("# exstop %016llx", ENTRY);
	if (late)
		line("# pwre 1 2 1");
	line("# pwrx 2 1 d");
	insn(ENTRY, 1);
	line("# async %016llx %016llx", ENTRY + 1, IRQ);
	/* MWAIT, like EXSTOP, is of the instruction whose address follows. */
	if (!late)
		line("# pwre 0 0 0");
	line("# mwait 60 1");
	line("# exstop %016llx", IRQ);
	if (late)
		line("# pwre 0 0 0");
	line("# pwrx 0 0 4");
	insn(IRQ, 1);
	line("# disable -");
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	r = script("");
	/* The wake is a second later; in between nothing ran. */
	snprintf(text, sizeof(text), "%s  0        1.000001000 exstop: ip: 1\n%s"
		 "  0        2.000001000 pwrx: deepest cstate: 2 last cstate: 1 wake reason: 0xd\n",
		 late ? "" : first, late ? first : "");
	expect_part(r->out, text);
	expect_part(r->out, "  0        2.000001000 pwre: hw: 0 cstate: 0 sub-cstate: 0\n");
	expect_part(r->out, "  0        2.000001000 mwait: hints: 0x60 extensions: 0x1\n"
			    "  0        2.000001000 exstop: ip: 1\n");
	/* They are of a CPU: no thread or function has them, but a part in time. */
	r = script("--tid 1");
	assert_null(strstr(r->out, "pwre"));
	r = script("--function entry");
	assert_null(strstr(r->out, "pwre"));
	r = script("--time 1.5,3");
	assert_null(strstr(r->out, "cstate: 2 sub-cstate"));
	expect_part(r->out, "pwrx: deepest cstate: 2");
	r = script("--time 1,1.5");
	expect_part(r->out, "pwre: hw: 1");
	assert_null(strstr(r->out, "pwrx"));
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	expect_part(r->out, "  pwre     cstate=2 sub-cstate=1 hw\n");
	expect_part(r->out, "  exstop   ip=1\n");
	expect_part(r->out, "  pwrx     last=1 deepest=2 interrupt store hw\n");
	expect_part(r->out, "  mwait    hints=60 ext=1\n");
}

#define EVENTS	"config 0x80000400\n"

/* Packets of event trace as the CPU writes them: libipt before 2.1 does not know them. */
static void cfe(uint8_t type, uint8_t vector, bool fup)
{
	const uint8_t packet[] = { 0x02, 0x13, fup << 7 | type, vector };

	raw(packet, sizeof(packet));
}

static void evd(uint8_t type, uint64_t value)
{
	uint8_t packet[11] = { 0x02, 0x53, type };

	memcpy(packet + 3, &value, sizeof(value));
	raw(packet, sizeof(packet));
}

static void mode_exec(bool iflag)
{
	const uint8_t packet[] = { 0x99, 0x01 | iflag << 2 };

	raw(packet, sizeof(packet));
}

/* A page fault of user code, with an STI in its handler, and the return. */
static void fault_and_return(void)
{
	mode_exec(true);
	ip_packet(ppt_tip_pge, MAIN);
	evd(0, 0xabc);
	cfe(1, 14, false);
	ip_packet(ppt_fup, F);
	mode_exec(false);
	ip_packet(ppt_tip, FAULT);
	/* STI is the nop. */
	mode_exec(true);
	ip_packet(ppt_fup, FAULT);
	cfe(2, 0, true);
	ip_packet(ppt_fup, FAULT + 1);
	ip_packet(ppt_tip, F);
	tnt("!");
}

static void expect_fault_and_return(void)
{
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	line("# iflag 1 -");
	insn(MAIN, 5);
	line("# cfe 1 14 %016llx 0 abc", F);
	line("# async %016llx %016llx", F, FAULT);
	line("# iflag 0 -");
	line("# iflag 1 %016llx", FAULT);
	insn(FAULT, 1);
	line("# cfe 2 0 %016llx", FAULT + 1);
	insn(FAULT + 1, 2);
	insn(F, 2);
	insn(F + 2, 2);
	insn(F + 6, 1);
}

/* The flow has neither a gap nor an interrupt more for them, and each is where it happens. */
static void events_are_in_the_flow(void **state)
{
	const struct result *r;
	char text[300];

	(void)state;
	psb(CR3, 1000, 0);
	fault_and_return();
	ip_packet(ppt_tip_pgd, MAIN + 5);
	expect_fault_and_return();
	line("# disable %016llx", MAIN + 5);
	write_trace(stream, position(), EVENTS, BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	r = script("");
	expect_part(r->out, "  0        1.000001000 evt: cfe: INTR IP: 1 vector: 14 PFA: 0xabc\n");
	expect_part(r->out, "  0        1.000001000 iflag: IFLAG: 1->0 via branch\n");
	expect_part(r->out, "  0        1.000001000 iflag: IFLAG: 0->1 non branch\n");
	expect_part(r->out, "  0        1.000001000 evt: cfe: IRET IP: 1 vector: 0\n");
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  evd      cr2=abc\n");
	expect_part(r->out, "  cfe      intr vector=14\n");
	expect_part(r->out, "  cfe      iret vector=0 ip\n");
	expect_part(r->out, "  mode     exec csl=1 csd=0 if\n");
	expect_part(r->out, "  mode     exec csl=1 csd=0\n");
}

/*
 * The FUP of an event is what later addresses are compressed against. Here it is in the kernel, and the next TIP has
 * 16 bits of it.
 */
static void an_event_moves_the_last_ip(void **state)
{
	static const uint8_t tip16[] = { 0x2d, 0x10, 0x00 };
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	mode_exec(true);
	ip_packet(ppt_tip_pge, ENTRY);
	cfe(2, 0, true);
	ip_packet(ppt_fup, ENTRY + 1);
	raw(tip16, sizeof(tip16));
	ip_packet(ppt_fup, IRQ + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", ENTRY);
	line("# iflag 1 -");
	insn(ENTRY, 1);
	line("# cfe 2 0 %016llx", ENTRY + 1);
	insn(ENTRY + 1, 3);
	insn(IRQ, 1);
	line("# disable -");
	write_trace(stream, position(), EVENTS, BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

/* EXSTOPs that the CPU wrote are told, those that stand for events are not. */
static void events_and_sleep_keep_apart(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	mode_exec(false);
	ip_packet(ppt_tip_pge, ENTRY);
	mode_exec(true);
	ip_packet(ppt_fup, ENTRY);
	packet(&(struct pt_packet){ .type = ppt_exstop, .payload.exstop.ip = 1 });
	ip_packet(ppt_fup, ENTRY + 1);
	packet(&(struct pt_packet){ .type = ppt_exstop });
	cfe(1, 0x20, false);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", ENTRY);
	line("# iflag 1 %016llx", ENTRY);
	insn(ENTRY, 1);
	line("# exstop %016llx", ENTRY + 1);
	line("# exstop -");
	line("# cfe 1 32 %016llx", ENTRY + 1);
	line("# disable -");
	write_trace(stream, position(), EVENTS, BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

/* Into user code that is traced alone an interrupt's return has no address; what no version knows has its number. */
static void events_without_an_address(void **state)
{
	const struct result *r;
	char text[300];

	(void)state;
	psb(CR3, 1000, 0);
	cfe(2, 0, false);
	mode_exec(true);
	ip_packet(ppt_tip_pge, F + 6);
	evd(1, 0x11);
	evd(0x3f, 0x22);
	cfe(0x1f, 7, false);
	ip_packet(ppt_fup, F + 6);
	suppressed(ppt_tip_pgd);
	write_trace(stream, position(), EVENTS, BOTH, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "evt: cfe: IRET IP: 0 vector: 0\n");
	expect_part(r->out, "evt: cfe: 31 IP: 1 vector: 7 VMXQ: 0x11 EVD_63: 0x22\n");
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	expect_part(r->out, "  evd      vmxq=11\n");
	expect_part(r->out, "  evd      type 63=22\n");
	expect_part(r->out, "  cfe      type 31 vector=7\n");
}

/* A trace may end in the middle of one. */
static void an_event_may_be_cut_off(void **state)
{
	static const uint8_t whole[] = { 0x02, 0x53, 0, 1, 2, 3, 4, 5, 6, 7, 8, 0x02, 0x13, 0x81, 14, 0x3d, 0x10, 0x10 };
	const struct result *r;

	(void)state;
	for (size_t size = 1; size <= sizeof(whole); size++) {
		begin_trace();
		psb(CR3, 1000, 0);
		mode_exec(true);
		ip_packet(ppt_tip_pge, F);
		tnt("!");
		raw(whole, size);
		write_trace(stream, position(), EVENTS, BOTH, "windows 1");
		r = script("--insn");
		expect_part(r->out, "# enable 0000000000401010\n");
	}
}

/* A window: PSB+, on in the kernel, off again. Returns its offset. */
static uint64_t window(uint64_t time)
{
	uint64_t at = position();

	psb(CR3, time, 0);
	ip_packet(ppt_tip_pge, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	return at;
}

static void expect_window(int seq)
{
	line("# window %d", seq);
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	line("# disable -");
}

static void windows_have_the_kernel_s_numbers(void **state)
{
	const struct result *r;

	(void)state;
	line("# cpu 0");
	for (int i = 1; i <= 3; i++) {
		window(1000 * i);
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
		window(1000 * i);
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

/* What the end of a full area may cut: any packet. libipt takes bytes of the next window's PSB for the rest. */
static const struct {
	uint8_t bytes[16], size;
} cut[] = {
	{ { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 }, 16 },
	{ { 0xcd, 1, 2, 3, 4, 5, 6, 7, 0xff }, 9 },	/* TIP */
	{ { 0x02, 0x43, 1, 2, 3, 4, 5, 6 }, 8 },	/* PIP */
	{ { 0x19, 1, 2, 3, 4, 5, 6, 7 }, 8 },		/* TSC */
	{ { 0x02, 0xa3, 1, 2, 3, 4, 5, 0x80 }, 8 },	/* long TNT */
};

static void a_cut_packet_takes_no_window_with_it(void **state)
{
	(void)state;
	line("# cpu 0");
	expect_window(2);
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		for (size_t rest = 1; rest < cut[i].size; rest++) {
			const struct result *r;
			char text[128];

			begin_trace();
			window(1000);
			raw(cut[i].bytes, rest);
			window(2000);
			window(3000);
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
	window(1000);
	raw(cut[0].bytes, cut[0].size);
	window(2000);
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
	window(1000);
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_part(r->out, "# enable ffffffff81000000\nffffffff81000000 1\n# disable -\n");
}

/* A window with events, whose PSB+ has no mode, as packets were disabled there. */
static void event_window(uint64_t time)
{
	plain(ppt_psb);
	tsc(time);
	pip(CR3);
	plain(ppt_psbend);
	mode_exec(true);
	ip_packet(ppt_tip_pge, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
}

/* The events behind a packet that was cut are taken out as well. */
static void a_cut_packet_takes_no_event_with_it(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cut) / sizeof(cut[0]); i++)
		for (size_t rest = 1; rest < cut[i].size; rest++) {
			const struct result *r;

			begin_trace();
			event_window(1000);
			raw(cut[i].bytes, rest);
			psb(CR3, 2000, 0);
			mode_exec(true);
			ip_packet(ppt_tip_pge, ENTRY);
			cfe(2, 0, true);
			ip_packet(ppt_fup, ENTRY + 1);
			ip_packet(ppt_tip, IRQ);
			ip_packet(ppt_fup, IRQ + 1);
			suppressed(ppt_tip_pgd);
			write_trace(stream, position(), EVENTS, BOTH, "windows 2");
			r = script("--insn");
			expect_part(r->out, "# window 2\n# enable ffffffff81000000\n");
			expect_part(r->out, "ffffffff81000000 1\n# cfe 2 0 ffffffff81000001\nffffffff81000001 3\n");
			expect_part(r->err, "decode errors: 1");
		}
}

/* An event's FUP does not say that packets are enabled, though an overflow's would. So the next PSB begins a window. */
static void an_event_behind_an_overflow_enables_nothing(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	mode_exec(true);
	ip_packet(ppt_tip_pge, ENTRY);
	plain(ppt_ovf);
	cfe(2, 0, true);
	ip_packet(ppt_fup, ENTRY + 1);
	event_window(2000);
	write_trace(stream, position(), EVENTS, BOTH, "windows 2");
	r = script("--insn --window 1");
	assert_null(strstr(r->err, "the window numbers are not known"));
}

/* The mode is as before, and yet it must be told again. The end of a full area may have cut the last packet before. */
static void windows_with_events_can_be_asked_for(void **state)
{
	static const struct {
		uint8_t bytes[11], size;
	} packets[] = { { { 0x02, 0x13, 1, 14 }, 4 }, { { 0x02, 0x53, 0, 1, 2, 3, 4, 5, 6, 7, 8 }, 11 }, { { 0x99, 5 }, 2 } };

	(void)state;
	line("# cpu 0");
	line("# window 2");
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	line("# disable -");
	for (size_t i = 0; i < sizeof(packets) / sizeof(packets[0]); i++)
		for (size_t rest = packets[i].size > 2 ? 2 : 1; rest <= packets[i].size; rest++) {
			const struct result *r;

			begin_trace();
			event_window(1000);
			raw(packets[i].bytes, rest);
			event_window(2000);
			write_trace(stream, position(), EVENTS, BOTH, "windows 2");
			r = script("--insn --window 2");
			expect_flow(r);
			assert_int_equal(r->status, 0);
			r = script("--errors");
			expect_part(r->err, "2 instructions in 2 windows");
			expect_part(r->err, "decode errors: 0");
		}
}

/* Of a CFE whose FUP is missing nothing stays that would take the next one. */
static void an_event_without_its_fup_is_no_more(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	mode_exec(true);
	ip_packet(ppt_tip_pge, ENTRY);
	cfe(2, 0, true);
	cfe(1, 0x20, false);
	ip_packet(ppt_fup, ENTRY + 1);
	ip_packet(ppt_tip, IRQ);
	ip_packet(ppt_fup, IRQ + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", ENTRY);
	line("# iflag 1 -");
	line("# cfe 2 0 -");
	insn(ENTRY, 1);
	line("# cfe 1 32 %016llx", ENTRY + 1);
	line("# async %016llx %016llx", ENTRY + 1, IRQ);
	insn(IRQ, 1);
	line("# disable -");
	write_trace(stream, position(), EVENTS, BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
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
	window(1000);
	newest = window(2000);
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

/* ---- records ------------------------------------------------------------ */

#define WINDOW(seq, from, to, why, why_not) {					\
	.header = { .type = AUXTRACE_RECORD_WINDOW,				\
		    .size = sizeof(struct auxtrace_record_window) },		\
	.window = (seq), .begin = (from), .end_position = (to),			\
	.begin_cause = AUXTRACE_CAUSE_ ## why, .end_cause = AUXTRACE_CAUSE_ ## why_not, \
	.begin_pid = 7, .pid = 8, .begin_tid = 9, .tid = 10,			\
	.end = { .time = 0xabc, .size = sizeof(struct auxtrace_record_window) },	\
}

static void records_tell_windows_of_a_user_trace_from_other_psbs(void **state)
{
	struct auxtrace_record_window records[] = {
		WINDOW(3, 0, 0, SESSION, USER),
		WINDOW(4, 0, 0, USER, USER),
	};
	const struct result *r;
	char cpu[128];

	(void)state;
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	/* A PSB during a system call. */
	psb(0, 2000, 0);
	ip_packet(ppt_tip_pge, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	records[0].end_position = records[1].begin = position();
	psb(0, 3000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	records[1].end_position = position();
	/* The one that is open. */
	psb(0, 4000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	write_records(records, sizeof(records));
	snprintf(cpu, sizeof(cpu), "windows 5 window_begin 0 data_read %zu", sizeof(records));
	finish(AUXTRACE_SETUP_USER, cpu);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 3\n");
	expect_part(r->out, "# window 4\n");
	expect_part(r->out, "# window 5\n");
	assert_null(strstr(r->out, "# window ?"));
	assert_null(strstr(r->err, "are not known"));
	expect_part(r->err, " in 3 windows");
	r = script("");
	expect_part(r->out, "  0 window 3  <session to user, ");
	expect_part(r->out, " bytes, whole>\n");
	expect_part(r->out, "  0 window 5\n");
}

/* A snapshot: pad bytes first, a window cut off at the front, one whole, and records of one that is gone. */
static void a_snapshot_s_windows_are_whole_in_part_or_gone(void **state)
{
	struct auxtrace_record_window records[] = {
		WINDOW(5, 4000, 4100, USER, USER),
		WINDOW(6, 4100, 0, USER, FULL),
		WINDOW(7, 0, 0, FULL, SNAPSHOT),
	};
	struct {
		struct auxtrace_record_lost lost;
		struct auxtrace_record_aux aux;
		struct auxtrace_record_itrace_start start;
		struct auxtrace_record_switch preempted, left;
	} more = {
		{ { AUXTRACE_RECORD_LOST, 0, sizeof(more.lost) }, 0, 17, { 0, 0, sizeof(more.lost) } },
		{ { AUXTRACE_RECORD_AUX, 0, sizeof(more.aux) }, 4200, 50,
		  AUXTRACE_AUX_OVERWRITE | AUXTRACE_AUX_TRUNCATED, { 0, 0, sizeof(more.aux) } },
		{ { AUXTRACE_RECORD_ITRACE_START, 0, sizeof(more.start) }, 11, 12,
		  { 0, 0, sizeof(more.start) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT | AUXTRACE_SWITCH_OUT_PREEMPT,
		    sizeof(more.left) }, 13, 14, { 0, 12, sizeof(more.left) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(more.left) }, 0, 0,
		  { 0, 14, sizeof(more.left) } },
	};
	const struct result *r;
	char text[160];
	FILE *f;

	(void)state;
	/* Eight bytes of pad: the first byte of the trace is at position 5000. */
	for (int i = 0; i < 8; i++)
		plain(ppt_pad);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	psb(CR3, 500, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	records[1].end_position = records[2].begin = 4992 + position();
	window(1000);
	records[2].end_position = 4992 + position();
	write_records(records, sizeof(records));
	f = file("cpu0.aux");
	fwrite(stream, 1, position(), f);
	fclose(f);
	f = file("meta");
	fprintf(f, "auxtrace_recording 1\nabi 1\ncpu_family 6\ncpu_model 94\ncpu_stepping 3\n"
		"tsc_art_num 84\ntsc_art_den 2\nmax_nonturbo_ratio 32\ntime_shift 1\ntime_mult 2\n"
		"time_zero 0\ntsc_khz 1000000\nflags %u\nconfig 0x400\nsnapshot 1\n"
		"cpu 0 begin 5000 read %" PRIu64 " pad 8 data_read %zu records 3 produced 9999 windows 7 tsc 1 slot 1 inhibit 0\n",
		BOTH | AUXTRACE_SETUP_OVERWRITE, position() - 8, sizeof(records));
	fclose(f);
	line("# cpu 0");
	expect_window(6);
	expect_window(7);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "8 bytes before the first PSB cannot be decoded");
	r = script("");
	snprintf(text, sizeof(text), "  0 window 6  <user to full, %" PRIu64 " bytes, overwritten in part>\n",
		 (uint64_t)records[1].end_position - 4100);
	expect_part(r->out, text);
	expect_part(r->out, "  0 window 7  <full to snapshot, ");
	snprintf(text, sizeof(text), "dump --records %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "#   0 0000000000000abc window 5 begin=4000 end=4100 cause=user,user tsc=0,0 pid=7,8 tid=9,10 slot=0: gone\n");
	expect_part(r->out, "cause=user,full tsc=0,0 pid=7,8 tid=9,10 slot=0: overwritten in part\n");
	expect_part(r->out, "cause=full,snapshot tsc=0,0 pid=7,8 tid=9,10 slot=0: whole\n");
	assert_null(strstr(r->out, "psb"));
	/* Other records; and what is none is told. */
	f = file("cpu0.data");
	fwrite(&more, 1, sizeof(more), f);
	fwrite("nonsense", 1, 8, f);
	fclose(f);
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	expect_part(r->out, "# cpu 0\n#   0 0000000000000000 lost 17\n");
	expect_part(r->out, " aux offset=4200 length=50 flags=truncated,overwrite\n");
	expect_part(r->out, " itrace-start pid=11 tid=12\n");
	expect_part(r->out, " switch tid=12 to pid=13 tid=14 preempted\n");
	expect_part(r->out, " switch tid=14 to pid=0 tid=0\n");
	expect_part(r->out, "psb\n");
	expect_part(r->err, "there is no record at offset");
	expect_part(r->err, "the recording is damaged");
	/* Without records, the windows' numbers are counted back from the newest. */
	snprintf(text, sizeof(text), "%s/cpu0.data", dir);
	unlink(text);
	line("# cpu 0");
	expect_window(6);
	expect_window(7);
	r = script("--insn");
	expect_part(r->out, "# window 6\n");
	expect_part(r->out, "# window 7\n");
}

/* The kernel runs a probed instruction on a page of its own. */
static void a_probed_instruction_is_skipped_and_named(void **state)
{
	const uint64_t page = 0x7fffffffe000ull;
	const struct result *r;
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/task.100", dir);
	f = fopen(path, "a");
	assert_non_null(f);
	fprintf(f, "map %" PRIx64 "-%" PRIx64 " --xp 00000000 00:00 0      [uprobes]\n", page, page + 0x1000);
	fclose(f);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_tip, page);
	ip_packet(ppt_fup, page + 4);
	ip_packet(ppt_tip, IRQ);
	ip_packet(ppt_tip, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	expect_main(BASE, true);
	insn(ENTRY, 1);
	insn(ENTRY + 1, 3);
	line("# disable %016" PRIx64, page);
	line("# skip %016" PRIx64 " %llx", page, CR3);
	line("# enable %016llx", IRQ);
	insn(IRQ, 1);
	insn(IRQ + 1, 2);
	insn(MAIN + 7, 2);
	line("# disable -");
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 1");
	expect_part(r->err, "skipped 1 times: a uprobe's instruction or return");
	r = script("");
	expect_part(r->out, "skipped: a probed instruction, on the kernel's page at 0x7fffffffe000\n");
}

/* A SAMPLE record at @at of @buf, with @length bytes or, @flags, none. Returns what follows it. */
static uint8_t *put_sample(uint8_t *at, uint64_t length, uint64_t wanted, uint32_t flags, const void *bytes)
{
	struct auxtrace_record_sample s = {
		.header.type = AUXTRACE_RECORD_SAMPLE, .trigger = 3, .pid = 7, .tid = 8, .aux_end = 900,
		.wanted = wanted, .length = length, .flags = flags,
		.data_offset = flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(s),
	};
	size_t inside = flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : (length + 7) / 8 * 8;
	struct auxtrace_record_end e = { .time = 0xdef };

	e.size = s.header.size = sizeof(s) + inside + sizeof(e);
	memcpy(at, &s, sizeof(s));
	memset(at + sizeof(s), 0, inside);
	if (inside)
		memcpy(at + sizeof(s), bytes, length);
	memcpy(at + sizeof(s) + inside, &e, sizeof(e));
	return at + e.size;
}

static void triggers_and_samples_are_shown(void **state)
{
	struct auxtrace_record_window w = WINDOW(1, 0, 0, TRIGGER, TRIGGER);
	struct auxtrace_record_trigger freeze = {
		.header = { .type = AUXTRACE_RECORD_TRIGGER, .size = sizeof(freeze) },
		.trigger = 2, .action = AUXTRACE_ACTION_FREEZE, .value = 5000000, .pid = 7, .tid = 8,
		.end = { .time = 0xdef, .size = sizeof(freeze) },
	};
	static uint8_t records[4096] __attribute__((aligned(8))), sample[4096];
	uint8_t *end = records;
	const struct result *r;
	char text[512];
	size_t len;
	FILE *f;

	(void)state;
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	w.end_position = freeze.position = position();
	w.begin_trigger = 1;
	w.end_trigger = 2;
	/* A sample begins anywhere: here in the middle of the PSB. */
	len = 5 + position();
	memcpy(sample, stream + 11, 5);
	memcpy(sample + 5, stream, position());
	memcpy(end, &w, sizeof(w));
	end += sizeof(w);
	memcpy(end, &freeze, sizeof(freeze));
	end += sizeof(freeze);
	end = put_sample(end, len, len, 0, sample);
	end = put_sample(end, len, 4096, AUXTRACE_SAMPLE_IN_SLOT | AUXTRACE_SAMPLE_CUT, NULL);
	end = put_sample(end, 999, 999, AUXTRACE_SAMPLE_IN_SLOT, NULL);
	write_records(records, end - records);
	f = file("cpu0.samples");
	fwrite(sample, 1, len, f);
	fclose(f);
	snprintf(text, sizeof(text), "windows 1 window_begin 0 data_read %zu sample_bytes %zu\n"
		 "trigger 1 hits 4 acted 4 held 0 idle 0 missed 0 on syscall:read:enter=resume\n"
		 "trigger 2 hits 1 acted 1 held 0 idle 0 missed 0 on latency:a on b..c>2ms=freeze\n"
		 "trigger 3 hits 3 acted 3 held 0 idle 0 missed 0", (size_t)(end - records), len);
	finish(AUXTRACE_SETUP_USER, text);
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  0 window 1  <trigger 1, syscall:read:enter=resume to trigger 2, latency:a on b..c>2ms=freeze, after 5000000 ns, ");
	/* The freeze was 2567 ns behind the begin. */
	r = script("--time freeze-3us,freeze+1ns");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " main (prog)");
	r = script("--time freeze-2.5us,");
	assert_int_equal(r->status, 0);
	assert_null(strstr(r->out, " main (prog)  <trace begins>"));
	r = script("--time freeze-2us,freeze-3us");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "the end is not behind the begin");
	r = script("--time freeze-3,");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "--time freeze-3,: it takes BEGIN,END in seconds as script shows them, or as freeze-2ms");
	r = script("--samples");
	assert_int_equal(r->status, 0);
	snprintf(text, sizeof(text), "  0 sample 1  <trigger 3, process 7, %zu bytes>\n", len);
	expect_part(r->out, text);
	snprintf(text, sizeof(text), "  0 sample 2  <trigger 3, process 7, %zu bytes, cut short by %zu>\n", len, 4096 - len);
	expect_part(r->out, text);
	expect_part(r->out, "  0 sample 3  <trigger 3, process 7, 999 bytes, not in the recording>\n");
	expect_part(r->err, " in 2 samples, ");
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 0; not in the recording: 1");
	expect_part(r->err, "10 bytes before the first PSB");
	line("# cpu 0");
	for (int i = 1; i <= 2; i++) {
		line("# sample %d 3 900 %zu %zu", i, len, i == 1 ? len : 4096);
		line("# enable %016llx", MAIN);
		expect_main(BASE, true);
		line("# disable -");
	}
	line("# sample 3 3 900 999 999");
	r = script("--insn --samples");
	expect_flow(r);
	snprintf(text, sizeof(text), "dump --records %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "slot=0: whole trigger=1,2\n");
	snprintf(text, sizeof(text), " trigger 2 action=freeze value=5000000 pid=7 tid=8 position=%" PRIu64 "\n",
		 (uint64_t)freeze.position);
	expect_part(r->out, text);
	snprintf(text, sizeof(text), " sample trigger=3 pid=7 tid=8 end=900 wanted=4096 length=%zu slot=0 cut=%zu\n",
		 len, 4096 - len);
	expect_part(r->out, text);
}

static void a_user_trace_finds_its_only_process_by_address(void **state)
{
	const struct result *r;

	(void)state;
	/* Another process elsewhere does no harm, nor does a fork of the same. */
	write_program("second");
	write_task("101", OTHER, 0, program_path("second"), 0x10000000);
	write_task("102", 0xa000, 0, program_path("prog"), BASE);
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	ip_packet(ppt_tip_pge, 0x10001000);
	tnt(".!");
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	expect_main(BASE, true);
	line("# disable -");
	line("# enable %016llx", 0x10001000ull);
	expect_main(0x10000000, false);
	line("# disable -");
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_user_trace_never_guesses_between_two_processes(void **state)
{
	const struct result *r;

	(void)state;
	write_other_program("second");
	write_task("101", OTHER, 0, program_path("second"), BASE);
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	ip_packet(ppt_tip_pge, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# skip 0000000000401000 -\n");
	expect_part(r->err, "0 instructions");
	expect_part(r->err, "user code that no recorded process has, or several have with different bytes, the first at 0x401000");
}

static void a_cr3_that_was_used_twice_is_told_apart_by_time(void **state)
{
	const struct result *r;

	(void)state;
	/* Until 5000 it was the program at BASE, then another one elsewhere. */
	write_program("second");
	write_task("100", CR3, 100, program_path("prog"), BASE);
	write_task("101", CR3, 5000, program_path("second"), 0x20000000);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	psb(CR3, 6000, 0);
	ip_packet(ppt_tip_pge, 0x20001000);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	expect_main(BASE, true);
	insn(ENTRY, 1);
	line("# disable -");
	line("# window 2");
	line("# enable %016llx", 0x20001000ull);
	expect_main(0x20000000, true);
	insn(ENTRY, 1);
	line("# disable -");
	finish(BOTH, "windows 2");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_cr3_of_a_process_that_has_ended_is_not_taken_for_its(void **state)
{
	const struct result *r;

	(void)state;
	append("task.100", "end_tsc 5000\n");
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	psb(CR3, 6000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	expect_main(BASE, true);
	insn(ENTRY, 1);
	line("# disable -");
	line("# window 2");
	line("# enable %016llx", MAIN);
	line("# disable %016llx", MAIN);
	line("# skip %016llx %llx", MAIN, CR3);
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	line("# disable -");
	finish(BOTH, "windows 2");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_process_that_was_noted_after_the_trace_counts_if_it_is_the_only_one(void **state)
{
	const struct result *r;

	(void)state;
	write_task("100", CR3, 9000, program_path("prog"), BASE);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "6 instructions");
	/* With two of them nobody knows. */
	write_task("101", CR3, 9500, program_path("prog"), BASE);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "1 instructions");
	expect_part(r->err, "skipped: 1");
}

static void two_files_that_took_turns_at_an_address_are_not_chosen_between(void **state)
{
	const struct result *r;
	char text[256];

	(void)state;
	write_other_program("second");
	snprintf(text, sizeof(text), "map %llx-%llx r-xp 00001000 00:00 1 %s\n", MAIN, MAIN + 0x1000,
		 program_path("second"));
	append("task.100", text);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "0 instructions");
	expect_part(r->err, "decode errors: 1");
}

static void a_file_that_has_changed_is_not_believed(void **state)
{
	const struct result *r;
	FILE *f;

	(void)state;
	f = fopen(program_path("prog"), "a");
	assert_non_null(f);
	putc(0, f);
	fclose(f);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "is not the file that ran: it has changed since");
	expect_part(r->out, "no memory mapped at this address");
}

static void a_file_of_data_may_have_gone(void **state)
{
	const struct result *r;

	(void)state;
	append("task.100", "file 4096 1.000000000 /var/log/gone.journal\n"
	       "map 7f0000000000-7f0000001000 rw-s 00000000 00:00 1 /var/log/gone.journal\n");
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	assert_null(strstr(r->err, "journal"));
	/* If there was code in it, it matters. */
	append("task.100", "map 7f0000001000-7f0000002000 r-xs 00000000 00:00 1 /var/log/gone.journal\n");
	r = script("--insn");
	expect_part(r->err, "cannot read /var/log/gone.journal");
}

static void files_below_symfs_serve_for_another_machine_s(void **state)
{
	const struct result *r;
	char command[512], options[128];

	(void)state;
	snprintf(command, sizeof(command), "mkdir -p %s/root%s && mv %s/prog %s/root%s/", dir, dir, dir, dir, dir);
	assert_int_equal(system(command), 0);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "--symfs names the directory");
	snprintf(options, sizeof(options), "--insn --symfs %s/root", dir);
	r = script(options);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "0000000000401000 5\n");
}

static void the_vdso_s_own_bytes_are_used(void **state)
{
	const struct result *r;
	FILE *f;

	(void)state;
	write_code("vdso.100");
	f = fopen(program_path("task.100"), "a");
	assert_non_null(f);
	fprintf(f, "vdso 0x7fff0000 vdso.100\n");
	fclose(f);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, 0x7fff0010);
	tnt("!");
	ip_packet(ppt_tip, MAIN + 5);
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "000000007fff0010 2\n000000007fff0012 2\n000000007fff0016 1\n0000000000401005 2\n");
}

#define MADE	0x7f0000000000ull

/* Write a record of a jitdump: @code was made at MADE. */
static void put_made(FILE *f, uint64_t time, const char *name, const void *code, uint32_t size)
{
	const struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, code_size, index;
	} load = { 0, 56 + strlen(name) + 1 + size, time, 100, 100, MADE, MADE, size, 0 };

	assert_int_equal(sizeof(load), 56);
	fwrite(&load, sizeof(load), 1, f);
	fwrite(name, strlen(name) + 1, 1, f);
	fwrite(code, size, 1, f);
}

/* The first: nop, nop; the second: nop of two bytes, nop. */
static void write_made(uint64_t flags, uint64_t first, uint64_t second)
{
	const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, 100, 0, 0, flags, 0 };
	FILE *f = file("jit.100");

	fwrite(header, sizeof(header), 1, f);
	put_made(f, first, "first", "\x90\x90", 2);
	put_made(f, second, "second", "\x66\x90\x90", 3);
	fclose(f);
	append("task.100", "jit jit.100\n");
}

static void run_made(uint64_t time, bool second)
{
	psb(CR3, time, 0);
	ip_packet(ppt_tip_pge, MADE);
	ip_packet(ppt_fup, MADE + 1 + second);
	suppressed(ppt_tip_pgd);
	line("# enable %016llx", MADE);
	insn(MADE, 1 + second);
	line("# disable -");
}

static void code_that_was_made_at_run_time_is_told_apart_by_time(void **state)
{
	const struct result *r;

	(void)state;
	write_made(1, 1000, 5000);
	line("# cpu 0");
	line("# window 1");
	run_made(2000, false);
	line("# window 2");
	run_made(6000, true);
	finish(BOTH, "windows 2");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	r = script("--calls");
	expect_part(r->out, "first ([jit])  <trace begins>\n");
	expect_part(r->out, "second ([jit])  <trace begins>\n");
}

/* 100 ns of CLOCK_MONOTONIC are 1000 ticks of the TSC here. */
static void times_of_made_code_are_converted(void **state)
{
	const struct result *r;

	(void)state;
	write_made(0, 700, 1300);
	line("# cpu 0");
	line("# window 1");
	run_made(12000, false);
	line("# window 2");
	run_made(14000, true);
	finish(BOTH, "windows 2");
	append("meta", "mono_begin 10000 1000\nmono_end 20000 2000\n");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_dump_of_code_that_is_damaged_is_told(void **state)
{
	const struct result *r;

	(void)state;
	write_made(1, 1000, 5000);
	assert_int_equal(truncate(program_path("jit.100"), 40 + 56 + 6 + 2 + 20), 0);
	line("# cpu 0");
	line("# window 1");
	run_made(6000, false);
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	expect_part(r->err, "jit.100: there is no record at offset 104: the rest is not read");
	fputs("no dump", file("jit.100"));
	fflush(NULL);
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "jit.100 is not a dump of code (jitdump): it is not used");
}

static void calls_are_indented_with_time_and_names(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_tip, MAIN + 7);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, SCHED);
	pip(CR3);
	tnt("!");
	ip_packet(ppt_tip, F);
	ip_packet(ppt_fup, F + 2);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"  0 window 1\n"
		"  0        1.000001000 -               -                    u  main (prog)  <trace begins>\n"
		"  0        1.000001000 -               -                    u    f (prog)\n"
		"  0        1.000001000 -               -                    k    entry  <system call>\n"
		"  0        1.000001000 -               -                    u    f (prog)\n"
		"  0        1.000001000 -               -                    k      sched [mod]  <interrupt>\n"
		"  0        1.000001000 -               -                    k        switch\n");
}

/* @function is what the kernel's entry for system calls calls. Returns what script shows. */
static const char *system_call(const char *function, bool enabled_inside, const char *options)
{
	FILE *f = file("kallsyms");

	fprintf(f, "%llx T entry_SYSCALL_64\n%llx t %s\n%llx T sysvec\n", SCHED, SWITCH, function, IRQ);
	fclose(f);
	begin_trace();
	psb(CR3, 1000, 0);
	if (enabled_inside) {
		ip_packet(ppt_tip_pge, SCHED);
	} else {
		ip_packet(ppt_tip_pge, MAIN);
		tnt("!!");
		ip_packet(ppt_tip, SCHED);
	}
	/* The function does not begin before an interrupt has come. */
	ip_packet(ppt_fup, SCHED);
	ip_packet(ppt_tip, IRQ);
	ip_packet(ppt_tip, SCHED);
	pip(CR3);
	tnt("!");
	ip_packet(ppt_tip, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	return script(options)->out;
}

static void system_calls_are_named(void **state)
{
	(void)state;
	expect_part(system_call("__x64_sys_openat", false, ""), "entry_SYSCALL_64  <system call openat>\n");
	expect_part(script("")->out, "sysvec  <interrupt>\n");
	/* The entry alone is shown. */
	expect_part(system_call("__x64_sys_openat", false, "--function entry_SYSCALL_64 --max-depth 1"),
		    "k    entry_SYSCALL_64  <system call openat>\n");
	/* The kernel's functions have names of their own for some, and compilers and tables put letters around them. */
	expect_part(system_call("__x64_sys_newfstat", false, ""), " <system call fstat>\n");
	expect_part(system_call("__ia32_sys_getpid", false, ""), " <system call getpid>\n");
	expect_part(system_call("__ia32_compat_sys_ioctl", false, ""), " <system call ioctl>\n");
	expect_part(system_call("__do_sys_vfork", false, ""), " <system call vfork>\n");
	/* This machine's header does not have it. */
	expect_part(system_call("__x64_sys_frobnicate2", false, ""), " <system call frobnicate2>\n");
	/* The trace may begin behind the instruction SYSCALL, as in those of the kernel only. */
	expect_part(system_call("__x64_sys_read", true, ""), "entry_SYSCALL_64  <trace begins, system call read>\n");
	/* What the kernel does not have has no name, and other functions of the kernel are none. */
	expect_part(system_call("__x64_sys_ni_syscall", false, ""), " <system call>\n");
	expect_part(system_call("vfs_read", false, ""), " <system call>\n");
}

/* The first instruction of f faults: it was called, although nothing of it was executed. Then it goes on. */
static void a_fault_at_the_first_instruction_is_inside_the_call(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	ip_packet(ppt_fup, F);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u  main (prog)  <trace begins>\n");
	expect_part(r->out, " u    f (prog)\n");
	ip_packet(ppt_tip_pge, F);
	tnt("!");
	ip_packet(ppt_fup, MAIN + 5);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u    f (prog)\n");
	/* It is one call. */
	assert_null(strstr(strstr(r->out, "f (prog)") + 1, "f (prog)"));
}

/* Assemble @code, which is at MAIN, and let the task run that: its source lines are those of the assembly language. */
static void run_program_with_lines(const char *code)
{
	char command[512];
	FILE *f = file("lines.s");

	fputs(code, f);
	fclose(f);
	snprintf(command, sizeof(command), "cd %s && as -g -o lines.o lines.s && ld -e main -Ttext=%#llx -o lines lines.o", dir, MAIN);
	assert_int_equal(system(command), 0);
	write_task("100", CR3, 0, program_path("lines"), BASE);
}

/* The code of the program. */
static const char same_code[] =
	"	.globl main, f\n"
	"	.type main, @function\n"
	"	.type f, @function\n"
	"main:	call f\n"
	"	syscall\n"
	"	jmp main\n"
	"	.org 0x10\n"
	"f:	test %eax, %eax\n"
	"	je 1f\n"
	"	nop\n"
	"	nop\n"
	"1:	ret\n"
	"	.size f, . - f\n";

/* ---- deep recursion ------------------------------------------------------------ */

/* main calls rec, which calls itself @depth times; the innermost calls leaf @leaves times, and all return. 0: the trace ends there. */
static void recurse(unsigned int depth, unsigned int leaves)
{
	run_program_with_lines(
		"	.type main, @function\n"
		"	.type rec, @function\n"
		"	.type leaf, @function\n"
		"main:	call rec\n"
		"	jmp main\n"
		"	.size main, . - main\n"
		"	.org 0x10\n"
		"rec:	test %eax, %eax\n"
		"	je 1f\n"
		"	call rec\n"
		"	ret\n"			/* at 0x19 */
		"1:	call leaf\n"
		"	test %eax, %eax\n"
		"	jne 1b\n"
		"	ret\n"
		"	.size rec, . - rec\n"
		"leaf:	ret\n"
		"	.size leaf, . - leaf\n");
	begin_trace();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	for (unsigned int i = 0; i < depth; i++)
		tnt(".");
	if (!leaves) {
		ip_packet(ppt_fup, MAIN + 0x10);
		suppressed(ppt_tip_pgd);
		finish(AUXTRACE_SETUP_USER, "windows 1");
		return;
	}
	tnt("!");
	/* Its return, by the call before it, and back to the next call. */
	for (unsigned int i = 0; i < leaves; i++)
		tnt(i + 1 < leaves ? "!!" : "!.");
	for (unsigned int i = 0; i < depth; i++)
		ip_packet(ppt_tip, MAIN + 0x19);
	ip_packet(ppt_tip, MAIN + 5);
	ip_packet(ppt_fup, MAIN + 5);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
}

static double cpu_seconds(void)
{
	struct rusage r;

	getrusage(RUSAGE_CHILDREN, &r);
	return r.ru_utime.tv_sec + r.ru_utime.tv_usec / 1e6;
}

/* CPU time of subcommands for @depth calls, one inside the other, with 150,000 in the innermost one. @deep: 100,000 */
static double seconds_of_recursion(unsigned int depth, bool deep)
{
	double begin = cpu_seconds();
	const struct result *r;
	char arguments[200];

	recurse(depth, 150000);
	snprintf(arguments, sizeof(arguments), "report %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  150000      0 ");
	if (deep)
		expect_part(r->out, "  100001      0 ");
	r = script("--max-depth 2");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u    rec (lines)\n");
	snprintf(arguments, sizeof(arguments), "script %s >/dev/null", dir);
	assert_int_equal(run_auxtrace(arguments)->status, 0);
	snprintf(arguments, sizeof(arguments), "export --format folded --weight instructions -o - %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "?;main 1\n?;main;rec 4\n?;main;rec;rec 4\n");
	if (deep)
		expect_part(r->err, "248978 calls were more than 1024 deep");
	assert_true(strlen(r->out) < 3000000);
	return cpu_seconds() - begin;
}

/* A walk over the stack for each call would take a hundred times as long. How fast the machine is does not matter. */
static void deep_recursion_costs_no_more_than_other_calls(void **state)
{
	double deep = seconds_of_recursion(100000, true), shallow = seconds_of_recursion(500, false);

	(void)state;
	print_message("%.1f s, without recursion %.1f s\n", deep, shallow);
	assert_true(deep < 10 * shallow);
}

static void calls_beyond_the_limit_are_told(void **state)
{
	(void)state;
	recurse(262200, 0);
	expect_part(script("")->err, "a thread has more than 262144 open calls, one inside the other");
}

/* ---- source lines of the kernel ---------------------------------------------- */

#define MODULE	0xffffffffc0000000ull
#define PROBE	(MODULE + 0x40)
#define OTHER_SECTION	(MODULE + 0x100)

static void write_text(const char *name, const char *text)
{
	FILE *f = file(name);

	fputs(text, f);
	fclose(f);
}

static void in_dir(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void in_dir(const char *format, ...)
{
	char command[1024];
	int at = snprintf(command, sizeof(command), "set -e; cd %s; ", dir);
	va_list ap;

	va_start(ap, format);
	vsnprintf(command + at, sizeof(command) - at, format, ap);
	va_end(ap);
	assert_int_equal(system(command), 0);
}

/* The kernel's entry, and an interrupt in user code that leads to @function of a module, or of the kernel. */
static const struct result *kernel_lines(uint64_t function)
{
	char options[100];

	begin_trace();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, ENTRY);
	ip_packet(ppt_tip, MAIN);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, function);
	ip_packet(ppt_tip, F);
	ip_packet(ppt_fup, F);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	append("meta", "release 6.1.0-test\n");
	snprintf(options, sizeof(options), "--lines --symfs %s/debug", dir);
	return script(options);
}

/*
 * A kernel that ran elsewhere than it is linked for, and a module of two sections: with their debug files, which have
 * no code.
 */
static void make_kernel_with_lines(void)
{
	write_text("kernel.s",
		   "	.globl _stext, entry, irq\n"
		   "	.type entry, @function\n"
		   "	.type irq, @function\n"
		   "_stext:\n"
		   "entry:	nop\n"
		   "	sysretq\n"
		   "	.size entry, . - entry\n"
		   "	.org 0x10\n"
		   "irq:	nop\n"
		   "	iretq\n"
		   "	.size irq, . - irq\n"
		   "	.type late, @function\n"
		   "	.org 0x20\n"
		   "late:	nop\n"
		   "	.size late, . - late\n");
	write_text("module.s",
		   "	.type probe, @function\n"
		   "	.type other, @function\n"
		   "probe:	nop\n"
		   "	iretq\n"
		   "	.size probe, . - probe\n"
		   "	.section .text.other, \"ax\"\n"
		   "	nop\n"
		   "other:	nop\n"
		   "	nop\n"
		   "	iretq\n"
		   "	.size other, . - other\n");
	write_text("kcore.s",
		   "	.include \"kernel.s\"\n"
		   "	.section .module, \"ax\"\n"
		   "	.org 0x40\n"
		   "	nop\n"
		   "	iretq\n"
		   "	.org 0x100\n"
		   "	nop\n"
		   "	nop\n"
		   "	nop\n"
		   "	iretq\n"
		   "	.incbin \"id\"\n");
	in_dir("mkdir -p debug/usr/lib/debug/boot debug/usr/lib/debug/.build-id; "
	       "as -g -o kernel.o kernel.s; ld -e entry -Ttext=0xffffffff80200000 -o vmlinux kernel.o; "
	       "objcopy --only-keep-debug vmlinux debug/usr/lib/debug/boot/vmlinux-6.1.0-test; "
	       "as -g -o module.o module.s; ld -r --build-id=sha1 -o module.ko module.o; "
	       "objcopy -O binary --only-section=.note.gnu.build-id module.ko id; "
	       "id=$(tail -c 20 id | od -An -tx1 | tr -d ' \n'); to=debug/usr/lib/debug/.build-id/$(echo $id | cut -c1-2); "
	       "mkdir -p $to; objcopy --only-keep-debug module.ko $to/$(echo $id | cut -c3-).debug");
	in_dir("as -o kcore.o kcore.s; ld -e entry -Ttext=%#llx --section-start=.module=%#llx -o kcore kcore.o",
	       KERNEL, MODULE);
	in_dir("mkdir -p debug%s; cp -p prog debug%s", dir, dir);
	fprintf(file("kallsyms"), "%llx T _stext\n%llx T entry\n%llx T irq\n%llx t probe\t[mod]\n%llx t other\t[mod]\n",
		ENTRY, ENTRY, IRQ, PROBE, OTHER_SECTION + 1);
	fflush(NULL);
}

static void the_kernel_and_its_modules_have_lines(void **state)
{
	const char *out;

	(void)state;
	make_kernel_with_lines();
	out = kernel_lines(IRQ)->out;
	expect_part(out, " k    kernel.s:5  entry: nop\n");
	expect_part(out, " k    kernel.s:6  sysretq\n");
	expect_part(out, " k        kernel.s:9  irq: nop\n");
	out = kernel_lines(PROBE)->out;
	expect_part(out, "probe [mod]  <interrupt>\n");
	expect_part(out, " k        module.s:3  probe: nop\n");
	expect_part(out, " k        module.s:4  iretq\n");
	/* A section goes anywhere. */
	out = kernel_lines(OTHER_SECTION + 1)->out;
	expect_part(out, " k        module.s:8  other: nop\n");
	expect_part(out, " k        module.s:10  iretq\n");
}

static void debug_files_of_another_kernel_are_not_used(void **state)
{
	const struct result *r;

	(void)state;
	make_kernel_with_lines();
	/* Of a module that was built anew */
	in_dir("dd if=/dev/zero of=kcore bs=1 count=20 seek=$(($(grep -abo GNU kcore | tail -n 1 | cut -d: -f1) + 4)) conv=notrunc status=none");
	r = kernel_lines(PROBE);
	expect_part(r->out, "probe [mod]  <interrupt>\n");
	assert_null(strstr(r->out, "module.s"));
	expect_part(r->out, " k    kernel.s:5  entry: nop\n");
	/* Of another build of the kernel with the same release */
	fprintf(file("kallsyms"), "%llx T _stext\n%llx T entry\n%llx T before\n%llx T irq\n", ENTRY, ENTRY, ENTRY + 4, IRQ + 8);
	fflush(NULL);
	r = kernel_lines(IRQ + 8);
	assert_null(strstr(r->out, "kernel.s"));
	expect_part(r->err, "vmlinux-6.1.0-test is not of the kernel that ran, whose functions were elsewhere");
	/* Of one in which most functions are where they were, and one is not */
	fprintf(file("kallsyms"), "%llx T _stext\n%llx T entry\n%llx T irq\n%llx t late\n", ENTRY, ENTRY, IRQ + 8, ENTRY + 0x20);
	fflush(NULL);
	r = kernel_lines(IRQ + 8);
	expect_part(r->out, " k    kernel.s:5  entry: nop\n");
	expect_part(r->out, "irq  <interrupt>\n");
	assert_null(strstr(r->out, "kernel.s:9"));
	assert_null(strstr(r->out, "kernel.s:10"));
	in_dir("rm debug/usr/lib/debug/boot/vmlinux-6.1.0-test");
	r = kernel_lines(IRQ);
	assert_null(strstr(r->out, "kernel.s"));
}

/* Of a call that began before the part, what it executes inside is shown, also before it calls another. */
static void lines_in_a_part_have_their_call(void **state)
{
	const struct result *r;

	(void)state;
	run_program_with_lines(same_code);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, F);
	tsc(2000);
	tnt(".");
	tsc(3000);
	ip_packet(ppt_fup, F + 6);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("--lines");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  1.000001000 -               -                    u    lines.s:8  f: test %eax, %eax\n");
	expect_part(r->out, "  1.000003000 -               -                    u    lines.s:12  1: ret\n");
	r = script("--lines --time 1.000001500,");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"  0 window 1\n"
		"  0        1.000001500 -               -            >1.50us u  f (lines)  <trace begins>\n"
		"  0        1.000003000 -               -                    u    lines.s:10  nop\n"
		"  0        1.000003000 -               -                    u    lines.s:11  nop\n"
		"  0        1.000003000 -               -                    u    lines.s:12  1: ret\n");
}

/* f returns to main, which had called it before the trace began: main's line is not one of f. */
static void lines_of_a_call_from_before_have_its_name(void **state)
{
	(void)state;
	run_program_with_lines(same_code);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, F);
	tnt(".");
	ip_packet(ppt_tip, MAIN + 5);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	expect_part(script("--lines")->out,
		    " u    lines.s:12  1: ret\n"
		    "  0        1.000001000 -               -                    u  main+0x5 (lines)  <begun earlier>\n"
		    "  0        1.000001000 -               -                    u    lines.s:5  syscall\n");
}

/* What follows the return is of the outer call, also if the inner one ended in the same line. */
static void a_line_after_recursion_is_of_the_outer_call(void **state)
{
	(void)state;
	run_program_with_lines("	.globl main, f\n"
			       "	.type main, @function\n"
			       "	.type f, @function\n"
			       "main:	call f\n"
			       "	syscall\n"
			       "f:	dec %eax\n"
			       "	jz 1f\n"
			       "	call f; 1: ret\n");
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt(".!!!");
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	expect_part(script("--lines")->out,
		    " u      lines.s:8  call f; 1: ret\n"
		    "  0        1.000001000 -               -                    u      f (lines)\n"
		    "  0        1.000001000 -               -                    u        lines.s:6  f: dec %eax\n"
		    "  0        1.000001000 -               -                    u        lines.s:7  jz 1f\n"
		    "  0        1.000001000 -               -                    u        lines.s:8  call f; 1: ret\n"
		    "  0        1.000001000 -               -                    u      lines.s:8  call f; 1: ret\n"
		    "  0        1.000001000 -               -                    u    lines.s:5  syscall\n");
}

/* The traced program is another user's. */
static void names_do_not_command_the_terminal(void **state)
{
	char from[256], to[256];
	const struct result *r;

	(void)state;
	run_program_with_lines("	.globl \"m\033[2J\"\n"
			       "	.type \"m\033[2J\", @function\n"
			       "# 7 \"a\\033[2J.s\"\n"
			       "\"m\033[2J\": syscall\n");
	strcpy(from, program_path("lines"));
	strcpy(to, program_path("b\033[2J"));
	assert_int_equal(rename(from, to), 0);
	write_task("100", CR3, 0, to, BASE);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("--lines");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u  m?[2J (b?[2J)  <trace begins>\n");
	expect_part(r->out, " u    a?[2J.s:7\n");
	assert_null(strchr(r->out, '\033'));
	assert_int_equal(unlink(to), 0);
	r = script("--lines");
	expect_part(r->err, "b?[2J: No such file or directory; --symfs");
	assert_null(strchr(r->err, '\033'));
}

static void a_time_before_a_freeze_needs_a_freeze(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	finish(BOTH, "windows 1");
	r = script("--time freeze-1ms,");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "--time: no event froze this recording");
}

/* A package is built where there may be no devpts. */
static bool have_terminals(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	bool have = fd >= 0 && !grantpt(fd) && !unlockpt(fd) && ptsname(fd) && !access(ptsname(fd), R_OK | W_OK);

	if (fd >= 0)
		close(fd);
	return have;
}

/* What `auxtrace script @options` prints to a terminal, where the variables @set are set. */
static const char *on_terminal(const char *set, const char *options)
{
	static char text[4096];
	char command[1024];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "TERM=xterm %s script -qec \"$AUXTRACE script %s %s\" /dev/null", set, dir, options);
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	assert_int_equal(pclose(f), 0);
	return text;
}

static void a_terminal_gets_colours_and_a_pager(void **state)
{
	const char *shown;

	(void)state;
	if (!have_terminals()) {
		print_message("there are no pseudo terminals here\n");
		skip();
	}
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	shown = on_terminal("", "--no-pager");
	expect_part(shown, "\033[1m  0 window 1\033[0m\r\n");
	expect_part(shown, "main (prog)  <trace begins>\r\n");
	expect_part(shown, "\033[35mentry\033[0m  <system call>\r\n");
	assert_null(strchr(on_terminal("NO_COLOR=1", "--no-pager"), '\033'));
	assert_null(strchr(on_terminal("TERM=dumb", "--no-pager"), '\033'));
	assert_null(strchr(on_terminal("", "--no-pager --color never"), '\033'));
	assert_null(strchr(script("")->out, '\033'));
	expect_part(script("--color=always")->out, "\033[35mentry\033[0m");
	expect_part(script("--color=sometimes")->err, "--color sometimes: it takes auto, always or never");
	/* The pager gets the summary, too, and the command waits for it. */
	shown = on_terminal("AUXTRACE_PAGER='sed s/^/+/; sleep 1; echo end'", "");
	expect_part(shown, "+\033[1m  0 window 1");
	expect_part(shown, "\n+auxtrace: ");
	assert_string_equal(strstr(shown, "end"), "end\r\n");
	expect_part(on_terminal("PAGER='sed s/^/-/'", ""), "-\033[1m  0 window 1");
	expect_part(on_terminal("PAGER=cat", ""), "\033[1m  0 window 1");
	/* Who leaves it early ends the command, by SIGPIPE if that has more to say. */
	assert_string_equal(on_terminal("PAGER='head -c 3' NO_COLOR=1", "--insn || true"), "# c");
}

static void a_recording_that_is_damaged_is_told(void **state)
{
	const struct result *r;
	FILE *f;

	(void)state;
	window(1000);
	finish(BOTH, "windows 1");
	f = file("cpu0.aux");
	fwrite(stream, 1, position() - 3, f);
	fclose(f);
	r = script("--insn");
	expect_part(r->err, "the recording is damaged");
	/* Nothing but a part of the padding is left. */
	finish(BOTH, "windows 1 begin 4096 pad 4096");
	f = file("cpu0.aux");
	fwrite(stream, 1, 10, f);
	fclose(f);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "the recording is damaged");
	expect_part(r->err, " windows, 0 bytes;");
	f = file("meta");
	fputs("auxtrace_recording 9\ncpu 0 read 0\n", f);
	fclose(f);
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "a recording of format 9; this version reads format 1");
}

static void a_cpu_that_is_not_there_is_told(void **state)
{
	const struct result *r;

	(void)state;
	window(1000);
	finish(BOTH, "windows 1");
	r = script("--cpu 4");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "CPU 4 is not in ");
}

static void dump_shows_each_packet_and_counts_them(void **state)
{
	const struct result *r;
	char arguments[128];

	(void)state;
	psb(CR3, 0xabc, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!.!");
	suppressed(ppt_tip_pgd);
	plain(ppt_ovf);
	finish(BOTH, "windows 1");
	snprintf(arguments, sizeof(arguments), "dump %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"# cpu 0\n"
		"000000000000  psb\n"
		"000000000010  tsc      tsc=abc\n"
		"000000000018  pip      cr3=5000\n"
		"000000000020  mode     exec csl=1 csd=0\n"
		"000000000022  psbend\n"
		"000000000024  tip.pge  3:     000000401000\n"
		"00000000002b  tnt.8    !.!\n"
		"00000000002c  tip.pgd  (suppressed)\n"
		"00000000002d  ovf\n");
	snprintf(arguments, sizeof(arguments), "dump --summary %s/cpu0.aux", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "psb                   1             16\n");
	expect_part(r->out, "all                   9             47\n");
	expect_part(r->out, "bytes not decoded: 0\nerrors: 0\n");
}

static void dump_goes_on_behind_an_error_and_counts_what_it_left_out(void **state)
{
	const struct result *r;
	char arguments[128];
	uint64_t at;

	(void)state;
	tnt("!");
	psb(CR3, 1, 0);
	at = position();
	for (int i = 0; i < 8; i++)
		plain(ppt_pad);
	stream[at] = 0x02;
	stream[at + 1] = 0x0b;
	psb(CR3, 2, 0);
	finish(BOTH, "windows 1");
	snprintf(arguments, sizeof(arguments), "dump --summary %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->out, "bytes not decoded: 9\nerrors: 1\n");
	expect_part(r->out, "psb                   2 ");
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
		t(user_and_kernel_flow_is_decoded_instruction_for_instruction),
		t(a_process_that_is_not_recorded_is_skipped_and_the_kernel_is_not),
		t(who_had_the_cr3_before_a_process_was_recorded_is_skipped),
		t(a_return_into_a_frame_from_before_a_skip_is_no_error),
		t(bytes_that_are_no_packets_are_an_error_and_it_goes_on_at_the_next_psb),
		t(a_flow_that_went_into_an_endless_loop_is_an_error_and_ends),
		t(without_tnt_packets_no_flow_is_decoded),
		t(an_overflow_is_shown_and_counted),
		t(the_cpu_sleeps_and_wakes), t(events_are_in_the_flow), t(an_event_moves_the_last_ip),
		t(events_and_sleep_keep_apart), t(events_without_an_address), t(an_event_may_be_cut_off),
		t(windows_have_the_kernel_s_numbers),
		t(one_window_can_be_asked_for),
		t(a_cut_packet_takes_no_window_with_it),
		t(a_psb_without_a_window_is_one),
		t(behind_damage_decoding_goes_on),
		t(a_cut_packet_takes_no_event_with_it),
		t(an_event_behind_an_overflow_enables_nothing),
		t(windows_with_events_can_be_asked_for),
		t(an_event_without_its_fup_is_no_more),
		t(an_overwrite_recording_counts_windows_back_from_the_newest),
		t(a_user_trace_does_not_guess_window_numbers),
		t(records_tell_windows_of_a_user_trace_from_other_psbs),
		t(a_snapshot_s_windows_are_whole_in_part_or_gone),
		t(a_probed_instruction_is_skipped_and_named),
		t(triggers_and_samples_are_shown),
		t(a_user_trace_finds_its_only_process_by_address),
		t(a_user_trace_never_guesses_between_two_processes),
		t(a_cr3_that_was_used_twice_is_told_apart_by_time),
		t(a_cr3_of_a_process_that_has_ended_is_not_taken_for_its),
		t(a_process_that_was_noted_after_the_trace_counts_if_it_is_the_only_one),
		t(two_files_that_took_turns_at_an_address_are_not_chosen_between),
		t(a_file_that_has_changed_is_not_believed),
		t(a_file_of_data_may_have_gone),
		t(files_below_symfs_serve_for_another_machine_s),
		t(the_vdso_s_own_bytes_are_used),
		t(code_that_was_made_at_run_time_is_told_apart_by_time),
		t(times_of_made_code_are_converted),
		t(a_dump_of_code_that_is_damaged_is_told),
		t(calls_are_indented_with_time_and_names),
		t(system_calls_are_named),
		t(deep_recursion_costs_no_more_than_other_calls),
		t(calls_beyond_the_limit_are_told),
		t(the_kernel_and_its_modules_have_lines),
		t(debug_files_of_another_kernel_are_not_used),
		t(a_fault_at_the_first_instruction_is_inside_the_call),
		t(lines_in_a_part_have_their_call),
		t(lines_of_a_call_from_before_have_its_name),
		t(a_line_after_recursion_is_of_the_outer_call),
		t(names_do_not_command_the_terminal),
		t(a_time_before_a_freeze_needs_a_freeze),
		t(a_terminal_gets_colours_and_a_pager),
		t(a_recording_that_is_damaged_is_told),
		t(a_cpu_that_is_not_there_is_told),
		t(dump_shows_each_packet_and_counts_them),
		t(dump_goes_on_behind_an_error_and_counts_what_it_left_out),
	};

	return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
