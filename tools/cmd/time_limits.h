/* SPDX-License-Identifier: GPL-2.0-only */
/* The value of the option --time. */
#ifndef TIME_LIMITS_H
#define TIME_LIMITS_H

#include "decode/calls_cut.h"

/*
 * "A,B": the limits in seconds of the kernel's clock, as script prints them, or as freeze, freeze-TIME or
 * freeze+TIME: TIME, such as 2ms, before or behind the moment when an event froze the trace. Either may be empty.
 * Dies for anything else, and if the recording in @dir has no such clock or moment.
 */
void time_limits_parse(struct calls_cut *c, const char *text, const char *dir, const struct meta *meta);

#endif
