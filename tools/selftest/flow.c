// SPDX-License-Identifier: GPL-2.0-only
/* The flow that is decoded of a recording is what was executed: by single steps of the same code. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "collector.h"
#include "lib/tool.h"
#include "perf.h"
#include "step.h"
#include "traced.h"

/* The recording of traced_work(@branches), in @dir. NULL, or the step that failed. */
static const char *flow_record(const struct selftest *t, unsigned long branches, const char *dir)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED,
										.aux_size = 16u << 20, .data_size = 64u << 10 });
	struct auxtrace_recording *recording;
	const char *failed = NULL;

	if (!s)
		return "a session";
	recording = auxtrace_recording_create(s, dir);
	if (!recording) {
		failed = "a recording";
	} else if (auxtrace_resume(s)) {
		failed = "the resume";
	} else {
		traced_work(branches);
		if (auxtrace_pause(s) || auxtrace_stop(s) || auxtrace_recording_add_task(recording, 0))
			failed = "the end of the recording";
	}
	if (recording && failed)
		auxtrace_recording_abort(recording);
	else if (recording && auxtrace_recording_finish(recording, NULL))
		failed = "the finish of the recording";
	auxtrace_close(s);
	return failed;
}

static enum outcome flow_differs(const struct steps *stepped, const struct steps *decoded)
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

/* Record traced_work(@branches) as @t->dir/@name, and decode that. */
static enum outcome flow_of_work(const struct selftest *t, const char *name, unsigned long branches, struct collector *c)
{
	const char *step;
	char dir[4200];

	snprintf(dir, sizeof(dir), "%s/%s", t->dir, name);
	step = flow_record(t, branches, dir);
	if (step)
		return check_failed("%s: %s", step, auxtrace_error());
	if (!collector_decode(c, dir))
		return check_failed("the recording cannot be decoded");
	if (c->errors || c->overflows || c->skips)
		return check_failed("%" PRIu64 " decode errors, %" PRIu64 " overflows, %" PRIu64 " times code that is not in the recording",
				    c->errors, c->overflows, c->skips);
	return PASSED;
}

static enum outcome single_steps(const struct selftest *t)
{
	unsigned long branches = t->quick ? 300 : 3000;
	struct steps stepped = { 0 };
	struct collector collector = { 0 };
	enum outcome outcome;

	if (steps_of_work(&stepped, branches)) {
		steps_free(&stepped);
		return check_skipped("a child cannot be stepped: %s", strerror(errno));
	}
	outcome = flow_of_work(t, "flow", branches, &collector);
	if (outcome == PASSED)
		outcome = flow_differs(&stepped, &collector.steps);
	if (outcome == PASSED)
		check_figure("instructions", (double)stepped.count, "");
	steps_free(&stepped);
	collector_free(&collector);
	return outcome;
}

static enum outcome same_as_perf(const struct selftest *t)
{
	struct collector collector = { 0 };
	enum outcome outcome = flow_of_work(t, "perf", 3000, &collector);

	if (outcome == PASSED)
		outcome = perf_agrees(t, "perf", &collector.steps, &collector.behind);
	collector_free(&collector);
	return outcome;
}

const struct check flow_checks[] = {
	{ "flow", "the decoded flow is what a debugger sees step by step", false, single_steps },
	{ "perf", "stock perf decodes the same recording to the same flow", true, same_as_perf },
	{ 0 },
};
