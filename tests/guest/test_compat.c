// SPDX-License-Identifier: GPL-2.0-only
/* 32-bit programs: their structs are those of 64-bit ones, and they can map every CPU. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "machine.h"
#include "pmu.h"
#include "uapi.h"

/* compat32.c, linked: see the Makefile. */
asm(".section .rodata\n"
    "compat32:\n\t.incbin \"" COMPAT32 "\"\n"
    "compat32_end:\n"
    ".previous");
extern const char compat32[], compat32_end[];

static int run_compat32(void *arg)
{
	char cpu[16], pmu[16];
	char *argv[] = { "compat32", cpu, pmu, NULL }, *envp[] = { NULL };
	int fd = memfd_create("compat32", MFD_CLOEXEC);

	snprintf(cpu, sizeof(cpu), "%d", *(int *)arg);
	snprintf(pmu, sizeof(pmu), "%d", under_bts() ? AUXTRACE_PMU_INTEL_BTS : AUXTRACE_PMU_INTEL_PT);
	if (write(fd, compat32, compat32_end - compat32) != compat32_end - compat32)
		return 119;
	fexecve(fd, argv, envp);
	return 118;
}

static void runs_on(int cpu)
{
	int ret;

	assert_int_equal(cpu_pin(cpu), 0);
	ret = child_run(run_compat32, &cpu);
	if (ret == 118)
		skip_test("this kernel runs no 32-bit programs");
	if (ret)
		fail_msg("step %d of compat32.c failed", ret);
}

static void a_32_bit_program_uses_every_call(void **state)
{
	runs_on(first_cpu);
	/* The offset of its mappings has the CPU in it. */
	runs_on(last_cpu);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_32_bit_program_uses_every_call),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
