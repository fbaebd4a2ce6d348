// SPDX-License-Identifier: GPL-2.0-only
/*
 * SNAPSHOT with SLOT: tracing continues in another slot without losing an instruction, and the
 * bytes of the cut do not change until RELEASE.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "cut.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "uapi.h"
#include "worker.h"

/* The bytes of a cut's slots: AUX, then data. */
struct content {
	size_t len;
	uint8_t *bytes;
};

static struct content content_of(const struct channel *ch, const struct auxtrace_cut *cut)
{
	size_t slot = ch->aux_size / ch->slots, data = ch->data_overwrite ?
		      ch->data_size / ch->slots : 0;
	struct content c = { .len = slot + data, .bytes = malloc(slot + data) };

	/* All of both slots, not only the cut. */
	if (c.bytes) {
		memcpy(c.bytes, ch->aux + cut->slot * slot, slot);
		memcpy(c.bytes + slot, ch->data + cut->slot * data, data);
	}
	return c;
}

/* The position of the oldest byte in a slot of @size bytes that was begun at @begin. */
static uint64_t oldest(uint64_t begin, uint64_t end, uint64_t size)
{
	return end - begin > size ? end - size : begin;
}

/* The records of a cut must report the window that it ended. */
static void check_cut_window(const struct channel *ch, const struct auxtrace_cut *cut,
			     struct follower *f, const struct auxtrace_cut *older)
{
	bool resync = ch->data_overwrite && cut->data_begin != older->data_end;
	const union any_record *rec;
	struct records r;

	records_read(&r, ch, cut->slot, cut->data_begin, cut->data_end);
	rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(rec);
	assert_int_equal(rec->window.window, cut->window);
	assert_int_equal(rec->window.slot, cut->slot);
	assert_int_equal(rec->window.end_cause, AUXTRACE_CAUSE_SNAPSHOT);
	assert_int_equal(rec->window.end_position, cut->aux_end);
	assert_int_equal(rec->window.begin_cause, cut->window == 1 ? AUXTRACE_CAUSE_SESSION :
			 AUXTRACE_CAUSE_SNAPSHOT);
	if (!resync)
		assert_int_equal(r.begin, cut->data_begin);
	if (!ch->data_overwrite)
		follower_init(f, ch);
	follow(f, &r, resync);
	records_free(&r);
}

/* With less trace than the slot holds, and with more. */
static void slots_follow_each_other_in_positions_windows_and_records(void **state)
{
	uint64_t aux_sum[MAX_CPUS] = { 0 }, data_sum[MAX_CPUS] = { 0 };
	struct auxtrace_cut cuts[MAX_CPUS], older[MAX_CPUS];
	const struct mode *m = *state;
	struct follower f[MAX_CPUS];
	uint64_t begun[MAX_CPUS];
	struct session s;

	emulator_required();
	cut_session(&s, all_cpus, m, 0);
	for (unsigned int i = 0; i < s.count; i++) {
		follower_init(&f[i], &s.channel[i]);
		begun[i] = emulator_bytes(s.channel[i].cpu);
	}
	load_start(last_cpu);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	memset(older, 0, sizeof(older));
	for (unsigned int n = 1; n <= 6; n++) {
		uint32_t slot;

		load_run(n & 1 ? 300 : 40000);
		ok_snapshot(&s, SLOT, cuts, &slot);
		for (unsigned int i = 0; i < s.count; i++) {
			struct auxtrace_status_page st = channel_status(&s.channel[i]);
			const struct auxtrace_cut *c = &cuts[i];

			aux_sum[i] += c->aux_end - c->aux_begin;
			data_sum[i] += c->data_end - c->data_begin;
			assert_int_equal(st.snapshots, n);
			assert_int_equal(st.consumed, aux_sum[i]);
			assert_int_equal(st.slot_begin, c->aux_end);
			assert_int_not_equal(st.slot, slot);
			/* Tracing continued there, in a window that began during the call. */
			assert_int_equal(c->inhibit, 0);
			assert_int_equal(c->window, n);
			assert_int_equal(st.running, 1);
			assert_int_equal(st.windows, n + 1);
			assert_int_equal(st.window_begin, c->aux_end);
			assert_in_range(st.window_begin_time, c->time, read_tsc());
			assert_int_equal(c->aux_begin, oldest(older[i].aux_end, c->aux_end,
							      AUX_SLOT));
			cut_walk(&s.channel[i], c, c->aux_begin == older[i].aux_end);
			if (m->data & NEWEST) {
				assert_int_equal(c->data_begin,
						 oldest(older[i].data_end, c->data_end, DATA_SLOT));
				assert_int_equal(st.data_consumed, data_sum[i]);
				assert_int_equal(st.data_slot_begin, c->data_end);
			}
			if (m->data_size)
				check_cut_window(&s.channel[i], c, &f[i], &older[i]);
			older[i] = *c;
		}
		ok_release(s.fd, slot);
		assert_int_equal(invariants_broken(&s), 0);
	}
	assert_true(channel_status(s.channel).overwritten > 0);
	ok_stop(s.fd);
	/* What the hardware wrote, to any slot, is what was produced, to the byte. */
	for (unsigned int i = 0; i < s.count; i++)
		check_written(channel_status(&s.channel[i]).produced,
			      emulator_bytes(s.channel[i].cpu) - begun[i]);
	check_accounting(&s);
}

static void a_retained_slot_does_not_change_while_tracing_continues(void **state)
{
	struct auxtrace_cut cuts[MAX_CPUS], other[MAX_CPUS];
	struct content content[MAX_CPUS];
	const struct mode *m = *state;
	struct session s;
	uint32_t slot, next;

	cut_session(&s, all_cpus, m, 0);
	load_start(last_cpu);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(5000);
	ok_snapshot(&s, SLOT, cuts, &slot);
	for (unsigned int i = 0; i < s.count; i++) {
		content[i] = content_of(&s.channel[i], &cuts[i]);
		assert_non_null(content[i].bytes);
	}
	/* Wrap in each of the other slots, and write records in each. */
	for (unsigned int n = 0; n < 2 * SLOTS; n++) {
		load_run(20000);
		for (int i = 0; i < 20; i++) {
			ok_pause(&s, 0, NULL);
			ok_resume(&s, 0, NULL);
		}
		ok_snapshot(&s, SLOT, other, &next);
		assert_int_not_equal(next, slot);
		ok_release(s.fd, next);
	}
	for (unsigned int i = 0; i < s.count; i++) {
		struct content now = content_of(&s.channel[i], &cuts[i]);

		assert_memory_equal(now.bytes, content[i].bytes, now.len);
		free(now.bytes);
		free(content[i].bytes);
		cut_walk(&s.channel[i], &cuts[i], !cuts[i].aux_begin);
	}
	assert_true(channel_status(s.channel).overwritten > 0);
	ok_release(s.fd, slot);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void when_every_other_slot_is_held_a_snapshot_gives_ENOSPC(void **state)
{
	const struct mode m = { OVER, NEWEST, DATA_SIZE, SLOTS };
	struct auxtrace_status_page before, after;
	struct auxtrace_cut cuts[MAX_CPUS];
	uint32_t held[SLOTS], seen = 0;
	struct session s;

	cut_session(&s, all_cpus, &m, 0);
	ok_start(s.fd);
	for (unsigned int i = 0; i < SLOTS - 1; i++) {
		ok_snapshot(&s, SLOT, cuts, &held[i]);
		assert_false(seen & 1u << held[i]);
		seen |= 1u << held[i];
	}
	before = channel_status(s.channel);
	assert_false(seen & 1u << before.slot);
	fail_snapshot(ENOSPC, s.fd, SLOT);
	after = channel_status(s.channel);
	assert_int_equal(after.windows, before.windows);
	assert_int_equal(after.snapshots, before.snapshots);
	assert_int_equal(after.slot, before.slot);
	assert_int_equal(after.running, 1);
	/* The other kinds of snapshot need no slot. */
	ok_snapshot(&s, 0, cuts, NULL);
	ok_snapshot(&s, PAUSE, cuts, NULL);
	ok_output(s.fd, 0, 0);
	ok_resume(&s, 0, NULL);

	ok_release(s.fd, held[1]);
	ok_snapshot(&s, SLOT, cuts, &held[3]);
	assert_int_equal(channel_status(s.channel).slot, held[1]);
	fail_snapshot(ENOSPC, s.fd, SLOT);
	ok_release(s.fd, held[0]);
	ok_release(s.fd, held[2]);
	ok_release(s.fd, held[3]);
	ok_snapshot(&s, SLOT, cuts, &held[0]);
	ok_stop(s.fd);
	/* A retained slot can be released in any state. */
	ok_release(s.fd, held[0]);
	check_accounting(&s);
}

static void a_paused_channel_changes_its_slot_and_stays_paused(void **state)
{
	const struct mode m = { OVER, NEWEST, DATA_SIZE, SLOTS };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct auxtrace_effect effect;
	struct auxtrace_status_page st;
	const union any_record *rec;
	struct records r;
	struct session s;
	uint32_t slot;

	cut_session(&s, all_cpus, &m, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(200);
	ok_pause(&s, one_cpu, NULL);
	ok_snapshot(&s, SLOT, cuts, &slot);
	st = channel_status(s.channel);
	assert_int_equal(cuts[0].inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(cuts[0].window, 1);
	assert_int_equal(cuts[0].aux_end, st.window_end);
	assert_int_not_equal(st.slot, slot);
	assert_int_equal(st.windows, 1);
	assert_false(msr_tracing(first_cpu));
	cut_walk(s.channel, &cuts[0], !cuts[0].aux_begin);
	/* A new window begins in the new slot. */
	ok_resume(&s, one_cpu, &effect);
	assert_int_equal(effect.position, cuts[0].aux_end);
	assert_int_equal(effect.window, 2);
	load_run(200);
	ok_pause(&s, one_cpu, NULL);
	records_read_all(&r, s.channel);
	rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
	assert_non_null(rec);
	assert_int_equal(rec->window.window, 2);
	assert_int_equal(rec->window.slot, st.slot);
	assert_int_equal(rec->window.begin_cause, AUXTRACE_CAUSE_USER);
	records_free(&r);
	/* Nothing is traced from here on: the second cut after this is empty. */
	ok_release(s.fd, slot);
	ok_snapshot(&s, SLOT, cuts, &slot);
	cut_walk(s.channel, &cuts[0], cuts[0].aux_begin == effect.position);
	ok_release(s.fd, slot);
	ok_snapshot(&s, SLOT, cuts, &slot);
	assert_int_equal(cuts[0].aux_begin, cuts[0].aux_end);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void an_offline_cpu_changes_its_slot_with_the_others(void **state)
{
	const struct mode m = { OVER, NEWEST | BACKWARD, DATA_SIZE, SLOTS };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct auxtrace_status_page st;
	struct channel *gone;
	struct session s;
	uint32_t slot;

	hotplug_required();
	cut_session(&s, all_cpus, &m, AUXTRACE_SETUP_KERNEL);
	gone = session_channel(&s, last_cpu);
	ok_start(s.fd);
	last_cpu_offline();
	ok_snapshot(&s, SLOT, cuts, &slot);
	assert_int_equal(cuts[s.count - 1].inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(cuts[s.count - 1].window, 1);
	cut_walk(gone, &cuts[s.count - 1], !cuts[s.count - 1].aux_begin);
	assert_int_equal(channel_status(gone).slot, channel_status(s.channel).slot);
	last_cpu_online();
	st = channel_status(gone);
	assert_int_equal(st.window_begin, cuts[s.count - 1].aux_end);
	assert_int_equal(st.running, 1);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* A thread's number of context switches, voluntary or not. */
static unsigned long switches(pid_t tid)
{
	unsigned long sum = 0, value;
	char path[64], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", tid);
	file = fopen(path, "re");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		char *at = strstr(line, "ctxt_switches:");

		if (at && sscanf(at, "ctxt_switches: %lu", &value) == 1)
			sum += value;
	}
	fclose(file);
	return sum;
}

#define ROUNDS		40
#define LARGE_SLOT	(1u << 20)	/* which no round fills */
#define PSB_BYTES	4096		/* contain a PSB: the period is 2 KiB */

/* Where user code was entered first in a complete cut; 0: nowhere. */
static uint64_t first_traced(const struct channel *ch, const struct auxtrace_cut *cut)
{
	uint64_t len = oldest(cut->aux_begin, cut->aux_end, PSB_BYTES) == cut->aux_begin ?
		       cut->aux_end - cut->aux_begin : PSB_BYTES;
	struct walk walk = { 0 };
	uint8_t trace[PSB_BYTES];

	channel_copy_slot(ch, cut->slot, cut->aux_begin, trace, len);
	trace_walk(&walk, trace, len, false);
	assert_true(!len || walk.begins_window);
	return walk.first_user;
}

/* Where the last interrupt in a cut left user code; 0: the trace does not show it. */
static uint64_t last_interrupted(const struct channel *ch, const struct auxtrace_cut *cut)
{
	uint64_t begin = oldest(cut->aux_begin, cut->aux_end, PSB_BYTES);
	struct walk walk = { 0 };
	uint8_t trace[PSB_BYTES];

	channel_copy_slot(ch, cut->slot, begin, trace, cut->aux_end - begin);
	trace_walk(&walk, trace, cut->aux_end - begin, true);
	assert_true(!walk.starts || !walk.error);
	return walk.last_user;
}

/*
 * A load in user mode on a CPU of its own; only user code is traced. If the load was not
 * switched during the ioctl, the next window must begin where the cut's interrupt left the
 * load: then no instruction ran between the two windows.
 */
static void no_instruction_runs_between_a_cut_and_the_next_window(void **state)
{
	struct auxtrace_cut cuts[MAX_CPUS];
	unsigned int judged = 0;
	uint64_t interrupted = 0, traced;
	struct session s;

	two_cpus_required();
	session_prepare(&s, 1ULL << last_cpu, AUXTRACE_SETUP_USER | OVER, SLOTS * LARGE_SLOT);
	s.setup.slots = SLOTS;
	session_setup(&s);
	cpu_pin(first_cpu);
	load_start(last_cpu);
	ok_start(s.fd);
	/* A busy host may run the load so long that a slot is full: that cut cannot be judged. */
	for (unsigned int i = 0; i < ROUNDS || (!judged && i < 50 * ROUNDS); i++) {
		unsigned long before = switches(load_tid(last_cpu));
		uint32_t slot;

		ok_snapshot(&s, SLOT, cuts, &slot);
		traced = cuts[0].aux_end - cuts[0].aux_begin < LARGE_SLOT ?
			 first_traced(s.channel, &cuts[0]) : 0;
		if (interrupted && traced) {
			judged++;
			if (!trace_goes_on(interrupted, traced))
				fail_msg("round %u: interrupted at %#llx, traced again from %#llx",
					 i, (unsigned long long)interrupted,
					 (unsigned long long)traced);
		}
		interrupted = switches(load_tid(last_cpu)) == before ?
			      last_interrupted(s.channel, &cuts[0]) : 0;
		ok_release(s.fd, slot);
	}
	print_message("%u cuts judged\n", judged);
	assert_true(judged > 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- storm -------------------------------------------------------------------- */

/* The bytes that all snapshots of a storm retained, for each channel. */
static struct {
	uint64_t aux[MAX_CPUS], data[MAX_CPUS], count;
} sums;

static void add_up(const struct auxtrace_cut *cuts, unsigned int n)
{
	__atomic_fetch_add(&sums.count, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < n; i++) {
		__atomic_fetch_add(&sums.aux[i], cuts[i].aux_end - cuts[i].aux_begin,
				   __ATOMIC_RELAXED);
		__atomic_fetch_add(&sums.data[i], cuts[i].data_end - cuts[i].data_begin,
				   __ATOMIC_RELAXED);
	}
}

/* Take a snapshot, compare its slot with itself some time later, release it. */
static int hold_and_compare(struct worker *w)
{
	const struct session *s = &w->session;
	struct auxtrace_cut cuts[MAX_CPUS];
	struct content content[MAX_CPUS];
	uint32_t slot;
	int ret = at_snapshot(s->fd, SLOT, cuts, s->count, &slot), bad = 0;

	if (ret == -ENOSPC) {
		sched_yield();
		return 0;
	}
	if (ret < 0)
		return ret;
	add_up(cuts, ret);
	for (int i = 0; i < ret; i++)
		content[i] = content_of(&s->channel[i], &cuts[i]);
	load_run(500);
	for (int i = 0; i < ret; i++) {
		struct content now = content_of(&s->channel[i], &cuts[i]);

		bad |= cuts[i].slot != slot || memcmp(now.bytes, content[i].bytes, now.len);
		free(now.bytes);
		free(content[i].bytes);
	}
	ret = at_release(s->fd, slot);
	return ret ? ret : bad ? -EILSEQ : 0;
}

static int cut_in_place(struct worker *w)
{
	struct auxtrace_cut cuts[MAX_CPUS];
	int ret = at_snapshot(w->session.fd, 0, cuts, w->session.count, NULL);

	load_run(300);
	return ret < 0 ? ret : 0;
}

static int cut_and_pause(struct worker *w)
{
	struct auxtrace_cut cuts[MAX_CPUS];
	int ret = at_snapshot(w->session.fd, PAUSE, cuts, w->session.count, NULL);

	if (ret > 0)
		ret = at_output(w->session.fd, 0, 0);
	if (ret >= 0)
		ret = at_control(w->session.fd, AUXTRACE_IOC_RESUME, 0, NULL, 0);
	load_run(500);
	return ret < 0 ? ret : 0;
}

#define STORM_ROUNDS	20

static void snapshots_under_requests_and_hotplug_add_up(void **state)
{
	const struct mode m = { OVER, NEWEST | BACKWARD, DATA_SIZE, SLOTS };
	struct auxtrace_cut cuts[MAX_CPUS];
	unsigned int round;
	struct session s;
	bool plug;

	session_prepare(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | m.aux,
			space_for(AUX_SIZE));
	session_prepare_data(&s, m.data, m.data_size);
	s.setup.slots = m.slots;
	session_setup(&s);
	plug = first_cpu != last_cpu && !cpu_set_online(last_cpu, 1);
	ok_start(s.fd);
	memset(&sums, 0, sizeof(sums));
	worker_start(&s, -1, hold_and_compare, 0);
	worker_start(&s, -1, hold_and_compare, 0);
	worker_start(&s, -1, cut_in_place, 0);
	worker_start(&s, -1, cut_and_pause, 0);
	worker_start(&s, -1, pause_and_resume_all, 0);
	worker_start(&s, first_cpu, pause_and_resume, 0);
	/* The main thread checks the content of its own cuts. */
	for (round = 0; round < STORM_ROUNDS; round++) {
		uint32_t slot;
		int ret;

		/* Errors here are judged after the workers have ended. */
		if (plug && round % 8 == 4 &&
		    (cpu_set_online(last_cpu, 0) || cpu_set_online(last_cpu, 1)))
			break;
		ret = at_snapshot(s.fd, SLOT, cuts, s.count, &slot);
		if (ret == -ENOSPC)
			continue;
		if (ret < 0)
			break;
		add_up(cuts, s.count);
		for (unsigned int i = 0; i < s.count; i++) {
			struct follower f;
			struct records r;

			cut_walk(&s.channel[i], &cuts[i], false);
			follower_init(&f, &s.channel[i]);
			records_read(&r, &s.channel[i], slot, cuts[i].data_begin, cuts[i].data_end);
			follow(&f, &r, true);
			records_free(&r);
		}
		ok_release(s.fd, slot);
	}
	workers_join();
	assert_int_equal(round, STORM_ROUNDS);
	ok_pause(&s, 0, NULL);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.snapshots, sums.count);
		assert_int_equal(st.consumed, sums.aux[i]);
		assert_int_equal(st.data_consumed, sums.data[i]);
		assert_int_equal(st.gaps, st.gaps_offline);
		assert_int_equal(st.slot, channel_status(s.channel).slot);
	}
	print_message("%llu slots retained\n", (unsigned long long)sums.count);
	assert_true(sums.count > 10);
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_mode(slots_follow_each_other_in_positions_windows_and_records,
			OVER, NEWEST, DATA_SIZE, SLOTS),
		in_mode(slots_follow_each_other_in_positions_windows_and_records,
			OVER, NEWEST | BACKWARD, DATA_SIZE, SLOTS),
		in_mode(slots_follow_each_other_in_positions_windows_and_records,
			OVER, BACKWARD, UNREAD_SIZE, SLOTS),
		in_mode(slots_follow_each_other_in_positions_windows_and_records,
			OVER, 0, 0, SLOTS),
		in_mode(a_retained_slot_does_not_change_while_tracing_continues,
			OVER, NEWEST, DATA_SIZE, SLOTS),
		in_mode(a_retained_slot_does_not_change_while_tracing_continues,
			OVER, NEWEST | BACKWARD, DATA_SIZE, SLOTS),
		vm_test(when_every_other_slot_is_held_a_snapshot_gives_ENOSPC),
		vm_test(a_paused_channel_changes_its_slot_and_stays_paused),
		vm_test(an_offline_cpu_changes_its_slot_with_the_others),
		vm_test(no_instruction_runs_between_a_cut_and_the_next_window),
		vm_test(snapshots_under_requests_and_hotplug_add_up),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
