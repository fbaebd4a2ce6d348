/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What perf reports of all processes: executable mappings, forks, execs, exits.
 *
 * What a process unmaps before it ends (dlclose(3)) is seen here only, and so are
 * processes that are not the command's. These are noted as soon as we get to it:
 * one that is gone by then is not in the recording.
 */
#ifndef SIDEBAND_H
#define SIDEBAND_H

#include <auxtrace.h>

struct sideband;

/* NULL with errno if perf does not allow or have it. @info: for its clock. */
struct sideband *sideband_open(const struct auxtrace_info *info);
/* Readable when there is something to drain; for poll(2). */
int sideband_fd(const struct sideband *w);
/*
 * Hand over what was reported since. To be called before an address space that
 * goes is replaced. Returns how many reports perf lost.
 */
unsigned long sideband_drain(struct sideband *w, struct auxtrace_recording *recording);
void sideband_close(struct sideband *w);

#endif
