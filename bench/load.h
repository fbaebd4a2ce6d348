/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload to trace. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

/* Makes a hundred indirect calls, each a packet of several bytes. */
void load(void);

#endif
