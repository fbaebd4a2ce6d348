// SPDX-License-Identifier: GPL-2.0
/* What the command says. libauxtrace-decode has its own: decodelib/say.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "tool.h"

static void vsay(const char *format, va_list ap)
{
	fflush(stdout);
	fputs("auxtrace: ", stderr);
	vfprintf(stderr, format, ap);
	putc('\n', stderr);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsay(format, ap);
	va_end(ap);
}

void die(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsay(format, ap);
	va_end(ap);
	exit(status);
}

void must(bool done)
{
	if (!done)
		exit(1);
}

void out_of_memory(void)
{
	die(1, "out of memory");
}
