// SPDX-License-Identifier: GPL-2.0
/*
 * A channel under NMIs: module/channel.c on one CPU played in user space, with a
 * trace PMU played here that writes a random number of bytes whenever time
 * passes, stops at its mark and asserts its interrupt at the call mark.
 *
 * Every place where the code under test looks at or changes something that an
 * NMI may change, and every operation on the hardware, is a point where an NMI
 * may land (shim_point()). The tests let one land at each point in turn, or at
 * random ones, and then compare the channel's accounting with what the played
 * hardware has really done.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "cmocka_all.h"
#include "channel.h"
#include "rings.h"
#include "trace_pmu.h"

#define PAGES	8
#define SIZE	(PAGES * AUXT_REGION_SIZE)
#define NO_CALL	UINT64_MAX

/* ---- the hardware ------------------------------------------------------- */

static struct {
	bool on;
	bool in_op;		/* an operation of the PMU runs */
	bool stopped;
	bool error;
	bool asserted;
	bool misplaced;
	u64 position;		/* bytes written in all: the truth */
	u64 stop, call;
	u64 windows;		/* starts with PSB+ */
	u64 offs, ons;		/* writes of the control register */
	u64 lost;		/* times it stopped by itself */
	u64 tsc;
	unsigned int rate;	/* bytes at each point, at most */
	int resume_error;
} hw;

static struct auxt_channel *channel;
static struct auxtrace_status_page status_page;
static struct auxtrace_user_page user_page;
static wait_queue_head_t waiters;

static void hw_runs(void)
{
	u64 room;

	hw.tsc++;
	if (!hw.on || hw.stopped || hw.error || !hw.rate)
		return;
	room = hw.stop - hw.position;
	hw.position += (u64)rand() % hw.rate;
	if (hw.position >= hw.stop || room == 0) {
		hw.position = hw.stop;
		hw.stopped = true;
		hw.asserted = true;
		hw.lost++;
	}
	if (hw.position >= hw.call) {
		hw.asserted = true;
		hw.call = channel->ring.overwrite ?
			  hw.position - hw.position % SIZE + SIZE : NO_CALL;
	}
}

u64 rdtsc(void)
{
	return hw.tsc++;
}

/* ---- NMIs --------------------------------------------------------------- */

enum nmi {
	NMI_NONE,
	NMI_PMI,		/* the trace unit's, or somebody else's */
	NMI_PAUSE,		/* a trigger's, as they will be */
	NMI_RESUME,
};

static struct {
	enum nmi what;
	long at;		/* the point where it lands; -1: none */
	unsigned int one_in;	/* at random: one point in so many */
	long points;
	bool running;		/* NMIs do not nest */
	bool landed;
	bool perf_eats;
	u64 position;		/* of the hardware when it last told us to look */
} nmi;

static void run_nmi(enum nmi what)
{
	bool asserted;

	nmi.running = true;
	nmi.landed = true;
	switch (what) {
	case NMI_NONE:
		break;
	case NMI_PMI:
		if (!auxt_channel_here())
			break;
		/* perf may be faster, and drops what is not its own. */
		if (nmi.perf_eats)
			hw.asserted = false;
		do {
			asserted = hw.asserted;
			hw.asserted = false;
			if (asserted)
				nmi.position = hw.position;
		} while (auxt_channel_interrupt(channel, asserted));
		break;
	case NMI_PAUSE:
		auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_TRIGGER);
		break;
	case NMI_RESUME:
		auxt_channel_allow(channel, AUXTRACE_INHIBIT_TRIGGER);
		break;
	}
	nmi.running = false;
}

void shim_point(void)
{
	static bool busy;

	if (busy || nmi.running)
		return;
	busy = true;
	hw_runs();
	busy = false;
	if (!channel)
		return;
	if (nmi.points++ == nmi.at)
		run_nmi(nmi.what);
	else if (nmi.one_in && !((unsigned int)rand() % nmi.one_in))
		run_nmi((enum nmi)(NMI_PMI + rand() % 3));
}

/* ---- the trace PMU: it insists on its rules ------------------------------- */

static void enter_op(void)
{
	assert_false(hw.in_op);
	shim_point();
	hw.in_op = true;
}

static void leave_op(void)
{
	hw.in_op = false;
	shim_point();
}

static int fake_setup(struct auxt_channel *ch, u32 flags, u64 config)
{
	(void)flags;
	(void)config;
	if (ch->ring.overwrite)
		ch->ring.cycle = 4 * SIZE;
	return 0;
}

static void fake_cleanup(struct auxt_channel *ch)
{
	(void)ch;
	assert_false(hw.on);
}

static int fake_start(struct auxt_channel *ch)
{
	assert_false(hw.on);
	assert_int_equal(ch->ring.produced, hw.position);
	hw.stopped = false;
	hw.misplaced = false;
	return 0;
}

static void fake_stop(struct auxt_channel *ch)
{
	(void)ch;
	assert_false(hw.on);
}

static int fake_resume(struct auxt_channel *ch, bool anew)
{
	(void)ch;
	enter_op();
	assert_false(hw.on);
	if (hw.resume_error) {
		leave_op();
		return hw.resume_error;
	}
	/* A window cannot go on over a stop; a start anew clears it. */
	assert_true(anew || !(hw.stopped || hw.error));
	if (anew) {
		hw.stopped = false;
		hw.error = false;
		hw.windows++;
	}
	hw.on = true;
	hw.ons++;
	leave_op();
	return 0;
}

static void fake_pause(struct auxt_channel *ch)
{
	(void)ch;
	enter_op();
	assert_true(hw.on);
	hw.on = false;
	hw.offs++;
	leave_op();
}

static u32 fake_position(struct auxt_channel *ch, u64 *offset)
{
	u32 found = 0;

	enter_op();
	assert_false(hw.on);
	*offset = hw.position % ch->ring.cycle;
	if (hw.stopped)
		found = TRACE_STOPPED;
	if (hw.error)
		found = TRACE_ERROR;
	leave_op();
	return found;
}

static void fake_arm(struct auxt_channel *ch)
{
	enter_op();
	assert_false(hw.on);
	assert_int_equal(ch->ring.produced, hw.position);
	if (ch->ring.overwrite) {
		hw.stop = UINT64_MAX;
	} else {
		hw.stop = ch->ring.limit;
		assert_true(hw.stop > hw.position);
		/* What has not been read is safe. */
		assert_true(hw.stop <= ch->ring.consumed + SIZE);
	}
	hw.call = ch->ring.call;
	leave_op();
}

static bool fake_interrupt(struct auxt_channel *ch)
{
	return hw.stopped || hw.error || hw.position >= ch->ring.call;
}

static const struct trace_pmu fake = {
	.name = "fake",
	.setup = fake_setup,
	.cleanup = fake_cleanup,
	.start = fake_start,
	.stop = fake_stop,
	.resume = fake_resume,
	.pause = fake_pause,
	.position = fake_position,
	.arm = fake_arm,
	.interrupt = fake_interrupt,
};

struct auxtrace_status_page *auxt_rings_status(struct auxt_rings *rings, int cpu)
{
	(void)rings;
	(void)cpu;
	return &status_page;
}

const struct auxtrace_user_page *auxt_rings_user(struct auxt_rings *rings, int cpu)
{
	(void)rings;
	(void)cpu;
	return &user_page;
}

/* ---- a session's steps ---------------------------------------------------- */

static void quiet(void)
{
	nmi.what = NMI_NONE;
	nmi.at = -1;
	nmi.one_in = 0;
	nmi.points = 0;
	nmi.landed = false;
}

static void make(u32 flags)
{
	struct auxtrace_setup setup = { .flags = flags, .aux_size = SIZE };

	quiet();
	memset(&hw, 0, sizeof(hw));
	nmi.position = 0;
	hw.stop = UINT64_MAX;
	hw.call = NO_CALL;
	hw.rate = 64;
	memset(&status_page, 0, sizeof(status_page));
	memset(&user_page, 0, sizeof(user_page));
	waiters.woken = 0;
	channel = NULL;
	channel = auxt_channel_new(&fake, NULL, &waiters, 3, 0, &setup);
	assert_non_null(channel);
}

static void start(bool paused)
{
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP |
			   (paused ? AUXTRACE_INHIBIT_USER : 0));
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_allow(channel, AUXTRACE_INHIBIT_SETUP);
}

static void unmake(void)
{
	struct auxt_channel *ch = channel;

	quiet();
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	assert_null(auxt_channel_here());
	channel = NULL;
	auxt_channel_free(ch);
}

/* What must hold whenever nothing runs on the CPU. */
static void check(void)
{
	const struct auxtrace_status_page *page = &status_page;

	quiet();
	hw.rate = 0;
	assert_false(channel->settling);
	assert_false(channel->unsettled);
	assert_false(channel->attend);
	assert_int_equal(hw.on, atomic_read(&channel->inhibit) == 0 && channel->attached);
	assert_int_equal(page->running, hw.on);
	assert_int_equal(page->inhibit, atomic_read(&channel->inhibit));
	assert_int_equal(page->seq & 1, 0);
	assert_int_equal(page->windows, hw.windows);
	assert_int_equal(page->gaps, page->gaps_full + page->gaps_error + page->gaps_offline);
	assert_true(page->gaps_full >= hw.lost || hw.stopped);
	assert_true(page->window_begin <= page->produced);
	assert_true(page->window_end <= page->produced);
	assert_true(page->pauses_done <= page->pauses_asked);
	assert_true(page->resumes_done <= page->resumes_asked);
	/* As many starts as stops, or one more. */
	assert_int_equal(hw.ons, hw.offs + hw.on);
	/* Told to look, it has looked. */
	assert_true(page->produced >= nmi.position);
	if (hw.on) {
		assert_true(page->produced <= hw.position);
	} else {
		assert_int_equal(page->produced, hw.position);
		if (page->windows)
			assert_int_equal(page->window_end, hw.position);
	}
	hw.rate = 64;
}

/* ---- tests ---------------------------------------------------------------- */

static void a_pause_is_one_write_and_a_resume_one_start(void **state)
{
	struct auxtrace_effect effect;

	(void)state;
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
	assert_int_equal(hw.ons, 2);
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(hw.ons, 2);
	assert_int_equal(hw.offs, 1);
	check();
	unmake();
}

static void started_paused_it_waits_for_a_resume(void **state)
{
	(void)state;
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
	(void)state;
	make(0);
	start(false);
	auxt_channel_attend(channel);
	check();
	assert_int_equal(hw.windows, 1);
	assert_int_equal(hw.offs, 1);
	assert_int_equal(hw.ons, 2);
	assert_int_equal(status_page.gaps, 0);
	unmake();
}

static void run_until_full(void)
{
	while (!(atomic_read(&channel->inhibit) & AUXTRACE_INHIBIT_FULL)) {
		hw_runs();
		if (hw.asserted)
			run_nmi(NMI_PMI);
	}
}

static void full_it_stops_counts_one_gap_and_wakes_the_reader(void **state)
{
	(void)state;
	make(0);
	start(false);
	run_until_full();
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_int_equal(status_page.gaps_full, 1);
	assert_int_equal(hw.lost, 0);
	assert_true(auxt_channel_is_readable(channel, false));
	irq_work_sync(&channel->wake);
	assert_true(waiters.woken > 0);

	/* However often it is looked at, it is the same gap. */
	auxt_channel_attend(channel);
	auxt_channel_attend(channel);
	assert_int_equal(status_page.gaps_full, 1);

	/* A tail makes room. */
	user_page.aux_tail = status_page.produced;
	assert_true(auxt_channel_has_new_tail(channel));
	auxt_channel_attend(channel);
	check();
	assert_int_equal(status_page.inhibit, 0);
	assert_int_equal(status_page.windows, 2);
	assert_int_equal(status_page.consumed, user_page.aux_tail);
	unmake();
}

static void a_resume_into_a_full_area_is_a_gap_of_its_own(void **state)
{
	struct auxtrace_effect effect;

	(void)state;
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
	/* And takes the tail. */
	auxt_channel_pause(channel, NULL);
	user_page.aux_tail = status_page.produced;
	auxt_channel_resume(channel, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.inhibit, 0);
	check();
	unmake();
}

/* All interrupts come too late: the STOP mark saves what has not been read. */
static void the_stop_mark_is_found_by_whoever_looks_next(void **state)
{
	struct auxtrace_effect effect;

	(void)state;
	for (int how = 0; how < 4; how++) {
		nmi.perf_eats = how == 3;
		make(0);
		start(false);
		while (!hw.stopped)
			hw_runs();
		if (how == 0)
			auxt_channel_pause(channel, &effect);
		else if (how == 1)
			auxt_channel_attend(channel);
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

static void an_error_stops_it_until_the_next_start(void **state)
{
	(void)state;
	make(0);
	start(false);
	hw.error = true;
	run_nmi(NMI_PMI);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(status_page.gaps_error, 1);
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
	(void)state;
	make(0);
	hw.resume_error = -EIO;
	start(false);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(status_page.windows, 0);
	assert_int_equal(status_page.gaps_error, 1);
	unmake();
}

static void going_offline_is_a_gap_if_it_ran(void **state)
{
	(void)state;
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

enum request {
	PAUSE, RESUME, ATTEND, REQUESTS
};

static void request(enum request what)
{
	switch (what) {
	case PAUSE:
		auxt_channel_pause(channel, NULL);
		break;
	case RESUME:
		auxt_channel_resume(channel, NULL);
		break;
	default:
		auxt_channel_attend(channel);
	}
}

/*
 * One NMI of each kind at each point within each request, from each state. The
 * outcome must be that of the requests one after the other.
 */
static void an_nmi_may_land_anywhere(void **state)
{
	long landed = 0;

	(void)state;
	for (int mode = 0; mode < 2; mode++)
	for (int what = NMI_PMI; what <= NMI_RESUME; what++)
	for (int req = 0; req < REQUESTS; req++)
	for (int paused = 0; paused < 2; paused++)
	for (int triggered = 0; triggered < 2; triggered++)
	for (long at = 0; ; at++) {
		bool user = req == PAUSE || (paused && req != RESUME);
		bool trigger = what == NMI_PAUSE || (triggered && what != NMI_RESUME);
		u64 offs, ons;

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
		/* No more than one look each, one window each, between there and back. */
		assert_true(hw.offs - offs <= 3);
		assert_true(hw.ons - ons <= 3);
		unmake();
	}
	print_message("%ld NMIs\n", landed);
	assert_true(landed > 1000);
}

/* A reader that reads now and then, requests and NMIs at random. */
static void storm(u32 flags, unsigned int one_in)
{
	u64 last_seq = 0;

	make(flags);
	start(false);
	for (int i = 0; i < 50000; i++) {
		nmi.one_in = one_in;
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
	unmake();
}

static void the_accounting_survives_a_storm(void **state)
{
	(void)state;
	srand(7);
	storm(0, 10);
	nmi.perf_eats = true;
	storm(0, 100);
	storm(AUXTRACE_SETUP_OVERWRITE, 10);
	nmi.perf_eats = false;
	storm(0, 100);
	storm(AUXTRACE_SETUP_OVERWRITE, 10);
	storm(AUXTRACE_SETUP_OVERWRITE, 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pause_is_one_write_and_a_resume_one_start),
		cmocka_unit_test(started_paused_it_waits_for_a_resume),
		cmocka_unit_test(upkeep_does_not_end_a_window),
		cmocka_unit_test(full_it_stops_counts_one_gap_and_wakes_the_reader),
		cmocka_unit_test(a_resume_into_a_full_area_is_a_gap_of_its_own),
		cmocka_unit_test(the_stop_mark_is_found_by_whoever_looks_next),
		cmocka_unit_test(an_error_stops_it_until_the_next_start),
		cmocka_unit_test(a_start_that_fails_is_an_error_not_a_window),
		cmocka_unit_test(going_offline_is_a_gap_if_it_ran),
		cmocka_unit_test(an_nmi_may_land_anywhere),
		cmocka_unit_test(the_accounting_survives_a_storm),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
