/* SPDX-License-Identifier: GPL-2.0 */
/* Something to trace. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

/* A hundred indirect calls, a packet of several bytes each. */
void load(void);

#endif
