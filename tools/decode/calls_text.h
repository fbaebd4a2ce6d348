/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Function calls for people: a line each on stdout, indented by depth. Returns have no line; they
 * reduce the indentation, and give the line of the call its duration. The source lines that a call executes are
 * lines inside it.
 */
#ifndef CALLS_TEXT_H
#define CALLS_TEXT_H

#include "calls.h"

struct source_text;

/* @source: the text of source lines; NULL: they are not wanted. It must outlive the sink. */
struct calls_sink *calls_text_begin(const struct meta *meta, struct source_text *source);
/* To be called behind calls_end(). Frees it. */
void calls_text_end(struct calls_sink *sink);

#endif
