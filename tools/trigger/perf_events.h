/* SPDX-License-Identifier: GPL-2.0 */
/* Counters, by perf's names for them. */
#ifndef PERF_EVENTS_H
#define PERF_EVENTS_H

#include <stdbool.h>

#include <linux/perf_event.h>

#include "suggest.h"

/*
 * NAME[/TERM=VALUE,.../][:][ukh], rHEX, or PMU/TERM=VALUE,.../, with the PMU's own terms
 * and events by sysfs. False if @text begins with no name of a counter; dies of wrong usage if
 * the rest of it is wrong. The period is part of the attr: /period=N/, else the default.
 */
bool perf_event_parse(const char *text, struct perf_event_attr *attr);
void perf_event_suggest(struct suggestions *n);
/* Call @tell with each name and how it counts: its default period. */
void perf_event_each(void (*tell)(const char *name, const char *kind, unsigned long period,
				  void *context), void *context);
/* Can it be opened here, on any CPU? 0 or an errno. */
int perf_event_try(const char *name);

#endif
