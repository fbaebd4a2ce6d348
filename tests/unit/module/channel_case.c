// SPDX-License-Identifier: GPL-2.0-only
/*
 * The played machine: the trace PMU, NMIs and what a channel calls of the rest of the module. The
 * records of the data ring are in channel_records.c.
 */
#include <stdlib.h>
#include <string.h>
#include "channel_case.h"

#define NO_INT_MARK	UINT64_MAX

struct hw hw;
struct nmi_plan nmi;
struct auxt_channel *channel;
struct auxtrace_status_page status_page;
struct auxtrace_user_page user_page;
struct auxt_group group;

void hw_runs(void)
{
	u64 space;

	hw.tsc++;
	if (!hw.on || hw.stopped || hw.error || hw.foreign || !hw.rate)
		return;
	space = hw.stop - hw.position;
	hw.position += (u64)rand() % hw.rate;
	if (hw.position >= hw.stop || space == 0) {
		hw.position = hw.stop;
		hw.stopped = true;
		hw.asserted = true;
		hw.lost++;
	}
	if (hw.position >= hw.int_mark) {
		hw.asserted = true;
		hw.int_mark = channel->aux.overwrite ?
			  hw.position - hw.position % channel->aux.size +
			  channel->aux.size : NO_INT_MARK;
	}
}

u64 rdtsc(void)
{
	return hw.tsc++;
}

bool (*request_maker)(struct auxt_channel *ch, const struct auxt_request *request, u64 value) = auxt_request_make;

bool trigger(u32 action, u32 id)
{
	const struct auxt_request request = { .action = action, .trigger = id };

	return request_maker(channel, &request, 0);
}

void run_nmi(enum nmi what)
{
	const struct auxt_request later = {
		.action = AUXTRACE_ACTION_PAUSE, .trigger = 9, .delay = 1000,
	};
	const struct auxt_request freeze_all = {
		.action = AUXTRACE_ACTION_FREEZE, .trigger = 12, .all_cpus = true,
	};
	bool asserted;

	nmi.running = true;
	nmi.landed = true;
	switch (what) {
	case NMI_NONE:
		break;
	case NMI_PMI:
		if (!auxt_channel_here(0))
			break;
		/* perf's handler may run first: it clears the bit and ignores it. */
		if (nmi.perf_eats)
			hw.asserted = false;
		do {
			asserted = hw.asserted;
			hw.asserted = false;
			if (asserted)
				nmi.position = hw.position;
		} while (auxt_channel_interrupt(channel, asserted));
		break;
	case NMI_FULL:
		while (hw.on && !hw.stopped && !atomic_read(&channel->inhibit)) {
			hw_runs();
			if (hw.asserted) {
				hw.asserted = false;
				auxt_channel_interrupt(channel, true);
			}
		}
		break;
	case NMI_PAUSE:
		trigger(AUXTRACE_ACTION_PAUSE, 7);
		break;
	case NMI_RESUME:
		trigger(AUXTRACE_ACTION_RESUME, 8);
		break;
	case NMI_LATER:
		assert_true(auxt_request_make(channel, &later, 0));
		break;
	case NMI_FREEZE:
		trigger(AUXTRACE_ACTION_FREEZE, 12);
		break;
	case NMI_FREEZE_ALL:
		assert_true(auxt_request_make(channel, &freeze_all, 120));
		break;
	case NMI_POLL:
		nmi.asleep = !auxt_settle_has_new_tail(channel) &&
			     !auxt_channel_is_readable(channel, false);
		break;
	case NMI_CRASH:
		auxt_channel_crash(channel);
		/* What was interrupted may never go on. */
		assert_true(!hw.on || hw.foreign);
		break;
	case NMI_DEFER:
		nmi.deferred = auxt_request_make(channel, &later, 0);
		break;
	case NMI_CLAIM:
		nmi.slot = auxt_slots_claim_any(&channel->slots);
		break;
	case NMI_READ:
		if (status_page.produced < 8)
			break;
		user_page.aux_tail = status_page.produced - 8;
		auxt_channel_interrupt(channel, true);
		break;
	case NMI_BYTES:
		nmi.wrote = hw.on;
		hw.position += hw.on ? 1000 : 0;
		auxt_channel_interrupt(channel, true);
		break;
	}
	nmi.running = false;
}

struct nested nested = { .thaw_at = -1, .freeze_at = -1 };

static void run_nested(long point)
{
	if (point != nested.thaw_at && point != nested.freeze_at)
		return;
	nmi.running = true;
	if (point == nested.thaw_at) {
		auxt_channel_resume(channel, NULL);
	} else {
		irq_work_sync(&channel->wake);
		nested.landed = true;
		nested.froze = !(atomic_read(&channel->inhibit) & AUXTRACE_INHIBIT_FROZEN);
		trigger(AUXTRACE_ACTION_FREEZE, 12);
	}
	nmi.running = false;
}

/* Bytes that a reader finds according to the status page. */
static u64 available(const struct auxtrace_status_page *page)
{
	u64 since;

	if (!channel->aux.overwrite)
		return page->produced - page->consumed;
	since = page->produced - page->slot_begin;
	return min(since, channel->aux.size);
}

/* The same even @seq twice: nothing between has changed. */
static void check_seq(const struct auxtrace_status_page *page)
{
	const size_t from = offsetof(struct auxtrace_status_page, inhibit);
	const size_t end = offsetof(struct auxtrace_status_page, data_reserved);
	static char last[sizeof(*page)];
	static u32 last_seq;

	if (page->seq && page->seq == last_seq)
		assert_false(memcmp((const char *)page + from, last, end - from));
	else
		memcpy(last, (const char *)page + from, end - from);
	last_seq = page->seq;
}

/* What a reader on another CPU relies on at any moment, if @seq is even. */
static void check_page(void)
{
	const struct auxtrace_status_page *page = &status_page;

	if (page->seq & 1)
		return;
	check_seq(page);
	assert_int_equal(page->produced, page->consumed + available(page) + page->overwritten);
	assert_int_equal(page->gaps, page->gaps_full + page->gaps_error + page->gaps_offline);
	assert_true(page->pauses_done <= page->pauses_asked);
	assert_true(page->resumes_done <= page->resumes_asked);
}

void (*other_cpu)(void);

void shim_point(void)
{
	static bool busy;

	if (channel && !busy)
		check_page();
	if (channel && !busy && other_cpu) {
		busy = true;
		other_cpu();
		busy = false;
	}
	if (busy || nmi.running)
		return;
	busy = true;
	hw_runs();
	busy = false;
	if (!channel)
		return;
	run_nested(nmi.points);
	if (nmi.points++ == nmi.at)
		run_nmi(nmi.what);
	else if (nmi.one_in && !((unsigned int)rand() % nmi.one_in))
		run_nmi((enum nmi)(NMI_PMI + rand() % 3));
}

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
	if (hw.setup_error)
		return hw.setup_error;
	if (ch->aux.overwrite)
		ch->aux.cycle = 4 * ch->aux.size;
	return 0;
}

static void fake_cleanup(struct auxt_channel *ch)
{
	/* What the hardware may write is safe before anything is freed. */
	assert_int_equal(hw.kept, hw.refuses ? ch->cpu : 0);
	assert_int_equal(ch->stuck, hw.refuses);
	assert_false(hw.on);
	hw.cleanups++;
}

static int fake_claim(struct auxt_channel *ch)
{
	assert_false(hw.on);
	if (hw.claim_error)
		return hw.claim_error;
	assert_int_equal(ch->aux.produced, hw.position);
	hw.stopped = false;
	hw.pointers_stale = false;
	hw.slot = ch->now.slot;
	hw.relocated = false;
	return 0;
}

static void fake_release(struct auxt_channel *ch)
{
	assert_false(hw.on);
	ch->stuck = hw.refuses;
}

static void arm(struct auxt_channel *ch)
{
	assert_false(hw.on);
	assert_int_equal(ch->aux.produced, hw.position);
	if (ch->aux.overwrite) {
		hw.stop = UINT64_MAX;
	} else {
		hw.stop = ch->aux.stop_mark;
		assert_true(hw.stop > hw.position);
		/* The hardware stops before it overwrites unread data. */
		assert_true(hw.stop <= ch->aux.consumed + SIZE);
	}
	hw.int_mark = ch->aux.int_mark;
}

static int fake_start(struct auxt_channel *ch, bool new_window)
{
	enter_op();
	assert_false(hw.on);
	if (hw.start_error) {
		leave_op();
		return hw.start_error;
	}
	arm(ch);
	/* Only a start of a new window clears a stop or an error. */
	assert_true(new_window || !(hw.stopped || hw.error));
	if (new_window) {
		hw.stopped = false;
		hw.late = false;
		hw.error = false;
		hw.windows++;
		hw.log[hw.windows % LOG].begin = hw.position;
		if (hw.relocated)
			hw.slot = ch->now.slot;
		hw.relocated = false;
		hw.log[hw.windows % LOG].slot = hw.slot;
	}
	/* A window lies in one slot, and module and hardware agree on which. */
	assert_int_equal(hw.slot, ch->now.slot);
	hw.foreign = false;
	hw.on = true;
	hw.ons++;
	leave_op();
	return 0;
}

static u32 fake_stop(struct auxt_channel *ch, bool alone)
{
	u32 found = 0;

	enter_op();
	assert_true(hw.on);
	hw.on = false;
	hw.log[hw.windows % LOG].end = hw.position;
	hw.offs++;
	hw.alone = alone;
	ch->off_tsc = rdtsc();
	ch->aux.produced = hw.position;
	if (hw.stopped)
		found = hw.late ? TRACE_LATE : TRACE_STOPPED;
	if (hw.foreign && !alone)
		found = TRACE_FOREIGN;
	if (hw.error)
		found = TRACE_ERROR;
	leave_op();
	return found;
}

static void fake_relocate(struct auxt_channel *ch)
{
	enter_op();
	assert_false(hw.on);
	hw.relocated = true;
	leave_op();
}

static bool fake_interrupt(struct auxt_channel *ch)
{
	return hw.stopped || hw.error || hw.position >= ch->aux.int_mark;
}

static void fake_emergency_stop(void)
{
	/* One more stop finds that the hardware is off already. */
	if (hw.on)
		hw.foreign = true;
}

struct trace_pmu fake = {
	.name = "fake",
	.granule = 1,
	.setup = fake_setup,
	.cleanup = fake_cleanup,
	.claim = fake_claim,
	.release = fake_release,
	.start = fake_start,
	.stop = fake_stop,
	.relocate = fake_relocate,
	.interrupt = fake_interrupt,
	.emergency_stop = fake_emergency_stop,
};

struct auxtrace_status_page *auxt_aux_buffer_status(struct auxt_aux_buffer *buffer, int cpu)
{
	return &status_page;
}

const struct auxtrace_user_page *auxt_aux_buffer_user(struct auxt_aux_buffer *buffer, int cpu)
{
	return &user_page;
}

char data[2 * DATA_SIZE] __attribute__((aligned(8)));

void *auxt_aux_buffer_data(struct auxt_aux_buffer *buffer, int cpu)
{
	return data;
}

void auxt_aux_buffer_keep(struct auxt_aux_buffer *buffer, int cpu)
{
	hw.kept = cpu;
}

struct task_struct shim_task;

/* The AUX area, all slots. */
#define MAX_SLOTS 4

union area area;

struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu, unsigned long n)
{
	return (struct page *)&area.byte[n * PAGE_SIZE];
}

void *page_address(const struct page *page)
{
	return (void *)page;
}

int shim_nr_cpus;

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	fail_msg("CPU %d was called with %p", cpu, (void *)csd);
	return -1;
}

int smp_call_function_single(int cpu, void (*func)(void *info), void *info, int wait)
{
	hw.waited_for |= wait ? 1u << cpu : 0;
	func(info);
	return 0;
}

u64 take_broadcast(void)
{
	u64 toggle = atomic64_xchg(&channel->remote.out_toggle, 0);
	u64 freeze = atomic64_xchg(&channel->remote.out_freeze, 0);

	assert_int_equal(channel->remote.work.queued, toggle || freeze);
	channel->remote.work.queued = false;
	assert_true(!toggle || !freeze);
	return toggle | freeze;
}

void quiet(void)
{
	nmi.what = NMI_NONE;
	nmi.at = -1;
	nmi.one_in = 0;
	nmi.points = 0;
	nmi.landed = false;
}

void make_with(struct auxtrace_setup setup)
{
	quiet();
	if (!setup.aux_size)
		setup.aux_size = SIZE;
	memset(&reported, 0, sizeof(reported));
	shim_task = (struct task_struct) { .pid = 11, .tgid = 10 };
	memset(&hw, 0, sizeof(hw));
	nmi.position = 0;
	hw.stop = UINT64_MAX;
	hw.int_mark = NO_INT_MARK;
	hw.rate = 64;
	memset(&status_page, 0, sizeof(status_page));
	memset(&user_page, 0, sizeof(user_page));
	auxt_tail_poll_init_group(&group);
	group.last_broadcast = 0;
	channel = NULL;
	channel = auxt_channel_new(&fake, NULL, &group, 3, 2, &setup);
	assert_non_null(channel);
}

void make(u32 flags)
{
	make_with((struct auxtrace_setup) { .flags = flags, .data_size = DATA_SIZE });
}

void make_slots(void)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .slots = SLOTS });
}

const struct task_struct insider = { .pid = 22, .tgid = 20 };
const struct task_struct outsider = { .pid = 33, .tgid = 30 };

void make_scoped(struct auxtrace_setup setup)
{
	group.members = auxt_members_new(AUXTRACE_SETUP_THREAD);
	assert_non_null(group.members);
	setup.flags |= AUXTRACE_SETUP_THREAD;
	make_with(setup);
}

void change_to(const struct task_struct *next)
{
	bool member = next == &insider;

	auxt_channel_switch_task(channel, next, member);
	/* Whatever runs is at one address: that is what the table of members knows. */
	shim_task = *next;
	if (member)
		assert_true(auxt_members_add(group.members, &shim_task) >= 0);
	else
		auxt_members_remove(group.members, &shim_task);
}

void start(bool paused)
{
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP |
			   (paused ? AUXTRACE_INHIBIT_USER : 0));
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_begin(channel);
}

void unmake(void)
{
	struct auxt_channel *ch = channel;

	quiet();
	other_cpu = NULL;
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	assert_null(auxt_channel_here(0));
	channel = NULL;
	auxt_channel_free(ch);
	auxt_members_free(group.members);
	group.members = NULL;
}

void check(void)
{
	const struct auxtrace_status_page *page = &status_page;

	quiet();
	hw.rate = 0;
	assert_int_equal(channel->todo, 0);
	assert_int_equal(hw.on, atomic_read(&channel->inhibit) == 0 && channel->attached);
	assert_int_equal(page->running, hw.on);
	assert_int_equal(page->inhibit, atomic_read(&channel->inhibit));
	if (channel->attached)
		assert_int_equal(!!(page->inhibit & AUXTRACE_INHIBIT_TASK),
				 group.members && shim_task.pid != insider.pid);
	assert_int_equal(page->seq & 1, 0);
	assert_int_equal(page->windows, hw.windows);
	/* All that has changed is published, however seldom it changes. */
	assert_memory_equal(page, &channel->now,
			    offsetof(struct auxtrace_status_page, data_reserved));
	check_page();
	assert_true(page->gaps_full >= hw.lost || hw.stopped);
	assert_true(page->window_begin <= page->produced);
	assert_true(page->window_end <= page->produced);
	/* As many starts as stops, or one more. */
	assert_int_equal(hw.ons, hw.offs + hw.on);
	/* After its interrupt was asserted, the position was read. */
	assert_true(page->produced >= nmi.position);
	if (hw.on) {
		assert_true(page->produced <= hw.position);
	} else {
		assert_int_equal(page->produced, hw.position);
		if (page->windows)
			assert_int_equal(page->window_end, hw.position);
	}
	/* If records were lost, the test itself checks what is left. */
	if (channel->wanted == AUXTRACE_WANT_DEFAULT && !page->data_lost) {
		read_records();
		assert_int_equal(reported.windows, page->windows - page->running);
		assert_int_equal(reported.aux, page->produced);
		assert_int_equal(reported.truncated, page->gaps_full);
		assert_int_equal(reported.partial, page->gaps_error);
	}
	assert_int_equal(page->data_bad_tails, 0);
	hw.rate = 64;
}

void stop(void)
{
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
}

void run_until_full(void)
{
	while (!(atomic_read(&channel->inhibit) & AUXTRACE_INHIBIT_FULL)) {
		hw_runs();
		if (hw.asserted)
			run_nmi(NMI_PMI);
	}
}

struct auxtrace_cut switch_slot(void)
{
	u32 from = status_page.slot, to = (from + 1) % SLOTS;
	u64 begin = status_page.slot_begin, consumed = status_page.consumed;
	u64 number = status_page.snapshots, kept;
	struct auxtrace_cut cut;

	auxt_channel_snapshot(channel, AUXTRACE_SNAPSHOT_SLOT, to, &cut);
	kept = min(cut.aux_end - begin, (u64)SLOT_SIZE);
	assert_int_equal(cut.cpu, 3);
	assert_int_equal(cut.slot, from);
	assert_int_equal(cut.reserved, 0);
	assert_int_equal(cut.aux_end - cut.aux_begin, kept);
	assert_int_equal(status_page.slot, to);
	assert_int_equal(status_page.slot_begin, cut.aux_end);
	assert_int_equal(status_page.consumed, consumed + kept);
	assert_int_equal(status_page.snapshots, number + 1);
	return cut;
}

struct auxtrace_cut cut_in_place(u32 flags)
{
	u64 number = status_page.snapshots;
	struct auxtrace_cut cut;

	auxt_channel_snapshot(channel, flags, 0, &cut);
	assert_int_equal(cut.slot, status_page.slot);
	assert_true(cut.aux_begin <= cut.aux_end);
	assert_true(cut.aux_end <= status_page.produced);
	if (channel->aux.overwrite)
		assert_int_equal(cut.aux_end - cut.aux_begin,
				 min(cut.aux_end - status_page.slot_begin, channel->aux.size));
	assert_int_equal(status_page.snapshots, number);
	return cut;
}

void request(enum request what)
{
	switch (what) {
	case PAUSE:
		auxt_channel_pause(channel, NULL);
		break;
	case RESUME:
		auxt_channel_resume(channel, NULL);
		break;
	case CUT:
		cut_in_place(0);
		break;
	case SWITCH:
		if (status_page.slots > 1) {
			switch_slot();
			break;
		}
		/* fallthrough */
	default:
		auxt_settle_sync(channel);
	}
}

bool lands(enum nmi what, long at, void (*in)(void))
{
	bool landed;

	nmi.what = what;
	nmi.at = at;
	nmi.points = 0;
	nmi.landed = false;
	in();
	landed = nmi.landed;
	quiet();
	return landed;
}

bool sample(u64 size)
{
	const struct auxt_request request = {
		.action = AUXTRACE_ACTION_SAMPLE, .trigger = 2, .size = size,
	};

	write_area();
	hw.rate = 0;
	return auxt_request_make(channel, &request, 0);
}

void run_to(u64 position)
{
	hw.rate = 64;
	/* A trace interrupt on the way may turn it off: what was to be done later is due. */
	while (hw.position < position && hw.on) {
		hw_runs();
		if (hw.asserted)
			run_nmi(NMI_PMI);
	}
}
