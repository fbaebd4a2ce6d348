/* SPDX-License-Identifier: GPL-2.0-only */
/* The measurements of `bench NAME`, on CPU 0. Each file describes the lines it prints. */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

void measure_control(void);
void measure_records(void);
void measure_our_pmi(void);
void measure_other_nmis(void);
void measure_their_pmi(void);
void measure_many(void);
void measure_our_bts(void);
void measure_their_bts(void);
void measure_trigger(void);
void measure_freeze(void);
void measure_sample(void);
void measure_switch(void);

#endif
