/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How others drive a recording: record --control.
 *
 * Commands are lines. Each is answered by "ack", or by "error: " and what was wrong;
 * status has a line of its own before. By a FIFO there is one asker, answered by
 * another FIFO if there is one; by a socket there are several.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>

enum control_command {
	CONTROL_PAUSE, CONTROL_RESUME, CONTROL_SNAPSHOT, CONTROL_STOP, CONTROL_STATUS, CONTROL_PING,
};

enum control_answer {
	CONTROL_ACK,		/* after @text, if there is any */
	CONTROL_ERROR,		/* @text says what was wrong */
	CONTROL_LATER,		/* by control_finish() */
};

typedef enum control_answer control_act(void *context, enum control_command command, char *text,
					size_t size);

struct control;

/*
 * @spec: fifo:CTL[,ACK], fd:CTL[,ACK], or a path: of a FIFO, with ,ACK if wanted, or of a
 * socket that is to be made. Dies with a message if it is wrong.
 */
struct control *control_open(const char *spec);

/* Readable when there is something to serve; for poll(2). */
int control_fd(const struct control *c);

/* Carry out what was asked for, without blocking. */
void control_serve(struct control *c, control_act *act, void *context);

/* Answer those who wait: @error NULL: "ack". */
void control_finish(struct control *c, const char *error);

/* NULL is allowed. */
void control_close(struct control *c);

#endif
