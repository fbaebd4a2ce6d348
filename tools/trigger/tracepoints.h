/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's tracepoints, by tracefs. */
#ifndef TRACEPOINTS_H
#define TRACEPOINTS_H

#include "suggest.h"

/* The number by which perf knows @subsys:@name; negative: an errno. ENODEV: no tracefs. */
long tracepoint_id(const char *subsys, const char *name);
/* Call @tell with each "subsys:name". Returns their number; negative: an errno. */
long tracepoint_each(void (*tell)(const char *name, void *context), void *context);
void tracepoint_suggest(struct suggestions *n);

#endif
