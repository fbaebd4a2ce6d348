/* SPDX-License-Identifier: GPL-2.0-only */
/* What stock perf, if it is installed, decodes of a recording: a decoder that is not ours. */
#ifndef SELFTEST_PERF_H
#define SELFTEST_PERF_H

#include "selftest.h"
#include "step.h"

/*
 * Is what perf decodes of the recording @t->dir/@name the same as what we do? @decoded are the addresses of the executed
 * instructions of traced_work(), @behind those behind each. PT: each instruction is compared. BTS: each taken branch, of
 * which alone perf tells. PASSED, FAILED, or SKIPPED if there is no perf, or one that cannot decode hardware traces.
 */
enum outcome perf_agrees(const struct selftest *t, const char *name, const struct steps *decoded, const struct steps *behind);

#endif
