// SPDX-License-Identifier: GPL-2.0-only
/* The same program recorded by BTS in every way, and by PT: the same branches. */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "branches.h"
#include "cpu.h"
#include "insns.h"
#include "invariants.h"
#include "machine.h"
#include "trace.h"
#include "uapi.h"

#define USER		AUXTRACE_SETUP_USER
#define KERNEL		AUXTRACE_SETUP_KERNEL
#define BOTH		(USER | KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE
#define RECORD		sizeof(struct auxtrace_branch)

#define RUN_ROUNDS	40
#define MAX_RUNS	50

/* With a real-time priority no other process runs, whose branches would be recorded, too. */
static void run_first(bool first)
{
	struct sched_param param = { .sched_priority = first };

	assert_int_equal(sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &param), 0);
}

/* START, one window of the program, STOP. */
static void run_program(const struct session *s)
{
	ok_start(s->fd);
	run_first(true);
	ok_resume(s, 0, NULL);
	branches_make(RUN_ROUNDS);
	ok_pause(s, 0, NULL);
	run_first(false);
	ok_stop(s->fd);
}

/* Record the program in a window of its own; the branches of it that are in the area. */
static struct branches record_run(uint32_t flags, uint64_t aux_size, unsigned int slots, bool *whole)
{
	struct auxtrace_status_page st;
	struct session s;
	struct branches b;

	session_prepare(&s, one_cpu, flags | AUXTRACE_SETUP_PAUSED, aux_size);
	s.setup.slots = slots;
	session_setup(&s);
	assert_int_equal(cpu_pin(first_cpu), 0);
	branches_make(1);
	run_program(&s);
	st = channel_status(s.channel);
	if (st.gaps)
		fail_msg("flags %#x, %llu bytes in %u slots: %llu gaps (full %llu) in %llu bytes, %llu interrupts",
			 flags, (unsigned long long)aux_size, slots, st.gaps, st.gaps_full,
			 st.produced, st.pmis);
	b = branches_available(s.channel);
	branches_of_run(&b, whole);
	check_accounting(&s);
	session_close(&s);
	return b;
}

static void expect_newest(const struct branches *all, const struct branches *newest, const char *what)
{
	const struct auxtrace_branch *tail = all->at + all->count - newest->count;

	assert_true(newest->count <= all->count);
	for (size_t i = 0; i < newest->count; i++)
		if (memcmp(&tail[i], &newest->at[i], RECORD))
			fail_msg("%s: record %zu of %zu is %#llx to %#llx, not %#llx to %#llx", what, i,
				 newest->count, newest->at[i].from, newest->at[i].to, tail[i].from,
				 tail[i].to);
}

static void buffered_branches_are_the_same(void **state)
{
	struct branches direct, buffered;
	bool whole;

	direct = record_run(BOTH, 16 << 20, 0, &whole);
	assert_true(whole);
	buffered = record_run(USER, 4 << 20, 0, &whole);
	assert_true(whole);
	/* Several times what the buffer holds. */
	assert_true(direct.count * RECORD > 4 * (64 << 10));
	assert_int_equal(buffered.count, direct.count);
	expect_newest(&direct, &buffered, "through the buffer");
	free(direct.at);
	free(buffered.at);
}

/*
 * The return from the ioctl takes some of a small area, but not half of it. A timer interrupt at
 * the program's end may take all, so the program runs again until there was none.
 */
static struct branches record_newest(uint32_t flags, uint64_t aux_size, unsigned int slots,
				     size_t least)
{
	struct branches b = { 0 };
	bool whole;

	for (int i = 0; i < MAX_RUNS && b.count < least; i++) {
		free(b.at);
		b = record_run(flags | OVER, aux_size, slots, &whole);
		assert_false(whole);
	}
	return b;
}

static void only_the_oldest_branches_are_overwritten(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t pages;
		unsigned int slots;
	} areas[] = {
		{ BOTH, 16, 0 }, { BOTH, 64, 0 }, { BOTH, 64, 2 },
		{ USER, 2, 0 }, { USER, 16, 0 }, { USER, 64, 0 }, { USER, 64, 4 },
	};
	struct branches all;
	bool whole;

	all = record_run(BOTH, 16 << 20, 0, &whole);
	assert_true(whole);
	for (unsigned int i = 0; i < sizeof(areas) / sizeof(*areas); i++) {
		uint64_t size = areas[i].pages * page_size / (areas[i].slots ? areas[i].slots : 1);
		/* A kernel that checks itself takes more of the area. */
		size_t least = size / RECORD / 2 / (slowness * slowness);
		struct branches newest = record_newest(areas[i].flags, areas[i].pages * page_size,
						       areas[i].slots, least);
		char what[64];

		snprintf(what, sizeof(what), "%llu pages, flags %#x, %u slots",
			 (unsigned long long)areas[i].pages, areas[i].flags, areas[i].slots);
		if (newest.count < least)
			fail_msg("%s: only %zu records of the program", what, newest.count);
		expect_newest(&all, &newest, what);
		free(newest.at);
	}
	free(all.at);
}

/* The same program recorded by PT and decoded by libipt, independently of BTS. */
static struct branches record_run_by_pt(bool *whole)
{
	const uint64_t aux_size = 4 << 20;
	const struct auxtrace_status_page *status;
	struct branches b;
	struct session s;
	struct insns in;
	void *aux;

	/* Not by session_setup(), which is for sessions of the trace PMU under test. */
	session_prepare(&s, one_cpu, USER | AUXTRACE_SETUP_PAUSED, aux_size);
	s.setup.pmu = AUXTRACE_PMU_INTEL_PT;
	s.setup.config = CONFIG_TSC;
	s.fd = at_open();
	ok_setup(s.fd, &s.setup);
	status = mmap(NULL, page_size, PROT_READ, MAP_SHARED, s.fd,
		      AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_STATUS));
	aux = mmap(NULL, aux_size, PROT_READ, MAP_SHARED, s.fd,
		   AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_AUX));
	assert_ptr_not_equal(status, MAP_FAILED);
	assert_ptr_not_equal(aux, MAP_FAILED);
	assert_int_equal(cpu_pin(first_cpu), 0);
	run_program(&s);
	assert_int_equal(status->gaps, 0);
	insns_decode_packets(&in, aux, status->produced);
	if (in.error)
		fail_msg("PT's trace: error %d after %zu instructions", in.error, in.count);
	b = branches_of_insns(&in);
	branches_of_run(&b, whole);
	insns_free(&in);
	munmap(aux, aux_size);
	munmap((void *)status, page_size);
	at_close(s.fd);
	return b;
}

static void pt_shows_the_same_branches(void **state)
{
	struct branches bts, pt;
	bool whole;

	if (!(at_info().out_pmus & 1u << AUXTRACE_PMU_INTEL_PT))
		skip_test("no Intel PT");
	bts = record_run(USER, 4 << 20, 0, &whole);
	assert_true(whole);
	pt = record_run_by_pt(&whole);
	assert_true(whole);
	print_message("%zu branches by BTS, %zu by PT\n", bts.count, pt.count);
	assert_int_equal(bts.count, pt.count);
	expect_newest(&pt, &bts, "by BTS, not by PT");
	free(bts.at);
	free(pt.at);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(buffered_branches_are_the_same),
		vm_test(only_the_oldest_branches_are_overwritten),
		vm_test(pt_shows_the_same_branches),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
