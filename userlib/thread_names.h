/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The names of all threads that there are now: the file `threads` of a recording. */
#ifndef THREAD_NAMES_H
#define THREAD_NAMES_H

/* Write it. Returns 0, or -1 with errno and the message. */
int thread_names_write(int dirfd);

#endif
