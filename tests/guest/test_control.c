// SPDX-License-Identifier: GPL-2.0
/*
 * PAUSE and RESUME: what they change, what they answer, what they cost. The
 * areas are large enough that neither a watermark nor a full area interferes.
 */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	room_for(1 << 20)
#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

static uint64_t all_cpus;

static void two_cpus_required(void)
{
	if (cpus_count(all_cpus) >= 2)
		return;
	print_message("SKIP: one CPU only\n");
	skip();
}

/* Window [begin, end) of a channel at rest, judged on its own. */
static struct walk window_walk(const struct channel *ch, uint64_t begin, uint64_t end)
{
	struct walk walk = { 0 };
	uint8_t *trace = test_malloc(end - begin + 1);

	channel_copy(ch, begin, trace, end - begin);
	trace_check_window(&walk, trace, end - begin, "window");
	test_free(trace);
	return walk;
}

static void start_begins_window_one_everywhere(void **state)
{
	struct session s;

	(void)state;
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_SETUP);
		assert_int_equal(st.windows, 0);
		assert_int_equal(st.produced, 0);
	}
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.running, 1);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_begin, 0);
		assert_true(st.window_begin_tsc > 0);
		assert_true(msr_tracing(s.channel[i].cpu));
	}
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_SETUP);
		assert_int_equal(st.running, 0);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_end, st.produced);
		assert_true(st.window_end_tsc > st.window_begin_tsc);
		assert_false(msr_tracing(s.channel[i].cpu));
		window_walk(&s.channel[i], 0, st.produced);
	}
	check_accounting(&s);
}

static void start_after_stop_goes_on_where_the_area_stands(void **state)
{
	uint64_t position = 0;
	struct session s;

	(void)state;
	session_open(&s, 1ULL << cpus_first(all_cpus), BOTH, AUX_SIZE);
	cpu_pin(cpus_first(all_cpus));
	for (uint64_t window = 1; window <= 3; window++) {
		struct auxtrace_status_page st;

		ok_start(s.fd);
		st = channel_status(s.channel);
		assert_int_equal(st.windows, window);
		assert_int_equal(st.window_begin, position);
		load_run(500);
		ok_stop(s.fd);
		st = channel_status(s.channel);
		assert_true(st.window_end > position);
		window_walk(s.channel, position, st.window_end);
		position = st.window_end;
	}
	check_accounting(&s);
}

static void a_session_that_starts_paused_traces_nothing_until_resume(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS];
	struct session s;

	(void)state;
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_PAUSED, AUX_SIZE);
	ok_start(s.fd);
	load_run(1000);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
		assert_int_equal(st.windows, 0);
		assert_int_equal(st.pauses_asked, 0);
		assert_false(msr_tracing(s.channel[i].cpu));
	}
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(effects[i].inhibit, 0);
		assert_int_equal(effects[i].position, 0);
		assert_int_equal(effects[i].window, 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_forgets_earlier_pauses(void **state)
{
	struct session s;

	(void)state;
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	ok_stop(s.fd);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.windows, 2);
	}
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);

	/* And a session that starts paused does so each time. */
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_PAUSED, AUX_SIZE);
	ok_start(s.fd);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).inhibit, AUXTRACE_INHIBIT_USER);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void effects_say_where_and_when_each_window_ends_and_begins(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS];
	uint64_t end[MAX_CPUS];
	struct session s;

	(void)state;
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	memset(end, 0, sizeof(end));
	for (uint64_t window = 1; window <= 8; window++) {
		uint64_t before = read_tsc(), after;

		ok_pause(&s, 0, effects);
		after = read_tsc();
		for (unsigned int i = 0; i < s.count; i++) {
			const struct auxtrace_effect *e = &effects[i];
			struct auxtrace_status_page st = channel_status(&s.channel[i]);

			assert_int_equal(e->flags, AUXTRACE_EFFECT_CHANGED);
			assert_int_equal(e->inhibit, AUXTRACE_INHIBIT_USER);
			assert_int_equal(e->reserved, 0);
			assert_int_equal(e->window, window);
			assert_true(e->position > end[i]);
			assert_in_range(e->tsc, before, after);
			assert_int_equal(st.running, 0);
			assert_int_equal(st.produced, e->position);
			assert_int_equal(st.window_end, e->position);
			assert_int_equal(st.window_end_tsc, e->tsc);
			window_walk(&s.channel[i], end[i], e->position);
			end[i] = e->position;
		}
		before = read_tsc();
		ok_resume(&s, 0, effects);
		after = read_tsc();
		for (unsigned int i = 0; i < s.count; i++) {
			const struct auxtrace_effect *e = &effects[i];
			struct auxtrace_status_page st = channel_status(&s.channel[i]);

			assert_int_equal(e->flags, AUXTRACE_EFFECT_CHANGED);
			assert_int_equal(e->inhibit, 0);
			assert_int_equal(e->window, window + 1);
			/* No trace while paused, so no gap between the windows. */
			assert_int_equal(e->position, end[i]);
			assert_in_range(e->tsc, before, after);
			assert_int_equal(st.running, 1);
			assert_int_equal(st.windows, window + 1);
			assert_int_equal(st.window_begin, e->position);
			assert_int_equal(st.window_begin_tsc, e->tsc);
		}
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_mask_reaches_its_cpus_alone(void **state)
{
	uint64_t some = all_cpus & (all_cpus - 1);	/* all but the first */
	struct auxtrace_effect effects[MAX_CPUS];
	struct session s;

	(void)state;
	two_cpus_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, some, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		bool asked = some >> s.channel[i].cpu & 1;

		assert_int_equal(st.pauses_asked, asked);
		assert_int_equal(st.pauses_done, asked);
		assert_int_equal(st.running, !asked);
		assert_int_equal(msr_tracing(s.channel[i].cpu), !asked);
	}
	/* One of those: the others stay paused. */
	ok_resume(&s, 1ULL << cpus_last(some), effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		int cpu = s.channel[i].cpu;

		assert_int_equal(st.resumes_asked, cpu == cpus_last(some));
		assert_int_equal(st.running, !(some >> cpu & 1) || cpu == cpus_last(some));
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void redundant_requests_are_counted_and_change_nothing(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS], again[MAX_CPUS];
	struct session s;

	(void)state;
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(effects[i].flags, 0);
		assert_int_equal(effects[i].inhibit, 0);
		assert_int_equal(effects[i].window, 1);
		assert_int_equal(st.resumes_asked, 1);
		assert_int_equal(st.resumes_done, 0);
		assert_int_equal(st.windows, 1);
	}
	ok_pause(&s, 0, effects);
	ok_pause(&s, 0, again);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(again[i].flags, 0);
		assert_int_equal(again[i].inhibit, AUXTRACE_INHIBIT_USER);
		assert_int_equal(again[i].window, 1);
		assert_int_equal(again[i].position, effects[i].position);
		assert_int_equal(st.pauses_asked, 2);
		assert_int_equal(st.pauses_done, 1);
		assert_int_equal(st.window_end_tsc, effects[i].tsc);
	}
	/* However many pauses: one resume undoes them. */
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(effects[i].window, 2);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void effects_beyond_the_room_are_dropped(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS], untouched;
	struct session s;

	(void)state;
	two_cpus_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	memset(effects, 0x5a, sizeof(effects));
	memset(&untouched, 0x5a, sizeof(untouched));
	assert_int_equal(at_control(s.fd, AUXTRACE_IOC_PAUSE, 0, effects, 1), s.count);
	assert_int_equal(effects[0].flags, AUXTRACE_EFFECT_CHANGED);
	assert_memory_equal(&effects[1], &untouched, sizeof(untouched));
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).running, 0);
	/* Room to spare is left alone. */
	assert_int_equal(at_control(s.fd, AUXTRACE_IOC_RESUME, 0, effects, MAX_CPUS), s.count);
	assert_memory_equal(&effects[s.count], &untouched, sizeof(untouched));
	ok_stop(s.fd);
	check_accounting(&s);
}

struct remote_control {
	const struct session *session;
	struct auxtrace_effect pause[MAX_CPUS], resume[MAX_CPUS];
	int ret;
};

static void *control_from_here(void *arg)
{
	struct remote_control *rc = arg;
	int fd = rc->session->fd;

	rc->ret = at_control(fd, AUXTRACE_IOC_PAUSE, 0, rc->pause, MAX_CPUS);
	if (rc->ret >= 0)
		rc->ret = at_control(fd, AUXTRACE_IOC_RESUME, 0, rc->resume, MAX_CPUS);
	return NULL;
}

static void another_thread_pauses_and_resumes_a_live_mapped_session(void **state)
{
	struct remote_control rc = { 0 };
	pthread_t thread;
	struct session s;

	(void)state;
	/* With that load no area is large enough never to be full. */
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	load_start(cpus_last(all_cpus));
	ok_start(s.fd);
	rc.session = &s;
	assert_int_equal(pthread_create(&thread, NULL, control_from_here, &rc), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rc.ret, s.count);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(rc.pause[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(rc.pause[i].window, 1);
		assert_int_equal(rc.resume[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(rc.resume[i].window, 2);
		assert_int_equal(channel_status(&s.channel[i]).running, 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void sync_moves_the_position_and_keeps_the_window(void **state)
{
	int cpu = cpus_first(all_cpus);
	struct auxtrace_status status;
	struct session s;
	uint64_t last = 0;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(cpu);
	ok_start(s.fd);
	for (int i = 0; i < 10; i++) {
		struct auxtrace_status_page st;

		load_run(300);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		assert_int_equal(status.out_produced, st.produced);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_begin, 0);
		assert_int_equal(st.window_end, 0);
		assert_int_equal(st.running, 1);
		last = st.produced;
	}
	ok_stop(s.fd);
	/* One window, through all these short stops. */
	window_walk(s.channel, 0, channel_status(s.channel).produced);
	check_accounting(&s);
}

static void user_and_kernel_flags_choose_what_is_traced(void **state)
{
	static const uint32_t flags[] = { AUXTRACE_SETUP_USER, AUXTRACE_SETUP_KERNEL, BOTH };
	int cpu = cpus_first(all_cpus);

	(void)state;
	cpu_pin(cpu);
	for (int i = 0; i < 3; i++) {
		struct auxtrace_status_page st;
		struct walk walk;
		struct session s;

		session_open(&s, 1ULL << cpu, flags[i], AUX_SIZE);
		ok_start(s.fd);
		for (int n = 0; n < 50; n++) {
			load_run(20);
			getppid();
		}
		ok_stop(s.fd);
		st = channel_status(s.channel);
		walk = window_walk(s.channel, 0, st.produced);
		if (flags[i] == AUXTRACE_SETUP_USER) {
			assert_int_equal(walk.into_kernel, 0);
			assert_true(walk.into_user >= 50);
		} else if (flags[i] == AUXTRACE_SETUP_KERNEL) {
			assert_int_equal(walk.into_user, 0);
			assert_true(walk.into_kernel >= 50);
		} else {
			/* One flow through both: it is enabled once, in the kernel. */
			assert_true(walk.into_kernel > 0);
		}
		check_accounting(&s);
		session_close(&s);
	}
}

/* ---- THE claim: what a PAUSE and a RESUME cost --------------------------- */

/* PT's has to clear RTIT_STATUS, or there is no PSB+. */
static unsigned int resume_wrmsrs(void)
{
	return under_bts() ? 1 : 2;
}

/*
 * The model's count of the trace PMU's WRMSRs on a channel's CPU, less those of the channel's
 * interrupts, each of which pauses and resumes: 64 KiB between, as BTS has them under page
 * table isolation, are soon full with what the test itself does.
 */
static uint64_t asked_wrmsrs(const struct channel *ch)
{
	uint64_t pmis = channel_status(ch).pmis, count, was;

	do {
		was = pmis;
		count = bench_wrmsrs(ch->cpu);
		pmis = channel_status(ch).pmis;
	} while (pmis != was);
	return count - pmis * (1 + resume_wrmsrs());
}

/* On each CPU of a session. */
static void count_wrmsrs(const struct session *s, uint64_t *counts)
{
	for (unsigned int i = 0; i < s->count; i++)
		counts[i] = asked_wrmsrs(&s->channel[i]);
}

/* Each CPU made @each since @counts, which it brings up to date. */
static void expect_wrmsrs(const struct session *s, uint64_t *counts, const char *what,
			  unsigned int each)
{
	for (unsigned int i = 0; i < s->count; i++) {
		const struct channel *ch = &s->channel[i];
		uint64_t now = asked_wrmsrs(ch);

		if (now - counts[i] != each)
			fail_msg("%s: %llu WRMSRs on CPU %d, not %u; %llu interrupts, %llu bytes",
				 what, (unsigned long long)(now - counts[i]), ch->cpu, each,
				 channel_status(ch).pmis, channel_status(ch).produced);
		counts[i] = now;
	}
}

/*
 * No other than the one that turns it on and off, and, for a RESUME of PT, RTIT_STATUS.
 * Read while it is off: no interrupt comes in between.
 */
static void a_pair_writes_the_switch_alone(const struct session *s)
{
	enum ptm_counter control = under_bts() ? PTM_N_WRMSR_DEBUGCTL : PTM_N_WRMSR_CTL;
	enum ptm_counter other = under_bts() ? PTM_N_WRMSR_DS_AREA : PTM_N_WRMSR_STATUS;

	for (unsigned int i = 0; i < s->count; i++) {
		int cpu = s->channel[i].cpu;
		uint64_t controls, others;

		ok_pause(s, 1ULL << cpu, NULL);
		controls = bench_count(cpu, control);
		others = bench_count(cpu, other);
		ok_resume(s, 1ULL << cpu, NULL);
		ok_pause(s, 1ULL << cpu, NULL);
		assert_int_equal(bench_count(cpu, control), controls + 2);
		assert_int_equal(bench_count(cpu, other), others + !under_bts());
		ok_resume(s, 1ULL << cpu, NULL);
	}
}

static void a_pause_is_one_wrmsr_a_resume_that_and_psbs_a_redundant_one_none(void **state)
{
	uint64_t counts[MAX_CPUS];
	struct session s;

	(void)state;
	bench_required();
	/* Room for all that looking at counters in one round takes in the kernel. */
	session_open(&s, all_cpus, quiet_level(), 4 * AUX_SIZE);
	ok_start(s.fd);
	for (int i = 0; i < 20; i++) {
		count_wrmsrs(&s, counts);
		ok_pause(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "PAUSE", 1);
		ok_pause(&s, 0, NULL);
		expect_wrmsrs(&s, counts, "redundant PAUSE", 0);
		/* RESUME takes it: there is room for what one round makes, not for all. */
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

		/* Whose WRMSRs are more than a pause's and a resume's. */
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
	int first = cpus_first(all_cpus), last = cpus_last(all_cpus);
	const struct channel *ch;
	struct session s;
	uint64_t before;

	(void)state;
	bench_required();
	two_cpus_required();
	session_open(&s, all_cpus, quiet_level(), AUX_SIZE);
	ch = session_channel(&s, last);
	cpu_pin(first);
	ok_start(s.fd);
	before = asked_wrmsrs(ch);
	ok_pause(&s, 1ULL << first, NULL);
	ok_resume(&s, 1ULL << first, NULL);
	assert_int_equal(asked_wrmsrs(ch), before);
	/* From another CPU it costs the CPU as much as from its own. */
	before = asked_wrmsrs(ch);
	ok_pause(&s, 1ULL << last, NULL);
	ok_resume(&s, 1ULL << last, NULL);
	assert_int_equal(asked_wrmsrs(ch), before + 1 + resume_wrmsrs());
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_paused_channel_takes_no_interrupts_and_writes_no_bytes(void **state)
{
	int cpu = cpus_first(all_cpus);
	struct auxtrace_status status;
	uint64_t bytes, wrmsrs;
	struct session s;

	(void)state;
	bench_required();
	session_open(&s, 1ULL << cpu, quiet_level(), AUX_SIZE);
	cpu_pin(cpu);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	bytes = bench_bytes(cpu);
	wrmsrs = bench_wrmsrs(cpu);
	load_run(20000);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(bench_bytes(cpu), bytes);
	assert_int_equal(bench_wrmsrs(cpu), wrmsrs);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void no_call_makes_the_hardware_fault(void **state)
{
	uint64_t faults[MAX_CPUS];
	struct session s;

	(void)state;
	bench_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	for (unsigned int i = 0; i < s.count; i++)
		faults[i] = bench_count(s.channel[i].cpu, PTM_N_FAULTS);
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
		assert_int_equal(bench_count(s.channel[i].cpu, PTM_N_FAULTS), faults[i]);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(start_begins_window_one_everywhere),
		vm_test(start_after_stop_goes_on_where_the_area_stands),
		vm_test(a_session_that_starts_paused_traces_nothing_until_resume),
		vm_test(start_forgets_earlier_pauses),
		vm_test(effects_say_where_and_when_each_window_ends_and_begins),
		vm_test(a_mask_reaches_its_cpus_alone),
		vm_test(redundant_requests_are_counted_and_change_nothing),
		vm_test(effects_beyond_the_room_are_dropped),
		vm_test(another_thread_pauses_and_resumes_a_live_mapped_session),
		vm_test(sync_moves_the_position_and_keeps_the_window),
		vm_test(user_and_kernel_flags_choose_what_is_traced),
		vm_test(a_pause_is_one_wrmsr_a_resume_that_and_psbs_a_redundant_one_none),
		vm_test(a_request_of_one_cpu_writes_no_msr_of_another),
		vm_test(a_paused_channel_takes_no_interrupts_and_writes_no_bytes),
		vm_test(no_call_makes_the_hardware_fault),
	};

	all_cpus = cpus_online();
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
