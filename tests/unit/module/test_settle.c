// SPDX-License-Identifier: GPL-2.0-only
#include "channel_case.h"

static void full_it_stops_counts_one_gap_and_wakes_the_reader(void **state)
{
	make(0);
	start(false);
	run_until_full();
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_int_equal(status_page.gaps_full, 1);
	assert_int_equal(hw.lost, 0);
	assert_true(auxt_channel_is_readable(channel, false));
	irq_work_sync(&channel->wake);
	assert_true(group.waiters.woken > 0);

	/* Further syncs do not count the same gap again. */
	auxt_settle_sync(channel);
	auxt_settle_sync(channel);
	assert_int_equal(status_page.gaps_full, 1);

	/* A new tail frees space. */
	user_page.aux_tail = status_page.produced;
	assert_true(auxt_settle_has_new_tail(channel));
	auxt_settle_sync(channel);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 2);
	assert_int_equal(status_page.consumed, user_page.aux_tail);
	unmake();
}

static void a_tail_beyond_the_data_is_counted_and_shown_once(void **state)
{
	make(0);
	start(false);
	assert_int_equal(status_page.bad_tails, 0);
	for (u64 i = 1; i <= 3; i++) {
		user_page.aux_tail = 1000 * SIZE + i;
		auxt_settle_sync(channel);
		auxt_settle_sync(channel);
		assert_int_equal(status_page.bad_tails, i);
		assert_int_equal(status_page.consumed, 0);
	}
	unmake();
}

static void a_resume_into_a_full_area_is_a_gap_of_its_own(void **state)
{
	struct auxtrace_effect effect;

	make(0);
	start(false);
	run_until_full();
	auxt_channel_pause(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(status_page.gaps_full, 1);
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_int_equal(status_page.gaps_full, 2);
	check();
	/* The RESUME takes the tail. */
	auxt_channel_pause(channel, NULL);
	user_page.aux_tail = status_page.produced;
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.inhibit, 0);
	check();
	unmake();
}

/* All interrupts come too late: the STOP mark protects the unread data. */
static void the_stop_mark_is_found_by_the_next_sync(void **state)
{
	struct auxtrace_effect effect;

	for (int how = 0; how < 4; how++) {
		nmi.perf_eats = how == 3;
		make(0);
		start(false);
		while (!hw.stopped)
			hw_runs();
		if (how == 0)
			auxt_channel_pause(channel, &effect);
		else if (how == 1)
			auxt_settle_sync(channel);
		else
			run_nmi(NMI_PMI);
		nmi.perf_eats = false;
		check();
		assert_int_equal(status_page.produced, SIZE);
		assert_int_equal(status_page.gaps_full, 1);
		user_page.aux_tail = SIZE;
		auxt_channel_resume(channel, NULL);
		check();
		assert_int_equal(status_page.windows, 2);
		assert_int_equal(status_page.window_begin, SIZE);
		assert_int_equal(status_page.gaps_full, 1);
		unmake();
	}
}

/* With tables of one entry: the hardware stops where nobody has stopped it, and no area is full. */
static void hw_stops_late(void)
{
	hw.stopped = true;
	hw.late = true;
	hw.asserted = true;
	hw.lost++;
}

static void notice(int how)
{
	if (how == 0)
		auxt_channel_pause(channel, NULL);
	else if (how == 1)
		auxt_settle_sync(channel);
	else
		run_nmi(NMI_PMI);
	check();
}

static const u32 late_flags[] = {
	0, AUXTRACE_SETUP_FULL_AUTO, AUXTRACE_SETUP_FULL_STOP, AUXTRACE_SETUP_OVERWRITE,
};

static void a_late_interrupt_is_a_gap_and_a_new_window(void **state)
{
	for (int i = 0; i < 12; i++) {
		int how = i % 3;

		make(late_flags[i / 3]);
		start(false);
		for (u64 gaps = 1; gaps <= 3; gaps++) {
			const struct auxtrace_record_window *window = &reported.newest[gaps % 8];

			hw_runs();
			hw_stops_late();
			notice(how);
			assert_int_equal(status_page.gaps_full, gaps);
			assert_int_equal(status_page.gaps, gaps);
			assert_int_equal(status_page.inhibit, how ? 0 : AUXTRACE_INHIBIT_USER);
			assert_int_equal(window->window, gaps);
			assert_int_equal(window->end_cause, how ? AUXTRACE_CAUSE_FULL : AUXTRACE_CAUSE_USER);
			auxt_channel_resume(channel, NULL);
			check();
			assert_int_equal(status_page.windows, gaps + 1);
			assert_int_equal(status_page.gaps, gaps);
		}
		stop();
		unmake();
	}
}

/* Where it ends there is no space any more, either: that is one gap, and the reader goes on from it. */
static void a_late_interrupt_at_the_last_mark_is_a_full_area(void **state)
{
	for (int i = 0; i < 6; i++) {
		bool stays = late_flags[i / 2] == AUXTRACE_SETUP_FULL_STOP;

		make(late_flags[i / 2]);
		start(false);
		hw.position = channel->aux.stop_mark - channel->aux.margin;
		hw_stops_late();
		notice(1 + i % 2);
		assert_int_equal(status_page.gaps_full, 1);
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
		assert_int_equal(status_page.windows, 1);
		user_page.aux_tail = status_page.produced;
		auxt_settle_sync(channel);
		check();
		assert_int_equal(status_page.inhibit, stays ? AUXTRACE_INHIBIT_FULL : 0);
		auxt_channel_resume(channel, NULL);
		check();
		assert_int_equal(status_page.windows, 2);
		assert_int_equal(status_page.gaps_full, 1);
		unmake();
	}
}

/*
 * The TRIGGER record is the last to be written, alone or with one of an NMI at any
 * point: a reader that waits for exactly so much is woken. Returns false if the NMI did
 * not land.
 */
static bool hit_and_be_read(long at)
{
	bool landed, landed_first = false;
	u64 watermark = 1;

	for (int round = 0; round < 2; round++) {
		make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
			  .data_size = DATA_SIZE, .data_watermark = watermark,
			  .records = AUXTRACE_WANT_TRIGGER });
		start(false);
		hw.rate = 0;
		nmi.what = NMI_RESUME;
		nmi.at = at;
		nmi.points = 0;
		nmi.landed = false;
		trigger(AUXTRACE_ACTION_PAUSE, 7);
		landed = nmi.landed;
		nmi.at = -1;
		check();
		/* Below the watermark there are fewer points, so the last ones exist in round 0 only. */
		if (!round || landed == landed_first) {
			assert_true(status_page.data_head >= watermark);
			assert_true(channel->wake.queued);
		}
		irq_work_sync(&channel->wake);
		watermark = status_page.data_head;
		landed_first |= landed;
		unmake();
	}
	return landed_first;
}

static void a_record_of_a_trigger_wakes_the_reader(void **state)
{
	long at = 0;

	assert_false(hit_and_be_read(-1));
	while (hit_and_be_read(at))
		at++;
	assert_true(at > 20);
}

/* Of what is overwritable nothing is waited for, stopped or not. */
static void what_is_overwritable_wakes_nobody(void **state)
{
	const u32 overwritable[] = { 0, AUXTRACE_SETUP_DATA_OVERWRITE };

	for (int i = 0; i < 2; i++) {
		make(AUXTRACE_SETUP_OVERWRITE | overwritable[i]);
		start(false);
		while (status_page.data_head < DATA_SIZE / 2) {
			assert_false(channel->wake.queued);
			trigger(AUXTRACE_ACTION_PAUSE, 7);
			trigger(AUXTRACE_ACTION_RESUME, 7);
		}
		assert_int_equal(channel->wake.queued, !overwritable[i]);
		assert_int_equal(auxt_channel_is_readable(channel, false), !overwritable[i]);
		assert_int_equal(auxt_channel_is_readable(channel, true), !overwritable[i]);
		irq_work_sync(&channel->wake);
		unmake();
	}
}

/* A reader that polls while a writer has taken its tail and still has no space is woken. */
static bool poll_while_there_is_no_space(long at)
{
	const u64 size = sizeof(struct auxtrace_record_trigger);
	bool landed;

	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = 4096, .data_watermark = 4088, .records = AUXTRACE_WANT_TRIGGER });
	start(true);
	for (unsigned int i = 0; !status_page.data_lost; i++)
		trigger(i % 2 ? AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 7);
	trigger(AUXTRACE_ACTION_RESUME, 7);
	irq_work_sync(&channel->wake);
	/* Less space than a LOST record and the lost record need. */
	user_page.data_tail = size;
	nmi.what = NMI_POLL;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	nmi.asleep = false;
	trigger(AUXTRACE_ACTION_PAUSE, 7);
	landed = nmi.landed;
	nmi.at = -1;
	assert_int_equal(status_page.data_consumed, size);
	assert_true(auxt_channel_is_readable(channel, false));
	assert_true(!nmi.asleep || channel->wake.queued);
	irq_work_sync(&channel->wake);
	unmake();
	return landed;
}

/* A freeze wakes readers, whatever came before it in the call that it nests in. */
static bool freeze_thaw_and_freeze(long thaw_at, long freeze_at)
{
	make(0);
	start(true);
	nested.thaw_at = thaw_at;
	nested.freeze_at = freeze_at;
	nested.landed = nested.froze = false;
	nmi.points = 0;
	trigger(AUXTRACE_ACTION_FREEZE, 11);
	nested.thaw_at = nested.freeze_at = -1;
	if (nested.froze) {
		assert_true(atomic_read(&channel->inhibit) & AUXTRACE_INHIBIT_FROZEN);
		assert_true(channel->wake.queued);
	}
	irq_work_sync(&channel->wake);
	unmake();
	return nested.landed;
}

static void a_freeze_that_nests_wakes_readers(void **state)
{
	long first, second;

	for (first = 0; freeze_thaw_and_freeze(first, first + 1); first++)
		for (second = first + 2; freeze_thaw_and_freeze(first, second); second++)
			;
	assert_true(first > 20);
}

static void resume_now(void)
{
	auxt_channel_resume(channel, NULL);
}

/* Likewise one that lands in the RESUME that ends the freeze before. */
static bool freeze_within_a_resume(long at)
{
	bool landed;

	make(0);
	start(true);
	trigger(AUXTRACE_ACTION_FREEZE, 11);
	irq_work_sync(&channel->wake);
	landed = lands(NMI_FREEZE, at, resume_now);
	/* One that lands before the thaw changes nothing. */
	if (atomic_read(&channel->inhibit) & AUXTRACE_INHIBIT_FROZEN)
		assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	unmake();
	return landed;
}

static void a_freeze_within_a_resume_wakes_readers(void **state)
{
	long at = 0;

	while (freeze_within_a_resume(at))
		at++;
	assert_true(at > 20);
}

/*
 * A watermark is reached, and while readers are notified of it an NMI takes the tail of one that
 * was quick. It then waits for what is left, which it may read after STOP: nothing has advanced.
 */
static bool read_while_notified(long at)
{
	bool landed;

	make_with((struct auxtrace_setup) { .aux_watermark = AUXT_PAGE_SIZE });
	start(false);
	while (hw.position < AUXT_PAGE_SIZE)
		hw_runs();
	hw.asserted = false;
	hw.rate = 0;
	nmi.what = NMI_READ;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	auxt_settle_sync(channel);
	landed = nmi.landed;
	nmi.at = -1;
	irq_work_sync(&channel->wake);
	if (status_page.consumed) {
		assert_false(auxt_channel_is_readable(channel, false));
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
		assert_int_equal(status_page.produced - status_page.consumed, 8);
		assert_true(channel->wake.queued);
		irq_work_sync(&channel->wake);
	}
	unmake();
	return landed;
}

static void what_a_quick_reader_has_left_wakes_it_at_the_end(void **state)
{
	long at = 0;

	while (read_while_notified(at))
		at++;
	assert_true(at > 20);
}

static void a_reader_that_polls_too_early_is_woken(void **state)
{
	long at = 0;

	while (poll_while_there_is_no_space(at))
		at++;
	assert_true(at > 20);
}

/* A stopped session wakes readers for less than a watermark, also for a late LOST record. */
static void a_lost_record_of_a_stopped_session_wakes(void **state)
{
	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	auxt_channel_pause_output(channel, true);
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
	user_page.data_tail = status_page.data_head;
	auxt_settle_sync_tails(channel);
	irq_work_sync(&channel->wake);
	assert_false(auxt_channel_is_readable(channel, true));
	assert_true(status_page.data_lost > 0);
	auxt_channel_pause_output(channel, false);
	assert_true(auxt_channel_is_readable(channel, true));
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	unmake();
}

/* A reader that waits for an error alone is woken, even though there is unread data. */
static void an_error_wakes_readers_that_have_not_read(void **state)
{
	make_with((struct auxtrace_setup) { .aux_watermark = AUXT_PAGE_SIZE });
	start(false);
	while (!auxt_channel_is_readable(channel, false)) {
		shim_point();
		auxt_settle_sync(channel);
	}
	auxt_channel_pause(channel, NULL);
	irq_work_sync(&channel->wake);
	hw.rate = 0;
	hw.start_error = -EIO;
	auxt_channel_resume(channel, NULL);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	unmake();
}

/*
 * In hard interrupt context on PREEMPT_RT, no lock of a wait queue can be taken; and the memory of
 * an irq_work must outlive a grace period, of which one is enough for all channels.
 */
static void on_preempt_rt_a_work_wakes_readers_and_close_waits_once(void **state)
{
	const struct auxtrace_setup setup = { .aux_size = SIZE };

	for (int rt = 0; rt < 2; rt++) {
		struct auxt_channel *all[2];

		shim_preempt_rt = rt;
		shim_grace_periods = 0;
		make(AUXTRACE_SETUP_OVERWRITE);
		start(false);
		trigger(AUXTRACE_ACTION_FREEZE, 9);
		assert_true(channel->wake.queued);
		irq_work_sync(&channel->wake);
		assert_int_equal(group.waiters.woken, !rt);
		assert_int_equal(group.wakeup.queued, rt);
		shim_run_work(&group.wakeup);
		assert_int_equal(group.waiters.woken, 1);

		auxt_channel_resume(channel, NULL);
		trigger(AUXTRACE_ACTION_FREEZE, 10);
		assert_true(channel->wake.queued);
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
		auxt_channel_detach(channel);
		all[0] = channel;
		/* Of another CPU, and never attached. */
		all[1] = auxt_channel_new(&fake, NULL, &group, 4, 1, &setup);
		assert_non_null(all[1]);
		irq_work_queue(&all[1]->wake);
		irq_work_queue(&all[1]->remote.work);
		group.channels = all;
		shim_nr_cpus = 2;
		auxt_channel_flush(&group);
		for (int i = 0; i < 2; i++) {
			assert_false(all[i]->wake.queued);
			assert_false(all[i]->remote.work.queued);
		}
		assert_int_equal(hw.waited_for, 3);
		assert_false(group.wakeup.queued);
		assert_int_equal(shim_grace_periods, rt);
		shim_nr_cpus = 0;
		group.channels = NULL;
		auxt_channel_free(all[1]);
		unmake();
		/* The last moment at which the kernel reads the works: they must not be freed. */
		synchronize_rcu();
	}
	shim_preempt_rt = false;
}

static void write_and_sync(u64 bytes)
{
	hw.position += bytes;
	irq_work_sync(&channel->wake);
	auxt_settle_sync(channel);
}

/* What is added beyond it does so only at the next one, or when the reader has read and enough is left. */
static void each_watermark_wakes_the_reader_once(void **state)
{
	u64 size;

	make_with((struct auxtrace_setup) { .data_size = DATA_SIZE,
		  .aux_watermark = AUXT_PAGE_SIZE });
	hw.rate = 0;
	start(false);
	write_and_sync(AUXT_PAGE_SIZE - 8);
	assert_false(channel->wake.queued);
	size = status_page.data_head;
	assert_true(size);
	write_and_sync(8);
	assert_true(channel->wake.queued);
	write_and_sync(AUXT_PAGE_SIZE - 8);
	assert_false(channel->wake.queued);
	write_and_sync(8);
	assert_true(channel->wake.queued);
	/* It has read some, and there is more than a watermark left. */
	user_page.aux_tail = 8;
	write_and_sync(0);
	assert_true(channel->wake.queued);
	write_and_sync(8);
	assert_false(channel->wake.queued);
	/* Some records: there is a watermark of AUX data still. */
	user_page.data_tail = size;
	irq_work_sync(&channel->wake);
	auxt_settle_sync_tails(channel);
	assert_int_equal(status_page.data_consumed, size);
	assert_true(channel->wake.queued);
	/* All: there is nothing to read, until another watermark is reached. */
	user_page.aux_tail = status_page.produced;
	write_and_sync(0);
	assert_false(channel->wake.queued);
	write_and_sync(AUXT_PAGE_SIZE - 8);
	assert_false(channel->wake.queued);
	write_and_sync(8);
	assert_true(channel->wake.queued);
	unmake();
}

/* If nobody waits, there is nobody to interrupt this CPU for. */
static void without_a_waiter_nothing_is_woken(void **state)
{
	make_with((struct auxtrace_setup) { .aux_watermark = AUXT_PAGE_SIZE });
	hw.rate = 0;
	start(false);
	group.waiters.empty = true;
	write_and_sync(AUXT_PAGE_SIZE);
	assert_true(auxt_channel_is_readable(channel, false));
	assert_false(channel->wake.queued);
	/* The last one has gone by the time that the interrupt comes. */
	group.waiters.empty = false;
	user_page.aux_tail = AUXT_PAGE_SIZE;
	write_and_sync(AUXT_PAGE_SIZE);
	assert_true(channel->wake.queued);
	group.waiters.empty = true;
	irq_work_sync(&channel->wake);
	assert_int_equal(group.waiters.woken, 0);
	unmake();
}

/* A reader on another CPU: it reads at times, and polls; the steps of that may lie far apart. */
static struct {
	enum { READS, QUEUED, SLEEPS } state;
	unsigned long sleeps, wakes;
} reader;

static void reader_reads(void)
{
	if (rand() % 2)
		user_page.aux_tail += (u64)rand() % (status_page.produced - user_page.aux_tail + 1);
	if (rand() % 2)
		user_page.data_tail = status_page.data_head;
	if (!(rand() % 4)) {
		reader.state = QUEUED;
		group.waiters.empty = false;
	}
}

static void reader_runs(void)
{
	if (rand() % 20)
		return;
	if (reader.state == READS) {
		reader_reads();
	} else if (reader.state == QUEUED && !auxt_settle_has_new_tail(channel)) {
		reader.state = auxt_channel_is_readable(channel, false) ? READS : SLEEPS;
		group.waiters.empty = reader.state == READS;
		reader.sleeps += reader.state == SLEEPS;
	}
}

static void wake_delivered(void)
{
	unsigned int woken = group.waiters.woken;

	if (!channel->wake.queued)
		return;
	irq_work_sync(&channel->wake);
	if (reader.state != SLEEPS)
		return;
	assert_int_equal(group.waiters.woken, woken + 1);
	reader.state = READS;
	group.waiters.empty = true;
	reader.wakes++;
}

static void no_reader_sleeps_beside_what_it_waits_for(void **state)
{
	static const struct auxtrace_setup setups[] = {
		{ .aux_watermark = AUXT_PAGE_SIZE },
		{ .aux_watermark = 1, .data_size = 4096, .data_watermark = 1 },
		{ .aux_watermark = 3 * AUXT_PAGE_SIZE, .data_size = 4096, .data_watermark = 512 },
		{ .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = 4096, .data_watermark = 4088 },
		{ .flags = AUXTRACE_SETUP_FULL_STOP, .aux_watermark = 3 * AUXT_PAGE_SIZE,
		  .data_size = 4096, .data_watermark = 128 },
	};

	srand(11);
	for (size_t i = 0; i < sizeof(setups) / sizeof(setups[0]); i++) {
		memset(&reader, 0, sizeof(reader));
		make_with(setups[i]);
		start(false);
		group.waiters.empty = true;
		other_cpu = reader_runs;
		nmi.one_in = 50;
		for (int n = 0; n < 8000; n++) {
			request(rand() % 2 ? PAUSE : RESUME);
			for (int m = rand() % 20; m; m--)
				shim_point();
			/* poll(2) calls the CPU, which takes the tails. */
			if (reader.state == QUEUED && auxt_settle_has_new_tail(channel))
				auxt_settle_sync_tails(channel);
			if (reader.state == SLEEPS && auxt_channel_is_readable(channel, false))
				assert_true(channel->wake.queued);
			if (rand() % 2)
				wake_delivered();
		}
		assert_true(reader.sleeps > 100);
		assert_true(reader.wakes + 1 >= reader.sleeps);
		unmake();
	}
}

/*
 * Such a reader (EPOLLET) waits without poll(2) once it has stored its tail. What comes while it
 * copies must wake it, or it would never learn of that.
 */
static void an_edge_triggered_reader_is_woken_for_what_comes_while_it_reads(void **state)
{
	make_with((struct auxtrace_setup) { .aux_watermark = 2 * AUXT_PAGE_SIZE });
	hw.rate = 0;
	start(false);
	write_and_sync(2 * AUXT_PAGE_SIZE + 100);
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	/* Up to here it reads. */
	write_and_sync(2 * AUXT_PAGE_SIZE - 200);
	assert_false(channel->wake.queued);
	write_and_sync(200);
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	/* The last bytes before the area is full are fewer than a watermark. */
	while (!(status_page.inhibit & AUXTRACE_INHIBIT_FULL)) {
		irq_work_sync(&channel->wake);
		write_and_sync(512);
	}
	assert_true(channel->wake.queued);
	irq_work_sync(&channel->wake);
	write_and_sync(0);
	assert_false(channel->wake.queued);
	unmake();
}

static void an_edge_triggered_reader_of_records_is_woken_for_each_watermark(void **state)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .data_watermark = 1, .records = AUXTRACE_WANT_TRIGGER });
	hw.rate = 0;
	start(false);
	for (int n = 0; n < 10; n++) {
		trigger(n % 2 ? AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 1);
		assert_true(channel->wake.queued);
		irq_work_sync(&channel->wake);
		user_page.data_tail = status_page.data_head;
	}
	assert_int_equal(status_page.data_consumed, 0);
	unmake();
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .data_watermark = 1024,
		  .records = AUXTRACE_WANT_TRIGGER });
	hw.rate = 0;
	start(false);
	for (int n = 0; n < 100; n++) {
		u64 head = status_page.data_head;

		trigger(n % 2 ? AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 1);
		assert_int_equal(channel->wake.queued, status_page.data_head / 1024 > head / 1024);
		irq_work_sync(&channel->wake);
	}
	unmake();
}

/* Polls on another CPU until it sleeps; it waits for POLLIN only. */
static struct {
	bool after_nmi;		/* it begins once the NMI has returned; until then nobody waits */
	bool sleeps;
} poller;

static void poller_runs(void)
{
	if (poller.sleeps || (poller.after_nmi && (!nmi.landed || nmi.running)))
		return;
	group.waiters.empty = false;
	poller.sleeps = !auxt_settle_has_new_tail(channel) &&
			!auxt_channel_is_readable(channel, false);
	if (!poller.sleeps)
		group.waiters.empty = poller.after_nmi;
}

static void area_is_full_and_read_but_for_a_rest(void)
{
	run_until_full();
	hw.rate = 0;
	user_page.aux_tail = status_page.produced - 3 * AUXT_PAGE_SIZE + 100;
	auxt_settle_sync_tails(channel);
	irq_work_sync(&channel->wake);
	assert_true(auxt_channel_is_readable(channel, false));
}

static void freeze_now(void)
{
	trigger(AUXTRACE_ACTION_FREEZE, 5);
}

static void area_has_a_watermark_that_nobody_knows(void)
{
	hw.rate = 0;
	hw.position += AUXT_PAGE_SIZE + 100;
	hw.asserted = true;
}

static void pause_or_resume_now(void)
{
	trigger(auxt_channel_inhibited(channel) & AUXTRACE_INHIBIT_TRIGGER ?
		AUXTRACE_ACTION_RESUME : AUXTRACE_ACTION_PAUSE, 1);
}

static void ring_has_dropped_a_record_and_is_read_but_for_a_rest(void)
{
	hw.rate = 0;
	while (!status_page.data_lost)
		pause_or_resume_now();
	irq_work_sync(&channel->wake);
	user_page.data_tail = status_page.data_head - 150;
	hw.asserted = true;
}

static void no_reader_sleeps_on_wherever_an_nmi_notifies_first(void **state)
{
	static const struct {
		struct auxtrace_setup setup;
		void (*prepare)(void), (*event)(void);
		enum nmi nmi;
		bool after_nmi;
	} cases[] = {
		{ { .flags = AUXTRACE_SETUP_FULL_STOP, .aux_watermark = 3 * AUXT_PAGE_SIZE },
		  area_is_full_and_read_but_for_a_rest, resume_now, NMI_BYTES, false },
		{ { .aux_watermark = AUXT_PAGE_SIZE, .data_size = DATA_SIZE },
		  area_has_a_watermark_that_nobody_knows, freeze_now, NMI_PMI, true },
		{ { .flags = AUXTRACE_SETUP_OVERWRITE, .data_size = 4096, .data_watermark = 200,
		    .records = AUXTRACE_WANT_TRIGGER },
		  ring_has_dropped_a_record_and_is_read_but_for_a_rest, pause_or_resume_now, NMI_PMI,
		  true },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int slept = 0;
		bool landed = true;

		for (long at = 0; landed; at++) {
			make_with(cases[i].setup);
			start(false);
			cases[i].prepare();
			memset(&poller, 0, sizeof(poller));
			poller.after_nmi = group.waiters.empty = cases[i].after_nmi;
			other_cpu = poller_runs;
			nmi.landed = false;
			landed = lands(cases[i].nmi, at, cases[i].event);
			other_cpu = NULL;
			slept += poller.sleeps;
			if (poller.sleeps && auxt_channel_is_readable(channel, false) &&
			    !channel->wake.queued)
				fail_msg("case %zu, NMI at point %ld: the reader sleeps on", i, at);
			unmake();
		}
		assert_true(slept > 0);
	}
}

static void records_wake_the_reader_once_at_the_watermark(void **state)
{
	unsigned int woken;

	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .data_watermark = 1000 });
	start(false);
	while (status_page.data_head < 1000) {
		assert_false(channel->wake.queued);
		assert_false(auxt_channel_is_readable(channel, false));
		auxt_channel_pause(channel, NULL);
		auxt_channel_resume(channel, NULL);
	}
	assert_true(channel->wake.queued);
	assert_true(auxt_channel_is_readable(channel, false));
	woken = group.waiters.woken;
	irq_work_sync(&channel->wake);
	assert_int_equal(group.waiters.woken, woken + 1);
	hw.rate = 0;
	auxt_settle_sync_tails(channel);
	assert_false(channel->wake.queued);
	user_page.data_tail = status_page.data_head;
	assert_true(auxt_settle_has_new_tail(channel));
	auxt_settle_sync_tails(channel);
	assert_false(auxt_settle_has_new_tail(channel));
	assert_false(auxt_channel_is_readable(channel, false));
	assert_int_equal(status_page.data_consumed, status_page.data_head);
	/* The hardware was not stopped for that. */
	assert_true(hw.on);
	reported.tail = status_page.data_head;
	reported.windows = status_page.windows - 1;
	reported.aux = channel->aux_reported;
	unmake();
}

/* Until something changes, whatever else asks for the channel's position. */
static void a_full_channel_wakes_its_reader_once(void **state)
{
	static const u32 flags[] = { 0, AUXTRACE_SETUP_FULL_AUTO, AUXTRACE_SETUP_FULL_STOP };

	for (unsigned int i = 0; i < 3; i++) {
		make(flags[i]);
		start(false);
		run_until_full();
		assert_true(channel->wake.queued);
		irq_work_sync(&channel->wake);
		auxt_settle_sync(channel);
		run_nmi(NMI_PMI);
		assert_false(channel->wake.queued);
		unmake();
	}
}

/*
 * One NMI of each kind at each point within each request, from each state. The
 * outcome must be that of the requests one after the other.
 */
static void an_nmi_may_land_anywhere(void **state)
{
	long landed = 0;

	for (int mode = 0; mode < 3; mode++)
	for (int what = NMI_PMI; what <= NMI_RESUME; what++)
	for (int req = 0; req < REQUESTS; req++)
	for (int paused = 0; paused < 2; paused++)
	for (int triggered = 0; triggered < 2; triggered++)
	for (long at = 0; ; at++) {
		bool user = req == PAUSE || (paused && req != RESUME);
		bool trigger = what == NMI_PAUSE || (triggered && what != NMI_RESUME);
		u64 offs, ons;

		if (mode == 2)
			make_slots();
		else
			make(mode ? AUXTRACE_SETUP_OVERWRITE : 0);
		start(paused);
		if (triggered)
			auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
		check();
		offs = hw.offs;
		ons = hw.ons;
		nmi.what = (enum nmi)what;
		nmi.at = at;
		nmi.points = 0;
		hw.asserted = what == NMI_PMI;
		request((enum request)req);
		if (!nmi.landed) {
			unmake();
			assert_true(at > 0);
			break;
		}
		landed++;
		check();
		assert_int_equal(status_page.inhibit,
				 (user ? AUXTRACE_INHIBIT_USER : 0) |
				 (trigger ? AUXTRACE_INHIBIT_TRIGGER : 0));
		/* At most one sync and one window each, between there and back. */
		assert_true(hw.offs - offs <= 3);
		assert_true(hw.ons - ons <= 3);
		unmake();
	}
	print_message("%ld NMIs\n", landed);
	assert_true(landed > 1000);
}

/*
 * An NMI's RESUME begins the window that an ioctl's RESUME could not, at each point within it: what
 * the ioctl reports is of before or after that.
 */
static void the_effect_of_a_resume_is_of_one_moment(void **state)
{
	long held = 0, began = 0;

	for (long at = 0; ; at++) {
		struct auxtrace_effect effect;

		make(AUXTRACE_SETUP_OVERWRITE);
		start(true);
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
		check();
		nmi.what = NMI_RESUME;
		nmi.at = at;
		nmi.points = 0;
		auxt_channel_resume(channel, &effect);
		if (!nmi.landed) {
			unmake();
			break;
		}
		if (effect.inhibit) {
			held++;
			assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_TRIGGER);
			assert_int_equal(effect.window, 0);
			assert_int_equal(effect.time, 0);
		} else {
			began++;
			assert_int_equal(effect.window, 1);
			assert_int_equal(effect.time, status_page.window_begin_time);
		}
		unmake();
	}
	assert_true(held > 0);
	assert_true(began > 3);
}

/* ---- task scope --------------------------------------------------------- */

static const struct auxtrace_setup to_be_read = { .data_size = DATA_SIZE };

/* Lack of space is one gap, however often the CPU changes between members and others meanwhile. */
static void a_full_area_is_one_gap_while_members_come_and_go(void **state)
{
	make_scoped(to_be_read);
	start(false);
	change_to(&insider);
	run_until_full();
	check();
	assert_int_equal(status_page.gaps_full, 1);
	change_to(&outsider);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL | AUXTRACE_INHIBIT_TASK);
	auxt_settle_sync(channel);
	run_nmi(NMI_PMI);
	assert_int_equal(status_page.gaps_full, 1);
	/* A poll of the tail waits for space alone. */
	assert_false(auxt_tail_poll_waits(channel));

	/* The same gap goes on. */
	for (int i = 0; i < 3; i++) {
		change_to(&insider);
		check();
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
		assert_int_equal(status_page.gaps_full, 1);
		auxt_settle_sync(channel);
		assert_int_equal(status_page.gaps_full, 1);
		change_to(&outsider);
	}

	/* The reader makes space in time. */
	user_page.aux_tail = status_page.produced;
	auxt_settle_sync_tails(channel);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(hw.windows, 1);
	change_to(&insider);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.gaps_full, 1);
	change_to(&outsider);
	window_was(2, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_TASK);
	unmake();
}

/* The timer of the tail poll need not find the member at it: the switch to it takes the tail. */
static void with_FULL_AUTO_a_switch_to_a_member_takes_the_tail(void **state)
{
	static const u32 flags[] = { 0, AUXTRACE_SETUP_FULL_AUTO };

	for (unsigned int i = 0; i < 2; i++) {
		struct auxtrace_setup setup = to_be_read;

		setup.flags = flags[i];
		make_scoped(setup);
		start(false);
		change_to(&insider);
		run_until_full();
		change_to(&outsider);
		user_page.aux_tail = status_page.produced;
		change_to(&insider);
		check();
		assert_int_equal(status_page.inhibit, i ? 0 : AUXTRACE_INHIBIT_FULL);
		assert_int_equal(hw.windows, 1 + i);
		assert_int_equal(status_page.gaps_full, 1);
		change_to(&outsider);
		unmake();
	}
}

/* The switch is the first to find that the hardware was stopped by its mark, or that it is full. */
static void a_switch_finds_a_full_area(void **state)
{
	make_scoped(to_be_read);
	start(false);
	change_to(&insider);
	while (!hw.stopped)
		hw_runs();
	hw.asserted = false;
	change_to(&outsider);
	window_was(1, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_FULL);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(status_page.gaps_full, 1);
	assert_false(channel->is & AUXT_IS_STARVED);
	change_to(&insider);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_int_equal(status_page.gaps_full, 2);
	unmake();

	/* Full, and not beyond: nothing was lost, and nobody looks for space before it is wanted. */
	for (u32 flags = 0; flags <= AUXTRACE_SETUP_FULL_AUTO; flags += AUXTRACE_SETUP_FULL_AUTO) {
		make_scoped((struct auxtrace_setup) { .flags = flags, .data_size = DATA_SIZE });
		start(false);
		change_to(&insider);
		hw.rate = 0;
		hw.position = hw.stop - 1;
		change_to(&outsider);
		window_was(1, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_TASK);
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK);
		assert_int_equal(status_page.gaps_full, 0);
		change_to(&insider);
		check();
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
		assert_int_equal(status_page.gaps_full, 1);
		unmake();
	}
}

/* If several reasons are set at once, the window ends for the first of them. */
static void a_task_is_the_last_of_the_causes(void **state)
{
	static const struct {
		u32 reason, cause;
	} with[] = {
		{ 0, AUXTRACE_CAUSE_TASK },
		{ AUXTRACE_INHIBIT_HWERROR, AUXTRACE_CAUSE_ERROR },
		{ AUXTRACE_INHIBIT_USER, AUXTRACE_CAUSE_USER },
		{ AUXTRACE_INHIBIT_OFFLINE, AUXTRACE_CAUSE_CPU },
		{ AUXTRACE_INHIBIT_FULL, AUXTRACE_CAUSE_FULL },
		{ AUXTRACE_INHIBIT_TRIGGER, AUXTRACE_CAUSE_TRIGGER },
		{ AUXTRACE_INHIBIT_FROZEN, AUXTRACE_CAUSE_TRIGGER },
	};

	for (size_t i = 0; i < sizeof(with) / sizeof(with[0]); i++) {
		make_scoped(to_be_read);
		start(false);
		change_to(&insider);
		run_to(1000);
		channel->now.pauses_asked = with[i].reason == AUXTRACE_INHIBIT_USER;
		atomic_or(with[i].reason, &channel->inhibit);
		change_to(&outsider);
		window_was(1, AUXTRACE_CAUSE_TASK, with[i].cause);
		assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_TASK | with[i].reason);
		unmake();
	}
	make_scoped(to_be_read);
	start(false);
	change_to(&insider);
	hw.foreign = true;
	change_to(&outsider);
	window_was(1, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_FOREIGN);
	change_to(&insider);
	stop();
	window_was(2, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_SESSION);
	unmake();
}

/* What ends windows all the time does not look for it, in overwrite mode. A user's request, and a look, do. */
static void foreign_code_is_looked_for_where_that_is_not_too_frequent(void **state)
{
	const u32 often = AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_TASK;
	static const u32 reasons[] = {
		0, AUXTRACE_INHIBIT_TRIGGER, AUXTRACE_INHIBIT_TASK,
		AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_TASK, AUXTRACE_INHIBIT_USER,
		AUXTRACE_INHIBIT_FROZEN, AUXTRACE_INHIBIT_OFFLINE, AUXTRACE_INHIBIT_SETUP,
		AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_TRIGGER,
	};

	for (size_t i = 0; i < 4 * sizeof(reasons) / sizeof(reasons[0]); i++) {
		u32 reason = reasons[i / 4], todo = i & 1 ? AUXT_TODO_SYNC : AUXT_TODO_APPLY;
		bool overwrite = i & 2, alone = overwrite && !(i & 1) && !(reason & ~often);

		if (!reason && todo == AUXT_TODO_APPLY)
			continue;
		make_with((struct auxtrace_setup) {
			.flags = overwrite ? AUXTRACE_SETUP_OVERWRITE : 0 });
		start(false);
		run_to(1000);
		hw.foreign = true;
		channel->now.pauses_asked = !!(reason & AUXTRACE_INHIBIT_USER);
		atomic_or(reason, &channel->inhibit);
		auxt_settle(channel, todo);
		assert_int_equal(hw.alone, alone);
		assert_int_equal(status_page.gaps_error, !alone);
		assert_int_equal(status_page.running, !reason);
		unmake();
	}
}

/*
 * Readers on other CPUs keep the cache lines of the status page whose members have not changed. Here the page
 * has other values than the channel: what is written anew is the channel's again.
 */
static void what_has_not_changed_is_not_written(void **state)
{
	struct auxtrace_status_page was;

	make(AUXTRACE_SETUP_OVERWRITE);
	start(false);
	run_to(2 * SIZE);
	hw.rate = 0;
	auxt_settle_sync(channel);
	assert_int_equal(status_page.overwritten, status_page.produced - SIZE);
	/* The sum that is checked everywhere remains. */
	status_page.overwritten += 8;
	status_page.consumed -= 8;
	status_page.snapshots += 1000;
	status_page.seq += 1000;
	was = status_page;
	for (int i = 0; i < 3; i++) {
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
		auxt_channel_allow(channel, AUXTRACE_INHIBIT_TRIGGER);
	}
	assert_int_equal(status_page.windows, was.windows + 3);
	assert_int_equal(status_page.overwritten, was.overwritten);
	assert_int_equal(status_page.consumed, was.consumed);
	assert_int_equal(status_page.snapshots, was.snapshots);
	/* What has changed is written. */
	auxt_channel_pause(channel, NULL);
	assert_int_equal(status_page.overwritten, was.overwritten - 8);
	assert_int_equal(status_page.consumed, was.consumed + 8);
	assert_int_equal(status_page.snapshots, was.snapshots);
	auxt_channel_snapshot(channel, AUXTRACE_SNAPSHOT_SLOT, 0, &(struct auxtrace_cut) { });
	assert_int_equal(status_page.snapshots, was.snapshots - 1000 + 1);
	unmake();
}

/* The next window begins because of the reason that was the last to go. */
static void the_last_reason_to_go_begins_the_window(void **state)
{
	struct auxtrace_effect effect;

	make_scoped(to_be_read);
	start(false);
	auxt_channel_pause(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_TASK | AUXTRACE_INHIBIT_USER);
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_TASK);
	assert_int_equal(status_page.resumes_done, 0);
	change_to(&insider);
	assert_int_equal(status_page.resumes_done, 0);
	auxt_channel_pause(channel, NULL);
	window_was(1, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_USER);

	change_to(&outsider);
	change_to(&insider);
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	trigger(AUXTRACE_ACTION_PAUSE, 4);
	window_was(2, AUXTRACE_CAUSE_USER, AUXTRACE_CAUSE_TRIGGER);

	change_to(&outsider);
	trigger(AUXTRACE_ACTION_RESUME, 5);
	change_to(&insider);
	change_to(&outsider);
	window_was(3, AUXTRACE_CAUSE_TASK, AUXTRACE_CAUSE_TASK);
	assert_int_equal(reported.window.begin_trigger, 0);
	assert_int_equal(reported.window.end_trigger, 0);

	trigger(AUXTRACE_ACTION_PAUSE, 6);
	change_to(&insider);
	trigger(AUXTRACE_ACTION_RESUME, 7);
	change_to(&outsider);
	window_was(4, AUXTRACE_CAUSE_TRIGGER, AUXTRACE_CAUSE_TASK);
	assert_int_equal(reported.window.begin_trigger, 7);
	assert_int_equal(status_page.gaps, 0);
	unmake();
}

/* A reader that reads now and then, requests and NMIs at random. */
static void storm(u32 flags, u32 slots, unsigned int one_in)
{
	u64 last_seq = 0;

	const struct auxtrace_setup setup = {
		.flags = flags, .data_size = DATA_SIZE, .slots = slots,
	};
	bool scoped = flags & AUXTRACE_SETUP_THREAD;

	(scoped ? make_scoped : make_with)(setup);
	start(false);
	for (int i = 0; i < 50000; i++) {
		nmi.one_in = one_in;
		if (scoped && rand() % 4)
			change_to(rand() % 2 ? &insider : &outsider);
		else
			request((enum request)(rand() % REQUESTS));
		for (int n = rand() % 20; n; n--)
			shim_point();
		if (!(rand() % 8) && !(flags & AUXTRACE_SETUP_OVERWRITE))
			user_page.aux_tail += (u64)rand() %
				(status_page.produced - user_page.aux_tail + 1);
		check();
		assert_int_equal(status_page.bad_tails, 0);
		assert_true(status_page.seq >= last_seq);
		last_seq = status_page.seq;
		if (!(rand() % 100)) {
			nmi.one_in = one_in;
			auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_OFFLINE);
			auxt_channel_detach(channel);
			check();
			assert_int_equal(auxt_channel_attach(channel), 0);
			auxt_channel_allow(channel, AUXTRACE_INHIBIT_OFFLINE);
		}
	}
	auxt_channel_allow(channel, AUXTRACE_INHIBIT_TRIGGER);
	auxt_channel_pause(channel, NULL);
	check();
	assert_int_equal(status_page.produced, hw.position);
	print_message("%llu bytes, %llu windows, %llu gaps, %llu interrupts\n",
		      (unsigned long long)status_page.produced,
		      (unsigned long long)status_page.windows,
		      (unsigned long long)status_page.gaps,
		      (unsigned long long)status_page.pmis);
	assert_true(status_page.windows > 1000);
	assert_true(status_page.pmis > 50);
	assert_int_equal(status_page.snapshots > 1000, slots > 1);
	if (slots > 1) {
		/* Some slots overflowed, most did not. */
		assert_true(status_page.overwritten > SIZE);
		assert_true(status_page.consumed > SIZE);
	}
	assert_int_equal(reported.windows, status_page.windows);
	assert_int_equal(status_page.data_lost, 0);
	unmake();
}

static void the_accounting_survives_a_storm(void **state)
{
	srand(7);
	storm(0, 1, 10);
	nmi.perf_eats = true;
	storm(0, 1, 100);
	storm(AUXTRACE_SETUP_OVERWRITE, 1, 10);
	storm(AUXTRACE_SETUP_OVERWRITE, SLOTS, 10);
	nmi.perf_eats = false;
	storm(0, 1, 100);
	storm(AUXTRACE_SETUP_OVERWRITE, 1, 10);
	storm(AUXTRACE_SETUP_OVERWRITE, 1, 100);
	storm(AUXTRACE_SETUP_OVERWRITE, SLOTS, 10);
	storm(AUXTRACE_SETUP_OVERWRITE, SLOTS, 100);
}

static void the_accounting_survives_a_storm_of_switches(void **state)
{
	srand(13);
	for (unsigned int one_in = 10; one_in <= 100; one_in *= 10) {
		storm(AUXTRACE_SETUP_THREAD, 1, one_in);
		storm(AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_OVERWRITE, 1, one_in);
		storm(AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_OVERWRITE, SLOTS, one_in);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_it_stops_counts_one_gap_and_wakes_the_reader),
		cmocka_unit_test(a_tail_beyond_the_data_is_counted_and_shown_once),
		cmocka_unit_test(a_resume_into_a_full_area_is_a_gap_of_its_own),
		cmocka_unit_test(the_stop_mark_is_found_by_the_next_sync),
		cmocka_unit_test(a_late_interrupt_is_a_gap_and_a_new_window),
		cmocka_unit_test(a_late_interrupt_at_the_last_mark_is_a_full_area),
		cmocka_unit_test(on_preempt_rt_a_work_wakes_readers_and_close_waits_once),
		cmocka_unit_test(each_watermark_wakes_the_reader_once),
		cmocka_unit_test(without_a_waiter_nothing_is_woken),
		cmocka_unit_test(no_reader_sleeps_beside_what_it_waits_for),
		cmocka_unit_test(an_edge_triggered_reader_is_woken_for_what_comes_while_it_reads),
		cmocka_unit_test(an_edge_triggered_reader_of_records_is_woken_for_each_watermark),
		cmocka_unit_test(no_reader_sleeps_on_wherever_an_nmi_notifies_first),
		cmocka_unit_test(records_wake_the_reader_once_at_the_watermark),
		cmocka_unit_test(a_record_of_a_trigger_wakes_the_reader),
		cmocka_unit_test(a_freeze_that_nests_wakes_readers),
		cmocka_unit_test(a_freeze_within_a_resume_wakes_readers),
		cmocka_unit_test(what_a_quick_reader_has_left_wakes_it_at_the_end),
		cmocka_unit_test(a_reader_that_polls_too_early_is_woken),
		cmocka_unit_test(what_is_overwritable_wakes_nobody),
		cmocka_unit_test(a_lost_record_of_a_stopped_session_wakes),
		cmocka_unit_test(an_error_wakes_readers_that_have_not_read),
		cmocka_unit_test(a_full_channel_wakes_its_reader_once),
		cmocka_unit_test(an_nmi_may_land_anywhere),
		cmocka_unit_test(the_effect_of_a_resume_is_of_one_moment),
		cmocka_unit_test(the_accounting_survives_a_storm),
		cmocka_unit_test(a_full_area_is_one_gap_while_members_come_and_go),
		cmocka_unit_test(with_FULL_AUTO_a_switch_to_a_member_takes_the_tail),
		cmocka_unit_test(a_switch_finds_a_full_area),
		cmocka_unit_test(a_task_is_the_last_of_the_causes),
		cmocka_unit_test(foreign_code_is_looked_for_where_that_is_not_too_frequent),
		cmocka_unit_test(what_has_not_changed_is_not_written),
		cmocka_unit_test(the_last_reason_to_go_begins_the_window),
		cmocka_unit_test(the_accounting_survives_a_storm_of_switches),
	};

	return cmocka_run_group_tests_name("settle", tests, NULL, NULL);
}
