// SPDX-License-Identifier: GPL-2.0-only
#include "channel_case.h"

static void a_pause_is_one_write_and_a_resume_one_start(void **state)
{
	struct auxtrace_effect effect;

	make(0);
	start(false);
	check();
	assert_int_equal(hw.windows, 1);

	auxt_channel_pause(channel, &effect);
	assert_int_equal(hw.offs, 1);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(effect.position, hw.position);
	assert_int_equal(effect.window, 1);
	assert_int_equal(effect.cpu, 3);
	assert_int_equal(effect.time, status_page.window_end_time);
	assert_true(effect.time > status_page.window_begin_time);
	check();

	auxt_channel_pause(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(hw.offs, 1);
	assert_int_equal(status_page.pauses_asked, 2);
	assert_int_equal(status_page.pauses_done, 1);

	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.inhibit, 0);
	assert_int_equal(effect.window, 2);
	assert_int_equal(effect.cpu, 3);
	assert_int_equal(effect.position, status_page.window_begin);
	assert_int_equal(effect.time, status_page.window_begin_time);
	assert_true(effect.time > status_page.window_end_time);
	assert_int_equal(hw.ons, 2);
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(hw.ons, 2);
	assert_int_equal(hw.offs, 1);
	assert_int_equal(status_page.resumes_asked, 2);
	assert_int_equal(status_page.resumes_done, 1);
	check();
	unmake();
}

static void started_paused_it_waits_for_a_resume(void **state)
{
	make(AUXTRACE_SETUP_PAUSED);
	start(true);
	check();
	assert_int_equal(hw.ons, 0);
	auxt_channel_resume(channel, NULL);
	check();
	assert_int_equal(hw.windows, 1);
	assert_int_equal(status_page.resumes_done, 1);
	unmake();
}

static void upkeep_does_not_end_a_window(void **state)
{
	make(0);
	start(false);
	auxt_settle_sync(channel);
	check();
	assert_int_equal(hw.windows, 1);
	assert_int_equal(hw.offs, 1);
	assert_int_equal(hw.ons, 2);
	assert_int_equal(status_page.gaps, 0);
	unmake();
}

static void an_error_stops_it_until_the_next_start(void **state)
{
	make(0);
	start(false);
	hw.error = true;
	run_nmi(NMI_PMI);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(status_page.gaps_error, 1);
	assert_int_equal(status_page.pmis, 1);
	assert_true(channel->wake.queued);
	auxt_channel_resume(channel, NULL);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
	start(false);
	check();
	assert_int_equal(status_page.windows, 2);
	unmake();
}

static void a_start_that_fails_is_an_error_not_a_window(void **state)
{
	make(0);
	hw.start_error = -EIO;
	start(false);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(status_page.windows, 0);
	assert_int_equal(status_page.gaps_error, 1);
	unmake();
}

/* The hardware was off for a sync, or for the next slot: what it has written until then is kept. */
static void a_window_that_cannot_go_on_ends(void **state)
{
	for (int slots = 0; slots < 2; slots++) {
		struct auxtrace_cut cut;
		u64 produced;

		if (slots)
			make_slots();
		else
			make(0);
		start(false);
		run_to(1000);
		hw.start_error = -EIO;
		if (slots)
			cut = switch_slot();
		else
			auxt_settle_sync(channel);
		produced = hw.position;
		check();
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
		assert_int_equal(status_page.gaps_error, 1);
		assert_int_equal(status_page.windows, 1);
		assert_int_equal(status_page.running, 0);
		assert_int_equal(status_page.window_end, produced);
		if (slots)
			assert_int_equal(cut.aux_end, produced);
		assert_true(channel->wake.queued);
		hw.start_error = 0;
		unmake();
	}
}

static void going_offline_is_a_gap_if_it_ran(void **state)
{
	make(0);
	start(false);
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_detach(channel);
	check();
	assert_int_equal(status_page.gaps_offline, 1);
	auxt_channel_pause(channel, NULL);
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_allow(channel, AUXTRACE_INHIBIT_OFFLINE);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_USER);
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(status_page.gaps_offline, 1);
	unmake();
}

static void a_new_channel_is_as_set_up(void **state)
{
	const struct auxtrace_setup setup = {
		.aux_size = MAX_SLOTS * SIZE, .data_size = DATA_SIZE, .slots = MAX_SLOTS,
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE,
		.records = AUXTRACE_WANT_AUX,
	};

	make_with(setup);
	assert_int_equal(status_page.cpu, 3);
	assert_int_equal(status_page.size, sizeof(status_page));
	assert_int_equal(status_page.abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(status_page.pmu, fake.number);
	assert_int_equal(status_page.clock, AUXTRACE_CLOCK_TSC);
	assert_int_equal(status_page.aux_size, MAX_SLOTS * SIZE);
	assert_int_equal(status_page.data_size, DATA_SIZE);
	assert_int_equal(status_page.slots, MAX_SLOTS);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(channel->aux.size, SIZE);
	assert_int_equal(channel->wanted, AUXTRACE_WANT_AUX);
	assert_int_equal(channel->index, 2);
	/* Nothing in it is worth waiting for. */
	assert_false(channel->drained);
	assert_false(channel->wake.queued);
	unmake();
	assert_int_equal(hw.cleanups, 1);

	make(AUXTRACE_SETUP_OVERWRITE);
	assert_int_equal(channel->drained, AUXT_DRAINS_DATA);
	assert_int_equal(status_page.slots, 1);
	assert_int_equal(channel->wanted, AUXTRACE_WANT_DEFAULT);
	unmake();
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE });
	assert_false(channel->drained);
	assert_int_equal(channel->aux.watermark, 0);
	unmake();
	make_with((struct auxtrace_setup) { });
	assert_int_equal(channel->drained, AUXT_DRAINS_AUX);
	assert_int_equal(channel->aux.watermark, SIZE / 2);
	unmake();
	make_with((struct auxtrace_setup) { .aux_watermark = 4096 });
	assert_int_equal(channel->aux.watermark, 4096);
	unmake();
}

static void a_channel_that_cannot_be_set_up_is_none(void **state)
{
	const struct auxtrace_setup setup = { .aux_size = SIZE };
	const struct auxt_channel *made;

	quiet();
	memset(&hw, 0, sizeof(hw));
	hw.setup_error = -EINVAL;
	assert_ptr_equal(auxt_channel_new(&fake, NULL, &group, 3, 0, &setup), ERR_PTR(-EINVAL));
	assert_int_equal(hw.cleanups, 0);
	hw.setup_error = 0;
	shim_no_memory = true;
	made = auxt_channel_new(&fake, NULL, &group, 3, 0, &setup);
	shim_no_memory = false;
	assert_ptr_equal(made, ERR_PTR(-ENOMEM));
	auxt_channel_free(NULL);
}

/* It comes before the START has unfrozen the data ring. */
static void a_freeze_within_a_start_is_another(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	stop();
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 10));
	auxt_channel_begin(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FROZEN);
	assert_int_equal(status_page.frozen_by, 10);
	assert_int_equal(reported.triggers, 2);
	unmake();
}

/* A START that fails leaves the mask, and what a freeze has frozen, as it was. */
static void a_start_that_fails_can_be_undone(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	stop();
	check();
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	hw.claim_error = -EBUSY;
	assert_int_equal(auxt_channel_attach(channel), -EBUSY);
	assert_null(auxt_channel_here(0));
	assert_false(channel->attached);
	auxt_channel_undo_reset(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_FROZEN);
	assert_int_equal(status_page.data_paused, AUXTRACE_DATA_FROZEN);
	assert_int_equal(status_page.frozen_by, 9);
	assert_int_equal(reported.triggers, 1);
	hw.claim_error = 0;

	/* Another CPU's attach fails, after a sync here has published the new mask. */
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_settle_sync(channel);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
	auxt_channel_undo_reset(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_FROZEN);
	start(false);
	check();
	assert_int_equal(status_page.data_paused, 0);
	assert_int_equal(status_page.inhibit, 0);
	unmake();
}

static void a_cpu_that_goes_and_comes_back_continues(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	auxt_channel_leave(channel);
	check();
	assert_null(auxt_channel_here(0));
	assert_false(channel->attached);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(status_page.gaps_offline, 1);
	/* Twice is as once. */
	auxt_channel_leave(channel);
	check();
	assert_int_equal(status_page.gaps_offline, 1);

	/* Other code has the hardware by now. */
	hw.claim_error = -EBUSY;
	auxt_channel_come_back(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	hw.claim_error = 0;

	/* A PAUSE that another CPU has sent meanwhile precedes the first window. */
	atomic64_set(&channel->remote.in_toggle, AUXT_REMOTE_WORD(AUXTRACE_ACTION_PAUSE, 4));
	auxt_channel_come_back(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TRIGGER);
	assert_int_equal(status_page.windows, 1);
	assert_int_equal(channel->run, 2);
	trigger(AUXTRACE_ACTION_RESUME, 5);
	check();
	assert_true(hw.on);
	unmake();
}

static void nothing_attaches_while_the_machine_sleeps(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	auxt_channel_set_asleep(true);
	start(false);
	check();
	assert_null(auxt_channel_here(0));
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_come_back(channel);
	check();
	assert_null(auxt_channel_here(0));
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_set_asleep(false);
	auxt_channel_come_back(channel);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 1);
	stop();

	/* It wakes up between the two steps of a START. */
	auxt_channel_set_asleep(true);
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_set_asleep(false);
	auxt_channel_begin(channel);
	check();
	assert_true(hw.on);
	unmake();
}

/* A request of a CPU that attached before this one precedes the first window. */
static void a_start_carries_out_what_others_have_asked_for(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	atomic64_set(&channel->remote.in_toggle, AUXT_REMOTE_WORD(AUXTRACE_ACTION_PAUSE, 4));
	auxt_channel_begin(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TRIGGER);
	assert_int_equal(status_page.windows, 0);
	unmake();
}

/*
 * The hardware is off when the crash has been handled, and stays so, whatever was interrupted and is
 * asked afterwards.
 */
static void a_crash_at_any_place_turns_it_off_for_good(void **state)
{
	long landed = 0;

	for (int mode = 0; mode < 3; mode++)
	for (int req = 0; req < REQUESTS; req++)
	for (int paused = 0; paused < 2; paused++)
	for (long at = 0; ; at++) {
		u64 ons;

		if (mode == 2)
			make_slots();
		else
			make(mode ? AUXTRACE_SETUP_OVERWRITE : 0);
		start(paused);
		nmi.what = NMI_CRASH;
		nmi.at = at;
		nmi.points = 0;
		request((enum request)req);
		if (!nmi.landed) {
			unmake();
			assert_true(at > 0);
			break;
		}
		landed++;
		assert_false(hw.on);
		assert_true(status_page.inhibit & AUXTRACE_INHIBIT_OFFLINE);
		assert_int_equal(status_page.running, 0);
		assert_int_equal(status_page.produced, hw.position);
		assert_int_equal(status_page.window_end, hw.position);
		ons = hw.ons;
		auxt_channel_resume(channel, NULL);
		trigger(AUXTRACE_ACTION_RESUME, 8);
		auxt_settle_sync(channel);
		auxt_channel_crash(channel);
		assert_int_equal(hw.ons, ons);
		unmake();
	}
	print_message("%ld crashes\n", landed);
	assert_true(landed > 100);
}

static void pages_of_stuck_hardware_are_kept(void **state)
{
	make(0);
	start(false);
	hw.refuses = true;
	unmake();
	assert_int_equal(hw.kept, 3);
}

static void pages_are_freed_once_the_hardware_was_off(void **state)
{
	make(0);
	start(false);
	hw.refuses = true;
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
	assert_true(channel->stuck);
	hw.refuses = false;
	start(false);
	/* Attached implies not stuck. */
	assert_false(channel->stuck);
	unmake();
	assert_int_equal(hw.kept, 0);
}

/* ---- task scope --------------------------------------------------------- */

static const struct auxtrace_setup overwritten = {
	.flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE,
};

static void the_hardware_follows_the_member(void **state)
{
	make_scoped(overwritten);
	start(false);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	for (unsigned int n = 1; n < 4; n++) {
		change_to(&insider);
		check();
		assert_int_equal(status_page.inhibit, 0);
		assert_int_equal(hw.ons, n);
		assert_int_equal(hw.offs, n - 1);
		run_to(hw.position + 100);
		change_to(&outsider);
		check();
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
		assert_int_equal(hw.ons, n);
		assert_int_equal(hw.offs, n);
		assert_int_equal(hw.windows, n);
	}
	assert_int_equal(status_page.gaps, 0);
	unmake();
}

/* Not even a look at the hardware or the status page. */
static void a_switch_from_like_to_like_costs_nothing(void **state)
{
	for (int member = 0; member < 2; member++) {
		u64 tsc, seq;

		make_scoped(overwritten);
		start(false);
		if (member)
			change_to(&insider);
		check();
		hw.rate = 0;
		nmi.points = 0;
		tsc = hw.tsc;
		seq = status_page.seq;
		for (int n = 0; n < 10; n++)
			auxt_channel_switch_task(channel, n % 2 ? &insider : &outsider, member);
		assert_int_equal(hw.ons, member);
		assert_int_equal(hw.offs, 0);
		assert_int_equal(status_page.seq, seq);
		/* Each read of the mask has two points, and there is nothing else. */
		assert_int_equal(nmi.points, 10 * 2);
		assert_int_equal(hw.tsc - tsc, 10 * 2);
		unmake();
	}
}

/* What the CPU runs then decides, whatever it ran when the session was stopped. */
static void a_start_asks_for_the_present_thread(void **state)
{
	make_scoped(overwritten);
	start(false);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(status_page.windows, 0);
	stop();
	/* Nobody watches the thread of a session that is not started. */
	assert_int_equal(auxt_members_add(group.members, &shim_task), 1);
	shim_task = insider;
	start(false);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 1);
	stop();
	auxt_members_remove(group.members, &shim_task);
	shim_task = outsider;
	start(true);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK | AUXTRACE_INHIBIT_USER);
	assert_int_equal(status_page.windows, 1);
	change_to(&insider);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_USER);
	auxt_channel_resume(channel, NULL);
	check();
	assert_int_equal(status_page.windows, 2);
	unmake();
}

static void a_start_that_fails_leaves_the_reason_as_it_was(void **state)
{
	make_scoped(overwritten);
	start(false);
	stop();
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_TASK);
	assert_int_equal(auxt_members_add(group.members, &shim_task), 1);
	shim_task = insider;
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	hw.claim_error = -EBUSY;
	assert_int_equal(auxt_channel_attach(channel), -EBUSY);
	assert_int_equal(auxt_channel_inhibited(channel), AUXTRACE_INHIBIT_SETUP);
	auxt_channel_undo_reset(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_TASK);

	/* Nor does a claim that fails set it. */
	hw.claim_error = 0;
	start(false);
	stop();
	check();
	auxt_members_remove(group.members, &shim_task);
	shim_task = outsider;
	hw.claim_error = -EBUSY;
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), -EBUSY);
	assert_int_equal(auxt_channel_inhibited(channel), AUXTRACE_INHIBIT_SETUP);
	auxt_channel_undo_reset(channel);
	hw.claim_error = 0;
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP);

	/* Another CPU's attach fails, and this CPU has changed threads meanwhile. */
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	assert_int_equal(auxt_channel_inhibited(channel),
			 AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_TASK);
	change_to(&insider);
	change_to(&outsider);
	auxt_channel_detach(channel);
	auxt_channel_undo_reset(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(hw.ons, 1);
	unmake();
}

/* What a freeze has kept is for the reader, until a START that succeeds. */
static void a_switch_in_a_start_that_fails_unfreezes_nothing(void **state)
{
	u64 frozen, records;

	make_scoped(overwritten);
	start(false);
	change_to(&insider);
	assert_true(trigger(AUXTRACE_ACTION_FREEZE, 9));
	stop();
	check();
	frozen = status_page.frozen_time;
	records = status_page.data_records;
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	for (int n = 0; n < 2; n++) {
		change_to(n ? &insider : &outsider);
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_FROZEN);
		assert_int_equal(status_page.data_paused, AUXTRACE_DATA_FROZEN);
	}
	auxt_channel_detach(channel);
	auxt_channel_undo_reset(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_FROZEN);
	assert_int_equal(status_page.data_paused, AUXTRACE_DATA_FROZEN);
	assert_int_equal(status_page.frozen_time, frozen);
	assert_int_equal(status_page.data_records, records);

	/* In one that succeeds the switch counts. */
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(auxt_channel_attach(channel), 0);
	change_to(&outsider);
	auxt_channel_begin(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(status_page.data_paused, 0);
	change_to(&insider);
	check();
	assert_int_equal(status_page.inhibit, 0);
	unmake();
}

static void a_cpu_that_comes_back_asks_for_the_present_thread(void **state)
{
	make_scoped(overwritten);
	start(false);
	change_to(&insider);
	auxt_channel_leave(channel);
	assert_int_equal(status_page.gaps_offline, 1);
	auxt_members_remove(group.members, &shim_task);
	shim_task = outsider;
	auxt_channel_come_back(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(status_page.windows, 1);
	/* Nothing that a member does is missed. */
	auxt_channel_leave(channel);
	assert_int_equal(status_page.gaps_offline, 1);
	assert_int_equal(auxt_members_add(group.members, &shim_task), 1);
	shim_task = insider;
	auxt_channel_come_back(channel);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 2);
	unmake();
}

static void change_in(void)
{
	change_to(&insider);
}

static void change_out(void)
{
	change_to(&outsider);
}

/* One NMI at each point of a switch. Returns false if there is no such point. */
static bool switch_with_nmi(unsigned int mode, bool in, enum nmi what, bool paused, long at)
{
	struct auxtrace_setup setup = overwritten;
	u32 mask = (in ? 0 : AUXTRACE_INHIBIT_TASK) |
		   (paused && what != NMI_RESUME ? AUXTRACE_INHIBIT_TRIGGER : 0) |
		   (what == NMI_PAUSE ? AUXTRACE_INHIBIT_TRIGGER : 0) |
		   (what == NMI_FREEZE ? AUXTRACE_INHIBIT_FROZEN : 0);
	u64 ons, offs, windows, syncs = what == NMI_PMI;
	bool landed;

	if (!mode)
		setup.flags = 0;
	if (mode == 2)
		setup.slots = SLOTS;
	make_scoped(setup);
	start(false);
	if (!in)
		change_to(&insider);
	if (paused)
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
	check();
	ons = hw.ons;
	offs = hw.offs;
	windows = hw.windows;
	hw.asserted = what == NMI_PMI;
	landed = lands(what, at, in ? change_in : change_out);
	if (!landed) {
		unmake();
		return false;
	}
	check();
	assert_null(channel->next);
	assert_int_equal(status_page.inhibit, mask);
	/* At most one window each, and one sync. */
	assert_true(hw.windows - windows <= 1);
	assert_true(hw.ons - ons <= 1 + syncs);
	assert_true(hw.offs - offs <= 1 + syncs);
	if (in && !mask)
		assert_int_equal(hw.windows - windows, 1);
	assert_int_equal(status_page.gaps, 0);
	return true;
}

static void an_nmi_may_land_anywhere_in_a_switch(void **state)
{
	static const enum nmi kinds[] = { NMI_PMI, NMI_PAUSE, NMI_RESUME, NMI_FREEZE };
	unsigned int landed = 0;

	for (unsigned int mode = 0; mode < 3; mode++)
	for (int in = 0; in < 2; in++)
	for (unsigned int kind = 0; kind < 4; kind++)
	for (int paused = 0; paused < 2; paused++) {
		long at;

		for (at = 0; switch_with_nmi(mode, in, kinds[kind], paused, at); at++) {
			landed++;
			unmake();
		}
		assert_true(at > 10);
	}
	print_message("%u NMIs\n", landed);
	assert_true(landed > 1000);
}

/*
 * The causes, and the threads. A RESUME of the NMI comes before the switch, and then it is the
 * switch that begins the window or keeps it away; or after it.
 */
static void a_window_is_the_member_s_wherever_an_nmi_lands(void **state)
{
	const struct auxtrace_record_window *w = &reported.window;
	unsigned int by_task = 0, by_trigger = 0, late = 0, early = 0, paused = 0;

	for (long at = 0; switch_with_nmi(1, true, NMI_RESUME, true, at); at++) {
		stop();
		check();
		assert_int_equal(reported.windows, 1);
		by_task += w->begin_cause == AUXTRACE_CAUSE_TASK;
		by_trigger += w->begin_cause == AUXTRACE_CAUSE_TRIGGER;
		/* When the switch is as good as over, the NMI sees the thread that still runs. */
		late += w->begin_tid == 11;
		if (w->begin_tid == 11) {
			assert_int_equal(w->begin_cause, AUXTRACE_CAUSE_TRIGGER);
			assert_int_equal(w->begin_pid, 10);
		} else {
			assert_int_equal(w->begin_tid, 22);
			assert_int_equal(w->begin_pid, 20);
		}
		unmake();
	}
	assert_true(by_task > 1);
	assert_true(by_trigger > 1);
	assert_int_equal(late, 1);

	for (long at = 0; switch_with_nmi(1, false, NMI_RESUME, true, at); at++) {
		stop();
		check();
		if (reported.windows == 2) {
			early++;
			assert_int_equal(w->begin_cause, AUXTRACE_CAUSE_TRIGGER);
			assert_int_equal(w->end_cause, AUXTRACE_CAUSE_TASK);
			assert_int_equal(w->begin_tid, 22);
			assert_int_equal(w->begin_pid, 20);
			assert_int_equal(w->tid, 22);
			assert_int_equal(w->pid, 20);
		}
		unmake();
	}
	assert_true(early > 1);

	for (long at = 0; switch_with_nmi(1, true, NMI_PAUSE, false, at); at++) {
		stop();
		check();
		if (reported.windows) {
			paused++;
			assert_int_equal(w->begin_cause, AUXTRACE_CAUSE_TASK);
			assert_int_equal(w->end_cause, AUXTRACE_CAUSE_TRIGGER);
			assert_int_equal(w->end_trigger, 7);
			assert_int_equal(w->begin_tid, 22);
		}
		unmake();
	}
	assert_true(paused > 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_is_one_write_and_a_resume_one_start),
		cmocka_unit_test(started_paused_it_waits_for_a_resume),
		cmocka_unit_test(upkeep_does_not_end_a_window),
		cmocka_unit_test(an_error_stops_it_until_the_next_start),
		cmocka_unit_test(a_start_that_fails_is_an_error_not_a_window),
		cmocka_unit_test(a_window_that_cannot_go_on_ends),
		cmocka_unit_test(going_offline_is_a_gap_if_it_ran),
		cmocka_unit_test(a_new_channel_is_as_set_up),
		cmocka_unit_test(a_channel_that_cannot_be_set_up_is_none),
		cmocka_unit_test(a_freeze_within_a_start_is_another),
		cmocka_unit_test(a_start_that_fails_can_be_undone),
		cmocka_unit_test(a_cpu_that_goes_and_comes_back_continues),
		cmocka_unit_test(nothing_attaches_while_the_machine_sleeps),
		cmocka_unit_test(a_start_carries_out_what_others_have_asked_for),
		cmocka_unit_test(pages_of_stuck_hardware_are_kept),
		cmocka_unit_test(pages_are_freed_once_the_hardware_was_off),
		cmocka_unit_test(a_crash_at_any_place_turns_it_off_for_good),
		cmocka_unit_test(the_hardware_follows_the_member),
		cmocka_unit_test(a_switch_from_like_to_like_costs_nothing),
		cmocka_unit_test(a_start_asks_for_the_present_thread),
		cmocka_unit_test(a_start_that_fails_leaves_the_reason_as_it_was),
		cmocka_unit_test(a_switch_in_a_start_that_fails_unfreezes_nothing),
		cmocka_unit_test(a_cpu_that_comes_back_asks_for_the_present_thread),
		cmocka_unit_test(an_nmi_may_land_anywhere_in_a_switch),
		cmocka_unit_test(a_window_is_the_member_s_wherever_an_nmi_lands),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
