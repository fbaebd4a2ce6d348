// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a PAUSE and a RESUME cost: the WRMSRs of each, and no interrupt, byte or fault
 * besides.
 */
#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "uapi.h"

#define AUX_SIZE	space_for(1 << 20)
#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

/* PT's RESUME clears RTIT_STATUS, too: otherwise the trace would not begin with PSB+. */
static unsigned int resume_wrmsrs(void)
{
	return under_bts() ? 1 : 2;
}

/*
 * A position near the end of a page, where ToPA tables have one entry: PT's PAUSE goes on to the page's
 * end, and the RESUME writes the output pointer.
 */
static bool may_write_pointer(const struct channel *ch)
{
	return pt_has_single_entry() &&
	       channel_status(ch).window_begin % 4096 == 0;
}

/*
 * The model's count of the trace PMU's WRMSRs on a channel's CPU, less those of the channel's
 * interrupts, each of which pauses and resumes. With BTS under page-table isolation the test's
 * own branches soon fill the 64 KiB buffer.
 */
static uint64_t asked_wrmsrs(const struct channel *ch)
{
	uint64_t pmis = channel_status(ch).pmis, count, was;

	do {
		was = pmis;
		count = emulator_wrmsrs(ch->cpu);
		pmis = channel_status(ch).pmis;
	} while (pmis != was);
	return count - pmis * (1 + resume_wrmsrs());
}

/* asked_wrmsrs() of each CPU of a session. */
static void count_wrmsrs(const struct session *s, uint64_t *counts)
{
	for (unsigned int i = 0; i < s->count; i++)
		counts[i] = asked_wrmsrs(&s->channel[i]);
}

/* Each CPU made @each WRMSRs since @counts, which are updated. */
static void expect_wrmsrs(const struct session *s, uint64_t *counts, const char *what,
			  unsigned int each)
{
	bool resumed = each && each == resume_wrmsrs() && !under_bts();

	for (unsigned int i = 0; i < s->count; i++) {
		const struct channel *ch = &s->channel[i];
		uint64_t now = asked_wrmsrs(ch);

		if (now - counts[i] != each + (resumed && may_write_pointer(ch)))
			fail_msg("%s: %llu WRMSRs on CPU %d, not %u; %llu interrupts, %llu bytes",
				 what, (unsigned long long)(now - counts[i]), ch->cpu, each,
				 channel_status(ch).pmis, channel_status(ch).produced);
		counts[i] = now;
	}
}

/*
 * A PAUSE and a RESUME write only the MSR that turns tracing on and off, and a RESUME of PT
 * also RTIT_STATUS. The counts are read while tracing is off, so no interrupt adds to them.
 */
static void a_pair_writes_the_switch_alone(const struct session *s)
{
	enum ptm_counter control = under_bts() ? PTM_N_WRMSR_DEBUGCTL : PTM_N_WRMSR_CTL;
	enum ptm_counter other = under_bts() ? PTM_N_WRMSR_DS_AREA : PTM_N_WRMSR_STATUS;

	for (unsigned int i = 0; i < s->count; i++) {
		int cpu = s->channel[i].cpu;
		uint64_t controls, others;

		ok_pause(s, 1ULL << cpu, NULL);
		controls = emulator_count(cpu, control);
		others = emulator_count(cpu, other);
		ok_resume(s, 1ULL << cpu, NULL);
		ok_pause(s, 1ULL << cpu, NULL);
		assert_int_equal(emulator_count(cpu, control), controls + 2);
		assert_int_equal(emulator_count(cpu, other), others + !under_bts());
		ok_resume(s, 1ULL << cpu, NULL);
	}
}

static void a_pause_is_one_wrmsr_a_resume_at_most_two_a_redundant_request_none(void **state)
{
	uint64_t counts[MAX_CPUS];
	struct session s;

	emulator_required();
	/* Space for the kernel's trace of reading the counters in one round: a debug kernel needs more. */
	session_open(&s, all_cpus, quiet_level(), 4 * AUX_SIZE * slowness);
	ok_start(s.fd);
	for (int i = 0; i < 20; i++) {
		count_wrmsrs(&s, counts);
		ok_pause(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "PAUSE", 1);
		ok_pause(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "redundant PAUSE", 0);
		/* RESUME takes the tail: the area has space for one round, not for all. */
		for (unsigned int n = 0; n < s.count; n++)
			channel_set_tail(&s.channel[n], channel_status(&s.channel[n]).produced);
		ok_resume(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "RESUME", resume_wrmsrs());
		ok_resume(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "redundant RESUME", 0);
	}
	a_pair_writes_the_switch_alone(&s);
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		/* An interrupt of PT makes more WRMSRs than a PAUSE and a RESUME. */
		if (st.pmis && !under_bts())
			fail_msg("CPU %u: %llu trace interrupts, %llu bytes", st.cpu, st.pmis,
				 st.produced);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(st.pauses_asked, 42);
		assert_int_equal(st.pauses_done, 22);
		assert_int_equal(st.resumes_asked, 42);
		assert_int_equal(st.resumes_done, 22);
		assert_int_equal(st.windows, 23);
	}
	check_accounting(&s);
}

static void a_request_of_one_cpu_writes_no_msr_of_another(void **state)
{
	const struct channel *ch;
	struct session s;
	uint64_t before;

	emulator_required();
	two_cpus_required();
	session_open(&s, all_cpus, quiet_level(), AUX_SIZE);
	ch = session_channel(&s, last_cpu);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	before = asked_wrmsrs(ch);
	ok_pause(&s, one_cpu, NULL);
	ok_resume(&s, one_cpu, NULL);
	assert_int_equal(asked_wrmsrs(ch), before);
	/* A request from another CPU costs as much as one from the CPU itself. */
	before = asked_wrmsrs(ch);
	ok_pause(&s, 1ULL << last_cpu, NULL);
	ok_resume(&s, 1ULL << last_cpu, NULL);
	assert_int_equal(asked_wrmsrs(ch), before + 1 + resume_wrmsrs());
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_paused_channel_takes_no_interrupts_and_writes_no_bytes(void **state)
{
	struct auxtrace_status status;
	uint64_t bytes, wrmsrs;
	struct session s;

	emulator_required();
	session_open(&s, one_cpu, quiet_level(), AUX_SIZE);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	bytes = emulator_bytes(first_cpu);
	wrmsrs = emulator_wrmsrs(first_cpu);
	load_run(20000);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(emulator_bytes(first_cpu), bytes);
	assert_int_equal(emulator_wrmsrs(first_cpu), wrmsrs);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void no_call_makes_the_hardware_fault(void **state)
{
	uint64_t faults[MAX_CPUS];
	struct session s;

	emulator_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	for (unsigned int i = 0; i < s.count; i++)
		faults[i] = emulator_count(s.channel[i].cpu, PTM_N_FAULTS);
	for (int i = 0; i < 3; i++) {
		struct auxtrace_status status;

		ok_start(s.fd);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		ok_pause(&s, 0, NULL);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		ok_resume(&s, 0, NULL);
		ok_stop(s.fd);
	}
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(emulator_count(s.channel[i].cpu, PTM_N_FAULTS), faults[i]);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_pause_is_one_wrmsr_a_resume_at_most_two_a_redundant_request_none),
		vm_test(a_request_of_one_cpu_writes_no_msr_of_another),
		vm_test(a_paused_channel_takes_no_interrupts_and_writes_no_bytes),
		vm_test(no_call_makes_the_hardware_fault),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
