// SPDX-License-Identifier: GPL-2.0-only
/*
 * SNAPSHOT: one cut over all channels, after which tracing continues in place or stays paused;
 * and what SNAPSHOT and RELEASE refuse. test_slots.c has the snapshots with a slot.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "cut.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "records.h"
#include "uapi.h"

/* ---- in place ----------------------------------------------------------------- */

static void a_plain_snapshot_continues_in_place(void **state)
{
	struct auxtrace_status_page before[MAX_CPUS], st;
	struct auxtrace_cut cuts[MAX_CPUS];
	const struct mode *m = *state;
	struct session s;
	uint64_t tsc;

	cut_session(&s, all_cpus, m, 0);
	load_start(last_cpu);
	ok_start(s.fd);
	for (int round = 0; round < 5; round++) {
		uint32_t slot;

		load_run(500);
		for (unsigned int i = 0; i < s.count; i++)
			before[i] = channel_status(&s.channel[i]);
		tsc = read_tsc();
		ok_snapshot(&s, 0, cuts, &slot);
		for (unsigned int i = 0; i < s.count; i++) {
			const struct auxtrace_cut *c = &cuts[i];

			st = channel_status(&s.channel[i]);
			assert_int_equal(c->slot, 0);
			assert_int_equal(c->window, before[i].windows);
			assert_in_range(c->time, tsc, read_tsc());
			assert_in_range(c->aux_end, before[i].produced, st.produced);
			assert_in_range(c->data_end, before[i].data_head, st.data_head);
			if (m->aux)
				assert_int_equal(c->aux_begin, c->aux_end > AUX_SIZE ?
						 c->aux_end - AUX_SIZE : 0);
			else
				assert_int_equal(c->aux_begin, 0);
			assert_int_equal(st.windows, before[i].windows);
			assert_int_equal(st.snapshots, 0);
			if (m->aux)
				assert_int_equal(st.running, 1);
		}
	}
	ok_pause(&s, 0, NULL);
	ok_snapshot(&s, 0, cuts, NULL);
	for (unsigned int i = 0; i < s.count; i++) {
		struct records r;

		st = channel_status(&s.channel[i]);
		assert_int_equal(cuts[i].inhibit & ~AUXTRACE_INHIBIT_FULL, AUXTRACE_INHIBIT_USER);
		assert_int_equal(cuts[i].aux_end, st.produced);
		assert_int_equal(cuts[i].aux_end - cuts[i].aux_begin,
				 channel_available(&s.channel[i]));
		assert_int_equal(cuts[i].data_end, st.data_head);
		cut_walk(&s.channel[i], &cuts[i], !cuts[i].aux_begin);
		if (!m->data_size)
			continue;
		records_read(&r, &s.channel[i], 0, cuts[i].data_begin, cuts[i].data_end);
		assert_int_equal(records_newest(&r, AUXTRACE_RECORD_WINDOW)->window.window,
				 cuts[i].window);
		records_free(&r);
	}
	ok_stop(s.fd);
	/* A stopped session can be cut, too. */
	ok_snapshot(&s, 0, cuts, NULL);
	assert_int_equal(cuts[0].inhibit & AUXTRACE_INHIBIT_SETUP, AUXTRACE_INHIBIT_SETUP);
	assert_int_equal(cuts[0].aux_end, channel_status(s.channel).produced);
	check_accounting(&s);
}

static void cuts_beyond_the_given_space_are_dropped(void **state)
{
	const struct mode m = { OVER, 0, 0, 1 };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct session s;

	cut_session(&s, all_cpus, &m, 0);
	memset(cuts, 0xa5, sizeof(cuts));
	assert_int_equal(at_snapshot(s.fd, 0, NULL, 0, NULL), s.count);
	assert_int_equal(at_snapshot(s.fd, 0, cuts, 1, NULL), s.count);
	assert_int_equal(cuts[0].cpu, first_cpu);
	assert_int_equal(cuts[1].cpu, 0xa5a5a5a5);
	check_accounting(&s);
}

static void a_snapshot_with_pause_stays_paused(void **state)
{
	struct auxtrace_cut cuts[MAX_CPUS];
	const struct mode *m = *state;
	struct session s;

	cut_session(&s, all_cpus, m, 0);
	load_start(last_cpu);
	ok_start(s.fd);
	for (unsigned int n = 1; n <= 3; n++) {
		load_run(300);
		ok_snapshot(&s, PAUSE, cuts, NULL);
		for (unsigned int i = 0; i < s.count; i++) {
			const struct channel *ch = &s.channel[i];
			struct auxtrace_status_page st = channel_status(ch);
			const union any_record *rec;
			struct records r;

			assert_int_equal(cuts[i].inhibit, AUXTRACE_INHIBIT_USER);
			assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
			assert_false(msr_tracing(ch->cpu));
			assert_int_equal(st.pauses_asked, n);
			assert_int_equal(st.pauses_done, n);
			assert_int_equal(st.windows, n);
			assert_int_equal(cuts[i].window, n);
			assert_int_equal(cuts[i].aux_end, st.produced);
			assert_int_equal(cuts[i].aux_end, st.window_end);
			assert_int_equal(cuts[i].data_end, st.data_head);
			cut_walk(ch, &cuts[i], !cuts[i].aux_begin);
			if (!m->data_size)
				continue;
			assert_int_equal(st.data_paused, 1);
			assert_int_equal(st.data_lost, 0);
			records_read(&r, ch, 0, cuts[i].data_begin, cuts[i].data_end);
			rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
			assert_non_null(rec);
			assert_int_equal(rec->window.window, n);
			assert_int_equal(rec->window.end_cause, AUXTRACE_CAUSE_USER);
			assert_int_equal(rec->window.end_position, cuts[i].aux_end);
			records_free(&r);
		}
		if (m->data_size)
			ok_output(s.fd, 0, 0);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- bad input ---------------------------------------------------------------- */

static void snapshot_with_both_flags_gives_EINVAL(void **state)
{
	const struct mode m = { OVER, 0, 0, SLOTS };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct session s;

	cut_session(&s, all_cpus, &m, 0);
	ok_start(s.fd);
	fail_snapshot(EINVAL, s.fd, SLOT | PAUSE);
	assert_int_equal(channel_status(s.channel).running, 1);
	ok_snapshot(&s, SLOT, cuts, NULL);
}

static void snapshot_into_a_slot_without_slots_gives_EINVAL(void **state)
{
	const struct mode modes[] = { { OVER, NEWEST, DATA_SIZE, 0 }, { OVER, 0, 0, 1 },
				      { 0, 0, DATA_SIZE, 0 } };
	struct auxtrace_cut cuts[MAX_CPUS];

	for (int i = 0; i < 3; i++) {
		struct session s;

		cut_session(&s, all_cpus, &modes[i], 0);
		ok_start(s.fd);
		fail_snapshot(EINVAL, s.fd, SLOT);
		assert_int_equal(channel_status(s.channel).windows, 1);
		ok_snapshot(&s, 0, cuts, NULL);
		session_close(&s);
	}
}

static void snapshot_before_setup_or_with_a_flag_before_start_gives_EBADFD(void **state)
{
	const struct mode m = { OVER, 0, 0, SLOTS };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct session s;
	int fd = at_open();

	fail_snapshot(EBADFD, fd, 0);
	at_close(fd);
	cut_session(&s, all_cpus, &m, 0);
	fail_snapshot(EBADFD, s.fd, SLOT);
	fail_snapshot(EBADFD, s.fd, PAUSE);
	ok_snapshot(&s, 0, cuts, NULL);
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_SETUP);
	ok_start(s.fd);
	ok_snapshot(&s, SLOT, cuts, NULL);
	ok_stop(s.fd);
	fail_snapshot(EBADFD, s.fd, SLOT);
}

static void snapshot_with_bad_cuts_gives_EFAULT_and_does_nothing(void **state)
{
	const struct mode m = { OVER, NEWEST, DATA_SIZE, SLOTS };
	const uint32_t flags[] = { 0, PAUSE, SLOT };
	uint8_t *two = at_guarded_page();
	struct auxtrace_cut cuts[MAX_CPUS];
	struct session s;

	cut_session(&s, all_cpus, &m, 0);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		struct auxtrace_cut *end = (void *)(two + page_size - sizeof(*end) / 2);

		expect_call("SNAPSHOT", EFAULT, at_snapshot(s.fd, flags[i], NULL, 1, NULL),
			    __FILE__, __LINE__);
		expect_call("SNAPSHOT", EFAULT, at_snapshot(s.fd, flags[i], end, 1, NULL),
			    __FILE__, __LINE__);
		for (unsigned int k = 0; k < s.count; k++) {
			struct auxtrace_status_page st = channel_status(&s.channel[k]);

			assert_int_equal(st.running, 1);
			assert_int_equal(st.windows, 1);
			assert_int_equal(st.pauses_asked, 0);
			assert_int_equal(st.snapshots, 0);
			assert_int_equal(st.data_paused, 0);
		}
	}
	for (int i = 0; i < SLOTS - 1; i++)
		ok_snapshot(&s, SLOT, cuts, NULL);
}

static void release_of_what_is_no_held_slot_gives_EINVAL(void **state)
{
	const struct mode m = { OVER, 0, 0, SLOTS };
	const uint32_t none[] = { SLOTS, AUXTRACE_MAX_SLOTS, 32, 33, 65, UINT32_MAX };
	struct auxtrace_cut cuts[MAX_CPUS];
	struct session s;
	uint32_t slot;

	cut_session(&s, all_cpus, &m, 0);
	ok_start(s.fd);
	for (uint32_t i = 0; i < SLOTS; i++)
		fail_release(EINVAL, s.fd, i);
	ok_snapshot(&s, SLOT, cuts, &slot);
	for (uint32_t i = 0; i < SLOTS; i++)
		if (i != slot)
			fail_release(EINVAL, s.fd, i);
	for (int i = 0; i < 6; i++)
		fail_release(EINVAL, s.fd, none[i]);
	ok_release(s.fd, slot);
	fail_release(EINVAL, s.fd, slot);
}

static void release_before_setup_gives_EBADFD(void **state)
{
	int fd = at_open();

	fail_release(EBADFD, fd, 0);
}

static void release_without_slots_gives_EINVAL(void **state)
{
	const struct mode m = { OVER, 0, 0, 0 };
	struct session s;

	cut_session(&s, all_cpus, &m, 0);
	fail_release(EINVAL, s.fd, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_mode(a_plain_snapshot_continues_in_place, OVER, NEWEST, DATA_SIZE, 0),
		in_mode(a_plain_snapshot_continues_in_place, OVER, NEWEST | BACKWARD, DATA_SIZE, 0),
		in_mode(a_plain_snapshot_continues_in_place, 0, 0, DATA_SIZE, 0),
		in_mode(a_plain_snapshot_continues_in_place, OVER, 0, 0, 1),
		vm_test(cuts_beyond_the_given_space_are_dropped),
		in_mode(a_snapshot_with_pause_stays_paused, OVER, NEWEST, DATA_SIZE, 0),
		in_mode(a_snapshot_with_pause_stays_paused, OVER, NEWEST | BACKWARD, DATA_SIZE, 0),
		in_mode(a_snapshot_with_pause_stays_paused, OVER, BACKWARD, UNREAD_SIZE, 0),
		in_mode(a_snapshot_with_pause_stays_paused, OVER, 0, 0, 0),
		vm_test(snapshot_with_both_flags_gives_EINVAL),
		vm_test(snapshot_into_a_slot_without_slots_gives_EINVAL),
		vm_test(snapshot_before_setup_or_with_a_flag_before_start_gives_EBADFD),
		vm_test(snapshot_with_bad_cuts_gives_EFAULT_and_does_nothing),
		vm_test(release_of_what_is_no_held_slot_gives_EINVAL),
		vm_test(release_before_setup_gives_EBADFD),
		vm_test(release_without_slots_gives_EINVAL),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
