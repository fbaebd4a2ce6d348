/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that keep CPUs busy. */
#ifndef BENCH_BUSY_H
#define BENCH_BUSY_H

#include <stdbool.h>
#include <sys/types.h>

/* Starts a process that runs user code on @cpu until it is killed or its parent exits. */
pid_t keep_busy(unsigned int cpu);

/* Makes all of them sleep, or run again: while they run, a wait takes long on the host. */
void busy_rest(bool rest);

#endif
