// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "busy.h"
#include "die.h"

#define NAP_US	500

static volatile bool *rest;	/* shared with the children */

void busy_rest(bool wanted)
{
	if (!rest)
		return;
	*rest = wanted;
	/* Wait until the children have seen it. */
	usleep(2 * NAP_US);
}

pid_t keep_busy(unsigned int cpu)
{
	cpu_set_t set;
	pid_t child;

	if (!rest) {
		rest = mmap(NULL, sizeof(*rest), PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (rest == MAP_FAILED)
			die("mmap");
	}
	child = fork();
	if (child < 0)
		die("fork");
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("CPU %u", cpu);
	/* QEMU runs the CPUs in turn and switches to the next one at each PAUSE. */
	for (;;) {
		__asm__ volatile("pause");
		if (*rest)
			usleep(NAP_US);
	}
}
