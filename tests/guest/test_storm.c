// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything at once: requests from all CPUs while small areas wrap and fill and interrupts
 * come within the requests; state changes from several threads; CPUs that go offline and
 * return meanwhile. The tests judge what must hold at the end in any order.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"
#include "worker.h"

#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define MAX_TRACE	(64u << 20)	/* of one channel */

/* ---- small areas: interrupts land inside of requests ----------------------- */

#define STORM_ROUNDS	120
#define STORM_REQUESTS	(STORM_ROUNDS * 2)	/* of each CPU: its own, and those for all */
/* As a rule one gives each CPU an interrupt; under BTS that takes a window of 64 KiB. */
#define MAX_STORMS	20

static void storm_start(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		worker_start(s, s->channel[i].cpu, pause_and_resume, STORM_ROUNDS);
	worker_start(s, -1, pause_and_resume_all, STORM_ROUNDS);
	worker_start(s, -1, sync_all, STORM_ROUNDS);
}

static uint64_t bytes_written(int cpu)
{
	return emulator_bytes(cpu);
}

static bool each_was_interrupted(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (!channel_status(&s->channel[i]).pmis)
			return false;
	return true;
}

static void interrupts_inside_of_requests_lose_no_byte_in_overwrite_mode(void **state)
{
	uint64_t begun[MAX_CPUS];
	unsigned int storms = 0;
	struct session s;

	emulator_required();
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, 2 * page_size);
	for (unsigned int i = 0; i < s.count; i++)
		begun[i] = bytes_written(s.channel[i].cpu);
	ok_start(s.fd);
	/* The scheduler decides how long the windows are. */
	do {
		storm_start(&s);
		workers_join();
		storms++;
	} while (!each_was_interrupted(&s) && storms < MAX_STORMS);
	ok_stop(s.fd);

	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		check_written(st.produced, bytes_written(s.channel[i].cpu) - begun[i]);
		assert_int_equal(st.pauses_asked, storms * STORM_REQUESTS);
		assert_int_equal(st.resumes_asked, storms * STORM_REQUESTS);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(st.windows, st.resumes_done + 1);
		assert_int_equal(st.pauses_done, st.resumes_done);
		assert_int_equal(st.window_end, st.produced);
		assert_true(st.pmis > 0);
		assert_true(st.overwritten > 0);
	}
	check_accounting(&s);
}

/* The reader of a full-trace storm: reads as fast as it can. */
struct reader {
	uint8_t *trace[MAX_CPUS];
	uint64_t len[MAX_CPUS];
};

static bool read_all(struct session *s, struct reader *r)
{
	bool read_any = false;

	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		if (st.produced > MAX_TRACE)
			fail_msg("CPU %u: more than %u bytes of trace", st.cpu, MAX_TRACE);
		if (st.produced == r->len[i])
			continue;
		read_any = true;
		channel_copy(&s->channel[i], r->len[i], r->trace[i] + r->len[i],
			     st.produced - r->len[i]);
		r->len[i] = st.produced;
		channel_set_tail(&s->channel[i], st.produced);
	}
	return read_any;
}

/*
 * A window that reached the tail may end within a packet, and the next window's PSB+ follows.
 * All else must be whole packets.
 */
static unsigned int count_cuts(const uint8_t *trace, uint64_t len, int cpu)
{
	unsigned int cuts = 0;
	uint64_t at = 0;

	if (under_bts()) {
		struct walk walk = { 0 };

		trace_walk(&walk, trace, len, false);
		if (walk.error || walk.end != len)
			fail_msg("CPU %d: bad record at byte %zu of %llu", cpu, walk.end,
				 (unsigned long long)len);
		return 0;
	}
	while (at < len) {
		struct walk walk = { 0 };

		trace_walk(&walk, trace + at, len - at, false);
		at += walk.end;
		if (!walk.error && at == len)
			break;
		cuts++;
		trace_walk(&walk, trace + at, len - at < 64 ? len - at : 64, true);
		if (walk.error || !walk.starts) {
			if (len - at < 16)
				break;
			fail_msg("CPU %d: bad packet at byte %llu of %llu, and no window begins",
				 cpu, (unsigned long long)at, (unsigned long long)len);
		}
		/* Continue at that PSB. */
		while (memcmp(trace + at, "\x02\x82\x02\x82\x02\x82\x02\x82"
			      "\x02\x82\x02\x82\x02\x82\x02\x82", 16))
			at++;
	}
	return cuts;
}

static void areas_that_fill_up_under_requests_lose_no_byte_that_was_written(void **state)
{
	static struct reader r;
	uint64_t begun[MAX_CPUS];
	struct session s;

	emulator_required();
	memset(&r, 0, sizeof(r));
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, 16 * page_size);
	for (unsigned int i = 0; i < s.count; i++) {
		r.trace[i] = malloc(MAX_TRACE);		/* touched only as far as used */
		assert_non_null(r.trace[i]);
		begun[i] = bytes_written(s.channel[i].cpu);
	}
	ok_start(s.fd);
	storm_start(&s);
	/* A high priority: a reader that gets no CPU time would see only full areas. */
	setpriority(PRIO_PROCESS, 0, -20);
	while (!workers_are_done()) {
		struct pollfd p = { .fd = s.fd, .events = POLLIN };

		poll(&p, 1, 5);
		read_all(&s, &r);
	}
	setpriority(PRIO_PROCESS, 0, 0);
	workers_join();
	ok_stop(s.fd);
	while (read_all(&s, &r))
		;

	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		unsigned int cuts = count_cuts(r.trace[i], r.len[i], s.channel[i].cpu);

		check_written(st.produced, bytes_written(s.channel[i].cpu) - begun[i]);
		assert_int_equal(st.pauses_asked, STORM_REQUESTS);
		assert_int_equal(st.resumes_asked, STORM_REQUESTS);
		assert_int_equal(st.gaps, st.gaps_full);
		assert_int_equal(st.bad_tails, 0);
		if (cuts > st.gaps_full)
			fail_msg("CPU %u: %u windows cut off, %llu gaps", st.cpu, cuts,
				 st.gaps_full);
		print_message("CPU %u: %llu bytes, %llu windows, %llu interrupts, %llu gaps\n",
			      st.cpu, st.produced, st.windows, st.pmis, st.gaps);
		free(r.trace[i]);
	}
	check_accounting(&s);
}

/* ---- states ----------------------------------------------------------------- */

/* Only the errors that a state allows. */
static int allow(int ret, int a, int b)
{
	return ret >= 0 || ret == -a || ret == -b ? 0 : ret;
}

static int start_and_stop(struct worker *w)
{
	int ret = allow(at_start(w->session.fd), EALREADY, 0);

	load_run(100);
	return ret ? ret : allow(at_stop(w->session.fd), EALREADY, 0);
}

static int control_any(struct worker *w)
{
	unsigned long nr = w->round & 1 ? AUXTRACE_IOC_RESUME : AUXTRACE_IOC_PAUSE;
	struct auxtrace_effect effects[MAX_CPUS];

	return allow(at_control(w->session.fd, nr, 0, effects, MAX_CPUS), EBADFD, 0);
}

static int map_any(struct worker *w)
{
	const struct channel *ch = &w->session.channel[w->round % w->session.count];
	void *addr = mmap(NULL, ch->aux_size, PROT_READ, MAP_SHARED, w->session.fd,
			  AUXTRACE_MMAP_OFFSET(ch->cpu, AUXTRACE_REGION_AUX));
	uint8_t sum = 0;

	if (addr == MAP_FAILED)
		return -errno;
	for (size_t i = 0; i < ch->aux_size; i += 4096)
		sum += ((volatile uint8_t *)addr)[i];
	return munmap(addr, ch->aux_size) ? -errno : 0;
}

static void states_change_under_requests_without_harm(void **state)
{
	int (*const steps[])(struct worker *) = { start_and_stop, start_and_stop, control_any,
						  control_any, sync_all, poll_any, map_any };
	const unsigned int n = sizeof(steps) / sizeof(*steps);
	struct auxtrace_status status;
	struct session s;

	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, 4 * page_size);
	for (unsigned int i = 0; i < n; i++)
		worker_start(&s, -1, steps[i], 100);
	workers_join();
	/* The two workers that start and stop both end with a STOP. */
	fail_stop(EALREADY, s.fd);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STOPPED);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_false(msr_tracing(s.channel[i].cpu));
		assert_int_equal(channel_status(&s.channel[i]).gaps, 0);
	}
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- hotplug ------------------------------------------------------------------ */

static void a_cpu_goes_offline_and_returns_under_requests(void **state)
{
	const struct worker *pairs[2];
	struct auxtrace_status_page st;
	struct session s;
	int ret = 0;

	hotplug_required();
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, 4 * page_size);
	ok_start(s.fd);
	for (int i = 0; i < 2; i++)
		pairs[i] = worker_start(&s, -1, pause_and_resume_all, 0);
	worker_start(&s, -1, sync_all, 0);
	worker_start(&s, -1, poll_any, 0);
	for (int i = 0; !ret && i < 4; i++) {
		ret = cpu_set_online(last_cpu, 0);
		if (!ret)
			ret = cpu_set_online(last_cpu, 1);
	}
	workers_join();
	expect_call("offline, online", 0, ret, __FILE__, __LINE__);

	/* The last request of each worker was a RESUME. */
	for (unsigned int i = 0; i < s.count; i++) {
		st = channel_status(&s.channel[i]);
		assert_int_equal(st.inhibit, 0);
		assert_true(msr_tracing(s.channel[i].cpu));
		assert_int_equal(st.pauses_asked, pairs[0]->round + pairs[1]->round);
		assert_int_equal(st.resumes_asked, pairs[0]->round + pairs[1]->round);
	}
	/* Each time that the CPU went offline was a gap, unless it was paused then. */
	st = channel_status(session_channel(&s, last_cpu));
	assert_true(st.gaps_offline <= 4);
	assert_int_equal(st.gaps, st.gaps_offline);
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(interrupts_inside_of_requests_lose_no_byte_in_overwrite_mode),
		vm_test(areas_that_fill_up_under_requests_lose_no_byte_that_was_written),
		vm_test(states_change_under_requests_without_harm),
		vm_test(a_cpu_goes_offline_and_returns_under_requests),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
