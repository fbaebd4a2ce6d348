// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "stacks.h"

/* Keys of what has no thread ID of its own. */
#define IDLE(cpu)	(1ull << 32 | (cpu))
#define UNKNOWN(cpu)	(2ull << 32 | (cpu))

void stacks_free(struct stacks *s)
{
	for (size_t i = 0; i < s->buckets; i++)
		while (s->bucket[i]) {
			struct stack *stack = s->bucket[i];

			s->bucket[i] = stack->chain;
			free(stack->frame);
			free(stack);
		}
	free(s->bucket);
	free(s->epoch);
	*s = (struct stacks){ 0 };
}

static uint64_t *epoch_of(struct stacks *s, unsigned int cpu)
{
	if (cpu >= s->nr_cpus) {
		s->epoch = xrealloc(s->epoch, (cpu + 1) * sizeof(*s->epoch));
		memset(s->epoch + s->nr_cpus, 0, (cpu + 1 - s->nr_cpus) * sizeof(*s->epoch));
		s->nr_cpus = cpu + 1;
	}
	return &s->epoch[cpu];
}

void stacks_forget_cpu(struct stacks *s, unsigned int cpu)
{
	++*epoch_of(s, cpu);
}

static void reserve(struct stack *s, unsigned int frames)
{
	unsigned int space = s->space ?: 16;

	if (frames <= s->space)
		return;
	while (space < frames)
		space *= 2;
	s->frame = xrealloc(s->frame, space * sizeof(*s->frame));
	memset(s->frame + s->space, 0, (space - s->space) * sizeof(*s->frame));
	s->space = space;
}

static void grow(struct stacks *s)
{
	size_t buckets = s->buckets ? 4 * s->buckets : 256;
	struct stack **bucket = xcalloc(buckets, sizeof(*bucket));

	for (size_t i = 0; i < s->buckets; i++)
		while (s->bucket[i]) {
			struct stack *stack = s->bucket[i], **to = &bucket[stack->key % buckets];

			s->bucket[i] = stack->chain;
			stack->chain = *to;
			*to = stack;
		}
	free(s->bucket);
	s->bucket = bucket;
	s->buckets = buckets;
}

static struct stack *find(struct stacks *s, uint64_t key)
{
	struct stack **bucket, *stack;

	if (s->count >= s->buckets)
		grow(s);
	bucket = &s->bucket[key % s->buckets];
	for (stack = *bucket; stack; stack = stack->chain)
		if (stack->key == key)
			return stack;
	stack = xcalloc(1, sizeof(*stack));
	stack->key = key;
	stack->chain = *bucket;
	reserve(stack, 1);
	*bucket = stack;
	s->count++;
	return stack;
}

struct stack *stacks_of(struct stacks *s, const struct run *thread, unsigned int cpu, bool *stale)
{
	uint64_t key = !thread ? UNKNOWN(cpu) : thread->tid ?: IDLE(cpu);
	struct stack *stack = find(s, key);

	*stale = stack->epoch != *epoch_of(s, stack->cpu);
	stack->cpu = cpu;
	stack->epoch = *epoch_of(s, cpu);
	return stack;
}

/*
 * Functions that call each other from two addresses of a bucket leave there a frame for each call, and whoever made the
 * recording can choose such addresses. What lies further outwards is taken not to be there.
 */
#define MAX_STEPS	64

static unsigned int bucket_of(uint64_t back)
{
	return back * 0x9e3779b97f4a7c15ull >> 56;
}

void stack_push(struct stack *s, uint64_t back)
{
	unsigned int *first = &s->bucket[bucket_of(back)], before = *first;
	bool same = before && s->frame[before].back == back;

	s->depth++;
	reserve(s, s->depth + 1);
	s->frame[s->depth] = (struct frame){
		.back = back, .before = before, .other = same ? s->frame[before].other : before,
	};
	*first = s->depth;
}

void stack_cut(struct stack *s, unsigned int depth)
{
	for (; s->depth > depth; s->depth--) {
		const struct frame *f = &s->frame[s->depth];

		s->bucket[bucket_of(f->back)] = f->before;
	}
}

unsigned int stack_find(const struct stack *s, uint64_t ip)
{
	unsigned int i = s->bucket[bucket_of(ip)];

	for (unsigned int steps = 0; i && s->frame[i].back != ip; i = s->frame[i].other)
		if (++steps == MAX_STEPS)
			return 0;
	return i;
}
