// SPDX-License-Identifier: GPL-2.0-only
/* Runs 100 PTWRITE instructions, each with another operand; one in ten of 32 bits. The CPU must have the instruction. */
#include <stdint.h>

int main(void)
{
	for (uint64_t i = 1; i <= 100; i++)
		if (i % 10)
			__asm__ volatile("ptwriteq %0" :: "r"(i << 32 | i));
		else
			__asm__ volatile("ptwritel %0" :: "r"((uint32_t)i));
	return 0;
}
