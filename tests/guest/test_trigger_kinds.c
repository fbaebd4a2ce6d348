// SPDX-License-Identifier: GPL-2.0-only
/* Each kind of trigger with each action: its effect, its records, its counts. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "pmu.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"

#define AUX_SIZE	space_for(1 << 20)
#define DATA_SIZE	(1 << 18)
#define TIMES		5
#define SAMPLE_SIZE	2048
#define CPU		1
#define ONE_CPU		(1ULL << CPU)

static const uint32_t setup_flags[] = {
	[AUXTRACE_ACTION_NONE] = AUXTRACE_SETUP_KERNEL,
	[AUXTRACE_ACTION_PAUSE] = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				  AUXTRACE_SETUP_OVERWRITE,
	[AUXTRACE_ACTION_RESUME] = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				   AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_TRIGGER_PAUSED,
	[AUXTRACE_ACTION_SAMPLE] = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				   AUXTRACE_SETUP_OVERWRITE,
	[AUXTRACE_ACTION_FREEZE] = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
				   AUXTRACE_SETUP_OVERWRITE,
};

/* The counts of the hits that came while the session was started. */
static void check_counts(const struct session *s, const struct source *from, uint32_t action,
			 uint32_t id)
{
	struct auxtrace_trigger_state st = trigger_read(s, id);
	uint64_t came = st.out_acted + st.out_held;

	print_message("%s: %llu hits, acted %llu held %llu idle %llu missed %llu\n", from->name,
		      st.out_hits, st.out_acted, st.out_held, st.out_idle, st.out_missed);
	assert_int_equal(st.out_missed, 0);
	if (action == AUXTRACE_ACTION_NONE)
		assert_int_equal(st.out_acted, 0);
	else if (action == AUXTRACE_ACTION_FREEZE)
		/* Later hits found the CPU frozen. */
		assert_int_equal(st.out_acted, 1);
	else
		assert_int_equal(st.out_held, 0);
	if (!from->happen)
		assert_true(came >= TIMES);
	else
		assert_in_range(came, TIMES, TIMES + from->slack);
}

static void check_page(const struct auxtrace_status_page *st, uint32_t action, uint32_t id)
{
	switch (action) {
	case AUXTRACE_ACTION_PAUSE:
		assert_int_equal(st->inhibit, AUXTRACE_INHIBIT_TRIGGER);
		assert_int_equal(st->windows, 1);
		break;
	case AUXTRACE_ACTION_NONE:
		/* A full trace: what the CPU ran meanwhile may have filled the area. */
		assert_int_equal(st->inhibit & ~AUXTRACE_INHIBIT_FULL, 0);
		assert_int_equal(st->windows, 1);
		break;
	case AUXTRACE_ACTION_RESUME:
	case AUXTRACE_ACTION_SAMPLE:
		assert_int_equal(st->inhibit, 0);
		assert_int_equal(st->windows, 1);
		break;
	case AUXTRACE_ACTION_FREEZE:
		assert_int_equal(st->inhibit, AUXTRACE_INHIBIT_FROZEN);
		assert_int_equal(st->windows, 1);
		assert_int_equal(st->frozen_by, id);
		assert_true(st->frozen_time >= st->window_end_time);
		assert_int_equal(st->data_paused, 2);
		break;
	}
	if (action != AUXTRACE_ACTION_FREEZE)
		assert_int_equal(st->frozen_by, 0);
}

/* The number of records of @type with trigger @id; *@newest is the newest of them. */
static unsigned int count_of(const struct records *r, uint32_t type, uint32_t id,
			     const union any_record **newest)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < r->count; i++) {
		const union any_record *rec = r->at[i];

		if (rec->header.type != type ||
		    (type == AUXTRACE_RECORD_TRIGGER && rec->trigger.trigger != id) ||
		    (type == AUXTRACE_RECORD_SAMPLE && rec->sample.trigger != id))
			continue;
		*newest = rec;
		n++;
	}
	return n;
}

static void check_trigger_record(const struct source *from, const struct auxtrace_record_trigger *t,
				 uint32_t action, uint64_t position)
{
	assert_int_equal(t->action, action);
	assert_int_equal(t->position, position);
	/* A timer or a counter may hit while another task runs. */
	if (!from->happen || from->slack)
		return;
	assert_int_equal(t->pid, getpid());
	assert_int_equal(t->tid, gettid());
	switch (from->kind) {
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
		assert_int_equal(t->value, CALL_NUMBER);
		break;
	case AUXTRACE_TRIGGER_LATENCY:
		/* The call sleeps at least as long as the bound. */
		assert_in_range(t->value, 1000000, 10000000000ULL);
		break;
	default:
		assert_int_equal(t->value, 0);
	}
}

static void check_records(const struct session *s, const struct source *from, uint32_t action,
			  uint32_t id, const struct auxtrace_status_page *rest)
{
	const struct channel *ch = &s->channel[0];
	const union any_record *newest = NULL, *ended = NULL;
	struct follower f;
	struct records r;
	unsigned int n;

	records_read_all(&r, ch);
	follower_init(&f, ch);
	follow(&f, &r, false);
	n = count_of(&r, AUXTRACE_RECORD_TRIGGER, id, &newest);
	assert_int_equal(n, action == AUXTRACE_ACTION_PAUSE || action == AUXTRACE_ACTION_RESUME ||
			    action == AUXTRACE_ACTION_FREEZE);
	assert_int_equal(count_of(&r, AUXTRACE_RECORD_WINDOW, 0, &ended), 1);
	switch (action) {
	case AUXTRACE_ACTION_PAUSE:
	case AUXTRACE_ACTION_FREEZE:
		check_trigger_record(from, &newest->trigger, action, rest->window_end);
		assert_int_equal(ended->window.end_cause, AUXTRACE_CAUSE_TRIGGER);
		assert_int_equal(ended->window.end_trigger, id);
		assert_int_equal(ended->window.begin_cause, AUXTRACE_CAUSE_SESSION);
		break;
	case AUXTRACE_ACTION_RESUME:
		check_trigger_record(from, &newest->trigger, action, rest->window_begin);
		assert_int_equal(ended->window.begin_cause, AUXTRACE_CAUSE_TRIGGER);
		assert_int_equal(ended->window.begin_trigger, id);
		assert_int_equal(ended->window.end_cause, AUXTRACE_CAUSE_SESSION);
		break;
	case AUXTRACE_ACTION_SAMPLE:
		assert_int_equal(count_of(&r, AUXTRACE_RECORD_SAMPLE, id, &newest),
				 trigger_read(s, id).out_acted);
		assert_int_equal(newest->sample.wanted, SAMPLE_SIZE);
		break;
	}
	/* The record of a freeze is the last: the ring is frozen, too. */
	if (action == AUXTRACE_ACTION_FREEZE)
		assert_ptr_equal(r.at[r.count - 1], newest);
	records_free(&r);
}

static void one(const struct source *from, uint32_t action)
{
	struct auxtrace_trigger t = trigger(from->kind, action);
	struct auxtrace_status_page rest;
	struct session s;
	uint32_t id;

	session_prepare(&s, ONE_CPU, setup_flags[action], AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	session_setup(&s);
	assert_int_equal(cpu_pin(CPU), 0);
	assert_true(from->complete(&s, &t));
	if (action == AUXTRACE_ACTION_SAMPLE)
		t.sample_size = SAMPLE_SIZE;
	/* Added before START. But if events come by themselves after it, so that none is idle. */
	if (!from->happen)
		ok_start(s.fd);
	id = trigger_add(&s, t);
	if (from->happen) {
		ok_start(s.fd);
		from->happen(TIMES);
	} else {
		trigger_wait_hits(&s, id, TIMES);
	}
	rest = channel_status(&s.channel[0]);
	assert_int_equal(poll_urgent(s.fd, 0), action == AUXTRACE_ACTION_FREEZE ? POLLPRI : 0);
	ok_stop(s.fd);
	check_page(&rest, action, id);
	check_counts(&s, from, action, id);
	check_records(&s, from, action, id, &rest);
	session_close(&s);
}

static void each(uint32_t action)
{
	for (unsigned int i = 0; i < nr_sources; i++)
		one(&sources[i], action);
}

static void each_kind_of_trigger_pauses(void **state)
{
	each(AUXTRACE_ACTION_PAUSE);
}

static void each_kind_of_trigger_resumes(void **state)
{
	each(AUXTRACE_ACTION_RESUME);
}

static void each_kind_of_trigger_samples(void **state)
{
	each(AUXTRACE_ACTION_SAMPLE);
}

static void each_kind_of_trigger_freezes(void **state)
{
	each(AUXTRACE_ACTION_FREEZE);
}

static void each_kind_of_trigger_counts_without_an_action(void **state)
{
	each(AUXTRACE_ACTION_NONE);
}

static void the_record_of_a_system_calls_exit_has_its_result(void **state)
{
	const union any_record *newest = NULL;
	struct session s;
	struct records r;
	uint32_t id;

	session_prepare(&s, ONE_CPU, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	session_setup(&s);
	assert_int_equal(cpu_pin(CPU), 0);
	id = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_EXIT, AUXTRACE_ACTION_PAUSE,
					     CALL_NUMBER));
	ok_start(s.fd);
	assert_int_equal(syscall(CALL_NUMBER, NULL), -1);
	assert_int_equal(errno, EFAULT);
	ok_stop(s.fd);
	records_read_all(&r, &s.channel[0]);
	assert_int_equal(count_of(&r, AUXTRACE_RECORD_TRIGGER, id, &newest), 1);
	assert_int_equal((int64_t)newest->trigger.value, -EFAULT);
	records_free(&r);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(each_kind_of_trigger_pauses),
		vm_test(each_kind_of_trigger_resumes),
		vm_test(each_kind_of_trigger_samples),
		vm_test(each_kind_of_trigger_freezes),
		vm_test(each_kind_of_trigger_counts_without_an_action),
		vm_test(the_record_of_a_system_calls_exit_has_its_result),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
