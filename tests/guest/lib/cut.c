// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "cut.h"

void cut_session(struct session *s, uint64_t cpus, const struct mode *m, uint32_t flags)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_USER | m->aux | flags, AUX_SIZE);
	session_prepare_data(s, m->data, m->data_size);
	s->setup.slots = m->slots;
	session_setup(s);
}

struct walk cut_walk(const struct channel *ch, const struct auxtrace_cut *cut, bool from_begin)
{
	uint64_t len = cut->aux_end - cut->aux_begin;
	struct walk walk = { 0 };
	uint8_t *trace = malloc(len + 1);

	assert_non_null(trace);
	channel_copy_slot(ch, cut->slot, cut->aux_begin, trace, len);
	if (from_begin && len) {
		trace_check_window(&walk, trace, len, "a cut");
	} else {
		trace_walk(&walk, trace, len, true);
		if (walk.starts && (walk.error || walk.end != len))
			fail_msg("CPU %d, cut [%llu, %llu): at byte %zu: %s", ch->cpu,
				 cut->aux_begin, cut->aux_end, walk.end, walk.error ?: "cut off");
	}
	free(trace);
	return walk;
}
