/* SPDX-License-Identifier: GPL-2.0 */
/* Events, as people write them, to what the library takes. */
#ifndef EVENT_H
#define EVENT_H

#include <linux/perf_event.h>

#include <auxtrace.h>

struct event {
	char *text;
	struct auxtrace_trigger_options trigger; /* kind, and what it is about */
	struct perf_event_attr attr;		/* PERF: that @trigger points to */
	char *name;				/* probes: that @trigger points to */
};

/* "100us", "1.5ms", "2s" in nanoseconds; false: it is none. */
bool parse_time(const char *text, size_t len, uint64_t *ns);

/* Any kind but latency. @e stays where it is from then on. Dies of wrong usage. */
void event_parse(struct event *e, const char *text);
void event_free(struct event *e);

/* Print the events that auxtrace list does not count, a line each. */
void event_list_forms(void);

/* Kernel functions that are near @name, which there is not. */
struct suggestions;
void event_suggest_kernel(struct suggestions *n);

#endif
