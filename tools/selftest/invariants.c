// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <stdint.h>

#include "invariants.h"

#define require(condition) \
	do { \
		if (!(condition)) \
			return #condition; \
	} while (0)

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static unsigned int slots_of(const struct auxtrace_setup *setup)
{
	return setup->slots ? setup->slots : 1;
}

uint64_t invariants_unread(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page)
{
	if (!(setup->flags & AUXTRACE_SETUP_OVERWRITE))
		return page->produced - page->consumed;
	return smaller(page->produced - page->slot_begin, setup->aux_size / slots_of(setup));
}

static const char *broken_in_area(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page, bool late)
{
	uint64_t unit = setup->pmu == AUXTRACE_PMU_INTEL_BTS ? sizeof(struct auxtrace_branch) : 1;

	require(page->aux_size == setup->aux_size);
	require(page->slots == slots_of(setup));
	require(page->slot < page->slots);
	require(page->slot_begin <= page->produced);
	require(page->consumed <= page->produced);
	require(page->produced % unit == 0);
	require(page->window_begin % unit == 0);
	require(page->window_end % unit == 0);
	require(page->window_begin <= page->produced);
	require(page->window_end <= page->produced);
	require(invariants_unread(setup, page) <= setup->aux_size / slots_of(setup));
	require(page->produced == page->consumed + invariants_unread(setup, page) + page->overwritten);
	if (setup->flags & AUXTRACE_SETUP_OVERWRITE) {
		require(page->consumed <= page->slot_begin);
		require(page->gaps_full == 0 || late);
		require(page->bad_tails == 0);
	} else {
		require(page->overwritten == 0);
	}
	if (!page->snapshots) {
		require(page->slot_begin == 0);
		require(page->consumed == 0 || !(setup->flags & AUXTRACE_SETUP_OVERWRITE));
	}
	return NULL;
}

static uint64_t unread_records(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page)
{
	if (!(setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE))
		return page->data_head - page->data_consumed;
	return smaller(page->data_head - page->data_slot_begin, setup->data_size / slots_of(setup));
}

static const char *broken_in_ring(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page)
{
	require(page->data_size == setup->data_size);
	require(AUXTRACE_DATA_POSITION(page->data_reserved) == page->data_head);
	require(page->data_head % 8 == 0);
	require(page->data_consumed <= page->data_head);
	require(page->data_slot_begin <= page->data_head);
	require(unread_records(setup, page) <= setup->data_size);
	require(page->data_head == page->data_consumed + unread_records(setup, page) + page->data_overwritten);
	require(page->data_paused <= 3);
	require(page->samples_cut <= page->samples);
	if (setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE) {
		require(AUXTRACE_DATA_SLOT(page->data_reserved) == page->slot);
		require(page->data_bad_tails == 0);
	} else {
		require(AUXTRACE_DATA_SLOT(page->data_reserved) == 0);
		require(page->data_overwritten == 0);
	}
	if (!setup->data_size) {
		require(page->data_head == 0);
		require(page->data_records == 0);
		require(page->data_lost == 0);
		require(page->data_paused == 0);
	}
	return NULL;
}

const char *invariants_of_page(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page, bool late)
{
	const char *broken;

	require(page->running == !page->inhibit);
	require(page->gaps == page->gaps_full + page->gaps_error + page->gaps_offline);
	require(page->pauses_done <= page->pauses_asked);
	require(page->resumes_done <= page->resumes_asked);
	require(page->pauses_done <= page->windows);
	require(page->resumes_done <= page->windows);
	broken = broken_in_area(setup, page, late);
	return broken ? broken : broken_in_ring(setup, page);
}

const char *invariants_of_trigger(const struct auxtrace_trigger_state *state)
{
	require(state->out_hits == state->out_acted + state->out_held + state->out_idle + state->out_missed);
	return NULL;
}

const char *invariants_of_status(const struct auxtrace_status *status, const struct auxtrace_status_page *pages, unsigned int n)
{
	struct auxtrace_status_page sum = { 0 };

	for (unsigned int i = 0; i < n; i++) {
		sum.running += pages[i].running;
		sum.produced += pages[i].produced;
		sum.consumed += pages[i].consumed;
		sum.overwritten += pages[i].overwritten;
		sum.windows += pages[i].windows;
		sum.gaps += pages[i].gaps;
		sum.pmis += pages[i].pmis;
		sum.data_head += pages[i].data_head;
		sum.data_consumed += pages[i].data_consumed;
		sum.data_overwritten += pages[i].data_overwritten;
		sum.data_lost += pages[i].data_lost;
	}
	require(status->out_nr_channels == n);
	require(status->out_nr_running == sum.running);
	require(status->out_produced == sum.produced);
	require(status->out_consumed == sum.consumed);
	require(status->out_overwritten == sum.overwritten);
	require(status->out_windows == sum.windows);
	require(status->out_gaps == sum.gaps);
	require(status->out_pmis == sum.pmis);
	require(status->out_data_produced == sum.data_head);
	require(status->out_data_consumed == sum.data_consumed);
	require(status->out_data_overwritten == sum.data_overwritten);
	require(status->out_data_lost == sum.data_lost);
	return NULL;
}
