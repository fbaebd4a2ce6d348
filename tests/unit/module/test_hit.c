// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a hit does: module/trigger/hit.c, latency.c and core/remote.c, with channels, tasks and
 * other CPUs simulated.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/sched.h>
#include <linux/tracepoint.h>
#include "cmocka_all.h"
#include "core/channel.h"
#include "base/clock.h"
#include "trigger/delay.h"
#include "trigger/latency.h"
#include "core/inhibit.h"
#include "core/remote.h"
#include "trigger/hit.h"
#include "trigger/kinds.h"
#include "trigger/trigger.h"

#define NR_CPUS		3
#define NR_TRIGGERS	4
#define BUCKET		4096	/* tasks so far apart are in buckets next to each other */
#define BUCKETS		1024
#define PLACES		8

/* ---- the kernel --------------------------------------------------------- */

static u64 tsc;
static int on_cpu;
int shim_nr_cpus = NR_CPUS;
struct task_struct *shim_current;
struct tracepoint shim_process_exit = { .name = "sched_process_exit" };
static void (*nested)(void);	/* an NMI at the next point where one may land */
static unsigned int points;	/* or, so many points behind that */

void shim_point(void)
{
	void (*nmi)(void) = nested;

	if (points) {
		points--;
		return;
	}
	nested = NULL;
	if (nmi)
		nmi();
}

u64 rdtsc(void)
{
	return tsc;
}

u64 auxt_ns_to_tsc(u64 ns)
{
	return ns;
}

u64 auxt_tsc_to_ns(u64 ticks)
{
	return ticks;
}

int smp_processor_id(void)
{
	return on_cpu;
}

static call_single_data_t *called[NR_CPUS];
static int offline = -1;	/* this CPU */

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	/* The kernel allows one sender at a time. */
	assert_null(called[cpu]);
	if (cpu == offline)
		return -ENXIO;
	called[cpu] = csd;
	return 0;
}

int smp_call_function_single(int cpu, void (*func)(void *info), void *info, int wait)
{
	assert_true(wait);
	func(info);
	return 0;
}

/* ---- the session -------------------------------------------------------- */

DEFINE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);
static const struct trace_pmu trace_pmu;	/* the one that a zero names */
static struct auxt_channel channels[NR_CPUS];
static struct auxt_channel *by_cpu[NR_CPUS];
static struct auxt_group group = { .channels = by_cpu };
static struct trigger_counts counts[NR_TRIGGERS];
static struct auxt_trigger triggers[NR_TRIGGERS];
static struct auxt_trigger *const siblings[NR_TRIGGERS] = {
	&triggers[0], &triggers[1], &triggers[2], &triggers[3],
};
static struct auxt_trigger_set *const set = (struct auxt_trigger_set *)triggers;
static struct auxt_pending_request asked[16];
static unsigned int nr_asked;
static bool busy;		/* the channel refuses */
static void (*meanwhile)(void);	/* on another CPU, before it does */

bool auxt_request_make(struct auxt_channel *ch, const struct auxt_request *request, u64 value)
{
	assert_ptr_equal(ch, auxt_attached[0]);
	if (busy && meanwhile)
		meanwhile();
	if (busy)
		return false;
	asked[nr_asked++ % 16] = (struct auxt_pending_request) { .request = *request, .value = value };
	return true;
}

void auxt_record_trigger_slow(struct auxt_data_ring *ring, const struct auxt_request *request,
			      u64 value, u64 position, u64 time)
{
	fail();
}

bool auxt_delay_begin(struct auxt_trigger *t, struct auxt_channel *ch, u64 value)
{
	fail();
	return false;
}

struct auxt_trigger *auxt_trigger_find(struct auxt_trigger *const *of, u32 id)
{
	assert_ptr_equal(of, siblings);
	return id - 1 < NR_TRIGGERS ? &triggers[id - 1] : NULL;
}

struct task_struct shim_task;	/* of code that is not tested here */
static struct task_struct first = { .pid = 1, .tgid = 1 };

static int begin(void **state)
{
	memset(channels, 0, sizeof(channels));
	memset(counts, 0, sizeof(counts));
	memset(triggers, 0, sizeof(triggers));
	memset(called, 0, sizeof(called));
	offline = -1;
	for (int i = 0; i < NR_TRIGGERS; i++)
		triggers[i] = (struct auxt_trigger) {
			.set = set, .siblings = siblings, .place = i, .counts = &counts[i],
			.request = { .action = AUXTRACE_ACTION_PAUSE, .trigger = i + 1 },
			.noop_mask = AUXTRACE_INHIBIT_TRIGGER, .noop = AUXTRACE_INHIBIT_TRIGGER,
		};
	for (int i = 0; i < NR_CPUS; i++) {
		channels[i].cpu = i;
		channels[i].triggers = set;
		channels[i].pmu = &trace_pmu;
		channels[i].group = &group;
		by_cpu[i] = &channels[i];
		auxt_remote_init(&channels[i]);
	}
	auxt_attached[0] = &channels[0];
	on_cpu = 0;
	group.last_broadcast = 0;
	nr_asked = 0;
	busy = false;
	meanwhile = NULL;
	tsc = 1000;
	nested = NULL;
	points = 0;
	shim_current = &first;
	return 0;
}

static void counted(const struct auxt_trigger *t, u64 acted, u64 held, u64 idle, u64 missed)
{
	assert_int_equal(t->counts->acted, acted);
	assert_int_equal(t->counts->held, held);
	assert_int_equal(t->counts->idle, idle);
	assert_int_equal(t->counts->missed, missed);
}

/* ---- a hit -------------------------------------------------------------- */

static void each_hit_is_counted_once(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	auxt_trigger_hit(t, 42);
	counted(t, 1, 0, 0, 0);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0].request.trigger, 1);
	assert_int_equal(asked[0].value, 42);
	/* The channel is as wanted: the hit counts as acted, but makes no request. */
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_USER);
	auxt_trigger_hit(t, 0);
	counted(t, 2, 0, 0, 0);
	assert_int_equal(nr_asked, 1);
	/* The channel is another session's, or there is none. */
	channels[0].triggers = NULL;
	auxt_trigger_hit(t, 0);
	auxt_attached[0] = NULL;
	auxt_trigger_hit(t, 0);
	counted(t, 2, 0, 2, 0);
	assert_int_equal(nr_asked, 1);
}

static void a_hit_of_a_busy_channel_is_missed(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	busy = true;
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 0, 1);
	busy = false;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 0, 0, 1);
}

static void all_cpus_are_asked_unless_all_are_so(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_BROADCAST;
	t->request.all_cpus = true;
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TRIGGER);
	auxt_trigger_hit(t, 0);
	assert_int_equal(nr_asked, 1);
	assert_true(asked[0].request.all_cpus);
	group.last_broadcast = AUXTRACE_ACTION_PAUSE;
	auxt_trigger_hit(t, 0);
	assert_int_equal(nr_asked, 1);
	group.last_broadcast = AUXTRACE_ACTION_RESUME;
	auxt_trigger_hit(t, 0);
	assert_int_equal(nr_asked, 2);
	counted(t, 3, 0, 0, 0);
}

static void a_process_of_others_does_not_hit(void **state)
{
	struct auxt_trigger *t = &triggers[0];
	int process, other;

	t->pid = (struct pid *)&process;
	t->is = TRIGGER_IS_OF_PROCESS;
	first.pid_of_process = (struct pid *)&other;
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 0, 0);
	first.pid_of_process = (struct pid *)&process;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 0, 0, 0);
	first.pid_of_process = NULL;
}

static void after_hits_and_count(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->after_hits = 3;
	t->allowance = 2;
	atomic64_set(&t->left, 2);
	for (int i = 0; i < 3; i++)
		auxt_trigger_hit(t, 0);
	counted(t, 0, 3, 0, 0);
	auxt_trigger_hit(t, 0);
	counted(t, 1, 3, 0, 0);
	/* A hit that could not act does not use up the allowance. */
	busy = true;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 3, 0, 1);
	busy = false;
	for (int i = 0; i < 5; i++)
		auxt_trigger_hit(t, 0);
	counted(t, 2, 7, 0, 1);
	assert_int_equal(nr_asked, 2);
}

/* Nor does it use up what a trigger may do. */
static void a_counted_hit_without_a_channel_is_idle(void **state)
{
	static const u32 actions[] = { AUXTRACE_ACTION_PAUSE, AUXTRACE_ACTION_FREEZE };

	for (int i = 0; i < 2; i++) {
		struct auxt_trigger *t = &triggers[i];

		t->request.action = actions[i];
		t->is = TRIGGER_IS_COUNTED;
		t->after_hits = 1;
		t->allowance = 1;
		atomic64_set(&t->left, 1);
		auxt_attached[0] = NULL;
		auxt_trigger_hit(t, 0);
		auxt_attached[0] = &channels[0];
		channels[0].triggers = NULL;
		auxt_trigger_hit(t, 0);
		channels[0].triggers = set;
		counted(t, 0, 0, 2, 0);
		assert_int_equal(atomic64_read(&t->seen), 0);
		auxt_trigger_hit(t, 0);
		auxt_trigger_hit(t, 0);
		counted(t, 1, 1, 2, 0);
	}
}

static void rearm(void)
{
	atomic64_set(&triggers[0].left, triggers[0].allowance);
}

/* A hit that could not act gives its share back, but not on top of a full REARM. */
static void armed_while_it_is_missed_it_acts_once(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->allowance = 1;
	atomic64_set(&t->left, 1);
	busy = true;
	meanwhile = rearm;
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 0, 1);
	busy = false;
	for (int i = 0; i < 3; i++)
		auxt_trigger_hit(t, 0);
	counted(t, 1, 2, 0, 1);
}

static void hit_again(void)
{
	auxt_trigger_hit(&triggers[0], 0);
}

static void hold_off(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->hold_off = 100;
	auxt_trigger_hit(t, 0);
	tsc += 99;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 1, 0, 0);
	tsc += 1;
	auxt_trigger_hit(t, 0);
	counted(t, 2, 1, 0, 0);
	/* An NMI hits in the middle: one of the two acts. */
	tsc += 100;
	nested = hit_again;
	auxt_trigger_hit(t, 0);
	assert_null(nested);
	counted(t, 3, 2, 0, 0);
}

/* Wherever the NMI lands: the one that is held off gives its share back. */
static void of_two_hits_at_once_one_acts_and_one_is_counted(void **state)
{
	struct auxt_trigger *t = &triggers[0];
	unsigned int n;

	t->is = TRIGGER_IS_COUNTED;
	t->hold_off = 100;
	t->allowance = 5;
	for (n = 0;; n++) {
		atomic64_set(&t->left, 5);
		tsc += 100;
		memset(counts, 0, sizeof(counts));
		nested = hit_again;
		points = n;
		auxt_trigger_hit(t, 0);
		if (nested)
			break;
		counted(t, 1, 1, 0, 0);
		assert_int_equal(atomic64_read(&t->left), 4);
	}
	nested = NULL;
	points = 0;
	assert_true(n > 4);
}

/* A hit that did not act begins no hold-off. */
static void a_missed_hit_begins_no_hold_off(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->hold_off = 100;
	busy = true;
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 0, 1);
	busy = false;
	tsc += 1;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 0, 0, 1);
	/* It does not prolong one either. */
	tsc += 100;
	busy = true;
	auxt_trigger_hit(t, 0);
	busy = false;
	auxt_trigger_hit(t, 0);
	counted(t, 2, 0, 0, 2);
	tsc += 99;
	auxt_trigger_hit(t, 0);
	counted(t, 2, 1, 0, 2);
}

static void a_counted_trigger_whose_state_holds_makes_no_request(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->allowance = 2;
	atomic64_set(&t->left, 2);
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TRIGGER);
	for (int i = 0; i < 3; i++)
		auxt_trigger_hit(t, 0);
	counted(t, 2, 1, 0, 0);
	assert_int_equal(nr_asked, 0);
}

/* A FREEZE of a frozen channel uses up neither after_hits nor count. */
static void a_counted_freeze_waits_until_it_can_freeze(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_COUNTED;
	t->request.action = AUXTRACE_ACTION_FREEZE;
	t->noop_mask = t->noop = AUXTRACE_INHIBIT_FROZEN;
	t->noop_count = offsetof(struct trigger_counts, held);
	t->after_hits = 1;
	t->allowance = 1;
	atomic64_set(&t->left, 1);
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_FROZEN);
	for (int i = 0; i < 3; i++)
		auxt_trigger_hit(t, 0);
	counted(t, 0, 3, 0, 0);
	atomic_set(&channels[0].inhibit, 0);
	auxt_trigger_hit(t, 0);
	counted(t, 0, 4, 0, 0);
	assert_int_equal(nr_asked, 0);
	auxt_trigger_hit(t, 0);
	counted(t, 1, 4, 0, 0);
	assert_int_equal(nr_asked, 1);
}

static void without_an_action_it_is_held(void **state)
{
	triggers[0].is = TRIGGER_IS_COUNTED;
	triggers[0].request.action = AUXTRACE_ACTION_NONE;
	auxt_trigger_hit(&triggers[0], 0);
	counted(&triggers[0], 0, 1, 0, 0);
}

/* It uses up nothing of what a trigger may do, and begins no hold-off. */
static void a_hit_of_a_thread_that_is_no_member_is_held(void **state)
{
	static const u32 actions[] = {
		AUXTRACE_ACTION_PAUSE, AUXTRACE_ACTION_RESUME, AUXTRACE_ACTION_FREEZE,
		AUXTRACE_ACTION_SAMPLE,
	};

	for (int i = 0; i < NR_TRIGGERS; i++) {
		struct auxt_trigger *t = &triggers[i];

		t->request.action = actions[i];
		t->is = TRIGGER_IS_OF_MEMBERS | TRIGGER_IS_COUNTED;
		t->after_hits = 1;
		t->allowance = 1;
		t->hold_off = 10;
		t->noop_mask = t->noop = AUXTRACE_INHIBIT_FROZEN;
		atomic64_set(&t->left, 1);
		/* With other reasons, too; but of a FREEZE that has nothing to do. */
		atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK);
		auxt_trigger_hit(t, 0);
		auxt_trigger_hit(t, 0);
		atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK | AUXTRACE_INHIBIT_FROZEN);
		auxt_trigger_hit(t, 0);
		counted(t, 0, 3, 0, 0);
		assert_int_equal(atomic64_read(&t->seen), 0);
		assert_int_equal(atomic64_read(&t->left), 1);
		assert_int_equal(t->counts->acted_tsc, 0);
		assert_int_equal(nr_asked, i);
		/* A member's. */
		atomic_set(&channels[0].inhibit, 0);
		auxt_trigger_hit(t, 0);
		counted(t, 0, 4, 0, 0);
		auxt_trigger_hit(t, 7);
		counted(t, 1, 4, 0, 0);
		assert_int_equal(nr_asked, i + 1);
		assert_int_equal(asked[i].value, 7);
	}
}

static void a_hit_with_nothing_but_the_scope_acts_for_members(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_OF_MEMBERS;
	/* It asks for what is so already: held nevertheless. */
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK | AUXTRACE_INHIBIT_TRIGGER);
	auxt_trigger_hit(t, 0);
	counted(t, 0, 1, 0, 0);
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TRIGGER);
	auxt_trigger_hit(t, 0);
	counted(t, 1, 1, 0, 0);
	assert_int_equal(nr_asked, 0);
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_USER);
	auxt_trigger_hit(t, 0);
	counted(t, 2, 1, 0, 0);
	assert_int_equal(nr_asked, 1);
}

/* What the reason of another session's channel says is no concern of this one. */
static void a_hit_at_the_channel_of_another_scope_is_idle(void **state)
{
	struct auxt_trigger *t = &triggers[0];

	t->is = TRIGGER_IS_OF_MEMBERS;
	channels[0].triggers = NULL;
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK);
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 1, 0);
	auxt_attached[0] = NULL;
	auxt_trigger_hit(t, 0);
	counted(t, 0, 0, 2, 0);
	/* Nor is that of a session without a scope, whose channel never has it. */
	auxt_attached[0] = &channels[0];
	channels[0].triggers = set;
	t->is = TRIGGER_IS_COUNTED;
	auxt_trigger_hit(t, 0);
	counted(t, 1, 0, 2, 0);
}

/* ---- latency: trigger 3 from 1 to 2 -------------------------------------- */

static void *tasks;

static struct task_struct *task(unsigned int i)
{
	struct task_struct *t = (void *)((char *)tasks + (size_t)i * BUCKETS * BUCKET);

	return t;
}

static struct auxt_trigger *const late = &triggers[2];

static int begin_tasks(void **state)
{
	begin(state);
	/* All in one bucket; only the pages that tasks are in are touched. */
	tasks = aligned_alloc(BUCKET, (PLACES + 1) * (size_t)BUCKETS * BUCKET);
	if (!tasks)
		return -1;
	for (unsigned int i = 0; i <= PLACES; i++)
		*task(i) = (struct task_struct) { .pid = i };
	return 0;
}

static int end_tasks(void **state)
{
	free(tasks);
	return 0;
}

static int begin_latency(void **state)
{
	const struct auxtrace_trigger arg = { .a = 1, .b = 2, .bound_ns = 50 };

	if (begin_tasks(state))
		return -1;
	late->kind = &auxt_trigger_latency;
	return auxt_trigger_latency.attach(late, &arg);
}

static int end_latency(void **state)
{
	unsigned int before = shim_grace_periods;

	auxt_trigger_latency.detach(late);
	/* Hits on other CPUs that have seen the bits have ended by then. */
	assert_int_equal(shim_grace_periods, before + 1);
	assert_int_equal(triggers[0].starts | triggers[1].stops, 0);
	assert_int_equal((triggers[0].is | triggers[1].is) & TRIGGER_IS_CLOCK, 0);
	assert_null(shim_process_exit.probe);
	return end_tasks(state);
}

static void at(unsigned int who, int which)
{
	shim_current = task(who);
	auxt_trigger_hit(&triggers[which], 0);
}

static void more_than_the_bound_is_a_hit(void **state)
{
	at(0, 0);
	tsc += 50;
	at(0, 1);
	counted(late, 0, 0, 0, 0);
	at(0, 0);
	tsc += 51;
	/* A hit of another task does not stop the clock. */
	at(1, 1);
	counted(late, 0, 0, 0, 0);
	at(0, 1);
	counted(late, 1, 0, 0, 0);
	assert_int_equal(asked[nr_asked - 2].request.trigger, 3);
	assert_int_equal(asked[nr_asked - 2].value, 51);
	/* The clock is stopped. */
	tsc += 100;
	at(0, 1);
	counted(late, 1, 0, 0, 0);
	/* The newest start counts. */
	at(0, 0);
	tsc += 100;
	at(0, 0);
	tsc += 10;
	at(0, 1);
	counted(late, 1, 0, 0, 0);
	/* On a CPU whose clock is behind. */
	at(0, 0);
	tsc -= 20;
	at(0, 1);
	counted(late, 1, 0, 0, 0);
}

static void a_full_bucket_is_counted(void **state)
{
	for (unsigned int i = 0; i <= PLACES; i++)
		at(i, 0);
	counted(late, 0, 0, 0, 1);
	tsc += 100;
	for (unsigned int i = 0; i <= PLACES; i++)
		at(i, 1);
	counted(late, PLACES, 0, 0, 1);
	/* All places are free again. */
	for (unsigned int i = 0; i < PLACES; i++)
		at(i, 0);
	counted(late, PLACES, 0, 0, 1);
}

static void exit_of(unsigned int who)
{
	void (*probe)(void *data, struct task_struct *task) = shim_process_exit.probe;

	shim_current = task(who);
	shim_current->flags |= PF_EXITING;
	probe(shim_process_exit.data, shim_current);
}

static void an_exit_leaves_no_clock(void **state)
{
	for (unsigned int i = 0; i < PLACES; i++)
		at(i, 0);
	exit_of(3);
	/* An exiting task starts no clock. */
	at(3, 0);
	counted(late, 0, 0, 0, 1);
	/* A new task at its address has no clock. */
	task(3)->flags = 0;
	tsc += 100;
	at(3, 1);
	counted(late, 0, 0, 0, 1);
	/* Another task can use its place. */
	at(PLACES, 0);
	counted(late, 0, 0, 0, 1);
}

static void stop_clock(void)
{
	auxt_trigger_hit(&triggers[1], 0);
}

static void an_nmi_at_the_table_is_missed_or_right(void **state)
{
	/* At its first point the hit has not begun: whatever it does, no clock is lost. */
	at(0, 0);
	tsc += 100;
	nested = stop_clock;
	at(0, 1);
	assert_int_equal(late->counts->acted + late->counts->missed, 1);
	at(0, 0);
	tsc += 100;
	at(0, 1);
	assert_int_equal(late->counts->acted + late->counts->missed, 2);
}

static void start_clock(void)
{
	auxt_trigger_hit(&triggers[0], 0);
}

/*
 * An NMI while the table is in use changes nothing in it, and is missed. The hit that it interrupts
 * always has its way.
 */
static void an_nmi_wherever_it_lands_is_missed_or_right(void **state)
{
	static void (*const hits[])(void) = { start_clock, stop_clock };

	for (unsigned int i = 0; i < 4; i++) {
		bool outer = i & 1, nmi = i & 2, landed = true;
		unsigned int n, missed = 0;

		for (n = 0; landed; n++) {
			u64 acted;

			memset(counts, 0, sizeof(counts));
			if (outer)
				at(0, 0);
			tsc += 100;
			nested = hits[nmi];
			points = n;
			at(0, outer);
			landed = !nested;
			nested = NULL;
			points = 0;
			assert_true(late->counts->missed <= 1);
			missed += late->counts->missed;
			tsc += 100;
			at(0, 1);
			acted = late->counts->acted;
			/* A start after a stop, or the other way round, is right as well. */
			if (!landed || late->counts->missed || outer == nmi)
				assert_int_equal(acted, 1);
			/* There has been one clock, which is stopped. */
			at(0, 1);
			assert_int_equal(late->counts->acted, acted);
		}
		assert_true(n > 10);
		assert_true(missed > 0);
	}
}

/* A thread that is not a member neither starts nor stops a clock, and is never late. */
static void a_clock_runs_for_members(void **state)
{
	triggers[0].is |= TRIGGER_IS_OF_MEMBERS;
	triggers[1].is |= TRIGGER_IS_OF_MEMBERS;
	late->is |= TRIGGER_IS_OF_MEMBERS;
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK);
	at(0, 0);
	counted(&triggers[0], 0, 1, 0, 0);
	tsc += 100;
	at(0, 1);
	counted(&triggers[1], 0, 1, 0, 0);
	/* None was started. */
	atomic_set(&channels[0].inhibit, 0);
	at(0, 1);
	counted(late, 0, 0, 0, 0);

	/* A member's goes on while others hit the same triggers. */
	at(1, 0);
	tsc += 40;
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK);
	at(0, 0);
	at(0, 1);
	tsc += 40;
	atomic_set(&channels[0].inhibit, 0);
	at(1, 1);
	counted(late, 1, 0, 0, 0);

	/* At the channel of another session a clock runs, as without a scope. */
	channels[0].triggers = NULL;
	atomic_set(&channels[0].inhibit, AUXTRACE_INHIBIT_TASK);
	at(2, 0);
	channels[0].triggers = set;
	atomic_set(&channels[0].inhibit, 0);
	tsc += 100;
	at(2, 1);
	counted(late, 2, 0, 0, 0);
}

/* Its bit in the masks of the others is the lowest. */
static void a_clock_may_be_the_first_trigger(void **state)
{
	const struct auxtrace_trigger arg = { .a = 2, .b = 4, .bound_ns = 50 };

	triggers[0].kind = &auxt_trigger_latency;
	triggers[1].is = TRIGGER_IS_COUNTED;
	assert_int_equal(auxt_trigger_latency.attach(&triggers[0], &arg), 0);
	at(0, 1);
	tsc += 51;
	at(0, 3);
	counted(&triggers[0], 1, 0, 0, 0);
	auxt_trigger_latency.detach(&triggers[0]);
	assert_int_equal(triggers[1].is, TRIGGER_IS_COUNTED);
	assert_int_equal(triggers[3].is, 0);
}

static void a_kernel_without_the_tracepoint_is_told(void **state)
{
	const struct auxtrace_trigger arg = { .a = 1, .b = 2, .bound_ns = 50 };

	late->kind = &auxt_trigger_latency;
	shim_process_exit.name = "another";
	assert_int_equal(auxt_trigger_latency.attach(late, &arg), -ENOENT);
	shim_process_exit.name = "sched_process_exit";
	assert_int_equal(triggers[0].starts | triggers[1].stops, 0);
}

static void clocks_of_clocks_are_refused(void **state)
{
	const struct auxtrace_trigger arg = { .a = 3, .b = 2, .bound_ns = 50 };
	const struct auxtrace_trigger own = { .a = 4, .b = 2, .bound_ns = 50 };
	const struct auxtrace_trigger none = { .a = 1, .b = 9, .bound_ns = 50 };
	const struct auxtrace_trigger zero = { .a = 1, .b = 2 };

	triggers[3].kind = &auxt_trigger_latency;
	assert_int_equal(auxt_trigger_latency.attach(&triggers[3], &arg), -EINVAL);
	assert_int_equal(auxt_trigger_latency.attach(&triggers[3], &own), -ENOENT);
	assert_int_equal(auxt_trigger_latency.attach(&triggers[3], &none), -ENOENT);
	assert_int_equal(auxt_trigger_latency.attach(&triggers[3], &zero), -EINVAL);
}

/* ---- kinds --------------------------------------------------------------- */

/* A timer uses none of them but the bound. */
static void each_member_that_a_kind_does_not_use_is_named(void **state)
{
	static const struct {
		struct auxtrace_trigger trigger;
		const char *name;
	} cases[] = {
		{ { .attr = 1 }, "attr" }, { { .attr_len = 1 }, "attr" },
		{ { .number = 1 }, "number" }, { { .address = 1 }, "address" },
		{ { .name = 1 }, "name" }, { { .name_len = 1 }, "name" },
		{ { .a = 1 }, "a and b" }, { { .b = 1 }, "a and b" },
	};

	const struct auxtrace_trigger timer = { .kind = AUXTRACE_TRIGGER_TIMER, .bound_ns = 1 };
	const struct auxtrace_trigger probe = { .kind = AUXTRACE_TRIGGER_KPROBE, .bound_ns = 1 };

	assert_null(auxt_trigger_unused(&timer));
	assert_string_equal(auxt_trigger_unused(&probe), "bound_ns");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct auxtrace_trigger t = cases[i].trigger;
		const char *unused;

		t.kind = AUXTRACE_TRIGGER_TIMER;
		unused = auxt_trigger_unused(&t);
		assert_non_null(unused);
		assert_string_equal(unused, cases[i].name);
	}
}

static void members_and_properties_have_bits_of_their_own(void **state)
{
	static const u32 bits[] = {
		USES_ATTR, USES_NUMBER, USES_ADDRESS, USES_NAME, USES_BOUND, USES_OTHERS,
		USES_LIMITS, USES_ALL_CPUS, USES_DELAY, USES_SAMPLE,
		TRIGGER_IS_COUNTED << 16, TRIGGER_IS_CLOCK << 16, TRIGGER_IS_DELAYED << 16,
		TRIGGER_IS_BROADCAST << 16, TRIGGER_IS_OF_PROCESS << 16, TRIGGER_IS_OF_MEMBERS << 16,
	};
	u32 seen = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++) {
		assert_true(bits[i] && !(bits[i] & (bits[i] - 1)));
		assert_false(seen & bits[i]);
		seen |= bits[i];
	}
}

/* ---- remote ------------------------------------------------------------- */

static void send(int cpu, u32 action, u32 id)
{
	const struct auxt_request request = { .action = action, .trigger = id };

	auxt_inhibit_broadcast(&channels[cpu], &request);
}

static void run_work(int cpu)
{
	irq_work_sync(&channels[cpu].remote.work);
}

/* The CPU runs its call. The csd is free again before that, as in the kernel. */
static void take_call(int cpu)
{
	call_single_data_t *csd = called[cpu];

	called[cpu] = NULL;
	on_cpu = cpu;
	auxt_attached[0] = &channels[cpu];
	if (csd)
		csd->func(csd->info);
}

static void the_last_word_wins_on_each_cpu(void **state)
{
	send(0, AUXTRACE_ACTION_PAUSE, 1);
	send(0, AUXTRACE_ACTION_RESUME, 2);
	run_work(0);
	assert_null(called[0]);
	take_call(1);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0].request.action, AUXTRACE_ACTION_RESUME);
	assert_int_equal(asked[0].request.trigger, 2);
	assert_false(asked[0].request.all_cpus);
	/* CPU 2 is slow: it carries out only the newest request, once. */
	send(1, AUXTRACE_ACTION_PAUSE, 3);
	run_work(1);
	take_call(2);
	take_call(2);
	assert_int_equal(nr_asked, 2);
	assert_int_equal(asked[1].request.action, AUXTRACE_ACTION_PAUSE);
	assert_int_equal(asked[1].request.trigger, 3);
	/* A CPU that has taken its call is called again. */
	send(1, AUXTRACE_ACTION_RESUME, 4);
	run_work(1);
	take_call(2);
	assert_int_equal(nr_asked, 3);
	assert_int_equal(asked[2].request.trigger, 4);
}

/* A call that could not be sent is not waited for. */
static void a_cpu_that_was_offline_is_called_again(void **state)
{
	offline = 1;
	send(0, AUXTRACE_ACTION_PAUSE, 1);
	run_work(0);
	assert_null(called[1]);
	assert_non_null(called[2]);
	called[2] = NULL;
	offline = -1;
	atomic64_set(&channels[2].remote.called, 0);
	send(0, AUXTRACE_ACTION_RESUME, 2);
	run_work(0);
	take_call(1);
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0].request.trigger, 2);
}

static void a_freeze_does_not_replace_a_toggle(void **state)
{
	send(0, AUXTRACE_ACTION_RESUME, 1);
	send(0, AUXTRACE_ACTION_FREEZE, 0xffffffff);
	run_work(0);
	take_call(1);
	assert_int_equal(nr_asked, 2);
	assert_int_equal(asked[0].request.action, AUXTRACE_ACTION_RESUME);
	assert_int_equal(asked[1].request.action, AUXTRACE_ACTION_FREEZE);
	assert_int_equal(asked[1].request.trigger, 0xffffffff);
}

static void a_freeze_is_reported_when_all_have_it(void **state)
{
	send(0, AUXTRACE_ACTION_PAUSE, 1);
	assert_false(auxt_remote_is_sending_freeze(&channels[0].remote));
	run_work(0);
	assert_false(channels[0].wake.queued);
	send(0, AUXTRACE_ACTION_FREEZE, 2);
	assert_true(auxt_remote_is_sending_freeze(&channels[0].remote));
	run_work(0);
	assert_true(auxt_remote_is_pending(&channels[1].remote));
	assert_true(auxt_remote_is_pending(&channels[2].remote));
	assert_false(auxt_remote_is_sending_freeze(&channels[0].remote));
	assert_true(channels[0].wake.queued);
	/* Once. */
	channels[0].wake.queued = false;
	send(0, AUXTRACE_ACTION_PAUSE, 2);
	run_work(0);
	assert_false(channels[0].wake.queued);
}

/* The call runs after the RESUME, as the kernel runs calls first that somebody waits for. */
static void a_freeze_on_its_way_does_not_come_after_a_resume(void **state)
{
	send(0, AUXTRACE_ACTION_FREEZE, 7);
	run_work(0);
	channels[1].attached = true;
	channels[2].attached = false;
	for (int cpu = 1; cpu <= 2; cpu++) {
		on_cpu = cpu;
		auxt_attached[0] = channels[cpu].attached ? &channels[cpu] : NULL;
		assert_true(auxt_remote_has_freeze(&channels[cpu].remote));
		auxt_remote_thaw(&channels[cpu]);
		assert_false(auxt_remote_has_freeze(&channels[cpu].remote));
	}
	assert_int_equal(nr_asked, 1);
	assert_int_equal(asked[0].request.action, AUXTRACE_ACTION_FREEZE);
	assert_int_equal(asked[0].request.trigger, 7);
	take_call(1);
	take_call(2);
	assert_int_equal(nr_asked, 1);
	/* Nor does a FREEZE that has not even been sent, as this CPU runs its call first. */
	channels[0].attached = true;
	send(0, AUXTRACE_ACTION_FREEZE, 8);
	assert_true(auxt_remote_has_freeze(&channels[0].remote));
	auxt_remote_thaw(&channels[0]);
	run_work(0);
	assert_null(called[1]);
	assert_int_equal(nr_asked, 1);
}

static void a_detached_channel_keeps_the_word_until_it_is_back_or_forgets(void **state)
{
	call_single_data_t *csd;

	send(0, AUXTRACE_ACTION_PAUSE, 1);
	run_work(0);
	for (int cpu = 1; cpu <= 2; cpu++) {
		csd = called[cpu];
		called[cpu] = NULL;
		auxt_attached[0] = NULL;
		csd->func(csd->info);
	}
	assert_int_equal(nr_asked, 0);
	auxt_attached[0] = &channels[1];
	auxt_remote_run(&channels[1]);
	assert_int_equal(nr_asked, 1);
	auxt_attached[0] = &channels[2];
	auxt_remote_forget(&channels[2]);
	auxt_remote_run(&channels[2]);
	assert_int_equal(nr_asked, 1);
	atomic64_set(&channels[2].remote.in_freeze, AUXT_REMOTE_WORD(AUXTRACE_ACTION_FREEZE, 1));
	auxt_remote_forget(&channels[2]);
	auxt_remote_run(&channels[2]);
	assert_int_equal(nr_asked, 1);
	/* Requests that have not been sent are dropped, too. */
	for (int i = 0; i < 2; i++) {
		send(0, i ? AUXTRACE_ACTION_PAUSE : AUXTRACE_ACTION_FREEZE, 1);
		auxt_remote_forget(&channels[0]);
		run_work(0);
		assert_null(called[1]);
	}
}

static void all_take_their_calls(void)
{
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		take_call(cpu);
}

/*
 * CPU 1 closes the session while the IPI of an asynchronous call is on its way to it. A call to
 * itself does not wait for that IPI. Afterwards no call may be left: the channels are freed.
 */
static void a_flush_waits_for_calls_to_its_own_cpu(void **state)
{
	send(0, AUXTRACE_ACTION_PAUSE, 1);
	run_work(0);
	assert_non_null(called[1]);
	assert_non_null(called[2]);
	on_cpu = 1;
	/* The IPIs arrive as soon as the code under test looks. */
	nested = all_take_their_calls;
	auxt_remote_flush(&group);
	nested = NULL;
	for (int cpu = 0; cpu < NR_CPUS; cpu++)
		assert_null(called[cpu]);
}

int main(void)
{
#define LATENCY(test)	cmocka_unit_test_setup_teardown(test, begin_latency, end_latency)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_hit_is_counted_once, begin),
		cmocka_unit_test_setup(a_hit_of_a_busy_channel_is_missed, begin),
		cmocka_unit_test_setup(all_cpus_are_asked_unless_all_are_so, begin),
		cmocka_unit_test_setup(a_process_of_others_does_not_hit, begin),
		cmocka_unit_test_setup(after_hits_and_count, begin),
		cmocka_unit_test_setup(a_counted_hit_without_a_channel_is_idle, begin),
		cmocka_unit_test_setup(armed_while_it_is_missed_it_acts_once, begin),
		cmocka_unit_test_setup(hold_off, begin),
		cmocka_unit_test_setup(of_two_hits_at_once_one_acts_and_one_is_counted, begin),
		cmocka_unit_test_setup(a_missed_hit_begins_no_hold_off, begin),
		cmocka_unit_test_setup(a_counted_trigger_whose_state_holds_makes_no_request, begin),
		cmocka_unit_test_setup(a_counted_freeze_waits_until_it_can_freeze, begin),
		cmocka_unit_test_setup(without_an_action_it_is_held, begin),
		cmocka_unit_test_setup(a_hit_of_a_thread_that_is_no_member_is_held, begin),
		cmocka_unit_test_setup(a_hit_with_nothing_but_the_scope_acts_for_members, begin),
		cmocka_unit_test_setup(a_hit_at_the_channel_of_another_scope_is_idle, begin),
		LATENCY(more_than_the_bound_is_a_hit),
		LATENCY(a_full_bucket_is_counted),
		LATENCY(an_exit_leaves_no_clock),
		LATENCY(an_nmi_at_the_table_is_missed_or_right),
		LATENCY(an_nmi_wherever_it_lands_is_missed_or_right),
		LATENCY(a_clock_runs_for_members),
		cmocka_unit_test_setup(a_kernel_without_the_tracepoint_is_told, begin),
		cmocka_unit_test_setup_teardown(a_clock_may_be_the_first_trigger, begin_tasks, end_tasks),
		LATENCY(clocks_of_clocks_are_refused),
		cmocka_unit_test(each_member_that_a_kind_does_not_use_is_named),
		cmocka_unit_test(members_and_properties_have_bits_of_their_own),
		cmocka_unit_test_setup(the_last_word_wins_on_each_cpu, begin),
		cmocka_unit_test_setup(a_cpu_that_was_offline_is_called_again, begin),
		cmocka_unit_test_setup(a_freeze_does_not_replace_a_toggle, begin),
		cmocka_unit_test_setup(a_freeze_is_reported_when_all_have_it, begin),
		cmocka_unit_test_setup(a_freeze_on_its_way_does_not_come_after_a_resume, begin),
		cmocka_unit_test_setup(a_detached_channel_keeps_the_word_until_it_is_back_or_forgets,
				       begin),
		cmocka_unit_test_setup(a_flush_waits_for_calls_to_its_own_cpu, begin),
	};

	return cmocka_run_group_tests_name("trigger", tests, NULL, NULL);
}
