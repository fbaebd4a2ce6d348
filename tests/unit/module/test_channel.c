// SPDX-License-Identifier: GPL-2.0
/*
 * A channel under NMIs: channel.c, settle.c, request.c and what they use of module/core, in user
 * space on one simulated CPU. The trace PMU is simulated here: it writes a random number of bytes
 * whenever time passes, stops at the STOP mark and asserts its interrupt at the INT mark.
 *
 * Every place where the code under test looks at or changes something that an
 * NMI may change, and every operation on the hardware, is a point where an NMI
 * may land (shim_point()). The tests let one land at each point in turn, or at
 * random ones, and then compare the channel's accounting and its records with what
 * the played hardware has really done.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/sched.h>
#include "cmocka_all.h"
#include "core/channel.h"
#include "core/known.h"
#include "core/record.h"
#include "core/remote.h"
#include "core/settle.h"
#include "core/tail_poll.h"
#include "core/request.h"
#include "base/aux_buffer.h"
#include "core/trace_pmu.h"

#define PAGES	8
#define SIZE	(PAGES * AUXT_REGION_SIZE)
#define NO_INT_MARK	UINT64_MAX
#define DATA_SIZE	65536u
#define LOG	4096		/* windows whose truth is kept */

/* ---- the hardware ------------------------------------------------------- */

static struct {
	bool on;
	bool in_op;		/* an operation of the PMU runs */
	bool stopped;
	bool error;
	bool asserted;
	bool pointers_stale;
	bool foreign;		/* other code has turned it off */
	u64 position;		/* bytes written in all: the truth */
	u64 stop, int_mark;
	u64 windows;		/* starts with PSB+ */
	u64 offs, ons;		/* writes of the control register */
	u64 lost;		/* times it stopped by itself */
	u64 tsc;
	unsigned int rate;	/* bytes at each point, at most */
	bool refuses;		/* release() cannot turn it off */
	int kept;		/* CPU whose pages are kept; 0: none */
	int start_error, setup_error, claim_error;
	unsigned int cleanups;
	u32 slot;		/* that the pointers are in */
	bool relocated;		/* they are written at the next start of a window */
	struct {
		u64 begin, end;
		u32 slot;
	} log[LOG];		/* by window */
} hw;

static struct auxt_channel *channel;
static struct auxtrace_status_page status_page;
static struct auxtrace_user_page user_page;
static struct auxt_group group;

static void hw_runs(void)
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

/* ---- NMIs --------------------------------------------------------------- */

enum nmi {
	NMI_NONE,
	NMI_PMI,		/* the trace PMU's, or another one's */
	NMI_PAUSE,		/* a trigger's, as they will be */
	NMI_RESUME,
	NMI_FULL,		/* time passes until the area is full */
	NMI_LATER,		/* a trigger's PAUSE some bytes later */
	NMI_FREEZE,		/* a trigger's */
	NMI_FREEZE_ALL,		/* the same, of all CPUs */
	NMI_POLL,		/* no NMI: poll(2) on another CPU, which may go to sleep */
	NMI_CRASH,		/* the kernel crashes on another CPU, or here */
	NMI_DEFER,		/* a trigger's PAUSE some bytes later, if that is possible */
	NMI_CLAIM,		/* a slot is claimed */
	NMI_READ,		/* the reader has read all but 8 bytes; an interrupt takes the tail */
	NMI_BYTES,		/* the trace PMU's, after it has written 1000 bytes at once */
};

static struct {
	enum nmi what;
	long at;		/* the point where it lands; -1: none */
	unsigned int one_in;	/* at random: one point in so many */
	long points;
	bool running;		/* NMIs do not nest */
	bool landed;
	bool asleep;		/* that poll(2) found nothing */
	bool deferred;		/* NMI_DEFER: it was possible */
	int slot;		/* that NMI_CLAIM claimed */
	bool wrote;		/* NMI_BYTES: the hardware was on */
	bool perf_eats;
	u64 position;		/* of the hardware when it last asserted its interrupt */
} nmi;

/* A trigger hits, as in trigger/hit.c. */
static bool trigger(u32 action, u32 id)
{
	const struct auxt_request request = { .action = action, .trigger = id };

	return auxt_request_make(channel, &request, 0);
}

static void run_nmi(enum nmi what)
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

/*
 * Two events that nest in one call: a RESUME, and a FREEZE after readers have woken. That is more
 * than a CPU does, as calls run with interrupts off: only NMIs nest.
 */
static struct nested {
	long thaw_at, freeze_at;
	bool landed;
	bool froze;		/* and was not frozen before */
} nested = { .thaw_at = -1, .freeze_at = -1 };

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

void shim_point(void)
{
	static bool busy;

	if (channel && !busy)
		check_page();
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

/* ---- the trace PMU: it checks that its contract is kept -------------------- */

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

static u32 fake_stop(struct auxt_channel *ch)
{
	u32 found = 0;

	enter_op();
	assert_true(hw.on);
	hw.on = false;
	hw.log[hw.windows % LOG].end = hw.position;
	hw.offs++;
	ch->off_tsc = rdtsc();
	ch->aux.produced = hw.position;
	if (hw.stopped)
		found = TRACE_STOPPED;
	if (hw.foreign)
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

static struct trace_pmu fake = {
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

/* Twice the size of the ring: a record that wraps is contiguous, for the test as for the module. */
static char data[2 * DATA_SIZE] __attribute__((aligned(8)));

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
static union {
	u64 word[MAX_SLOTS * SIZE / 8];
	char byte[MAX_SLOTS * SIZE];
} area;

struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu, unsigned long n)
{
	return (struct page *)&area.byte[n * PAGE_SIZE];
}

void *page_address(const struct page *page)
{
	return (void *)page;
}

/* ---- other CPUs: there are none -------------------------------------------- */

int shim_nr_cpus;

int smp_call_function_single_async(int cpu, call_single_data_t *csd)
{
	fail_msg("CPU %d was called with %p", cpu, (void *)csd);
	return -1;
}

int smp_call_function_single(int cpu, void (*func)(void *info), void *info, int wait)
{
	func(info);
	return 0;
}

/* Takes the request that was queued for other CPUs since the last call; 0: none. */
static u64 take_broadcast(void)
{
	u64 toggle = atomic64_xchg(&channel->remote.out_toggle, 0);
	u64 freeze = atomic64_xchg(&channel->remote.out_freeze, 0);

	assert_int_equal(channel->remote.work.queued, toggle || freeze);
	channel->remote.work.queued = false;
	assert_true(!toggle || !freeze);
	return toggle | freeze;
}

/* ---- the records, against the truth ----------------------------------------- */

/* What the records have reported so far. */
static struct {
	u64 tail;
	u64 aux;		/* up to where in the AUX area */
	u64 auxes;
	u64 truncated;
	u64 partial;
	u64 windows;
	u64 starts;
	u64 lost;
	struct auxtrace_record_window window;
	struct auxtrace_record_itrace_start start;
	struct auxtrace_record_aux last_aux;
	u64 triggers;
	struct auxtrace_record_trigger trigger;
	u64 samples;
	struct auxtrace_record_sample sample;
} reported;

/* The word that the hardware writes at a position of the AUX area. */
static u64 word_at(u64 position)
{
	return position / 8 * 0x9e3779b97f4a7c15ull;
}

/* Fills the area with the bytes that the simulated hardware has written and not overwritten. */
static void write_area(void)
{
	u64 from = hw.position > SIZE ? hw.position - SIZE : 0;

	for (u64 p = from & ~7ull; p < hw.position; p += 8)
		area.word[(channel->now.slot * SIZE + p % SIZE) / 8] = word_at(p);
}

static void read_sample(const struct auxtrace_record_sample *r)
{
	const char *bytes = (const char *)r + r->data_offset;
	u64 begin = r->aux_end - r->length;

	assert_true(r->length <= r->wanted);
	assert_int_equal(r->data_offset, r->flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(*r));
	assert_int_equal(r->length % fake.granule, 0);
	assert_int_equal(!!(r->flags & AUXTRACE_SAMPLE_CUT),
			 r->length < r->wanted - r->wanted % fake.granule);
	reported.samples++;
	reported.sample = *r;
	for (u64 p = begin; p < r->aux_end; p++) {
		u64 word = word_at(p);
		char is = r->flags & AUXTRACE_SAMPLE_IN_SLOT ?
			  area.byte[r->sample_slot * SIZE + p % SIZE] : bytes[p - begin];

		assert_int_equal(is, ((const char *)&word)[p % 8]);
	}
}

static void read_aux(const struct auxtrace_record_aux *r)
{
	assert_int_equal(r->offset, reported.aux);
	reported.aux += r->length;
	reported.auxes++;
	reported.truncated += !!(r->flags & AUXTRACE_AUX_TRUNCATED);
	reported.partial += !!(r->flags & AUXTRACE_AUX_PARTIAL);
	assert_int_equal(!!(r->flags & AUXTRACE_AUX_OVERWRITE), channel->aux.overwrite);
	assert_true(r->length || r->flags & ~(u64)AUXTRACE_AUX_OVERWRITE);
	reported.last_aux = *r;
}

static void read_window(const struct auxtrace_record_window *r)
{
	assert_int_equal(r->window, ++reported.windows);
	assert_int_equal(r->begin, hw.log[r->window % LOG].begin);
	assert_int_equal(r->end_position, hw.log[r->window % LOG].end);
	assert_true(r->begin_time < r->end_time);
	assert_int_equal(r->end.time, r->end_time);
	assert_int_equal(r->end.tid, r->tid);
	assert_int_equal(r->slot, hw.log[r->window % LOG].slot);
	assert_int_equal(r->reserved, 0);
	if (status_page.slots == 1) {
		assert_int_not_equal(r->begin_cause, AUXTRACE_CAUSE_SNAPSHOT);
		assert_int_not_equal(r->end_cause, AUXTRACE_CAUSE_SNAPSHOT);
	}
	reported.window = *r;
}

static void read_records(void)
{
	while (reported.tail < status_page.data_head) {
		const char *at = data + reported.tail % DATA_SIZE;
		const struct auxtrace_record_header *header = (const void *)at;
		const struct auxtrace_record_end *end =
			(const void *)(at + header->size - sizeof(*end));

		assert_int_equal(end->size, header->size);
		assert_int_equal(header->misc, 0);
		switch (header->type) {
		case AUXTRACE_RECORD_AUX:
			read_aux((const void *)at);
			break;
		case AUXTRACE_RECORD_WINDOW:
			read_window((const void *)at);
			break;
		case AUXTRACE_RECORD_ITRACE_START:
			reported.starts++;
			reported.start = *(const struct auxtrace_record_itrace_start *)at;
			break;
		case AUXTRACE_RECORD_LOST:
			reported.lost += ((const struct auxtrace_record_lost *)at)->lost;
			break;
		case AUXTRACE_RECORD_TRIGGER:
			reported.triggers++;
			reported.trigger = *(const struct auxtrace_record_trigger *)at;
			assert_int_equal(end->tid, reported.trigger.tid);
			break;
		case AUXTRACE_RECORD_SAMPLE:
			read_sample((const void *)at);
			break;
		default:
			fail_msg("a record of type %u", header->type);
		}
		reported.tail += header->size;
	}
	assert_int_equal(reported.tail, status_page.data_head);
	user_page.data_tail = reported.tail;
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

static void make_with(struct auxtrace_setup setup)
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
	channel = auxt_channel_new(&fake, NULL, &group, 3, 0, &setup);
	assert_non_null(channel);
}

static void make(u32 flags)
{
	make_with((struct auxtrace_setup) { .flags = flags, .data_size = DATA_SIZE });
}

#define SLOTS		4
#define SLOT_SIZE	(SIZE / SLOTS)

static void make_slots(void)
{
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE,
		  .data_size = DATA_SIZE, .slots = SLOTS });
}

static void start(bool paused)
{
	auxt_channel_reset(channel, AUXTRACE_INHIBIT_SETUP |
			   (paused ? AUXTRACE_INHIBIT_USER : 0));
	assert_int_equal(auxt_channel_attach(channel), 0);
	auxt_channel_begin(channel);
}

static void unmake(void)
{
	struct auxt_channel *ch = channel;

	quiet();
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	assert_null(auxt_channel_here(0));
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
	assert_int_equal(channel->todo, 0);
	assert_int_equal(hw.on, atomic_read(&channel->inhibit) == 0 && channel->attached);
	assert_int_equal(page->running, hw.on);
	assert_int_equal(page->inhibit, atomic_read(&channel->inhibit));
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

static void stop(void)
{
	auxt_channel_inhibit(channel, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(channel);
}

/* ---- tests ---------------------------------------------------------------- */

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

static void an_error_stops_it_until_the_next_start(void **state)
{
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
	make(0);
	hw.start_error = -EIO;
	start(false);
	check();
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(status_page.windows, 0);
	assert_int_equal(status_page.gaps_error, 1);
	unmake();
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

/* ---- life ------------------------------------------------------------------- */

static void a_new_channel_is_as_set_up(void **state)
{
	const struct auxtrace_setup setup = {
		.aux_size = MAX_SLOTS * SIZE, .data_size = DATA_SIZE, .slots = MAX_SLOTS,
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE,
		.records = AUXTRACE_WANT_AUX,
	};

	make_with(setup);
	assert_int_equal(status_page.cpu, 3);
	assert_int_equal(status_page.aux_size, MAX_SLOTS * SIZE);
	assert_int_equal(status_page.data_size, DATA_SIZE);
	assert_int_equal(status_page.slots, MAX_SLOTS);
	assert_int_equal(status_page.inhibit, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(channel->aux.size, SIZE);
	assert_int_equal(channel->wanted, AUXTRACE_WANT_AUX);
	assert_int_equal(channel->index, 0);
	/* Nothing in it is worth waiting for. */
	assert_false(channel->drained);
	assert_false(channel->wake.queued);
	unmake();
	assert_int_equal(hw.cleanups, 1);

	make(AUXTRACE_SETUP_OVERWRITE);
	assert_true(channel->drained);
	assert_int_equal(status_page.slots, 1);
	assert_int_equal(channel->wanted, AUXTRACE_WANT_DEFAULT);
	unmake();
	make_with((struct auxtrace_setup) { .flags = AUXTRACE_SETUP_OVERWRITE });
	assert_false(channel->drained);
	assert_int_equal(channel->aux.watermark, 0);
	unmake();
	make_with((struct auxtrace_setup) { });
	assert_true(channel->drained);
	assert_int_equal(channel->aux.watermark, SIZE / 2);
	unmake();
	make_with((struct auxtrace_setup) { .aux_watermark = 4096 });
	assert_int_equal(channel->aux.watermark, 4096);
	unmake();
}

static void a_channel_that_cannot_be_set_up_is_none(void **state)
{
	const struct auxtrace_setup setup = { .aux_size = SIZE };

	quiet();
	memset(&hw, 0, sizeof(hw));
	hw.setup_error = -EINVAL;
	assert_ptr_equal(auxt_channel_new(&fake, NULL, &group, 3, 0, &setup), ERR_PTR(-EINVAL));
	assert_int_equal(hw.cleanups, 0);
	auxt_channel_free(NULL);
	hw.setup_error = 0;
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

/* ---- causes ----------------------------------------------------------------- */

/* The newest WINDOW record, which is the one of window @number. */
static void window_was(u64 number, u32 begin_cause, u32 end_cause)
{
	check();
	assert_int_equal(reported.window.window, number);
	assert_int_equal(reported.window.begin_cause, begin_cause);
	assert_int_equal(reported.window.end_cause, end_cause);
}

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

/* ---- records that a channel writes --------------------------------------------- */

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

/*
 * A watermark is reached, and while readers are notified of it an NMI takes the tail of one that
 * was quick. It then waits for what is left, which it may read after STOP: nothing has advanced.
 */
static bool read_while_notified(long at)
{
	bool landed;

	make_with((struct auxtrace_setup) { .aux_watermark = AUXT_REGION_SIZE });
	start(false);
	while (hw.position < AUXT_REGION_SIZE)
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

/* A reader that waits for an error alone is woken, even though there is unread data. */
static void an_error_wakes_readers_that_have_not_read(void **state)
{
	make_with((struct auxtrace_setup) { .aux_watermark = AUXT_REGION_SIZE });
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
		group.channels = all;
		shim_nr_cpus = 2;
		auxt_channel_flush(&group);
		for (int i = 0; i < 2; i++)
			assert_false(all[i]->wake.queued);
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

/* An AUX record is written for each advance of the AUX area: here one as long as the advance. */
static void bytes_and_records_that_advance_alike_wake_the_reader(void **state)
{
	u64 before, size;

	make_with((struct auxtrace_setup) { .data_size = DATA_SIZE,
		  .aux_watermark = AUXT_REGION_SIZE });
	start(false);
	hw.rate = 0;
	write_and_sync(AUXT_REGION_SIZE);
	before = status_page.data_head;
	write_and_sync(8);
	size = status_page.data_head - before;
	assert_true(size);
	write_and_sync(size);
	assert_int_equal(status_page.data_head, before + 2 * size);
	assert_true(channel->wake.queued);
	/* Nor does it matter how much of the records the reader frees at the same time. */
	user_page.data_tail = 2 * size;
	write_and_sync(size);
	assert_int_equal(status_page.data_consumed, 2 * size);
	assert_true(channel->wake.queued);
	unmake();
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

/* ---- full-trace modes ----------------------------------------------------------- */

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

/* ---- SNAPSHOT ------------------------------------------------------------------------ */

/* To the next slot, whatever nests: the cut agrees with what the page says was retained. */
static struct auxtrace_cut switch_slot(void)
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

/* In place: nothing changes but what a sync changes. */
static struct auxtrace_cut cut_in_place(u32 flags)
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

/* ---- NMIs everywhere -------------------------------------------------------------- */

enum request {
	PAUSE, RESUME, ATTEND, CUT, SWITCH, REQUESTS
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

/* A reader that reads now and then, requests and NMIs at random. */
static void storm(u32 flags, u32 slots, unsigned int one_in)
{
	u64 last_seq = 0;

	make_with((struct auxtrace_setup) { .flags = flags, .data_size = DATA_SIZE,
		  .slots = slots });
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

/* ---- triggers ------------------------------------------------------------- */

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
	assert_int_equal(channel->frozen, !hw.on);
	if (channel->frozen) {
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
			 channel->frozen && what == NMI_FREEZE_ALL);
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
	assert_true(channel->frozen);
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

/* Lets one NMI land at point @at; false if there is no such point. */
static bool lands(enum nmi what, long at, void (*in)(void))
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
		assert_true(hw.position < from + delays[i] + AUXT_REGION_SIZE + 64);
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

static bool sample(u64 size)
{
	const struct auxt_request request = {
		.action = AUXTRACE_ACTION_SAMPLE, .trigger = 2, .size = size,
	};

	write_area();
	hw.rate = 0;
	return auxt_request_make(channel, &request, 0);
}

static void run_to(u64 position)
{
	hw.rate = 64;
	/* A trace interrupt on the way may turn it off: what was to be done later is due. */
	while (hw.position < position && hw.on) {
		hw_runs();
		if (hw.asserted)
			run_nmi(NMI_PMI);
	}
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
		cmocka_unit_test(a_pause_is_one_write_and_a_resume_one_start),
		cmocka_unit_test(started_paused_it_waits_for_a_resume),
		cmocka_unit_test(upkeep_does_not_end_a_window),
		cmocka_unit_test(full_it_stops_counts_one_gap_and_wakes_the_reader),
		cmocka_unit_test(a_tail_beyond_the_data_is_counted_and_shown_once),
		cmocka_unit_test(a_resume_into_a_full_area_is_a_gap_of_its_own),
		cmocka_unit_test(the_stop_mark_is_found_by_the_next_sync),
		cmocka_unit_test(an_error_stops_it_until_the_next_start),
		cmocka_unit_test(a_start_that_fails_is_an_error_not_a_window),
		cmocka_unit_test(going_offline_is_a_gap_if_it_ran),
		cmocka_unit_test(a_new_channel_is_as_set_up),
		cmocka_unit_test(a_channel_that_cannot_be_set_up_is_none),
		cmocka_unit_test(a_start_that_fails_can_be_undone),
		cmocka_unit_test(a_cpu_that_goes_and_comes_back_continues),
		cmocka_unit_test(nothing_attaches_while_the_machine_sleeps),
		cmocka_unit_test(a_start_carries_out_what_others_have_asked_for),
		cmocka_unit_test(a_window_record_says_what_began_and_ended_it),
		cmocka_unit_test(full_is_a_cause_and_gives_way_to_those_before_it),
		cmocka_unit_test(only_the_wanted_records_are_written),
		cmocka_unit_test(without_a_data_ring_nothing_is_written),
		cmocka_unit_test(paused_output_is_counted_and_reported),
		cmocka_unit_test(on_preempt_rt_a_work_wakes_readers_and_close_waits_once),
		cmocka_unit_test(bytes_and_records_that_advance_alike_wake_the_reader),
		cmocka_unit_test(records_wake_the_reader_once_at_the_watermark),
		cmocka_unit_test(a_record_of_a_trigger_wakes_the_reader),
		cmocka_unit_test(a_freeze_that_nests_wakes_readers),
		cmocka_unit_test(what_a_quick_reader_has_left_wakes_it_at_the_end),
		cmocka_unit_test(a_reader_that_polls_too_early_is_woken),
		cmocka_unit_test(a_lost_record_of_a_stopped_session_wakes),
		cmocka_unit_test(the_largest_sample_comes_after_a_loss),
		cmocka_unit_test(an_error_wakes_readers_that_have_not_read),
		cmocka_unit_test(full_stop_stays_off_until_a_resume),
		cmocka_unit_test(full_stop_at_the_mark_stays_off_too),
		cmocka_unit_test(full_auto_polls_the_tail_while_it_waits),
		cmocka_unit_test(full_auto_never_forgets_a_channel_that_waits),
		cmocka_unit_test(without_full_auto_no_tail_poll_runs),
		cmocka_unit_test(a_full_channel_wakes_its_reader_once),
		cmocka_unit_test(full_auto_survives_a_storm),
		cmocka_unit_test(a_slot_is_retained_and_the_next_window_begins_in_another),
		cmocka_unit_test(a_paused_channel_changes_its_slot_and_stays_paused),
		cmocka_unit_test(a_detached_channel_changes_its_slot),
		cmocka_unit_test(an_error_at_the_cut_is_an_error_and_the_slot_is_retained),
		cmocka_unit_test(a_snapshot_in_place_lets_the_window_go_on),
		cmocka_unit_test(a_snapshot_with_pause_is_a_pause_of_trace_and_then_of_records),
		cmocka_unit_test(a_trigger_pauses_and_resumes_and_its_id_is_recorded),
		cmocka_unit_test(pages_of_stuck_hardware_are_kept),
		cmocka_unit_test(pages_are_freed_once_the_hardware_was_off),
		cmocka_unit_test(a_freeze_stops_both_until_a_resume),
		cmocka_unit_test(a_freeze_wakes_readers_that_have_not_read),
		cmocka_unit_test(a_freeze_at_any_place_is_recorded_last),
		cmocka_unit_test(a_freeze_at_any_place_of_a_resume_is_another),
		cmocka_unit_test(a_freeze_at_any_place_of_a_resume_is_on_all_cpus_or_none),
		cmocka_unit_test(of_two_freezes_one_is_the_first_in_all_places),
		cmocka_unit_test(a_window_that_a_trigger_begins_within_a_resume_is_the_triggers),
		cmocka_unit_test(what_all_are_asked_for_is_sent_once_until_one_differs),
		cmocka_unit_test(the_end_cause_of_a_window_is_recorded_even_if_it_is_undone),
		cmocka_unit_test(a_delay_within_a_snapshot_begins_at_once),
		cmocka_unit_test(some_bytes_later_it_pauses_at_most_a_page_late),
		cmocka_unit_test(one_of_two_nested_delays_is_taken),
		cmocka_unit_test(nested_claims_have_slots_of_their_own),
		cmocka_unit_test(each_slot_is_claimed_once),
		cmocka_unit_test(what_others_asked_for_is_not_forgotten),
		cmocka_unit_test(what_was_to_be_done_later_is_forgotten),
		cmocka_unit_test(a_sample_has_the_newest_bytes),
		cmocka_unit_test(records_of_a_hit_name_its_event_and_the_task),
		cmocka_unit_test(a_sample_is_a_multiple_of_the_granule),
		cmocka_unit_test(what_a_record_cannot_carry_goes_to_a_slot),
		cmocka_unit_test(a_sample_may_go_to_the_first_slot),
		cmocka_unit_test(an_nmi_may_land_anywhere),
		cmocka_unit_test(the_effect_of_a_resume_is_of_one_moment),
		cmocka_unit_test(a_crash_at_any_place_turns_it_off_for_good),
		cmocka_unit_test(the_accounting_survives_a_storm),
	};

	return cmocka_run_group_tests_name("channel", tests, NULL, NULL);
}
