/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The files cpuN.side of a recording: what perf's own records say of CPU N, byte for byte as perf
 * wrote them (auxtrace-recording(5)).
 *
 * sideband.h also reads such records, as they come, to look at processes while they live. These
 * here are kept for those who decode: who ran, the names of threads, code that the kernel made or
 * patched.
 */
#ifndef SIDE_FILES_H
#define SIDE_FILES_H

#include <stdbool.h>

#include <auxtrace.h>

struct side_files;

/**
 * side_files_open - begin to collect records, of all online CPUs
 * @session: CPUs of which context switches are recorded; NULL: of none. It is asked again as CPUs come
 * @kernel: also what changes in the kernel's code
 * @overwrite: the newest records win, as in a session with OVERWRITE. Context switches have rings of their own
 *	then, so that they do not push out the rest
 *
 * Rings are smaller where the user may not lock so much memory. Returns NULL with errno if perf refuses.
 */
struct side_files *side_files_open(const struct auxtrace_cpus *session, bool kernel, bool overwrite);

/* A file descriptor for poll(2), readable when side_files_drain() has much to do. */
int side_files_fd(const struct side_files *s);

/*
 * Append the records since the last call to the files in the directory @dir; does nothing with
 * @overwrite. Returns 0, or -1 after a message.
 */
int side_files_drain(struct side_files *s, const char *dir);

/* With @overwrite: write files in @dir with the records that there are now. As side_files_drain(). */
int side_files_write(struct side_files *s, const char *dir);

/*
 * CPUs may have come online: as sideband_look() and sideband_renew(). What dropped events have reported is appended to the
 * files; with @overwrite it stays until the CPU comes once more. The return value is as of side_files_drain().
 */
void side_files_look(struct side_files *s);
int side_files_renew(struct side_files *s, const char *dir);

/* Records that perf lost so far, in those that side_files_drain() has written. */
unsigned long side_files_lost(const struct side_files *s);

void side_files_close(struct side_files *s);

#endif
