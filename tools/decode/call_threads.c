// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>
#include <stdlib.h>

#include "call_threads.h"

size_t call_threads_find(struct call_threads *t, const struct call *call)
{
	bool has_id = call->known && call->thread.tid;

	/* The thread that was seen last is likely to be it. */
	for (size_t i = t->count; i > 0; i--) {
		const struct call_thread *thread = &t->thread[i - 1];

		if (thread->known == call->known && thread->tid == call->thread.tid &&
		    (has_id || thread->cpu == call->cpu))
			return i - 1;
	}
	t->thread = xrealloc(t->thread, (t->count + 1) * sizeof(*t->thread));
	t->thread[t->count] = (struct call_thread){
		.known = call->known, .pid = call->thread.pid, .tid = call->thread.tid, .cpu = call->cpu,
		.comm = call->comm ? xstrdup(call->comm) : NULL,
	};
	return t->count++;
}

void call_threads_free(struct call_threads *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->thread[i].comm);
	free(t->thread);
	*t = (struct call_threads){ 0 };
}

void call_thread_name(const struct call_thread *t, char *text, size_t size)
{
	if (!t->known)
		snprintf(text, size, "unknown thread, CPU %u", t->cpu);
	else if (!t->tid)
		snprintf(text, size, "%s, CPU %u", t->comm ?: "swapper", t->cpu);
	else
		snprintf(text, size, "%s %u/%u", t->comm ?: "?", t->pid ?: t->tid, t->tid);
}
