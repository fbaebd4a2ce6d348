// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures a FREEZE triggered by the exit of a system call on CPU 0, until the last CPU
 * of the session is frozen, and the time that an empty broadcast takes to reach the last
 * CPU. The times are virtual: under -icount the CPUs run in turn and each instruction of
 * any CPU takes equally long. Prints for each the kernel instructions on CPU 0 and on all
 * CPUs, the WRMSRs, and the nanoseconds to trace-off on CPU 0 and on the last CPU:
 *
 *	freeze busy|idle CPUS CALLER TOTAL WRMSRS OWN LAST
 *	reach busy|idle CPUS LAST
 */
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "broadcast/broadcast.h"
#include "busy.h"
#include "counter.h"
#include "die.h"
#include "measure.h"
#include "ours.h"

#define ALL_CPUS	32
#define AUX_SIZE	(1u << 20)
#define DATA_SIZE	(64u << 10)
#define TIMES		3
/* Time for the operation to end on all CPUs. */
#define REST_US		250

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* ---- a broadcast ----------------------------------------------------------- */

static void reach(const char *others_are, unsigned int nr)
{
	int fd = open("/dev/broadcast", O_RDWR | O_CLOEXEC);
	uint64_t last = UINT64_MAX;

	if (fd < 0)
		die("/dev/broadcast");
	for (int i = 0; i < TIMES; i++) {
		struct broadcast_reach reach = { .nr = nr };
		uint64_t begin;

		usleep(REST_US);
		begin = __rdtsc();
		if (ioctl(fd, BROADCAST_REACH, &reach))
			die("broadcast to %u CPUs", nr);
		last = least(last, reach.last_tsc - begin);
	}
	close(fd);
	printf("reach %s %u %" PRIu64 "\n", others_are, nr, last);
}

/* ---- FREEZE ----------------------------------------------------------------- */

struct frozen {
	struct ours ours;
	unsigned int nr;
	const struct auxtrace_status_page *status[MAX_CPUS];
	uint64_t own, last;	/* the least so far */
};

static void map_all(struct frozen *f)
{
	for (unsigned int cpu = 0; cpu < f->nr; cpu++) {
		f->status[cpu] = mmap(NULL, sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED, f->ours.fd,
				      AUXTRACE_MMAP_OFFSET(cpu, AUXTRACE_REGION_STATUS));
		if (f->status[cpu] == MAP_FAILED)
			die("mmap of the status page of CPU %u", cpu);
	}
}

static void unmap_all(struct frozen *f)
{
	for (unsigned int cpu = 0; cpu < f->nr; cpu++)
		munmap((void *)f->status[cpu], sysconf(_SC_PAGESIZE));
}

static void event(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
}

static void resume(void *arg)
{
	struct frozen *f = arg;

	ours_resume(&f->ours);
}

static void freeze_once(struct frozen *f)
{
	uint64_t begin, last = 0;

	usleep(REST_US);
	begin = __rdtsc();
	event(f);
	usleep(REST_US);
	for (unsigned int cpu = 0; cpu < f->nr; cpu++) {
		if (!(f->status[cpu]->inhibit & AUXTRACE_INHIBIT_FROZEN))
			errx(1, "CPU %u is not frozen", cpu);
		if (f->status[cpu]->window_end_time > last)
			last = f->status[cpu]->window_end_time;
	}
	f->last = least(f->last, last - begin);
	f->own = least(f->own, f->status[0]->window_end_time - begin);
	resume(f);
}

static void freeze(const char *others_are, unsigned int nr)
{
	static const struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE |
			 AUXTRACE_SETUP_DATA_OVERWRITE,
		.aux_size = AUX_SIZE,
		.data_size = DATA_SIZE,
	};
	static const struct auxtrace_trigger trigger = {
		.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT,
		.action = AUXTRACE_ACTION_FREEZE,
		.number = SYS_getppid,
	};
	struct frozen f = { .nr = nr, .own = UINT64_MAX, .last = UINT64_MAX };
	struct cost cost;

	/* Registering probes waits for RCU grace periods. */
	busy_rest(true);
	ours_open(&f.ours, &source_pt, nr, &setup);
	map_all(&f);
	ours_trigger(&f.ours, &trigger);
	busy_rest(false);
	costs_begin(nr);
	cost = cost_of(event, resume, &f);
	for (int i = 0; i < TIMES; i++)
		freeze_once(&f);
	busy_rest(true);
	unmap_all(&f);
	ours_close(&f.ours);
	busy_rest(false);
	printf("freeze %s %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	       others_are, nr, cost.caller, cost.caller + cost.others, cost.wrmsrs, f.own, f.last);
}

void measure_freeze(void)
{
	static const unsigned int sets[] = { 2, 8, ALL_CPUS };
	unsigned int nr_children = 0;
	pid_t child[ALL_CPUS];

	counters_start(ALL_CPUS);
	for (int busy = 0; busy < 2; busy++) {
		const char *others_are = busy ? "busy" : "idle";

		for (unsigned int i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
			for (; busy && nr_children < sets[i] - 1; nr_children++)
				child[nr_children] = keep_busy(nr_children + 1);
			reach(others_are, sets[i]);
			freeze(others_are, sets[i]);
		}
	}
	while (nr_children--) {
		kill(child[nr_children], SIGKILL);
		waitpid(child[nr_children], NULL, 0);
	}
	counters_check();
}
