// SPDX-License-Identifier: GPL-2.0-only
/* The decoder of single instructions: sizes, classes and where direct branches go. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "decode/insn.h"

#define IP	0x401000ull
#define HIGH	0xffffffff81000000ull

static const struct {
	const char *bytes;
	enum pt_exec_mode mode;
	uint8_t size;
	enum pt_insn_class iclass;
	int64_t distance;	/* of a direct branch from its end; 0 if it is none */
} cases[] = {
	{ "\x90", ptem_64bit, 1, ptic_other, 0 },
	{ "\xf3\x48\xab", ptem_64bit, 3, ptic_other, 0 },		/* rep stosq */
	{ "\xf3\x0f\x1e\xfa", ptem_64bit, 4, ptic_other, 0 },	/* endbr64 */
	{ "\x48\xb8\1\2\3\4\5\6\7\x08", ptem_64bit, 10, ptic_other, 0 },
	{ "\x62\xf1\x7c\x48\x28\xc1", ptem_64bit, 6, ptic_other, 0 },	/* vmovaps %zmm1, %zmm0 */
	{ "\x0f\x0b", ptem_64bit, 2, ptic_other, 0 },		/* ud2 */
	{ "\xf4", ptem_64bit, 1, ptic_other, 0 },			/* hlt */
	{ "\xe8\x0b\1\0\0", ptem_64bit, 5, ptic_call, 0x10b },
	{ "\x67\xe8\xff\xff\xff\xff", ptem_64bit, 6, ptic_call, -1 },
	{ "\xff\xd0", ptem_64bit, 2, ptic_call, 0 },
	{ "\x3e\xff\xd0", ptem_64bit, 3, ptic_call, 0 },		/* notrack */
	{ "\xff\x1d\0\0\0\0", ptem_64bit, 6, ptic_far_call, 0 },
	{ "\xeb\xfe", ptem_64bit, 2, ptic_jump, -2 },
	{ "\xe9\0\0\0\x80", ptem_64bit, 5, ptic_jump, INT32_MIN },
	{ "\xff\xe0", ptem_64bit, 2, ptic_jump, 0 },
	{ "\xff\x2d\0\0\0\0", ptem_64bit, 6, ptic_far_jump, 0 },
	{ "\x74\x02", ptem_64bit, 2, ptic_cond_jump, 2 },
	{ "\x0f\x85\xf0\xff\xff\xff", ptem_64bit, 6, ptic_cond_jump, -16 },
	{ "\xe2\xfe", ptem_64bit, 2, ptic_cond_jump, -2 },		/* loop */
	{ "\xe3\x05", ptem_64bit, 2, ptic_cond_jump, 5 },		/* jrcxz */
	{ "\xc3", ptem_64bit, 1, ptic_return, 0 },
	{ "\xf3\xc3", ptem_64bit, 2, ptic_return, 0 },
	{ "\xc2\x08\0", ptem_64bit, 3, ptic_return, 0 },
	{ "\x48\xcb", ptem_64bit, 2, ptic_far_return, 0 },
	{ "\xcf", ptem_64bit, 1, ptic_far_return, 0 },
	{ "\x48\xcf", ptem_64bit, 2, ptic_far_return, 0 },
	{ "\x48\x0f\x07", ptem_64bit, 3, ptic_far_return, 0 },	/* sysretq */
	{ "\x0f\x35", ptem_64bit, 2, ptic_far_return, 0 },		/* sysexit */
	{ "\xf3\x0f\x01\xec", ptem_64bit, 4, ptic_far_return, 0 },	/* uiret */
	{ "\xf2\x0f\x01\xca", ptem_64bit, 4, ptic_far_return, 0 },	/* erets */
	{ "\xf3\x0f\x01\xca", ptem_64bit, 4, ptic_far_return, 0 },	/* eretu */
	{ "\x0f\x05", ptem_64bit, 2, ptic_far_call, 0 },		/* syscall */
	{ "\x0f\x34", ptem_64bit, 2, ptic_far_call, 0 },		/* sysenter */
	{ "\xcc", ptem_64bit, 1, ptic_far_call, 0 },
	{ "\xcd\x80", ptem_64bit, 2, ptic_far_call, 0 },
	{ "\xf1", ptem_64bit, 1, ptic_far_call, 0 },
	{ "\xf3\x48\x0f\xae\xe0", ptem_64bit, 5, ptic_ptwrite, 0 },
	{ "\x0f\x01\xd5", ptem_64bit, 3, ptic_other, 0 },		/* xend */
	{ "\xc6\xf8\x01", ptem_64bit, 3, ptic_other, 0 },		/* xabort */
	{ "\x62\x03", ptem_32bit, 2, ptic_other, 0 },		/* bound %eax, (%ebx) */
	{ "\x40", ptem_32bit, 1, ptic_other, 0 },			/* inc %eax */
	{ "\xe8\xfb\xef\xbf\xff", ptem_32bit, 5, ptic_call, (int32_t)0xffbfeffb },
	{ "\x9a\0\0\0\0\0\0", ptem_32bit, 7, ptic_far_call, 0 },
	{ "\xcb", ptem_32bit, 1, ptic_far_return, 0 },
	{ "\xb8\1\2", ptem_16bit, 3, ptic_other, 0 },			/* mov $0x201, %ax */
	{ "\xe8\x10\0", ptem_16bit, 3, ptic_call, 0x10 },
	{ "\x0f\x84\x10\0", ptem_16bit, 4, ptic_cond_jump, 0x10 },
	{ "\x66\xe9\x10\0\0\0", ptem_16bit, 6, ptic_jump, 0x10 },
};

static bool decode(struct insn *insn, enum pt_exec_mode mode, uint64_t ip, const char *bytes)
{
	uint8_t code[INSN_MAX];

	/* What follows is no part of it. */
	memset(code, 0xcc, sizeof(code));
	memcpy(code, bytes, 10);
	return insn_decode(insn, mode, ip, code, sizeof(code));
}

static void instructions_have_size_class_and_target(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ip = cases[i].mode == ptem_64bit ? HIGH : IP, target;
		char bytes[16] = { 0 };
		struct insn insn;

		memcpy(bytes, cases[i].bytes, cases[i].size);
		assert_true(decode(&insn, cases[i].mode, ip, bytes));
		assert_int_equal(insn.pt.ip, ip);
		assert_int_equal(insn.pt.size, cases[i].size);
		assert_int_equal(insn.pt.iclass, cases[i].iclass);
		assert_memory_equal(insn.pt.raw, bytes, cases[i].size);
		assert_int_equal(insn.direct, cases[i].distance != 0);
		target = ip + cases[i].size + cases[i].distance;
		if (cases[i].mode != ptem_64bit)
			target &= UINT32_MAX;
		if (insn.direct)
			assert_int_equal(insn.target, target);
		/* Not one of them fits into less. */
		assert_false(insn_decode(&insn, cases[i].mode, ip, (const uint8_t *)cases[i].bytes,
					 cases[i].size - 1));
	}
}

static void what_may_turn_the_trace_off_is_marked(void **state)
{
	static const char *const stops[] = { "\x0f\x30", "\x3e\x0f\x30", "\x0f\x01\xc6", "\x0f\x01\xc2", "\x0f\x01\xc3" };
	struct insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++) {
		char bytes[16] = { 0 };

		strcpy(bytes, stops[i]);
		assert_true(decode(&insn, ptem_64bit, IP, bytes));
		assert_true(insn.may_stop);
		assert_false(insn_ends_block(&insn));
	}
	assert_true(decode(&insn, ptem_64bit, IP, "\x0f\x32\0\0\0\0\0\0\0"));
	assert_false(insn.may_stop);
}

static void a_transaction_knows_where_its_abort_goes(void **state)
{
	struct insn insn;

	(void)state;
	assert_true(decode(&insn, ptem_64bit, IP, "\xc7\xf8\x10\0\0\0\0\0\0"));
	assert_true(insn.begins_tx);
	assert_false(insn.direct);
	assert_int_equal(insn.pt.iclass, ptic_other);
	assert_int_equal(insn.target, IP + 6 + 0x10);
}

static void a_check_of_bounds_is_no_interrupt(void **state)
{
	struct insn insn;

	(void)state;
	assert_true(decode(&insn, ptem_32bit, IP, "\x62\x03\0\0\0\0\0\0\0"));
	assert_false(insn.interrupt);
	assert_true(decode(&insn, ptem_32bit, IP, "\xcd\x80\0\0\0\0\0\0\0"));
	assert_true(insn.interrupt);
}

static void what_a_trace_says_more_of_is_marked(void **state)
{
	static const struct {
		const char bytes[10];
		enum insn_special special;
	} marked[] = {
		{ "\x0f\x22\xd8", INSN_MOVES_TO_CR3 },		/* mov %rax, %cr3 */
		{ "\x41\x0f\x22\xdc", INSN_MOVES_TO_CR3 },	/* mov %r12, %cr3 */
		{ "\x0f\x22\xe0", INSN_PLAIN },			/* mov %rax, %cr4 */
		{ "\x0f\x20\xd8", INSN_PLAIN },			/* mov %cr3, %rax */
		{ "\x48\x89\xd8", INSN_PLAIN },			/* mov %rbx, %rax */
		{ "\x0f\xc7\x33", INSN_LOADS_VMCS },		/* vmptrld (%rbx) */
		{ "\x0f\x01\xc2", INSN_ENTERS_VM },		/* vmlaunch */
		{ "\x0f\x01\xc3", INSN_ENTERS_VM },		/* vmresume */
		{ "\x0f\x01\xc1", INSN_CALLS_VMM },		/* vmcall */
	};
	struct insn insn;

	(void)state;
	for (size_t i = 0; i < sizeof(marked) / sizeof(marked[0]); i++) {
		assert_true(decode(&insn, ptem_64bit, IP, marked[i].bytes));
		assert_int_equal(insn.special, marked[i].special);
	}
}

static void bytes_that_are_no_instruction_are_none(void **state)
{
	static const char *const none[] = { "\x06", "\x9a", "\xd6" };	/* of 32-bit code only */
	struct insn insn;

	(void)state;
	assert_false(insn_decode(&insn, ptem_64bit, IP, (const uint8_t *)"", 0));
	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		char bytes[16] = { 0 };

		strcpy(bytes, none[i]);
		assert_false(decode(&insn, ptem_64bit, IP, bytes));
		assert_int_equal(insn.pt.iclass, ptic_error);
		assert_int_equal(insn.pt.size, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(instructions_have_size_class_and_target),
		cmocka_unit_test(what_may_turn_the_trace_off_is_marked),
		cmocka_unit_test(a_transaction_knows_where_its_abort_goes),
		cmocka_unit_test(a_check_of_bounds_is_no_interrupt),
		cmocka_unit_test(what_a_trace_says_more_of_is_marked),
		cmocka_unit_test(bytes_that_are_no_instruction_are_none),
	};

	return cmocka_run_group_tests_name("insn", tests, NULL, NULL);
}
