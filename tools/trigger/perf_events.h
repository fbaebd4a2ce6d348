/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's counters, by the names that perf has for them. */
#ifndef PERF_EVENTS_H
#define PERF_EVENTS_H

#include <stdbool.h>

#include <linux/perf_event.h>

#include "suggest.h"

/*
 * Parse NAME[/TERM=VALUE,.../][:][ukh], rHEX, or PMU/TERM=VALUE,.../ with the terms and
 * events that sysfs lists for the PMU. Returns false if @text does not begin with the name
 * of a counter. Dies of wrong usage if the rest is wrong. The attr has the period of
 * /period=N/, or the default.
 */
bool perf_event_parse(const char *text, struct perf_event_attr *attr);
void perf_event_suggest(struct suggestions *n);
/* Call @fn with each name, its kind ("hardware" or "software") and its default period. */
void perf_event_each(void (*fn)(const char *name, const char *kind, unsigned long period,
				  void *context), void *context);
/* Can the counter be opened here? 0 or an errno. */
int perf_event_try(const char *name);

#endif
