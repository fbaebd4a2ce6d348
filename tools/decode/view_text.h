/* SPDX-License-Identifier: GPL-2.0 */
/* Text that the views for people share, written to stdout. */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include "flow.h"

/* @ns as seconds, in 18 columns; - if not @known. */
void text_time(bool known, uint64_t ns);
/* The thread's name and number, also its process's if that is another; - if not known; in 28 columns. */
void text_thread(const struct flow *f);
/* function+offset (file), as far as it is known. */
void text_name(uint64_t ip, const struct code_name *name);

/* These print a line each. */
void text_window(unsigned int cpu, const struct flow *f, uint64_t seq);
void text_sample(unsigned int cpu, const struct flow *f, size_t nr, const struct auxtrace_record_sample *s);
void text_overflow(unsigned int cpu);
void text_skip(unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3);
void text_error(unsigned int cpu, uint64_t offset, uint64_t ip, const char *message);

#endif
