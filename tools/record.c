// SPDX-License-Identifier: GPL-2.0
/* auxtrace record */
#include <errno.h>
#include <getopt.h>
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
#include "meta.h"
#include "tool.h"

#define EXIT_FAILED	125
#define PROGRESS_NS	500000000ll

struct record {
	struct auxtrace_options options;
	const char *dir;
	double duration;	/* seconds; 0: until the command ends */
	char **argv;		/* the command, or NULL */
	struct auxtrace_session *session;
	struct notes notes;
	struct child child;
	int signals;		/* signalfd */
	uint64_t drained;
	bool stop;
	bool failed;
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

	if (!r->options.cpus || sched_getaffinity(0, sizeof(ours), &ours))
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
	sigprocmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void handle_signal(struct record *r, const struct signalfd_siginfo *info)
{
	switch (info->ssi_signo) {
	case SIGCHLD:
		return;		/* child_events() asks whenever something woke us */
	case SIGUSR1:
		if (auxtrace_resume(r->session))
			say("%s", auxtrace_error());
		return;
	case SIGUSR2:
		if (auxtrace_pause(r->session))
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

static void show_progress(const struct record *r, int64_t begin)
{
	struct auxtrace_status status;

	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &status))
		return;
	fprintf(stderr, "\rauxtrace: %6.1f s, %" PRIu64 " KiB produced, %" PRIu64 " windows, %" PRIu64 " gaps ",
		(now_ns() - begin) / 1e9, (uint64_t)status.out_produced >> 10,
		(uint64_t)status.out_windows, (uint64_t)status.out_gaps);
}

static bool drain(struct record *r)
{
	ssize_t n = auxtrace_recording_drain(r->notes.recording);

	if (n >= 0) {
		r->drained += n;
		return true;
	}
	say("%s", auxtrace_error());
	return false;
}

/* Until the command ends, the time is over or a signal says so. */
static void loop(struct record *r)
{
	bool overwrite = r->options.flags & AUXTRACE_SETUP_OVERWRITE;
	bool tty = isatty(STDERR_FILENO);
	int64_t begin = now_ns(), end = r->duration ? begin + (int64_t)(r->duration * 1e9) : INT64_MAX;
	int64_t tick = tty ? begin + PROGRESS_NS : INT64_MAX;
	struct pollfd fds[] = {
		{ .fd = r->signals, .events = POLLIN },
		{ .fd = overwrite ? -1 : auxtrace_fd(r->session), .events = POLLIN },
		{ .fd = r->notes.watch ? watch_fd(r->notes.watch) : -1, .events = POLLIN },
	};

	while (!r->stop) {
		struct signalfd_siginfo info;
		int64_t now = now_ns(), next = tick < end ? tick : end;
		int timeout = -1;

		if (now >= end)
			break;
		if (next != INT64_MAX)
			timeout = next <= now ? 0 : (next - now) / 1000000 + 1;
		if (poll(fds, ARRAY_SIZE(fds), timeout) < 0 && errno != EINTR) {
			say("cannot poll: %s", strerror(errno));
			r->failed = true;
			break;
		}
		while (read(r->signals, &info, sizeof(info)) == sizeof(info))
			handle_signal(r, &info);
		if (r->argv) {
			child_events(&r->child, &r->notes);
			r->stop |= !r->child.running;
		}
		if (fds[2].revents & POLLIN)
			notes_reports(&r->notes);
		if (fds[1].revents & POLLIN && !drain(r)) {
			r->failed = true;
			break;
		}
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
	    r->dir, auxtrace_cpus_count(cpus), t->windows, t->pmis, t->produced, t->read,
	    t->overwritten, t->gaps);
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
	watch_close(r->notes.watch);
	auxtrace_close(r->session);
	if (r->signals >= 0)
		close(r->signals);
}

static int fail_record(struct record *r)
{
	say("%s", auxtrace_error());
	if (r->child.running) {
		kill(r->child.pid, SIGKILL);
		child_wait(&r->child, &r->notes);
	}
	auxtrace_recording_abort(r->notes.recording);
	release(r);
	return EXIT_FAILED;
}

static int run(struct record *r)
{
	struct auxtrace_info info;
	cpu_set_t theirs;
	int ret;

	r->session = auxtrace_open(NULL);
	if (!r->session || auxtrace_info(r->session, 0, &info) ||
	    auxtrace_setup(r->session, &r->options))
		return fail_record(r);
	r->notes.recording = auxtrace_recording_create(r->session, r->dir);
	if (!r->notes.recording)
		return fail_record(r);
	r->signals = take_signals();
	if (r->signals < 0)
		die(EXIT_FAILED, "cannot take signals: %s", strerror(errno));
	r->notes.watch = watch_open(&info);
	if (!r->notes.watch)
		say("perf does not report on processes (%s): code that is unmapped before the end will be unknown",
		    strerror(errno));
	if (r->argv) {
		ret = child_start(&r->child, r->argv, place(r, &theirs));
		if (ret) {
			auxtrace_recording_abort(r->notes.recording);
			release(r);
			return ret;
		}
	}
	if (auxtrace_recording_add_all_tasks(r->notes.recording) < 0 || auxtrace_start(r->session))
		return fail_record(r);
	if (r->argv)
		child_continue(&r->child);
	loop(r);
	if (r->child.running) {
		/* The time is over before the command. */
		kill(r->child.pid, SIGTERM);
		child_wait(&r->child, &r->notes);
	}
	ret = finish(r);
	release(r);
	return ret;
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace record [OPTION]... [--] COMMAND [ARGUMENT]...\n"
	      "       auxtrace record [OPTION]... --duration SECONDS\n\n"
	      "Trace CPUs while COMMAND runs, or for a while, into a directory.\n\n"
	      "  -C, --cpu LIST        CPUs, for example 0-3,5 (default: all online ones);\n"
	      "                        COMMAND runs on these, and auxtrace on others if there are\n"
	      "  -o, --output DIR      directory of the recording (default: " DEFAULT_DIR ")\n"
	      "  -m, --size SIZE       bytes of AUX area for each CPU, a power of two (4M)\n"
	      "      --overwrite       the newest data wins: keep the last SIZE bytes of each CPU\n"
	      "      --watermark SIZE  wake the reader at this many bytes (default: half of -m)\n"
	      "  -e, --config TERMS    perf's intel_pt terms, for example tsc,mtc,mtc_period=3\n"
	      "  -u, --user            trace user code only\n"
	      "  -k, --kernel          trace the kernel only (both or neither of -u -k: both)\n"
	      "      --paused          start paused; SIGUSR1 to auxtrace resumes, SIGUSR2 pauses\n"
	      "      --duration SEC    end after so many seconds; a command then gets SIGTERM\n"
	      "  -h, --help            this text\n\n"
	      "The command's children are followed. Exit status: the command's, 128 + N if signal\n"
	      "N killed it, 127 not found, 126 cannot be run, 125 auxtrace failed, 2 wrong usage.\n", f);
}

int cmd_record(int argc, char **argv)
{
	enum { OVERWRITE = 256, WATERMARK, PAUSED, DURATION };
	static const struct option options[] = {
		{ "cpu", required_argument, NULL, 'C' },
		{ "output", required_argument, NULL, 'o' },
		{ "size", required_argument, NULL, 'm' },
		{ "overwrite", no_argument, NULL, OVERWRITE },
		{ "watermark", required_argument, NULL, WATERMARK },
		{ "config", required_argument, NULL, 'e' },
		{ "user", no_argument, NULL, 'u' },
		{ "kernel", no_argument, NULL, 'k' },
		{ "paused", no_argument, NULL, PAUSED },
		{ "duration", required_argument, NULL, DURATION },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct record r = {
		.options = { .size = sizeof(r.options) },
		.dir = DEFAULT_DIR,
		.signals = -1,
	};
	char *end;
	int c;

	while ((c = getopt_long(argc, argv, "+C:o:m:e:ukh", options, NULL)) != -1) {
		switch (c) {
		case 'C':
			r.options.cpus = optarg;
			break;
		case 'o':
			r.dir = optarg;
			break;
		case 'm':
			r.options.aux_size = parse_size("--size", optarg);
			break;
		case OVERWRITE:
			r.options.flags |= AUXTRACE_SETUP_OVERWRITE;
			break;
		case WATERMARK:
			r.options.aux_watermark = parse_size("--watermark", optarg);
			break;
		case 'e':
			r.options.config = optarg;
			break;
		case 'u':
			r.options.flags |= AUXTRACE_SETUP_USER;
			break;
		case 'k':
			r.options.flags |= AUXTRACE_SETUP_KERNEL;
			break;
		case PAUSED:
			r.options.flags |= AUXTRACE_SETUP_PAUSED;
			break;
		case DURATION:
			r.duration = strtod(optarg, &end);
			if (*end || !(r.duration > 0) || r.duration > 1e9)
				die(EXIT_USAGE, "--duration %s: it takes seconds, more than 0", optarg);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		r.argv = argv + optind;
	if (!r.argv && !r.duration)
		die(EXIT_USAGE, "record what? Name a command, or --duration SECONDS");
	return run(&r);
}
