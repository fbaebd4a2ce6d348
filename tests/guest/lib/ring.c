// SPDX-License-Identifier: GPL-2.0-only
#include "cpu.h"
#include "load.h"
#include "machine.h"
#include "ring.h"

void ring_open(struct session *s, const struct mode *m, uint32_t flags, uint64_t data_size)
{
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER | m->aux | flags,
			m->aux ? 4 * page_size : RING_AUX_SIZE);
	session_prepare_data(s, m->data, data_size);
	session_setup(s);
	assert_int_equal(cpu_pin(first_cpu), 0);
}

void ring_window(const struct session *s, unsigned int rounds, struct auxtrace_effect *begin,
		 struct auxtrace_effect *end)
{
	ok_resume(s, 0, begin);
	load_run(rounds);
	ok_pause(s, 0, end);
	assert_int_equal(begin->flags & end->flags, AUXTRACE_EFFECT_CHANGED);
}

unsigned int ring_make_records(const struct session *s)
{
	struct auxtrace_effect begin, end;

	ring_window(s, 30, &begin, &end);
	assert_true(end.position > begin.position);
	return 2;
}
