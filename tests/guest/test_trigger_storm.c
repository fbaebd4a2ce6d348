// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers within triggers, in task, interrupt and NMI context, at the highest rate that the
 * machine allows: no hit is lost, and at rest each CPU is as last requested.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define DATA_SIZE	(1 << 19)
#define CALLS		400

static uint64_t cpus;

/* By each CPU. A kernel that checks itself gets fewer, and interrupts at longer intervals. */
static unsigned int calls_each(void)
{
	return CALLS / slowness;
}

static void open_all(struct session *s, uint32_t flags, uint64_t aux_size)
{
	cpus = cpus_online();
	session_prepare(s, cpus, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				 AUXTRACE_SETUP_TRIGGER_PAUSED | flags, aux_size);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
}

static struct auxtrace_trigger at_call(uint32_t kind, uint32_t action)
{
	if (kind == AUXTRACE_TRIGGER_KPROBE || kind == AUXTRACE_TRIGGER_KRETPROBE)
		return trigger_named(kind, action, CALL_FUNCTION, 0);
	return trigger_syscall(kind, action, CALL_NUMBER);
}

/* Each call passes four triggers, one inside the other. */
static const struct {
	uint32_t kind, action;
} chain[] = {
	{ AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_RESUME },
	{ AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE },
	{ AUXTRACE_TRIGGER_KRETPROBE, AUXTRACE_ACTION_RESUME },
	{ AUXTRACE_TRIGGER_SYSCALL_EXIT, AUXTRACE_ACTION_PAUSE },
};
#define LINKS	4

static void add_chain(const struct session *s, uint32_t *id)
{
	for (unsigned int i = 0; i < LINKS; i++)
		id[i] = trigger_add(s, at_call(chain[i].kind, chain[i].action));
}

/* Four hits for each call, at least one of which changes the hardware. */
static int call_often(struct worker *w)
{
	call_times(1);
	load_run(20);
	return 0;
}

static void calls_on_all(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		worker_start(s, s->channel[i].cpu, call_often, calls_each());
}

static uint32_t add_nmis(const struct session *s, uint32_t action)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 20000 * slowness,
	};
	struct auxtrace_trigger t = trigger_perf(action, &attr);

	if (action == AUXTRACE_ACTION_SAMPLE)
		t.sample_size = 256;
	return trigger_add(s, t);
}

static uint32_t add_timer(const struct session *s, uint32_t action, uint64_t ns)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_TIMER, action);

	t.bound_ns = ns;
	if (action == AUXTRACE_ACTION_SAMPLE)
		t.sample_size = 256;
	return trigger_add(s, t);
}

static void expect_calls(const struct session *s, const uint32_t *id, uint64_t calls)
{
	for (unsigned int i = 0; i < LINKS; i++) {
		struct auxtrace_trigger_state st = trigger_read(s, id[i]);

		if (st.out_hits != calls || st.out_acted + st.out_missed != calls)
			fail_msg("link %u: %llu hits, %llu acted, %llu missed of %llu calls", i,
				 st.out_hits, st.out_acted, st.out_missed,
				 (unsigned long long)calls);
	}
}

/* Without a reader a full area may be one more reason to be off. */
static uint32_t without_full(const struct channel *ch)
{
	return channel_status(ch).inhibit & ~(uint32_t)AUXTRACE_INHIBIT_FULL;
}

/* At rest each CPU is as last requested, and follows the next request. */
static void expect_obeyed(const struct session *s, const uint32_t *id)
{
	ok_resume(s, 0, NULL);
	for (unsigned int i = 0; i < s->count; i++) {
		assert_int_equal(cpu_pin(s->channel[i].cpu), 0);
		call_times(1);
		assert_int_equal(without_full(&s->channel[i]), AUXTRACE_INHIBIT_TRIGGER);
	}
	trigger_del(s, id[3]);
	for (unsigned int i = 0; i < s->count; i++) {
		assert_int_equal(cpu_pin(s->channel[i].cpu), 0);
		call_times(1);
		assert_int_equal(without_full(&s->channel[i]), 0);
	}
	if (invariants_broken(s))
		fail();
}

static void follow_all(struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct follower f;

		follower_init(&f, &s->channel[i]);
		follow_and_take(&f);
		follower_agrees(&f);
	}
}

/* Probes in system calls, interrupted by timers, all of them by NMIs; and ioctls. */
static void nested_triggers_lose_no_hit(void **state)
{
	struct session s;
	uint32_t id[LINKS], nmi, timer, sample;

	open_all(&s, AUXTRACE_SETUP_OVERWRITE, 1 << 16);
	add_chain(&s, id);
	nmi = add_nmis(&s, AUXTRACE_ACTION_RESUME);
	timer = add_timer(&s, AUXTRACE_ACTION_PAUSE, 200000 * slowness);
	sample = add_nmis(&s, AUXTRACE_ACTION_SAMPLE);
	ok_start(s.fd);
	calls_on_all(&s);
	worker_start(&s, -1, pause_and_resume_all, 50);
	workers_join();
	expect_calls(&s, id, (uint64_t)calls_each() * s.count);
	assert_true(trigger_read(&s, nmi).out_acted > 0);
	assert_true(trigger_read(&s, timer).out_acted > 0);
	assert_true(trigger_read(&s, sample).out_acted > 0);
	trigger_del(&s, nmi);
	trigger_del(&s, timer);
	trigger_del(&s, sample);
	expect_obeyed(&s, id);
	ok_stop(s.fd);
	follow_all(&s);
	session_close(&s);
}

static int take_all(struct worker *w)
{
	for (unsigned int i = 0; i < w->session.count; i++) {
		struct auxtrace_status_page st;

		if (!channel_status_plain(&w->session.channel[i], &st))
			return -EPROTO;
		channel_set_tail(&w->session.channel[i], st.produced);
	}
	return poll_any(w);
}

/* The same with small full-trace areas, so that trace interrupts come in between. */
static void triggers_on_full_areas_lose_no_hit(void **state)
{
	struct session s;
	uint32_t id[LINKS], sample;

	open_all(&s, AUXTRACE_SETUP_FULL_AUTO, 1 << 14);
	add_chain(&s, id);
	sample = add_timer(&s, AUXTRACE_ACTION_SAMPLE, 500000 * slowness);
	ok_start(s.fd);
	calls_on_all(&s);
	worker_start(&s, -1, take_all, 0);
	workers_join();
	expect_calls(&s, id, (uint64_t)calls_each() * s.count);
	trigger_del(&s, sample);
	expect_obeyed(&s, id);
	ok_stop(s.fd);
	follow_all(&s);
	session_close(&s);
}

/* Two timers with the shortest period on one CPU, which leave it little time. */
static void the_shortest_timer_loses_no_hit_of_other_triggers(void **state)
{
	const struct source *from = source_named("syscall enter");
	uint32_t pause, resume, calls;
	struct session s;
	time_t begun;

	session_prepare(&s, 2, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE, 1 << 16);
	session_prepare_data(&s, 0, DATA_SIZE);
	session_setup(&s);
	assert_int_equal(cpu_pin(1), 0);
	calls = trigger_add(&s, at_call(from->kind, AUXTRACE_ACTION_RESUME));
	ok_start(s.fd);
	pause = add_timer(&s, AUXTRACE_ACTION_PAUSE, 10000);
	resume = add_timer(&s, AUXTRACE_ACTION_RESUME, 10000);
	/* The kernel slows timers down that leave it no time: no rate is promised. */
	begun = time(NULL);
	while (trigger_read(&s, pause).out_hits < 100 || !trigger_read(&s, resume).out_hits) {
		assert_true(time(NULL) - begun < WAIT_MS / 1000);
		call_times(1);
	}
	trigger_counted(&s, calls, trigger_read(&s, calls).out_hits, 0, 0, 0);
	trigger_del(&s, pause);
	trigger_del(&s, resume);
	call_times(1);
	assert_int_equal(channel_status(&s.channel[0]).inhibit, 0);
	session_close(&s);
}

/* All CPUs broadcast requests and freezes at once, while threads resume them. */
static void broadcasts_from_all_cpus_lose_no_hit(void **state)
{
	struct auxtrace_trigger t;
	struct session s;
	uint32_t in, out, freeze, nmi;
	uint64_t calls;

	open_all(&s, AUXTRACE_SETUP_OVERWRITE, 1 << 16);
	calls = (uint64_t)calls_each() * s.count;
	t = at_call(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_RESUME);
	t.flags = AUXTRACE_TRIGGER_ALL_CPUS;
	in = trigger_add(&s, t);
	t = at_call(AUXTRACE_TRIGGER_SYSCALL_EXIT, AUXTRACE_ACTION_PAUSE);
	t.flags = AUXTRACE_TRIGGER_ALL_CPUS;
	out = trigger_add(&s, t);
	freeze = trigger_add(&s, at_call(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_FREEZE));
	nmi = add_nmis(&s, AUXTRACE_ACTION_FREEZE);
	ok_start(s.fd);
	calls_on_all(&s);
	worker_start(&s, -1, pause_and_resume_all, 100);
	workers_join();
	trigger_counted(&s, in, calls, 0, 0, 0);
	trigger_counted(&s, out, calls, 0, 0, 0);
	assert_int_equal(trigger_read(&s, freeze).out_hits, calls);
	trigger_del(&s, nmi);
	trigger_del(&s, freeze);
	/* Pending broadcasts are done after this: requests to a CPU are carried out in order. */
	ok_resume(&s, 0, NULL);
	usleep(10000);
	ok_resume(&s, 0, NULL);
	assert_int_equal(cpu_pin(1), 0);
	call_times(1);
	wait_for_inhibit(&s, AUXTRACE_INHIBIT_TRIGGER);
	trigger_del(&s, out);
	call_times(1);
	wait_for_inhibit(&s, 0);
	if (invariants_broken(&s))
		fail();
	ok_stop(s.fd);
	follow_all(&s);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(nested_triggers_lose_no_hit),
		vm_test(triggers_on_full_areas_lose_no_hit),
		vm_test(the_shortest_timer_loses_no_hit_of_other_triggers),
		vm_test(broadcasts_from_all_cpus_lose_no_hit),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
