/* SPDX-License-Identifier: GPL-2.0 */
/* record --on EVENT=ACTION[,OPTION...]: the triggers of a recording. */
#ifndef ON_H
#define ON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <auxtrace.h>

struct on;

struct on_list {
	struct on **on;
	size_t count;
};

/* Dies, as wrong usage, if @text is wrong. */
void on_parse(struct on_list *list, const char *text);
void on_free(struct on_list *list);

/* Is there one that does @action? */
bool on_has(const struct on_list *list, uint32_t action);
/* The largest sample that is asked for. */
uint64_t on_sample_size(const struct on_list *list);

/* Add them to a session that is set up. @command: its pid; 0: none. -1: a message was said. */
int on_add(struct on_list *list, struct auxtrace_session *session, pid_t command);
/* What trigger number @id was asked for as. */
const char *on_text(const struct on_list *list, uint32_t id);
/* Say what each has counted. */
void on_summary(const struct on_list *list, struct auxtrace_session *session);

#endif
