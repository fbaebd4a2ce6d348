/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's tracepoints, from tracefs. */
#ifndef TRACEPOINTS_H
#define TRACEPOINTS_H

#include "suggest.h"

/* perf's number for @subsys:@name, or a negative errno. -ENODEV: there is no tracefs. */
long tracepoint_id(const char *subsys, const char *name);
/* Call @fn with each "subsys:name". Returns how many there are, or a negative errno. */
long tracepoint_each(void (*fn)(const char *name, void *context), void *context);
void tracepoint_suggest(struct suggestions *n);

#endif
