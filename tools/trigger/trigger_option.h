/* SPDX-License-Identifier: GPL-2.0-only */
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

/* Add the trigger of one --on option to @list. Dies of wrong usage. */
void trigger_option_parse(struct trigger_options *list, const char *text);
void trigger_options_free(struct trigger_options *list);

/* Does a trigger have @action? */
bool trigger_options_have(const struct trigger_options *list, uint32_t action);
/* The size of the largest sample; 0: there is none. */
uint64_t trigger_options_sample_size(const struct trigger_options *list);

/*
 * Add the triggers to a session that is set up. @command: pid of the recorded command, or 0.
 * 0, or -1 after a message.
 */
int trigger_options_add(struct trigger_options *list, struct auxtrace_session *session, pid_t command);
/* The --on option of trigger @id. */
const char *trigger_options_text(const struct trigger_options *list, uint32_t id);
/* Print what each trigger has counted. */
void trigger_options_summary(const struct trigger_options *list, struct auxtrace_session *session);

#endif
