// SPDX-License-Identifier: GPL-2.0-only
/* Where calls return to, on stacks that are deep, and on those that somebody has made so that they are slow to search. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "decode/stacks.h"

/* Addresses of one bucket: the hash multiplies by the inverse of this number, and takes the upper bits. */
#define INVERSE	0xf1de83e19937733dull
#define OUTER	INVERSE
#define ONE	(2 * INVERSE)
#define OTHER	(3 * INVERSE)

static struct stacks all;
static struct stack *stack;

static int begin(void **state)
{
	static const struct run thread = { .pid = 1, .tid = 1 };
	bool stale;

	(void)state;
	stack = stacks_of(&all, &thread, 0, &stale);
	return 0;
}

static int end(void **state)
{
	(void)state;
	stacks_free(&all);
	return 0;
}

static void push_turns(unsigned int calls)
{
	for (unsigned int i = 0; i < calls; i++)
		stack_push(stack, i % 2 ? OTHER : ONE);
}

static void the_innermost_call_that_returns_there_is_found(void **state)
{
	(void)state;
	stack_push(stack, OUTER);
	push_turns(40);
	assert_int_equal(stack_find(stack, OUTER), 1);
	assert_int_equal(stack_find(stack, OTHER), 41);
	assert_int_equal(stack_find(stack, ONE), 40);
	assert_int_equal(stack_find(stack, 5), 0);
	stack_cut(stack, 1);
	assert_int_equal(stack_find(stack, ONE), 0);
	assert_int_equal(stack_find(stack, OUTER), 1);
}

static void recursion_hides_nothing(void **state)
{
	(void)state;
	stack_push(stack, OUTER);
	for (unsigned int i = 0; i < 1000; i++)
		stack_push(stack, ONE);
	assert_int_equal(stack_find(stack, OUTER), 1);
}

/* Else each return of a hostile trace would cost the depth of its stack. */
static void a_search_ends_soon(void **state)
{
	(void)state;
	stack_push(stack, OUTER);
	push_turns(1000);
	assert_int_equal(stack_find(stack, OUTER), 0);
	stack_cut(stack, 1);
	assert_int_equal(stack_find(stack, OUTER), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_innermost_call_that_returns_there_is_found, begin, end),
		cmocka_unit_test_setup_teardown(recursion_hides_nothing, begin, end),
		cmocka_unit_test_setup_teardown(a_search_ends_soon, begin, end),
	};

	return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
