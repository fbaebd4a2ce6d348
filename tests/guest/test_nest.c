// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nested writers of records and concurrent requests: ioctls from several threads, late trace
 * interrupts of small areas, so that they come within requests, perf's sampling NMIs, CPUs that
 * go offline and return, invalid tails. No record is torn, none is lost without being counted,
 * no request is lost or done twice.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "records.h"
#include "ring.h"
#include "uapi.h"
#include "waiter.h"
#include "worker.h"

#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define AUTO		AUXTRACE_SETUP_FULL_AUTO

/* Primes, so that events do not coincide regularly: of instructions, and of branches. */
#define SAMPLE_PERIOD	50021
#define MAX_SKID	97

/* Start sampling NMIs and delay trace interrupts on every CPU. */
static void disturb(void)
{
	unsigned int sampled = 0;

	for (uint64_t left = all_cpus; left; left &= left - 1) {
		int cpu = cpus_first(left);

		sampled += perf_sample(cpu, SAMPLE_PERIOD) >= 0;
		emulator_knob(cpu, PTM_KNOB_PMI_SKID, MAX_SKID);
	}
	if (!sampled)
		print_message("no sampling NMIs: perf counts no instructions here\n");
}

static uint64_t all_nmis(void)
{
	uint64_t sum = 0;

	for (uint64_t left = all_cpus; left; left &= left - 1)
		sum += cpu_nmis(cpus_first(left));
	return sum;
}

/* Change the delay all the time, so that an interrupt can come at any instruction. */
static int change_skid(struct worker *w)
{
	int ret = msr_write(worker_random(w) % cpus_count(all_cpus),
			    MSR_PTM_KNOB + PTM_KNOB_PMI_SKID, worker_random(w) % MAX_SKID);

	load_run(300);
	/* The CPU may be offline. */
	return ret == -ENOENT || ret == -ENXIO || ret == -EIO ? 0 : ret;
}

static int pause_output(struct worker *w)
{
	int ret = at_output(w->session.fd, 0, 1);

	load_run(200);
	if (!ret)
		ret = at_output(w->session.fd, 0, 0);
	load_run(700);
	return ret;
}

/* The main thread is the reader of all channels. */
static void take_all(struct session *s, struct follower *f)
{
	for (unsigned int i = 0; i < s->count; i++) {
		follow_and_take(&f[i]);
		if (!s->channel[i].overwrite)
			channel_set_tail(&s->channel[i],
					 channel_status(&s->channel[i]).produced);
	}
}

#define PAIRS	50

/*
 * A thread on each CPU makes PAIRS pairs of requests for that CPU, another thread for all CPUs,
 * so the number of requests of each CPU is known. If @hot, the last CPU goes offline and
 * returns meanwhile.
 */
static void storm(const struct mode *m, bool toggle, bool hot)
{
	struct follower f[MAX_CPUS];
	uint64_t nmis = all_nmis();
	unsigned int round = 0;
	struct session s;

	session_prepare(&s, all_cpus, BOTH | m->aux, space_for(4 * page_size));
	/* Large rings: the reader may have to wait for a CPU for seconds. */
	session_prepare_data(&s, m->data, 1024 * page_size);
	session_setup(&s);
	for (unsigned int i = 0; i < s.count; i++)
		follower_init(&f[i], &s.channel[i]);
	disturb();
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		/* The CPU that goes offline cannot have a pinned thread. */
		worker_start(&s, hot ? first_cpu : s.channel[i].cpu, pause_and_resume,
			     hot ? PAIRS / 4 : PAIRS);
	worker_start(&s, -1, pause_and_resume_all, PAIRS);
	worker_start(&s, -1, sync_all, 0);
	worker_start(&s, -1, poll_any, 0);
	worker_start(&s, -1, change_skid, 0);
	if (toggle)
		worker_start(&s, -1, pause_output, 0);
	/* A high priority: a reader that gets no CPU time would see only losses. */
	setpriority(PRIO_PROCESS, 0, -20);
	while (!workers_are_done()) {
		struct pollfd p = { .fd = s.fd, .events = POLLIN };

		poll(&p, 1, 2);
		take_all(&s, f);
		if (hot && ++round % 50 == 0 && round <= 100 &&
		    (cpu_set_online(last_cpu, 0) || cpu_set_online(last_cpu, 1)))
			break;
	}
	setpriority(PRIO_PROCESS, 0, 0);
	workers_join();
	emulator_knobs_reset();

	/* The last request wins. */
	ok_pause(&s, 0, NULL);
	for (unsigned int i = 0; i < s.count; i++)
		assert_false(msr_tracing(s.channel[i].cpu));
	ok_output(s.fd, 0, 0);
	take_all(&s, f);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	take_all(&s, f);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		uint64_t own = !hot ? PAIRS :
			       s.channel[i].cpu == first_cpu ? s.count * (PAIRS / 4) : 0;

		print_message("CPU %u: %llu windows, %llu interrupts, %llu records, %llu lost, %llu gaps, %llu full\n",
			      st.cpu, st.windows, st.pmis, st.data_records, st.data_lost, st.gaps,
			      st.gaps_full);
		assert_int_equal(st.pauses_asked, own + PAIRS + 1);
		assert_int_equal(st.resumes_asked, own + PAIRS + 1);
		assert_int_equal(st.bad_tails + st.data_bad_tails, 0);
		assert_int_equal(st.gaps_error, 0);
		/* BTS: an interrupt may have had to wait for the end of a sampling NMI. */
		assert_true(!(m->aux & OVER) || under_bts() || !st.gaps_full);
		assert_true(!hot || st.gaps_offline <= 2);
		/* Every record was either read, or counted and reported as lost. */
		assert_int_equal(f[i].lost, st.data_lost);
		follower_agrees(&f[i]);
		if (!st.data_lost) {
			assert_int_equal(f[i].begun_by[AUXTRACE_CAUSE_USER], st.resumes_done);
			assert_int_equal(f[i].itrace_starts, 1);
		}
		if (!toggle)
			assert_int_equal(st.data_lost, 0);
	}
	print_message("%llu NMIs\n", (unsigned long long)(all_nmis() - nmis));
	assert_true(all_nmis() > nmis);
	check_accounting(&s);
}

static void records_of_nested_writers_are_whole_and_none_is_missing(void **state)
{
	emulator_required();
	storm(*state, false, false);
}

static void each_record_that_nested_writers_drop_is_counted(void **state)
{
	emulator_required();
	storm(*state, true, false);
}

static void no_request_is_lost_or_done_twice_while_a_cpu_comes_and_goes(void **state)
{
	emulator_required();
	hotplug_required();
	storm(*state, false, true);
}

/* An overwritable ring is read at a cut, while writers continue. */
static void newest_records_of_nested_writers_are_whole(void **state)
{
	const struct mode *m = *state;
	uint64_t records = 0;
	struct session s;

	emulator_required();
	session_prepare(&s, all_cpus, BOTH | OVER, space_for(4 * 2 * page_size));
	session_prepare_data(&s, m->data, 4 * page_size);
	s.setup.slots = 4;
	session_setup(&s);
	disturb();
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		worker_start(&s, s.channel[i].cpu, pause_and_resume, 0);
	worker_start(&s, -1, pause_and_resume_all, 0);
	worker_start(&s, -1, change_skid, 0);
	for (unsigned int round = 0; round < 20; round++) {
		struct auxtrace_cut cuts[MAX_CPUS];
		uint32_t slot;

		ok_snapshot(&s, AUXTRACE_SNAPSHOT_SLOT, cuts, &slot);
		for (unsigned int i = 0; i < s.count; i++) {
			struct follower f;
			struct records r;

			follower_init(&f, &s.channel[i]);
			records_read(&r, &s.channel[i], slot, cuts[i].data_begin, cuts[i].data_end);
			follow(&f, &r, true);
			records += r.count;
			records_free(&r);
		}
		ok_release(s.fd, slot);
	}
	workers_join();
	ok_stop(s.fd);
	assert_true(records > 0);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).data_lost, 0);
	check_accounting(&s);
}

/* ---- a hostile user page ------------------------------------------------------- */

/* Random tails, tails that may be valid by chance, tails that go back; at full speed. */
static int scribble(struct worker *w)
{
	for (unsigned int i = 0; i < w->session.count; i++) {
		const struct channel *ch = &w->session.channel[i];
		uint64_t a = worker_random(w), d = worker_random(w);

		channel_set_tail(ch, a & 1 ? a : a & 2 ? ch->status->produced - a % 8192 :
				 a % (64 * ch->aux_size));
		channel_set_data_tail(ch, d & 1 ? d : d & 2 ? ch->status->data_head - d % 2048 :
				      d % (64 * ch->data_size));
	}
	return 0;
}

static bool has_bad_tails(const struct channel *ch)
{
	return __atomic_load_n(&ch->status->data_bad_tails, __ATOMIC_RELAXED) &&
	       (ch->overwrite || __atomic_load_n(&ch->status->bad_tails, __ATOMIC_RELAXED));
}

static void set_valid_tails(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		channel_set_tail(&s->channel[i], st.produced);
		channel_set_data_tail(&s->channel[i], st.data_head);
	}
}

static bool lost_more(const struct session *s, const uint64_t *lost)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (channel_status(&s->channel[i]).data_lost != lost[i])
			return true;
	return false;
}

static void tails_of_a_hostile_thread_do_no_harm_under_requests(void **state)
{
	struct auxtrace_status status;
	const struct mode *m = *state;
	uint64_t lost[MAX_CPUS];
	struct session s;

	emulator_required();
	session_prepare(&s, all_cpus, BOTH | m->aux, space_for(4 * page_size));
	session_prepare_data(&s, m->data, page_size);
	session_setup(&s);
	disturb();
	worker_start(&s, -1, scribble, 0);
	worker_start(&s, -1, scribble, 0);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		worker_start(&s, s.channel[i].cpu, pause_and_resume, PAIRS);
	worker_start(&s, -1, sync_all, PAIRS);
	worker_start(&s, -1, poll_any, 0);
	/* Workers without a limit run until some bad tails were counted. */
	for (unsigned int i = 0; i < s.count; i++)
		wait_until(has_bad_tails(&s.channel[i]));
	workers_join();

	/* Tracing continues for a reader that sets valid tails. */
	set_valid_tails(&s);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	/*
	 * Again if the one page of records was too small: a CPU that waits for another one
	 * traces its waiting, and each lap of the area makes a record.
	 */
	for (unsigned int n = 0; n == 0 || lost_more(&s, lost); n++) {
		assert_true(n < 100);
		ok_pause(&s, 0, NULL);
		set_valid_tails(&s);
		/* Let the LOST record of what was lost until now be written. */
		poll_events(s.fd, 0);
		set_valid_tails(&s);
		for (unsigned int i = 0; i < s.count; i++)
			lost[i] = channel_status(&s.channel[i]).data_lost;
		ok_resume(&s, 0, NULL);
		ok_pause(&s, 0, NULL);
	}
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		const union any_record *rec;
		struct records r;

		assert_true(st.inhibit & AUXTRACE_INHIBIT_USER);
		assert_false(st.inhibit & ~(AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_FULL));
		/* On a busy host so much may have run meanwhile. */
		if (st.inhibit & AUXTRACE_INHIBIT_FULL)
			assert_true(st.produced - st.consumed >= s.channel[i].aux_size / 2);
		records_read_all(&r, &s.channel[i]);
		rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
		assert_non_null(rec);
		assert_int_equal(rec->window.window, st.windows);
		records_free(&r);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_mode(records_of_nested_writers_are_whole_and_none_is_missing, OVER, 0),
		in_mode(records_of_nested_writers_are_whole_and_none_is_missing, AUTO, BACKWARD),
		in_mode(each_record_that_nested_writers_drop_is_counted, OVER, BACKWARD),
		in_mode(each_record_that_nested_writers_drop_is_counted, 0, 0),
		in_mode(no_request_is_lost_or_done_twice_while_a_cpu_comes_and_goes, OVER, 0),
		in_mode(no_request_is_lost_or_done_twice_while_a_cpu_comes_and_goes, AUTO, 0),
		in_mode(newest_records_of_nested_writers_are_whole, 0, NEWEST),
		in_mode(newest_records_of_nested_writers_are_whole, 0, NEWEST | BACKWARD),
		in_mode(tails_of_a_hostile_thread_do_no_harm_under_requests, AUTO, BACKWARD),
		in_mode(tails_of_a_hostile_thread_do_no_harm_under_requests, OVER, 0),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
