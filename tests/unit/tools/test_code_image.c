// SPDX-License-Identifier: GPL-2.0-only
/* Whose code an address is: processes by CR3 and time, files, the vdso, what the kernel and a JIT made. */
#include "made.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "decode/code_blocks.h"
#include "packets.h"

/* A window: main, mapped at @main, calls f, which takes its branch, and then the kernel. */
static void run_main(uint64_t time, uint64_t main)
{
	psb(CR3, time, 0);
	ip_packet(ppt_tip_pge, main);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
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
	run_main(1000, MAIN);
	run_main(6000, 0x20001000);
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
	run_main(1000, MAIN);
	run_main(6000, MAIN);
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
	run_main(1000, MAIN);
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

/*
 * Process 100 ran the program that was at the path before, process 101 the one that is there. The same address has other code.
 */
static void a_file_that_was_replaced_is_not_taken_for_the_one_that_is_there(void **state)
{
	const struct result *r;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "sed -i '/^file /d; /r-xp/s/$/ (deleted)/' %s", program_path("task.100"));
	assert_int_equal(system(text), 0);
	write_task("101", OTHER, 0, program_path("prog"), BASE);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	psb(OTHER, 2000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 2");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	snprintf(text, sizeof(text), "%s is not the file that ran: it had been replaced, changed or removed when the recording was written",
		 program_path("prog"));
	expect_part(r->err, text);
	expect_part(r->out, "no memory mapped at this address");
	expect_part(r->err, "decode errors: 1");
	/* Those of process 101, and one of the kernel. */
	expect_part(r->err, "6 instructions");
}

static void nothing_is_named_by_a_file_that_was_replaced(void **state)
{
	const struct result *r;
	char text[512];

	(void)state;
	snprintf(text, sizeof(text), "sed -i '/^file /d; /r-xp/s/$/ (deleted)/' %s", program_path("task.100"));
	assert_int_equal(system(text), 0);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	finish(BOTH, "windows 1");
	r = script("--calls");
	assert_int_equal(r->status, 1);
	assert_null(strstr(r->out, "main"));
	expect_part(r->err, "decode errors: 1");
}

static void a_file_that_had_gone_by_the_end_is_told(void **state)
{
	const struct result *r;

	(void)state;
	append("task.100", "map 7f0000001000-7f0000002000 r-xp 00000000 00:00 1 /nowhere/conftest\n"
	       "map 7f0000002000-7f0000003000 r-xs 00000000 00:00 1 /memfd:made (deleted)\n"
	       "map 7f0000003000-7f0000004000 r--p 00000000 00:00 1 /nowhere/data (deleted)\n");
	run_main(1000, MAIN);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "/nowhere/conftest is not the file that ran: it had been replaced, changed or removed");
	assert_null(strstr(r->err, "memfd"));
	assert_null(strstr(r->err, "data"));
}

static void a_file_of_data_may_have_gone(void **state)
{
	const struct result *r;

	(void)state;
	append("task.100", "file 4096 1.000000000 /var/log/gone.journal\n"
	       "map 7f0000000000-7f0000001000 rw-s 00000000 00:00 1 /var/log/gone.journal\n");
	run_main(1000, MAIN);
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
	run_main(1000, MAIN);
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
#define JUMPED	(MADE + 2)

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

/*
 * What task @task made at time @first, and in its place at @second: a jump to the next instruction, a nop, two more such
 * jumps, and a nop. The first nop has one byte at @first, two at @second.
 */
static void write_made(const char *task, uint64_t flags, uint64_t first, uint64_t second)
{
	const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, 100, 0, 0, flags, 0 };
	char name[32], text[64];
	FILE *f;

	snprintf(name, sizeof(name), "jit.%s", task);
	f = file(name);
	fwrite(header, sizeof(header), 1, f);
	put_made(f, first, "first", "\x75\x00\x90\x75\x00\x75\x00\x90", 8);
	put_made(f, second, "second", "\x75\x00\x66\x90\x75\x00\x75\x00\x90", 9);
	fclose(f);
	snprintf(name, sizeof(name), "task.%s", task);
	snprintf(text, sizeof(text), "jit jit.%s\n", task);
	append(name, text);
}

static void run_made(uint64_t cr3, uint64_t time, bool second)
{
	psb(cr3, time, 0);
	ip_packet(ppt_tip_pge, MADE);
	tnt("!!!");
	ip_packet(ppt_fup, JUMPED + 5 + second);
	suppressed(ppt_tip_pgd);
	line("# enable %016llx", MADE);
	insn(MADE, 2);
	insn(JUMPED, 1 + second);
	insn(JUMPED + 1 + second, 2);
	insn(JUMPED + 3 + second, 2);
	line("# disable -");
}

static void code_that_was_made_at_run_time_is_told_apart_by_time(void **state)
{
	const struct result *r;
	char cpu[64];

	(void)state;
	write_made("100", 1, 1000, 5000);
	line("# cpu 0");
	line("# cpu 1");
	line("# window 1");
	run_made(CR3, 2000, false);
	line("# window 2");
	run_made(CR3, 6000, true);
	finish(BOTH, "windows 2");
	/* Behind the first CPU the decoder goes back in time. */
	begin_trace();
	line("# window 1");
	run_made(CR3, 2000, false);
	snprintf(cpu, sizeof(cpu), "cpu 1 read %" PRIu64 " produced %" PRIu64 " windows 1\n", position(), position());
	finish_cpu("cpu1.aux");
	append("meta", cpu);
	r = script("--insn --jobs 1");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	/* Here the decoder goes over several blocks at once. */
	r = script("--errors --jobs 1");
	expect_part(r->err, "12 instructions in 3 windows");
	expect_part(r->err, "decode errors: 0");
	r = script("--calls");
	expect_part(r->out, "first ([jit])  <trace begins>\n");
	expect_part(r->out, "second ([jit])  <trace begins>\n");
}

static void a_cr3_with_another_mask_is_not_used(void **state)
{
	const struct result *r;

	(void)state;
	write_task("200", OTHER, 0, program_path("prog"), BASE);
	append("task.200", "cr3_mask 0xffff000\n");
	run_main(1000, MAIN);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	/* Which file is read first is the directory's affair. */
	expect_part(r->err, "has cr3_mask 0xf");
	expect_part(r->err, "its CR3 is not used");
}

/* code_space() of user code where the process that runs is not known */
static uint64_t space_of(uint64_t cr3)
{
	return cr3 >> 12 << 22;
}

/* The decoder keeps blocks of code. Those of two processes at the same address do not serve for each other. */
static void code_of_two_processes_that_has_one_place_is_told_apart(void **state)
{
	/* As the decoder has them for one CPU. */
	struct code_blocks blocks = { .bits = 18 };
	uint64_t cr3 = CR3 + 0x1000;
	const struct result *r;

	(void)state;
	while (code_blocks_place(&blocks, space_of(cr3), JUMPED) != code_blocks_place(&blocks, space_of(CR3), JUMPED))
		cr3 += 0x1000;
	write_task("200", cr3, 0, program_path("prog"), BASE);
	write_made("100", 1, 1000, 9000);
	write_made("200", 1, 1000, 1001);
	line("# cpu 0");
	line("# window 1");
	run_made(CR3, 2000, false);
	line("# window 2");
	run_made(cr3, 3000, true);
	finish(BOTH, "windows 2");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	r = script("--errors");
	expect_part(r->err, "8 instructions in 2 windows");
	expect_part(r->err, "decode errors: 0");
}

/* 100 ns of CLOCK_MONOTONIC are 1000 ticks of the TSC here. */
static void times_of_made_code_are_converted(void **state)
{
	const struct result *r;

	(void)state;
	write_made("100", 0, 700, 1300);
	line("# cpu 0");
	line("# window 1");
	run_made(CR3, 12000, false);
	line("# window 2");
	run_made(CR3, 14000, true);
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
	write_made("100", 1, 1000, 5000);
	assert_int_equal(truncate(program_path("jit.100"), 40 + 56 + 6 + 8 + 20), 0);
	line("# cpu 0");
	line("# window 1");
	run_made(CR3, 6000, false);
	finish(BOTH, "windows 1");
	r = script("--insn");
	expect_flow(r);
	expect_part(r->err, "jit.100: there is no record at offset 110: the rest is not read");
	fputs("no dump", file("jit.100"));
	fflush(NULL);
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "jit.100 is not a dump of code (jitdump): it is not used");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_probed_instruction_is_skipped_and_named),
		t(a_user_trace_finds_its_only_process_by_address),
		t(a_user_trace_never_guesses_between_two_processes),
		t(a_cr3_that_was_used_twice_is_told_apart_by_time),
		t(a_cr3_of_a_process_that_has_ended_is_not_taken_for_its),
		t(a_process_that_was_noted_after_the_trace_counts_if_it_is_the_only_one),
		t(two_files_that_took_turns_at_an_address_are_not_chosen_between),
		t(a_file_that_has_changed_is_not_believed),
		t(a_file_that_was_replaced_is_not_taken_for_the_one_that_is_there),
		t(nothing_is_named_by_a_file_that_was_replaced),
		t(a_file_that_had_gone_by_the_end_is_told),
		t(a_file_of_data_may_have_gone),
		t(files_below_symfs_serve_for_another_machine_s),
		t(a_cr3_with_another_mask_is_not_used),
		t(the_vdso_s_own_bytes_are_used),
		t(code_that_was_made_at_run_time_is_told_apart_by_time),
		t(code_of_two_processes_that_has_one_place_is_told_apart),
		t(times_of_made_code_are_converted),
		t(a_dump_of_code_that_is_damaged_is_told),
	};

	return cmocka_run_group_tests_name("code_image", tests, NULL, NULL);
}
