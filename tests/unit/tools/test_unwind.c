// SPDX-License-Identifier: GPL-2.0-only
/* The calls that auxtrace script shows where functions do not return to their callers: longjmp, exceptions, signals, exec. */
#include "made.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <linux/auxtrace.h>

#include "packets.h"

#define USER	AUXTRACE_SETUP_USER

/* Functions, each at an address of its own behind MAIN: main calls a, a calls b, b calls c. */
#define A	(MAIN + 0x10)
#define B	(MAIN + 0x20)
#define C	(MAIN + 0x30)
#define HANDLER	(MAIN + 0x40)
#define RESTORE	(MAIN + 0x50)
#define START	(MAIN + 0x60)
#define D	(MAIN + 0x70)
#define COLD	(MAIN + 0x80)
#define THROW	(MAIN + 0x90)
#define AGAIN	(MAIN + 0xa0)
#define AGAIN_COLD (MAIN + 0xb0)
#define CALL	5	/* the size of a call */

static const char program[] =
	"	.macro function name\n"
	"	.type \\name, @function\n"
	"	.org \\name\\()_at\n"
	"\\name:\n"
	"	.endm\n"
	"	.macro end name\n"
	"	.size \\name, . - \\name\n"
	"	.endm\n"
	"	.set main_at, 0; .set a_at, 0x10; .set b_at, 0x20; .set c_at, 0x30; .set handler_at, 0x40\n"
	"	.set restore_at, 0x50; .set start_at, 0x60; .set d_at, 0x70; .set a.cold_at, 0x80; .set throw_at, 0x90\n"
	"	.set again_at, 0xa0; .set again.cold_at, 0xb0\n"
	"	function main; call a; jmp main; end main\n"
	"	function a; call b; call d; ret; end a\n"
	"	function b; call c; syscall; ret; end b\n"
	"	function c; nop; nop; jmp *%rdx; end c\n"
	"	function handler; nop; ret; end handler\n"
	"	function restore; syscall; end restore\n"
	"	function start; call d; jmp start; end start\n"
	"	function d; ret; end d\n"
	"	function a.cold; nop; jmp a + 5; end a.cold\n"
	"	function throw; ret; end throw\n"
	"	function again; jmp again.cold; call again; call d; ret; end again\n"
	"	function again.cold; jmp *%rdx; end again.cold\n";

static int begin(void **state)
{
	if (packets_begin(state))
		return -1;
	write_program_with_lines(program);
	return 0;
}

/* The trace begins in main, which has called a, which has called b, which has called c. */
static void begin_in_c(void)
{
	begin_trace();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
}

/* The trace ends at @ip. script shows these calls, without their times and threads. */
static void expect_calls(uint64_t ip, uint32_t flags, const char *calls)
{
	const struct auxtrace_record_window w = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(w) },
		.window = 1, .begin_pid = 7, .begin_tid = 9, .pid = 7, .tid = 9, .end_position = position(),
		.end = { .time = 1000, .size = sizeof(w) },
	};
	char shown[4096], cpu[64], *to = shown;
	const struct result *r;

	ip_packet(ppt_fup, ip);
	suppressed(ppt_tip_pgd);
	write_records(&w, sizeof(w));
	snprintf(cpu, sizeof(cpu), "windows 1 data_read %zu", sizeof(w));
	finish(flags, cpu);
	r = script("");
	assert_int_equal(r->status, 0);
	for (const char *at = r->out; *at; at += strcspn(at, "\n") + 1) {
		size_t length = strcspn(at, "\n"), skip = strlen("  0        1.000001000 -               -                    ");

		if (length > skip)
			to += snprintf(to, shown + sizeof(shown) - to, "%.*s\n", (int)(length - skip), at + skip);
	}
	*to = '\0';
	assert_string_equal(shown, calls);
}

#define IN_MAIN	"u  main (lines)  <trace begins>\n"
#define IN_C	"u    a (lines)\n" \
		"u      b (lines)\n" \
		"u        c (lines)\n"

/* c goes behind a's call of b, as by longjmp(3). */
static void a_jump_into_an_outer_function_ends_the_calls_in_it(void **state)
{
	(void)state;
	begin_in_c();
	for (unsigned int i = 0; i < 2; i++) {
		ip_packet(ppt_tip, A + CALL);
		ip_packet(ppt_tip, A + 2 * CALL);
		ip_packet(ppt_tip, MAIN + CALL);
	}
	ip_packet(ppt_tip, A + CALL);
	expect_calls(D, BOTH, IN_MAIN IN_C "u      d (lines)\n" IN_C "u      d (lines)\n" IN_C "u      d (lines)\n");
}

/* c goes to throw, which returns to where a catches: unwinders put that address on the stack. */
static void so_does_an_exception(void **state)
{
	(void)state;
	begin_in_c();
	/* To the end of a, behind which there is no call that b could return to */
	ip_packet(ppt_tip, THROW);
	ip_packet(ppt_tip, A + 2 * CALL);
	ip_packet(ppt_tip, MAIN + CALL);
	/* To the part of a that seldom runs, which goes on in a */
	ip_packet(ppt_tip, THROW);
	ip_packet(ppt_tip, COLD);
	expect_calls(D, BOTH, IN_MAIN IN_C "u        throw (lines)\n" IN_C "u        throw (lines)\n" "u      d (lines)\n");
}

/* A function that calls itself goes to its part that seldom runs, and back: that ends nothing. */
static void a_part_that_seldom_runs_ends_nothing(void **state)
{
	(void)state;
	begin_trace();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, AGAIN);
	for (unsigned int i = 0; i < 2; i++)
		ip_packet(ppt_tip, AGAIN + 2);
	ip_packet(ppt_tip, AGAIN + 2 + CALL);
	expect_calls(D, BOTH, "u  again (lines)  <trace begins>\n"
		     "u    again (lines)\n"
		     "u      again (lines)\n"
		     "u        d (lines)\n");
}

static void a_signal_is_handled_inside_what_it_interrupts(void **state)
{
	static const char one[] =
		"k          irq  <interrupt>\n"
		"u          handler (lines)  <signal>\n"
		"k            entry  <system call>\n";
	char expected[1024] = IN_MAIN IN_C;

	(void)state;
	begin_in_c();
	for (unsigned int i = 0; i < 3; i++) {
		ip_packet(ppt_fup, C + 1);
		ip_packet(ppt_tip, IRQ);
		ip_packet(ppt_tip, HANDLER);
		ip_packet(ppt_tip, RESTORE);
		ip_packet(ppt_tip, ENTRY);
		ip_packet(ppt_tip, C + 1);
		strcat(expected, one);
	}
	ip_packet(ppt_tip, A + CALL);
	strcat(expected, "u      d (lines)\n");
	expect_calls(D, BOTH, expected);
}

/* Behind the handler the kernel lets the program make the call again, or tells it that it was interrupted. */
static void a_system_call_that_a_signal_interrupts_is_made_anew(void **state)
{
	(void)state;
	begin_in_c();
	for (unsigned int anew = 0; anew < 2; anew++) {
		ip_packet(ppt_tip, B + CALL);
		ip_packet(ppt_tip, ENTRY);
		ip_packet(ppt_tip, HANDLER);
		ip_packet(ppt_tip, RESTORE);
		ip_packet(ppt_tip, ENTRY);
		if (anew) {
			ip_packet(ppt_tip, B + CALL);
			ip_packet(ppt_tip, ENTRY);
		}
		ip_packet(ppt_tip, B + CALL + 2);
		ip_packet(ppt_tip, A + CALL);
		if (!anew) {
			ip_packet(ppt_tip, A + 2 * CALL);
			ip_packet(ppt_tip, MAIN + CALL);
		}
	}
#define HANDLED	"k        entry  <system call>\n" \
		"u        handler (lines)  <signal>\n" \
		"k          entry  <system call>\n"
	expect_calls(D, BOTH, IN_MAIN IN_C HANDLED "u      d (lines)\n"
		     IN_C HANDLED "k        entry  <system call>\n" "u      d (lines)\n");
}

/* User code stops at @from, or with a system call (0), and goes on at @to. */
static void leave_user_code(uint64_t from, uint64_t to)
{
	if (from)
		ip_packet(ppt_fup, from);
	suppressed(ppt_tip_pgd);
	ip_packet(ppt_tip_pge, to);
}

static void the_same_without_the_kernel(void **state)
{
	(void)state;
	for (unsigned int known = 0; known < 2; known++) {
		begin_in_c();
		leave_user_code(C + 1, HANDLER);
		ip_packet(ppt_tip, RESTORE);
		leave_user_code(0, C + 1);
		ip_packet(ppt_tip, B + CALL);
		leave_user_code(0, HANDLER);
		ip_packet(ppt_tip, RESTORE);
		leave_user_code(0, B + CALL);
		leave_user_code(0, B + CALL + 2);
		ip_packet(ppt_tip, A + CALL);
		if (known)
			expect_calls(D, USER | AUXTRACE_SETUP_THREAD, IN_MAIN IN_C
				     "u          handler (lines)  <signal>\n"
				     "u        handler (lines)  <signal>\n"
				     "u      d (lines)\n");
		else	/* Another thread may run there. */
			expect_calls(D, USER, IN_MAIN IN_C
				     "u        handler (lines)  <trace begins>\n"
				     "u      c+0x1 (lines)  <trace begins>\n"
				     "u      handler (lines)  <trace begins>\n"
				     "u    b+0x5 (lines)  <trace begins>\n"
				     "u    d (lines)\n");
	}
}

/* Writes cpu@cpu.data: a window in which thread 9 ran. Returns what meta says of it. */
static const char *put_turn(unsigned int cpu)
{
	const struct auxtrace_record_window w = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(w) },
		.window = 1, .begin_pid = 7, .begin_tid = 9, .pid = 7, .tid = 9, .end_position = position(),
		.begin_cause = AUXTRACE_CAUSE_TASK, .end_cause = AUXTRACE_CAUSE_TASK,
		.end = { .time = 9000, .size = sizeof(w) },
	};
	static char text[64];
	char name[32];
	FILE *f;

	snprintf(name, sizeof(name), "cpu%u.data", cpu);
	f = file(name);
	fwrite(&w, sizeof(w), 1, f);
	fclose(f);
	snprintf(text, sizeof(text), "windows 1 data_read %zu", sizeof(w));
	return text;
}

/* The thread goes to another CPU while it is in the kernel, which then begins the handler there. */
static void the_same_on_another_cpu(void **state)
{
	const struct result *r;
	char cpu[128];

	(void)state;
	begin_in_c();
	ip_packet(ppt_fup, C + 1);
	suppressed(ppt_tip_pgd);
	finish(USER | AUXTRACE_SETUP_THREAD, put_turn(0));
	begin_trace();
	psb(CR3, 5000, 0);
	ip_packet(ppt_tip_pge, HANDLER);
	ip_packet(ppt_tip, RESTORE);
	leave_user_code(0, C + 1);
	ip_packet(ppt_tip, A + CALL);
	suppressed(ppt_tip_pgd);
	snprintf(cpu, sizeof(cpu), "cpu 1 read %" PRIu64 " produced %" PRIu64 " %s\n", position(), position(), put_turn(1));
	finish_cpu("cpu1.aux");
	append("meta", cpu);
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u          handler (lines)  <signal>\n");
	expect_part(r->out, " u      d (lines)\n");
	assert_null(strstr(r->out, "c+0x1"));
}

/* In c, a signal; behind its handler the next one, and then the handler has told the kernel to go on in a. */
static void the_next_signal_is_not_inside_the_handler(void **state)
{
	(void)state;
	begin_in_c();
	ip_packet(ppt_fup, C + 1);
	ip_packet(ppt_tip, IRQ);
	for (unsigned int i = 0; i < 3; i++) {
		ip_packet(ppt_tip, HANDLER);
		ip_packet(ppt_tip, RESTORE);
		ip_packet(ppt_tip, ENTRY);
	}
	ip_packet(ppt_tip, A + CALL);
#define NEXT	"u          handler (lines)  <signal>\n" \
		"k            entry  <system call>\n"
	expect_calls(D, BOTH, IN_MAIN IN_C "k          irq  <interrupt>\n" NEXT NEXT NEXT "u      d (lines)\n");
}

/* SCHED is the entry for system calls, which calls SWITCH. */
static void exec_begins_anew(void **state)
{
	(void)state;
	for (unsigned int fails = 0; fails < 2; fails++) {
		FILE *f = file("kallsyms");

		fprintf(f, "%llx T entry_SYSCALL_64\n%llx t %s\n", SCHED, SWITCH, fails ? "__x64_sys_execve" : "setup_new_exec");
		fclose(f);
		begin_in_c();
		ip_packet(ppt_tip, B + CALL);
		ip_packet(ppt_tip, SCHED);
		pip(CR3);
		tnt("!");
		ip_packet(ppt_tip, START);
		if (fails)	/* A signal has come meanwhile. */
			expect_calls(D, BOTH, IN_MAIN IN_C
				     "k        entry_SYSCALL_64  <system call execve>\n"
				     "k          __x64_sys_execve\n"
				     "u        start (lines)  <signal>\n"
				     "u          d (lines)\n");
		else
			expect_calls(D, BOTH, IN_MAIN IN_C
				     "k        entry_SYSCALL_64  <system call>\n"
				     "k          setup_new_exec\n"
				     "u  start (lines)  <exec>\n"
				     "u    d (lines)\n");
	}
}

/* A kretprobe lets what SCHED calls return to OFF, and that returns to SCHED. */
static void a_trampoline_returns_for_the_function(void **state)
{
	FILE *f = file("kallsyms");

	(void)state;
	fprintf(f, "%llx T sched\n%llx t probed\n%llx t arch_rethook_trampoline\n", SCHED, SWITCH, OFF);
	fclose(f);
	begin_in_c();
	ip_packet(ppt_tip, B + CALL);
	ip_packet(ppt_tip, SCHED);
	pip(CR3);
	ip_packet(ppt_tip, OFF);
	ip_packet(ppt_tip, SCHED + CALL);
	ip_packet(ppt_tip, B + CALL + 2);
	ip_packet(ppt_tip, A + CALL);
	expect_calls(D, BOTH, IN_MAIN IN_C
		     "k        sched  <system call>\n"
		     "k          probed\n"
		     "u      d (lines)\n");
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_jump_into_an_outer_function_ends_the_calls_in_it),
		t(so_does_an_exception),
		t(a_part_that_seldom_runs_ends_nothing),
		t(a_signal_is_handled_inside_what_it_interrupts),
		t(a_system_call_that_a_signal_interrupts_is_made_anew),
		t(the_same_without_the_kernel),
		t(the_same_on_another_cpu),
		t(the_next_signal_is_not_inside_the_handler),
		t(exec_begins_anew),
		t(a_trampoline_returns_for_the_function),
	};

	return cmocka_run_group_tests_name("unwind", tests, NULL, NULL);
}
