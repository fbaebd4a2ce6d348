// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "invariants.h"
#include "msr.h"
#include "pmu.h"
#include "tools/selftest/invariants.h"

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

/* What SETUP was told of the channel */
static struct auxtrace_setup channel_setup(const struct channel *ch)
{
	return (struct auxtrace_setup){
		.pmu = under_bts() ? AUXTRACE_PMU_INTEL_BTS : AUXTRACE_PMU_INTEL_PT,
		.flags = (ch->overwrite ? AUXTRACE_SETUP_OVERWRITE : 0) | (ch->data_overwrite ? AUXTRACE_SETUP_DATA_OVERWRITE : 0),
		.aux_size = ch->aux_size,
		.data_size = ch->data_size,
		.slots = ch->slots,
	};
}

/* BTS: an interrupt may come more than a lap late; tables of one entry: after the region's end. */
static unsigned int page_broken(const struct channel *ch, const struct auxtrace_status_page *st)
{
	const struct auxtrace_setup setup = channel_setup(ch);
	const char *what = invariants_of_page(&setup, st, under_bts() || pt_has_single_entry());

	if (st->cpu != (unsigned int)ch->cpu)
		what = "its page has the CPU of the channel";
	if (what)
		complain(what, st);
	return !!what;
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
	const struct auxtrace_setup setup = channel_setup(ch);

	if (page_broken(ch, &st))
		fail();
	return invariants_unread(&setup, &st);
}

void check_accounting(struct session *s)
{
	struct auxtrace_status_page pages[MAX_CPUS];
	struct auxtrace_status status;
	const char *broken;

	if (invariants_broken(s))
		fail();
	for (unsigned int i = 0; i < s->count; i++)
		pages[i] = channel_status(&s->channel[i]);
	if (s->fd < 0)
		return;
	ok_status(s->fd, 0, &status);
	broken = invariants_of_status(&status, pages, s->count);
	if (broken)
		fail_msg("STATUS breaks an invariant: %s", broken);
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
