// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "recorded.h"

enum outcome recorded(const struct selftest *t, const struct recorded *r, const char *name)
{
	struct auxtrace_options options = r->options;
	struct auxtrace_recording *recording;
	enum outcome outcome = PASSED;
	struct auxtrace_session *s;
	char dir[4200];

	options.flags |= AUXTRACE_SETUP_PAUSED;
	s = traced_begin(t, options);
	if (!s)
		return traced_failed(NULL, "a session");
	if (r->prepare && r->prepare(s) < 0)
		return traced_failed(s, "adding the trigger");
	snprintf(dir, sizeof(dir), "%s/%s", t->dir, name);
	recording = auxtrace_recording_create(s, dir);
	if (!recording)
		return traced_failed(s, "a recording");
	if (auxtrace_resume(s)) {
		outcome = check_failed("the resume: %s", auxtrace_error());
	} else {
		r->work(r->amount);
		if (auxtrace_pause(s))
			outcome = check_failed("the pause: %s", auxtrace_error());
	}
	if (outcome == PASSED && r->judge)
		outcome = r->judge(t, s);
	if (outcome == PASSED && (auxtrace_stop(s) || auxtrace_recording_add_task(recording, 0)))
		outcome = check_failed("the end of the recording: %s", auxtrace_error());
	if (outcome != PASSED)
		auxtrace_recording_abort(recording);
	else if (auxtrace_recording_finish(recording, NULL))
		outcome = check_failed("the finish of the recording: %s", auxtrace_error());
	auxtrace_close(s);
	return outcome;
}

enum outcome recorded_decode(const struct selftest *t, const char *name, struct collector *c)
{
	char dir[4200];

	snprintf(dir, sizeof(dir), "%s/%s", t->dir, name);
	if (!collector_decode(c, dir))
		return check_failed("the recording cannot be decoded");
	if (c->errors || c->overflows || c->skips)
		return check_failed("%" PRIu64 " decode errors, %" PRIu64 " overflows, %" PRIu64 " times code that is not in the recording",
				    c->errors, c->overflows, c->skips);
	return PASSED;
}

static enum outcome recorded_differs(const struct steps *stepped, const struct steps *decoded)
{
	size_t i = 0;

	while (i < stepped->count && i < decoded->count && stepped->ip[i] == decoded->ip[i])
		i++;
	if (i == stepped->count && i == decoded->count)
		return PASSED;
	return check_failed("%zu instructions were executed, %zu decoded; number %zu differs: %#" PRIx64 ", decoded %#" PRIx64,
			    stepped->count, decoded->count, i + 1, i < stepped->count ? stepped->ip[i] : 0,
			    i < decoded->count ? decoded->ip[i] : 0);
}

enum outcome recorded_as_stepped(const struct selftest *t, const struct recorded *r, const char *name, struct collector *c)
{
	struct steps stepped = { 0 };
	enum outcome outcome;

	if (steps_of_work(&stepped, r->amount)) {
		steps_free(&stepped);
		return check_skipped("a child cannot be stepped: %s", strerror(errno));
	}
	outcome = recorded(t, r, name);
	if (outcome == PASSED)
		outcome = recorded_decode(t, name, c);
	if (outcome == PASSED)
		outcome = recorded_differs(&stepped, &c->steps);
	steps_free(&stepped);
	return outcome;
}
