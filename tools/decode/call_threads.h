/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The threads whose calls were seen, each once. What has no thread ID of its own is told apart by its CPU. */
#ifndef CALL_THREADS_H
#define CALL_THREADS_H

#include "calls.h"

struct call_thread {
	bool known;		/* who it is */
	uint32_t pid, tid;	/* 0: the idle thread, or not known */
	unsigned int cpu;	/* of the idle thread, or of threads that are not known; else 0 */
	char *comm;		/* the name that it had first; NULL: not known */
};

struct call_threads {
	struct call_thread *thread;	/* in the order in which they were seen */
	size_t count;
	uint32_t *slot;			/* a hash table with open addressing: indexes, plus 1; 0: free */
	size_t slots;
};

/* The index of the thread of @call. */
size_t call_threads_find(struct call_threads *t, const struct call *call);
void call_threads_free(struct call_threads *t);

/* Its name for people: "comm pid/tid". */
void call_thread_name(const struct call_thread *t, char *text, size_t size);

#endif
