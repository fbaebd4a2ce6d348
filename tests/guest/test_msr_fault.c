// SPDX-License-Identifier: GPL-2.0-only
/*
 * MSR writes that fault, once or from some write on, and other code that turns tracing on: the
 * call fails or the channel shows it, the session and the next one work, and the hardware never
 * writes to memory that is free.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "klog.h"
#include "kmod.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

#define USER		AUXTRACE_SETUP_USER
#define OVER		AUXTRACE_SETUP_OVERWRITE
#define AUX_SIZE	(64 << 10)
#define SMALL		(16 << 10)
/* Trace that interrupts: more than a SMALL area, or than the 64 KiB buffer of BTS. */
#define ROUNDS		(under_bts() ? 40000 : 5000)
#define HWERROR		AUXTRACE_INHIBIT_HWERROR
#define REFUSES		"refuses to turn"
/* Far more than a session makes here. */
#define MAX_WRMSRS	500

static uint64_t msr_value(uint32_t reg)
{
	uint64_t value;

	assert_int_equal(msr_read(first_cpu, reg, &value), 0);
	return value;
}

static void open_on(struct session *s, uint32_t flags, uint64_t aux_size)
{
	session_open(s, one_cpu, flags, aux_size);
	assert_int_equal(cpu_pin(first_cpu), 0);
}

/* perf can use the trace PMU of the CPU again, or there is no such PMU of perf's. */
static void perf_has_it_back(void)
{
	if (perf_pmu_type(under_bts() ? "intel_bts" : "intel_pt") >= 0)
		perf_is_granted(first_cpu);
}

/* START to STOP, with nothing wrong. */
static void traces(struct session *s)
{
	struct auxtrace_status_page st;

	ok_start(s->fd);
	assert_int_equal(channel_status(s->channel).inhibit, 0);
	assert_true(msr_tracing(first_cpu));
	load_run(300);
	ok_stop(s->fd);
	assert_false(msr_tracing(first_cpu));
	st = channel_status(s->channel);
	assert_true(st.window_end > st.window_begin);
	/* The kernel's trace may have overwritten the begin; the_next_session_works() has all. */
	if (st.window_end - st.window_begin <= s->channel->aux_size)
		channel_check_window(s->channel, st.window_begin, st.window_end, "after the faults");
	check_accounting(s);
}

static void the_next_session_works(void)
{
	struct session s;

	open_on(&s, USER, space_for(AUX_SIZE));
	traces(&s);
	session_close(&s);
	perf_has_it_back();
}

/* ---- other code turns tracing on --------------------------------------------- */

/* As KVM does, whose write of the control register is older than our PAUSE. */
static void others_turn_it_on(struct session *s)
{
	uint64_t on;

	ok_start(s->fd);
	load_run(100);
	on = msr_value(msr_control());
	ok_pause(s, 0, NULL);
	assert_false(msr_tracing(first_cpu));
	assert_int_equal(msr_write(first_cpu, msr_control(), on), 0);
	assert_true(msr_tracing(first_cpu));
	load_run(100);
}

static void tracing_that_others_turn_on_ends_with_the_session(void **state)
{
	emulator_required();
	for (int by_close = 0; by_close < 2; by_close++) {
		uint64_t base = 0, mask = 0, bytes;
		struct session s;

		open_on(&s, USER | OVER, AUX_SIZE);
		if (!under_bts()) {
			base = msr_value(MSR_RTIT_OUTPUT_BASE);
			mask = msr_value(MSR_RTIT_OUTPUT_MASK);
		}
		others_turn_it_on(&s);
		if (!by_close)
			ok_stop(s.fd);
		session_close(&s);
		assert_false(msr_tracing(first_cpu));
		/* Nothing is written any more, and the registers are as before. */
		bytes = emulator_bytes(first_cpu);
		load_run(1000);
		assert_int_equal(emulator_bytes(first_cpu), bytes);
		if (!under_bts()) {
			assert_int_equal(msr_value(MSR_RTIT_OUTPUT_BASE), base);
			assert_int_equal(msr_value(MSR_RTIT_OUTPUT_MASK), mask);
		}
		the_next_session_works();
	}
}

/* PT's registers cannot be written then, which RESUME must not hide. BTS goes on. */
static void a_resume_finds_tracing_that_others_turned_on(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	emulator_required();
	open_on(&s, USER | OVER, AUX_SIZE);
	others_turn_it_on(&s);
	ok_resume(&s, 0, NULL);
	st = channel_status(s.channel);
	if (under_bts()) {
		assert_int_equal(st.inhibit, 0);
		assert_true(msr_tracing(first_cpu));
	} else {
		assert_int_equal(st.inhibit, HWERROR);
		assert_int_equal(st.gaps_error, 1);
		assert_int_equal(poll_events(s.fd, 0) & POLLERR, POLLERR);
		assert_false(msr_tracing(first_cpu));
	}
	ok_stop(s.fd);
	traces(&s);
	session_close(&s);
	the_next_session_works();
}

/* ---- each write faults once ---------------------------------------------------- */

static struct {
	unsigned int refused;	/* START failed */
	unsigned int shown;	/* HWERROR */
	unsigned int unnoticed;	/* a second try succeeded, so nothing was lost */
} outcomes;

/* All that writes MSRs, from START to STOP, interrupts too. False: START failed. */
static bool live(struct session *s, bool *shown)
{
	struct auxtrace_status status;
	int ret = at_start(s->fd);

	*shown = false;
	if (ret) {
		assert_int_equal(ret, -EIO);
		return false;
	}
	load_run(ROUNDS);
	ok_pause(s, 0, NULL);
	ok_resume(s, 0, NULL);
	load_run(ROUNDS);
	ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
	*shown = channel_status(s->channel).inhibit;
	ok_stop(s->fd);
	return true;
}

/* What the page says of the errors is true. */
static void check_error(struct session *s, bool shown)
{
	struct auxtrace_status_page st = channel_status(s->channel);

	assert_int_equal(st.gaps_error, shown);
	assert_int_equal(st.gaps, shown);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_SETUP | (shown ? HWERROR : 0));
	assert_int_equal(poll_events(s->fd, 0) & POLLERR, shown ? POLLERR : 0);
	assert_false(msr_tracing(first_cpu));
	check_accounting(s);
}

/* False: a session makes fewer writes than @n. */
static bool the_nth_write_faults(unsigned int n, uint32_t flags)
{
	struct auxtrace_status_page st;
	bool started, shown, faulted;
	struct session s;

	open_on(&s, flags, SMALL);
	emulator_knob(first_cpu, PTM_KNOB_WRMSR_FAULT, n);
	started = live(&s, &shown);
	faulted = !msr_value(MSR_PTM_KNOB + PTM_KNOB_WRMSR_FAULT);
	emulator_knobs_reset();
	if (started) {
		check_error(&s, shown);
		st = channel_status(s.channel);
		assert_true(shown || st.pmis > 0);
		outcomes.shown += shown;
		outcomes.unnoticed += faulted && !shown;
	} else {
		assert_true(faulted);
		assert_false(msr_tracing(first_cpu));
		assert_int_equal(channel_status(s.channel).windows, 0);
		outcomes.refused++;
	}
	perf_has_it_back();
	assert_true(faulted || !shown);
	traces(&s);
	session_close(&s);
	the_next_session_works();
	return faulted;
}

static void each_wrmsr_may_fault_once(void **state)
{
	static const uint32_t flags[] = { USER | OVER, USER | AUXTRACE_SETUP_KERNEL | OVER };

	emulator_required();
	for (int i = 0; i < 2; i++) {
		unsigned int said = klog_count(REFUSES), n = 1;

		memset(&outcomes, 0, sizeof(outcomes));
		while (the_nth_write_faults(n, flags[i]))
			assert_true(++n < MAX_WRMSRS);
		print_message("%u writes: START refused %u times, HWERROR %u, no loss %u\n", n - 1,
			      outcomes.refused, outcomes.shown, outcomes.unnoticed);
		assert_int_equal(outcomes.refused + outcomes.shown + outcomes.unnoticed, n - 1);
		/* START writes two pointers. BTS has none. */
		assert_int_equal(outcomes.refused, under_bts() ? 0 : 2);
		assert_true(outcomes.shown > 0);
		assert_true(outcomes.unnoticed > 0);
		/* One fault makes nothing stuck. */
		assert_int_equal(klog_count(REFUSES), said);
	}
}

/* ---- from some write on all fault ---------------------------------------------- */

/* @s was stopped while the CPU refused every write. */
static void is_stuck_until_the_cpu_gives_in(struct session *s, unsigned int said)
{
	struct session next;
	bool on = msr_tracing(first_cpu), stuck = klog_count(REFUSES) > said;
	int users;

	open_on(&next, USER | OVER, AUX_SIZE);
	if (on) {
		assert_true(stuck);
		if (perf_pmu_type(under_bts() ? "intel_bts" : "intel_pt") >= 0)
			perf_is_refused(first_cpu);
		for (int i = 0; i < 3; i++) {
			fail_start(EIO, next.fd);
			fail_start(EIO, s->fd);
		}
	}
	session_close(s);
	session_close(&next);
	/* The module cannot be unloaded: nothing else would turn the hardware off. */
	users = kmod_users();
	open_on(&next, USER | OVER, AUX_SIZE);
	emulator_knobs_reset();
	if (on)
		assert_true(msr_tracing(first_cpu));
	traces(&next);
	session_close(&next);
	assert_int_equal(kmod_users(), users - stuck);
	the_next_session_works();
}

static void a_cpu_that_refuses_all_is_left_alone_until_it_gives_in(void **state)
{
	unsigned int n = 0, stuck = 0;
	bool reached = true;

	emulator_required();
	while (reached) {
		unsigned int said = klog_count(REFUSES);
		struct session s;
		bool shown;

		assert_true(++n < MAX_WRMSRS);
		open_on(&s, USER | OVER, SMALL);
		emulator_knob(first_cpu, PTM_KNOB_WRMSR_REFUSE, n);
		live(&s, &shown);
		reached = msr_value(MSR_PTM_KNOB + PTM_KNOB_WRMSR_REFUSE) == 1;
		stuck += msr_tracing(first_cpu);
		is_stuck_until_the_cpu_gives_in(&s, said);
	}
	print_message("%u writes: %u left the hardware on\n", n - 1, stuck);
	assert_true(stuck > 0);
}

/*
 * A CPU that goes offline while it refuses to turn the hardware off, and refuses when it is back, too:
 * perf is kept off until it gives in, also when the session has stopped.
 */
static void a_stuck_cpu_that_went_offline_is_kept_from_perf(void **state)
{
	unsigned int said = klog_count(REFUSES);
	int users = kmod_users();
	struct session s;

	emulator_required();
	/* IA32_DEBUGCTL does not survive an INIT, so BTS is off when the CPU is back. */
	pt_required("hardware that outlives an INIT");
	perf_required();
	hotplug_required();
	session_open(&s, 1ULL << last_cpu, USER | AUXTRACE_SETUP_KERNEL | OVER, AUX_SIZE);
	ok_start(s.fd);
	emulator_knob(last_cpu, PTM_KNOB_WRMSR_REFUSE, 1);
	last_cpu_offline();
	last_cpu_online();
	assert_int_equal(channel_status(s.channel).inhibit & AUXTRACE_INHIBIT_OFFLINE,
			 AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(klog_count(REFUSES), said + 1);
	perf_is_refused(last_cpu);
	ok_stop(s.fd);
	perf_is_refused(last_cpu);
	assert_int_equal(klog_count(REFUSES), said + 1);
	session_close(&s);
	perf_is_refused(last_cpu);
	assert_int_equal(kmod_users(), users + 1);
	/* Nobody has it now. */
	last_cpu_offline();
	last_cpu_online();
	perf_is_refused(last_cpu);
	emulator_knobs_reset();
	/* A START finds that the CPU gives in. */
	session_open(&s, 1ULL << last_cpu, USER | OVER, AUX_SIZE);
	ok_start(s.fd);
	ok_stop(s.fd);
	session_close(&s);
	assert_int_equal(kmod_users(), users);
	perf_is_granted(last_cpu);
}

/* ---- pages -------------------------------------------------------------------- */

#define PAGES_SIZE	(8 << 20)
#define MAX_PAGES	(PAGES_SIZE / 4096)
#define PFN_MASK	((1ULL << 55) - 1)
#define IS_FREE		(1ULL << 10)	/* KPF_BUDDY of /proc/kpageflags */
/* Newer kernels keep many free pages in lists of each CPU, where they are not seen to be free. */
#define PER_CPU_LISTS	"/proc/sys/vm/percpu_pagelist_high_fraction"

static uint64_t word_of(const char *path, uint64_t index)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t word = 0;

	if (fd < 0)
		skip_test("%s: %s", path, strerror(errno));
	assert_int_equal(pread(fd, &word, sizeof(word), index * sizeof(word)), sizeof(word));
	close(fd);
	return word;
}

/* The session's life, and how many pages of its AUX area are free afterwards. */
static unsigned int pages_free_after(uint64_t refuse_from, bool *stuck)
{
	static uint64_t pfn[MAX_PAGES];
	size_t pages = PAGES_SIZE / page_size;
	unsigned int free = 0;
	struct session s;

	open_on(&s, USER | OVER, PAGES_SIZE);
	for (size_t i = 0; i < pages; i++) {
		uint64_t address = (uintptr_t)s.channel->aux + i * page_size;

		pfn[i] = word_of("/proc/self/pagemap", address / page_size) & PFN_MASK;
		assert_true(pfn[i] != 0);
	}
	ok_start(s.fd);
	load_run(1000);
	if (refuse_from)
		emulator_knob(first_cpu, PTM_KNOB_WRMSR_REFUSE, refuse_from);
	ok_stop(s.fd);
	*stuck = msr_tracing(first_cpu);
	session_close(&s);
	load_run(1000);
	for (size_t i = 0; i < pages; i++)
		free += !!(word_of("/proc/kpageflags", pfn[i]) & IS_FREE);
	emulator_knobs_reset();
	return free;
}

static void pages_that_stuck_hardware_may_write_are_not_freed(void **state)
{
	unsigned int free;
	bool stuck;

	emulator_required();
	file_write(PER_CPU_LISTS, "100000");	/* short ones */
	free = pages_free_after(0, &stuck);
	assert_false(stuck);
	print_message("%u pages are free after a session, ", free);
	/* Others are in lists of single pages, or used again. */
	assert_true(free > PAGES_SIZE / page_size / 4);
	free = pages_free_after(1, &stuck);
	assert_true(stuck);
	print_message("%u after one that cannot be turned off\n", free);
	file_write(PER_CPU_LISTS, "0");
	assert_int_equal(free, 0);
	the_next_session_works();
}

/* ---- the msr tracepoints -------------------------------------------------------- */

#define TRACEFS		"/sys/kernel/tracing/"
#define WRITE_MSR	TRACEFS "events/msr/write_msr/enable"

/* Events of writes of the trace PMU's registers, and all. */
static void events(unsigned int *ours, unsigned int *all)
{
	static const unsigned long regs[] = { 0x560, 0x561, 0x570, 0x571, 0x1d9 };
	FILE *f = fopen(TRACEFS "trace", "re");
	char line[512];

	*ours = *all = 0;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "write_msr: ");
		unsigned long reg = at ? strtoul(at + strlen("write_msr: "), NULL, 16) : 0;

		*all += !!at;
		for (unsigned int i = 0; at && i < sizeof(regs) / sizeof(regs[0]); i++)
			*ours += reg == regs[i];
	}
	fclose(f);
}

static void our_writes_run_no_tracepoint(void **state)
{
	unsigned int ours, all;
	struct session s;
	bool shown;
	int ret;

	emulator_required();
	open_on(&s, USER | OVER, SMALL);
	ret = file_write(WRITE_MSR, "1");
	if (ret)
		skip_test("no tracepoint write_msr: %s", strerror(-ret));
	/* The kernel's own write, which does. */
	emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, 0);
	assert_true(live(&s, &shown));
	assert_false(shown);
	file_write(WRITE_MSR, "0");
	events(&ours, &all);
	file_write(TRACEFS "trace", "");
	assert_true(channel_status(s.channel).pmis > 0);
	assert_true(all > 0);
	assert_int_equal(ours, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tracing_that_others_turn_on_ends_with_the_session),
		vm_test(a_resume_finds_tracing_that_others_turned_on),
		vm_test(our_writes_run_no_tracepoint),
		vm_test(each_wrmsr_may_fault_once),
		vm_test(a_cpu_that_refuses_all_is_left_alone_until_it_gives_in),
		vm_test(a_stuck_cpu_that_went_offline_is_kept_from_perf),
		vm_test(pages_that_stuck_hardware_may_write_are_not_freed),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
