// SPDX-License-Identifier: GPL-2.0-only
#include "channel_case.h"

static void a_slot_is_retained_and_the_next_window_begins_in_another(void **state)
{
	struct auxtrace_cut cut;
	u64 end;

	make_slots();
	start(false);
	while (hw.position < SLOT_SIZE + 1000)
		hw_runs();
	cut = switch_slot();
	end = cut.aux_end;
	assert_int_equal(cut.inhibit, 0);
	assert_int_equal(cut.window, 1);
	assert_int_equal(cut.aux_begin, end - SLOT_SIZE);
	/* One stop, and one start with PSB+ in the other slot at the same offset. */
	assert_int_equal(hw.offs, 1);
	assert_int_equal(hw.ons, 2);
	assert_int_equal(hw.windows, 2);
	assert_int_equal(hw.slot, 1);
	assert_int_equal(status_page.window_end, end);
	assert_int_equal(status_page.window_begin, end);
	assert_int_equal(status_page.gaps, 0);
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_SNAPSHOT);
	assert_int_equal(reported.window.slot, 0);
	/* The cut contains the AUX record of all its trace. */
	assert_int_equal(cut.data_end - cut.data_begin,
			 sizeof(struct auxtrace_record_window) +
			 sizeof(struct auxtrace_record_itrace_start) +
			 sizeof(struct auxtrace_record_aux));

	auxt_channel_pause(channel, NULL);
	window_was(2, AUXTRACE_CAUSE_SNAPSHOT, AUXTRACE_CAUSE_USER);
	assert_int_equal(reported.window.slot, 1);
	assert_int_equal(reported.window.begin, end);
	unmake();
}

static void a_paused_channel_changes_its_slot_and_stays_paused(void **state)
{
	struct auxtrace_cut cut;

	make_slots();
	start(false);
	while (hw.position < 100)
		hw_runs();
	auxt_channel_pause(channel, NULL);
	cut = switch_slot();
	assert_int_equal(cut.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(cut.aux_begin, 0);
	assert_int_equal(cut.aux_end, hw.position);
	check();
	assert_int_equal(hw.offs, 1);
	assert_int_equal(hw.ons, 1);
	/* Nothing was written meanwhile: an empty cut. */
	cut = switch_slot();
	assert_int_equal(cut.aux_begin, cut.aux_end);
	assert_int_equal(cut.slot, 1);
	auxt_channel_resume(channel, NULL);
	check();
	assert_int_equal(hw.slot, 2);
	assert_int_equal(status_page.window_begin, cut.aux_end);
	unmake();
}

/* In place of a CPU that is offline: the next attach finds the slot. */
static void a_detached_channel_changes_its_slot(void **state)
{
	struct auxtrace_cut cut;

	make_slots();
	start(false);
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_detach(channel);
	cut = switch_slot();
	assert_int_equal(cut.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	check();
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_allow(channel, AUXTRACE_INHIBIT_OFFLINE);
	check();
	assert_int_equal(hw.slot, 1);
	assert_int_equal(status_page.gaps_offline, 1);
	unmake();
}

static void an_error_at_the_cut_is_an_error_and_the_slot_is_retained(void **state)
{
	struct auxtrace_cut cut;

	make_slots();
	start(false);
	hw.error = true;
	cut = switch_slot();
	assert_int_equal(cut.inhibit, AUXTRACE_INHIBIT_HWERROR);
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_ERROR);
	unmake();
}

static void a_snapshot_in_place_lets_the_window_go_on(void **state)
{
	struct auxtrace_cut cut;

	for (int mode = 0; mode < 2; mode++) {
		make(mode ? AUXTRACE_SETUP_OVERWRITE : 0);
		start(false);
		while (hw.position < SIZE / 4)
			hw_runs();
		user_page.aux_tail = 0;
		cut = cut_in_place(0);
		assert_int_equal(cut.inhibit, 0);
		assert_int_equal(cut.aux_begin, 0);
		assert_true(cut.aux_end >= SIZE / 4);
		assert_int_equal(cut.window, 1);
		assert_int_equal(hw.windows, 1);
		check();
		unmake();
	}
}

static void a_snapshot_with_pause_is_a_pause_of_trace_and_then_of_records(void **state)
{
	struct auxtrace_cut cut;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	while (hw.position < 1000)
		hw_runs();
	cut = cut_in_place(AUXTRACE_SNAPSHOT_PAUSE);
	assert_int_equal(cut.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(cut.aux_end, hw.position);
	assert_int_equal(status_page.pauses_asked, 1);
	assert_int_equal(status_page.pauses_done, 1);
	assert_int_equal(status_page.data_paused, 1);
	assert_int_equal(status_page.data_lost, 0);
	assert_int_equal(cut.data_end, status_page.data_head);
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_USER);
	unmake();
}

static int claimed;

static void claim(void)
{
	claimed = auxt_slots_claim_any(&channel->slots);
}

static void nested_claims_have_slots_of_their_own(void **state)
{
	bool landed = true;

	for (long at = 0; landed; at++) {
		make_slots();
		start(false);
		landed = lands(NMI_CLAIM, at, claim);
		assert_true(claimed > 0 && claimed < SLOTS);
		assert_int_equal(atomic64_read(&channel->slots.held),
				 1 | 1 << claimed | (landed ? 1 << nmi.slot : 0));
		if (landed) {
			assert_true(nmi.slot > 0 && nmi.slot < SLOTS);
			assert_int_not_equal(nmi.slot, claimed);
		}
		unmake();
	}
}

static void each_slot_is_claimed_once(void **state)
{
	for (u32 nr = 1; nr <= 64; nr++) {
		struct auxt_slots slots;

		auxt_slots_init(&slots, nr);
		/* Tracing holds the first. */
		assert_false(auxt_slots_claim(&slots, 0));
		for (u32 slot = 1; slot < nr; slot++)
			assert_int_equal(auxt_slots_claim_any(&slots), slot);
		assert_int_equal(auxt_slots_claim_any(&slots), -ENOSPC);
		auxt_slots_release(&slots, nr / 2);
		assert_int_equal(auxt_slots_claim_any(&slots), nr / 2);
	}
}

static void what_a_record_cannot_carry_goes_to_a_slot(void **state)
{
	/* Space for 4096 - 72 bytes of a sample, and a LOST record before it. */
	const struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE,
		.aux_size = MAX_SLOTS * SIZE, .data_size = MAX_SLOTS * 4096, .slots = MAX_SLOTS,
		.records = AUXTRACE_WANT_TRIGGER,
	};
	const u64 space = 4096 - AUXT_SAMPLE_FRAME - sizeof(struct auxtrace_record_lost);

	make_with(setup);
	start(false);
	run_to(SIZE + SIZE / 3);
	/* A SNAPSHOT has claimed a slot meanwhile. */
	assert_true(auxt_slots_claim(&channel->slots, 2));
	for (u32 slot = 1; slot <= 3; slot += 2) {
		assert_true(sample(SIZE / 2));
		read_sample((const void *)(data + (status_page.data_head - AUXT_SAMPLE_FRAME) % 4096));
		assert_int_equal(reported.sample.flags, AUXTRACE_SAMPLE_IN_SLOT);
		assert_int_equal(reported.sample.sample_slot, slot);
		assert_int_equal(reported.sample.length, SIZE / 2);
		assert_false(auxt_slots_claim(&channel->slots, slot));
	}
	assert_int_equal(status_page.sample_slots, 1 << 1 | 1 << 3);
	/* No slot is free: as much as the record can carry. */
	assert_true(sample(SIZE / 2));
	read_sample((const void *)(data + (status_page.data_head - AUXT_SAMPLE_FRAME - space) % 4096));
	assert_int_equal(reported.sample.flags, AUXTRACE_SAMPLE_CUT);
	assert_int_equal(reported.sample.length, space);
	assert_int_equal(status_page.samples_cut, 1);
	/* A slot of a snapshot cannot be released as one of a sample. */
	assert_false(auxt_slots_release_sample(&channel->slots, 2));
	assert_false(auxt_slots_release_sample(&channel->slots, 0));
	assert_true(auxt_slots_release_sample(&channel->slots, 1));
	assert_false(auxt_slots_release_sample(&channel->slots, 1));
	assert_true(auxt_slots_claim(&channel->slots, 1));
	assert_int_equal(auxt_slots_claim_any(&channel->slots), -ENOSPC);
	unmake();
}

static void without_its_record_a_sample_leaves_its_slot_free(void **state)
{
	make_with((struct auxtrace_setup) {
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE,
		.aux_size = 2 * SIZE, .data_size = 2 * 4096, .slots = 2,
		.records = AUXTRACE_WANT_TRIGGER,
	});
	start(false);
	run_to(SIZE);
	auxt_channel_pause_output(channel, true);
	assert_true(sample(SIZE / 2));
	assert_int_equal(status_page.data_lost, 1);
	assert_int_equal(status_page.sample_slots, 0);
	assert_int_equal(auxt_slots_claim_any(&channel->slots), 1);
	unmake();
}

/* The slot that tracing began in may be free by now. */
static void a_sample_may_go_to_the_first_slot(void **state)
{
	struct auxtrace_cut cut;

	make_with((struct auxtrace_setup) {
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE,
		.aux_size = 2 * SIZE, .data_size = 2 * 4096, .slots = 2,
		.records = AUXTRACE_WANT_TRIGGER,
	});
	start(false);
	run_to(1000);
	assert_true(auxt_slots_claim(&channel->slots, 1));
	auxt_channel_snapshot(channel, AUXTRACE_SNAPSHOT_SLOT, 1, &cut);
	auxt_slots_release(&channel->slots, 0);
	run_to(cut.aux_end + SIZE - 100);
	assert_true(sample(SIZE / 2));
	read_sample((const void *)(data + 2 * 4096 +
				   (status_page.data_head - AUXT_SAMPLE_FRAME) % 4096));
	assert_int_equal(reported.sample.flags, AUXTRACE_SAMPLE_IN_SLOT);
	assert_int_equal(reported.sample.sample_slot, 0);
	assert_int_equal(reported.sample.length, SIZE / 2);
	assert_int_equal(status_page.sample_slots, 1);
	unmake();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_is_retained_and_the_next_window_begins_in_another),
		cmocka_unit_test(a_paused_channel_changes_its_slot_and_stays_paused),
		cmocka_unit_test(a_detached_channel_changes_its_slot),
		cmocka_unit_test(an_error_at_the_cut_is_an_error_and_the_slot_is_retained),
		cmocka_unit_test(a_snapshot_in_place_lets_the_window_go_on),
		cmocka_unit_test(a_snapshot_with_pause_is_a_pause_of_trace_and_then_of_records),
		cmocka_unit_test(nested_claims_have_slots_of_their_own),
		cmocka_unit_test(each_slot_is_claimed_once),
		cmocka_unit_test(what_a_record_cannot_carry_goes_to_a_slot),
		cmocka_unit_test(without_its_record_a_sample_leaves_its_slot_free),
		cmocka_unit_test(a_sample_may_go_to_the_first_slot),
	};

	return cmocka_run_group_tests_name("slots", tests, NULL, NULL);
}
