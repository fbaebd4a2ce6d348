/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * While a recording is decoded: how far that is, on a terminal; and ^C, which ends it early. What has been decoded until then is
 * shown or written. A second ^C ends the process at once.
 */
#ifndef PROGRESS_H
#define PROGRESS_H

#include "decode/replay.h"

/* replay_run(@r, @view_of, @context). @text: the views write to stdout. */
int progress_run(struct replay *r, struct view *(*view_of)(void *context), void *context, bool text);

/* If it was interrupted, say so, and how much of the trace had been decoded. */
void progress_summary(void);

/* The command's work is done. If it was interrupted, end as SIGINT ends a process: shells then stop their own loops, too. */
void progress_end(void);

#endif
