// SPDX-License-Identifier: GPL-2.0-only
/*
 * After crash.c has crashed the kernel: the history up to the crash is in memory, and the hardware
 * is off. Runs in the crash kernel, where the memory is /proc/vmcore, or anywhere with a file of
 * the machine's memory: $AUXTRACE_MEMORY. The plan of crash.c is $AUXTRACE_PLAN.
 */
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash.h"
#include "file.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define PAGE		4096u
/* Longer than a crash takes from the last note on, in TSC ticks of any machine. */
#define CRASH_TICKS	(60ULL * 5000000000ULL)
/*
 * A CPU that panics writes a file of /proc after its last landmark, and the kernel prints a line about
 * that. The trace may have so many times the bytes of that: it has not the panic's message and its
 * backtrace. With those it would have 6 (6.12-debug) to 14 times (6.1) the bytes, as after an oops.
 */
#define EARLY_LINES	3

static struct crash_plan plan;
static int memory = -1;
static Elf64_Phdr segment[256];
static unsigned int nr_segments;	/* 0: a flat file */

static void read_at(void *to, size_t size, off_t at)
{
	if (pread(memory, to, size, at) != (ssize_t)size)
		fail_msg("cannot read the memory file at %#llx", (unsigned long long)at);
}

static void read_physical(void *to, size_t size, uint64_t address)
{
	if (!nr_segments) {
		read_at(to, size, address);
		return;
	}
	for (unsigned int i = 0; i < nr_segments; i++) {
		const Elf64_Phdr *p = &segment[i];

		if (p->p_type == PT_LOAD && address >= p->p_paddr &&
		    address + size <= p->p_paddr + p->p_filesz) {
			read_at(to, size, p->p_offset + (address - p->p_paddr));
			return;
		}
	}
	fail_msg("physical address %#llx is not in the dump", (unsigned long long)address);
}

static int open_memory(void **state)
{
	const char *path = getenv("AUXTRACE_MEMORY"), *from = getenv("AUXTRACE_PLAN");
	Elf64_Ehdr elf;
	FILE *f = fopen(from ? from : CRASH_PLAN, "re");

	memory = open(path ? path : "/proc/vmcore", O_RDONLY | O_CLOEXEC);
	if (!f || memory < 0 || fread(&plan, sizeof(plan), 1, f) != 1 || plan.magic != CRASH_MAGIC ||
	    !plan.channels || plan.channels > CRASH_CPUS || plan.pages > CRASH_PAGES) {
		print_error("no memory, or no plan, of a crashed machine\n");
		return -1;
	}
	fclose(f);
	read_at(&elf, sizeof(elf), 0);
	if (memcmp(elf.e_ident, ELFMAG, SELFMAG))
		return 0;
	nr_segments = elf.e_phnum;
	if (!nr_segments || nr_segments > sizeof(segment) / sizeof(*segment)) {
		print_error("%u segments\n", nr_segments);
		return -1;
	}
	read_at(segment, nr_segments * sizeof(*segment), elf.e_phoff);
	return 0;
}

static struct auxtrace_status_page status_of(const struct crash_channel *ch)
{
	struct auxtrace_status_page st;

	read_physical(&st, sizeof(st), ch->status);
	return st;
}

static struct crash_note note_of_plan(void)
{
	struct crash_note note;

	read_physical(&note, sizeof(note), plan.note);
	assert_int_equal(note.magic, CRASH_MAGIC);
	return note;
}

/* [@begin, @end) of an AUX area that has not wrapped; the caller frees it. */
static uint8_t *aux_of(const struct crash_channel *ch, uint64_t begin, uint64_t end)
{
	uint8_t *to = malloc(end - begin + 1);

	assert_non_null(to);
	for (uint64_t at = begin; at < end;) {
		uint64_t size = PAGE - at % PAGE;

		if (size > end - at)
			size = end - at;
		read_physical(to + (at - begin), size, ch->aux[at / PAGE] + at % PAGE);
		at += size;
	}
	return to;
}

static void each_status_page_says_that_the_cpu_went_down_at_the_crash(void **state)
{
	struct crash_note note = note_of_plan();

	for (unsigned int i = 0; i < plan.channels; i++) {
		struct auxtrace_status_page st = status_of(&plan.channel[i]);

		print_message("CPU %u: %llu bytes, %llu ticks after the note\n", st.cpu, st.produced,
			      st.window_end_time - note.tsc);
		assert_int_equal(st.cpu, plan.channel[i].cpu);
		assert_int_equal(st.seq % 2, 0);
		assert_int_equal(st.running, 0);
		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_OFFLINE);
		assert_int_equal(st.gaps, 1);
		assert_int_equal(st.gaps_offline, 1);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_end, st.produced);
		assert_true(st.produced > 0);
		assert_in_range(st.window_end_time, note.tsc, note.tsc + CRASH_TICKS);
	}
}

static void the_trace_up_to_the_crash_is_whole(void **state)
{
	struct crash_note note = note_of_plan();

	for (unsigned int i = 0; i < plan.channels; i++) {
		const struct crash_channel *ch = &plan.channel[i];
		struct auxtrace_status_page st = status_of(ch);
		struct walk walk = { .want_ip = plan.landmark };
		uint8_t *trace;

		if (st.produced > plan.pages * PAGE)
			fail_msg("CPU %d: the area is too small for %llu bytes", ch->cpu, st.produced);
		trace = aux_of(ch, 0, st.produced);
		trace_check_window(&walk, trace, st.produced, "the window that the crash ended");
		print_message("CPU %d: %llu landmarks, the last %llu bytes before the end\n", ch->cpu,
			      (unsigned long long)walk.ip_hits,
			      (unsigned long long)(st.produced - walk.last_hit));
		assert_true(walk.ip_hits >= 10);
		if (plan.early && ch->cpu == plan.crash_cpu) {
			print_message("CPU %d: a line takes %llu bytes\n", ch->cpu,
				      (unsigned long long)note.line_bytes);
			assert_in_range(st.produced - walk.last_hit, 1, EARLY_LINES * note.line_bytes);
		}
		free(trace);
	}
}

static void nothing_was_written_after_the_crash(void **state)
{
	for (unsigned int i = 0; i < plan.channels; i++) {
		const struct crash_channel *ch = &plan.channel[i];
		uint64_t produced = status_of(ch).produced, end = plan.pages * PAGE;
		uint8_t *rest = aux_of(ch, produced, end);

		for (uint64_t at = produced; at < end; at++)
			if (rest[at - produced])
				fail_msg("CPU %d: byte %llu, behind %llu, was written", ch->cpu,
					 (unsigned long long)at, (unsigned long long)produced);
		free(rest);
	}
}

/* The CPU that crashed is the crash kernel's CPU 0. */
static void the_hardware_of_the_cpu_that_crashed_is_off(void **state)
{
	unsigned int crashed = 0;
	uint64_t control, written;

	assert_int_equal(msr_read(0, msr_control(), &control), 0);
	if (control & msr_enables())
		fail_msg("MSR %#x is %#llx", msr_control(), (unsigned long long)control);
	assert_true(plan.counted);
	assert_true(emulator_bytes_plain(0, &written));
	for (unsigned int i = 0; i < plan.channels; i++) {
		if (plan.channel[i].cpu != plan.crash_cpu)
			continue;
		crashed++;
		assert_int_equal(written - plan.channel[i].bytes_before,
				 status_of(&plan.channel[i]).produced);
	}
	assert_int_equal(crashed, 1);
}

int main(void)
{
	const struct CMUnitTest of_memory[] = {
		cmocka_unit_test(each_status_page_says_that_the_cpu_went_down_at_the_crash),
		cmocka_unit_test(the_trace_up_to_the_crash_is_whole),
		cmocka_unit_test(nothing_was_written_after_the_crash),
	};
	const struct CMUnitTest of_the_crash_kernel[] = {
		cmocka_unit_test(the_hardware_of_the_cpu_that_crashed_is_off),
	};
	int failed = cmocka_run_group_tests(of_memory, open_memory, NULL);

	if (!getenv("AUXTRACE_MEMORY"))
		failed += cmocka_run_group_tests(of_the_crash_kernel, NULL, NULL);
	return failed;
}
