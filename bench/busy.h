/* SPDX-License-Identifier: GPL-2.0 */
/* Something to do for a CPU. */
#ifndef BENCH_BUSY_H
#define BENCH_BUSY_H

#include <stdbool.h>
#include <sys/types.h>

/* A process that runs user code on @cpu until it is killed, or its parent gone. */
pid_t keep_busy(unsigned int cpu);

/* All of them sleep, or no more: while they run, virtual time is dear. */
void busy_rest(bool rest);

#endif
