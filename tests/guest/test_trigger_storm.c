// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers within triggers, from task, interrupt and NMI context, at the highest rate
 * that the machine can make: no hit is lost, and at rest all is as was asked last.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define DATA_SIZE	(1 << 19)
#define CALLS		400

static uint64_t cpus;

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

/* Four at a call, at least one of them a change of the hardware. */
static int call_often(struct worker *w)
{
	(void)w;
	call_times(1);
	load_run(20);
	return 0;
}

static void calls_on_all(const struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++)
		worker_start(s, s->channel[i].cpu, call_often, CALLS);
}

static uint32_t add_nmis(const struct session *s, uint32_t action)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE, .size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 20000,
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

/* Nobody reads any more: a full area may keep it off as well. */
static uint32_t without_full(const struct channel *ch)
{
	return channel_status(ch).inhibit & ~(uint32_t)AUXTRACE_INHIBIT_FULL;
}

/* Nothing else happens: what was asked last holds on each CPU, and the next request too. */
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

/* Probes in system calls, interrupted by timers, these and all by NMIs, and ioctls. */
static void test_nested(void **state)
{
	struct session s;
	uint32_t id[LINKS], nmi, timer, sample;

	(void)state;
	open_all(&s, AUXTRACE_SETUP_OVERWRITE, 1 << 16);
	add_chain(&s, id);
	nmi = add_nmis(&s, AUXTRACE_ACTION_RESUME);
	timer = add_timer(&s, AUXTRACE_ACTION_PAUSE, 200000);
	sample = add_nmis(&s, AUXTRACE_ACTION_SAMPLE);
	ok_start(s.fd);
	calls_on_all(&s);
	worker_start(&s, -1, pause_and_resume_all, 50);
	workers_join();
	expect_calls(&s, id, (uint64_t)CALLS * s.count);
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

/* Small full-trace areas: trace interrupts between all of these. */
static void test_full(void **state)
{
	struct session s;
	uint32_t id[LINKS], sample;

	(void)state;
	open_all(&s, AUXTRACE_SETUP_FULL_AUTO, 1 << 14);
	add_chain(&s, id);
	sample = add_timer(&s, AUXTRACE_ACTION_SAMPLE, 500000);
	ok_start(s.fd);
	calls_on_all(&s);
	worker_start(&s, -1, take_all, 0);
	workers_join();
	expect_calls(&s, id, (uint64_t)CALLS * s.count);
	trigger_del(&s, sample);
	expect_obeyed(&s, id);
	ok_stop(s.fd);
	follow_all(&s);
	session_close(&s);
}

/* The shortest period there is, on one CPU; it leaves little to others there. */
static void test_fast_timer(void **state)
{
	const struct source *from = source_named("syscall enter");
	uint32_t pause, resume, calls;
	struct session s;
	time_t begun;

	(void)state;
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

/* All CPUs tell all the others at once, and freeze them, while threads thaw them. */
static void test_broadcast(void **state)
{
	struct auxtrace_trigger t;
	struct session s;
	uint32_t in, out, freeze, nmi;
	uint64_t calls;

	(void)state;
	open_all(&s, AUXTRACE_SETUP_OVERWRITE, 1 << 16);
	calls = (uint64_t)CALLS * s.count;
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
	/* What was on its way has arrived after this: calls to a CPU are carried out in order. */
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
		vm_test(test_nested),
		vm_test(test_full),
		vm_test(test_fast_timer),
		vm_test(test_broadcast),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
