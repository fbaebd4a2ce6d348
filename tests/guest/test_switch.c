// SPDX-License-Identifier: GPL-2.0-only
/*
 * SWITCH records, against the kernel's own counts of context switches: /proc/self/task/TID/status.
 */
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "partner.h"
#include "records.h"
#include "ring.h"
#include "trigger.h"
#include "uapi.h"
#include "waiter.h"
#include "worker.h"

static void open_with_switches(struct session *s, const struct mode *m, uint32_t flags,
			       uint32_t records, uint64_t data_size)
{
	/* A full trace has space for all that a test makes. */
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER | m->aux | flags,
			m->aux ? 4 * page_size : 4 << 20);
	session_prepare_data(s, m->data, data_size);
	s->setup.records = records;
	session_setup(s);
	assert_int_equal(cpu_pin(first_cpu), 0);
}

/* Counts the SWITCH records in which @tid leaves the CPU. */
static struct switch_counts counts_in(const struct records *r, pid_t tid)
{
	struct switch_counts counts = { 0 };

	for (unsigned int i = 0; i < r->count; i++) {
		const struct auxtrace_record_switch *s = &r->at[i]->context_switch;

		if (s->header.type != AUXTRACE_RECORD_SWITCH || s->end.tid != (uint32_t)tid)
			continue;
		if (s->header.misc & AUXTRACE_SWITCH_OUT_PREEMPT)
			counts.involuntary++;
		else
			counts.voluntary++;
	}
	return counts;
}

/* How often the CPU changes to a thread of this process that is @tid. */
static unsigned int entries_of(const struct records *r, pid_t tid)
{
	unsigned int count = 0;

	for (unsigned int i = 0; i < r->count; i++) {
		const struct auxtrace_record_switch *s = &r->at[i]->context_switch;

		if (s->header.type != AUXTRACE_RECORD_SWITCH || s->next_prev_tid != (uint32_t)tid)
			continue;
		assert_int_equal(s->next_prev_pid, getpid());
		count++;
	}
	return count;
}

#define ROUNDS	50

/* START and a window of ROUNDS rounds; @before: the partners' counts at its begin. */
static void trace_rounds(const struct session *s, struct switch_counts before[PARTNERS], struct records *r)
{
	ok_start(s->fd);
	for (int i = 0; i < PARTNERS; i++)
		before[i] = partner_counts(i);
	ok_resume(s, 0, NULL);
	for (int i = 0; i < ROUNDS; i++)
		partners_round();
	ok_pause(s, 0, NULL);
	records_read_all(r, s->channel);
}

static void each_switch_of_a_thread_is_one_record(void **state)
{
	const struct mode *m = *state;
	struct switch_counts before[PARTNERS];
	unsigned long involuntary = 0;
	uint64_t begin = read_tsc();
	struct follower f;
	struct records r;
	struct session s;

	/* So large that nothing is overwritten. */
	open_with_switches(&s, m, AUXTRACE_SETUP_PAUSED,
			   AUXTRACE_WANT_WINDOW | AUXTRACE_WANT_SWITCH, 1 << 20);
	follower_init(&f, s.channel);
	trace_rounds(&s, before, &r);
	for (int i = 0; i < PARTNERS; i++) {
		struct switch_counts after = partner_counts(i);
		struct switch_counts recorded = counts_in(&r, partner_tid(i));

		assert_int_equal(recorded.voluntary, after.voluntary - before[i].voluntary);
		assert_int_equal(recorded.involuntary, after.involuntary - before[i].involuntary);
		assert_true(recorded.voluntary >= ROUNDS);
		involuntary += recorded.involuntary;
		/* It waited when the window began, and waits now. */
		assert_int_equal(entries_of(&r, partner_tid(i)),
				 recorded.voluntary + recorded.involuntary);
	}
	assert_true(involuntary >= ROUNDS);
	follow(&f, &r, false);
	assert_int_equal(f.windows, 1);
	/* The main thread: when the window begins and ends, it runs. */
	assert_int_equal(f.newest.begin_tid, gettid());
	assert_int_equal(f.newest.tid, gettid());
	assert_int_equal(entries_of(&r, gettid()),
			 counts_in(&r, gettid()).voluntary + counts_in(&r, gettid()).involuntary);
	for (unsigned int i = 0; i < r.count; i++)
		if (r.at[i]->header.type == AUXTRACE_RECORD_SWITCH) {
			assert_true(r.at[i]->context_switch.end.time >= begin);
			assert_true(r.at[i]->context_switch.end.time <= read_tsc());
		}
	records_free(&r);
	assert_int_equal(channel_status(s.channel).data_lost, 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_cpu_with_nothing_to_do_changes_to_thread_0(void **state)
{
	static const struct mode mode = { OVER, 0 };
	struct session s;
	struct records r;
	unsigned int to_idle = 0, from_idle = 0;

	open_with_switches(&s, &mode, AUXTRACE_SETUP_PAUSED, AUXTRACE_WANT_SWITCH, 1 << 20);
	ok_start(s.fd);
	ok_resume(&s, 0, NULL);
	for (int i = 0; i < 5; i++)
		usleep(20000);
	ok_pause(&s, 0, NULL);
	records_read_all(&r, s.channel);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct auxtrace_record_switch *rec = &r.at[i]->context_switch;

		assert_int_equal(rec->header.type, AUXTRACE_RECORD_SWITCH);
		to_idle += !rec->next_prev_tid;
		from_idle += !rec->end.tid;
		assert_true(rec->next_prev_tid || !rec->next_prev_pid);
	}
	assert_in_range(to_idle, 5, r.count);
	assert_int_equal(from_idle, to_idle);
	records_free(&r);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void switches_are_recorded_from_start_to_stop_but_not_while_frozen(void **state)
{
	static const struct mode mode = { OVER, 0 };
	struct auxtrace_trigger freeze = {
		.size = sizeof(freeze), .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
		.action = AUXTRACE_ACTION_FREEZE, .number = SYS_getppid,
	};
	struct session s;
	uint64_t count;

	open_with_switches(&s, &mode, AUXTRACE_SETUP_PAUSED, AUXTRACE_WANT_SWITCH, 1 << 20);
	trigger_add(&s, freeze);
	partners_round();
	assert_int_equal(channel_status(s.channel).data_records, 0);
	ok_start(s.fd);
	partners_round();
	count = channel_status(s.channel).data_records;
	assert_true(count >= 2 * PARTNERS);
	ok_resume(&s, 0, NULL);
	partners_round();
	assert_true(channel_status(s.channel).data_records >= count + 2 * PARTNERS);
	syscall(SYS_getppid);
	count = channel_status(s.channel).data_records;
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_FROZEN);
	partners_round();
	assert_int_equal(channel_status(s.channel).data_records, count);
	ok_resume(&s, 0, NULL);
	partners_round();
	ok_stop(s.fd);
	assert_true(channel_status(s.channel).data_records >= count + 2 * PARTNERS);
	count = channel_status(s.channel).data_records;
	partners_round();
	assert_int_equal(channel_status(s.channel).data_records, count);
	assert_int_equal(channel_status(s.channel).data_lost, 0);
	check_accounting(&s);
}

static void they_must_be_asked_for(void **state)
{
	static const struct mode mode = { OVER, 0 };
	struct session s;
	struct records r;

	open_with_switches(&s, &mode, 0, 0, 1 << 20);
	ok_start(s.fd);
	partners_round();
	ok_stop(s.fd);
	records_read_all(&r, s.channel);
	assert_null(records_newest(&r, AUXTRACE_RECORD_SWITCH));
	assert_non_null(records_newest(&r, AUXTRACE_RECORD_WINDOW));
	records_free(&r);
	check_accounting(&s);
}

static void a_full_ring_counts_each_switch_that_it_drops(void **state)
{
	static const struct mode mode = { OVER, 0 };
	struct auxtrace_status_page st;
	struct switch_counts before[PARTNERS], recorded;
	unsigned long dropped = 0;
	struct session s;
	struct records r;

	open_with_switches(&s, &mode, AUXTRACE_SETUP_PAUSED, AUXTRACE_WANT_SWITCH, page_size);
	trace_rounds(&s, before, &r);
	for (int i = 0; i < PARTNERS; i++) {
		struct switch_counts after = partner_counts(i);

		recorded = counts_in(&r, partner_tid(i));
		dropped += after.voluntary - before[i].voluntary - recorded.voluntary;
		dropped += after.involuntary - before[i].involuntary - recorded.involuntary;
	}
	st = channel_status(s.channel);
	assert_true(dropped > 0);
	/* The main thread's and those of others come on top. */
	assert_true(st.data_lost >= dropped);
	assert_int_equal(st.data_records, page_size / sizeof(struct auxtrace_record_switch));
	records_free(&r);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* Nothing is traced and nobody calls the module: only the switches can wake the reader. */
static void a_data_watermark_of_switches_wakes_the_reader(void **state)
{
	static const struct mode mode = { OVER, 0 };
	struct session s;
	struct waiter w;

	open_with_switches(&s, &mode, AUXTRACE_SETUP_PAUSED, AUXTRACE_WANT_SWITCH, 1 << 16);
	ok_start(s.fd);
	waiter_start(&w, s.fd);
	while (channel_status(s.channel).data_head < s.setup.data_size / 2)
		partners_round();
	waiter_join(&w);
	assert_int_equal(w.events, POLLIN);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* Threads that yield to each other on every CPU, so that switches meet each step of a session's life. */
static int yield(struct worker *w)
{
	for (int i = 0; i < 100; i++)
		sched_yield();
	usleep(w->round % 3 * 100);
	return 0;
}

#define LIVES	25

static void sessions_begin_and_end_among_switches(void **state)
{
	static const struct session none;
	uint64_t records = 0;

	for (uint64_t left = all_cpus; left; left &= left - 1)
		for (int i = 0; i < 2; i++)
			worker_start(&none, cpus_first(left), yield, 0);
	for (int i = 0; i < LIVES; i++) {
		struct session s;

		session_prepare(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE,
				4 * page_size);
		session_prepare_data(&s, i & 1 ? AUXTRACE_SETUP_DATA_OVERWRITE : 0, page_size);
		s.setup.records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH;
		session_setup(&s);
		ok_start(s.fd);
		usleep(1000);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		usleep(1000);
		for (unsigned int c = 0; c < s.count; c++)
			records += channel_status(&s.channel[c]).data_records;
		/* Every other session is closed while it is started. */
		if (i & 2) {
			ok_stop(s.fd);
			check_accounting(&s);
		}
		session_close(&s);
	}
	workers_join();
	assert_true(records > 2 * LIVES);
}

static void cpus_go_and_return_among_switches(void **state)
{
	struct session s;

	hotplug_required();
	session_prepare(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 4 * page_size);
	session_prepare_data(&s, AUXTRACE_SETUP_DATA_OVERWRITE, 1 << 16);
	s.setup.records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH;
	session_setup(&s);
	ok_start(s.fd);
	for (int i = 0; i < 4; i++)
		worker_start(&s, -1, yield, 0);
	for (int i = 0; i < 5; i++) {
		uint64_t count;

		last_cpu_offline();
		count = channel_status(&s.channel[s.count - 1]).data_records;
		usleep(2000);
		assert_int_equal(channel_status(&s.channel[s.count - 1]).data_records, count);
		last_cpu_online();
		wait_until(channel_status(&s.channel[s.count - 1]).data_records > count + 1);
	}
	workers_join();
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_each_mode(each_switch_of_a_thread_is_one_record),
		vm_test(a_cpu_with_nothing_to_do_changes_to_thread_0),
		vm_test(switches_are_recorded_from_start_to_stop_but_not_while_frozen),
		vm_test(they_must_be_asked_for),
		vm_test(a_full_ring_counts_each_switch_that_it_drops),
		vm_test(a_data_watermark_of_switches_wakes_the_reader),
		vm_test(sessions_begin_and_end_among_switches),
		vm_test(cpus_go_and_return_among_switches),
	};

	return cmocka_run_group_tests(tests, partners_start, partners_end);
}
