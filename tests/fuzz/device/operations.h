/* SPDX-License-Identifier: GPL-2.0-only */
/* What a record does. */
#ifndef DEVICE_OPERATIONS_H
#define DEVICE_OPERATIONS_H

#include "program.h"

/* Before the threads begin. False, with a message, if this machine has no /dev/auxtrace. */
bool operations_init(void);
/* In each thread, before its first record. */
void operations_begin_thread(void);
/* Carry out @r in the calling thread. @next is what a child of FORK runs, up to @end. */
void operations_run(const struct record *r, const struct record *next, const struct record *end);
/* In each thread, after its last record: as the thread was before. */
void operations_end_thread(void);
/*
 * After the last thread: close and unmap all, and bring all CPUs online. With @reload, unload
 * the module and load it again. Ends the program if something of the sessions is left.
 */
void operations_end(bool reload);
/* Did a record ask for an unload? */
bool operations_want_reload(void);
/* By the monotonic clock. */
int64_t operations_now_ms(void);

#endif
