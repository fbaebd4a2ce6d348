/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The present, by two clocks: code that processes make at run time has times of CLOCK_MONOTONIC. */
#ifndef INSTANT_H
#define INSTANT_H

#include <stdint.h>

struct instant {
	uint64_t tsc, mono_ns;
};

struct instant instant_now(void);

#endif
