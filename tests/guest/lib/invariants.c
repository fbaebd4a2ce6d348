// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "invariants.h"
#include "msr.h"
#include "pmu.h"

/* Far more than it takes to read a page twice and an MSR once. */
#define REST_SECONDS	10

static void complain(const char *what, const struct auxtrace_status_page *st)
{
	print_error("CPU %u: broken invariant: %s\n"
		    "  produced %llu, consumed %llu, overwritten %llu, slot %u of %u from %llu, snapshots %llu\n"
		    "  windows %llu [%llu, %llu), asked %llu/%llu, done %llu/%llu, inhibit %#x, running %u\n"
		    "  gaps %llu: full %llu, error %llu, offline %llu\n"
		    "  data: size %llu, reserved %#llx, head %llu, consumed %llu, overwritten %llu, slot from %llu,\n"
		    "  records %llu, lost %llu, bad tails %llu, paused %llu\n",
		    st->cpu, what, st->produced, st->consumed, st->overwritten, st->slot,
		    st->slots, st->slot_begin, st->snapshots, st->windows, st->window_begin,
		    st->window_end, st->pauses_asked, st->resumes_asked, st->pauses_done,
		    st->resumes_done, st->inhibit, st->running, st->gaps, st->gaps_full,
		    st->gaps_error, st->gaps_offline, st->data_size, st->data_reserved,
		    st->data_head, st->data_consumed, st->data_overwritten, st->data_slot_begin,
		    st->data_records, st->data_lost, st->data_bad_tails, st->data_paused);
}

#define require(cond) \
	do { \
		if (!(cond)) { \
			complain(#cond, st); \
			broken++; \
		} \
	} while (0)

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t aux_available(const struct channel *ch, const struct auxtrace_status_page *st)
{
	if (!ch->overwrite)
		return st->produced - st->consumed;
	return least(st->produced - st->slot_begin, ch->aux_size / ch->slots);
}

static unsigned int aux_broken(const struct channel *ch, const struct auxtrace_status_page *st)
{
	const unsigned int unit = under_bts() ? sizeof(struct auxtrace_branch) : 1;
	unsigned int broken = 0;

	require(st->aux_size == ch->aux_size);
	require(st->slots == ch->slots);
	require(st->slot < st->slots);
	require(st->slot_begin <= st->produced);
	require(st->consumed <= st->produced);
	require(st->produced % unit == 0);
	require(st->window_begin % unit == 0);
	require(st->window_end % unit == 0);
	require(aux_available(ch, st) <= ch->aux_size / ch->slots);
	require(st->produced == st->consumed + aux_available(ch, st) + st->overwritten);
	if (ch->overwrite) {
		require(st->consumed <= st->slot_begin);
		/* BTS: an interrupt may come more than a lap late; tables of one entry: after the region's end. */
		require(st->gaps_full == 0 || under_bts() || pt_has_single_entry());
		require(st->bad_tails == 0);
	} else {
		require(st->overwritten == 0);
	}
	if (!st->snapshots) {
		require(st->slot_begin == 0);
		require(!ch->overwrite || st->consumed == 0);
	}
	return broken;
}

static uint64_t data_available(const struct channel *ch, const struct auxtrace_status_page *st)
{
	if (!ch->data_overwrite)
		return st->data_head - st->data_consumed;
	return least(st->data_head - st->data_slot_begin, ch->data_size / ch->slots);
}

static unsigned int data_broken(const struct channel *ch, const struct auxtrace_status_page *st)
{
	unsigned int broken = 0;

	require(st->data_size == ch->data_size);
	require(AUXTRACE_DATA_POSITION(st->data_reserved) == st->data_head);
	require(st->data_head % 8 == 0);
	require(st->data_consumed <= st->data_head);
	require(st->data_slot_begin <= st->data_head);
	require(data_available(ch, st) <= ch->data_size);
	require(st->data_head == st->data_consumed + data_available(ch, st) +
				 st->data_overwritten);
	require(st->data_paused <= 3);
	require(st->samples_cut <= st->samples);
	if (ch->data_overwrite) {
		require(AUXTRACE_DATA_SLOT(st->data_reserved) == st->slot);
		require(st->data_bad_tails == 0);
	} else {
		require(AUXTRACE_DATA_SLOT(st->data_reserved) == 0);
		require(st->data_overwritten == 0);
	}
	if (!ch->data_size) {
		require(st->data_head == 0);
		require(st->data_records == 0);
		require(st->data_lost == 0);
		require(st->data_paused == 0);
	}
	return broken;
}

static unsigned int page_broken(const struct channel *ch, const struct auxtrace_status_page *st)
{
	unsigned int broken = 0;

	require(st->cpu == (unsigned int)ch->cpu);
	require(st->running == !st->inhibit);
	require(st->gaps == st->gaps_full + st->gaps_error + st->gaps_offline);
	require(st->pauses_done <= st->pauses_asked);
	require(st->resumes_done <= st->resumes_asked);
	require(st->resumes_done <= st->windows);
	require(st->pauses_done <= st->windows);
	require(st->window_begin <= st->produced);
	require(st->window_end <= st->produced);
	return broken + aux_broken(ch, st) + data_broken(ch, st);
}

unsigned int invariants_broken(const struct session *s)
{
	unsigned int broken = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st;

		broken += channel_status_plain(&s->channel[i], &st) ?
			  page_broken(&s->channel[i], &st) : 1;
	}
	return broken;
}

uint64_t channel_available(const struct channel *ch)
{
	struct auxtrace_status_page st = channel_status(ch);

	if (page_broken(ch, &st))
		fail();
	return aux_available(ch, &st);
}

void check_accounting(struct session *s)
{
	struct auxtrace_status sum = { 0 }, status;

	if (invariants_broken(s))
		fail();
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		sum.out_nr_running += st.running;
		sum.out_produced += st.produced;
		sum.out_consumed += st.consumed;
		sum.out_overwritten += st.overwritten;
		sum.out_windows += st.windows;
		sum.out_gaps += st.gaps;
		sum.out_pmis += st.pmis;
		sum.out_data_produced += st.data_head;
		sum.out_data_consumed += st.data_consumed;
		sum.out_data_overwritten += st.data_overwritten;
		sum.out_data_lost += st.data_lost;
	}
	if (s->fd < 0)
		return;

	ok_status(s->fd, 0, &status);
	assert_int_equal(status.out_nr_channels, s->count);
	assert_int_equal(status.out_nr_running, sum.out_nr_running);
	assert_int_equal(status.out_produced, sum.out_produced);
	assert_int_equal(status.out_consumed, sum.out_consumed);
	assert_int_equal(status.out_overwritten, sum.out_overwritten);
	assert_int_equal(status.out_windows, sum.out_windows);
	assert_int_equal(status.out_gaps, sum.out_gaps);
	assert_int_equal(status.out_pmis, sum.out_pmis);
	assert_int_equal(status.out_data_produced, sum.out_data_produced);
	assert_int_equal(status.out_data_consumed, sum.out_data_consumed);
	assert_int_equal(status.out_data_overwritten, sum.out_data_overwritten);
	assert_int_equal(status.out_data_lost, sum.out_data_lost);
}

/* ---- at the end of a test -------------------------------------------------- */

/*
 * Do the status pages of all sessions say that @cpu traces? @seqs changes when one of the
 * pages does. False: no session has the CPU, or a page never is consistent.
 */
static bool wanted(const struct session *sessions, unsigned int count, int cpu, bool *on,
		   uint64_t *seqs)
{
	bool known = false;

	*on = false;
	*seqs = 0;
	for (unsigned int i = 0; i < count; i++) {
		for (unsigned int k = 0; k < sessions[i].count; k++) {
			const struct channel *ch = &sessions[i].channel[k];
			struct auxtrace_status_page st;

			if (ch->cpu != cpu || !channel_status_plain(ch, &st))
				continue;
			known = true;
			*on |= !st.inhibit;
			*seqs += st.seq;
		}
	}
	return known;
}

/* An interrupt may change the hardware between the reads: then read again. */
static unsigned int hardware_broken(const struct session *sessions, unsigned int count)
{
	unsigned int broken = 0;

	for (uint64_t left = cpus_online(); left; left &= left - 1) {
		int cpu = cpus_first(left);
		time_t begun = time(NULL);
		uint64_t before, after, ctl = 0;
		bool on, same = false;

		do {
			if (!wanted(sessions, count, cpu, &on, &before))
				break;
			if (msr_read(cpu, msr_control(), &ctl))
				break;	/* no msr driver */
			wanted(sessions, count, cpu, &on, &after);
			same = before == after;
		} while (!same && time(NULL) - begun <= REST_SECONDS);
		if (same && on != ((ctl & msr_enables()) == msr_enables())) {
			print_error("CPU %d: MSR %#x is %#llx, the pages say %s\n", cpu, msr_control(),
				    (unsigned long long)ctl, on ? "on" : "off");
			broken++;
		}
	}
	return broken;
}

/* After a request for all CPUs: is @reason set, or clear, on all of them? */
static unsigned int request_broken(const struct session *s, const char *what, uint32_t reason,
				   bool set)
{
	unsigned int broken = 0;

	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st;

		if (!channel_status_plain(&s->channel[i], &st) ||
		    !!(st.inhibit & reason) == set)
			continue;
		complain(what, &st);
		broken++;
	}
	return broken;
}

unsigned int invariants_at_end(const struct session *sessions, unsigned int count)
{
	unsigned int broken = hardware_broken(sessions, count);

	for (unsigned int i = 0; i < count; i++) {
		const struct session *s = &sessions[i];
		int ret = s->fd < 0 ? s->fd : at_start(s->fd);

		broken += invariants_broken(s);
		/* The session is closed, a CPU is offline, or the hardware is held. */
		if ((ret && ret != -EALREADY) ||
		    at_control(s->fd, AUXTRACE_IOC_PAUSE, 0, NULL, 0) < 0)
			continue;
		broken += request_broken(s, "paused by the last request",
					 AUXTRACE_INHIBIT_USER, true);
		broken += hardware_broken(sessions, count);
		at_control(s->fd, AUXTRACE_IOC_RESUME, 0, NULL, 0);
		broken += request_broken(s, "resumed by the last request",
					 AUXTRACE_INHIBIT_USER, false);
		broken += hardware_broken(sessions, count);
		at_stop(s->fd);
		broken += request_broken(s, "stopped by the last request",
					 AUXTRACE_INHIBIT_SETUP, true);
		broken += hardware_broken(sessions, count);
		broken += invariants_broken(s);
	}
	return broken;
}
