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
#include <unistd.h>

#include "cmd.h"
#include "lib/tool.h"
#include "machine/machine.h"
#include "selftest/environment.h"
#include "selftest/selftest.h"
#include "selftest/watch.h"

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
	      "Exit status: 0 no check failed; 1 one did, crashed or hung, the report could not be written,\n"
	      "or there was no session; 2 wrong usage.\n", f);
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

static FILE *open_report(const char *path)
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;

	if (!out)
		die(1, "cannot write %s: %s", path, strerror(errno));
	return out;
}

static bool write_report(const struct selftest *t, FILE *out, const char *path)
{
	bool written;

	selftest_json(t, out);
	written = !fflush(out) && !ferror(out);
	if (out != stdout && fclose(out))
		written = false;
	return written || wrong("cannot write %s: %s", path, strerror(errno));
}

/* Leaves nothing behind, whatever ends it. Returns the exit status. */
static int run_checks(struct selftest *t, FILE *out, const char *path)
{
	char dir[] = "/tmp/auxtrace-selftest-XXXXXX";
	bool silent = out == stdout, written;
	int sig;

	if (!silent)
		selftest_text(stdout);
	watch_begin();
	t->dir = mkdtemp(dir);
	if (!t->dir)
		die(1, "%s: %s", dir, strerror(errno));
	sig = selftest_run(t, silent);
	nftw(t->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	written = !out || write_report(t, out, path);
	if (!silent)
		selftest_sum(t, stdout);
	fflush(stdout);
	watch_end();
	if (sig) {
		signal(sig, SIG_DFL);
		raise(sig);
	}
	return written && selftest_passed(t) ? 0 : 1;
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
	struct selftest t = { .source = sources[0], .limit = CHECK_SECONDS };
	const char *report = NULL;
	cpu_set_t before;
	FILE *out;
	int c, cpu = -1;

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
	if (sched_getaffinity(0, sizeof(before), &before))
		die(1, "selftest: the kernel does not say on which CPUs this may run: %s", strerror(errno));
	t.cpu = stay_on(cpu, &t.other_cpu);
	out = report ? open_report(report) : NULL;
	machine_find();
	environment_find(&t);
	t.unusable = environment_no_session(&t);
	/* The checks' process stays there. This one waits, and does not disturb what they measure. */
	sched_setaffinity(0, sizeof(before), &before);
	return run_checks(&t, out, report);
}
