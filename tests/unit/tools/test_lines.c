// SPDX-License-Identifier: GPL-2.0-only
/* Source lines of programs and of the kernel, by auxtrace script --lines. */
#include "made.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/auxtrace.h>

#include "packets.h"

/* What made.c writes as the program. */
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
	write_program_with_lines(same_code);
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
	write_program_with_lines(same_code);
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
	write_program_with_lines("	.globl main, f\n"
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

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(the_kernel_and_its_modules_have_lines),
		t(debug_files_of_another_kernel_are_not_used),
		t(lines_in_a_part_have_their_call),
		t(lines_of_a_call_from_before_have_its_name),
		t(a_line_after_recursion_is_of_the_outer_call),
	};

	return cmocka_run_group_tests_name("lines", tests, NULL, NULL);
}
