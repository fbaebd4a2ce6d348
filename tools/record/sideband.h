/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * perf's sideband records of all processes: executable mappings, forks, execs, exits; and of BPF programs.
 *
 * A process is read when its record is; of one that has exited by then the recording has what these records say
 * of it.
 */
#ifndef SIDEBAND_H
#define SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include <auxtrace.h>

struct perf_maps;
struct sideband;

/*
 * NULL with errno if perf refuses. @info: converts perf's clock to the TSC. @kernel: the kernel is traced, so what it
 * generates is recorded, too (generated.h).
 */
struct sideband *sideband_open(const struct auxtrace_info *info, bool kernel);
/* Tell @maps, too, what the command's processes do. */
void sideband_tell(struct sideband *w, struct perf_maps *maps);
/* A file descriptor for poll(2), readable when there are records. */
int sideband_fd(const struct sideband *w);
/*
 * Record what was reported since the last call. Call it before an address space is
 * replaced. Returns how many records perf lost.
 */
unsigned long sideband_drain(struct sideband *w, struct auxtrace_recording *recording);
/*
 * CPUs may have come online, on which perf has no event or has dropped ours. Call sideband_look(), and PERF_RING_WAIT_NS
 * (perf_ring.h) later sideband_renew(): it reads what the dropped events have reported, and opens new ones. Returns how many
 * records perf lost. Processes that began before are not known unless the caller adds them.
 */
void sideband_look(struct sideband *w);
unsigned long sideband_renew(struct sideband *w, struct auxtrace_recording *recording);
/* How many CPUs were without an event so: what ran there before the new one is not reported. */
unsigned long sideband_cpus_came(const struct sideband *w);
/* @info has another conversion of perf's clock to the TSC: the machine slept, in which the former stands still. */
void sideband_clock(struct sideband *w, const struct auxtrace_info *info);
/* When to call sideband_drain() at the latest, in nanoseconds of CLOCK_MONOTONIC; INT64_MAX: if there are records. */
int64_t sideband_due(const struct sideband *w);
/* How many pieces of code that the kernel generated were gone before they could be read. */
unsigned long sideband_generated_lost(const struct sideband *w);
void sideband_close(struct sideband *w);

#endif
