// SPDX-License-Identifier: GPL-2.0-only
/* FREEZE: every channel stops at one cut, records the cause, and waits for a RESUME. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define AUX_SIZE	(1 << 16)
#define DATA_SIZE	(1 << 14)
#define CPU		1

static uint64_t cpus;

static struct auxtrace_trigger freeze_at_call(void)
{
	return trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_FREEZE, CALL_NUMBER);
}

/* A flight recorder over all CPUs, with a load on each. */
static void open_recorder(struct session *s)
{
	cpus = cpus_online();
	session_prepare(s, cpus, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				 AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, AUXTRACE_SETUP_DATA_OVERWRITE, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
	for (unsigned int i = 0; i < s->count; i++)
		if (s->channel[i].cpu != CPU)
			load_start(s->channel[i].cpu);
}

static bool all_are(const struct session *s, uint32_t inhibit)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (channel_status(&s->channel[i]).inhibit != inhibit)
			return false;
	return true;
}

static void wait_until_all_are(const struct session *s, uint32_t inhibit)
{
	wait_until(all_are(s, inhibit));
}

/* The last records but AUX are of the window that the freeze ended, and of the freeze. */
static void check_cut(const struct channel *ch, uint32_t id, uint64_t asked)
{
	struct auxtrace_status_page st = channel_status(ch);
	const struct auxtrace_record_trigger *t;
	const union any_record *w;
	unsigned int freezes = 0;
	struct records r;

	assert_int_equal(st.frozen_by, id);
	assert_int_equal(st.data_paused, 2);
	assert_true(st.window_end_time >= asked && st.frozen_time >= st.window_end_time);
	assert_int_equal(st.window_end, st.produced);
	records_read_all(&r, ch);
	assert_true(r.count > 1);
	assert_int_equal(r.at[r.count - 1]->header.type, AUXTRACE_RECORD_TRIGGER);
	t = &r.at[r.count - 1]->trigger;
	assert_int_equal(t->trigger, id);
	assert_int_equal(t->action, AUXTRACE_ACTION_FREEZE);
	assert_int_equal(t->position, st.produced);
	assert_true(t->end.time >= asked);
	w = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(w);
	assert_int_equal(w->window.window, st.windows);
	assert_int_equal(w->window.end_cause, AUXTRACE_CAUSE_TRIGGER);
	assert_int_equal(w->window.end_trigger, id);
	assert_int_equal(w->window.end_position, st.produced);
	for (unsigned int i = 0; i < r.count; i++)
		if (r.at[i]->header.type == AUXTRACE_RECORD_TRIGGER && r.at[i]->trigger.end.time >= asked)
			freezes++;
	assert_int_equal(freezes, 1);
	records_free(&r);
}

/* A frozen recorder does not change, whatever is requested other than RESUME. */
static void check_frozen(struct session *s)
{
	struct auxtrace_status_page before[MAX_CPUS];
	struct auxtrace_status status;

	for (unsigned int i = 0; i < s->count; i++)
		before[i] = channel_status(&s->channel[i]);
	usleep(5000);
	call_times(3);
	ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(status.out_nr_running, 0);
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page now = channel_status(&s->channel[i]);

		assert_int_equal(now.produced, before[i].produced);
		assert_int_equal(now.data_head, before[i].data_head);
		assert_int_equal(now.frozen_time, before[i].frozen_time);
		assert_int_equal(now.windows, before[i].windows);
	}
	assert_int_equal(poll_urgent(s->fd, 0), POLLPRI);
}

static void a_freeze_stops_every_cpu_until_a_resume(void **state)
{
	struct session s;
	uint32_t id;

	open_recorder(&s);
	id = trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	for (unsigned int round = 1; round <= 3; round++) {
		uint64_t asked;

		load_run(3000);
		assert_true(all_are(&s, 0));
		assert_int_equal(poll_urgent(s.fd, 0), 0);
		asked = read_tsc();
		call_times(1);
		wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
		for (unsigned int i = 0; i < s.count; i++)
			check_cut(&s.channel[i], id, asked);
		check_frozen(&s);
		/* The calls of check_frozen() were hits, too, and held. */
		trigger_counted(&s, id, round, 3 * round, 0, 0);
		ok_resume(&s, 0, NULL);
		assert_true(all_are(&s, 0));
		assert_int_equal(poll_urgent(s.fd, 0), 0);
		for (unsigned int i = 0; i < s.count; i++) {
			assert_int_equal(channel_status(&s.channel[i]).windows, round + 1);
			assert_int_equal(channel_status(&s.channel[i]).data_paused, 0);
		}
	}
	session_close(&s);
}

/* A START after STOP ends the freeze. */
static void start_ends_a_freeze(void **state)
{
	struct session s;

	open_recorder(&s);
	trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	call_times(1);
	wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
	ok_stop(s.fd);
	ok_start(s.fd);
	assert_true(all_are(&s, 0));
	assert_int_equal(poll_urgent(s.fd, 0), 0);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).data_paused, 0);
	session_close(&s);
}

/* After a RESUME by ioctl the window's cause is USER, whatever trigger acted before. */
static void a_window_after_a_resume_was_begun_by_the_user(void **state)
{
	struct auxtrace_trigger t = freeze_at_call();
	const union any_record *w;
	struct records r;
	struct session s;

	session_prepare(&s, 1ULL << CPU, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE |
					 AUXTRACE_SETUP_TRIGGER_PAUSED, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	session_setup(&s);
	assert_int_equal(cpu_pin(CPU), 0);
	t.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	trigger_add(&s, t);
	t = freeze_at_call();
	t.action = AUXTRACE_ACTION_RESUME;
	trigger_add(&s, t);
	ok_start(s.fd);
	call_times(1);
	wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
	ok_resume(&s, 0, NULL);
	wait_until_all_are(&s, 0);
	ok_stop(s.fd);
	records_read_all(&r, &s.channel[0]);
	w = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(w);
	assert_int_equal(w->window.begin_cause, AUXTRACE_CAUSE_USER);
	assert_int_equal(w->window.begin_trigger, 0);
	records_free(&r);
	session_close(&s);
}

/* A CPU that was offline returns as last requested: frozen, or resumed since. */
static void a_cpu_that_returns_is_frozen_or_resumed_as_last_requested(void **state)
{
	struct session s;
	int cpu;

	open_recorder(&s);
	load_stop_all();
	cpu = cpus_last(cpus);
	assert_true(cpu > CPU);
	trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	for (int resumed = 0; resumed < 2; resumed++) {
		const struct channel *ch = &s.channel[s.count - 1];

		assert_int_equal(ch->cpu, cpu);
		assert_int_equal(cpu_set_online(cpu, 0), 0);
		/* The freeze is requested of every CPU, also of the offline one. */
		call_times(1);
		/* A RESUME need not wait for the other CPUs to freeze: it is carried out after. */
		for (unsigned int i = 0; i < s.count - 1 && !resumed; i++)
			wait_until(channel_status(&s.channel[i]).inhibit == AUXTRACE_INHIBIT_FROZEN);
		if (resumed)
			ok_resume(&s, 0, NULL);
		assert_int_equal(cpu_set_online(cpu, 1), 0);
		wait_until(!(channel_status(ch).inhibit & AUXTRACE_INHIBIT_OFFLINE));
		assert_int_equal(channel_status(ch).inhibit, resumed ? 0 : AUXTRACE_INHIBIT_FROZEN);
		assert_int_equal(poll_urgent(s.fd, 0), resumed ? 0 : POLLPRI);
		ok_resume(&s, 0, NULL);
	}
	session_close(&s);
}

/* The trigger hits while START is under way, on CPUs that have started: all must freeze. */
static void a_freeze_during_start_freezes_every_cpu(void **state)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_TIMER, AUXTRACE_ACTION_FREEZE);
	struct session s;
	uint32_t id;

	open_recorder(&s);
	load_stop_all();
	t.bound_ns = 10000;
	t.flags = AUXTRACE_TRIGGER_ONE_SHOT;
	id = trigger_add(&s, t);
	for (unsigned int round = 0; round < 100; round++) {
		ok_start(s.fd);
		wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
		ok_stop(s.fd);
		trigger_rearm(&s, id);
	}
	session_close(&s);
}

static void *wait_for_freeze(void *arg)
{
	const struct session *s = arg;
	struct pollfd p = { .fd = s->fd, .events = POLLPRI };

	return (void *)(intptr_t)(poll(&p, 1, WAIT_MS) == 1 ? p.revents : 0);
}

static void a_freeze_wakes_poll(void **state)
{
	struct session s;
	pthread_t thread;
	void *events;

	open_recorder(&s);
	trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	assert_int_equal(pthread_create(&thread, NULL, wait_for_freeze, &s), 0);
	/* By now the thread is likely to wait; if not, poll(2) finds the session frozen. */
	usleep(10000);
	call_times(1);
	pthread_join(thread, &events);
	assert_int_equal((intptr_t)events, POLLPRI);
	session_close(&s);
}

static int call_once(struct worker *w)
{
	call_times(1);
	return 0;
}

/* Freezes on several CPUs at once: each CPU has one cut, by any of them. */
static void freezes_on_several_cpus_at_once_make_one_cut_each(void **state)
{
	struct auxtrace_trigger_state st;
	uint64_t acted = 0;
	struct session s;
	uint32_t id;

	open_recorder(&s);
	load_stop_all();
	id = trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	for (unsigned int round = 1; round <= 5; round++) {
		uint64_t asked = read_tsc();

		for (unsigned int i = 0; i < s.count; i++)
			worker_start(&s, s.channel[i].cpu, call_once, 10);
		workers_join();
		wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
		for (unsigned int i = 0; i < s.count; i++)
			check_cut(&s.channel[i], id, asked);
		/* The first hit acts, and so do hits on CPUs that the freeze has not reached. */
		st = trigger_read(&s, id);
		assert_int_equal(st.out_acted + st.out_held, 10ULL * s.count * round);
		assert_in_range(st.out_acted - acted, 1, s.count);
		acted = st.out_acted;
		ok_resume(&s, 0, NULL);
	}
	session_close(&s);
}

#define FREEZES	100

/* A request that follows the report of poll(2) is carried out after the freeze on each CPU. */
static void a_request_after_poll_reported_the_freeze_finds_every_cpu_frozen(void **state)
{
	struct auxtrace_status status;
	struct session s;

	open_recorder(&s);
	trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	for (int i = 0; i < FREEZES; i++) {
		call_times(1);
		assert_int_equal(poll_urgent(s.fd, WAIT_MS), POLLPRI);
		if (i & 1) {
			ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
			assert_true(all_are(&s, AUXTRACE_INHIBIT_FROZEN));
		}
		ok_resume(&s, 0, NULL);
		/* Twice: asynchronous calls may be carried out after the first. */
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		assert_true(all_are(&s, 0));
	}
	session_close(&s);
}

/*
 * A hit on a CPU that is frozen, by whatever trigger, is held: it does not count towards the
 * trigger's limit, and begins neither a hold-off nor a delay.
 */
static void hits_on_a_frozen_cpu_are_held(void **state)
{
	struct auxtrace_trigger t = freeze_at_call();
	uint32_t twice, other, later;
	uint64_t frozen_time;
	struct session s;

	open_recorder(&s);
	t.count = 2;
	t.hold_off_ns = 1;
	twice = trigger_add(&s, t);
	t = freeze_at_call();
	t.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	other = trigger_add(&s, t);
	ok_start(s.fd);

	call_times(1);
	wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
	frozen_time = channel_status(&s.channel[CPU]).frozen_time;
	trigger_counted(&s, twice, 1, 0, 0, 0);
	trigger_counted(&s, other, 0, 1, 0, 0);
	t.delay_ns = 1000;
	later = trigger_add(&s, t);
	call_times(5);
	usleep(1000);
	trigger_counted(&s, twice, 1, 5, 0, 0);
	trigger_counted(&s, other, 0, 6, 0, 0);
	trigger_counted(&s, later, 0, 5, 0, 0);
	assert_int_equal(channel_status(&s.channel[CPU]).frozen_by, twice);
	assert_true(channel_status(&s.channel[CPU]).frozen_time == frozen_time);

	trigger_del(&s, other);
	trigger_del(&s, later);
	ok_resume(&s, 0, NULL);
	call_times(1);
	wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
	trigger_counted(&s, twice, 2, 5, 0, 0);
	assert_true(channel_status(&s.channel[CPU]).frozen_time > frozen_time);
	/* The trigger has acted twice, its limit. */
	ok_resume(&s, 0, NULL);
	call_times(1);
	usleep(5000);
	assert_true(all_are(&s, 0));
	trigger_counted(&s, twice, 2, 6, 0, 0);
	session_close(&s);
}

/* A START that fails on one CPU leaves the frozen trace of all of them readable. */
static void a_start_that_fails_leaves_the_freeze(void **state)
{
	struct auxtrace_status_page before[MAX_CPUS];
	int last = cpus_last(cpus_online());
	struct session s;
	uint64_t was, base;

	emulator_required();
	open_recorder(&s);
	trigger_add(&s, freeze_at_call());
	ok_start(s.fd);
	load_run(100);
	call_times(1);
	wait_until_all_are(&s, AUXTRACE_INHIBIT_FROZEN);
	ok_stop(s.fd);
	load_stop_all();
	for (unsigned int i = 0; i < s.count; i++)
		before[i] = channel_status(&s.channel[i]);
	assert_int_equal(poll_urgent(s.fd, 0), POLLPRI);
	/*
	 * As if firmware had turned tracing on. What Intel PT's output registers have is of somebody's memory
	 * that is long something else's: the trace must not go there.
	 */
	assert_int_equal(msr_read(last, msr_control(), &was), 0);
	if (msr_control() == MSR_RTIT_CTL) {
		assert_int_equal(msr_read(last, MSR_RTIT_OUTPUT_BASE, &base), 0);
		assert_int_equal(msr_write(last, MSR_RTIT_OUTPUT_BASE, NO_MEMORY), 0);
	}
	assert_int_equal(msr_write(last, msr_control(), was | msr_enables()), 0);
	fail_start(EBUSY, s.fd);
	assert_int_equal(msr_write(last, msr_control(), was), 0);
	if (msr_control() == MSR_RTIT_CTL)
		assert_int_equal(msr_write(last, MSR_RTIT_OUTPUT_BASE, base), 0);
	assert_int_equal(poll_urgent(s.fd, 0), POLLPRI);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page now = channel_status(&s.channel[i]);

		now.seq = before[i].seq;
		assert_memory_equal(&now, &before[i], sizeof(now));
	}
	ok_start(s.fd);
	wait_until_all_are(&s, 0);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).data_paused, 0);
	assert_int_equal(poll_urgent(s.fd, 0), 0);
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_freeze_stops_every_cpu_until_a_resume),
		vm_test(start_ends_a_freeze),
		vm_test(a_window_after_a_resume_was_begun_by_the_user),
		vm_test(a_cpu_that_returns_is_frozen_or_resumed_as_last_requested),
		vm_test(a_freeze_during_start_freezes_every_cpu),
		vm_test(a_freeze_wakes_poll),
		vm_test(freezes_on_several_cpus_at_once_make_one_cut_each),
		vm_test(a_request_after_poll_reported_the_freeze_finds_every_cpu_frozen),
		vm_test(hits_on_a_frozen_cpu_are_held),
		vm_test(a_start_that_fails_leaves_the_freeze),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
