// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two threads decode their first instructions at once: <auxtrace-decode.h> promises that different
 * decoders are independent. `make valgrind` runs this under helgrind, which judges.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "decode/insn.h"

static pthread_barrier_t together;

static void *decode(void *decoded)
{
	static const uint8_t ret = 0xc3;
	static const enum pt_exec_mode modes[] = { ptem_64bit, ptem_32bit, ptem_16bit };

	pthread_barrier_wait(&together);
	for (unsigned int i = 0; i < 3; i++) {
		struct insn insn;

		*(unsigned int *)decoded += insn_decode(&insn, modes[i], 0x401000, &ret, 1);
	}
	return NULL;
}

static void first_instructions_in_two_threads(void **state)
{
	unsigned int decoded[2] = { 0, 0 };
	pthread_t other;

	(void)state;
	assert_int_equal(pthread_barrier_init(&together, NULL, 2), 0);
	assert_int_equal(pthread_create(&other, NULL, decode, &decoded[1]), 0);
	decode(&decoded[0]);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_int_equal(decoded[0], 3);
	assert_int_equal(decoded[1], 3);
	pthread_barrier_destroy(&together);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_instructions_in_two_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
