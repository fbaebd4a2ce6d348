// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>

#include "call_threads.h"

/* Threads with an ID have no CPU of their own. */
static unsigned int cpu_of(const struct call *call)
{
	return call->known && call->thread.tid ? 0 : call->cpu;
}

static uint32_t *slot_of(const struct call_threads *t, bool known, uint32_t tid, unsigned int cpu)
{
	size_t i = (((uint64_t)tid << 1 | known) * 0x9e3779b97f4a7c15ull + cpu) % t->slots;

	for (; t->slot[i]; i = (i + 1) % t->slots) {
		const struct call_thread *thread = &t->thread[t->slot[i] - 1];

		if (thread->known == known && thread->tid == tid && thread->cpu == cpu)
			break;
	}
	return &t->slot[i];
}

/* At most half of the slots are used. */
static void grow(struct call_threads *t)
{
	free(t->slot);
	t->slots = t->slots ? 4 * t->slots : 256;
	t->slot = xcalloc(t->slots, sizeof(*t->slot));
	for (size_t i = 0; i < t->count; i++) {
		const struct call_thread *thread = &t->thread[i];

		*slot_of(t, thread->known, thread->tid, thread->cpu) = i + 1;
	}
}

size_t call_threads_find(struct call_threads *t, const struct call *call)
{
	uint32_t *slot;

	if (2 * (t->count + 1) > t->slots)
		grow(t);
	slot = slot_of(t, call->known, call->thread.tid, cpu_of(call));
	if (*slot)
		return *slot - 1;
	list_grow(t->thread, t->count);
	t->thread[t->count++] = (struct call_thread){
		.known = call->known, .pid = call->thread.pid, .tid = call->thread.tid, .cpu = cpu_of(call),
		.comm = call->comm ? xstrdup(call->comm) : NULL,
	};
	*slot = t->count;
	return t->count - 1;
}

void call_threads_free(struct call_threads *t)
{
	for (size_t i = 0; i < t->count; i++)
		free(t->thread[i].comm);
	free(t->thread);
	free(t->slot);
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
