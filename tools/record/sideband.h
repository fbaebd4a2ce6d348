/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's sideband records of all processes: executable mappings, forks, execs, exits.
 *
 * They are the only source for code that a process unmaps before it ends (dlclose(3)), and
 * for processes that do not descend from the command. Such a process is added to the
 * recording when its record is read; if it has exited by then, it is missing there.
 */
#ifndef SIDEBAND_H
#define SIDEBAND_H

#include <auxtrace.h>

struct sideband;

/* NULL with errno if perf refuses. @info: converts perf's clock to the TSC. */
struct sideband *sideband_open(const struct auxtrace_info *info);
/* A file descriptor for poll(2), readable when there are records. */
int sideband_fd(const struct sideband *w);
/*
 * Record what was reported since the last call. Call it before an address space is
 * replaced. Returns how many records perf lost.
 */
unsigned long sideband_drain(struct sideband *w, struct auxtrace_recording *recording);
void sideband_close(struct sideband *w);

#endif
