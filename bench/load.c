// SPDX-License-Identifier: GPL-2.0-only
#include "load.h"

static __attribute__((noinline)) unsigned int up(unsigned int x)
{
	return x * 5 + 1;
}

static __attribute__((noinline)) unsigned int down(unsigned int x)
{
	return x ^ x >> 3;
}

static unsigned int (*const volatile steps[])(unsigned int) = { up, down };

void load(void)
{
	static volatile unsigned int x = 1;

	for (int i = 0; i < 100; i++)
		x = steps[x & 1](x);
}
