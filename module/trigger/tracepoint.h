/* SPDX-License-Identifier: GPL-2.0-only */
/* Tracepoints whose symbols the kernel does not export. */
#ifndef AUXT_TRACEPOINT_H
#define AUXT_TRACEPOINT_H

struct tracepoint;

/* Task context. */
struct tracepoint *auxt_tracepoint_find(const char *name);

#endif /* AUXT_TRACEPOINT_H */
