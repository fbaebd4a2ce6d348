// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace record: sets up a session, and drains it until the command or the time ends. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include <auxtrace.h>

#include "cmd.h"
#include "lib/clock.h"
#include "lib/followed.h"
#include "lib/tool.h"
#include "record/arrivals.h"
#include "record/child.h"
#include "record/control.h"
#include "record/options.h"
#include "record/perf_ring.h"
#include "record/side_files.h"
#include "source/source.h"
#include "userlib/perf_map.h"
#include "userlib/pid_namespace.h"

#define EXIT_FAILED	125
#define LEAST_SIZE	(32u << 10)	/* to which the default size of an area may shrink */
#define LEAST_DATA	(16u << 10)	/* likewise of a data ring */
#define PROGRESS_NS	500000000ll
/* A full area that stays stopped stays readable: after an empty drain, wait this long. */
#define IDLE_NS		50000000ll
/* With -p or -t and no command: how often to look whether they have ended */
#define MEMBERS_NS	100000000ll

struct record {
	struct record_options o;
	struct control *control;
	int snapshots;
	int side_snapshot;	/* the newest snapshot that has its side files */
	struct auxtrace_session *session;
	struct notes notes;
	struct side_files *side; /* NULL: perf refuses */
	struct arrivals arrivals; /* of CPUs, for perf's reports */
	unsigned long sleeps;	/* of the machine */
	struct child child;
	bool started;		/* child_start() was called: it leaves nothing behind if it fails */
	bool traced;		/* the command and its descendants, by ptrace(2) */
	int signals;		/* signalfd */
	bool stop;
	bool failed;
	bool ends;		/* auxtrace_recording_finish() was called */
	bool frozen;		/* by a trigger, until a resume */
};

/*
 * Place the command on the session's CPUs, and this process on others if there are any. A list of CPUs
 * that is wrong is left to SETUP, which says why.
 */
static const cpu_set_t *place(const struct record *r, cpu_set_t *theirs)
{
	struct auxtrace_cpus *cpus;
	cpu_set_t ours;

	if (!r->o.session.cpus || sched_getaffinity(0, sizeof(ours), &ours))
		return NULL;
	cpus = auxtrace_cpus_parse(r->o.session.cpus);
	if (!cpus)
		return NULL;
	CPU_ZERO(theirs);
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0 && c < CPU_SETSIZE;
	     c = auxtrace_cpus_next(cpus, c + 1)) {
		CPU_SET(c, theirs);
		CPU_CLR(c, &ours);
	}
	auxtrace_cpus_free(cpus);
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
	/* A client of --control that closes its end must not kill the recorder. */
	sigaddset(&set, SIGPIPE);
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Ends a freeze too: triggers act again. */
static bool resume(struct record *r)
{
	r->frozen = false;
	return !auxtrace_resume(r->session);
}

static void finish_side(struct record *r)
{
	if (!r->side)
		return;
	if (side_files_drain(r->side, r->o.dir) || side_files_write(r->side, r->o.dir))
		r->failed = true;
	if (side_files_lost(r->side))
		say("perf lost %lu records for the side files: the names of threads and who ran may be wrong there",
		    side_files_lost(r->side));
}

/* CPUs may have come online. New rings come before all else that takes time. */
static void renew_reports(struct record *r)
{
	const struct timespec wait = { .tv_nsec = PERF_RING_WAIT_NS };
	struct auxtrace_info info;

	if (!r->notes.sideband)
		return;
	sideband_look(r->notes.sideband);
	if (r->side)
		side_files_look(r->side);
	nanosleep(&wait, NULL);
	if (r->side && side_files_renew(r->side, r->o.dir))
		r->failed = true;
	if (notes_renew(&r->notes) && auxtrace_recording_add_all_tasks(r->notes.recording) < 0)
		say("%s", auxtrace_error());
	/* What was reported before the sleep is read by now. */
	if (arrivals_slept(&r->arrivals)) {
		r->sleeps++;
		if (!auxtrace_info(r->session, 0, &info))
			sideband_clock(r->notes.sideband, &info);
	}
}

static struct followed followed(const struct record *r)
{
	const struct notes *notes = &r->notes;

	return (struct followed){
		.by = !r->o.argv ? FOLLOWED_NONE : r->traced ? FOLLOWED_BY_PTRACE : FOLLOWED_BY_PERF,
		.reports = notes->sideband,
		.reports_lost = notes->lost,
		.cpus_came = notes->sideband ? sideband_cpus_came(notes->sideband) : 0,
		.sleeps = r->sleeps,
		.generated_lost = notes->sideband ? sideband_generated_lost(notes->sideband) : 0,
		.perf_maps_lost = notes->maps ? perf_maps_lost(notes->maps) : 0,
	};
}

static void write_followed(struct record *r, const char *dir)
{
	const struct followed f = followed(r);

	if (followed_write(&f, dir))
		r->failed = true;
	if (r->ends)
		followed_say(&f);
}

/* A snapshot is cut, or its processes have been read; or the recording ends. */
static void handle_cut(void *context)
{
	struct record *r = context;
	char dir[4200];

	/* Not every CPU that comes is told of. The first call for a snapshot may be while CPUs are paused. */
	if (r->ends || r->side_snapshot > r->snapshots)
		renew_reports(r);
	notes_reports(&r->notes);
	if (r->ends) {
		finish_side(r);
		write_followed(r, r->o.dir);
		return;
	}
	snprintf(dir, sizeof(dir), "%s/snapshot.%04d", r->o.dir, r->snapshots + 1);
	if (r->side && r->side_snapshot <= r->snapshots)
		side_files_write(r->side, dir);
	r->side_snapshot = r->snapshots + 1;
	write_followed(r, dir);
}

static void tell_trimmed(const struct record *r, uint64_t snapshots)
{
	if (snapshots)
		say("the %" PRIu64 " oldest snapshots were removed, so that %s takes no more than --disk", snapshots, r->o.dir);
}

static bool take_snapshot(struct record *r)
{
	int n = auxtrace_recording_snapshot(r->notes.recording);

	if (n < 0) {
		say("no snapshot: %s", auxtrace_error());
		r->side_snapshot = r->snapshots;
		return false;
	}
	r->snapshots = n;
	say("%s/snapshot.%04d is written", r->o.dir, n);
	if (r->o.disk) {
		n = auxtrace_recording_trim(r->notes.recording, r->o.disk);
		if (n < 0)
			say("%s takes more than --disk, and not all old snapshots could be removed: %s", r->o.dir, auxtrace_error());
		else
			tell_trimmed(r, n);
	}
	return true;
}

/*
 * A trigger has frozen the session. With --snapshot write a snapshot and resume. Otherwise
 * the frozen data stay until the recording ends.
 */
static void handle_freeze(struct record *r)
{
	const struct auxtrace_cpus *cpus = auxtrace_cpus(r->session);
	struct auxtrace_status_page page;
	struct auxtrace_status status;
	bool paused = false;

	/* SYNC waits until the other CPUs have frozen, too: they do it in an interrupt. */
	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &status))
		say("%s", auxtrace_error());
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		if (auxtrace_reader_status(auxtrace_reader(r->session, c), &page)) {
			say("%s", auxtrace_error());
			continue;
		}
		paused |= !!(page.inhibit & AUXTRACE_INHIBIT_USER);
		if (page.inhibit & AUXTRACE_INHIBIT_FROZEN && !r->frozen) {
			say("frozen by trigger %u, %s", page.frozen_by, trigger_options_text(&r->o.triggers, page.frozen_by));
			r->frozen = true;
		}
	}
	if (r->o.flight) {
		r->frozen = false;
		take_snapshot(r);
		/* A resume ends the user's pause together with the freeze. */
		if (auxtrace_resume(r->session) || (paused && auxtrace_pause(r->session)))
			say("%s", auxtrace_error());
	} else if (!r->o.argv) {
		r->stop = true;		/* nothing can happen any more */
	}
}

static void handle_signal(struct record *r, const struct signalfd_siginfo *info)
{
	switch (info->ssi_signo) {
	case SIGCHLD:
		return;		/* the main loop calls child_events() after each wakeup */
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
	/* Signals of the terminal reach the command without our help. */
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
		return CONTROL_LATER;	/* when the recording is complete */
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
		(clock_now_ns() - begin) / 1e9, (uint64_t)status.out_produced >> 10,
		(uint64_t)status.out_windows, (uint64_t)status.out_gaps);
}

/* Does nothing that is to be traced exist any more? */
static bool members_ended(const struct record *r)
{
	struct auxtrace_status status;

	return !auxtrace_status(r->session, 0, &status) && !status.out_members;
}

/* Is anything drained before the end? */
static bool is_drained(const struct auxtrace_options *o)
{
	return !(o->flags & AUXTRACE_SETUP_OVERWRITE) ||
	       (o->data_size && !(o->flags & AUXTRACE_SETUP_DATA_OVERWRITE));
}

/* Run until the command ends, the time is over, or a signal or command says stop. */
static void loop(struct record *r)
{
	const bool drained = is_drained(&r->o.session), freezes = trigger_options_have(&r->o.triggers, AUXTRACE_ACTION_FREEZE);
	const int trace = drained || freezes ? auxtrace_fd(r->session) : -1;
	bool tty = isatty(STDERR_FILENO), killed = false;
	int64_t begin = clock_now_ns(), end = r->o.duration ? begin + (int64_t)(r->o.duration * 1e9) : INT64_MAX;
	int64_t tick = tty ? begin + PROGRESS_NS : INT64_MAX, idle = INT64_MAX;
	int64_t look = r->o.scope == SCOPE_TASK && !r->o.argv ? begin : INT64_MAX;
	struct pollfd fds[] = {
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = trace },
		{ .fd = r->notes.sideband ? sideband_fd(r->notes.sideband) : -1, .events = POLLIN },
		{ .fd = r->control ? control_fd(r->control) : -1, .events = POLLIN },
		{ .fd = r->side ? side_files_fd(r->side) : -1, .events = POLLIN },
		{ .fd = r->notes.maps ? perf_maps_fd(r->notes.maps) : -1, .events = POLLIN },
		{ .fd = arrivals_fd(&r->arrivals), .events = POLLIN },
	};

	for (;;) {
		struct signalfd_siginfo info;
		int64_t now = clock_now_ns(), next, due;
		int timeout = -1;
		ssize_t n = 1;

		if (now >= look) {
			r->stop |= members_ended(r);
			look = now + MEMBERS_NS;
		}
		if (now >= end)
			r->stop = true;
		if (r->stop && !r->child.running)
			break;
		if (r->stop && !killed) {
			/* The command may ignore it: continue as before until the command ends. */
			kill(r->child.pid, SIGTERM);
			killed = true;
			end = INT64_MAX;
		}
		next = tick < end ? tick : end;
		if (now >= idle) {
			fds[1].fd = trace;
			idle = INT64_MAX;
		}
		next = next < idle ? next : idle;
		next = next < look ? next : look;
		due = r->notes.sideband ? sideband_due(r->notes.sideband) : INT64_MAX;
		next = next < due ? next : due;
		if (next != INT64_MAX)
			timeout = next <= now ? 0 : (next - now) / 1000000 + 1;
		/* POLLPRI stays set until the resume: do not poll for it while frozen. */
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
		if (fds[6].revents & POLLIN && arrivals_heard(&r->arrivals))
			renew_reports(r);
		if ((fds[2].revents | fds[5].revents) & POLLIN || clock_now_ns() >= due)
			notes_reports(&r->notes);
		if (fds[4].revents & POLLIN && side_files_drain(r->side, r->o.dir)) {
			r->failed = true;
			break;
		}
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
			idle = clock_now_ns() + IDLE_NS;
		}
		if (fds[3].revents & POLLIN)
			control_serve(r->control, act, r);
		if (fds[1].revents & POLLERR) {
			say("the trace hardware of a CPU reported an error; the recording ends here");
			r->failed = true;
			break;
		}
		if (clock_now_ns() >= tick) {
			show_progress(r, begin);
			tick = clock_now_ns() + PROGRESS_NS;
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
		say("%" PRIu64 " records were lost; a larger --data-size helps if the reader was late",
		    t->records_lost);
	if (t->code_changes == AUXTRACE_CHANGES_UNKNOWN)
		say("whether the kernel's code changed meanwhile is not known: it could not be read");
	else if (t->code_changes)
		say("the kernel's code changed at %" PRIu64 " places meanwhile, which are in the file kcore.changes: unless perf reported when, what ran there before may not decode",
		    t->code_changes);
	if (t->gaps)
		say("trace was lost %" PRIu64 " times, the file meta says why; a larger -m helps if the reader was late",
		    t->gaps);
}

static void tell_lost_members(const struct record *r)
{
	struct auxtrace_status status;

	if (!auxtrace_status(r->session, 0, &status) && status.out_members_lost)
		say("%" PRIu64 " threads or processes were not traced, and what they created: they began faster than the module had memory for them",
		    (uint64_t)status.out_members_lost);
}

static int finish(struct record *r)
{
	struct auxtrace_totals totals;
	int ret;

	if (auxtrace_stop(r->session)) {
		say("%s", auxtrace_error());
		r->failed = true;
	}
	tell_lost_members(r);
	trigger_options_summary(&r->o.triggers, r->session);
	notes_reports(&r->notes);
	/* Processes that began meanwhile and are not children of the command. */
	if (auxtrace_recording_add_all_tasks(r->notes.recording) < 0)
		say("%s", auxtrace_error());
	r->ends = true;
	ret = auxtrace_recording_finish(r->notes.recording, &totals);
	if (ret) {
		say("%s", auxtrace_error());
		r->failed = true;
	}
	tell_trimmed(r, totals.trimmed);
	summary(r, &totals);
	return r->failed ? EXIT_FAILED : r->child.status;
}

static void release(struct record *r)
{
	control_close(r->control);
	sideband_close(r->notes.sideband);
	perf_maps_close(r->notes.maps);
	side_files_close(r->side);
	arrivals_close(&r->arrivals);
	auxtrace_close(r->session);
	trigger_options_free(&r->o.triggers);
	filters_free(&r->o.filters);
	if (r->signals >= 0)
		close(r->signals);
}

/* Clean up after an error that was reported. */
static int give_up(struct record *r)
{
	if (r->child.pid && !r->started) {
		child_abandon(&r->child);
	} else if (r->child.running) {
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

/*
 * As auxtrace_setup(). Default sizes are more than an ordinary user may lock on a machine of many CPUs:
 * then take less. The data ring gives way first.
 */
static int set_up_within_limit(struct record *r, const struct auxtrace_info *info)
{
	struct auxtrace_options *o = &r->o.session;
	int ret = auxtrace_setup(r->session, o);

	if (!ret || errno != ENOMEM || info->out_may & AUXTRACE_MAY_LOCK || !r->o.default_sizes)
		return ret;
	/* Slots have multiples of this. */
	if (!o->aux_size)
		o->aux_size = DEFAULT_SIZE;
	while (ret && errno == ENOMEM && o->aux_size > LEAST_SIZE) {
		if (o->data_size > LEAST_DATA)
			o->data_size /= 4;
		else
			o->aux_size /= 2;
		ret = auxtrace_setup(r->session, o);
	}
	return ret;
}

/* What defaults became depends on what the caller may. */
static void tell_defaults(const struct record *r)
{
	const struct auxtrace_setup *setup = auxtrace_setup_info(r->session);
	uint32_t levels = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL;

	if (!(r->o.session.flags & levels) && !(setup->flags & AUXTRACE_SETUP_KERNEL))
		say("user code only: to trace the kernel needs CAP_PERFMON or CAP_SYS_ADMIN");
	if (r->o.default_sizes && setup->aux_size < DEFAULT_SIZE)
		say("areas of %" PRIu64 " KiB for each CPU are all that this user may lock (ulimit -l); -m and -C choose otherwise",
		    (uint64_t)setup->aux_size >> 10);
}

static int open_device(struct record *r, struct auxtrace_info *info)
{
	r->session = auxtrace_open(NULL);
	if (!r->session || auxtrace_info(r->session, 0, info))
		return fail_record(r);
	return 0;
}

/* Set up the session. On failure report why, and whether another source would work. */
static int set_up(struct record *r, const struct auxtrace_info *info)
{
	const pid_t pid[] = { r->o.pid ?: r->o.tid ?: r->o.cr3, r->child.pid };

	if (r->o.filters.count) {
		if (filters_place(&r->o.filters, pid, ARRAY_SIZE(pid)))
			return give_up(r);
		r->o.session.filters = r->o.filters.placed;
		r->o.session.nr_filters = r->o.filters.count;
	}
	if (!set_up_within_limit(r, info)) {
		tell_defaults(r);
		return 0;
	}
	if (errno == ENODEV && !(info->out_pmus >> r->o.session.pmu & 1))
		for (unsigned int i = 0; sources[i]; i++)
			if (source_is_present(sources[i], info)) {
				say("%s: use --source %s", auxtrace_error(), sources[i]->name);
				return give_up(r);
			}
	return fail_record(r);
}

/* perf's rings take up to five descriptors a CPU. The command has been forked: its limit stays as it is. */
static void allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == limit.rlim_max)
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* What perf says of processes, threads and code. A recording is as good without, but for that. */
static void open_sideband(struct record *r, const struct auxtrace_info *info)
{
	const struct auxtrace_setup *setup = auxtrace_setup_info(r->session);
	bool switches = !(setup->records & AUXTRACE_WANT_SWITCH);

	allow_descriptors();
	/* Before the rings, so that a CPU which comes between is heard of. */
	arrivals_open(&r->arrivals);
	r->notes.sideband = sideband_open(info, setup->flags & AUXTRACE_SETUP_KERNEL);
	if (!r->notes.sideband) {
		say("perf does not report processes (%s%s): code that is unmapped before the end will be unknown, and so will the names of some threads",
		    strerror(errno), errno == EACCES ?
		    "; it asks for CAP_PERFMON, where kernel.perf_event_paranoid is above 2 for CAP_SYS_ADMIN" : "");
		return;
	}
	r->side = side_files_open(switches ? auxtrace_cpus(r->session) : NULL,
				  setup->flags & AUXTRACE_SETUP_KERNEL,
				  setup->flags & AUXTRACE_SETUP_OVERWRITE);
	if (!r->side)
		say("perf does not give rings for the side files (%s): the names of some threads will be unknown, and how kernel code was that is patched%s",
		    strerror(errno), errno == EPERM ? "; more memory that may be locked (ulimit -l) helps" : "");
}

/*
 * Do perf's reports serve instead of a tracer? Nobody has read the page tables of a process that has ended by then. The
 * decoder knows it by its number and by when it ran: so perf's clock must be the TSC's, perf's process IDs those of the
 * initial PID namespace, and all switches must be recorded. In overwrite mode the oldest switches are lost.
 */
static bool perf_serves(const struct record *r, const struct auxtrace_info *info)
{
	const struct auxtrace_setup *setup = auxtrace_setup_info(r->session);

	return r->notes.sideband && info->out_time_mult && has_numbers_of_trace() && !(setup->flags & AUXTRACE_SETUP_OVERWRITE) &&
	       (r->side || setup->records & AUXTRACE_WANT_SWITCH);
}

/* Choose how the command is followed. 0, or -1 after a message. */
static int choose_tracer(struct record *r, const struct auxtrace_info *info)
{
	if (r->o.follow == FOLLOW_BY_PERF && !r->notes.sideband) {
		say("--no-ptrace needs perf's reports: else nothing says which programs the command runs");
		return -1;
	}
	r->traced = r->o.follow == FOLLOW_BY_PTRACE || (r->o.follow == FOLLOW_BY_DEFAULT && !perf_serves(r, info));
	if (r->traced)
		return 0;
	r->notes.maps = perf_maps_open(PERF_MAP_DIR, r->child.pid);
	if (!r->notes.maps && r->o.follow == FOLLOW_BY_DEFAULT) {
		say("cannot watch " PERF_MAP_DIR " for perf maps (%s): the command is followed by ptrace", strerror(errno));
		r->traced = true;
		return 0;
	}
	if (!r->notes.maps) {
		say("cannot watch " PERF_MAP_DIR " for perf maps (%s): code that the command's processes name there will be unknown",
		    strerror(errno));
		return 0;
	}
	r->notes.may_follow = r->o.follow == FOLLOW_BY_DEFAULT;
	sideband_tell(r->notes.sideband, r->notes.maps);
	return 0;
}

static int run(struct record *r)
{
	const bool filtered = r->o.filters.count;
	struct auxtrace_info info;
	cpu_set_t theirs;
	int ret;

	if (r->o.control)
		r->control = control_open(r->o.control);
	r->signals = take_signals();
	if (r->signals < 0)
		die(EXIT_FAILED, "cannot take signals: %s", strerror(errno));
	/* SETUP names the process that is to become the command. */
	if (r->o.argv) {
		ret = child_prepare(&r->child, r->o.argv);
		if (ret) {
			release(r);
			return ret;
		}
		if (r->o.scope == SCOPE_COMMAND)
			r->o.session.tid = r->child.pid;
	}
	ret = open_device(r, &info);
	if (!ret && !filtered)
		ret = set_up(r, &info);
	if (ret)
		return ret;
	if (r->o.argv) {
		r->started = true;
		ret = child_start(&r->child, r->o.argv[0], place(r, &theirs));
		if (ret) {
			release(r);
			return ret;
		}
	}
	/* The command has mapped its program by now, and no instruction of it has run. */
	if (filtered) {
		ret = set_up(r, &info);
		if (ret)
			return ret;
	}
	open_sideband(r, &info);
	if (r->o.argv && choose_tracer(r, &info))
		return give_up(r);
	if (trigger_options_add(&r->o.triggers, r->session, r->child.pid))
		return give_up(r);
	/* Triggers and perf have patched the kernel's code by now. */
	r->notes.recording = auxtrace_recording_create(r->session, r->o.dir);
	if (!r->notes.recording || auxtrace_recording_add_all_tasks(r->notes.recording) < 0 ||
	    auxtrace_start(r->session))
		return fail_record(r);
	auxtrace_recording_on_cut(r->notes.recording, handle_cut, r);
	if (r->o.argv)
		child_continue(&r->child, r->traced);
	loop(r);
	if (r->child.running) {
		/* The loop ended by an error while the command runs. */
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
	struct record r = { .signals = -1, .arrivals = ARRIVALS_NONE };
	int status = record_options_parse(&r.o, argc, argv);

	return status >= 0 ? status : run(&r);
}
