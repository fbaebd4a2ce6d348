// SPDX-License-Identifier: LGPL-2.1-or-later
/* What the decoder says goes to its user: see tools/lib/tool.h. The message of the last error, one for each thread. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decoder.h"
#include "lib/say_hook.h"

static __thread const struct auxtrace_decoder *hearer;
static __thread char said[1024], error[1024];

const struct auxtrace_decoder *say_to(const struct auxtrace_decoder *d)
{
	const struct auxtrace_decoder *before = hearer;

	hearer = d;
	*said = 0;
	return before;
}

void say_back(const struct auxtrace_decoder *before)
{
	hearer = before;
}

void say(const char *format, ...)
{
	char text[sizeof(said)];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	if (say_hook()) {
		say_hook()->say(say_hook(), text);
		return;
	}
	make_plain(text);
	if (hearer && hearer->options.message)
		hearer->options.message(hearer->options.context, text);
	/* Now: who hears it may use another decoder. */
	strcpy(said, text);
}

void out_of_memory(void)
{
	abort();
}

int decoder_fail(int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(error, sizeof(error), format, ap);
	va_end(ap);
	errno = err;
	return -1;
}

int decoder_fail_as_said(int err)
{
	strcpy(error, said);
	errno = err;
	return -1;
}

DECODE_API const char *auxtrace_decoder_error(void)
{
	return error;
}
