// SPDX-License-Identifier: GPL-2.0
/* auxtrace record */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <auxtrace.h>

#include "child.h"
#include "control.h"
#include "record_options.h"
#include "tool.h"

#define EXIT_FAILED	125
#define PROGRESS_NS	500000000ll
/* A full area that nobody may restart stays readable: then it is asked less often. */
#define IDLE_NS		50000000ll

struct record {
	struct record_options o;
	struct control *control;
	int snapshots;
	struct auxtrace_session *session;
	struct notes notes;
	struct child child;
	int signals;		/* signalfd */
	bool stop;
	bool failed;
	bool frozen;		/* by a trigger, and stays so */
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* The command goes on the session's CPUs; we stay off them where we can. */
static const cpu_set_t *place(const struct record *r, cpu_set_t *theirs)
{
	const struct auxtrace_cpus *cpus = auxtrace_cpus(r->session);
	cpu_set_t ours;

	if (!r->o.session.cpus || sched_getaffinity(0, sizeof(ours), &ours))
		return NULL;
	CPU_ZERO(theirs);
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0 && c < CPU_SETSIZE;
	     c = auxtrace_cpus_next(cpus, c + 1)) {
		CPU_SET(c, theirs);
		CPU_CLR(c, &ours);
	}
	if (CPU_COUNT(&ours) && sched_setaffinity(0, sizeof(ours), &ours))
		say("cannot stay off the traced CPUs: %s; auxtrace is in the trace too", strerror(errno));
	return theirs;
}

static int take_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigaddset(&set, SIGUSR1);
	sigaddset(&set, SIGUSR2);
	/* An answer that nobody reads is no reason to die. */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Also after a freeze: triggers act again. */
static bool resume(struct record *r)
{
	r->frozen = false;
	return !auxtrace_resume(r->session);
}

static bool take_snapshot(struct record *r)
{
	int n;

	notes_reports(&r->notes);
	n = auxtrace_recording_snapshot(r->notes.recording);
	if (n < 0) {
		say("no snapshot: %s", auxtrace_error());
		return false;
	}
	r->snapshots = n;
	say("%s/snapshot.%04d is written", r->o.dir, n);
	return true;
}

/*
 * A trigger has frozen the session: a flight recorder writes what is there and goes
 * on; else the newest data stay as they are until the end.
 */
static void handle_freeze(struct record *r)
{
	const struct auxtrace_cpus *cpus = auxtrace_cpus(r->session);
	struct auxtrace_status_page page;
	struct auxtrace_status status;
	bool paused = false;

	/* The other CPUs follow by interrupts, and have done so when they answer. */
	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &status))
		say("%s", auxtrace_error());
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		if (auxtrace_reader_status(auxtrace_reader(r->session, c), &page)) {
			say("%s", auxtrace_error());
			continue;
		}
		paused |= !!(page.inhibit & AUXTRACE_INHIBIT_USER);
		if (page.inhibit & AUXTRACE_INHIBIT_FROZEN && !r->frozen) {
			say("frozen by trigger %u, %s", page.frozen_by, on_text(&r->o.on, page.frozen_by));
			r->frozen = true;
		}
	}
	if (r->o.flight) {
		r->frozen = false;
		take_snapshot(r);
		/* A resume lifts the user's pause with the freeze. */
		if (auxtrace_resume(r->session) || (paused && auxtrace_pause(r->session)))
			say("%s", auxtrace_error());
	} else if (!r->o.argv) {
		r->stop = true;		/* nothing will come any more */
	}
}

static void handle_signal(struct record *r, const struct signalfd_siginfo *info)
{
	switch (info->ssi_signo) {
	case SIGCHLD:
		return;		/* child_events() asks whenever something woke us */
	case SIGPIPE:
		return;
	case SIGUSR1:
		if (!resume(r))
			say("%s", auxtrace_error());
		return;
	case SIGUSR2:
		if (r->o.flight)
			take_snapshot(r);
		else if (auxtrace_pause(r->session))
			say("%s", auxtrace_error());
		return;
	}
	if (!r->child.running) {
		r->stop = true;
		return;
	}
	/* What the terminal sends goes to the command too, without us. */
	if (info->ssi_code != SI_KERNEL)
		kill(r->child.pid, info->ssi_signo);
}

static bool status_line(struct record *r, char *text, size_t size)
{
	static const char *const states[] = { "new", "stopped", "started" };
	struct auxtrace_status s;

	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &s))
		return false;
	snprintf(text, size, "status state=%s channels=%u running=%u produced=%" PRIu64 " consumed=%" PRIu64
		 " overwritten=%" PRIu64 " windows=%" PRIu64 " gaps=%" PRIu64 " pmis=%" PRIu64
		 " data_produced=%" PRIu64 " data_consumed=%" PRIu64 " data_overwritten=%" PRIu64
		 " data_lost=%" PRIu64 " snapshots=%d\n",
		 s.out_state < ARRAY_SIZE(states) ? states[s.out_state] : "?", s.out_nr_channels,
		 s.out_nr_running, (uint64_t)s.out_produced, (uint64_t)s.out_consumed,
		 (uint64_t)s.out_overwritten, (uint64_t)s.out_windows, (uint64_t)s.out_gaps,
		 (uint64_t)s.out_pmis, (uint64_t)s.out_data_produced, (uint64_t)s.out_data_consumed,
		 (uint64_t)s.out_data_overwritten, (uint64_t)s.out_data_lost, r->snapshots);
	return true;
}

static enum control_answer act(void *context, enum control_command command, char *text, size_t size)
{
	struct record *r = context;
	bool done = true;

	switch (command) {
	case CONTROL_PAUSE:
		done = !auxtrace_pause(r->session);
		break;
	case CONTROL_RESUME:
		done = resume(r);
		break;
	case CONTROL_SNAPSHOT:
		done = take_snapshot(r);
		break;
	case CONTROL_STATUS:
		done = status_line(r, text, size);
		break;
	case CONTROL_STOP:
		r->stop = true;
		return CONTROL_LATER;	/* when the recording is whole */
	case CONTROL_PING:
		break;
	}
	if (done)
		return CONTROL_ACK;
	snprintf(text, size, "%s", auxtrace_error());
	return CONTROL_ERROR;
}

static void show_progress(const struct record *r, int64_t begin)
{
	struct auxtrace_status status;

	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &status))
		return;
	fprintf(stderr, "\rauxtrace: %6.1f s, %" PRIu64 " KiB produced, %" PRIu64 " windows, %" PRIu64 " gaps ",
		(now_ns() - begin) / 1e9, (uint64_t)status.out_produced >> 10,
		(uint64_t)status.out_windows, (uint64_t)status.out_gaps);
}

/* Is there anything that is read before the end? */
static bool is_drained(const struct auxtrace_options *o)
{
	return !(o->flags & AUXTRACE_SETUP_OVERWRITE) ||
	       (o->data_size && !(o->flags & AUXTRACE_SETUP_DATA_OVERWRITE));
}

/* Until the command ends, the time is over or a signal says so. */
static void loop(struct record *r)
{
	const bool drained = is_drained(&r->o.session), freezes = on_has(&r->o.on, AUXTRACE_ACTION_FREEZE);
	const int trace = drained || freezes ? auxtrace_fd(r->session) : -1;
	bool tty = isatty(STDERR_FILENO), told = false;
	int64_t begin = now_ns(), end = r->o.duration ? begin + (int64_t)(r->o.duration * 1e9) : INT64_MAX;
	int64_t tick = tty ? begin + PROGRESS_NS : INT64_MAX, idle = INT64_MAX;
	struct pollfd fds[] = {
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = trace },
		{ .fd = r->notes.watch ? watch_fd(r->notes.watch) : -1, .events = POLLIN },
		{ .fd = r->control ? control_fd(r->control) : -1, .events = POLLIN },
	};

	for (;;) {
		struct signalfd_siginfo info;
		int64_t now = now_ns(), next;
		int timeout = -1;
		ssize_t n = 1;

		if (now >= end)
			r->stop = true;
		if (r->stop && !r->child.running)
			break;
		if (r->stop && !told) {
			/* It may take its time, or none of that: we go on as before until it ends. */
			kill(r->child.pid, SIGTERM);
			told = true;
			end = INT64_MAX;
		}
		next = tick < end ? tick : end;
		if (now >= idle) {
			fds[1].fd = trace;
			idle = INT64_MAX;
		}
		next = next < idle ? next : idle;
		if (next != INT64_MAX)
			timeout = next <= now ? 0 : (next - now) / 1000000 + 1;
		/* POLLPRI stands until the resume. */
		fds[1].events = (drained ? POLLIN : 0) | (freezes && !r->frozen ? POLLPRI : 0);
		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR) {
			say("cannot poll: %s", strerror(errno));
			r->failed = true;
			break;
		}
		while (read(r->signals, &info, sizeof(info)) == sizeof(info))
			handle_signal(r, &info);
		if (r->o.argv) {
			child_events(&r->child, &r->notes);
			r->stop |= !r->child.running;
		}
		if (fds[2].revents & POLLIN)
			notes_reports(&r->notes);
		if (fds[1].revents & POLLPRI)
			handle_freeze(r);
		if (fds[1].revents & POLLIN)
			n = auxtrace_recording_drain(r->notes.recording);
		if (n < 0) {
			say("%s", auxtrace_error());
			r->failed = true;
			break;
		}
		if (!n) {
			fds[1].fd = -1;
			idle = now_ns() + IDLE_NS;
		}
		if (fds[3].revents & POLLIN)
			control_serve(r->control, act, r);
		if (fds[1].revents & POLLERR) {
			say("the trace hardware of a CPU reported an error; the recording ends here");
			r->failed = true;
			break;
		}
		if (now_ns() >= tick) {
			show_progress(r, begin);
			tick = now_ns() + PROGRESS_NS;
		}
	}
	if (tty)
		fputs("\r\033[K", stderr);
}

static void summary(const struct record *r, const struct auxtrace_totals *t)
{
	const struct auxtrace_cpus *cpus = auxtrace_cpus(r->session);

	say("%s: %u CPUs, %" PRIu64 " windows, %" PRIu64 " interrupts; bytes produced %" PRIu64
	    ", read %" PRIu64 ", overwritten %" PRIu64 "; gaps %" PRIu64,
	    r->o.dir, auxtrace_cpus_count(cpus), t->windows, t->pmis, t->produced, t->read,
	    t->overwritten, t->gaps);
	if (r->snapshots)
		say("%d snapshots, which retained %" PRIu64 " bytes", r->snapshots, t->retained);
	if (t->records_lost)
		say("%" PRIu64 " records were lost; a larger --data-size helps when the reader was late",
		    t->records_lost);
	if (t->gaps)
		say("trace was lost %" PRIu64 " times, the files' meta says why; a larger -m helps when the reader was late",
		    t->gaps);
}

static int finish(struct record *r)
{
	struct auxtrace_totals totals;
	int ret;

	if (auxtrace_stop(r->session)) {
		say("%s", auxtrace_error());
		r->failed = true;
	}
	on_summary(&r->o.on, r->session);
	notes_reports(&r->notes);
	if (r->notes.lost)
		say("perf lost %lu reports on processes: some code may be unknown",
		    r->notes.lost);
	/* Processes that came meanwhile and are no children of ours. */
	if (auxtrace_recording_add_all_tasks(r->notes.recording) < 0)
		say("%s", auxtrace_error());
	ret = auxtrace_recording_finish(r->notes.recording, &totals);
	if (ret) {
		say("%s", auxtrace_error());
		r->failed = true;
	}
	summary(r, &totals);
	return r->failed ? EXIT_FAILED : r->child.status;
}

static void release(struct record *r)
{
	control_close(r->control);
	watch_close(r->notes.watch);
	auxtrace_close(r->session);
	on_free(&r->o.on);
	if (r->signals >= 0)
		close(r->signals);
}

/* What was wrong has been said. */
static int give_up(struct record *r)
{
	if (r->child.running) {
		kill(r->child.pid, SIGKILL);
		child_wait(&r->child, &r->notes);
	}
	auxtrace_recording_abort(r->notes.recording);
	release(r);
	return EXIT_FAILED;
}

static int fail_record(struct record *r)
{
	say("%s", auxtrace_error());
	return give_up(r);
}

/* The session, or the reason why not; with another source it may be possible. */
static int set_up(struct record *r, struct auxtrace_info *info)
{
	r->session = auxtrace_open(NULL);
	if (!r->session || auxtrace_info(r->session, 0, info))
		return fail_record(r);
	if (!auxtrace_setup(r->session, &r->o.session))
		return 0;
	if (errno == ENODEV && r->o.session.pmu == AUXTRACE_PMU_INTEL_PT &&
	    info->out_pmus == 1u << AUXTRACE_PMU_INTEL_BTS) {
		say("%s: use --source bts", auxtrace_error());
		return give_up(r);
	}
	return fail_record(r);
}

static int run(struct record *r)
{
	struct auxtrace_info info;
	cpu_set_t theirs;
	int ret;

	if (r->o.control)
		r->control = control_open(r->o.control);
	ret = set_up(r, &info);
	if (ret)
		return ret;
	r->notes.recording = auxtrace_recording_create(r->session, r->o.dir);
	if (!r->notes.recording)
		return fail_record(r);
	r->signals = take_signals();
	if (r->signals < 0)
		die(EXIT_FAILED, "cannot take signals: %s", strerror(errno));
	r->notes.watch = watch_open(&info);
	if (!r->notes.watch)
		say("perf does not report on processes (%s): code that is unmapped before the end will be unknown",
		    strerror(errno));
	if (r->o.argv) {
		ret = child_start(&r->child, r->o.argv, place(r, &theirs));
		if (ret) {
			auxtrace_recording_abort(r->notes.recording);
			release(r);
			return ret;
		}
	}
	if (on_add(&r->o.on, r->session, r->child.pid))
		return give_up(r);
	if (auxtrace_recording_add_all_tasks(r->notes.recording) < 0 || auxtrace_start(r->session))
		return fail_record(r);
	if (r->o.argv)
		child_continue(&r->child);
	loop(r);
	if (r->child.running) {
		/* We cannot go on with it. */
		kill(r->child.pid, SIGTERM);
		child_wait(&r->child, &r->notes);
	}
	ret = finish(r);
	if (r->control)
		control_finish(r->control, !r->failed ? NULL : *auxtrace_error() ? auxtrace_error() :
			       "the recording failed; standard error says why");
	release(r);
	return ret;
}

int cmd_record(int argc, char **argv)
{
	struct record r = { .signals = -1 };
	int status = record_options_parse(&r.o, argc, argv);

	return status >= 0 ? status : run(&r);
}
