/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef BENCH_DIE_H
#define BENCH_DIE_H

#include <err.h>

/* The measurement is impossible: prints why, with the text of errno, and exits. */
#define die(...)	err(1, __VA_ARGS__)

#endif
