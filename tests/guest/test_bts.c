// SPDX-License-Identifier: GPL-2.0
/*
 * What is BTS's alone: what it refuses, what its records hold and hide, what becomes of
 * interrupts that come late, and that perf's debug store is given back as it was.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "branches.h"
#include "cpu.h"
#include "ds.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "uapi.h"

#define USER		AUXTRACE_SETUP_USER
#define KERNEL		AUXTRACE_SETUP_KERNEL
#define BOTH		(USER | KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE
#define RECORD		sizeof(struct auxtrace_branch)

static size_t page_size;
static int cpu;

/* The reader is done with all there is, and hears of the next watermark. */
static void read_up_to(const struct session *s, uint64_t position)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	channel_set_tail(s->channel, position);
	assert_true(poll(&p, 1, 0) >= 0);
}

static bool isolated(void)
{
	return at_info().out_bts_flags & AUXTRACE_BTS_BUFFERED;
}

/* ---- what there is ------------------------------------------------------------ */

static void info_tells_of_bts(void **state)
{
	struct auxtrace_info info = at_info(), probed = { .size = sizeof(probed),
							  .flags = AUXTRACE_INFO_PROBE };
	char text[128] = "";
	FILE *f = fopen("/sys/devices/system/cpu/vulnerabilities/meltdown", "re");

	(void)state;
	assert_int_equal(info.out_bts, AUXTRACE_BTS_OK);
	assert_true(info.out_pmus & 1u << AUXTRACE_PMU_INTEL_BTS);
	assert_true(info.out_bts_flags & AUXTRACE_BTS_CPL);
	/* The kernel's own word for it. */
	if (f && fgets(text, sizeof(text), f))
		assert_int_equal(isolated(), !!strstr(text, "PTI"));
	if (f)
		fclose(f);
	ok_info(at_open(), &probed);
	assert_int_equal(probed.out_bts, AUXTRACE_BTS_OK);
}

static void info_with_probe_sees_a_session_hold_it(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	struct session s;
	int fd = at_open();

	(void)state;
	session_open(&s, 1ULL << cpu, BOTH, 16 * page_size);
	ok_start(s.fd);
	ok_info(fd, &info);
	assert_int_equal(info.out_bts, AUXTRACE_BTS_BUSY);
	info.flags = 0;
	ok_info(fd, &info);
	assert_int_equal(info.out_bts, AUXTRACE_BTS_OK);
	ok_stop(s.fd);
	info.flags = AUXTRACE_INFO_PROBE;
	ok_info(fd, &info);
	assert_int_equal(info.out_bts, AUXTRACE_BTS_OK);
}

static void setup_with_any_config_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	session_prepare(&s, 1ULL << cpu, BOTH, 16 * page_size);
	s.fd = at_open();
	for (int bit = 0; bit < 64; bit++) {
		s.setup.config = 1ULL << bit;
		fail_setup(EINVAL, s.fd, &s.setup);
	}
	s.setup.config = 0;
	ok_setup(s.fd, &s.setup);
}

/* ---- what the session may not see --------------------------------------------- */

static const struct channel *watched_channel;
static int watching;
static uint64_t seen_kernel, seen_passes;

/* At all times, so that what is removed too late is seen, too. */
static void *watch(void *arg)
{
	const struct channel *ch = watched_channel;

	(void)arg;
	/* Where there is another CPU: what it does on this one is recorded, and fills the area. */
	cpu_pin(cpus_last(cpus_online()));
	while (__atomic_load_n(&watching, __ATOMIC_RELAXED)) {
		const volatile uint64_t *word = (const void *)ch->aux;

		for (size_t i = 0; i < ch->aux_size / sizeof(*word); i++)
			seen_kernel += word[i] >> 63;
		__atomic_fetch_add(&seen_passes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

#define LEAST_ROUNDS	400
#define MOST_ROUNDS	40000	/* for who watches to get a CPU at all */

static void no_kernel_address_is_seen_at_any_time(uint32_t flags)
{
	uint64_t from_kernel = 0, seen_here = 0;
	pthread_t thread;
	struct session s;
	struct branches b;

	session_open(&s, 1ULL << cpu, USER | flags, 16 * page_size);
	watched_channel = s.channel;
	watching = 1;
	seen_kernel = seen_passes = 0;
	assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
	assert_int_equal(cpu_pin(cpu), 0);
	ok_start(s.fd);
	for (int i = 0; i < LEAST_ROUNDS ||
	     (i < MOST_ROUNDS && __atomic_load_n(&seen_passes, __ATOMIC_RELAXED) <= 10); i++) {
		struct auxtrace_status status;

		for (int n = 0; n < 20; n++) {
			getppid();
			load_run(50);
		}
		if (flags & OVER)
			continue;
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		b = branches_available(s.channel);
		for (size_t k = 0; k < b.count; k++) {
			from_kernel += !b.at[k].from;
			seen_here += !b.at[k].to || b.at[k].to >> 63 || b.at[k].from >> 63;
		}
		free(b.at);
		channel_set_tail(s.channel, channel_status(s.channel).produced);
	}
	ok_stop(s.fd);
	__atomic_store_n(&watching, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	b = branches_available(s.channel);
	for (size_t k = 0; k < b.count; k++)
		from_kernel += !b.at[k].from;
	free(b.at);
	assert_int_equal(seen_kernel, 0);
	assert_int_equal(seen_here, 0);
	assert_true(seen_passes > 10);
	/* And it is not that nothing came from there. */
	assert_true(from_kernel > 20);
	assert_true(channel_status(s.channel).produced > 4 * s.channel->aux_size);
	check_accounting(&s);
}

static void user_sessions_never_show_the_kernel(void **state)
{
	(void)state;
	no_kernel_address_is_seen_at_any_time(0);
}

static void user_sessions_that_overwrite_never_show_the_kernel(void **state)
{
	(void)state;
	no_kernel_address_is_seen_at_any_time(OVER);
}

/* What the flags choose, record by record; with PTI what came from the kernel reads as 0. */
static void each_record_is_of_the_levels_asked_for(void **state)
{
	static const uint32_t flags[] = { USER, KERNEL, BOTH };

	(void)state;
	assert_int_equal(cpu_pin(cpu), 0);
	for (int i = 0; i < 3; i++) {
		uint64_t to_user = 0, to_kernel = 0;
		struct session s;
		struct branches b;

		session_open(&s, 1ULL << cpu, flags[i], 4 << 20);
		ok_start(s.fd);
		for (int n = 0; n < 50; n++) {
			getppid();
			load_run(20);
		}
		ok_stop(s.fd);
		b = branches_available(s.channel);
		for (size_t k = 0; k < b.count; k++) {
			to_user += !(b.at[k].to >> 63);
			to_kernel += b.at[k].to >> 63;
		}
		free(b.at);
		assert_int_equal(to_user > 50, !!(flags[i] & USER));
		assert_int_equal(to_kernel > 50, !!(flags[i] & KERNEL));
		assert_true(flags[i] & USER || !to_user);
		assert_true(flags[i] & KERNEL || !to_kernel);
		check_accounting(&s);
		session_close(&s);
	}
}

/* ---- one program, by every way ------------------------------------------------- */

#define RUN_ROUNDS	40
#define MAX_RUNS	50

/* No other process comes in between: what it does on this CPU would be recorded as well. */
static void run_first(bool first)
{
	struct sched_param param = { .sched_priority = first };

	assert_int_equal(sched_setscheduler(0, first ? SCHED_FIFO : SCHED_OTHER, &param), 0);
}

/* What of the program is in the area after it ran in a window of its own. */
static struct branches record_run(uint32_t flags, uint64_t aux_size, unsigned int slots, bool *whole)
{
	struct auxtrace_status_page st;
	struct session s;
	struct branches b;

	session_prepare(&s, 1ULL << cpu, flags | AUXTRACE_SETUP_PAUSED, aux_size);
	s.setup.slots = slots;
	session_setup(&s);
	assert_int_equal(cpu_pin(cpu), 0);
	branches_make(1);
	ok_start(s.fd);
	run_first(true);
	ok_resume(&s, 0, NULL);
	branches_make(RUN_ROUNDS);
	ok_pause(&s, 0, NULL);
	run_first(false);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	if (st.gaps)
		fail_msg("flags %#x, %llu bytes in %u slots: %llu gaps (full %llu) in %llu bytes, %llu interrupts",
			 flags, (unsigned long long)aux_size, slots, st.gaps, st.gaps_full,
			 st.produced, st.pmis);
	b = branches_available(s.channel);
	branches_of_run(&b, whole);
	check_accounting(&s);
	session_close(&s);
	return b;
}

static void expect_newest(const struct branches *all, const struct branches *newest, const char *what)
{
	const struct auxtrace_branch *tail = all->at + all->count - newest->count;

	assert_true(newest->count <= all->count);
	for (size_t i = 0; i < newest->count; i++)
		if (memcmp(&tail[i], &newest->at[i], RECORD))
			fail_msg("%s: record %zu of %zu is %#llx to %#llx, not %#llx to %#llx", what, i,
				 newest->count, newest->at[i].from, newest->at[i].to, tail[i].from,
				 tail[i].to);
}

static void a_buffer_between_changes_no_branch(void **state)
{
	struct branches direct, buffered;
	bool whole;

	(void)state;
	direct = record_run(BOTH, 16 << 20, 0, &whole);
	assert_true(whole);
	buffered = record_run(USER, 4 << 20, 0, &whole);
	assert_true(whole);
	/* More than the buffer holds, several times. */
	assert_true(direct.count * RECORD > 4 * (64 << 10));
	assert_int_equal(buffered.count, direct.count);
	expect_newest(&direct, &buffered, "through the buffer");
	free(direct.at);
	free(buffered.at);
}

/*
 * The way out of the ioctl takes some of a small area, but not the half; a timer's interrupt at
 * the program's end may take all. So it runs until there was none.
 */
static struct branches record_newest(uint32_t flags, uint64_t aux_size, unsigned int slots,
				     size_t least)
{
	struct branches b = { 0 };
	bool whole;

	for (int i = 0; i < MAX_RUNS && b.count < least; i++) {
		free(b.at);
		b = record_run(flags | OVER, aux_size, slots, &whole);
		assert_false(whole);
	}
	return b;
}

static void what_is_overwritten_is_what_is_oldest(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t pages;
		unsigned int slots;
	} areas[] = {
		{ BOTH, 16, 0 }, { BOTH, 64, 0 }, { BOTH, 64, 2 },
		{ USER, 2, 0 }, { USER, 16, 0 }, { USER, 64, 0 }, { USER, 64, 4 },
	};
	struct branches all;
	bool whole;

	(void)state;
	all = record_run(BOTH, 16 << 20, 0, &whole);
	assert_true(whole);
	for (unsigned int i = 0; i < sizeof(areas) / sizeof(*areas); i++) {
		uint64_t size = areas[i].pages * page_size / (areas[i].slots ? areas[i].slots : 1);
		struct branches newest = record_newest(areas[i].flags, areas[i].pages * page_size,
						       areas[i].slots, size / RECORD / 2);
		char what[64];

		snprintf(what, sizeof(what), "%llu pages, flags %#x, %u slots",
			 (unsigned long long)areas[i].pages, areas[i].flags, areas[i].slots);
		if (newest.count < size / RECORD / 2)
			fail_msg("%s: only %zu records of the program", what, newest.count);
		expect_newest(&all, &newest, what);
		free(newest.at);
	}
	free(all.at);
}

/* The same program by PT: packets, decoded by libipt, know nothing of BTS. */
static struct branches record_run_by_pt(bool *whole)
{
	const uint64_t aux_size = 4 << 20;
	const struct auxtrace_status_page *status;
	struct branches b;
	struct session s;
	struct insns in;
	void *aux;

	/* Not by session_setup(): what is known of the tests' sessions is not of this one. */
	session_prepare(&s, 1ULL << cpu, USER | AUXTRACE_SETUP_PAUSED, aux_size);
	s.setup.pmu = AUXTRACE_PMU_INTEL_PT;
	s.setup.config = CONFIG_TSC;
	s.fd = at_open();
	ok_setup(s.fd, &s.setup);
	status = mmap(NULL, page_size, PROT_READ, MAP_SHARED, s.fd,
		      AUXTRACE_MMAP_OFFSET(cpu, AUXTRACE_REGION_STATUS));
	aux = mmap(NULL, aux_size, PROT_READ, MAP_SHARED, s.fd,
		   AUXTRACE_MMAP_OFFSET(cpu, AUXTRACE_REGION_AUX));
	assert_ptr_not_equal(status, MAP_FAILED);
	assert_ptr_not_equal(aux, MAP_FAILED);
	assert_int_equal(cpu_pin(cpu), 0);
	ok_start(s.fd);
	run_first(true);
	ok_resume(&s, 0, NULL);
	branches_make(RUN_ROUNDS);
	ok_pause(&s, 0, NULL);
	run_first(false);
	ok_stop(s.fd);
	assert_int_equal(status->gaps, 0);
	insns_decode_packets(&in, aux, status->produced);
	if (in.error)
		fail_msg("PT's trace: error %d after %zu instructions", in.error, in.count);
	b = branches_of_insns(&in);
	branches_of_run(&b, whole);
	insns_free(&in);
	munmap(aux, aux_size);
	munmap((void *)status, page_size);
	at_close(s.fd);
	return b;
}

static void pt_tells_the_same_branches(void **state)
{
	struct branches bts, pt;
	bool whole;

	(void)state;
	if (at_info().out_pt != AUXTRACE_PT_OK) {
		print_message("SKIP: no Intel PT\n");
		skip();
	}
	bts = record_run(USER, 4 << 20, 0, &whole);
	assert_true(whole);
	pt = record_run_by_pt(&whole);
	assert_true(whole);
	print_message("%zu branches by BTS, %zu by PT\n", bts.count, pt.count);
	assert_int_equal(bts.count, pt.count);
	expect_newest(&pt, &bts, "by BTS, not by PT");
	free(bts.at);
	free(pt.at);
}

/* ---- full trace ------------------------------------------------------------------ */

#define STEPS		400
/* More than what runs in the kernel from one look of the reader's to the next. */
#define WATERMARK	(32 * page_size)

/*
 * The reader is the program itself: it is always in time. So no branch is missing, over
 * hundreds of interrupts: each record goes on where the one before went.
 */
static void a_reader_in_time_gets_every_branch(uint32_t flags)
{
	uint64_t full, unmapped, begun, len = 0, room = 160 << 20, area = 16 << 20;
	uint8_t *trace = malloc(room);
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct follower f;
	struct session s;

	bench_required();
	assert_non_null(trace);
	/* A line that the kernel writes to its serial console is a megabyte of its branches. */
	session_prepare(&s, 1ULL << cpu, flags, area);
	session_prepare_data(&s, 0, 64 * page_size);
	s.setup.aux_watermark = WATERMARK;
	session_setup(&s);
	follower_init(&f, s.channel);
	assert_int_equal(cpu_pin(cpu), 0);
	full = bench_count(cpu, PTM_N_BTS_FULL);
	unmapped = bench_count(cpu, PTM_N_BTS_UNMAPPED);
	begun = bench_bytes(cpu);
	ok_start(s.fd);
	/* The slower the machine, the more of the kernel's work is in each step. */
	for (int i = 0; i < STEPS && len + area < room; i++) {
		struct auxtrace_status status;

		load_run(20000);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		st = channel_status(s.channel);
		if (st.gaps)
			fail_msg("step %d: a gap at %llu, tail %llu", i, st.produced, st.consumed);
		assert_true(st.produced <= room);
		channel_copy(s.channel, len, trace + len, st.produced - len);
		len = st.produced;
		read_up_to(&s, len);
		follow_and_take(&f);
	}
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_true(st.produced <= room);
	channel_copy(s.channel, len, trace + len, st.produced - len);
	follow_and_take(&f);
	follower_agrees(&f);
	assert_int_equal(st.gaps, 0);
	assert_int_equal(st.windows, 1);
	print_message("%llu bytes, %llu interrupts\n", st.produced, st.pmis);
	assert_true(st.pmis > STEPS / 4);
	assert_int_equal(bench_count(cpu, PTM_N_BTS_FULL), full);
	assert_int_equal(bench_count(cpu, PTM_N_BTS_UNMAPPED), unmapped);
	assert_int_equal(st.produced, bench_bytes(cpu) - begun);
	trace_check_window(&walk, trace, st.produced, "one window over many interrupts");
	print_message("%llu branches, %llu interrupts\n", (unsigned long long)walk.count, st.pmis);
	free(trace);
	check_accounting(&s);
}

static void a_reader_in_time_gets_every_branch_of_user_code(void **state)
{
	(void)state;
	a_reader_in_time_gets_every_branch(USER);
}

static void a_reader_in_time_gets_every_branch_of_both(void **state)
{
	(void)state;
	if (isolated()) {
		print_message("SKIP: the kernel's branches go through 64 KiB: an NMI may fill them\n");
		skip();
	}
	a_reader_in_time_gets_every_branch(BOTH);
}

/* Each interrupt and SYNC makes an AUX record, whose TSC bounds the branches before it. */
static void records_of_the_area_are_anchors_in_time(void **state)
{
	uint64_t last = 0, aux = 0, begin, end;
	struct auxtrace_status_page st;
	struct session s;
	struct records r;

	(void)state;
	session_prepare(&s, 1ULL << cpu, BOTH, 16 << 20);
	session_prepare_data(&s, 0, 256 * page_size);
	s.setup.aux_watermark = WATERMARK;
	session_setup(&s);
	assert_int_equal(cpu_pin(cpu), 0);
	begin = read_tsc();
	ok_start(s.fd);
	for (int i = 0; i < 100; i++) {
		struct auxtrace_status status;

		load_run(20000);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		read_up_to(&s, status.out_produced);
	}
	ok_stop(s.fd);
	end = read_tsc();
	st = channel_status(s.channel);
	records_read_all(&r, s.channel);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct auxtrace_record_aux *a = &r.at[i]->aux;

		if (a->header.type != AUXTRACE_RECORD_AUX)
			continue;
		aux++;
		assert_int_equal(a->offset % RECORD, 0);
		assert_int_equal(a->length % RECORD, 0);
		assert_true(a->end.tsc > last);
		assert_in_range(a->end.tsc, begin, end);
		last = a->end.tsc;
	}
	assert_true(st.pmis > 20);
	assert_true(aux >= st.pmis);
	assert_int_equal(st.data_lost, 0);
	records_free(&r);
	check_accounting(&s);
}

/* ---- interrupts that come late ---------------------------------------------------- */

/*
 * By more than there is room: then branches are not recorded, which no counter of a real
 * CPU tells. That it happened is what the session says, and what it has is whole.
 */
static void a_late_interrupt_is_a_gap(uint32_t flags, uint64_t late_bytes)
{
	struct auxtrace_status_page st;
	uint64_t full, begun;
	struct session s;
	struct walk walk = { 0 };
	uint8_t *trace;
	uint64_t len;

	bench_required();
	session_open(&s, 1ULL << cpu, flags, 16 * page_size);
	assert_int_equal(cpu_pin(cpu), 0);
	full = bench_count(cpu, PTM_N_BTS_FULL);
	begun = bench_bytes(cpu);
	bench_knob(cpu, PTM_KNOB_PMI_SKID, late_bytes / RECORD);
	ok_start(s.fd);
	/* Far more than the room and the lateness. */
	load_run(1000000);
	bench_knobs_reset();
	/* One that is on its way still: it finds its session. */
	load_run(late_bytes);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	print_message("%llu bytes, %llu interrupts, %llu gaps, %llu branches not recorded\n", st.produced,
		      st.pmis, st.gaps_full,
		      (unsigned long long)(bench_count(cpu, PTM_N_BTS_FULL) - full));
	assert_true(bench_count(cpu, PTM_N_BTS_FULL) > full);
	assert_true(st.gaps_full > 0);
	assert_int_equal(st.produced, bench_bytes(cpu) - begun);
	len = channel_available(s.channel);
	trace = malloc(len);
	assert_non_null(trace);
	channel_copy(s.channel, st.produced - len, trace, len);
	trace_walk(&walk, trace, len, true);
	assert_null(walk.error);
	assert_int_equal(walk.end, len);
	free(trace);
	check_accounting(&s);
}

static void in_a_full_trace_a_late_interrupt_is_a_gap(void **state)
{
	(void)state;
	a_late_interrupt_is_a_gap(BOTH, 64 * page_size);
	a_late_interrupt_is_a_gap(USER, 64 * page_size);
}

static void an_interrupt_more_than_a_lap_late_is_a_gap(void **state)
{
	(void)state;
	a_late_interrupt_is_a_gap(BOTH | OVER, 128 * page_size);
	a_late_interrupt_is_a_gap(USER | OVER, 128 * page_size);
}

/* Within its room it loses nothing. */
static void a_little_late_is_in_time(void **state)
{
	static const uint32_t flags[] = { BOTH, USER, BOTH | OVER, USER | OVER };

	(void)state;
	bench_required();
	for (int i = 0; i < 4; i++) {
		struct auxtrace_status_page st;
		uint64_t full, begun, asked = bench_count(cpu, PTM_N_PMI);
		struct session s;

		/* A line on the serial console is a megabyte of the kernel's branches. */
		session_prepare(&s, 1ULL << cpu, flags[i],
				(flags[i] & OVER ? 256 : 4096) * page_size);
		s.setup.aux_watermark = flags[i] & OVER ? 0 : WATERMARK;
		session_setup(&s);
		assert_int_equal(cpu_pin(cpu), 0);
		full = bench_count(cpu, PTM_N_BTS_FULL);
		begun = bench_bytes(cpu);
		bench_knob(cpu, PTM_KNOB_PMI_SKID, 100);
		ok_start(s.fd);
		for (int n = 0; n < 100; n++) {
			struct auxtrace_status status;

			load_run(20000);
			ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
			read_up_to(&s, status.out_produced);
		}
		ok_stop(s.fd);
		bench_knobs_reset();
		st = channel_status(s.channel);
		print_message("flags %#x: %llu bytes, %llu interrupts, %llu asked for\n", flags[i],
			      st.produced, st.pmis,
			      (unsigned long long)(bench_count(cpu, PTM_N_PMI) - asked));
		assert_true(st.pmis > 0);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(bench_count(cpu, PTM_N_BTS_FULL), full);
		assert_int_equal(st.produced, bench_bytes(cpu) - begun);
		check_accounting(&s);
		session_close(&s);
	}
}

/* ---- what is not ours --------------------------------------------------------------- */

static void the_debug_store_is_given_back_as_it_was(void **state)
{
	static const uint32_t flags[] = { BOTH, USER, BOTH | OVER };
	struct ds before, during, after;
	uint64_t area, still;
	struct session s;

	(void)state;
	/* So that perf has one, and keeps it. */
	assert_true(perf_sample(cpu, 1ULL << 40) >= 0);
	before = ds_read(cpu);
	assert_int_equal(msr_read(cpu, MSR_DS_AREA, &area), 0);
	for (int i = 0; i < 3; i++) {
		session_open(&s, 1ULL << cpu, flags[i], 16 * page_size);
		assert_int_equal(cpu_pin(cpu), 0);
		ok_start(s.fd);
		load_run(5000);
		/* The probe sees it at work, so that it can be trusted when it is not. */
		during = ds_read(cpu);
		assert_true(memcmp(&during, &before, sizeof(before)));
		assert_true(during.index >= during.base && during.index <= during.maximum);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		ok_stop(s.fd);
		after = ds_read(cpu);
		assert_memory_equal(&after, &before, sizeof(before));
		assert_int_equal(msr_read(cpu, MSR_DS_AREA, &still), 0);
		assert_int_equal(still, area);
		session_close(&s);
	}
}

static void the_ds_area_msr_is_never_ours_to_write(void **state)
{
	struct session s;
	uint64_t writes;

	(void)state;
	bench_required();
	assert_true(perf_sample(cpu, 1ULL << 40) >= 0);
	writes = bench_count(cpu, PTM_N_WRMSR_DS_AREA);
	for (int i = 0; i < 3; i++) {
		session_open(&s, 1ULL << cpu, i & 1 ? USER : BOTH | OVER, 16 * page_size);
		assert_int_equal(cpu_pin(cpu), 0);
		ok_start(s.fd);
		load_run(5000);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		ok_stop(s.fd);
		session_close(&s);
	}
	assert_int_equal(bench_count(cpu, PTM_N_WRMSR_DS_AREA), writes);
}

#define FREEZE_PERFMON	(1ULL << 12)

static void other_bits_of_debugctl_stay_as_they_are(void **state)
{
	const uint64_t ours = DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT | DEBUGCTL_BTS_OFF_OS |
			      DEBUGCTL_BTS_OFF_USR;
	struct session s;
	uint64_t v, was;

	(void)state;
	assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &was), 0);
	assert_int_equal(was & ours, 0);
	assert_int_equal(msr_write(cpu, MSR_DEBUGCTL, was | FREEZE_PERFMON), 0);
	session_open(&s, 1ULL << cpu, BOTH | OVER, 16 * page_size);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &v), 0);
		assert_int_equal(v, was | FREEZE_PERFMON | DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT);
		ok_pause(&s, 0, NULL);
		assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &v), 0);
		assert_int_equal(v, was | FREEZE_PERFMON);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &v), 0);
	assert_int_equal(v, was | FREEZE_PERFMON);
	assert_int_equal(msr_write(cpu, MSR_DEBUGCTL, was), 0);
}

/*
 * Who has read the MSR before our pause writes it back after that. It gets no room then; and
 * with the session's end it ends.
 */
static void what_is_turned_on_while_we_are_off_ends_with_the_session(void **state)
{
	struct ds before, after;
	struct session s;
	uint64_t on, v;

	(void)state;
	session_open(&s, 1ULL << cpu, BOTH | OVER, 16 * page_size);
	assert_int_equal(cpu_pin(cpu), 0);
	ok_start(s.fd);
	assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &on), 0);
	ok_stop(s.fd);
	before = ds_read(cpu);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	assert_int_equal(msr_write(cpu, MSR_DEBUGCTL, on), 0);
	load_run(100);
	ok_stop(s.fd);
	load_run(100);
	assert_int_equal(msr_read(cpu, MSR_DEBUGCTL, &v), 0);
	after = ds_read(cpu);
	msr_write(cpu, MSR_DEBUGCTL, on & ~(DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT));
	assert_int_equal(v & (DEBUGCTL_TR | DEBUGCTL_BTS), 0);
	assert_memory_equal(&after, &before, sizeof(after));
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(info_tells_of_bts),
		vm_test(info_with_probe_sees_a_session_hold_it),
		vm_test(setup_with_any_config_gives_EINVAL),
		vm_test(user_sessions_never_show_the_kernel),
		vm_test(user_sessions_that_overwrite_never_show_the_kernel),
		vm_test(each_record_is_of_the_levels_asked_for),
		vm_test(a_buffer_between_changes_no_branch),
		vm_test(what_is_overwritten_is_what_is_oldest),
		vm_test(pt_tells_the_same_branches),
		vm_test(a_reader_in_time_gets_every_branch_of_user_code),
		vm_test(a_reader_in_time_gets_every_branch_of_both),
		vm_test(records_of_the_area_are_anchors_in_time),
		vm_test(in_a_full_trace_a_late_interrupt_is_a_gap),
		vm_test(an_interrupt_more_than_a_lap_late_is_a_gap),
		vm_test(a_little_late_is_in_time),
		vm_test(the_debug_store_is_given_back_as_it_was),
		vm_test(the_ds_area_msr_is_never_ours_to_write),
		vm_test(other_bits_of_debugctl_stay_as_they_are),
		vm_test(what_is_turned_on_while_we_are_off_ends_with_the_session),
	};

	page_size = sysconf(_SC_PAGESIZE);
	cpu = cpus_first(cpus_online());
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
