// SPDX-License-Identifier: GPL-2.0-only
#include <sys/mman.h>

#include "channel_case.h"

static void a_trigger_pauses_and_resumes_and_its_id_is_recorded(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	assert_true(trigger(AUXTRACE_ACTION_PAUSE, 5));
	assert_int_equal(hw.offs, 1);
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_TRIGGER);
	assert_int_equal(reported.window.begin_trigger, 0);
	assert_int_equal(reported.window.end_trigger, 5);
	assert_int_equal(reported.trigger.trigger, 5);
	assert_int_equal(reported.trigger.action, AUXTRACE_ACTION_PAUSE);
	assert_int_equal(reported.trigger.position, hw.position);

	/* The channel is paused already: no MSR access, no record. */
	assert_true(trigger(AUXTRACE_ACTION_PAUSE, 6));
	assert_int_equal(hw.offs, 1);
	check();
	assert_int_equal(reported.triggers, 1);

	/* A PAUSE of the user overrides triggers. */
	auxt_channel_pause(channel, NULL);
	assert_true(trigger(AUXTRACE_ACTION_RESUME, 4));
	check();
	assert_false(hw.on);
	auxt_channel_resume(channel, NULL);
	check();
	assert_true(hw.on);
	assert_true(trigger(AUXTRACE_ACTION_PAUSE, 5));
	window_was(2, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_TRIGGER);
	assert_int_equal(reported.window.begin_trigger, 0);
	assert_true(trigger(AUXTRACE_ACTION_RESUME, 4));
	auxt_channel_pause(channel, NULL);
	window_was(3, AUXTRACE_CAUSE_TRIGGER, AUXTRACE_CAUSE_USER);
	assert_int_equal(reported.window.begin_trigger, 4);
	assert_int_equal(reported.window.end_trigger, 0);
	unmake();
}

static void a_freeze_stops_both_until_a_resume(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	irq_work_sync(&channel->wake);
	group.waiters.woken = 0;
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_TRIGGER);
	assert_int_equal(reported.window.end_trigger, 9);
	assert_int_equal(reported.trigger.action, AUXTRACE_ACTION_FREEZE);
	assert_int_equal(status_page.frozen_by, 9);
	assert_int_equal(status_page.data_paused, 2);	/* bit 1, by the ABI */
	irq_work_sync(&channel->wake);
	assert_int_equal(group.waiters.woken, 1);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 10));
	assert_true(trigger(AUXTRACE_ACTION_RESUME, 4));
	assert_int_equal(status_page.frozen_by, 9);
	assert_false(hw.on);
	auxt_channel_resume(channel, NULL);
	assert_true(hw.on);
	assert_int_equal(status_page.data_paused, 0);
	/* The user resumed it, although a trigger had done so before. */
	auxt_channel_pause(channel, NULL);
	window_was(2, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_USER);
	assert_int_equal(reported.window.begin_trigger, 0);
	auxt_channel_resume(channel, NULL);
	/* A FREEZE that another CPU has sent is older than the RESUME: it takes effect first. */
	atomic64_set(&channel->remote.in_freeze, AUXT_REMOTE_WORD(AUXTRACE_ACTION_FREEZE, 11));
	auxt_channel_resume(channel, NULL);
	window_was(3, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_TRIGGER);
	assert_int_equal(reported.window.end_trigger, 11);
	assert_int_equal(status_page.frozen_by, 11);
	assert_true(hw.on);
	assert_int_equal(status_page.data_paused, 0);
	unmake();
}

static void what_a_frozen_ring_does_not_take_is_reported_at_the_resume(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	check();
	for (int i = 0; i < 3; i++)
		sample(64);
	assert_int_equal(status_page.data_lost, 3);
	auxt_channel_resume(channel, NULL);
	read_records();
	assert_int_equal(reported.lost, 3);
	unmake();
}

/* Readers that wait only for a freeze are woken, although there was unread data before. */
static void a_freeze_wakes_readers_that_have_not_read(void **state)
{
	make_with((struct auxtrace_setup) { });
	start(false);
	run_until_full();
	hw.rate = 0;
	irq_work_sync(&channel->wake);
	assert_true(auxt_channel_is_readable(channel, false));
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	unmake();
}

/*
 * An NMI's freeze at any point of a sync of a running channel, or of a RESUME, which may
 * end an earlier freeze: all windows are recorded before the freeze, and waiting readers are
 * woken. Returns false if the NMI did not land.
 */
static bool freeze_at(long at, bool resume, bool again, enum nmi what)
{
	bool landed;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	if (again)
		assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	irq_work_sync(&channel->wake);
	nmi.what = what;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	if (resume)
		auxt_channel_resume(channel, NULL);
	else
		auxt_settle_sync(channel);
	landed = nmi.landed;
	check();
	assert_int_equal(status_page.data_lost, 0);
	assert_int_equal(!!(channel->is & AUXT_IS_FROZEN), !hw.on);
	if (channel->is & AUXT_IS_FROZEN) {
		assert_int_equal(status_page.frozen_by, 12);
		assert_int_equal(reported.trigger.trigger, 12);
		assert_int_equal(reported.trigger.position, hw.position);
		assert_int_equal(reported.tail, status_page.data_head);
		assert_int_equal(status_page.data_paused, AUXTRACE_DATA_FROZEN);
		assert_true(channel->wake.queued);
	} else {
		assert_int_equal(status_page.data_paused, 0);
	}
	/* Either all channels are frozen or none is. */
	assert_int_equal(!!atomic64_read(&channel->remote.out_freeze),
			 channel->is & AUXT_IS_FROZEN && what == NMI_FREEZE_ALL);
	irq_work_sync(&channel->wake);
	unmake();
	return landed;
}

static void a_freeze_at_any_place_is_recorded_last(void **state)
{
	long at = 0;

	while (freeze_at(at, false, false, NMI_FREEZE) &&
	       freeze_at(at, false, false, NMI_FREEZE_ALL))
		at++;
	assert_true(at > 20);
}

static void a_freeze_at_any_place_of_a_resume_is_another(void **state)
{
	long at = 0;

	while (freeze_at(at, true, true, NMI_FREEZE) &&
	       freeze_at(at, true, true, NMI_FREEZE_ALL))
		at++;
	assert_true(at > 20);
}

/* The RESUME drops a freeze that came before it took effect, on all CPUs. */
static void a_freeze_at_any_place_of_a_resume_is_on_all_cpus_or_none(void **state)
{
	long at = 0;

	while (freeze_at(at, true, false, NMI_FREEZE_ALL))
		at++;
	assert_true(at > 20);
}

/*
 * Within a FREEZE of all CPUs, at any point, an NMI brings another one. Both requests count as
 * acted (out_acted of struct auxtrace_trigger_state), and one of them froze the channel.
 */
static bool freeze_within_freeze_at(long at)
{
	const struct auxt_request first = {
		.action = AUXTRACE_ACTION_FREEZE, .trigger = 9, .all_cpus = true,
	};
	bool landed;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	nmi.what = NMI_FREEZE_ALL;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	assert_true(auxt_request_make(channel, &first, 90));
	landed = nmi.landed;
	check();
	assert_true(channel->is & AUXT_IS_FROZEN);
	assert_false(channel->freezing);
	/* The same one in all places: what is sent, on the page, in the records, with its value. */
	assert_int_equal(take_broadcast(),
			 AUXT_REMOTE_WORD(AUXTRACE_ACTION_FREEZE, status_page.frozen_by));
	assert_int_equal(reported.triggers, 1);
	assert_int_equal(reported.trigger.trigger, status_page.frozen_by);
	assert_int_equal(reported.window.end_trigger, status_page.frozen_by);
	assert_int_equal(channel->frozen_by.request.trigger, status_page.frozen_by);
	assert_int_equal(channel->frozen_by.value, status_page.frozen_by * 10);
	assert_int_equal(reported.trigger.value, status_page.frozen_by * 10);
	unmake();
	return landed;
}

static void of_two_freezes_one_is_the_first_in_all_places(void **state)
{
	long at = 0;

	while (freeze_within_freeze_at(at))
		at++;
	assert_true(at > 20);
}

/*
 * A trigger has paused the channel. At any point of a RESUME ioctl an NMI brings a trigger's RESUME.
 * The ioctl clears no reason, so the window is the trigger's. If a user has paused the channel,
 * too, the window is the one's who cleared the last reason.
 */
static bool resume_within_resume_at(long at, bool paused)
{
	struct auxtrace_effect effect;
	bool landed, user;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	trigger(AUXTRACE_ACTION_PAUSE, 7);
	if (paused)
		auxt_channel_pause(channel, NULL);
	nmi.what = NMI_RESUME;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	auxt_channel_resume(channel, &effect);
	landed = nmi.landed;
	check();
	if (landed) {
		assert_true(hw.on);
		user = status_page.resumes_done;
		assert_true(paused || !user);
		assert_int_equal(effect.flags, user ? AUXTRACE_EFFECT_CHANGED : 0);
		auxt_channel_pause(channel, NULL);
		window_was(2, user ? AUXTRACE_CAUSE_USER : AUXTRACE_CAUSE_TRIGGER,
			   AUXTRACE_CAUSE_USER);
		assert_int_equal(reported.window.begin_trigger, user ? 0 : 8);
	}
	unmake();
	return landed;
}

static void a_window_that_a_trigger_begins_within_a_resume_is_the_triggers(void **state)
{
	for (int paused = 0; paused < 2; paused++) {
		long at = 0;

		while (resume_within_resume_at(at, paused))
			at++;
		assert_true(at > 20);
	}
}

/* The CPUs of the session share it, and each hit reads it. */
static void a_request_of_one_cpu_writes_nothing_that_others_read(void **state)
{
	struct auxt_group *shared = mmap(NULL, sizeof(group), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_true(shared != MAP_FAILED);
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	memcpy(shared, &group, sizeof(group));
	/* A write faults. */
	assert_int_equal(mprotect(shared, sizeof(group), PROT_READ), 0);
	channel->group = shared;
	assert_true(trigger(AUXTRACE_ACTION_PAUSE, 5));
	assert_true(trigger(AUXTRACE_ACTION_RESUME, 4));
	assert_true(trigger(AUXTRACE_ACTION_RESUME, 4));
	channel->group = &group;
	assert_int_equal(munmap(shared, sizeof(group)), 0);
	check();
	assert_int_equal(reported.triggers, 2);
	unmake();
}

static void what_all_are_asked_for_is_sent_once_until_one_differs(void **state)
{
	struct auxt_request request = {
		.action = AUXTRACE_ACTION_PAUSE, .trigger = 3, .all_cpus = true,
	};

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	auxt_request_make(channel, &request, 0);
	assert_int_equal(take_broadcast(), AUXT_REMOTE_WORD(AUXTRACE_ACTION_PAUSE, 3));
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_PAUSE);
	/* A request for one channel alone resets last_broadcast. */
	trigger(AUXTRACE_ACTION_RESUME, 4);
	assert_int_equal(group.last_broadcast, 0);
	trigger(AUXTRACE_ACTION_PAUSE, 5);
	assert_int_equal(group.last_broadcast, 0);
	assert_int_equal(take_broadcast(), 0);
	/* This channel does not change, but another may. */
	auxt_request_make(channel, &request, 0);
	assert_int_equal(take_broadcast(), AUXT_REMOTE_WORD(AUXTRACE_ACTION_PAUSE, 3));
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_PAUSE);
	/* Requests for one channel that agree with it, or change nothing, leave it. */
	trigger(AUXTRACE_ACTION_PAUSE, 5);
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_PAUSE);
	group.last_broadcast = AUXTRACE_ACTION_RESUME;
	trigger(AUXTRACE_ACTION_PAUSE, 5);
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_RESUME);
	trigger(AUXTRACE_ACTION_RESUME, 4);
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_RESUME);
	/* As when this channel carries out what another CPU has sent to all. */
	group.last_broadcast = AUXTRACE_ACTION_PAUSE;
	trigger(AUXTRACE_ACTION_PAUSE, 5);
	assert_int_equal(group.last_broadcast, AUXTRACE_ACTION_PAUSE);
	/* Only the channel that freezes first sends the freeze. */
	request.action = AUXTRACE_ACTION_FREEZE;
	auxt_request_make(channel, &request, 0);
	assert_int_equal(take_broadcast(), AUXT_REMOTE_WORD(AUXTRACE_ACTION_FREEZE, 3));
	auxt_request_make(channel, &request, 0);
	assert_int_equal(take_broadcast(), 0);
	/* START resets it. */
	stop();
	start(false);
	assert_int_equal(group.last_broadcast, 0);
	check();
	unmake();
}

static void pause_by_trigger(void)
{
	trigger(AUXTRACE_ACTION_PAUSE, 5);
}

/* If a window ended because of a PAUSE, that is the recorded cause, even if an NMI undoes it. */
static void the_end_cause_of_a_window_is_recorded_even_if_it_is_undone(void **state)
{
	bool landed = true;

	for (long at = 0; landed; at++) {
		make(AUXTRACE_SETUP_OVERWRITE);
		start(false);
		landed = lands(NMI_RESUME, at, pause_by_trigger);
		check();
		if (reported.windows) {
			assert_int_equal(reported.window.end_cause, AUXTRACE_CAUSE_TRIGGER);
			assert_int_equal(reported.window.end_trigger, 5);
		}
		unmake();
	}
}

static void move_on(void)
{
	switch_slot();
}

/* A deferred request made at any point of a SNAPSHOT is carried out at its deadline. */
static void a_delay_within_a_snapshot_begins_at_once(void **state)
{
	bool landed = true;

	for (long at = 0; landed; at++) {
		make_slots();
		start(false);
		landed = lands(NMI_LATER, at, move_on);
		check();
		assert_true(!landed || channel->aux.deadline ||
			    status_page.inhibit & AUXTRACE_INHIBIT_TRIGGER);
		unmake();
	}
}

static void some_bytes_later_it_pauses_at_most_a_page_late(void **state)
{
	static const u64 delays[] = { 1, 100, 4096, 5000, SIZE - 1, SIZE, 3 * SIZE + 17, 9 * SIZE };

	for (size_t i = 0; i < sizeof(delays) / sizeof(delays[0]); i++) {
		struct auxt_request request = {
			.action = AUXTRACE_ACTION_PAUSE, .trigger = 6, .delay = delays[i],
		};
		u64 from;

		make(AUXTRACE_SETUP_OVERWRITE);
		start(false);
		assert_true(auxt_request_make(channel, &request, 0));
		assert_true(hw.on);
		from = channel->aux.deadline - delays[i];
		assert_true(from <= hw.position);
		/* Only one can be pending. */
		request.trigger = 7;
		assert_false(auxt_request_make(channel, &request, 0));
		while (hw.on) {
			hw_runs();
			if (hw.asserted)
				run_nmi(NMI_PMI);
		}
		assert_true(hw.position >= from + delays[i]);
		assert_true(hw.position < from + delays[i] + AUXT_PAGE_SIZE + 64);
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TRIGGER);
		window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_TRIGGER);
		assert_int_equal(reported.window.end_trigger, 6);
		assert_int_equal(reported.triggers, 1);
		assert_int_equal(channel->aux.deadline, 0);
		trigger(AUXTRACE_ACTION_RESUME, 8);
		assert_true(auxt_request_make(channel, &request, 0));
		unmake();
	}
}

static bool taken;

static void defer(void)
{
	const struct auxt_request request = {
		.action = AUXTRACE_ACTION_PAUSE, .trigger = 8, .delay = 500,
	};

	taken = auxt_request_make(channel, &request, 0);
}

/* Of two requests with a delay, one nested in the other, exactly one is taken. */
static void one_of_two_nested_delays_is_taken(void **state)
{
	bool landed = true;

	for (long at = 0; landed; at++) {
		make(AUXTRACE_SETUP_OVERWRITE);
		start(false);
		hw.rate = 0;
		nmi.deferred = false;
		landed = lands(NMI_DEFER, at, defer);
		assert_int_equal(taken + nmi.deferred, 1);
		assert_int_equal(channel->deferred.request.trigger, taken ? 8 : 9);
		assert_int_equal(channel->aux.deadline, hw.position + (taken ? 500 : 1000));
		unmake();
	}
}

static void forget_another(void)
{
	auxt_request_forget(channel, 9);
}

/* A deadline that passes while a trigger's deferred request is sought, and is another's, holds. */
static void what_others_asked_for_is_not_forgotten(void **state)
{
	bool landed = true;

	for (long at = 0; landed; at++) {
		make(AUXTRACE_SETUP_OVERWRITE);
		start(false);
		hw.rate = 0;
		defer();
		assert_true(taken);
		landed = lands(NMI_BYTES, at, forget_another);
		if (!landed || !nmi.wrote)
			run_nmi(NMI_BYTES);
		check();
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TRIGGER);
		window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_TRIGGER);
		assert_int_equal(reported.window.end_trigger, 8);
		unmake();
	}
}

static void what_was_to_be_done_later_is_forgotten(void **state)
{
	struct auxt_request request = {
		.action = AUXTRACE_ACTION_FREEZE, .trigger = 6, .delay = 5000,
	};

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	assert_true(auxt_request_make(channel, &request, 0));
	auxt_request_forget(channel, 5);
	assert_false(auxt_request_make(channel, &request, 0));
	auxt_request_forget(channel, 6);
	while (hw.position < 2 * SIZE) {
		hw_runs();
		if (hw.asserted)
			run_nmi(NMI_PMI);
	}
	assert_true(hw.on);
	/* There is none any more, whoever asks. */
	auxt_request_forget(channel, 7);
	assert_int_equal(channel->deferred.state, AUXT_PENDING_NONE);
	/* The next one has a deadline of its own. */
	assert_true(auxt_request_make(channel, &request, 0));
	assert_true(channel->aux.deadline > 2 * SIZE);
	assert_true(hw.on);
	stop();
	start(false);
	assert_int_equal(channel->aux.deadline, 0);
	assert_int_equal(channel->deferred.state, AUXT_PENDING_NONE);
	check();
	unmake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_trigger_pauses_and_resumes_and_its_id_is_recorded),
		cmocka_unit_test(a_freeze_stops_both_until_a_resume),
		cmocka_unit_test(what_a_frozen_ring_does_not_take_is_reported_at_the_resume),
		cmocka_unit_test(a_freeze_wakes_readers_that_have_not_read),
		cmocka_unit_test(a_freeze_at_any_place_is_recorded_last),
		cmocka_unit_test(a_freeze_at_any_place_of_a_resume_is_another),
		cmocka_unit_test(a_freeze_at_any_place_of_a_resume_is_on_all_cpus_or_none),
		cmocka_unit_test(of_two_freezes_one_is_the_first_in_all_places),
		cmocka_unit_test(a_window_that_a_trigger_begins_within_a_resume_is_the_triggers),
		cmocka_unit_test(a_request_of_one_cpu_writes_nothing_that_others_read),
		cmocka_unit_test(what_all_are_asked_for_is_sent_once_until_one_differs),
		cmocka_unit_test(the_end_cause_of_a_window_is_recorded_even_if_it_is_undone),
		cmocka_unit_test(a_delay_within_a_snapshot_begins_at_once),
		cmocka_unit_test(some_bytes_later_it_pauses_at_most_a_page_late),
		cmocka_unit_test(one_of_two_nested_delays_is_taken),
		cmocka_unit_test(what_others_asked_for_is_not_forgotten),
		cmocka_unit_test(what_was_to_be_done_later_is_forgotten),
	};

	return cmocka_run_group_tests_name("request", tests, NULL, NULL);
}
