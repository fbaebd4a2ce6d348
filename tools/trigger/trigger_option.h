/* SPDX-License-Identifier: GPL-2.0 */
/* record --on EVENT=ACTION[,OPTION...]: the triggers of a recording. */
#ifndef TRIGGER_OPTION_H
#define TRIGGER_OPTION_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include <auxtrace.h>

struct trigger_option;

struct trigger_options {
	struct trigger_option **option;
	size_t count;
};

/* Dies, as wrong usage, if @text is wrong. */
void trigger_option_parse(struct trigger_options *list, const char *text);
void trigger_options_free(struct trigger_options *list);

/* Is there one that does @action? */
bool trigger_options_have(const struct trigger_options *list, uint32_t action);
/* The largest sample that is asked for. */
uint64_t trigger_options_sample_size(const struct trigger_options *list);

/* Add them to a session that is set up. @command: its pid; 0: none. -1: a message was said. */
int trigger_options_add(struct trigger_options *list, struct auxtrace_session *session, pid_t command);
/* What trigger number @id was asked for as. */
const char *trigger_options_text(const struct trigger_options *list, uint32_t id);
/* Say what each has counted. */
void trigger_options_summary(const struct trigger_options *list, struct auxtrace_session *session);

#endif
