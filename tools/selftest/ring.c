// SPDX-License-Identifier: GPL-2.0-only
/* The data ring: what the records say of the trace. */
#include <inttypes.h>

#include "traced.h"

static enum outcome records(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE,
										.data_size = 256u << 10 });
	unsigned int rounds = t->quick ? 20 : 200;
	uint64_t window = 0, position = 0;
	const union auxtrace_record *r;
	struct auxtrace_status_page page;
	struct auxtrace_reader *reader;
	int result;

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	for (unsigned int i = 0; i < rounds; i++) {
		if (auxtrace_resume(s))
			return traced_failed(s, "the resume");
		traced_work(SOME_WORK / 10);
		if (auxtrace_pause(s))
			return traced_failed(s, "the pause");
	}
	if (!traced_status(s, t, &page))
		return traced_failed(s, "the status");
	while ((result = auxtrace_reader_next_record(reader, &r)) == 1) {
		if (r->header.type != AUXTRACE_RECORD_WINDOW)
			continue;
		if (r->window.window != window + 1 || r->window.begin != position || r->window.end_position < position ||
		    r->window.end_time < r->window.begin_time) {
			auxtrace_close(s);
			return check_failed("window %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64 ", comes behind window %" PRIu64
					    ", which ends at %" PRIu64, (uint64_t)r->window.window, (uint64_t)r->window.begin,
					    (uint64_t)r->window.end_position, window, position);
		}
		window++;
		position = r->window.end_position;
	}
	if (result)
		return traced_failed(s, "the data ring");
	auxtrace_close(s);
	if (window != page.windows || window < rounds || position != page.produced || page.data_lost)
		return check_failed("%" PRIu64 " records of %" PRIu64 " windows, bytes %" PRIu64 " of %" PRIu64 ", %" PRIu64 " lost",
				    window, (uint64_t)page.windows, position, (uint64_t)page.produced, (uint64_t)page.data_lost);
	check_figure("windows", (double)window, "");
	return PASSED;
}

const struct check ring_checks[] = {
	{ "records", "each window has a record, and they have all that was written", false, records },
	{ 0 },
};
