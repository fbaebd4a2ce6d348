/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording's directory, and the plain files in it. */
#ifndef RECORDING_DIR_H
#define RECORDING_DIR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Make the directory @dir, or remove an earlier recording from it. @parent: as for
 * openat(2). @made: set to whether this call made it. Returns its file descriptor, or -1 with errno and
 * the message. A call that fails removes the directory if it made it, as far as possible.
 */
int recording_dir_open(int parent, const char *dir, bool *made);

/* Remove a recording from the directory, as far as possible. */
void recording_dir_clear(int dirfd, const char *dir);

/* Remove the snapshot @name from the recording in @dirfd, which @dir names in messages. -1 with errno. */
int recording_dir_remove_snapshot(int dirfd, const char *dir, const char *name);

/* The disk space of a recording with its snapshots; of a file with several links its part. -1 with errno. */
int recording_dir_space(int dirfd, const char *dir, uint64_t *bytes);

/* Open a file for writing. NULL with errno and the message. */
FILE *recording_file(int dirfd, const char *name);

/* Close it. -1 with errno and the message if anything written to it was lost. */
int recording_file_close(FILE *f, const char *name);

#endif
