/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions of auxtrace, by ioctl. Each function exits with a message if it fails. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include <linux/auxtrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "source.h"

struct ours {
	int fd;
	const struct auxtrace_status_page *status;	/* of CPU 0 */
	struct auxtrace_user_page *user;		/* of CPU 0 */
};

/*
 * Opens and starts a session on CPUs 0 to @nr - 1. @setup: flags, sizes, watermarks and
 * records; the rest is filled in.
 */
void ours_open(struct ours *ours, const struct source *source, unsigned int nr,
	       const struct auxtrace_setup *setup);
void ours_close(struct ours *ours);

/* Returns the id of the trigger. */
uint32_t ours_trigger(const struct ours *ours, const struct auxtrace_trigger *wanted);

/* In the form that cost_of() calls; @arg is a struct ours. */
void ours_pause(void *arg);
void ours_resume(void *arg);
/* poll(2), which does not wait */
void ours_poll(void *arg);

/* PAUSE_OUTPUT */
void ours_output(struct ours *ours, bool pause);

#endif
