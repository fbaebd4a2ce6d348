// SPDX-License-Identifier: GPL-2.0-only
/* Power events and event trace, by auxtrace script and dump on trace that a test made. */
#include "made.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "packets.h"

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

/* Of two instructions, one of which the packets name. */
static void what_ptwrite_writes_is_shown(void **state)
{
	const struct result *r;

	(void)state;
	write_program_with_lines(".globl main\nmain: ptwriteq %rax\n nop\n ptwritel %ebx\n jmp *%rcx\n");
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	packet(&(struct pt_packet){ .type = ppt_ptw, .payload.ptw = { .payload = 0x123456789abcdef0, .plc = 1, .ip = 1 } });
	ip_packet(ppt_fup, MAIN);
	packet(&(struct pt_packet){ .type = ppt_ptw, .payload.ptw = { .payload = 0x77 } });
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	insn(MAIN, 5);
	line("# ptwrite 123456789abcdef0 %016llx", MAIN);
	insn(MAIN + 5, 1);
	insn(MAIN + 6, 4);
	line("# ptwrite 77 -");
	insn(MAIN + 10, 2);
	line("# disable -");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	r = script("");
	expect_part(r->out, "ptwrite: IP: 1 payload: 0x123456789abcdef0\n");
	expect_part(r->out, "ptwrite: IP: 0 payload: 0x77\n");
	r = script("--tid 1");
	assert_null(strstr(r->out, "ptwrite"));
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
	for (const struct cut_packet *cut = cut_packets; cut->size; cut++)
		for (size_t rest = 1; rest < cut->size; rest++) {
			const struct result *r;

			begin_trace();
			event_window(1000);
			raw(cut->bytes, rest);
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

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(the_cpu_sleeps_and_wakes),
		t(what_ptwrite_writes_is_shown),
		t(events_are_in_the_flow),
		t(an_event_moves_the_last_ip),
		t(events_and_sleep_keep_apart),
		t(events_without_an_address),
		t(an_event_may_be_cut_off),
		t(a_cut_packet_takes_no_event_with_it),
		t(an_event_behind_an_overflow_enables_nothing),
		t(windows_with_events_can_be_asked_for),
		t(an_event_without_its_fup_is_no_more),
	};

	return cmocka_run_group_tests_name("pt_events", tests, NULL, NULL);
}
