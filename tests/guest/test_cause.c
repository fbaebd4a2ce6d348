// SPDX-License-Identifier: GPL-2.0
/* Each cause for which a window begins or ends, and what else the records say of it. */
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "uapi.h"

#define AUX_SIZE	room_for(1 << 20)
/* No machine of ours has memory there, and no table lies there. */
#define NO_MEMORY	0xff00000000ULL

static size_t page_size;
static uint64_t all_cpus;
static int first, last;

static void open_on(struct session *s, int cpu, struct follower *f)
{
	session_prepare(s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_prepare_data(s, 0, page_size);
	session_setup(s);
	follower_init(f, s->channel);
	assert_int_equal(cpu_pin(first), 0);
}

/* The newest window of what has come since was begun and ended so. */
static void expect_causes(struct follower *f, uint32_t begin, uint32_t end)
{
	uint64_t windows = f->windows;

	follow_and_take(f);
	assert_int_equal(f->windows, windows + 1);
	assert_int_equal(f->newest.begin_cause, begin);
	assert_int_equal(f->newest.end_cause, end);
}

static void start_pause_resume_and_stop_are_told_apart(void **state)
{
	struct follower f;
	struct session s;

	(void)state;
	open_on(&s, first, &f);
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

	(void)state;
	if (first == last || cpu_set_online(last, 1)) {
		print_message("SKIP: no CPU that can go offline\n");
		skip();
	}
	open_on(&s, last, &f);
	/* No more than the area holds, however long we wait for a CPU of the host's. */
	assert_int_equal(cpu_pin(last), 0);
	ok_start(s.fd);
	load_run(1000);
	assert_int_equal(cpu_pin(first), 0);
	expect_call("offline", 0, cpu_set_online(last, 0), __FILE__, __LINE__);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_CPU);
	expect_call("online", 0, cpu_set_online(last, 1), __FILE__, __LINE__);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_CPU, AUXTRACE_CAUSE_USER);
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

static void what_somebody_else_turned_off_is_partial_and_foreign(void **state)
{
	struct auxtrace_status status;
	struct follower f;
	struct session s;
	uint64_t ctl;

	(void)state;
	bench_required();
	open_on(&s, first, &f);
	ok_start(s.fd);
	load_run(100);
	assert_int_equal(msr_read(first, msr_control(), &ctl), 0);
	assert_int_equal(msr_write(first, msr_control(), ctl & ~msr_enables()), 0);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_FOREIGN);
	assert_int_equal(f.partial, 1);
	ok_stop(s.fd);
	expect_causes(&f, AUXTRACE_CAUSE_FOREIGN, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(f.partial, 1);
	follower_agrees(&f);
	check_accounting(&s);
}

static void an_error_is_partial_and_a_cause_before_the_pause_that_found_it(void **state)
{
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;

	(void)state;
	pt_required("operational errors");
	bench_required();
	open_on(&s, first, &f);
	ok_start(s.fd);
	load_run(100);
	ok_pause(&s, 0, NULL);
	expect_causes(&f, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_USER);
	assert_int_equal(msr_write(first, MSR_RTIT_OUTPUT_BASE, NO_MEMORY), 0);
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
		vm_test(start_pause_resume_and_stop_are_told_apart),
		vm_test(a_cpu_that_goes_and_returns_is_a_cause),
		vm_test(what_somebody_else_turned_off_is_partial_and_foreign),
		vm_test(an_error_is_partial_and_a_cause_before_the_pause_that_found_it),
	};

	page_size = sysconf(_SC_PAGESIZE);
	all_cpus = cpus_online();
	first = cpus_first(all_cpus);
	last = cpus_last(all_cpus);
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
