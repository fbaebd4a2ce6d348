// SPDX-License-Identifier: GPL-2.0-only
/*
 * The auxtrace command, with a library between it and libauxtrace that is wrong in the way that $WRONG says: as if the
 * hardware or the module were; or the decoder, whose instructions pass here as well. selftest.sh expects that the self-test notices.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <auxtrace.h>

#include "tools/selftest/step.h"

void __real_steps_add(struct steps *s, uint64_t ip);
int __real_auxtrace_resume(struct auxtrace_session *session);
int __real_auxtrace_reader_peek_cut(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, struct auxtrace_spans *spans);
int __real_auxtrace_setup(struct auxtrace_session *session, const struct auxtrace_options *options);
int __real_auxtrace_start(struct auxtrace_session *session);
int __real_auxtrace_stop(struct auxtrace_session *session);
int __real_auxtrace_pause_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, struct auxtrace_effect *effects,
			       unsigned int max_effects);
int __real_auxtrace_snapshot(struct auxtrace_session *session, uint32_t flags, struct auxtrace_cut *cuts, unsigned int max_cuts,
			     uint32_t *slot);
int __real_auxtrace_status(struct auxtrace_session *session, uint32_t flags, struct auxtrace_status *status);
int __real_auxtrace_reader_status(struct auxtrace_reader *reader, struct auxtrace_status_page *status);
long __real_syscall(long number, ...);
int __real_poll(struct pollfd *fds, nfds_t nfds, int timeout);
int __real_auxtrace_trigger_add(struct auxtrace_session *session, const struct auxtrace_trigger_options *options);
int __real_auxtrace_trigger_read(struct auxtrace_session *session, uint32_t id, uint32_t flags, struct auxtrace_trigger_state *state);
int __real_auxtrace_pause_output(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, bool pause);
int __real_auxtrace_reader_peek(struct auxtrace_reader *reader, struct auxtrace_spans *spans);
int __real_auxtrace_reader_next_record(struct auxtrace_reader *reader, const union auxtrace_record **record);
int __real_auxtrace_reader_copy_records(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, void *buf, size_t size,
					struct auxtrace_copy *copy);

void __wrap_steps_add(struct steps *s, uint64_t ip);
int __wrap_auxtrace_resume(struct auxtrace_session *session);
int __wrap_auxtrace_reader_peek_cut(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, struct auxtrace_spans *spans);
int __wrap_auxtrace_setup(struct auxtrace_session *session, const struct auxtrace_options *options);
int __wrap_auxtrace_start(struct auxtrace_session *session);
int __wrap_auxtrace_stop(struct auxtrace_session *session);
int __wrap_auxtrace_pause_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, struct auxtrace_effect *effects,
			       unsigned int max_effects);
int __wrap_auxtrace_snapshot(struct auxtrace_session *session, uint32_t flags, struct auxtrace_cut *cuts, unsigned int max_cuts,
			     uint32_t *slot);
int __wrap_auxtrace_status(struct auxtrace_session *session, uint32_t flags, struct auxtrace_status *status);
int __wrap_auxtrace_reader_status(struct auxtrace_reader *reader, struct auxtrace_status_page *status);
long __wrap_syscall(long number, ...);
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout);
int __wrap_auxtrace_trigger_add(struct auxtrace_session *session, const struct auxtrace_trigger_options *options);
int __wrap_auxtrace_trigger_read(struct auxtrace_session *session, uint32_t id, uint32_t flags, struct auxtrace_trigger_state *state);
int __wrap_auxtrace_pause_output(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, bool pause);
int __wrap_auxtrace_reader_peek(struct auxtrace_reader *reader, struct auxtrace_spans *spans);
int __wrap_auxtrace_reader_next_record(struct auxtrace_reader *reader, const union auxtrace_record **record);
int __wrap_auxtrace_reader_copy_records(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, void *buf, size_t size,
					struct auxtrace_copy *copy);

static bool wrong_is(const char *what)
{
	const char *is = getenv("WRONG");

	return is && !strcmp(is, what);
}

/* What was asked for is not done. */
int __wrap_auxtrace_setup(struct auxtrace_session *session, const struct auxtrace_options *options)
{
	struct auxtrace_options o = *options;

	if (wrong_is("full-auto"))
		o.flags &= ~AUXTRACE_SETUP_FULL_AUTO;
	if (wrong_is("full-stop"))
		o.flags &= ~AUXTRACE_SETUP_FULL_STOP;
	if (wrong_is("filter"))
		o.nr_filters = 0;
	if (wrong_is("mode"))
		o.flags ^= AUXTRACE_SETUP_OVERWRITE;
	if (wrong_is("paused"))
		o.flags &= ~AUXTRACE_SETUP_PAUSED;
	if (wrong_is("config") && o.config)
		o.config = "tsc";
	if (wrong_is("cr3"))
		o.flags &= ~AUXTRACE_SETUP_ADDRESS_SPACE;
	if (wrong_is("descendants"))
		o.flags &= ~AUXTRACE_SETUP_DESCENDANTS;
	if (wrong_is("process") && o.flags & AUXTRACE_SETUP_PROCESS)
		o.flags |= AUXTRACE_SETUP_DESCENDANTS;
	if (wrong_is("newest"))
		o.flags &= ~AUXTRACE_SETUP_DATA_OVERWRITE;
	return __real_auxtrace_setup(session, &o);
}

/* It has the hardware though another one does. */
int __wrap_auxtrace_start(struct auxtrace_session *session)
{
	int result = __real_auxtrace_start(session);

	return wrong_is("second") && result && errno == EBUSY ? 0 : result;
}

int __wrap_auxtrace_stop(struct auxtrace_session *session)
{
	return wrong_is("stop") ? 0 : __real_auxtrace_stop(session);
}

int __wrap_auxtrace_pause_cpus(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, struct auxtrace_effect *effects,
			       unsigned int max_effects)
{
	int result = __real_auxtrace_pause_cpus(session, cpus, effects, max_effects);

	if (wrong_is("effect") && result > 0 && max_effects)
		effects->position++;
	return result;
}

int __wrap_auxtrace_resume(struct auxtrace_session *session)
{
	return wrong_is("no-resume") ? 0 : __real_auxtrace_resume(session);
}

#define SLOT	(16 << 10)	/* of the check snapshot */

/* It reads the slot that is written, not that which is retained. */
int __wrap_auxtrace_reader_peek_cut(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, struct auxtrace_spans *spans)
{
	int result = __real_auxtrace_reader_peek_cut(reader, cut, spans);

	for (int i = 0; !result && wrong_is("snapshot") && i < spans->count; i++)
		spans->iov[i].iov_base = (uint8_t *)spans->iov[i].iov_base + (cut->slot ? -SLOT : SLOT);
	return result;
}

/* The decoder forgets the 501st instruction: for each there are two calls, with its address and with that behind it. */
void __wrap_steps_add(struct steps *s, uint64_t ip)
{
	static unsigned int calls;

	if (!wrong_is("flow") || ++calls != 1001)
		__real_steps_add(s, ip);
}

int __wrap_auxtrace_snapshot(struct auxtrace_session *session, uint32_t flags, struct auxtrace_cut *cuts, unsigned int max_cuts,
			     uint32_t *slot)
{
	if (wrong_is("snapshot-pause"))
		flags &= ~AUXTRACE_SNAPSHOT_PAUSE;
	return __real_auxtrace_snapshot(session, flags, cuts, max_cuts, slot);
}

int __wrap_auxtrace_status(struct auxtrace_session *session, uint32_t flags, struct auxtrace_status *status)
{
	int result = __real_auxtrace_status(session, flags, status);

	if (wrong_is("sums"))
		status->out_windows++;
	return result;
}

int __wrap_auxtrace_reader_status(struct auxtrace_reader *reader, struct auxtrace_status_page *status)
{
	int result = __real_auxtrace_reader_status(reader, status);

	if (wrong_is("page"))
		status->consumed++;
	if (wrong_is("pmis"))
		status->pmis *= 2;
	return result;
}

/* perf gets the event that it is not to get; or it does not keep the one that it gets. */
long __wrap_syscall(long number, ...)
{
	long a[6], result;
	va_list ap;

	va_start(ap, number);
	for (unsigned int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	result = __real_syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (number != SYS_perf_event_open)
		return result;
	if (wrong_is("perf-too") && result < 0 && errno == EBUSY)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (wrong_is("perf-not") && result >= 0) {
		close((int)result);
		return open("/dev/null", O_RDONLY | O_CLOEXEC);
	}
	return result;
}

/* A reader is woken at once, or by its time limit alone. */
int __wrap_poll(struct pollfd *fds, nfds_t nfds, int timeout)
{
	if (wrong_is("sleepless")) {
		fds->revents = POLLIN;
		return 1;
	}
	if (wrong_is("sleepy")) {
		usleep((useconds_t)timeout * 1000);
		return 0;
	}
	return __real_poll(fds, nfds, timeout);
}

int __wrap_auxtrace_trigger_add(struct auxtrace_session *session, const struct auxtrace_trigger_options *options)
{
	struct auxtrace_trigger_options o = *options;

	if (wrong_is("hold-off"))
		o.hold_off_ns = 0;
	if (wrong_is("after-hits"))
		o.after_hits = 0;
	if (wrong_is("one-shot"))
		o.flags &= ~AUXTRACE_TRIGGER_ONE_SHOT;
	if (wrong_is("delay"))
		o.delay_ns = 0;
	if (wrong_is("delay-bytes"))
		o.delay_bytes = 0;
	if (wrong_is("action"))
		o.action = AUXTRACE_ACTION_NONE;
	/* A pause does not reach the other CPU. */
	if (wrong_is("freeze") && o.action == AUXTRACE_ACTION_FREEZE)
		o.action = AUXTRACE_ACTION_PAUSE;
	if (wrong_is("resume") && o.action == AUXTRACE_ACTION_RESUME)
		o.action = AUXTRACE_ACTION_NONE;
	return __real_auxtrace_trigger_add(session, &o);
}

int __wrap_auxtrace_trigger_read(struct auxtrace_session *session, uint32_t id, uint32_t flags, struct auxtrace_trigger_state *state)
{
	if (wrong_is("rearm"))
		flags &= ~AUXTRACE_TRIGGER_REARM;
	if (__real_auxtrace_trigger_read(session, id, flags, state))
		return -1;
	if (wrong_is("counts"))
		state->out_missed++;
	if (wrong_is("hits"))
		state->out_hits = state->out_acted = state->out_held = state->out_idle = state->out_missed = 0;
	return 0;
}

/* Only the check output calls it. */
int __wrap_auxtrace_pause_output(struct auxtrace_session *session, const struct auxtrace_cpus *cpus, bool pause)
{
	if (wrong_is("crash"))
		abort();
	if (wrong_is("hang")) {
		fputs("hangs\n", stderr);
		sleep(3600);
	}
	return __real_auxtrace_pause_output(session, cpus, pause && !wrong_is("output"));
}

/* The first bytes of trace never come. */
int __wrap_auxtrace_reader_peek(struct auxtrace_reader *reader, struct auxtrace_spans *spans)
{
	static bool taken;

	if (__real_auxtrace_reader_peek(reader, spans))
		return -1;
	if (!wrong_is("drain") || taken || !spans->len)
		return 0;
	taken = true;
	if (auxtrace_reader_consume(reader, spans->len))
		return -1;
	return __real_auxtrace_reader_peek(reader, spans);
}

/* Records are missing. */
int __wrap_auxtrace_reader_next_record(struct auxtrace_reader *reader, const union auxtrace_record **record)
{
	static unsigned int switches, news, windows;
	int result;

	do
		result = __real_auxtrace_reader_next_record(reader, record);
	while (result == 1 && ((wrong_is("data") && (*record)->header.type == AUXTRACE_RECORD_LOST) ||
			       (wrong_is("aux") && (*record)->header.type == AUXTRACE_RECORD_AUX && ++news % 4 == 0) ||
			       (wrong_is("records") && (*record)->header.type == AUXTRACE_RECORD_WINDOW && ++windows % 4 == 0) ||
			       (wrong_is("switch") && (*record)->header.type == AUXTRACE_RECORD_SWITCH && ++switches % 4 == 0)));
	return result;
}

/* A byte of each sample is another one. */
int __wrap_auxtrace_reader_copy_records(struct auxtrace_reader *reader, const struct auxtrace_cut *cut, void *buf, size_t size,
					struct auxtrace_copy *copy)
{
	const union auxtrace_record *r;
	size_t at = 0;

	if (__real_auxtrace_reader_copy_records(reader, cut, buf, size, copy))
		return -1;
	while (wrong_is("sample") && (r = auxtrace_record_next(buf, copy->len, &at)))
		if (r->header.type == AUXTRACE_RECORD_SAMPLE)
			((uint8_t *)buf)[(size_t)((const uint8_t *)auxtrace_sample_data(r) - (uint8_t *)buf) + r->sample.length / 2] ^= 1;
	return 0;
}
