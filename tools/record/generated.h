/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the kernel generates while it is recorded, by perf's KSYMBOL records: BPF programs and their trampolines. The
 * recording's copy of the kernel's code is of its end, when they may be gone. So their bytes are read soon after they
 * came, and once more a little later: perf reports a trampoline before the kernel has written it.
 */
#ifndef GENERATED_H
#define GENERATED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <auxtrace.h>

struct generated;

struct generated *generated_new(void);
void generated_free(struct generated *g);

/* The kernel has reported code, or that it is gone, at @tsc, which is not 0. */
void generated_came(struct generated *g, uint64_t tsc, uint64_t address, uint32_t size, const char *name);
void generated_went(struct generated *g, struct auxtrace_recording *recording, uint64_t tsc, uint64_t address);

/*
 * Read what is due. Returns true if that was something: then what is reported by now may say that it was gone before, so
 * take these reports, too, before the recording is written.
 */
bool generated_read(struct generated *g, struct auxtrace_recording *recording);

/* When a reading is due, in nanoseconds of CLOCK_MONOTONIC; INT64_MAX: none is. */
int64_t generated_due(const struct generated *g);

/* How many were gone before they could be read; trampolines, before they could be read again. */
unsigned long generated_lost(const struct generated *g);

#endif
