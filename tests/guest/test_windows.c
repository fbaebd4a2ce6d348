// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hammer: on each CPU a thread makes PAIRS pairs of PAUSE and RESUME of that CPU, while
 * other threads pause and resume all CPUs and a reader moves the tails. No request may be
 * lost, and each window must decode on its own.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

/* Fewer with BTS, where each pair makes ten times as many bytes. */
#define PAIRS		(under_bts() ? 100 : 1000)
#define ALL_PAIRS	(PAIRS / 2)	/* for each thread that asks all CPUs */
#define ALL_THREADS	2
/*
 * Space for all that a channel writes, so that no area is ever full, however late the reader
 * comes. How much a channel writes depends on the host: a CPU that waits for a stopped one spins
 * in the kernel and is traced. So the requests end when a channel has ENOUGH.
 */
#define AUX_SIZE	(under_bts() ? 256ull << 20 : 64ull << 20)
#define ENOUGH		(AUX_SIZE / 8)
#define WATERMARK	(1 << 20)

/* The requests of one thread in the order of its calls, and their effects. */
struct asker {
	pthread_t thread;
	const struct session *session;
	uint64_t cpus;
	int cpu;		/* to run on, -1: anywhere */
	unsigned int pairs, made;
	int ret;		/* the first error, or 0 */
	size_t count;
	struct answer {
		bool resume;
		struct auxtrace_effect effect;
	} *answers;
};

static bool have_enough(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (__atomic_load_n(&s->channel[i].status->produced, __ATOMIC_RELAXED) >= ENOUGH)
			return true;
	return false;
}

static void *ask(void *arg)
{
	struct asker *a = arg;
	struct auxtrace_effect effects[MAX_CPUS];

	if (a->cpu >= 0)
		a->ret = cpu_pin(a->cpu);
	for (unsigned int i = 0; i < 2 * a->pairs && !a->ret; i++) {
		bool resume = i & 1;
		unsigned long nr = resume ? AUXTRACE_IOC_RESUME : AUXTRACE_IOC_PAUSE;
		int n;

		if (!resume && have_enough(a->session))
			break;
		n = at_control(a->session->fd, nr, a->cpus, effects, MAX_CPUS);
		if (n < 0)
			a->ret = n;
		a->made += resume;
		for (int k = 0; k < n; k++)
			a->answers[a->count++] = (struct answer){ resume, effects[k] };
		/* Trace for the windows, of varying length so that threads do not run in step. */
		load_run(i * 7 % 40);
	}
	return NULL;
}

static void asker_start(struct asker *a, const struct session *s, uint64_t cpus, int cpu,
			unsigned int pairs)
{
	memset(a, 0, sizeof(*a));
	a->session = s;
	a->cpus = cpus;
	a->cpu = cpu;
	a->pairs = pairs;
	a->answers = calloc(2 * pairs * cpus_count(cpus), sizeof(*a->answers));
	assert_non_null(a->answers);
	assert_int_equal(pthread_create(&a->thread, NULL, ask, a), 0);
}

struct window {
	uint64_t begin, end, begin_time, end_time;
	unsigned int begins, ends;
};

/* Build the windows of @cpu from the effects that changed the hardware. */
static void note_answers(struct window *windows, uint64_t count, int cpu,
			 const struct asker *askers, unsigned int nr, uint64_t done[2])
{
	for (unsigned int i = 0; i < nr; i++) {
		for (size_t k = 0; k < askers[i].count; k++) {
			const struct auxtrace_effect *e = &askers[i].answers[k].effect;
			bool resume = askers[i].answers[k].resume;

			if (e->cpu != (unsigned int)cpu || !(e->flags & AUXTRACE_EFFECT_CHANGED))
				continue;
			if (e->window < 1 || e->window > count)
				fail_msg("CPU %d: an effect on window %llu of %llu", cpu,
					 (unsigned long long)e->window, (unsigned long long)count);
			done[resume]++;
			if (resume) {
				windows[e->window].begins++;
				windows[e->window].begin = e->position;
				windows[e->window].begin_time = e->time;
			} else {
				windows[e->window].ends++;
				windows[e->window].end = e->position;
				windows[e->window].end_time = e->time;
			}
		}
	}
}

/* Each window was begun and ended once, follows without a gap, and decodes alone. */
static void check_windows(const struct window *windows, uint64_t count, const struct channel *ch)
{
	uint64_t position = 0, tsc = 0;

	for (uint64_t n = 1; n <= count; n++) {
		const struct window *w = &windows[n];
		struct walk walk = { 0 };
		char what[64];

		snprintf(what, sizeof(what), "window %llu of CPU %d", (unsigned long long)n,
			 ch->cpu);
		if (w->begins != 1 || w->ends != 1)
			fail_msg("%s: begun %u times, ended %u times", what, w->begins, w->ends);
		if (w->begin != position)
			fail_msg("%s: begins at %llu, the one before ended at %llu", what,
				 (unsigned long long)w->begin, (unsigned long long)position);
		if (w->begin_time <= tsc || w->end_time <= w->begin_time)
			fail_msg("%s: ends before it begins, or begins before the one before ends",
				 what);
		trace_check_window(&walk, ch->aux + w->begin, w->end - w->begin, what);
		position = w->end;
		tsc = w->end_time;
	}
	assert_int_equal(position, channel_status(ch).produced);
}

/* Returns the number of pairs that were made. */
static unsigned int hammer(uint32_t flags)
{
	static struct asker askers[MAX_CPUS + ALL_THREADS];
	struct auxtrace_effect last[MAX_CPUS];
	struct auxtrace_status status;
	unsigned int nr = 0, all = 0, made = 0;
	struct session s;

	session_prepare(&s, all_cpus, flags, AUX_SIZE);
	s.setup.aux_watermark = WATERMARK;
	session_setup(&s);
	ok_start(s.fd);
	/* End the first window, which START began. */
	ok_pause(&s, 0, last);

	for (unsigned int i = 0; i < s.count; i++)
		asker_start(&askers[nr++], &s, 1ULL << s.channel[i].cpu, s.channel[i].cpu, PAIRS);
	for (int i = 0; i < ALL_THREADS; i++)
		asker_start(&askers[nr++], &s, all_cpus, -1, ALL_PAIRS);

	/* The main thread is the reader until the last asker has ended. */
	for (unsigned int i = 0; i < nr; i++) {
		while (pthread_tryjoin_np(askers[i].thread, NULL)) {
			struct pollfd p = { .fd = s.fd, .events = POLLIN };

			poll(&p, 1, 5);
			for (unsigned int k = 0; k < s.count; k++)
				channel_set_tail(&s.channel[k],
						 channel_status(&s.channel[k]).produced);
		}
		assert_int_equal(askers[i].ret, 0);
		assert_true(askers[i].made == askers[i].pairs || have_enough(&s));
		made += askers[i].made;
		all += askers[i].cpu < 0 ? askers[i].made : 0;
	}

	/* The last request wins: all CPUs are on, then off. */
	ok_resume(&s, 0, NULL);
	for (unsigned int i = 0; i < s.count; i++)
		assert_true(msr_tracing(s.channel[i].cpu));
	ok_pause(&s, 0, NULL);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_false(msr_tracing(s.channel[i].cpu));
		assert_int_equal(channel_status(&s.channel[i]).inhibit, AUXTRACE_INHIBIT_USER);
	}
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(status.out_nr_running, 0);
	check_accounting(&s);

	for (unsigned int i = 0; i < s.count; i++) {
		const struct channel *ch = &s.channel[i];
		struct auxtrace_status_page st = channel_status(ch);
		uint64_t asked = askers[i].made + all;
		struct window *windows = calloc(st.windows + 2, sizeof(*windows));
		uint64_t done[2] = { 0 };
		bool extra;

		assert_non_null(windows);
		assert_int_equal(askers[i].cpu, ch->cpu);
		assert_true(st.produced <= ch->aux_size);
		if (st.gaps)
			fail_msg("CPU %d: %llu gaps: full %llu, error %llu, offline %llu", ch->cpu,
				 st.gaps, st.gaps_full, st.gaps_error, st.gaps_offline);
		/* One PAUSE before the hammer; one RESUME and one PAUSE after it. */
		assert_int_equal(st.pauses_asked, asked + 2);
		assert_int_equal(st.resumes_asked, asked + 1);
		assert_int_equal(st.windows, st.resumes_done + 1);
		assert_int_equal(st.pauses_done, st.windows);

		note_answers(windows, st.windows, ch->cpu, askers, nr, done);
		/* The window that START began and the first PAUSE ended. */
		windows[1].begins++;
		windows[1].begin_time = 1;
		windows[1].ends++;
		windows[1].end = last[i].position;
		windows[1].end_time = last[i].time;
		/* The last window; an asker may have begun it. */
		extra = !windows[st.windows].begins;
		if (extra) {
			windows[st.windows].begins++;
			windows[st.windows].begin = st.window_begin;
			windows[st.windows].begin_time = st.window_begin_time;
		}
		windows[st.windows].ends++;
		windows[st.windows].end = st.window_end;
		windows[st.windows].end_time = st.window_end_time;

		/* The counters agree with the effects. */
		assert_int_equal(done[0] + 2, st.pauses_done);
		assert_int_equal(done[1] + extra, st.resumes_done);
		check_windows(windows, st.windows, ch);
		print_message("CPU %d: %llu windows of %llu requests, %llu bytes, all decoded\n",
			      ch->cpu, (unsigned long long)st.windows,
			      (unsigned long long)(st.pauses_asked + st.resumes_asked),
			      (unsigned long long)st.produced);
		free(windows);
	}
	for (unsigned int i = 0; i < nr; i++)
		free(askers[i].answers);
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);
	return made;
}

/* Repeat if a busy host made the hammer end early. */
static void hammer_enough(uint32_t flags)
{
	const unsigned int all = cpus_count(all_cpus) * PAIRS + ALL_THREADS * ALL_PAIRS;
	unsigned int made = hammer(flags);

	for (int again = 0; made < all / 4; again++) {
		assert_true(again < 10);
		made += hammer(flags);
	}
}

static void pairs_by_the_hundred_on_each_cpu_lose_no_window_of_user_code(void **state)
{
	hammer_enough(AUXTRACE_SETUP_USER);
}

static void pairs_by_the_hundred_on_each_cpu_lose_no_window_of_user_and_kernel(void **state)
{
	hammer_enough(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL);
}

static void the_hammer_leaves_no_msr_fault_and_no_lost_byte_behind(void **state)
{
	emulator_required();
	for (uint64_t left = all_cpus; left; left &= left - 1) {
		int cpu = cpus_first(left);

		assert_int_equal(emulator_count(cpu, PTM_N_FAULTS), 0);
		assert_int_equal(emulator_count(cpu, PTM_N_ERRORS), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(pairs_by_the_hundred_on_each_cpu_lose_no_window_of_user_code),
		vm_test(pairs_by_the_hundred_on_each_cpu_lose_no_window_of_user_and_kernel),
		vm_test(the_hammer_leaves_no_msr_fault_and_no_lost_byte_behind),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
