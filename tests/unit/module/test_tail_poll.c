// SPDX-License-Identifier: GPL-2.0-only
#include "channel_case.h"

static void full_stop_stays_off_until_a_resume(void **state)
{
	for (int mark = 0; mark < 2; mark++)
	for (int again = 0; again < 2; again++) {
		struct auxtrace_effect effect;

		make(AUXTRACE_SETUP_FULL_STOP);
		start(false);
		if (mark) {
			while (!hw.stopped)
				hw_runs();
			/* The reader has freed space before the next sync. */
			auxt_channel_pause(channel, NULL);
			user_page.aux_tail = status_page.produced;
		} else {
			run_until_full();
			assert_true(auxt_channel_is_readable(channel, false));
			user_page.aux_tail = status_page.produced;
			auxt_settle_sync_tails(channel);
			auxt_settle_sync(channel);
			assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
			assert_int_equal(status_page.consumed, status_page.produced);
			/* All is read: the reader is not woken. */
			assert_false(auxt_channel_is_readable(channel, false));
			assert_false(auxt_settle_has_new_tail(channel));
		}
		check();
		assert_int_equal(status_page.gaps_full, 1);
		assert_int_equal(status_page.windows, 1);
		if (again) {
			stop();
			start(false);
		} else {
			auxt_channel_resume(channel, &effect);
			assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
		}
		check();
		assert_int_equal(status_page.inhibit, 0);
		assert_int_equal(status_page.windows, 2);
		assert_int_equal(status_page.gaps_full, 1);
		unmake();
	}
}

/* An interrupt finds that the STOP mark was met: off, however much space there is by then. */
static void full_stop_at_the_mark_stays_off_too(void **state)
{
	make(AUXTRACE_SETUP_FULL_STOP);
	start(false);
	while (hw.position < SIZE / 2)
		hw_runs();
	auxt_settle_sync(channel);
	while (!hw.stopped)
		hw_runs();
	user_page.aux_tail = status_page.produced;
	run_nmi(NMI_PMI);
	check();
	assert_int_equal(status_page.consumed, user_page.aux_tail);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
	auxt_channel_resume(channel, NULL);
	check();
	assert_int_equal(status_page.inhibit, 0);
	unmake();
}

static void full_auto_polls_the_tail_while_it_waits(void **state)
{
	make(AUXTRACE_SETUP_FULL_AUTO);
	start(false);
	assert_false(channel->tail_poll.queued);
	run_until_full();
	irq_work_sync(&channel->wake);
	assert_true(channel->tail_poll.queued);
	assert_int_equal(channel->tail_poll.period, 1000000);
	shim_expire(&channel->tail_poll);
	assert_true(channel->tail_poll.queued);
	assert_int_equal(channel->tail_poll.period, 1000000);
	/* It goes on by itself: nothing else starts it. */
	assert_false(auxt_tail_poll_is_due(channel));
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);

	user_page.aux_tail = status_page.produced;
	shim_expire(&channel->tail_poll);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 2);
	assert_false(channel->tail_poll.queued);

	/* Paused as well, it polls no tail until it is resumed. */
	run_until_full();
	irq_work_sync(&channel->wake);
	auxt_channel_pause(channel, NULL);
	shim_expire(&channel->tail_poll);
	assert_false(channel->tail_poll.queued);
	auxt_channel_resume(channel, NULL);
	irq_work_sync(&channel->wake);
	assert_true(channel->tail_poll.queued);

	/* A detach ends the poll. */
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_detach(channel);
	assert_false(channel->tail_poll.queued);
	irq_work_sync(&channel->wake);
	auxt_tail_poll_begin(channel);
	assert_false(channel->tail_poll.queued);
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_allow(channel, AUXTRACE_INHIBIT_OFFLINE);
	irq_work_sync(&channel->wake);
	assert_true(channel->tail_poll.queued);
	unmake();
}

/*
 * At each point of a tail poll, the area fills up again, or the other reason goes away that had
 * made the poll the last.
 */
static void full_auto_never_forgets_a_channel_that_waits(void **state)
{
	for (int how = 0; how < 2; how++)
	for (long at = 0; ; at++) {
		bool landed;

		/* Without records, since they would wake the reader, too. */
		make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_FULL_AUTO });
		start(false);
		run_until_full();
		irq_work_sync(&channel->wake);
		if (how)
			auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
		else
			user_page.aux_tail = status_page.produced;
		assert_true(channel->tail_poll.queued);
		nmi.what = how ? NMI_RESUME : NMI_FULL;
		nmi.at = at;
		nmi.points = 0;
		nmi.landed = false;
		shim_expire(&channel->tail_poll);
		landed = nmi.landed;
		check();
		irq_work_sync(&channel->wake);
		assert_int_equal(channel->tail_poll.queued,
				 status_page.inhibit == AUXTRACE_INHIBIT_FULL);
		unmake();
		if (landed)
			continue;
		assert_true(at > 3);
		break;
	}
}

static void without_full_auto_no_tail_poll_runs(void **state)
{
	for (int stops = 0; stops < 2; stops++) {
		make(stops ? AUXTRACE_SETUP_FULL_STOP : 0);
		start(false);
		run_until_full();
		irq_work_sync(&channel->wake);
		assert_false(channel->tail_poll.queued);
		unmake();
	}
}

/* Whatever NMIs do while the timer runs, a channel that waits is polled for. */
static void full_auto_survives_a_storm(void **state)
{
	u64 waits = 0;

	srand(9);
	make(AUXTRACE_SETUP_FULL_AUTO);
	start(false);
	for (int i = 0; i < 50000; i++) {
		nmi.one_in = 8;
		hw.rate = 4096;
		if (rand() % 2)
			user_page.aux_tail = status_page.produced;
		irq_work_sync(&channel->wake);
		shim_expire(&channel->tail_poll);
		for (int n = rand() % 20; n; n--)
			shim_point();
		check();
		irq_work_sync(&channel->wake);
		if (status_page.inhibit == AUXTRACE_INHIBIT_FULL) {
			waits++;
			assert_true(channel->tail_poll.queued);
		}
	}
	assert_true(waits > 1000);
	assert_true(status_page.windows > 1000);
	unmake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_stop_stays_off_until_a_resume),
		cmocka_unit_test(full_stop_at_the_mark_stays_off_too),
		cmocka_unit_test(full_auto_polls_the_tail_while_it_waits),
		cmocka_unit_test(full_auto_never_forgets_a_channel_that_waits),
		cmocka_unit_test(without_full_auto_no_tail_poll_runs),
		cmocka_unit_test(full_auto_survives_a_storm),
	};

	return cmocka_run_group_tests_name("tail_poll", tests, NULL, NULL);
}
