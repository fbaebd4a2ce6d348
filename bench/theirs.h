/* SPDX-License-Identifier: GPL-2.0-only */
/* perf events. Each function exits with a message if it fails. */
#ifndef BENCH_THEIRS_H
#define BENCH_THEIRS_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "source.h"

struct theirs {
	unsigned int nr;
	struct theirs_event {
		int fd;
		struct perf_event_mmap_page *page;	/* followed by the data ring */
		void *aux;				/* NULL: none */
	} *event;
	size_t data_size, aux_size;
};

struct theirs_setup {
	struct perf_event_attr attr;	/* size and the like are filled in */
	const struct source *source;	/* sets type and config; NULL: those of attr */
	int pid;			/* -1: all */
	bool any_cpu;			/* one event, wherever the thread @pid runs */
	unsigned int nr;		/* events, one on each CPU from 0 */
	size_t data_size;
	bool data_overwrite;
	size_t aux_size;		/* 0: none */
	bool aux_overwrite;
};

/* struct perf_event_attr.aux_action, which kernel headers before 6.13 lack. */
#define AUX_START_PAUSED	(1u << 0)
#define AUX_PAUSE		(1u << 1)
#define AUX_RESUME		(1u << 2)
void theirs_set_aux_action(struct perf_event_attr *attr, uint32_t action);

/* Opens the events and enables them. */
void theirs_open(struct theirs *theirs, const struct theirs_setup *setup);
void theirs_close(struct theirs *theirs);

/* One ioctl per event, in the form that cost_of() calls; @arg is a struct theirs. */
void theirs_disable(void *arg);
void theirs_enable(void *arg);

/* PAUSE_OUTPUT of the first event. */
void theirs_output(struct theirs *theirs, bool pause);

/* Returns a tracepoint's id. @name: for example syscalls/sys_exit_close */
uint64_t theirs_tracepoint(const char *name);

/*
 * Opens one more event on CPU 0, in the group of the first event; enabled if that one is.
 * With @records its samples go to the ring of the first, else nowhere. Returns its file
 * descriptor; close it before theirs_close().
 */
int theirs_join(const struct theirs *theirs, const struct perf_event_attr *wanted, bool records);

#endif
