// SPDX-License-Identifier: GPL-2.0-only
/* Who ran, by name, and how the kernel's code was then: script on side files and records made here. */
#include "made.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <string.h>

#include <linux/auxtrace.h>

#include "packets.h"

#define USER	AUXTRACE_SETUP_USER

/* ---- perf's records ------------------------------------------------------ */

static FILE *side;
static unsigned int side_cpu;

static void begin_side(unsigned int cpu)
{
	char name[32];

	snprintf(name, sizeof(name), "cpu%u.side", cpu);
	side = file(name);
	side_cpu = cpu;
}

/* Bytes by which the size of a record is too large: perf_trailer.h */
static unsigned int excess;

/* A record of thread @tid at @tsc. @body: @size bytes of it, a multiple of 8. */
static void put(uint32_t type, uint16_t misc, uint32_t tid, uint64_t tsc, const void *body, size_t size)
{
	/* By meta's numbers perf's clock was a second at TSC 0, and counts as the TSC. */
	const struct {
		uint32_t pid, tid;
		uint64_t time;
		uint32_t cpu, reserved;
		uint64_t id;
	} end = { tid, tid, 1000000000 + tsc, side_cpu, 0, 1 };
	const struct perf_event_header header = {
		.type = type, .misc = misc, .size = sizeof(header) + size + sizeof(end) + excess,
	};

	assert_int_equal(size % 8, 0);
	fwrite(&header, sizeof(header), 1, side);
	fwrite(body, 1, size, side);
	fwrite(&end, sizeof(end), 1, side);
	for (unsigned int i = 0; i < excess; i++)
		putc(0x77, side);
}

static void put_switch(uint32_t tid, uint32_t next, uint64_t tsc)
{
	const uint32_t to[] = { next, next };

	put(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, tid, tsc, to, sizeof(to));
	put(PERF_RECORD_SWITCH_CPU_WIDE, 0, next, tsc + 1, (uint32_t[]){ tid, tid }, sizeof(to));
}

static void put_lost(uint64_t tsc)
{
	put(PERF_RECORD_LOST, 0, 1, tsc, (uint64_t[]){ 1, 2 }, 16);
}

/* @misc: PERF_RECORD_MISC_COMM_EXEC, or 0 */
static void put_name(uint32_t tid, uint64_t tsc, const char *name, uint16_t misc)
{
	struct {
		uint32_t pid, tid;
		char comm[16];
	} comm = { tid, tid, "" };

	snprintf(comm.comm, sizeof(comm.comm), "%s", name);
	put(PERF_RECORD_COMM, misc, tid, tsc, &comm, sizeof(comm));
}

static void put_comm(uint32_t tid, uint64_t tsc, const char *name)
{
	put_name(tid, tsc, name, 0);
}

static void put_fork(uint32_t parent, uint32_t tid, uint64_t tsc)
{
	const struct {
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} fork = { tid, parent, tid, parent, tsc };

	put(PERF_RECORD_FORK, 0, parent, tsc, &fork, sizeof(fork));
}

/* The kernel's code changes. Without old bytes it comes, and without new ones it goes. */
static void put_poke(uint64_t addr, uint64_t tsc, const char *old, uint16_t old_len, const char *new, uint16_t new_len)
{
	struct {
		uint64_t addr;
		uint16_t old_len, new_len;
		uint8_t bytes[20];
	} poke = { addr, old_len, new_len, "" };

	memcpy(poke.bytes, old, old_len);
	memcpy(poke.bytes + old_len, new, new_len);
	/* Filled up with zeros to a multiple of 8 */
	put(PERF_RECORD_TEXT_POKE, 0, 1, tsc, &poke, (offsetof(typeof(poke), bytes) + old_len + new_len + 7) & ~7ul);
}

#define POKE(addr, tsc, old, new)	put_poke(addr, tsc, old, sizeof(old) - 1, new, sizeof(new) - 1)

/* @flags: PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, or 0 */
static void put_ksymbol(uint64_t addr, uint32_t len, uint16_t type, uint16_t flags, uint64_t tsc, const char *name)
{
	struct {
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char name[24];
	} ksymbol = { addr, len, type, flags, "" };

	snprintf(ksymbol.name, sizeof(ksymbol.name), "%s", name);
	put(PERF_RECORD_KSYMBOL, 0, 1, tsc, &ksymbol, (offsetof(typeof(ksymbol), name) + strlen(name) + 8) & ~7ul);
}

static void end_side(void)
{
	fclose(side);
}

static void write_threads(const char *text)
{
	FILE *f = file("threads");

	fputs(text, f);
	fclose(f);
}

/* ---- the trace ----------------------------------------------------------- */

/* The function that the kernel calls at an interrupt is __switch_to. */
static void name_switch(void)
{
	FILE *f = file("kallsyms");

	fprintf(f, "%llx T entry\n%llx T irq\n%llx t __switch_to\n%llx T sched\n", ENTRY, IRQ, SWITCH, SCHED);
	fclose(f);
}

/* From main to the kernel, which switches at @time, and back to main in the other thread, which has @cr3. */
static void switch_to(uint64_t time, uint64_t cr3)
{
	ip_packet(ppt_fup, MAIN);
	ip_packet(ppt_tip, SCHED);
	tsc(time);
	pip(cr3);
	tnt("!");
	ip_packet(ppt_tip, MAIN);
}

static void switch_at(uint64_t time)
{
	switch_to(time, CR3);
}

/* main calls f, once, and the kernel. */
static void call_f(void)
{
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	ip_packet(ppt_tip, MAIN);
}

static void stop_in_main(void)
{
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
}

/* A part of a user trace: main calls f, at @time. */
static void user_part(uint64_t time)
{
	tsc(time);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
}

static const char *thread_line(unsigned int cpu, uint64_t time, const char *name, const char *number,
			       const char *duration, const char *rest)
{
	static char text[160];

	snprintf(text, sizeof(text), "%3u        1.%09" PRIu64 " %-15s %-11s%9s %s\n", cpu, time, name, number,
		 duration, rest);
	return text;
}

/* ---- tests --------------------------------------------------------------- */

static void the_thread_changes_where_the_kernel_switches(void **state)
{
	const struct result *r;

	(void)state;
	name_switch();
	write_threads("tsc 1\n100 100 first\n200 200 second one\n");
	begin_side(0);
	put_switch(100, 200, 499990);
	put_switch(200, 0, 999990);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_at(500000);
	call_f();
	switch_at(1000000);
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 1\n# thread 100 100\n");
	expect_part(r->out, "ffffffff81000030 5\n# thread 200 200\nffffffff81000020 3\n");
	expect_part(r->out, "ffffffff81000030 5\n# thread 0 0\nffffffff81000020 3\n");
	r = script("");
	expect_part(r->out, thread_line(0, 1000, "first", "100", ">499us", "u  main (prog)  <trace begins>"));
	expect_part(r->out, thread_line(0, 500320, "second one", "200", "<999us", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 1000000, "swapper", "0", "", "k    __switch_to"));
}

/* Thread 100 runs main, and from 500000 to 1000000 process 200, which has the CR3 OTHER. */
static void change_to_200(void)
{
	begin_side(0);
	put_switch(100, 200, 499990);
	put_switch(200, 100, 999990);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_to(500000, OTHER);
}

/* Process 200 runs in an address space that process 300 has later. @end: a line that ends it. */
static const struct result *process_without_cr3(uint64_t begin, const char *end)
{
	name_switch();
	write_other_program("second");
	write_task("200", CR3_UNKNOWN, begin, program_path("second"), BASE);
	append("task.200", end);
	write_task("300", OTHER, 1000, program_path("prog"), BASE);
	change_to_200();
	call_f();
	switch_to(1000000, CR3);
	stop_in_main();
	finish(BOTH, "windows 1");
	return script("");
}

/* Its page tables are not known, but the trace says when it ran. */
static void a_process_that_ended_before_it_was_read_is_known_by_its_number(void **state)
{
	const struct result *r;

	(void)state;
	r = process_without_cr3(400000, "end_tsc 2000000\n");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "u    f (second)");
	assert_null(strstr(r->out, "f (prog)"));
	expect_part(r->err, "decode errors: 0");
}

/* Two processes have other code at the same addresses, and the CR3 of neither is known. */
static void blocks_of_code_are_told_apart_by_the_process(void **state)
{
	const struct result *r;
	const char *at;

	(void)state;
	name_switch();
	write_other_program("second");
	write_task("200", CR3_UNKNOWN, 1, program_path("second"), BASE);
	write_task("300", CR3_UNKNOWN, 1, program_path("prog"), BASE);
	begin_side(0);
	put_switch(200, 300, 499990);
	put_switch(300, 200, 999990);
	put_switch(200, 300, 1499990);
	end_side();
	psb(OTHER, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	for (uint64_t time = 500000; time <= 1500000; time += 500000) {
		call_f();
		switch_to(time, OTHER);
	}
	call_f();
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	at = r->out;
	for (int turn = 0; turn < 4; turn++) {
		at = strstr(at, "    f (");
		assert_non_null(at);
		assert_int_equal(strncmp(at, turn % 2 ? "    f (prog)" : "    f (second)", 12), 0);
		at++;
	}
	assert_null(strstr(at, "    f ("));
}

/* Neither program could be read before the process had ended. */
static void blocks_of_code_are_told_apart_by_the_exec(void **state)
{
	const struct result *r;
	const char *at;

	(void)state;
	name_switch();
	write_other_program("second");
	write_task("200", CR3_UNKNOWN, 1, program_path("second"), BASE);
	append("task.200", "end_tsc 700000\n");
	write_task("200.1", CR3_UNKNOWN, 700000, program_path("prog"), BASE);
	change_to_200();
	call_f();
	call_f();
	tsc(800000);
	/* The decoder is in this one still when it reads the time. */
	call_f();
	call_f();
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	at = strstr(r->out, "    f (second)");
	assert_non_null(at);
	at = strstr(at + 1, "    f (second)");
	assert_non_null(at);
	at = strstr(at, "    f (prog)");
	assert_non_null(at);
	assert_null(strstr(at, "f (second)"));
}

static void where_it_has_ended_its_number_is_another_one_s(void **state)
{
	const struct result *r;

	(void)state;
	r = process_without_cr3(100, "end_tsc 200\n");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "u    f (prog)");
	assert_null(strstr(r->out, "f (second)"));
}

/* By vfork a process has its parent's address space at first. */
static void before_it_began_the_page_tables_decide(void **state)
{
	const struct result *r;

	(void)state;
	r = process_without_cr3(2000000, "");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "u    f (prog)");
	assert_null(strstr(r->out, "f (second)"));
	/* Nobody has them: the time may be a little early. */
	append("task.300", "end_tsc 2000\n");
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "u    f (second)");
}

static const struct result *report_time(const char *time)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "report --tid 100 --time %s %s", time, dir);
	return run_auxtrace(arguments);
}

/* Of a call that waits, a part has what it waited there, and no more. */
static void a_part_by_time_has_the_waiting_inside_it(void **state)
{
	(void)state;
	name_switch();
	write_threads("tsc 1\n100 100 first\n200 200 second\n");
	begin_side(0);
	put_switch(100, 200, 499990);
	put_switch(200, 100, 899990);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_at(500000);
	call_f();
	switch_at(900000);
	tsc(1000000);
	call_f();
	stop_in_main();
	finish(BOTH, "windows 1");
	expect_part(report_time("1,2")->out,
		    "       0      1    999us    499us    400us        -        -        -            2  u  main (prog)\n");
	/* It leaves at 500000, */
	expect_part(report_time("1.0004,1.0006")->out,
		    "       0      1    200us    100us    100us        -        -        -            -  u  main (prog)\n"
		    "       1      1    100us        -    100us        -        -        -            -  k  sched\n");
	expect_part(report_time("1.0006,1.0007")->out,
		    "       0      1    100us        -    100us        -        -        -            -  u  main (prog)\n"
		    "       0      1    100us        -    100us        -        -        -            -  k  sched\n");
	/* comes back at 900000, and calls f then. */
	expect_part(report_time("1.0008,1.00095")->out,
		    "       1      1   49.7us   49.7us        -        -        -        -            -  u  f (prog)\n"
		    "       0      1    100us    128ns    100us        -        -        -            -  k  sched\n"
		    "       1      0    128ns    128ns        -    128ns    128ns    128ns            2  k  __switch_to\n"
		    "       0      1    150us     64ns    100us        -        -        -            -  u  main (prog)\n");
	expect_part(report_time("1.00095,2")->out,
		    "       0      1   50.0us   50.0us        -        -        -        -            -  u  f (prog)\n");
}

/* The packet with the time is before the record of the switch: there is none between that and the switch. */
static void the_records_order_counts_where_the_times_are_coarse(void **state)
{
	const struct result *r;

	(void)state;
	name_switch();
	begin_side(0);
	put_switch(100, 200, 500100);
	put_switch(200, 300, 500200);
	put_switch(300, 400, 9000000);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_at(500000);
	switch_at(500000);
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# thread 200 200\nffffffff81000020 3\n");
	expect_part(r->out, "# thread 300 300\nffffffff81000020 3\n");
}

static void without_the_kernel_it_changes_where_user_code_begins(void **state)
{
	const struct result *r;

	(void)state;
	begin_side(0);
	put_switch(100, 200, 2000);
	put_switch(200, 300, 3000);
	end_side();
	psb(0, 1000, 0);
	user_part(1000);
	user_part(1500);
	user_part(2500);
	user_part(3500);
	finish(USER, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 1\n# thread 100 100\n# enable ");
	expect_part(r->out, "# disable -\n# thread 200 200\n# enable ");
	expect_part(r->out, "# disable -\n# thread 300 300\n# enable ");
	assert_null(strstr(strstr(r->out, "# thread 100") + 1, "# thread 100"));
}

/* User code stops for a system call, and goes on in a function's begin: a signal's handler, unless perf has a record of exec. */
static void without_the_kernel_exec_is_known_by_perf(void **state)
{
	(void)state;
	for (unsigned int exec = 0; exec < 2; exec++) {
		const struct result *r;

		begin_trace();
		begin_side(0);
		put_switch(200, 100, 500);
		put_name(100, 1700, "prog", exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
		end_side();
		psb(CR3, 1000, 0);
		ip_packet(ppt_tip_pge, MAIN);
		tnt("!!");
		suppressed(ppt_tip_pgd);
		tsc(2000);
		ip_packet(ppt_tip_pge, F);
		suppressed(ppt_tip_pgd);
		finish(USER, "windows 1");
		r = script("");
		assert_int_equal(r->status, 0);
		expect_part(r->out, exec ? " u  f (prog)  <exec>\n" : " u    f (prog)  <signal>\n");
	}
}

/* The record of a switch is written, the hardware stops and goes on for a tail, and then the kernel switches. */
/* A thread that alone was traced may never have left its CPU: then there is no record of a switch. */
static void the_only_thread_needs_no_switch(void **state)
{
	struct auxtrace_record_window w = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(w) },
		.window = 1, .begin_pid = 7, .begin_tid = 9, .pid = 7, .tid = 9,
		.end = { .time = 1000, .size = sizeof(w) },
	};
	const uint32_t flags[] = {
		USER | AUXTRACE_SETUP_THREAD, USER | AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_DESCENDANTS, USER,
	};
	char cpu[64];

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	suppressed(ppt_tip_pgd);
	w.end_position = position();
	write_records(&w, sizeof(w));
	snprintf(cpu, sizeof(cpu), "windows 1 data_read %zu", sizeof(w));
	for (unsigned int i = 0; i < 3; i++) {
		const struct result *r;

		write_trace(stream, w.end_position, MACHINE, flags[i], cpu);
		r = script("--insn");
		assert_int_equal(r->status, 0);
		if (!i)
			expect_part(r->out, "# thread 7 9\n");
		else
			assert_null(strstr(r->out, "# thread 7 9\n"));
	}
}

static void within_a_window_the_thread_changes_only_where_the_kernel_switches(void **state)
{
	const struct result *r;

	(void)state;
	name_switch();
	begin_side(0);
	put_switch(100, 200, 3000);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	ip_packet(ppt_fup, MAIN);
	ip_packet(ppt_tip, OFF);
	ip_packet(ppt_fup, OFF + 3);
	suppressed(ppt_tip_pgd);
	tsc(3100);
	ip_packet(ppt_tip_pge, OFF + 3);
	ip_packet(ppt_tip, SCHED);
	pip(CR3);
	tnt("!");
	ip_packet(ppt_tip, MAIN);
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# thread 100 100\n# enable");
	expect_part(r->out, "# enable ffffffff81000053\nffffffff81000053 1\nffffffff81000054 1\nffffffff81000030 5\n# thread 200 200\nffffffff81000020 3\n");
}

static void a_name_is_the_one_of_its_time(void **state)
{
	const struct result *r;

	(void)state;
	write_threads("tsc 1\n100 100 old\n");
	begin_side(0);
	/* A child has its parent's name, until it has its own. Its parent's later one is not its. */
	put_comm(100, 2000, "new");
	put_switch(100, 100, 3000);
	put_fork(100, 200, 4000);
	put_comm(100, 4500, "newest");
	put_switch(100, 200, 5000);
	put_comm(200, 6000, "own");
	put_switch(200, 300, 8000);
	end_side();
	psb(0, 1000, 0);
	user_part(1000);
	user_part(2500);
	user_part(4600);
	user_part(5500);
	user_part(6500);
	user_part(8500);
	finish(USER, "windows 1");
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, thread_line(0, 1064, "old", "100", "<1.50us", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 2564, "new", "100", "<2.10us", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 4664, "newest", "100", "<900ns", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 5564, "new", "200", "<1.00us", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 6564, "own", "200", "<2.00us", "u    f (prog)"));
	expect_part(r->out, thread_line(0, 8500, "-", "300", "", "u    f (prog)"));
}

static void a_thread_keeps_its_stack_on_another_cpu_and_turns_come_by_time(void **state)
{
	const struct result *r;
	char cpu1[64];

	(void)state;
	/* Thread 100 stops in f on CPU 0, and goes on there on CPU 1. */
	begin_side(0);
	put_switch(100, 200, 2000);
	end_side();
	begin_side(1);
	put_switch(300, 100, 2500);
	end_side();
	psb(0, 1500, 0);
	user_part(1500);
	tsc(3000);
	ip_packet(ppt_tip_pge, F + 2);
	tnt("!");
	ip_packet(ppt_tip, MAIN + 5);
	suppressed(ppt_tip_pgd);
	tsc(3100);
	ip_packet(ppt_tip_pge, MAIN + 7);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	snprintf(cpu1, sizeof(cpu1), "cpu 1 read %" PRIu64 " produced 999 windows 1\n", position());
	finish_cpu("cpu1.aux");
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	ip_packet(ppt_fup, F + 2);
	suppressed(ppt_tip_pgd);
	user_part(4000);
	finish(USER, "windows 1");
	append("meta", cpu1);
	r = script("");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"  0 window 1\n"
		"  1 window 1\n"
		"  0        1.000001000 -               100          >2.10us u  main (prog)  <trace begins>\n"
		"  0        1.000001064 -               100          <2.10us u    f (prog)\n"
		"  1        1.000001500 -               300          >1.50us u  main (prog)  <trace begins>\n"
		"  1        1.000001564 -               300          <1.50us u    f (prog)\n"
		"  1        1.000003100 -               100                  u    f (prog)\n"
		"  0        1.000004000 -               200                  u  main (prog)  <trace begins>\n"
		"  0        1.000004000 -               200                  u    f (prog)\n");
}

static void where_records_are_lost_the_thread_is_unknown(void **state)
{
	const struct result *r;

	(void)state;
	name_switch();
	begin_side(0);
	put_switch(100, 200, 499990);
	put_switch(300, 400, 1999990);
	put_lost(1999995);
	put_switch(400, 500, 2999990);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_at(500000);
	/* To 300: the record of this is lost. */
	switch_at(1000000);
	call_f();
	switch_at(2000000);
	switch_at(3000000);
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# thread 100 100\n");
	assert_null(strstr(r->out, "# thread 200 200\n"));
	assert_null(strstr(r->out, "# thread 400 400\n"));
	expect_part(r->out, "# thread -\nffffffff81000020 3\n");
	expect_part(r->out, "# thread 500 500\nffffffff81000020 3\n");
}

static void missing_records_that_are_not_told_are_noticed(void **state)
{
	const struct result *r;

	(void)state;
	name_switch();
	begin_side(0);
	put_switch(100, 200, 499990);
	/* From 200 to 300, at a million; and soon after that: */
	put_switch(300, 400, 1000050);
	/* perf has no number for a thread that has exited. */
	put_switch(UINT32_MAX, 500, 2000000);
	end_side();
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	switch_at(500000);
	switch_at(1000000);
	switch_at(1000060);
	switch_at(2000010);
	stop_in_main();
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# thread 100 100\n");
	assert_null(strstr(r->out, "# thread 200 200\n"));
	expect_part(r->out, "# thread -\nffffffff81000020 3\n");
	expect_part(strstr(r->out, "# thread -\n"), "ffffffff81000020 3\nffffffff81000023 1\nffffffff81000035 2\n# async 0000000000401000 ffffffff81000030\nffffffff81000030 5\n# thread 400 400\nffffffff81000020 3\n");
	expect_part(r->out, "# thread 500 500\nffffffff81000020 3\n");
}

static void switches_of_the_data_ring_count_more_than_perfs(void **state)
{
	struct {
		struct auxtrace_record_switch first, second;
		struct auxtrace_record_lost lost;
		struct auxtrace_record_switch third;
	} records = {
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(records.first) }, 200, 201,
		  { 2000, 101, sizeof(records.first) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(records.first) }, 300, 301,
		  { 3000, 201, sizeof(records.first) } },
		{ { AUXTRACE_RECORD_LOST, 0, sizeof(records.lost) }, 0, 5, { 4000, 0, sizeof(records.lost) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(records.first) }, 400, 401,
		  { 4001, 999, sizeof(records.first) } },
	};
	const struct result *r;
	char cpu[64];

	(void)state;
	begin_side(0);
	put_switch(7, 8, 1500);
	put_comm(401, 1600, "named");
	end_side();
	write_records(&records, sizeof(records));
	psb(0, 1000, 0);
	user_part(1100);
	user_part(2500);
	user_part(3500);
	user_part(4500);
	snprintf(cpu, sizeof(cpu), "windows 1 data_read %zu", sizeof(records));
	finish(USER, cpu);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# thread 0 101\n");
	expect_part(r->out, "# thread 200 201\n# enable ");
	expect_part(r->out, "# thread -\n# enable ");
	expect_part(r->out, "# thread 400 401\n# enable ");
	assert_null(strstr(r->out, "# thread 300 301"));
	assert_null(strstr(r->out, "# thread 8 8"));
	expect_part(script("")->out, thread_line(0, 4500, "named", "400/401", "", "u    f (prog)"));
}

static void a_damaged_side_file_is_told_and_not_believed(void **state)
{
	static const struct perf_event_header bad[] = {
		{ 0 }, { .type = 14, .size = 8 }, { .type = 14, .size = 39 }, { .type = 14, .size = 47 },
		{ .type = 14, .size = 65528 },
	};
	const struct result *r;
	char text[256];

	(void)state;
	psb(0, 1000, 0);
	user_part(1100);
	user_part(2500);
	user_part(3500);
	finish(USER, "windows 1");
	snprintf(text, sizeof(text), "%s/cpu0.side: there is no record at offset %d: the rest is not read", dir, 96);
	for (unsigned int i = 0; i <= sizeof(bad) / sizeof(*bad); i++) {
		begin_side(0);
		put_switch(100, 200, 2000);
		if (i < sizeof(bad) / sizeof(*bad)) {
			fwrite(&bad[i], sizeof(bad[i]), 1, side);
			put_switch(200, 300, 3000);
		} else {
			fwrite("cut", 1, 3, side);
		}
		end_side();
		r = script("--insn");
		assert_int_equal(r->status, 0);
		expect_part(r->err, text);
		expect_part(r->out, "# thread 200 200\n");
		assert_null(strstr(r->out, "# thread 300"));
	}
	/* Names without an end, changes of code that are longer than their record: these do not count. */
	begin_side(0);
	put(PERF_RECORD_COMM, 0, 100, 1, "\144\0\0\0\144\0\0\0endless!", 16);
	put(PERF_RECORD_FORK, 0, 100, 1, "\0\0\0\0\0\0\0\0", 8);
	put(PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, 5, 1, "", 0);
	put(PERF_RECORD_LOST, 0, 100, 1, "\0\0\0\0\0\0\0\0", 8);
	put(PERF_RECORD_TEXT_POKE, 0, 1, 1, "\0\0\0\201\377\377\377\377\377\377\377\377\0\0\0\0", 16);
	put_switch(100, 200, 2000);
	end_side();
	r = script("");
	assert_int_equal(r->status, 0);
	assert_null(strstr(r->err, "side"));
	expect_part(r->out, thread_line(0, 1164, "-", "100", "<1.40us", "u    f (prog)"));
	/* No relation of its clock to the TSC. */
	append("meta", "time_mult 0\n");
	r = script("");
	expect_part(r->err, "the side files of ");
	expect_part(r->out, " - ");
	assert_null(strstr(r->out, " 100 "));
}

/* The kernel runs at @address at 1000, 3000, 5000 and 7000. The instruction there has these sizes then. */
static void expect_sizes_at(uint64_t address, const char *sizes, const char *meta)
{
	begin_expected();
	line("# cpu 0");
	for (int i = 0; i < 4; i++) {
		psb(CR3, 1000 + 2000 * i, 0);
		ip_packet(ppt_tip_pge, address);
		ip_packet(ppt_fup, address + sizes[i] - '0');
		suppressed(ppt_tip_pgd);
		line("# window %d", i + 1);
		line("# enable %016" PRIx64, address);
		insn(address, sizes[i] - '0');
		line("# disable -");
	}
	finish(BOTH, "windows 4");
	finish_cpu("empty");
	append("meta", meta);
	expect_flow(script("--insn"));
}

static void expect_entries(const char *sizes, const char *meta)
{
	expect_sizes_at(ENTRY, sizes, meta);
}

static void what_the_recorder_lost_is_told(void **state)
{
	const struct result *r;

	(void)state;
	change_to_200();
	ip_packet(ppt_tip_pgd, 0);
	finish(BOTH, "windows 1");
	/* Nothing, as far as is known; and nothing at all. */
	assert_null(strstr(script("")->err, "lost"));
	append("followed", "command perf\nreports_lost 0\ngenerated_lost 0\nperf_maps_lost 0\n");
	assert_null(strstr(script("")->err, "perf"));
	append("followed", "to come\n\nword\nreports_lost 3\ncpus_came 6\nsleeps 2\ngenerated_lost 4\nperf_maps_lost 5\n");
	begin_side(0);
	put_lost(2000);
	put_lost(3000);
	end_side();
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "perf lost 3 records about processes: some code may be unknown\n");
	expect_part(r->err, "CPUs came online 6 times, and perf's reports of them began later");
	expect_part(r->err, "the machine slept 2 times, in which perf's clock stood still");
	expect_part(r->err, "4 BPF programs or trampolines were gone before their code could be read");
	expect_part(r->err, "5 processes that name code by a perf map ended before it could be read");
	expect_part(r->err, "perf lost 4 records of the side files: the names of threads and who ran may be wrong\n");
}

static void kernel_code_is_as_it_was_at_the_time(void **state)
{
	FILE *f;

	(void)state;
	/* At the end it is NOP; before it was one of two bytes. */
	begin_side(0);
	POKE(ENTRY, 4000, "\x66\x90", "\x90\x48");
	end_side();
	expect_entries("2211", "");
	append("kcore.changes", "patched 0xffffffff81000000 6690 9048\n");
	assert_null(strstr(script("--insn")->err, "kcore.changes"));
	append("kcore.changes", "patched 0xffffffff81000002 66 90\n");
	expect_part(script("--insn")->err, "the kernel's code changed at 1 places");
	/* Somebody else had an event for it, too. */
	begin_side(0);
	excess = 40;
	POKE(ENTRY, 4000, "\x66\x90", "\x90\x48");
	excess = 0;
	end_side();
	expect_entries("2211", "");
	/* A change that was undone. */
	begin_side(0);
	POKE(ENTRY, 2000, "\x90\x48", "\x66\x90");
	POKE(ENTRY, 6000, "\x66\x90", "\x90\x48");
	end_side();
	expect_entries("1221", "");
	expect_entries("1221", "kcore_tsc 500\n");
	/* Two that overlap: the second one changes a byte in the middle. */
	begin_side(0);
	POKE(ENTRY, 2000, "\x90\x48\x0f", "\x0f\x1f\x00");
	POKE(ENTRY + 2, 4000, "\x00", "\x40");
	POKE(ENTRY, 6000, "\x0f\x1f\x40", "\x90\x48\x0f");
	end_side();
	expect_entries("1341", "");
	expect_entries("1341", "kcore_tsc 500\n");
	/* kcore has the code between them, too. */
	f = fopen(program_path("kcore"), "r+");
	assert_non_null(f);
	fseek(f, 0x1000, SEEK_SET);
	fwrite("\x0f\x1f\x40", 1, 3, f);
	fclose(f);
	expect_entries("1341", "kcore_tsc 5000\n");
	f = fopen(program_path("kcore"), "r+");
	assert_non_null(f);
	fseek(f, 0x1000, SEEK_SET);
	fwrite("\x0f\x1f\x00", 1, 3, f);
	fclose(f);
	expect_entries("1341", "kcore_tsc 3000\n");
}

/* The file kcore.added. */
static void write_added(const char *text)
{
	FILE *f = file("kcore.added");

	fputs(text, f);
	fclose(f);
}

/* Where kcore has nothing */
#define BPF	0xffffffffc0000640ull

static void generated_code_is_as_it_was_at_the_time(void **state)
{
	(void)state;
	write_added("added 0xffffffff81000000 2500 5500 2600 6690 bpf_x\n");
	expect_entries("1221", "");
	expect_part(script("")->out, "k  bpf_x  <trace begins>\n");
	/* Of two readings of the same code the later one. */
	write_added("added 0xffffffff81000000 2500 5500 4600 6690 bpf_x\n"
		    "added 0xffffffff81000000 2500 5500 2600 0f1f00 bpf_x\n");
	expect_entries("1221", "");
	/* Two programs, one after the other. */
	write_added("added 0xffffffff81000000 500 2000 600 6690 bpf_x\n"
		    "added 0xffffffff81000000 2500 5500 2600 0f1f00 bpf_y\n");
	expect_entries("2331", "");
	expect_part(script("")->out, "k  bpf_x  <trace begins>\n");
	expect_part(script("")->out, "k  bpf_y  <trace begins>\n");
	/* While it is there, kcore is believed that has it, too; and one that came after kcore was written. */
	write_added("added 0xffffffff81000000 2500 0 2600 6690 bpf_x\n");
	expect_entries("2111", "");
	expect_entries("1222", "kcore_tsc 500\n");
	/* What kcore has was something else before that: what comes next, as the flow's time is early, or what went last. */
	write_added("added 0xffffffff81000000 500 2000 600 6690 bpf_x\n"
		    "added 0xffffffff81000000 4500 0 4600 90 bpf_y\n");
	expect_entries("2111", "");
	expect_part(script("")->out, "k  bpf_y  <trace begins>\n");
	write_added("added 0xffffffff81000000 500 2000 600 90 bpf_x\n"
		    "added 0xffffffff81000000 3500 5500 3600 0f1f00 bpf_y\n");
	expect_entries("1333", "kcore_tsc 1000\n");
	/* A large program before it does not matter. */
	write_added("added 0xffffffff80ffffff 500 6000 600 cc bpf_w\n"
		    "added 0xffffffff81000000 2500 5500 2600 6690 bpf_x\n");
	expect_entries("1221", "");
	/* The kernel patched it after 4000, and it was read later. */
	write_added("added 0xffffffff81000000 2500 5500 4600 9048 bpf_x\n");
	begin_side(0);
	POKE(ENTRY, 4000, "\x66\x90", "\x90\x48");
	end_side();
	expect_entries("2211", "");
}

#define OF_16	"0f1f000f1f000f1f000f1f000f1f0090"

/* The kernel reports a trampoline as a page. */
static void a_trampoline_does_not_hide_what_is_behind_it(void **state)
{
	(void)state;
	/* Free memory ends it. */
	write_added("added 0xffffffff80fffff0 500 6000 600 " OF_16
		    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
		    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc bpf_trampoline_1\n");
	expect_entries("1111", "");
	expect_part(script("")->out, "k  entry  <trace begins>\n");
	/* So does a function that was there all the time: entry. */
	write_added("added 0xffffffff80fffff0 500 6000 600 " OF_16 OF_16 " bpf_trampoline_1\n");
	expect_entries("1111", "");
	/* And a program, while it is there; kcore has this one. */
	write_added("added 0xffffffff80fffff0 500 6000 600 " OF_16 OF_16 " bpf_trampoline_1\n"
		    "added 0xffffffff81000000 2500 0 2600 90 bpf_x\n");
	expect_entries("3111", "");
	write_added("added 0xffffffff80fffff0 500 6000 600 " OF_16 OF_16 " bpf_trampoline_1\n"
		    "added 0xffffffff81000000 2500 4000 2600 6690 bpf_x\n");
	expect_entries("3231", "");
}

/* The flow's time is a little early. */
static void where_kcore_has_nothing_generated_code_is_the_nearest(void **state)
{
	(void)state;
	write_added("added 0xffffffffc0000600 1500 2000 1600 "
		    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
		    "cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc6690 bpf_x\n"
		    "added 0xffffffffc0000640 2500 3500 2600 0f1f00 bpf_y\n");
	expect_sizes_at(BPF, "2333", "");
}

#define OOL	PERF_RECORD_KSYMBOL_TYPE_OOL
#define GONE	PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER

static void code_that_perf_reports_is_as_it_was_at_the_time(void **state)
{
	FILE *f;

	(void)state;
	/* A trampoline came and went, where kcore has nothing, and where it has other code. */
	for (int i = 0; i < 2; i++) {
		const uint64_t at = i ? ENTRY : BPF;

		begin_side(0);
		put_ksymbol(at, 3, OOL, 0, 2490, "ftrace_trampoline");
		POKE(at, 2500, "", "\x66\x90\x90");
		POKE(at, 5500, "\x66\x90\x90", "");
		put_ksymbol(at, 3, OOL, GONE, 5510, "ftrace_trampoline");
		end_side();
		expect_sizes_at(at, i ? "1221" : "2222", "");
		expect_part(script("")->out, "k  ftrace_trampoline  <trace begins>\n");
		/* kcore is of a time when it had not come: then what it has there may be of any time. */
		expect_sizes_at(at, i ? "1221" : "2222", "kcore_tsc 500\n");
	}
	/* Two of them, of which the first had come before; its name is in the record of its end. */
	begin_side(0);
	POKE(BPF, 2000, "\x66\x90", "");
	put_ksymbol(BPF, 2, OOL, GONE, 2010, "older_trampoline");
	put_ksymbol(BPF, 3, OOL, 0, 2490, "newer_trampoline");
	POKE(BPF, 2500, "", "\x0f\x1f\x00");
	/* Changes of it, one of which is undone: */
	POKE(BPF, 4000, "\x0f\x1f\x00", "\x90\x48\x0f");
	POKE(BPF, 6000, "\x90\x48\x0f", "\x0f\x1f\x00");
	POKE(BPF, 6500, "\x0f\x1f\x00", "");
	end_side();
	expect_sizes_at(BPF, "2313", "");
	expect_part(script("")->out, "k  older_trampoline  <trace begins>\n");
	expect_part(script("")->out, "k  newer_trampoline  <trace begins>\n");
	/* The copy of an instruction, in a page that was there before and still is: kallsyms has its name. */
	begin_side(0);
	POKE(BPF, 2500, "", "\x66\x90");
	POKE(BPF, 5500, "\x66\x90", "");
	end_side();
	expect_sizes_at(BPF, "2222", "");
	f = fopen(program_path("kallsyms"), "a");
	assert_non_null(f);
	fprintf(f, "%llx t kprobe_insn_page\t[__builtin__kprobes]\n", BPF & ~4095ull);
	fclose(f);
	expect_part(script("")->out, "k  kprobe_insn_page");
	/* perf has lost the records of its end, and then that it came: the next one's begin, or the last end, says it. */
	begin_side(0);
	POKE(BPF, 500, "", "\x66\x90");
	POKE(BPF, 2500, "", "\x0f\x1f\x00");
	POKE(BPF, 4500, "\x0f\x1f\x00", "");
	POKE(BPF, 6500, "\x90", "");
	end_side();
	expect_sizes_at(BPF, "2311", "");
}

static void names_of_code_that_perf_reports_may_be_damaged(void **state)
{
	(void)state;
	begin_side(0);
	put(PERF_RECORD_KSYMBOL, 0, 1, 2400, "\x40\x06\0\xc0\xff\xff\xff\xff", 8);
	put(PERF_RECORD_KSYMBOL, 0, 1, 2400, "\x40\x06\0\xc0\xff\xff\xff\xff\2\0\0\0\2\0\0\0", 16);
	put(PERF_RECORD_KSYMBOL, 0, 1, 2400, "\x40\x06\0\xc0\xff\xff\xff\xff\xff\xff\xff\xff\2\0\0\0overflow", 24);
	put(PERF_RECORD_KSYMBOL, 0, 1, 2400, "\x40\x06\0\xc0\xff\xff\xff\xff\2\0\0\0\2\0\0\0unended!", 24);
	put_ksymbol(BPF, 2, PERF_RECORD_KSYMBOL_TYPE_BPF, 0, 2450, "bpf_prog");
	POKE(BPF, 2500, "", "\x66\x90");
	POKE(BPF, 2600, "", "");
	end_side();
	expect_sizes_at(BPF, "2222", "");
	expect_part(script("")->out, "k  unended!  <trace begins>\n");
}

static void a_damaged_list_of_generated_code_is_told(void **state)
{
	static const char *const bad[] = {
		"added", "added 0xffffffff81000000 2500 5500 2600 6690", "added 0xffffffff81000000 2500 5500 2600 669 x",
		"added 0xffffffff81000000 2500 5500 2600 66g0 x", "added x 2500 5500 2600 6690 x", "patched 0 0",
		"added 0xffffffffffffffff 2500 5500 2600 6690 x",
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		snprintf(text, sizeof(text), "added 0xffffffff81000000 2500 5500 2600 6690 bpf_x\n%s\n", bad[i]);
		write_added(text);
		expect_entries("1221", "");
		snprintf(text, sizeof(text), "%s/kcore.added: line 2 is not 'added ADDRESS ", dir);
		expect_part(script("--insn")->err, text);
	}
}

static void a_user_trace_finds_the_code_of_the_process_that_runs(void **state)
{
	const struct result *r;

	(void)state;
	/* At F + 5 the one has NOP, the other something else; both run the same packets. */
	write_other_program("second");
	write_task("200", OTHER, 0, program_path("second"), BASE);
	begin_side(0);
	put_switch(100, 200, 2000);
	put_switch(200, 300, 3000);
	end_side();
	psb(0, 1000, 0);
	for (int time = 1100; time <= 3100; time += 1000) {
		tsc(time);
		ip_packet(ppt_tip_pge, MAIN);
		tnt(".!");
		suppressed(ppt_tip_pgd);
	}
	finish(USER, "windows 1");
	r = script("--insn");
	expect_part(r->out, "# window 1\n# thread 100 100\n# enable 0000000000401000\n0000000000401000 5\n");
	expect_part(r->out, "# thread 200 200\n# enable 0000000000401000\n0000000000401000 5\n");
	/* Of the third process nothing is known. */
	expect_part(r->out, "# thread 300 300\n# enable 0000000000401000\n# disable 0000000000401000\n# skip 0000000000401000 -\n");
	expect_part(r->err, "skipped: 1");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(the_thread_changes_where_the_kernel_switches),
		t(a_process_that_ended_before_it_was_read_is_known_by_its_number),
		t(blocks_of_code_are_told_apart_by_the_process),
		t(blocks_of_code_are_told_apart_by_the_exec),
		t(where_it_has_ended_its_number_is_another_one_s),
		t(before_it_began_the_page_tables_decide),
		t(a_part_by_time_has_the_waiting_inside_it),
		t(the_records_order_counts_where_the_times_are_coarse),
		t(without_the_kernel_it_changes_where_user_code_begins),
		t(without_the_kernel_exec_is_known_by_perf),
		t(the_only_thread_needs_no_switch),
		t(within_a_window_the_thread_changes_only_where_the_kernel_switches),
		t(a_name_is_the_one_of_its_time),
		t(a_thread_keeps_its_stack_on_another_cpu_and_turns_come_by_time),
		t(where_records_are_lost_the_thread_is_unknown),
		t(missing_records_that_are_not_told_are_noticed),
		t(switches_of_the_data_ring_count_more_than_perfs),
		t(a_damaged_side_file_is_told_and_not_believed),
		t(what_the_recorder_lost_is_told),
		t(kernel_code_is_as_it_was_at_the_time),
		t(generated_code_is_as_it_was_at_the_time),
		t(a_trampoline_does_not_hide_what_is_behind_it),
		t(where_kcore_has_nothing_generated_code_is_the_nearest),
		t(code_that_perf_reports_is_as_it_was_at_the_time),
		t(names_of_code_that_perf_reports_may_be_damaged),
		t(a_damaged_list_of_generated_code_is_told),
		t(a_user_trace_finds_the_code_of_the_process_that_runs),
	};

	return cmocka_run_group_tests_name("threads", tests, NULL, NULL);
}
