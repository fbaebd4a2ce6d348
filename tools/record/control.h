/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Commands to a running recorder: record --control.
 *
 * A command is a line. The answer is "ack", or "error: " and the reason; the command status
 * has a line before that. A FIFO has one client, which gets answers by a second FIFO if
 * there is one. A socket has many clients.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stddef.h>

enum control_command {
	CONTROL_PAUSE, CONTROL_RESUME, CONTROL_SNAPSHOT, CONTROL_STOP, CONTROL_STATUS, CONTROL_PING,
};

enum control_answer {
	CONTROL_ACK,		/* @text, which may be empty, then "ack" */
	CONTROL_ERROR,		/* @text is the reason */
	CONTROL_LATER,		/* control_finish() answers */
};

typedef enum control_answer control_act(void *context, enum control_command command, char *text,
					size_t size);

struct control;

/*
 * @spec: fifo:CTL[,ACK], fd:CTL[,ACK], or a path: that of a FIFO, optionally with ,ACK, or of
 * a socket, which is made. Dies with a message if it is wrong.
 */
struct control *control_open(const char *spec);

/* A file descriptor for poll(2), readable when there is a command or a new client. */
int control_fd(const struct control *c);

/* Carry out all commands that have arrived, without blocking. */
void control_serve(struct control *c, control_act *act, void *context);

/* Answer the commands with CONTROL_LATER: by @error, or "ack" if it is NULL. */
void control_finish(struct control *c, const char *error);

/* NULL is allowed. */
void control_close(struct control *c);

#endif
