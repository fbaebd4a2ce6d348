/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Text that the views for people share. */
#ifndef VIEW_TEXT_H
#define VIEW_TEXT_H

#include <stdio.h>

#include "flow.h"

/* @ns as seconds, in 18 columns; - if not @known. */
void text_time(FILE *out, bool known, uint64_t ns);
/* The thread's name and number, also its process's if that is another; - if not known (NULL); in 28 columns. */
void text_run(FILE *out, const struct run *thread, const char *name);
/* function+offset (file), as far as it is known. */
void text_name(FILE *out, uint64_t ip, const struct code_name *name);

/* These print a line each. */
void text_window(FILE *out, unsigned int cpu, const struct flow *f, uint64_t seq);
/* How the window ended: "window 7 ends: trigger 3, kprobe:...=freeze". The caller frees it. */
char *window_end_text(const struct flow *f, const struct auxtrace_record_window *w);
/* The line of text_window() without its end. To be freed. */
char *window_text(unsigned int cpu, const struct flow *f, uint64_t seq);
void text_sample(FILE *out, unsigned int cpu, const struct flow *f, size_t nr, const struct auxtrace_record_sample *s);
void text_overflow(FILE *out, unsigned int cpu);
/* In perf's words. */
void text_cpu_event(FILE *out, unsigned int cpu, bool timed, uint64_t ns, const struct cpu_event *e);
void text_skip(FILE *out, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3);
void text_error(FILE *out, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message);

#endif
