// SPDX-License-Identifier: GPL-2.0-only
/* Each cause for which a window begins or ends, and what else the records report. */
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "uapi.h"

#define AUX_SIZE	space_for(1 << 20)

static void open_on(struct session *s, int cpu, struct follower *f)
{
	session_prepare(s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_prepare_data(s, 0, page_size);
	session_setup(s);
	follower_init(f, s->channel);
	assert_int_equal(cpu_pin(first_cpu), 0);
}

/* One window was recorded since the last call, with these causes. */
static void expect_causes(struct follower *f, uint32_t begin, uint32_t end)
{
	uint64_t windows = f->windows;

	follow_and_take(f);
	assert_int_equal(f->windows, windows + 1);
	assert_int_equal(f->newest.begin_cause, begin);
	assert_int_equal(f->newest.end_cause, end);
}

static void start_pause_resume_and_stop_are_distinct_causes(void **state)
{
	struct follower f;
	struct session s;

	open_on(&s, first_cpu, &f);
	ok_start(s.fd);
	ok_stop(s.fd);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_SESSION);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_USER);
	ok_resume(&s, 0, NULL);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_USER);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	expect_causes(&f, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_SESSION);
	follower_agrees(&f);
	assert_int_equal(f.partial, 0);
	check_accounting(&s);
}

static void a_cpu_that_goes_and_returns_is_a_cause(void **state)
{
	struct follower f;
	struct session s;

	hotplug_required();
	open_on(&s, last_cpu, &f);
	/* A limited load: the area must not fill, however slow the host is. */
	assert_int_equal(cpu_pin(last_cpu), 0);
	ok_start(s.fd);
	load_run(1000);
	assert_int_equal(cpu_pin(first_cpu), 0);
	last_cpu_offline();
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_CPU);
	last_cpu_online();
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_CPU, AUXTRACE_CAUSE_USER);
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

static void tracing_that_others_turn_off_is_partial_and_foreign(void **state)
{
	struct auxtrace_status status;
	struct follower f;
	struct session s;
	uint64_t ctl;

	emulator_required();
	open_on(&s, first_cpu, &f);
	ok_start(s.fd);
	load_run(100);
	assert_int_equal(msr_read(first_cpu, msr_control(), &ctl), 0);
	assert_int_equal(msr_write(first_cpu, msr_control(), ctl & ~msr_enables()), 0);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_FOREIGN);
	assert_int_equal(f.partial, 1);
	ok_stop(s.fd);
	expect_causes(&f, AUXTRACE_CAUSE_FOREIGN, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(f.partial, 1);
	follower_agrees(&f);
	check_accounting(&s);
}

static void an_error_is_partial_and_a_cause_before_the_pause_that_finds_it(void **state)
{
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;

	pt_required("operational errors");
	emulator_required();
	open_on(&s, first_cpu, &f);
	ok_start(s.fd);
	load_run(100);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_USER);
	assert_int_equal(msr_write(first_cpu, MSR_RTIT_OUTPUT_BASE, NO_MEMORY), 0);
	ok_resume(&s, 0, NULL);
	load_run(100);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_ERROR);
	assert_int_equal(f.partial, 1);
	st = channel_status(s.channel);
	assert_int_equal(st.inhibit & AUXTRACE_INHIBIT_HWERROR, AUXTRACE_INHIBIT_HWERROR);
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(start_pause_resume_and_stop_are_distinct_causes),
		vm_test(a_cpu_that_goes_and_returns_is_a_cause),
		vm_test(tracing_that_others_turn_off_is_partial_and_foreign),
		vm_test(an_error_is_partial_and_a_cause_before_the_pause_that_finds_it),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
