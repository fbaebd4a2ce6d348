// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the command says. libauxtrace-decode has its own: decodelib/say.c. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say_hook.h"
#include "tool.h"

static void vsay(const char *format, va_list ap)
{
	struct say_hook *hook = say_hook();
	char *text;

	if (!hook)
		fflush(stdout);
	if (vasprintf(&text, format, ap) < 0)
		return;
	if (hook) {
		hook->say(hook, text);
		free(text);
		return;
	}
	fputs("auxtrace: ", stderr);
	for (char *line = text, *end; line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = 0;
		print_plain(stderr, line);
		putc('\n', stderr);
	}
	free(text);
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
	struct say_hook *hook = say_hook();
	char last[512];
	va_list ap;

	va_start(ap, format);
	if (hook) {
		/* There may be no memory. */
		vsnprintf(last, sizeof(last), format, ap);
		hook->die(hook, last);
	}
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
