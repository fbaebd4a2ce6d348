// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "stacks.h"

/* Keys of what has no thread ID of its own. */
#define IDLE(cpu)	(1ull << 32 | (cpu))
#define UNKNOWN(cpu)	(2ull << 32 | (cpu))

void stacks_free(struct stacks *s)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(s->bucket); i++)
		while (s->bucket[i]) {
			struct stack *stack = s->bucket[i];

			s->bucket[i] = stack->chain;
			free(stack->back);
			free(stack);
		}
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

static struct stack *find(struct stacks *s, uint64_t key)
{
	struct stack **bucket = &s->bucket[key % ARRAY_SIZE(s->bucket)], *stack;

	for (stack = *bucket; stack; stack = stack->chain)
		if (stack->key == key)
			return stack;
	stack = xcalloc(1, sizeof(*stack));
	stack->key = key;
	stack->chain = *bucket;
	*bucket = stack;
	return stack;
}

struct stack *stacks_of(struct stacks *s, const struct run *thread, unsigned int cpu)
{
	uint64_t key = !thread ? UNKNOWN(cpu) : thread->tid ?: IDLE(cpu);
	struct stack *stack = find(s, key);

	if (stack->epoch != *epoch_of(s, stack->cpu))
		stack_clear(stack);
	stack->cpu = cpu;
	stack->epoch = *epoch_of(s, cpu);
	return stack;
}

void stack_clear(struct stack *s)
{
	s->depth = 0;
	s->next = 0;
}

void stack_push(struct stack *s, uint64_t back)
{
	if (s->depth == STACK_DEPTH) {
		memmove(s->back, s->back + 1, (STACK_DEPTH - 1) * sizeof(*s->back));
		s->depth--;
	}
	if (s->depth == s->space) {
		s->space = s->space ? 2 * s->space : 32;
		s->back = xrealloc(s->back, s->space * sizeof(*s->back));
	}
	s->back[s->depth++] = back;
}

bool stack_pop_matching(struct stack *s, uint64_t ip)
{
	for (unsigned int i = s->depth; i > 0; i--)
		if (s->back[i - 1] == ip) {
			s->depth = i - 1;
			return true;
		}
	return false;
}

void stack_pop(struct stack *s, uint64_t ip)
{
	if (!stack_pop_matching(s, ip) && s->depth)
		s->depth--;
}
