// SPDX-License-Identifier: GPL-2.0-only
#include "cpu.h"
#include "load.h"
#include "msr.h"
#include "sleep.h"
#include "trace.h"
#include "trigger.h"

void slept_once(const struct session *s, int paused)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);
		bool traces = (int)st.cpu != paused;

		print_message("CPU %u: inhibit %#x, %llu gaps, %llu windows, %llu bytes\n", st.cpu, st.inhibit, st.gaps,
			      st.windows, st.produced);
		assert_int_equal(st.inhibit, traces ? 0 : AUXTRACE_INHIBIT_USER);
		assert_int_equal(st.gaps, traces);
		assert_int_equal(st.gaps_offline, traces);
		assert_int_equal(st.windows, traces ? 2 : 1);
		assert_int_equal(msr_tracing(st.cpu), traces);
	}
}

void traces_until_trigger(const struct session *s, uint32_t id)
{
	uint64_t hits = trigger_read(s, id).out_hits;

	for (unsigned int i = 0; i < s->count; i++) {
		const struct channel *ch = &s->channel[i];
		uint64_t begin = channel_status(ch).window_begin;
		struct auxtrace_status_page st;

		assert_int_equal(cpu_pin(ch->cpu), 0);
		load_run(1000);
		call_times(1);
		assert_false(msr_tracing(ch->cpu));
		st = channel_status(ch);
		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_TRIGGER);
		assert_true(st.produced > begin);
		if (st.produced - begin < s->setup.aux_size)
			channel_check_window(ch, begin, st.produced, "the window after the sleep");
	}
	assert_int_equal(trigger_read(s, id).out_hits, hits + s->count);
	cpu_unpin();
}
