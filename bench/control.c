// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures PAUSE, RESUME and poll(2) of a session, an empty broadcast, and perf's DISABLE and
 * ENABLE, over some of the CPUs. The other CPUs run user code (busy) or nothing (idle:
 * then the exit from the idle loop and the return to it count too). BTS is measured on
 * one CPU only, because its own part does not grow with the CPUs. Prints for each:
 *
 *	control SOURCE busy|idle WHAT CPUS CALLER TOTAL WRMSRS
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broadcast/broadcast.h"
#include "busy.h"
#include "counter.h"
#include "die.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define ALL_CPUS	64
#define AUX_SIZE	(1u << 20)
#define DATA_SIZE	(64u << 10)

struct broadcast {
	int fd;
	unsigned int nr;
};

static void broadcast(void *arg)
{
	const struct broadcast *b = arg;

	if (ioctl(b->fd, BROADCAST_EMPTY, (unsigned long)b->nr))
		die("broadcast to %u CPUs", b->nr);
}

static void nothing(void *arg)
{
	(void)arg;
}

static const char *others_are;

static void say(const char *of, const char *what, unsigned int nr, struct cost cost)
{
	printf("control %s %s %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", of, others_are, what, nr,
	       cost.caller, cost.caller + cost.others, cost.wrmsrs);
}

static void of_broadcast(unsigned int nr)
{
	struct broadcast b = { .nr = nr };

	b.fd = open("/dev/broadcast", O_RDWR | O_CLOEXEC);
	if (b.fd < 0)
		die("/dev/broadcast");
	say("-", "broadcast", nr, cost_of(broadcast, nothing, &b));
	close(b.fd);
}

static void of_ours(const struct source *source, unsigned int nr)
{
	static const struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE |
			 AUXTRACE_SETUP_DATA_OVERWRITE,
		.aux_size = AUX_SIZE,
		.data_size = DATA_SIZE,
	};
	struct ours ours;

	ours_open(&ours, source, nr, &setup);
	say(source->name, "pause", nr, cost_of(ours_pause, ours_resume, &ours));
	ours_pause(&ours);
	say(source->name, "redundant", nr, cost_of(ours_pause, nothing, &ours));
	say(source->name, "resume", nr, cost_of(ours_resume, ours_pause, &ours));
	say(source->name, "poll", nr, cost_of(ours_poll, nothing, &ours));
	ours_close(&ours);
}

static void of_theirs(const struct source *source, unsigned int nr)
{
	struct theirs_setup setup = {
		.source = source,
		.pid = -1,
		.nr = nr,
		/* perf's overwritable AUX area, and the data ring for its AUX records. */
		.data_size = DATA_SIZE,
		.aux_size = AUX_SIZE,
		.aux_overwrite = true,
	};
	struct theirs theirs;

	theirs_open(&theirs, &setup);
	say(source->name, "disable", nr, cost_of(theirs_disable, theirs_enable, &theirs));
	theirs_disable(&theirs);
	say(source->name, "enable", nr, cost_of(theirs_enable, theirs_disable, &theirs));
	theirs_close(&theirs);
}

static void of_set(unsigned int nr)
{
	costs_begin(nr);
	of_broadcast(nr);
	of_ours(&source_pt, nr);
	of_theirs(&source_pt, nr);
}

void measure_control(void)
{
	static const unsigned int sets[] = { 1, 2, 8, 32, ALL_CPUS - 1, ALL_CPUS };
	unsigned int nr_children = 0;
	pid_t child[ALL_CPUS];

	counters_start(ALL_CPUS);
	others_are = "idle";
	for (unsigned int i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		of_set(sets[i]);
	costs_begin(1);
	of_ours(&source_bts, 1);
	of_theirs(&source_bts, 1);
	others_are = "busy";
	for (unsigned int i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		for (; nr_children < sets[i] - 1; nr_children++)
			child[nr_children] = keep_busy(nr_children + 1);
		of_set(sets[i]);
	}
	while (nr_children--) {
		kill(child[nr_children], SIGKILL);
		waitpid(child[nr_children], NULL, 0);
	}
	counters_check();
}
