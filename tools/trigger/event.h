/* SPDX-License-Identifier: GPL-2.0-only */
/* Parses events, as --on takes them. */
#ifndef EVENT_H
#define EVENT_H

#include <linux/perf_event.h>

#include <auxtrace.h>

struct event {
	char *text;
	struct auxtrace_trigger_options trigger; /* kind, and the members of that kind */
	struct perf_event_attr attr;		/* PERF: @trigger points to it */
	char *name;				/* probes: @trigger points to it */
};

/* Parse any event but latency. @e must not move afterwards. Dies of wrong usage. */
void event_parse(struct event *e, const char *text);
void event_free(struct event *e);

/* Print the events that auxtrace list does not count, a line each. */
void event_list_forms(void);

/* Call @fn with each word that an event may begin with, before a colon; a tracepoint has none. */
void event_each_word(void (*fn)(const char *word, void *context), void *context);

/* Offer the names of all kernel functions. */
struct suggestions;
void event_suggest_kernel(struct suggestions *n);

#endif
