// SPDX-License-Identifier: GPL-2.0-only
/* Whether, where and when a hit acts: scope, counts, hold-off, delays, bounds. */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define AUX_SIZE	(1 << 20)
#define DATA_SIZE	(1 << 18)
#define CPU		1
#define ONE_CPU		(1ULL << CPU)
#define LONG_NS		100000000000ULL

static void open_at(struct session *s, uint64_t cpus, uint32_t flags)
{
	session_prepare(s, cpus, flags, AUX_SIZE);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
}

/* In overwrite mode: a full trace's area could fill before it is checked. */
static void open_over(struct session *s, uint64_t cpus, uint32_t flags)
{
	open_at(s, cpus, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE | flags);
}

static struct auxtrace_trigger pause_at_call(void)
{
	return trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
}

/* ---- which hits act ----------------------------------------------------------- */

static void a_count_limits_how_often_a_trigger_acts(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.count = 2;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(5);
	trigger_counted(&s, id, 2, 3, 0, 0);
	trigger_rearm(&s, id);
	call_times(1);
	trigger_counted(&s, id, 3, 3, 0, 0);
	call_times(4);
	trigger_counted(&s, id, 4, 6, 0, 0);
	session_close(&s);
}

/* A count that is negative as a signed number. */
static void a_count_of_all_ones_never_ends(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.count = UINT64_MAX;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(5);
	trigger_counted(&s, id, 5, 0, 0, 0);
	session_close(&s);
}

static void a_one_shot_acts_once_until_rearmed(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.flags = AUXTRACE_TRIGGER_ONE_SHOT;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(5);
	trigger_counted(&s, id, 1, 4, 0, 0);
	/* A second REARM has no effect. */
	trigger_rearm(&s, id);
	trigger_rearm(&s, id);
	call_times(3);
	trigger_counted(&s, id, 2, 6, 0, 0);
	session_close(&s);
}

static void after_hits_ignores_the_first_hits(void **state)
{
	struct auxtrace_trigger t = pause_at_call(), resume = t;
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.after_hits = 3;
	t.count = 2;
	id = trigger_add(&s, t);
	resume.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	resume.action = AUXTRACE_ACTION_RESUME;
	trigger_add(&s, resume);
	ok_start(s.fd);
	call_times(3);
	trigger_counted(&s, id, 0, 3, 0, 0);
	assert_int_equal(channel_status(&s.channel[0]).windows, 1);
	call_times(1);
	trigger_counted(&s, id, 1, 3, 0, 0);
	call_times(4);
	trigger_counted(&s, id, 2, 6, 0, 0);
	assert_int_equal(channel_status(&s.channel[0]).windows, 3);
	session_close(&s);
}

static void a_hold_off_ignores_hits_for_a_time(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint32_t id, brief;

	open_over(&s, ONE_CPU, 0);
	t.hold_off_ns = LONG_NS;
	id = trigger_add(&s, t);
	t.hold_off_ns = 1000000;
	brief = trigger_add(&s, t);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		call_times(1);
		usleep(2000);
	}
	trigger_counted(&s, id, 1, 2, 0, 0);
	trigger_counted(&s, brief, 3, 0, 0, 0);
	session_close(&s);
}

/* ---- processes and CPUs ------------------------------------------------------- */

static int call_in_child(void *arg)
{
	call_times(4);
	return 0;
}

static void *call_in_thread(void *arg)
{
	call_times(2);
	return NULL;
}

static void a_pid_selects_a_process_with_its_threads(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	uint32_t anybody, ours;
	pthread_t thread;
	struct session s;

	open_over(&s, ONE_CPU, 0);
	anybody = trigger_add(&s, t);
	t.pid = getpid();
	ours = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(3);
	assert_int_equal(child_run(call_in_child, NULL), 0);
	/* A thread of this process, which inherits the CPU. */
	assert_int_equal(pthread_create(&thread, NULL, call_in_thread, NULL), 0);
	pthread_join(thread, NULL);
	trigger_counted(&s, anybody, 9, 0, 0, 0);
	trigger_counted(&s, ours, 5, 0, 0, 0);
	session_close(&s);
}

/* Hits before START, after STOP and on other CPUs are counted but do not act. */
static void hits_outside_of_the_session_are_idle(void **state)
{
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	id = trigger_add(&s, pause_at_call());
	call_times(3);
	trigger_counted(&s, id, 0, 0, 3, 0);
	ok_start(s.fd);
	assert_int_equal(cpu_pin(0), 0);
	call_times(2);
	trigger_counted(&s, id, 0, 0, 5, 0);
	assert_int_equal(channel_status(&s.channel[0]).inhibit, 0);
	assert_int_equal(cpu_pin(CPU), 0);
	call_times(1);
	trigger_counted(&s, id, 1, 0, 5, 0);
	ok_stop(s.fd);
	call_times(1);
	trigger_counted(&s, id, 1, 0, 6, 0);
	session_close(&s);
}

static void all_cpus_pauses_and_resumes_every_cpu(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	uint32_t resume, pause;
	struct session s;

	open_over(&s, cpus_online(), AUXTRACE_SETUP_TRIGGER_PAUSED);
	t.flags = AUXTRACE_TRIGGER_ALL_CPUS;
	t.action = AUXTRACE_ACTION_RESUME;
	t.count = 1;
	resume = trigger_add(&s, t);
	t.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	t.action = AUXTRACE_ACTION_PAUSE;
	t.after_hits = 1;
	pause = trigger_add(&s, t);
	ok_start(s.fd);
	wait_for_inhibit(&s, AUXTRACE_INHIBIT_TRIGGER);
	call_times(1);
	wait_for_inhibit(&s, 0);
	call_times(1);
	wait_for_inhibit(&s, AUXTRACE_INHIBIT_TRIGGER);
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		unsigned int resumes = 0, pauses = 0;
		const union any_record *w;
		struct records r;

		assert_int_equal(channel_status(&s.channel[i]).windows, 1);
		records_read_all(&r, &s.channel[i]);
		w = records_newest(&r, AUXTRACE_RECORD_WINDOW);
		assert_non_null(w);
		assert_int_equal(w->window.begin_trigger, resume);
		assert_int_equal(w->window.end_trigger, pause);
		for (unsigned int k = 0; k < r.count; k++) {
			if (r.at[k]->header.type != AUXTRACE_RECORD_TRIGGER)
				continue;
			resumes += r.at[k]->trigger.trigger == resume;
			pauses += r.at[k]->trigger.trigger == pause;
		}
		assert_int_equal(resumes, 1);
		assert_int_equal(pauses, 1);
		records_free(&r);
	}
	trigger_counted(&s, resume, 1, 1, 0, 0);
	trigger_counted(&s, pause, 1, 1, 0, 0);
	session_close(&s);
}

/* However fast the requests follow, every CPU ends in the state of the last. */
static void the_last_request_for_all_cpus_wins(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint32_t a, b;

	open_over(&s, cpus_online(), AUXTRACE_SETUP_TRIGGER_PAUSED);
	t.flags = AUXTRACE_TRIGGER_ALL_CPUS;
	t.action = AUXTRACE_ACTION_RESUME;
	a = trigger_add(&s, t);
	t.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	t.action = AUXTRACE_ACTION_PAUSE;
	b = trigger_add(&s, t);
	ok_start(s.fd);
	for (int round = 0; round < 10; round++) {
		call_times(50);
		wait_for_inhibit(&s, AUXTRACE_INHIBIT_TRIGGER);
	}
	trigger_counted(&s, a, 500, 0, 0, 0);
	trigger_counted(&s, b, 500, 0, 0, 0);
	session_close(&s);
}

/* ---- delays ------------------------------------------------------------------- */

static uint64_t ns_of(uint64_t ticks)
{
	struct auxtrace_info info = at_info();

	return ticks * 1000000 / (info.out_clock_hz / 1000);
}

static void delayed(uint32_t action, uint32_t inhibit)
{
	const uint64_t delay = 20000000;
	struct auxtrace_trigger t = pause_at_call();
	struct auxtrace_trigger_state st;
	struct auxtrace_status_page page;
	struct session s;
	uint64_t tsc;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.action = action;
	t.delay_ns = delay;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	tsc = read_tsc();
	/* The second hit comes during the first one's delay, unless the host was that slow. */
	call_times(2);
	wait_for_inhibit(&s, inhibit);
	page = channel_status(&s.channel[0]);
	st = trigger_read(&s, id);
	assert_int_equal(st.out_hits, 2);
	assert_true(st.out_acted >= 1);
	assert_int_equal(st.out_idle, 0);
	assert_true(ns_of(page.window_end_time - tsc) >= delay);
	assert_int_equal(page.windows, 1);
	session_close(&s);
}

static void a_delay_in_ns_acts_that_much_later(void **state)
{
	delayed(AUXTRACE_ACTION_PAUSE, AUXTRACE_INHIBIT_TRIGGER);
	delayed(AUXTRACE_ACTION_FREEZE, AUXTRACE_INHIBIT_FROZEN);
}

/* STOP ends a delay: after the next START a hit begins a whole delay of its own. */
static void stop_ends_a_delay(void **state)
{
	const uint64_t delay = 500000000;
	struct auxtrace_trigger t = pause_at_call();
	struct session s;
	uint64_t tsc;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.delay_ns = delay;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(1);
	trigger_counted(&s, id, 1, 0, 0, 0);
	usleep(delay / 2000);
	ok_stop(s.fd);
	ok_start(s.fd);
	tsc = read_tsc();
	call_times(1);
	trigger_counted(&s, id, 2, 0, 0, 0);
	wait_for_inhibit(&s, AUXTRACE_INHIBIT_TRIGGER);
	assert_true(ns_of(channel_status(&s.channel[0]).window_end_time - tsc) >= delay);
	session_close(&s);
}

/* The TRIGGER record is written last, and must itself wake the reader. */
static void a_trigger_record_alone_wakes_the_reader(void **state)
{
	struct auxtrace_trigger t = pause_at_call();
	struct waiter w;
	struct session s;
	uint32_t id;

	session_prepare(&s, ONE_CPU, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	s.setup.records = AUXTRACE_WANT_TRIGGER;
	s.setup.data_watermark = 1;
	session_setup(&s);
	assert_int_equal(cpu_pin(CPU), 0);
	id = trigger_add(&s, t);
	ok_start(s.fd);
	waiter_start(&w, s.fd);
	call_times(1);
	waiter_join(&w);
	trigger_counted(&s, id, 1, 0, 0, 0);
	session_close(&s);
}

/* A SAMPLE at the same event records the position at the event. */
static void delay_of_bytes(uint32_t levels, uint64_t delay)
{
	/* "DOC: regions of Intel PT"; of BTS a page. */
	const size_t region = AUX_SIZE / 128;
	struct auxtrace_trigger t = pause_at_call();
	const union any_record *sample, *w;
	struct records r;
	struct session s;
	uint64_t went;
	uint32_t id;

	open_at(&s, ONE_CPU, AUXTRACE_SETUP_OVERWRITE | levels);
	t.action = AUXTRACE_ACTION_SAMPLE;
	t.sample_size = 64;
	trigger_add(&s, t);
	t = pause_at_call();
	t.delay_bytes = delay;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	load_run(500);
	call_times(1);
	for (unsigned int n = 0; !channel_status(&s.channel[0]).inhibit; n++) {
		assert_true(n < 100000);
		load_run(100);
	}
	assert_int_equal(channel_status(&s.channel[0]).inhibit, AUXTRACE_INHIBIT_TRIGGER);
	ok_stop(s.fd);
	trigger_counted(&s, id, 1, 0, 0, 0);
	records_read_all(&r, &s.channel[0]);
	sample = records_newest(&r, AUXTRACE_RECORD_SAMPLE);
	w = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(sample);
	assert_non_null(w);
	assert_int_equal(w->window.end_trigger, id);
	went = w->window.end_position - sample->sample.aux_end;
	print_message("delay of %llu bytes: %llu\n", (unsigned long long)delay,
		      (unsigned long long)went);
	assert_true(went >= delay);
	/*
	 * At most a region late, plus the packets that begin the trace again after the sample.
	 * With the kernel traced there is no bound: its trace until it handles the PMI, and that
	 * of interrupts between the probes of the two triggers, is added.
	 */
	if (!(levels & AUXTRACE_SETUP_KERNEL))
		assert_true(went <= delay + region + 256);
	records_free(&r);
	session_close(&s);
}

static void a_delay_in_bytes_acts_that_much_later(void **state)
{
	const uint64_t delays[] = { 1, 4096, 50000, AUX_SIZE / 2 };

	for (unsigned int i = 0; i < 4; i++) {
		delay_of_bytes(AUXTRACE_SETUP_USER, delays[i]);
		delay_of_bytes(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, delays[i]);
	}
}

/* ---- latency ------------------------------------------------------------------ */

static void sleep_ns(long ns)
{
	struct timespec ts = { .tv_nsec = ns };

	syscall(SYS_nanosleep, &ts, NULL);
}

static uint32_t add_latency(const struct session *s, uint64_t bound, uint32_t *a, uint32_t *b)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_PAUSE);

	*a = trigger_add(s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					    AUXTRACE_ACTION_NONE, SYS_nanosleep));
	*b = trigger_add(s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_EXIT,
					    AUXTRACE_ACTION_NONE, SYS_nanosleep));
	t.a = *a;
	t.b = *b;
	t.bound_ns = bound;
	return trigger_add(s, t);
}

static void a_latency_acts_from_its_bound_on(void **state)
{
	struct session s;
	uint32_t a, b, id, never;

	open_over(&s, ONE_CPU, 0);
	id = add_latency(&s, 20000000, &a, &b);
	never = add_latency(&s, LONG_NS, &a, &b);
	ok_start(s.fd);
	sleep_ns(20000000);
	sleep_ns(30000000);
	trigger_counted(&s, id, 2, 0, 0, 0);
	trigger_counted(&s, never, 0, 0, 0, 0);
	trigger_counted(&s, a, 0, 2, 0, 0);
	session_close(&s);
}

/* A and B are the same trigger. */
static void a_latency_can_be_between_hits_of_one_trigger(void **state)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_PAUSE);
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t.a = t.b = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						    AUXTRACE_ACTION_NONE, CALL_NUMBER));
	t.bound_ns = 20000000;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	call_times(1);
	trigger_counted(&s, id, 0, 0, 0, 0);
	usleep(20000);
	call_times(1);
	trigger_counted(&s, id, 1, 0, 0, 0);
	usleep(20000);
	call_times(1);
	trigger_counted(&s, id, 2, 0, 0, 0);
	session_close(&s);
}

#define TASKS_NS	900000000LL

/* Sleeps of the other task that took about as long, because the host had stopped the CPU. */
static unsigned int slow_sleeps;

static int sleep_briefly(struct worker *w)
{
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	sleep_ns(1000);
	clock_gettime(CLOCK_MONOTONIC, &end);
	slow_sleeps += (end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec >=
		       TASKS_NS * 9 / 10;
	return 0;
}

/* Each task has a clock of its own: other tasks' calls do not stop it. */
static void each_task_has_a_latency_of_its_own(void **state)
{
	struct auxtrace_trigger_state st;
	struct auxtrace_trigger t;
	struct session s;
	uint32_t id;

	open_over(&s, ONE_CPU, 0);
	t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_PAUSE);
	t.a = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					      AUXTRACE_ACTION_NONE, SYS_nanosleep));
	t.b = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_EXIT,
					      AUXTRACE_ACTION_NONE, SYS_nanosleep));
	t.bound_ns = TASKS_NS;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	slow_sleeps = 0;
	worker_start(&s, CPU, sleep_briefly, 0);
	sleep_ns(TASKS_NS);
	workers_end();
	st = trigger_read(&s, id);
	assert_in_range(st.out_acted, 1, 1 + slow_sleeps);
	assert_int_equal(st.out_hits, st.out_acted);
	session_close(&s);
}

/* The clock of a task that exits between A and B is freed, and is not used for another task. */
static int exit_inside(void *arg)
{
	call_times(1);
	return 0;
}

static void a_task_that_exits_leaves_no_latency_behind(void **state)
{
	struct auxtrace_trigger t;
	struct session s;
	uint32_t id, a;

	open_over(&s, ONE_CPU, 0);
	t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_PAUSE);
	t.a = a = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						  AUXTRACE_ACTION_NONE, CALL_NUMBER));
	t.b = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_EXIT,
					      AUXTRACE_ACTION_NONE, SYS_getppid));
	t.bound_ns = 1;
	id = trigger_add(&s, t);
	ok_start(s.fd);
	for (int i = 0; i < 100; i++)
		assert_int_equal(child_run(exit_inside, NULL), 0);
	syscall(SYS_getppid);
	trigger_counted(&s, a, 0, 100, 0, 0);
	trigger_counted(&s, id, 0, 0, 0, 0);
	call_times(1);
	syscall(SYS_getppid);
	trigger_counted(&s, id, 1, 0, 0, 0);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_count_limits_how_often_a_trigger_acts),
		vm_test(a_count_of_all_ones_never_ends),
		vm_test(a_one_shot_acts_once_until_rearmed),
		vm_test(after_hits_ignores_the_first_hits),
		vm_test(a_hold_off_ignores_hits_for_a_time),
		vm_test(a_pid_selects_a_process_with_its_threads),
		vm_test(hits_outside_of_the_session_are_idle),
		vm_test(all_cpus_pauses_and_resumes_every_cpu),
		vm_test(the_last_request_for_all_cpus_wins),
		vm_test(a_delay_in_ns_acts_that_much_later),
		vm_test(stop_ends_a_delay),
		vm_test(a_trigger_record_alone_wakes_the_reader),
		vm_test(a_delay_in_bytes_acts_that_much_later),
		vm_test(a_latency_acts_from_its_bound_on),
		vm_test(a_latency_can_be_between_hits_of_one_trigger),
		vm_test(each_task_has_a_latency_of_its_own),
		vm_test(a_task_that_exits_leaves_no_latency_behind),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
