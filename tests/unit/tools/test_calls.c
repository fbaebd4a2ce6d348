// SPDX-License-Identifier: GPL-2.0-only
/* The calls that auxtrace script shows: their indentation, times, system calls, deep recursion. */
#include "made.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <linux/auxtrace.h>

#include "packets.h"

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

/* main calls rec, which calls itself @depth times; the innermost calls leaf @leaves times, and all return. 0: the trace ends there. */
static void recurse(unsigned int depth, unsigned int leaves)
{
	write_program_with_lines(
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
	expect_part(script("--max-depth 2")->err, "a thread has more than 262144 open calls, one inside the other");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(calls_are_indented_with_time_and_names),
		t(system_calls_are_named),
		t(deep_recursion_costs_no_more_than_other_calls),
		t(calls_beyond_the_limit_are_told),
		t(a_fault_at_the_first_instruction_is_inside_the_call),
	};

	return cmocka_run_group_tests_name("calls", tests, NULL, NULL);
}
