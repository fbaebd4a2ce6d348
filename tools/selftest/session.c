// SPDX-License-Identifier: GPL-2.0-only
/* Sessions as a whole: START and STOP, who else can have the hardware, when a reader is woken, what STATUS sums up. */
#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "invariants.h"
#include "lib/clock.h"
#include "lib/first_line.h"
#include "traced.h"

/* ---- START, STOP ------------------------------------------------------------------- */

/* Two at a time are within what an ordinary user may lock. */
static struct auxtrace_session *any_session(const struct selftest *t)
{
	return traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .aux_size = SMALL_AREA });
}

/* A call that the state of the session does not allow is refused with @error. */
static bool refused(int result, int error)
{
	return result && errno == error;
}

static enum outcome stop_and_start(const struct selftest *t)
{
	struct auxtrace_session *s = any_session(t), *other;
	struct auxtrace_status_page stopped, later, started;

	if (!s)
		return traced_failed(NULL, "a session");
	traced_work(SOME_WORK);
	if (!refused(auxtrace_start(s), EALREADY)) {
		auxtrace_close(s);
		return check_failed("a session that is started is started again");
	}
	if (auxtrace_stop(s) || !traced_status(s, t, &stopped))
		return traced_failed(s, "the STOP");
	if (!refused(auxtrace_stop(s), EALREADY) || !refused(auxtrace_pause(s), EBADFD)) {
		auxtrace_close(s);
		return check_failed("a session that is stopped is stopped again, or paused");
	}
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later))
		return traced_failed(s, "the status");
	if (later.running || !(later.inhibit & AUXTRACE_INHIBIT_SETUP) || later.produced != stopped.produced) {
		auxtrace_close(s);
		return check_failed("behind a STOP it wrote %" PRIu64 " bytes, reasons to be off %#x",
				    (uint64_t)(later.produced - stopped.produced), later.inhibit);
	}
	other = any_session(t);
	if (!other)
		return traced_failed(s, "another session, when this one is stopped");
	if (!refused(auxtrace_start(s), EBUSY)) {
		auxtrace_close(other);
		auxtrace_close(s);
		return check_failed("two sessions are started on one CPU");
	}
	auxtrace_close(other);
	if (auxtrace_start(s))
		return traced_failed(s, "the second START");
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &started))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	if (started.produced <= stopped.produced || started.windows <= stopped.windows)
		return check_failed("behind the second START it wrote %" PRIu64 " bytes in %" PRIu64 " windows",
				    (uint64_t)(started.produced - stopped.produced), (uint64_t)(started.windows - stopped.windows));
	return PASSED;
}

/* ---- others that want the hardware ------------------------------------------------- */

/* perf's number of its own driver of the trace PMU; -1: the kernel has none. */
static int perfs_type(const struct selftest *t)
{
	char path[100], type[16];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", t->source->perf_pmu);
	return first_line(path, type, sizeof(type)) ? atoi(type) : -1;
}

/* perf's event of that driver on the CPU. It traces nothing, but the hardware is perf's while it is open. -1 with errno. */
static int perfs_event(const struct selftest *t, int type)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = (uint32_t)type, .disabled = 1, .exclude_kernel = 1, .exclude_hv = 1 };

	return (int)syscall(SYS_perf_event_open, &attr, -1, (int)t->cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* While perf has the event @fd, which is closed. */
static enum outcome session_beside_perf(const struct selftest *t, int fd)
{
	struct auxtrace_session *s = any_session(t);
	int error = errno;

	close(fd);
	if (s) {
		auxtrace_close(s);
		return check_failed("a session was started while perf had the CPU's %s", t->source->perf_pmu);
	}
	if (error != EBUSY)
		return check_failed("while perf had the CPU's %s, a session gets: %s", t->source->perf_pmu, auxtrace_error());
	s = any_session(t);
	if (!s)
		return traced_failed(NULL, "a session behind perf's event");
	auxtrace_close(s);
	return PASSED;
}

static enum outcome perf_beside_session(const struct selftest *t, int type)
{
	struct auxtrace_session *s = any_session(t);
	int fd, error;

	if (!s)
		return traced_failed(NULL, "a session");
	fd = perfs_event(t, type);
	error = errno;
	auxtrace_close(s);
	if (fd >= 0) {
		close(fd);
		return check_failed("perf got the CPU's %s while a session had it", t->source->perf_pmu);
	}
	if (error == EACCES || error == EPERM)
		return check_skipped("perf's %s: %s", t->source->perf_pmu, strerror(error));
	if (error != EBUSY)
		return check_failed("while a session had it, perf's %s gets: %s", t->source->perf_pmu, strerror(error));
	return PASSED;
}

static enum outcome exclusive(const struct selftest *t)
{
	struct auxtrace_session *s, *second;
	int type = perfs_type(t), fd;
	enum outcome outcome;

	s = any_session(t);
	if (!s)
		return traced_failed(NULL, "a session");
	second = any_session(t);
	if (second || errno != EBUSY) {
		outcome = second ? check_failed("two sessions are started on one CPU") : check_failed("a second session: %s", auxtrace_error());
		auxtrace_close(second);
		auxtrace_close(s);
		return outcome;
	}
	auxtrace_close(s);
	if (type < 0) {
		check_note("the kernel has no %s of its own", t->source->perf_pmu);
		return PASSED;
	}
	outcome = perf_beside_session(t, type);
	if (outcome != PASSED)
		return outcome;
	/* Nobody has it now, unless others of this machine came first. */
	fd = perfs_event(t, type);
	if (fd < 0)
		return check_skipped("perf's %s without a session: %s", t->source->perf_pmu, strerror(errno));
	return session_beside_perf(t, fd);
}

/* ---- poll(2) ----------------------------------------------------------------------- */

#define WAKE_AREA	(64u << 10)
#define WAKE_RING	(16u << 10)
/* More than a reader that is not woken has to wait for the verdict */
#define WAKE_MS		20000
#define WAKE_WAITS_MS	5000u

struct sleeper {
	struct pollfd fd;
	int cpu;
	atomic_bool sleeps, woken;
	int result;
};

/* One poll(2): a second one would find what the first was not woken for. */
static void *sleep_in_poll(void *arg)
{
	struct sleeper *sleeper = arg;

	if (sleeper->cpu >= 0)
		traced_pin(sleeper->cpu);
	atomic_store(&sleeper->sleeps, true);
	sleeper->result = poll(&sleeper->fd, 1, WAKE_MS);
	atomic_store(&sleeper->woken, true);
	return NULL;
}

static void wait_ms(unsigned int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

static bool wait_for(atomic_bool *what)
{
	int64_t end = clock_now_ns() + WAKE_WAITS_MS * 1000000ll;

	while (!atomic_load(what) && clock_now_ns() < end)
		wait_ms(1);
	return atomic_load(what);
}

/* Bytes that a reader finds, as the interrupts, not a STATUS, have published them */
static bool unread_now(struct auxtrace_session *s, const struct selftest *t, bool records, uint64_t *bytes)
{
	struct auxtrace_status_page page;

	if (!traced_page(s, t->cpu, &page))
		return false;
	*bytes = records ? page.data_head - page.data_consumed : page.produced - page.consumed;
	return true;
}

/* Some more trace, or more records; false: a call failed. */
static bool make_more(struct auxtrace_session *s, bool records)
{
	if (!records) {
		traced_work(100);
		return true;
	}
	if (auxtrace_resume(s))
		return false;
	traced_work(10);
	return !auxtrace_pause(s);
}

/* Half of the area or ring, the default, is the watermark. @s stays. */
static enum outcome wake_at(const struct selftest *t, struct auxtrace_session *s, struct sleeper *sleeper, bool records)
{
	uint64_t mark = records ? WAKE_RING / 2 : WAKE_AREA / 2, bytes = 0;

	if (!wait_for(&sleeper->sleeps))
		return check_skipped("the thread that is to sleep gets no time");
	if (!make_more(s, records))
		return check_failed("some work: %s", auxtrace_error());
	wait_ms(20);
	if (atomic_load(&sleeper->woken))
		return check_failed("a reader did not sleep though almost nothing was unread");
	for (unsigned int i = 0; i < 100000 && bytes < mark; i++)
		if (!make_more(s, records) || !unread_now(s, t, records, &bytes))
			return check_failed("some work: %s", auxtrace_error());
	if (bytes < mark)
		return check_failed("so much work made %" PRIu64 " bytes that can be read, and the watermark is %" PRIu64, bytes, mark);
	if (!wait_for(&sleeper->woken))
		return check_failed("a reader sleeps though %" PRIu64 " bytes are unread, and the watermark is %" PRIu64, bytes, mark);
	if (sleeper->result != 1 || !(sleeper->fd.revents & POLLIN))
		return check_failed("a reader was woken, and poll(2) returned %d with events %#x", sleeper->result,
				    (unsigned int)sleeper->fd.revents);
	return PASSED;
}

static enum outcome wake_in(const struct selftest *t, struct auxtrace_options options, bool records)
{
	struct auxtrace_session *s = traced_begin(t, options);
	struct sleeper sleeper = { .cpu = t->other_cpu };
	enum outcome outcome;
	pthread_t thread;

	if (!s)
		return traced_failed(NULL, "a session");
	sleeper.fd = (struct pollfd){ .fd = auxtrace_fd(s), .events = POLLIN };
	if (pthread_create(&thread, NULL, sleep_in_poll, &sleeper)) {
		auxtrace_close(s);
		return check_skipped("there is no thread to sleep");
	}
	outcome = wake_at(t, s, &sleeper, records);
	/* What is unread when a session is stopped wakes each reader. */
	auxtrace_stop(s);
	traced_join(thread);
	auxtrace_close(s);
	return outcome;
}

static enum outcome wake(const struct selftest *t)
{
	enum outcome outcome = wake_in(t, (struct auxtrace_options){ .aux_size = WAKE_AREA }, false);

	if (outcome == PASSED)
		outcome = wake_in(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_PAUSED,
								.data_size = WAKE_RING, .records = AUXTRACE_WANT_WINDOW }, true);
	return outcome;
}

/* ---- STATUS ------------------------------------------------------------------------ */

static enum outcome sums_of(const struct selftest *t, struct auxtrace_session *s, unsigned int cpus)
{
	struct auxtrace_status status = { .size = sizeof(status) };
	struct auxtrace_status_page page[2];
	const char *broken;

	traced_work(SOME_WORK);
	/* It moves from CPU to CPU, so that both have something. */
	if (cpus == 2) {
		traced_pin(t->other_cpu);
		traced_work(SOME_WORK);
		traced_pin((int)t->cpu);
	}
	if (auxtrace_pause(s) || !traced_status(s, t, &page[0]) ||
	    (cpus == 2 && !traced_page(s, (unsigned int)t->other_cpu, &page[1])) || auxtrace_status(s, 0, &status))
		return check_failed("the status: %s", auxtrace_error());
	for (unsigned int i = 0; i < cpus; i++)
		if (!page[i].produced || !page[i].windows || !page[i].data_head)
			return check_failed("CPU %u wrote %" PRIu64 " bytes in %" PRIu64 " windows, and %" PRIu64 " bytes of records", page[i].cpu,
					    (uint64_t)page[i].produced, (uint64_t)page[i].windows, (uint64_t)page[i].data_head);
	broken = invariants_of_status(&status, page, cpus);
	return broken ? check_failed("of %u CPUs: not %s", cpus, broken) : PASSED;
}

/* The session is of this thread on two CPUs, if there are two, and others let it have the second. */
static enum outcome sums(const struct selftest *t)
{
	struct auxtrace_options options = { .flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_THREAD, .data_size = 64u << 10 };
	struct auxtrace_session *s = NULL;
	unsigned int cpus = 1;
	enum outcome outcome;
	char both[32];

	if (t->other_cpu >= 0) {
		snprintf(both, sizeof(both), "%u,%d", t->cpu, t->other_cpu);
		options.cpus = both;
		cpus = 2;
		s = traced_begin(t, options);
	}
	if (!s && (cpus == 1 || traced_refused(errno))) {
		options.cpus = NULL;
		cpus = 1;
		s = traced_begin(t, options);
	}
	if (!s)
		return traced_failed(NULL, "a session");
	outcome = sums_of(t, s, cpus);
	auxtrace_close(s);
	if (outcome == PASSED)
		check_figure("CPUs", cpus, "");
	return outcome;
}

const struct check session_checks[] = {
	{ "stop-start", "a stopped session writes nothing and gives the hardware back, and can be started again", false, stop_and_start },
	{ "exclusive", "of two sessions, and of perf's own driver and a session, one has the hardware", false, exclusive },
	{ "wake", "a reader sleeps until half of the area or of the data ring is to be read, and not longer", false, wake },
	{ "sums", "the status of the session is the sum over its CPUs", false, sums },
	{ 0 },
};
