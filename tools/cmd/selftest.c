// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace selftest: does it work on this machine? */
#include <errno.h>
#include <ftw.h>
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "lib/tool.h"
#include "machine/machine.h"
#include "selftest/selftest.h"

static void usage(FILE *f)
{
	fputs("usage: auxtrace selftest [OPTION]... [CHECK]...\n\n"
	      "Check on this machine that the trace hardware, the module and the decoder do what they\n"
	      "say, all or the named checks. Only this process is traced, on one CPU; the check cpus traces\n"
	      "what two CPUs run. The text begins with what the machine is, so that it can be sent.\n\n"
	      "  -q, --quick        seconds; no probe of the kernel or of programs. The kernel switches\n"
	      "                     branches in its own code even so, as for each user of tracepoints\n"
	      "      --source NAME  pt (the default) or bts\n"
	      "  -C, --cpu N        on CPU N (default: where it runs)\n"
	      "  -o, --output FILE  also write a report, as JSON, that can be sent; - is stdout alone\n"
	      "  -h, --help         this text\n\n"
	      "Exit status: 0 no check failed; 1 one did, or auxtrace cannot trace here (auxtrace info\n"
	      "says why); 2 wrong usage.\n", f);
}

/* Stay on @cpu; -1: on the one that this runs on. @other gets a CPU on which this could run before, or -1. */
static unsigned int stay_on(int cpu, int *other)
{
	cpu_set_t set;

	if (cpu < 0)
		cpu = sched_getcpu();
	*other = -1;
	if (!sched_getaffinity(0, sizeof(set), &set))
		for (int i = 0; i < CPU_SETSIZE && *other < 0; i++)
			if (i != cpu && CPU_ISSET(i, &set))
				*other = i;
	CPU_ZERO(&set);
	if (cpu < 0 || cpu >= CPU_SETSIZE)
		die(1, "selftest: the kernel does not say on which CPU this runs; --cpu names one");
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die(errno == EINVAL ? EXIT_USAGE : 1, "--cpu %d: %s", cpu,
		    errno == EINVAL ? "there is no such CPU, it is offline, or this process may not run there" : strerror(errno));
	return (unsigned int)cpu;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	if (remove(path))
		say("%s stays: %s", path, strerror(errno));
	return 0;
}

/* Why there can be no session here, or NULL. */
static const char *no_session(const struct source *source)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;
	static char why[300];

	if (!session || auxtrace_info(session, 0, &info))
		snprintf(why, sizeof(why), "%s", auxtrace_error());
	else if (!source_is_present(source, &info))
		snprintf(why, sizeof(why), "sessions cannot use --source %s here", source->name);
	auxtrace_close(session);
	return why[0] ? why : NULL;
}

static bool write_report(const struct selftest *t, const char *path)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	bool written;

	if (!out)
		return wrong("%s: %s", path, strerror(errno));
	selftest_json(t, out);
	written = !fflush(out) && !ferror(out);
	if (out != stdout && fclose(out))
		written = false;
	return written || wrong("%s: %s", path, strerror(errno));
}

static volatile pid_t checker;

static void pass_on(int sig)
{
	kill(checker, sig);
}

/* Who started this may have them ignored. */
static void pass_signals_on(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	const struct sigaction action = { .sa_handler = pass_on, .sa_flags = SA_RESTART };
	struct sigaction before;

	for (unsigned int i = 0; i < ARRAY_SIZE(signals); i++)
		if (!sigaction(signals[i], NULL, &before) && before.sa_handler != SIG_IGN)
			sigaction(signals[i], &action, NULL);
}

/*
 * The checks run in a child, so that a signal that ends it leaves nothing behind: this process removes the directory.
 * Returns the child's wait status.
 */
static int run_checks(const struct selftest *t, const char *report)
{
	sigset_t all, before;
	int status;

	fflush(NULL);
	signal(SIGCHLD, SIG_DFL);
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &before);
	checker = fork();
	if (checker < 0) {
		rmdir(t->dir);
		die(1, "selftest: no process for the checks: %s", strerror(errno));
	}
	if (!checker) {
		bool good;

		sigprocmask(SIG_SETMASK, &before, NULL);
		good = selftest_run(t, report && !strcmp(report, "-"));
		exit((!report || write_report(t, report)) && good ? 0 : 1);
	}
	pass_signals_on();
	sigprocmask(SIG_SETMASK, &before, NULL);
	while (waitpid(checker, &status, 0) < 0)
		if (errno != EINTR)
			die(1, "selftest: the checks' process: %s", strerror(errno));
	return status;
}

int cmd_selftest(int argc, char **argv)
{
	enum { SOURCE = 256 };
	static const struct option options[] = {
		{ "quick", no_argument, NULL, 'q' },
		{ "source", required_argument, NULL, SOURCE },
		{ "cpu", required_argument, NULL, 'C' },
		{ "output", required_argument, NULL, 'o' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct selftest t = { .source = sources[0] };
	char dir[] = "/tmp/auxtrace-selftest-XXXXXX";
	const char *report = NULL;
	int c, status, cpu = -1;

	while ((c = getopt_long(argc, argv, "qC:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'q':
			t.quick = true;
			break;
		case SOURCE:
			t.source = source_parse(optarg);
			break;
		case 'C':
			cpu = (int)parse_number("--cpu", optarg, 0, CPU_SETSIZE - 1);
			break;
		case 'o':
			report = optarg;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	selftest_choose(argv + optind);
	t.cpu = stay_on(cpu, &t.other_cpu);
	machine_find();
	t.unusable = no_session(t.source);
	t.dir = mkdtemp(dir);
	if (!t.dir)
		die(1, "%s: %s", dir, strerror(errno));
	status = run_checks(&t, report);
	nftw(t.dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	signal(WTERMSIG(status), SIG_DFL);
	raise(WTERMSIG(status));
	return 1;
}
