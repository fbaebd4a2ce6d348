/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Function calls for people: a line each on stdout, indented by depth. Returns have no line; they
 * reduce the indentation, and give the line of the call its duration.
 */
#ifndef CALLS_TEXT_H
#define CALLS_TEXT_H

#include "calls.h"

struct calls_sink *calls_text_begin(const struct meta *meta);
/* To be called behind calls_end(). Frees it. */
void calls_text_end(struct calls_sink *sink);

#endif
