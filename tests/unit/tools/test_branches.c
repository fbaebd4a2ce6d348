// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace script and dump on BTS recordings made here, branch by branch. */
#include "made.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#define USER	AUXTRACE_SETUP_USER
#define TRACE	"pmu 1\nbts_flags 0x1\nconfig 0\n"
#define RECORD	sizeof(struct auxtrace_branch)

static struct auxtrace_branch branches[4096];
static size_t count;

static int begin(void **state)
{
	(void)state;
	count = 0;
	return made_begin();
}

static int end(void **state)
{
	(void)state;
	return made_end();
}

static void branch(uint64_t from, uint64_t to)
{
	branches[count++] = (struct auxtrace_branch){ from, to, 0 };
}

static void finish(uint32_t flags, const char *cpu)
{
	write_trace(branches, count * RECORD, TRACE, flags, cpu);
}

/* With @size bytes of records. */
static void finish_with(size_t size, const char *cpu)
{
	char text[128];

	snprintf(text, sizeof(text), "%s data_read %zu", cpu, size);
	finish(BOTH, text);
}

/* The kernel tells where it takes interrupts, as Linux does. */
static void name_entries(void)
{
	char text[128];

	snprintf(text, sizeof(text), "%llx t off\n%llx T asm_fault\n%llx T behind\n", OFF, FAULT, FAULT + 8);
	append("kallsyms", text);
}

static struct auxtrace_record_window window_record(uint64_t seq, uint64_t begin, uint64_t end, uint64_t tsc)
{
	return (struct auxtrace_record_window){
		.header = { AUXTRACE_RECORD_WINDOW, 0, sizeof(struct auxtrace_record_window) },
		.window = seq, .begin = begin, .end_position = end, .begin_time = tsc, .end_time = tsc + 10,
		.begin_cause = AUXTRACE_CAUSE_USER, .end_cause = AUXTRACE_CAUSE_USER,
		.end = { tsc + 10, 1, sizeof(struct auxtrace_record_window) },
	};
}

static struct auxtrace_record_aux aux_record(uint64_t offset, uint64_t length, uint64_t tsc)
{
	return (struct auxtrace_record_aux){
		.header = { AUXTRACE_RECORD_AUX, 0, sizeof(struct auxtrace_record_aux) },
		.offset = offset, .length = length,
		.end = { tsc, 1, sizeof(struct auxtrace_record_aux) },
	};
}

/* ---- the flow ----------------------------------------------------------- */

static void user_and_kernel_flow_is_told_instruction_for_instruction(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	line("# cpu 0");
	line("# window 1");
	/* Where the flow began is not recorded, only its first branch. */
	branch(MAIN + 7, MAIN);
	line("# enable %016llx", MAIN + 7);
	insn(MAIN + 7, 2);
	for (int i = 0; i < 100; i++) {
		branch(MAIN, F);
		if (i % 3)
			branch(F + 2, F + 6);
		branch(F + 6, MAIN + 5);
		branch(MAIN + 5, ENTRY);
		branch(ENTRY + 1, MAIN + 7);
		branch(MAIN + 7, MAIN);
		expect_main(BASE, i % 3);
		insn(ENTRY, 1);
		insn(ENTRY + 1, 3);
		insn(MAIN + 7, 2);
	}
	/* A page fault in the middle of a block, an interrupt before a branch. */
	branch(MAIN, F);
	branch(F + 2, FAULT);
	branch(FAULT + 1, F + 2);
	branch(F + 6, FAULT);
	branch(FAULT + 1, F + 6);
	branch(F + 6, MAIN + 5);
	insn(MAIN, 5);
	insn(F, 2);
	line("# async %016llx %016llx", F + 2, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	insn(F + 2, 2);
	insn(F + 4, 1);
	insn(F + 5, 1);
	line("# async %016llx %016llx", F + 6, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	insn(F + 6, 1);
	/* How far control came behind the last branch nobody knows. */
	line("# disable %016llx", MAIN + 5);
	finish(BOTH, "windows 1 window_begin 0");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "573 branches\n");
	expect_part(r->err, "1 windows, 13752 bytes; decode errors: 0; overflows: 0; skipped: 0");
	r = script("--errors");
	assert_string_equal(r->out, "# cpu 0\n");
}

static void an_indirect_branch_to_an_interrupts_entry_is_an_interrupt(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	/* Before the RET of switch: RETs go anywhere, but not there. */
	branch(SCHED, SWITCH);
	branch(SWITCH + 3, FAULT);
	branch(FAULT + 1, SWITCH + 3);
	branch(SWITCH + 3, SCHED + 5);
	finish(BOTH, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", SCHED);
	insn(SCHED, 5);
	insn(SWITCH, 3);
	line("# async %016llx %016llx", SWITCH + 3, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	insn(SWITCH + 3, 1);
	line("# disable %016llx", SCHED + 5);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_breakpoint_that_is_not_in_the_file_is_an_interrupt(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	/* INT3 at f, of whose TEST it is the first byte. */
	branch(MAIN, F);
	branch(F + 1, FAULT);
	branch(FAULT + 1, F);
	branch(F + 6, MAIN + 5);
	finish(BOTH, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	insn(MAIN, 5);
	line("# async %016llx %016llx", F, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	insn(F, 2);
	insn(F + 2, 2);
	insn(F + 4, 1);
	insn(F + 5, 1);
	insn(F + 6, 1);
	line("# disable %016llx", MAIN + 5);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void masked_kernel_code_begins_a_stretch(void **state)
{
	const struct result *r;

	(void)state;
	line("# cpu 0");
	line("# window 1");
	/* Back from the kernel, to main's syscall and behind it. */
	branch(0, MAIN);
	branch(MAIN, F);
	branch(F + 6, MAIN + 5);
	branch(0, MAIN + 7);
	line("# enable %016llx", MAIN);
	expect_main(BASE, false);
	line("# disable -");
	line("# enable %016llx", MAIN + 7);
	branch(MAIN + 7, MAIN);
	insn(MAIN + 7, 2);
	/* An interrupt in straight code. */
	branch(MAIN, F);
	insn(MAIN, 5);
	branch(0, F + 2);
	insn(F, 2);
	line("# disable -");
	line("# enable %016llx", F + 2);
	/* A signal: nothing tells where main was left. */
	branch(F + 6, MAIN + 5);
	insn(F + 2, 2);
	insn(F + 4, 1);
	insn(F + 5, 1);
	insn(F + 6, 1);
	branch(0, F);
	line("# disable %016llx", MAIN + 5);
	line("# enable %016llx", F);
	branch(F + 2, F + 6);
	insn(F, 2);
	insn(F + 2, 2);
	line("# disable %016llx", F + 6);
	finish(USER, "windows 1 window_begin 0");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 0");
}

static void user_code_that_is_not_traced_enters_and_is_returned_to(void **state)
{
	const struct result *r;

	(void)state;
	line("# cpu 0");
	line("# window 1");
	for (int i = 0; i < 2; i++) {
		branch(MAIN + 5, ENTRY);
		line("# enable %016llx", ENTRY);
		insn(ENTRY, 1);
		insn(ENTRY + 1, 3);
		line("# disable -");
	}
	branch(0x7f0000001234, SCHED);
	branch(SCHED, SWITCH);
	line("# enable %016llx", SCHED);
	insn(SCHED, 5);
	line("# disable %016llx", SWITCH);
	finish(AUXTRACE_SETUP_KERNEL, "windows 1");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void a_stop_within_a_window_is_no_error_and_shows_what_ran_until_it(void **state)
{
	struct auxtrace_record_window w = window_record(1, 0, 4 * RECORD, 1000);
	const struct result *r;

	(void)state;
	write_records(&w, sizeof(w));
	branch(SWITCH + 3, OFF);
	branch(SCHED, SWITCH);
	branch(SWITCH + 3, SCHED + 5);
	branch(SCHED + 5, OFF);
	finish_with(sizeof(w), "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", SWITCH + 3);
	insn(SWITCH + 3, 1);
	insn(OFF, 1);
	insn(OFF + 1, 2);
	line("# disable -");
	line("# enable %016llx", SCHED);
	insn(SCHED, 5);
	insn(SWITCH, 3);
	insn(SWITCH + 3, 1);
	insn(SCHED + 5, 2);
	insn(OFF, 1);
	insn(OFF + 1, 2);
	line("# disable -");
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void what_does_not_walk_is_an_error_with_place_and_addresses(void **state)
{
	static const struct {
		uint64_t to, from, next;
		const char *says;
	} cases[] = {
		{ F, MAIN, F, "# error 18 0000000000401010 no straight code, from 0x401010 to 0x401000\n" },
		{ F, F + 3, ENTRY, "no straight code, from 0x401010 to 0x401013\n" },
		{ TRAP, TRAP + 2, ENTRY, "no straight code, from 0xffffffff81000040 to 0xffffffff81000042\n" },
		{ F, F + 2, MAIN, "# error 18 0000000000401012 no branch that goes there, from 0x401012 to 0x401000\n" },
		{ F, F, MAIN, "no branch that goes there, from 0x401010 to 0x401000\n" },
		{ MAIN + 5, MAIN + 5, 0x7f0000001234, "" },
		{ KERNEL + 0x70, KERNEL + 0x72, ENTRY, "no memory mapped at this address, from 0xffffffff81000070 to " },
	};

	(void)state;
	name_entries();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct result *r;

		count = 0;
		branch(MAIN + 7, cases[i].to);
		branches[0].from = cases[i].to == F ? MAIN : F + 6;
		branch(cases[i].from, cases[i].next);
		/* It goes on with the next branch. */
		branch(MAIN, F);
		branch(F + 2, F + 6);
		finish(BOTH, "windows 1");
		r = script("--errors");
		expect_part(r->out, cases[i].says);
		if (!*cases[i].says)
			continue;
		assert_int_equal(r->status, 1);
		r = script("--insn");
		expect_part(r->out, "0000000000401010 2\n0000000000401012 2\n# disable 0000000000401016\n");
		r = script("");
		expect_part(r->out, "  0 error: no ");
	}
}

static void addresses_that_cannot_be_lead_nowhere(void **state)
{
	static const uint64_t odd[] = { 0, 1, MAIN, F + 1, ENTRY, UINT64_MAX, 1ull << 47, 1ull << 63,
					KERNEL - 1, BASE + 0x1fff, FAULT };
	const size_t n = sizeof(odd) / sizeof(odd[0]);
	static const uint32_t flags[] = { BOTH, USER, AUXTRACE_SETUP_KERNEL };

	(void)state;
	/* From each to each, twice, in another order. */
	for (size_t i = 0; i < 2 * n * n; i++)
		branch(odd[i % n], odd[(i / n + (i / n / n) * i) % n]);
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		finish(flags[i], "windows 1");
		assert_true(script("--insn")->status <= 1);
		assert_true(script("")->status <= 1);
		assert_true(script("--branches")->status <= 1);
	}
}

static void a_transaction_s_abort_goes_where_xbegin_said(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	branch(F + 6, TRY);
	branch(TRY + 7, TRY + 8);
	branch(TRY + 8, MAIN + 5);
	finish(BOTH, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", F + 6);
	insn(F + 6, 1);
	insn(TRY, 6);
	insn(TRY + 6, 1);
	line("# async %016llx %016llx", TRY + 7, TRY + 8);
	insn(TRY + 8, 1);
	line("# disable %016llx", MAIN + 5);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
}

static void kernel_code_that_does_not_return_to_user_code_is_an_error(void **state)
{
	const struct result *r;

	(void)state;
	branch(MAIN + 5, TRAP);
	branch(MAIN + 5, OFF);
	branch(MAIN + 5, ENTRY);
	finish(AUXTRACE_SETUP_KERNEL, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "# error 18 ffffffff81000040 no straight code, from 0xffffffff81000040 to 0x401005\n");
	/* Unless the trace may have been turned off there. */
	expect_part(r->out, "# enable ffffffff81000050\nffffffff81000050 1\nffffffff81000051 2\n# disable -\n"
		    "# enable ffffffff81000000\n");
	expect_part(r->err, "decode errors: 1;");
}

static void code_that_is_not_recorded_is_skipped_and_branches_are_shown(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	branch(MAIN, F);
	branch(F + 2, FAULT);
	branch(FAULT + 1, 0x7f0000001234);
	branch(0x7f0000001240, 0x7f0000002000);
	branch(0x7f0000002000, ENTRY);
	branch(ENTRY + 1, MAIN + 7);
	branch(MAIN + 7, MAIN);
	finish(BOTH, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", MAIN);
	insn(MAIN, 5);
	insn(F, 2);
	line("# async %016llx %016llx", F + 2, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	line("# disable %016llx", 0x7f0000001234ull);
	line("# skip %016llx -", 0x7f0000001234ull);
	line("# enable %016llx", ENTRY);
	insn(ENTRY, 1);
	insn(ENTRY + 1, 3);
	insn(MAIN + 7, 2);
	line("# disable %016llx", MAIN);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "skipped 1 times: user code that no recorded process has, or several have with different bytes, the first at 0x7f0000001234");
	r = script("-b");
	expect_part(r->out, "  0x7f0000001240 -> 0x7f0000002000\n");
	expect_part(r->out, "  f+0x2 (prog) -> asm_fault  1 instructions, 2 bytes  <interrupt>\n");
	expect_part(r->out, "  entry+0x1 -> main+0x7 (prog)  2 instructions, 4 bytes\n");
}

static void a_function_whose_first_page_faults_is_called_all_the_same(void **state)
{
	const struct result *r;

	(void)state;
	branch(0, MAIN);
	branch(MAIN, F);
	branch(0, F);
	branch(F + 2, F + 6);
	finish(USER, "windows 1");
	r = script("");
	assert_string_equal(r->out,
		"  0 window 1\n"
		"  0                  - -               -                    u  main (prog)  <trace begins>\n"
		"  0                  - -               -                    u    f (prog)\n");
}

static void an_interrupt_before_code_that_is_not_recorded_is_told(void **state)
{
	const struct result *r;

	(void)state;
	name_entries();
	branch(FAULT + 1, 0x7f0000001234);
	branch(0x7f0000001234, FAULT);
	branch(FAULT + 1, MAIN + 7);
	finish(BOTH, "windows 1");
	line("# cpu 0");
	line("# window 1");
	line("# enable %016llx", FAULT + 1);
	insn(FAULT + 1, 2);
	line("# async %016llx %016llx", 0x7f0000001234ull, FAULT);
	insn(FAULT, 1);
	insn(FAULT + 1, 2);
	line("# disable %016llx", MAIN + 7);
	r = script("--insn");
	expect_flow(r);
	expect_part(r->err, "skipped: 0");
}

static void code_of_two_processes_at_one_address_is_not_guessed(void **state)
{
	const struct result *r;

	(void)state;
	write_other_program("other");
	write_task("200", OTHER, 0, program_path("other"), BASE);
	branch(MAIN, F);
	branch(F + 6, MAIN + 5);
	finish(BOTH, "windows 1");
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "0 instructions");
	expect_part(r->err, "skipped: 1");
}

/* ---- windows and time --------------------------------------------------- */

static void windows_are_where_the_records_say(void **state)
{
	struct auxtrace_record_window w[] = {
		window_record(1, 0, RECORD, 1000),
		window_record(2, RECORD, RECORD, 2000),
		window_record(4, 3 * RECORD, 4 * RECORD, 4000),
	};
	const struct result *r;

	(void)state;
	write_records(w, sizeof(w));
	for (int i = 0; i < 5; i++)
		branch(ENTRY + 1, MAIN);
	/* The record of the third was lost, the fifth has not ended. */
	finish_with(sizeof(w), "windows 5 window_begin 96");
	line("# cpu 0");
	for (int i = 1; i <= 5; i++) {
		line(i == 3 ? "# window ?" : "# window %d", i);
		if (i == 2)
			continue;
		line("# enable %016llx", ENTRY + 1);
		insn(ENTRY + 1, 3);
		if (i == 3) {
			/* In it are two branches. */
			line("# disable -");
			line("# error 30 0000000000401000 no straight code, from 0x401000 to 0xffffffff81000001");
			line("# enable %016llx", ENTRY + 1);
			insn(ENTRY + 1, 3);
		}
		line("# disable %016llx", MAIN);
	}
	r = script("--insn");
	expect_flow(r);
	expect_part(r->err, "5 windows");
	r = script("--insn --window 4");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "1 instructions in 1 windows, 24 bytes");
	r = script("--window 2");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out, "  0 window 2  <user to user, 0 bytes, whole>\n");
	r = script("--window 3");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "window 3 is not in ");
}

/* Two BPF programs, of which the second lies where the first was, and of which kcore has none or the second. */
static void generated_code_is_that_of_the_windows_time(void **state)
{
	static const char *const list[] = {
		"added 0xffffffffc0000640 500 1500 600 666690c3 bpf_first\n"
		"added 0xffffffffc0000640 1800 3000 1900 906690c3 bpf_second\n",
		/* The same where kcore has code that leads on, too */
		"added 0xffffffff81000000 500 1500 600 666690c3 bpf_first\n"
		"added 0xffffffff81000000 1800 3000 1900 906690c3 bpf_second\n",
	};
	static const uint64_t address[] = { 0xffffffffc0000640, ENTRY };
	struct auxtrace_record_window w[] = {
		window_record(1, 0, 2 * RECORD, 1000), window_record(2, 2 * RECORD, 4 * RECORD, 2000),
	};
	const struct result *r;
	char text[128];
	FILE *f;

	(void)state;
	for (int i = 0; i < 2; i++) {
		count = 0;
		f = fopen(program_path("kcore.added"), "w");
		assert_non_null(f);
		fputs(list[i], f);
		fclose(f);
		write_records(w, sizeof(w));
		for (int window = 0; window < 2; window++) {
			branch(0, address[i]);
			branch(address[i] + 3, SCHED + 5);
		}
		finish_with(sizeof(w), "windows 2");
		r = script("--insn");
		assert_int_equal(r->status, 0);
		snprintf(text, sizeof(text), "# enable %016" PRIx64 "\n%016" PRIx64 " 3\n%016" PRIx64 " 1\n", address[i],
			 address[i], address[i] + 3);
		expect_part(r->out, text);
		snprintf(text, sizeof(text), "# enable %016" PRIx64 "\n%016" PRIx64 " 1\n%016" PRIx64 " 2\n%016" PRIx64 " 1\n",
			 address[i], address[i], address[i] + 1, address[i] + 3);
		expect_part(r->out, text);
		r = script("--branches");
		expect_part(r->out, " -> bpf_first");
		expect_part(r->out, " -> bpf_second");
	}
}

static void an_overwrite_recording_begins_with_its_first_whole_branch(void **state)
{
	const struct result *r;
	uint8_t bytes[3 * RECORD];

	(void)state;
	branch(MAIN, F);
	branch(F + 2, F + 6);
	branch(F + 6, MAIN + 5);
	memcpy(bytes, branches, sizeof(bytes));
	/* Position 1000 is 16 bytes into a branch, and the file has a page's rest before. */
	memmove(bytes, bytes + 16, sizeof(bytes) - 16);
	write_trace(bytes, sizeof(bytes) - 16, TRACE, BOTH | AUXTRACE_SETUP_OVERWRITE,
		    "begin 1000 overwritten 1000 windows 7 window_begin 24");
	line("# cpu 0");
	line("# window 7");
	line("# enable %016llx", F + 2);
	insn(F + 2, 2);
	insn(F + 6, 1);
	line("# disable %016llx", MAIN + 5);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "8 bytes are of branches that are not whole (an overwrite recording begins anywhere)");
	r = script("-b");
	expect_part(r->out, "  f+0x2 (prog) -> f+0x6 (prog)\n");
}

static void padding_before_the_trace_is_passed_over(void **state)
{
	const struct result *r;
	uint8_t bytes[48 + 2 * RECORD] = { 0 };
	char cpu[128];

	(void)state;
	branch(F + 2, F + 6);
	branch(F + 6, MAIN + 5);
	memcpy(bytes + 48, branches, 2 * RECORD);
	snprintf(cpu, sizeof(cpu), "begin %u pad 48 windows 1 window_begin 48 read %zu", 48, 2 * RECORD);
	write_trace(bytes, sizeof(bytes), TRACE, BOTH, cpu);
	r = script("-i");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 1\n# enable 0000000000401012\n0000000000401012 2\n0000000000401016 1\n");
	assert_null(strstr(r->err, "damaged"));
}

static void a_file_that_is_cut_off_is_damaged(void **state)
{
	const struct result *r;
	char path[128];

	(void)state;
	branch(MAIN, F);
	branch(F + 2, F + 6);
	finish(BOTH, "windows 1");
	snprintf(path, sizeof(path), "%s/cpu0.aux", dir);
	assert_int_equal(truncate(path, RECORD + 5), 0);
	r = script("--insn");
	expect_part(r->err, "the recording is damaged");
	expect_part(r->err, "1 instructions in 1 windows");
	expect_part(r->err, "5 bytes are of branches that are not whole");
}

static void branches_are_shown_with_block_and_bounds_of_time(void **state)
{
	struct auxtrace_record_window w = window_record(1, 0, 4 * RECORD, 1000);
	struct auxtrace_record_aux a[] = {
		aux_record(0, 2 * RECORD, 1004), aux_record(2 * RECORD, 2 * RECORD, 1011),
	};
	uint8_t records[sizeof(w) + sizeof(a)];
	const struct result *r;

	(void)state;
	name_entries();
	memcpy(records, &a[0], sizeof(a[0]));
	memcpy(records + sizeof(a[0]), &w, sizeof(w));
	memcpy(records + sizeof(a[0]) + sizeof(w), &a[1], sizeof(a[1]));
	write_records(records, sizeof(records));
	branch(0, MAIN);
	branch(MAIN, F);
	branch(F + 2, FAULT);
	branches[1].flags = 1 << 4;
	branch(FAULT + 1, F + 2);
	branches[3].flags = 0x30;
	finish_with(sizeof(records), "windows 1");
	r = script("--branches");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"  0 window 1  <user to user, 96 bytes, whole>\n"
		"  0        1.000001000       1.000001004  - -> main (prog)\n"
		"  0        1.000001000       1.000001004  main (prog) -> f (prog)  1 instructions, 5 bytes  <predicted>\n"
		"  0        1.000001004       1.000001010  f+0x2 (prog) -> asm_fault  1 instructions, 2 bytes  <interrupt>\n"
		"  0        1.000001004       1.000001010  asm_fault+0x1 -> f+0x2 (prog)  2 instructions, 3 bytes  <predicted>  <flags 0x20>\n");
	r = script("--calls");
	assert_string_equal(r->out,
		"  0 window 1  <user to user, 96 bytes, whole>\n"
		"  0        1.000001000 -               -               >4ns u  main (prog)  <trace begins>\n"
		"  0        1.000001004 -               -                    u    f (prog)\n"
		"  0        1.000001004 -               -                    k      asm_fault  <interrupt>\n");
}

static void without_records_no_time_is_told(void **state)
{
	(void)state;
	branch(MAIN, F);
	finish(BOTH, "windows 1");
	assert_string_equal(script("-b")->out,
			    "  0 window 1\n  0                  -                 -  main (prog) -> f (prog)\n");
}

static void samples_are_decoded_each_on_its_own(void **state)
{
	struct {
		struct auxtrace_record_sample sample;
		struct auxtrace_branch bytes[2];
		struct auxtrace_record_end end;
	} s = {
		.sample = {
			.header = { AUXTRACE_RECORD_SAMPLE, 0, sizeof(s) },
			.trigger = 3, .pid = 100, .aux_end = 1008, .wanted = 64, .length = sizeof(s.bytes),
			.data_offset = sizeof(s.sample),
		},
		.bytes = { { MAIN, F, 0 }, { F + 2, F + 6, 0 } },
		.end = { 5000, 1, sizeof(s) },
	};
	const struct result *r;

	(void)state;
	write_records(&s, sizeof(s));
	branch(MAIN, F);
	finish_with(sizeof(s), "windows 1");
	r = script("--samples --insn");
	assert_int_equal(r->status, 0);
	line("# cpu 0");
	line("# sample 1 3 1008 48 64");
	line("# enable %016llx", MAIN);
	insn(MAIN, 5);
	insn(F, 2);
	insn(F + 2, 2);
	line("# disable %016llx", F + 6);
	expect_flow(r);
	expect_part(r->err, "3 instructions in 1 samples, 48 bytes; decode errors: 0");
	r = script("--samples --branches");
	expect_part(r->out, "  0 sample 1  <trigger 3, process 100, 48 bytes>\n");
	expect_part(r->out, "f+0x2 (prog) -> f+0x6 (prog)  2 instructions, 4 bytes\n");
}

static void pt_s_packets_do_not_tell_branches(void **state)
{
	const struct result *r;

	(void)state;
	write_trace(branches, 0, "config 0x400\n", BOTH, "windows 0");
	r = script("--branches");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "is a trace of Intel PT, whose packets leave out where a branch comes from");
}

static void a_source_that_is_not_known_is_told(void **state)
{
	const struct result *r;

	(void)state;
	write_trace(branches, 0, "pmu 7\n", BOTH, "windows 0");
	r = script("");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "a trace of PMU 7, which this version does not know");
}

static void dump_shows_each_branch(void **state)
{
	const struct result *r;
	char arguments[128];

	(void)state;
	branch(MAIN, F);
	branch(0, ENTRY);
	branches[1].flags = 16;
	write_trace((const uint8_t *)branches + 4, 2 * RECORD - 4, TRACE, BOTH, "begin 4");
	snprintf(arguments, sizeof(arguments), "dump %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"# cpu 0\n"
		"000000000014  branch   from=0000000000000000 to=ffffffff81000000 flags=10\n");
	snprintf(arguments, sizeof(arguments), "dump --summary %s", dir);
	r = run_auxtrace(arguments);
	assert_string_equal(r->out, "branches: 1\nbytes: 24\nbytes not decoded: 20\nerrors: 0\n");
	snprintf(arguments, sizeof(arguments), "dump --source pt %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 2);
	expect_part(r->err, "says so itself");
	finish(BOTH, "");
	snprintf(arguments, sizeof(arguments), "dump --source bts %s/cpu0.aux", dir);
	r = run_auxtrace(arguments);
	assert_string_equal(r->out,
		"000000000000  branch   from=0000000000401000 to=0000000000401010 flags=0\n"
		"000000000018  branch   from=0000000000000000 to=ffffffff81000000 flags=10\n");
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(user_and_kernel_flow_is_told_instruction_for_instruction),
		t(an_indirect_branch_to_an_interrupts_entry_is_an_interrupt),
		t(a_breakpoint_that_is_not_in_the_file_is_an_interrupt),
		t(masked_kernel_code_begins_a_stretch),
		t(user_code_that_is_not_traced_enters_and_is_returned_to),
		t(a_stop_within_a_window_is_no_error_and_shows_what_ran_until_it),
		t(what_does_not_walk_is_an_error_with_place_and_addresses),
		t(addresses_that_cannot_be_lead_nowhere),
		t(a_transaction_s_abort_goes_where_xbegin_said),
		t(kernel_code_that_does_not_return_to_user_code_is_an_error),
		t(code_that_is_not_recorded_is_skipped_and_branches_are_shown),
		t(a_function_whose_first_page_faults_is_called_all_the_same),
		t(an_interrupt_before_code_that_is_not_recorded_is_told),
		t(code_of_two_processes_at_one_address_is_not_guessed),
		t(windows_are_where_the_records_say),
		t(generated_code_is_that_of_the_windows_time),
		t(an_overwrite_recording_begins_with_its_first_whole_branch),
		t(padding_before_the_trace_is_passed_over),
		t(a_file_that_is_cut_off_is_damaged),
		t(branches_are_shown_with_block_and_bounds_of_time),
		t(without_records_no_time_is_told),
		t(samples_are_decoded_each_on_its_own),
		t(pt_s_packets_do_not_tell_branches),
		t(a_source_that_is_not_known_is_told),
		t(dump_shows_each_branch),
	};

	return cmocka_run_group_tests_name("branches", tests, NULL, NULL);
}
