// SPDX-License-Identifier: GPL-2.0-only
/*
 * For the command under test (-Wl,--wrap=exit): who calls exit() leaves what it holds to the kernel. The compiler
 * may have overwritten the last pointer to that, so the leak checker looks only where main() returns.
 */
#include <stdbool.h>
#include <sanitizer/lsan_interface.h>

static bool left;

void __wrap_exit(int status) __attribute__((noreturn));
void __real_exit(int status) __attribute__((noreturn));

void __wrap_exit(int status)
{
	left = true;
	__real_exit(status);
}

/* The leak checker asks this before it begins. */
int __lsan_is_turned_off(void)
{
	return left;
}
