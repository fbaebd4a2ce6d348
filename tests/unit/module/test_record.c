// SPDX-License-Identifier: GPL-2.0-only
#include "channel_case.h"

static void a_window_record_says_what_began_and_ended_it(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	check();
	assert_int_equal(reported.starts, 1);
	assert_int_equal(reported.start.pid, 10);
	assert_int_equal(reported.start.tid, 11);
	assert_int_equal(reported.windows, 0);
	auxt_channel_pause(channel, NULL);
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_USER);

	auxt_channel_resume(channel, NULL);
	shim_task = (struct task_struct) { .pid = 22, .tgid = 20 };
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
	window_was(2, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_CPU);
	assert_int_equal(reported.window.begin_pid, 10);
	assert_int_equal(reported.window.begin_tid, 11);
	assert_int_equal(reported.window.pid, 20);
	assert_int_equal(reported.window.tid, 22);

	auxt_channel_allow(channel, AUXTRACE_INHIBIT_OFFLINE);
	hw.foreign = true;
	auxt_settle_sync(channel);
	window_was(3, AUXTRACE_CAUSE_CPU, AUXTRACE_CAUSE_FOREIGN);
	assert_int_equal(status_page.gaps_error, 1);
	assert_int_equal(reported.last_aux.flags, AUXTRACE_AUX_OVERWRITE | AUXTRACE_AUX_PARTIAL);
	stop();
	window_was(4, AUXTRACE_CAUSE_FOREIGN, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(reported.starts, 1);

	/* Paused meanwhile: the RESUME begins the window. */
	start(true);
	auxt_channel_resume(channel, NULL);
	hw.error = true;
	auxt_settle_sync(channel);
	window_was(5, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_ERROR);
	assert_int_equal(reported.starts, 2);
	auxt_channel_resume(channel, NULL);
	stop();
	start(false);
	stop();
	window_was(6, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_SESSION);
	unmake();
}

static void full_is_a_cause_and_gives_way_to_those_before_it(void **state)
{
	make(0);
	start(false);
	run_until_full();
	window_was(1, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_FULL);
	assert_int_equal(reported.last_aux.flags, AUXTRACE_AUX_TRUNCATED);
	user_page.aux_tail = status_page.produced;
	auxt_settle_sync_tails(channel);
	auxt_channel_pause(channel, NULL);
	window_was(2, AUXTRACE_CAUSE_FULL, AUXTRACE_CAUSE_USER);

	/* A RESUME that finds a new tail begins the window. */
	auxt_channel_resume(channel, NULL);
	run_until_full();
	user_page.aux_tail = status_page.produced;
	auxt_channel_resume(channel, NULL);
	auxt_channel_pause(channel, NULL);
	window_was(4, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_USER);

	/* A RESUME that finds no new tail does not. */
	auxt_channel_resume(channel, NULL);
	run_until_full();
	auxt_channel_pause(channel, NULL);
	auxt_channel_resume(channel, NULL);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
	user_page.aux_tail = status_page.produced;
	auxt_settle_sync_tails(channel);
	stop();
	window_was(6, AUXTRACE_CAUSE_FULL, AUXTRACE_CAUSE_SESSION);

	/* Stopped by the mark. */
	start(false);
	while (!hw.stopped)
		hw_runs();
	auxt_settle_sync(channel);
	window_was(7, AUXTRACE_CAUSE_SESSION, AUXTRACE_CAUSE_FULL);
	assert_true(reported.last_aux.flags & AUXTRACE_AUX_TRUNCATED);
	unmake();
}

static void only_the_wanted_records_are_written(void **state)
{
	for (u32 wanted = 1; wanted <= AUXTRACE_WANT_ALL; wanted++) {
		make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
			  .data_size = DATA_SIZE, .records = wanted });
		start(false);
		for (int i = 0; i < 3; i++) {
			hw_runs();
			auxt_channel_pause(channel, NULL);
			auxt_channel_resume(channel, NULL);
		}
		check();
		read_records();
		assert_int_equal(reported.windows, wanted & AUXTRACE_WANT_WINDOW ? 3 : 0);
		assert_int_equal(reported.starts, wanted & AUXTRACE_WANT_ITRACE_START ? 1 : 0);
		assert_int_equal(reported.auxes >= 3, !!(wanted & AUXTRACE_WANT_AUX));
		assert_true(wanted & AUXTRACE_WANT_AUX || !reported.auxes);
		unmake();
	}
}

static void without_a_data_ring_nothing_is_written(void **state)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE });
	memset(data, 0x55, sizeof(data));
	start(false);
	auxt_channel_pause(channel, NULL);
	auxt_channel_resume(channel, NULL);
	auxt_settle_sync(channel);
	user_page.data_tail = 77;
	assert_false(auxt_settle_has_new_tail(channel));
	check();
	assert_int_equal(status_page.data_size, 0);
	assert_int_equal(status_page.data_reserved, 0);
	assert_int_equal(status_page.data_records, 0);
	for (size_t i = 0; i < sizeof(data); i++)
		assert_int_equal(data[i], 0x55);
	unmake();
}

static void paused_output_is_counted_and_reported(void **state)
{
	u64 records;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	check();
	auxt_channel_pause_output(channel, true);
	records = status_page.data_records;
	for (int i = 0; i < 5; i++) {
		auxt_channel_pause(channel, NULL);
		auxt_channel_resume(channel, NULL);
	}
	assert_int_equal(status_page.data_paused, 1);
	assert_int_equal(status_page.data_records, records);
	assert_true(status_page.data_lost >= 5);
	auxt_channel_pause_output(channel, false);
	assert_int_equal(status_page.data_records, records + 1);
	reported.windows = 5;
	read_records();
	assert_int_equal(reported.lost, status_page.data_lost);
	reported.aux = channel->aux_reported;
	auxt_channel_pause(channel, NULL);
	read_records();
	assert_int_equal(reported.windows, 6);
	unmake();
}

/* A LOST record comes first; nothing of what was dropped is in the ring. */
static void a_trigger_after_a_loss_is_recorded(void **state)
{
	u64 records, lost;
	u32 n = 0;

	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .records = AUXTRACE_WANT_TRIGGER });
	start(false);
	while (status_page.data_lost < 2)
		trigger(n++ % 2 ? AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 7);
	records = status_page.data_records;
	lost = status_page.data_lost;
	read_records();
	assert_int_equal(reported.triggers, records);
	user_page.data_tail = status_page.data_head;
	trigger(n % 2 ? AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 8);
	read_records();
	assert_int_equal(reported.triggers, records + 1);
	assert_int_equal(reported.trigger.trigger, 8);
	assert_int_equal(reported.lost, lost);
	assert_int_equal(status_page.data_records, records + 2);
	unmake();
}

/* A record that fills the ring must not be kept out by a LOST record before it. */
static void the_largest_sample_comes_after_a_loss(void **state)
{
	const u64 space = auxt_sample_space(4096);
	const struct auxt_request request = {
		.action = AUXTRACE_ACTION_SAMPLE, .trigger = 5, .size = space,
	};
	u64 begin;

	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = 4096, .records = AUXTRACE_WANT_ITRACE_START });
	start(false);
	while (status_page.produced < space) {
		shim_point();
		auxt_settle_sync(channel);
	}
	assert_true(auxt_request_make(channel, &request, 0));
	assert_true(auxt_request_make(channel, &request, 0));
	assert_true(status_page.data_lost > 0);
	begin = status_page.data_head;
	user_page.data_tail = begin;
	assert_true(auxt_request_make(channel, &request, 0));
	assert_int_equal(status_page.data_head - begin, sizeof(struct auxtrace_record_lost) +
			 AUXT_SAMPLE_FRAME + ALIGN(space, 8));
	unmake();
}

static void a_sample_has_the_newest_bytes(void **state)
{
	for (u32 flags = 0; flags <= AUXTRACE_SETUP_OVERWRITE; flags += AUXTRACE_SETUP_OVERWRITE) {
		make(flags);
		start(false);
		run_to(SIZE / 2);
		/* More bytes than were produced. */
		assert_true(sample(SIZE - 1));
		check();
		assert_int_equal(reported.samples, 1);
		assert_int_equal(reported.sample.length, hw.position);
		assert_int_equal(status_page.samples_cut, 1);
		/* The window went on, and bytes that the reader has consumed are still in memory. */
		assert_true(hw.on);
		assert_int_equal(hw.windows, 1);
		user_page.aux_tail = status_page.produced;
		run_to(SIZE + SIZE / 4);
		user_page.aux_tail = flags ? 0 : status_page.produced;
		assert_true(sample(SIZE / 2 - 3));
		check();
		assert_int_equal(reported.sample.length, SIZE / 2 - 3);
		assert_int_equal(reported.sample.aux_end, hw.position);
		assert_int_equal(status_page.samples, 2);
		assert_int_equal(status_page.samples_cut, 1);
		/* More than is still in memory. */
		hw.position = ALIGN(hw.position, 8);
		assert_true(sample(SIZE + 100));
		check();
		assert_int_equal(reported.sample.length, SIZE);
		assert_int_equal(status_page.samples_cut, 2);
		unmake();
	}
}

static void a_sample_ends_in_zeros(void **state)
{
	const u32 size = AUXT_SAMPLE_FRAME + 104;
	const struct auxtrace_record_sample *r;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	run_to(1000);
	check();
	memset(data, 0xff, sizeof(data));
	assert_true(sample(101));
	r = (const void *)(data + (status_page.data_head - size) % DATA_SIZE);
	assert_int_equal(r->header.type, AUXTRACE_RECORD_SAMPLE);
	assert_int_equal(r->header.size, size);
	for (int i = 101; i < 104; i++)
		assert_int_equal(((const char *)(r + 1))[i], 0);
	unmake();
}

/* A ring whose output is paused takes none, and the trace begins nevertheless. */
static void a_start_without_a_record_is_a_start(void **state)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = 4096,
		  .records = AUXTRACE_WANT_ITRACE_START });
	auxt_channel_pause_output(channel, true);
	start(false);
	check();
	assert_true(hw.on);
	assert_int_equal(status_page.data_lost, 1);
	assert_int_equal(status_page.data_records, 0);
	unmake();
}

/* Slot 0 is free, and the record is dropped. */
static void a_sample_without_a_record_holds_no_slot(void **state)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = 4096,
		  .slots = SLOTS });
	start(false);
	switch_slot();
	auxt_slots_release(&channel->slots, 0);
	run_to(hw.position + 7000);
	auxt_channel_pause_output(channel, true);
	assert_true(sample(6000));
	assert_int_equal(auxt_slots_claim_any(&channel->slots), 0);
	auxt_slots_release(&channel->slots, 0);
	auxt_channel_pause_output(channel, false);
	user_page.data_tail = status_page.data_head;
	assert_true(sample(6000));
	assert_int_not_equal(auxt_slots_claim_any(&channel->slots), 0);
	unmake();
}

static void records_of_a_hit_name_its_event_and_the_task(void **state)
{
	const struct auxt_request pause = { .action = AUXTRACE_ACTION_PAUSE, .trigger = 5 };
	const struct auxt_request freeze = { .action = AUXTRACE_ACTION_FREEZE, .trigger = 6 };
	const struct auxt_request later = {
		.action = AUXTRACE_ACTION_RESUME, .trigger = 7, .delay = 1,
	};

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	run_to(1000);
	shim_task = (struct task_struct) { .pid = 22, .tgid = 20 };
	assert_true(sample(100));
	check();
	assert_int_equal(reported.sample.trigger, 2);
	assert_int_equal(reported.sample.pid, 20);
	assert_int_equal(reported.sample.tid, 22);
	assert_int_equal(reported.sample.sample_slot, 0);
	assert_int_equal(reported.sample.wanted, 100);
	assert_true(auxt_request_make(channel, &pause, 77));
	check();
	assert_int_equal(reported.trigger.value, 77);
	assert_int_equal(reported.trigger.pid, 20);
	assert_int_equal(reported.trigger.tid, 22);
	assert_true(auxt_request_make(channel, &freeze, 78));
	check();
	assert_int_equal(reported.trigger.action, AUXTRACE_ACTION_FREEZE);
	assert_int_equal(reported.trigger.value, 78);
	assert_true(status_page.frozen_time > status_page.window_end_time);
	/* The RESUME of a user leaves a PAUSE of a trigger. */
	auxt_channel_resume(channel, NULL);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TRIGGER);
	trigger(AUXTRACE_ACTION_RESUME, 8);
	assert_true(auxt_request_make(channel, &(struct auxt_request) {
		.action = AUXTRACE_ACTION_PAUSE, .trigger = 9, .delay = 100 }, 79));
	run_to(hw.position + 200);
	auxt_settle_sync(channel);
	check();
	assert_int_equal(reported.trigger.trigger, 9);
	assert_int_equal(reported.trigger.value, 79);
	/* A delayed request that changes nothing is completed, too, without a record. */
	trigger(AUXTRACE_ACTION_RESUME, 8);
	assert_true(auxt_request_make(channel, &later, 80));
	run_to(hw.position + 200);
	auxt_settle_sync(channel);
	check();
	assert_int_equal(reported.trigger.trigger, 8);
	assert_true(auxt_request_make(channel, &later, 81));
	unmake();
}

/* As with BTS, whose data is made of records. */
static void a_sample_is_a_multiple_of_the_granule(void **state)
{
	fake.granule = 24;
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	run_to(2400);
	hw.position = 2400;
	assert_true(sample(1000));
	check();
	assert_int_equal(reported.sample.length, 984);
	assert_int_equal(status_page.samples_cut, 0);
	assert_true(sample(4000));
	check();
	assert_int_equal(reported.sample.length, 2400);
	assert_int_equal(status_page.samples_cut, 1);
	/* What the area holds is no multiple. */
	hw.position = 2000 * 24;
	assert_true(sample(2 * SIZE));
	check();
	assert_int_equal(reported.sample.length, SIZE - SIZE % 24);
	unmake();
	fake.granule = 1;
}

/* The CPU leaves thread 11 of process 10, which could run on. */
static void change_thread(void)
{
	const struct task_struct next = { .pid = 33, .tgid = 30 };

	auxt_channel_context_switch(channel, current, &next, true);
}

static void make_with_switches(void)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .records = AUXTRACE_WANT_SWITCH });
}

static void a_switch_is_recorded_while_the_session_is_started(void **state)
{
	const struct task_struct idle = { 0 };
	const struct auxtrace_record_switch *s = &reported.context_switch;

	make_with_switches();
	change_thread();
	read_records();
	assert_int_equal(reported.switches, 0);
	start(true);
	change_thread();
	read_records();
	assert_int_equal(reported.switches, 1);
	assert_int_equal(s->header.size, sizeof(*s));
	assert_int_equal(s->header.misc, AUXTRACE_SWITCH_OUT | AUXTRACE_SWITCH_OUT_PREEMPT);
	assert_int_equal(s->next_prev_pid, 30);
	assert_int_equal(s->next_prev_tid, 33);
	assert_int_equal(s->end.tid, 11);

	shim_task = (struct task_struct) { .pid = 33, .tgid = 30 };
	auxt_channel_context_switch(channel, current, &idle, false);
	read_records();
	assert_int_equal(reported.switches, 2);
	assert_int_equal(s->header.misc, AUXTRACE_SWITCH_OUT);
	assert_int_equal(s->next_prev_pid, 0);
	assert_int_equal(s->next_prev_tid, 0);
	assert_int_equal(s->end.tid, 33);

	auxt_channel_resume(channel, NULL);
	change_thread();
	read_records();
	assert_int_equal(reported.switches, 3);
	trigger(AUXTRACE_ACTION_FREEZE, 5);
	change_thread();
	check();
	read_records();
	assert_int_equal(reported.switches, 3);
	auxt_channel_resume(channel, NULL);
	change_thread();
	read_records();
	assert_int_equal(reported.switches, 4);
	stop();
	change_thread();
	check();
	read_records();
	assert_int_equal(reported.switches, 4);
	assert_int_equal(status_page.data_lost, 0);
	unmake();
}

/* A trigger's PAUSE at any point of a switch comes before it or after it. */
static void a_switch_is_whole_whatever_nests_in_it(void **state)
{
	bool landed = true;
	long at;

	for (at = 0; landed; at++) {
		make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
			  .data_size = DATA_SIZE,
			  .records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH });
		start(false);
		landed = lands(NMI_PAUSE, at, change_thread);
		check();
		read_records();
		assert_int_equal(reported.switches, 1);
		assert_int_equal(reported.windows, landed);
		assert_int_equal(reported.triggers, landed);
		assert_int_equal(status_page.data_lost, 0);
		unmake();
	}
	assert_true(at > 5);
}

static void a_data_watermark_of_switches_wakes_the_reader(void **state)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .data_watermark = 64, .records = AUXTRACE_WANT_SWITCH });
	start(false);
	change_thread();
	assert_false(channel->wake.queued);
	change_thread();
	assert_true(channel->wake.queued);
	unmake();
}

/*
 * A FREEZE at any point of a switch: the record is there, or it is counted as lost. Only if it comes
 * before the look at the mask, which is at one of the first two points, there is nothing to record.
 */
static void a_switch_in_which_a_freeze_nests_is_written_or_counted(void **state)
{
	bool landed = true;
	long at;

	for (at = 0; landed; at++) {
		make_with_switches();
		start(false);
		landed = lands(NMI_FREEZE, at, change_thread);
		check();
		read_records();
		if (at < 2 && landed)
			assert_true(reported.switches + status_page.data_lost <= 1);
		else
			assert_int_equal(reported.switches + status_page.data_lost, 1);
		unmake();
	}
	assert_true(at > 5);
}

/* The kernel calls the probe before it changes threads: the window is the next one's. */
static void a_window_of_a_switch_is_the_next_thread_s(void **state)
{
	const struct auxtrace_record_window *w = &reported.window;

	make_scoped((struct auxtrace_setup) {
		.flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE });
	start(false);
	check();
	assert_int_equal(reported.starts, 0);
	change_to(&insider);
	check();
	assert_int_equal(reported.starts, 1);
	assert_int_equal(reported.start.pid, 20);
	assert_int_equal(reported.start.tid, 22);
	/* It ends before the kernel changes threads, too. */
	change_to(&outsider);
	window_was(1, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_TASK);
	assert_int_equal(w->begin_pid, 20);
	assert_int_equal(w->begin_tid, 22);
	assert_int_equal(w->pid, 20);
	assert_int_equal(w->tid, 22);

	/* Afterwards a window is that of the thread which runs. */
	change_to(&insider);
	auxt_channel_pause(channel, NULL);
	shim_task.pid = 23;
	auxt_channel_resume(channel, NULL);
	shim_task.pid = 22;
	stop();
	window_was(3, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(w->begin_pid, 20);
	assert_int_equal(w->begin_tid, 23);
	assert_int_equal(reported.starts, 1);
	/* One that a START begins as well. */
	start(false);
	check();
	assert_int_equal(reported.starts, 2);
	assert_int_equal(reported.start.tid, 22);
	unmake();
}

/* With space for the WINDOW record alone it is written, and the AUX record is counted as lost. */
static void a_window_is_recorded_without_space_for_its_aux_record(void **state)
{
	const u64 both = sizeof(struct auxtrace_record_window) + sizeof(struct auxtrace_record_aux);
	u64 pairs = 4096 / both;

	assert_true(4096 % both >= sizeof(struct auxtrace_record_window));
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = 4096,
		  .records = AUXTRACE_WANT_WINDOW | AUXTRACE_WANT_AUX });
	start(false);
	hw.rate = 0;
	for (u64 i = 0; i <= pairs; i++) {
		assert_int_equal(status_page.data_lost, 0);
		assert_int_equal(status_page.data_records, 2 * i);
		hw.position += 8;
		trigger(AUXTRACE_ACTION_PAUSE, 7);
		trigger(AUXTRACE_ACTION_RESUME, 7);
	}
	assert_int_equal(status_page.data_lost, 1);
	assert_int_equal(status_page.data_records, 2 * pairs + 1);
	read_records();
	assert_int_equal(reported.windows, pairs + 1);
	assert_int_equal(reported.auxes, pairs);
	unmake();
}

static const struct task_struct second_insider = { .pid = 24, .tgid = 20 };

/* The records that were dropped are none that the ring has. */
static void read_lost(void)
{
	reported.windows = status_page.windows - status_page.running;
	reported.aux = channel->aux_reported;
	read_records();
}

static void change_to_insider(void)
{
	change_to(&insider);
}

/* A session of a user without a capability, who may not know who else runs. */
static void with_an_owner_records_name_members_only(void **state)
{
	const struct cred *owner = (const struct cred *)&shim_task;
	const struct auxtrace_record_window *w = &reported.window;
	unsigned int windows = 0;

	for (int owned = 0; owned < 2; owned++) {
		group.owner = owned ? owner : NULL;
		make_scoped((struct auxtrace_setup) {
			.flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE });
		start(false);
		change_to(&insider);
		check();
		assert_int_equal(reported.start.tid, 22);
		assert_int_equal(reported.start.end.tid, owned ? 22 : 11);
		/* A record that says what was lost, while another thread runs. */
		auxt_channel_pause_output(channel, true);
		change_to(&outsider);
		auxt_channel_pause_output(channel, false);
		read_lost();
		assert_true(reported.lost > 0);
		assert_int_equal(reported.lost_tid, owned ? 0 : 33);
		change_to(&insider);
		/* To another member, and on: the kernel calls the probe each time. */
		auxt_channel_switch_task(channel, &second_insider, true);
		shim_task = second_insider;
		auxt_channel_pause_output(channel, true);
		auxt_channel_pause(channel, NULL);
		auxt_channel_pause_output(channel, false);
		read_lost();
		assert_int_equal(reported.lost_tid, 24);
		shim_task = insider;
		/* Nobody runs it when the session is stopped: the caller is anybody. */
		stop();
		auxt_channel_pause_output(channel, true);
		start(false);
		auxt_channel_pause(channel, NULL);
		stop();
		shim_task = outsider;
		auxt_channel_pause_output(channel, false);
		read_lost();
		assert_int_equal(reported.lost_tid, owned ? 0 : 33);
		unmake();
	}
	/* A window that begins in an NMI on the way to the member, behind the probe, names the member. */
	group.owner = owner;
	make_scoped((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE });
	start(true);
	shim_task = outsider;
	auxt_channel_switch_task(channel, &insider, true);
	auxt_channel_resume(channel, NULL);
	shim_task = insider;
	auxt_channel_pause(channel, NULL);
	check();
	assert_int_equal(w->begin_pid, 20);
	assert_int_equal(w->begin_tid, 22);
	assert_int_equal(reported.start.tid, 22);
	unmake();
	/* An NMI that ends the window which begins for the member names the member. */
	for (long at = 0; ; at++) {
		bool landed;

		group.owner = owner;
		make_scoped((struct auxtrace_setup) {
			.flags = AUXTRACE_SETUP_OVERWRITE, .data_size = DATA_SIZE });
		start(false);
		landed = lands(NMI_PAUSE, at, change_to_insider);
		check();
		if (reported.windows) {
			windows++;
			assert_int_equal(w->begin_tid, 22);
			assert_int_equal(w->tid, 22);
			assert_int_equal(w->end.tid, 22);
		}
		unmake();
		if (!landed)
			break;
	}
	assert_true(windows > 0);
	group.owner = NULL;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_window_is_recorded_without_space_for_its_aux_record),
		cmocka_unit_test(a_window_record_says_what_began_and_ended_it),
		cmocka_unit_test(full_is_a_cause_and_gives_way_to_those_before_it),
		cmocka_unit_test(only_the_wanted_records_are_written),
		cmocka_unit_test(without_a_data_ring_nothing_is_written),
		cmocka_unit_test(paused_output_is_counted_and_reported),
		cmocka_unit_test(a_trigger_after_a_loss_is_recorded),
		cmocka_unit_test(the_largest_sample_comes_after_a_loss),
		cmocka_unit_test(a_sample_has_the_newest_bytes),
		cmocka_unit_test(a_sample_ends_in_zeros),
		cmocka_unit_test(a_start_without_a_record_is_a_start),
		cmocka_unit_test(a_sample_without_a_record_holds_no_slot),
		cmocka_unit_test(records_of_a_hit_name_its_event_and_the_task),
		cmocka_unit_test(a_sample_is_a_multiple_of_the_granule),
		cmocka_unit_test(a_switch_is_recorded_while_the_session_is_started),
		cmocka_unit_test(a_switch_is_whole_whatever_nests_in_it),
		cmocka_unit_test(a_switch_in_which_a_freeze_nests_is_written_or_counted),
		cmocka_unit_test(a_data_watermark_of_switches_wakes_the_reader),
		cmocka_unit_test(a_window_of_a_switch_is_the_next_thread_s),
		cmocka_unit_test(with_an_owner_records_name_members_only),
	};

	return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
