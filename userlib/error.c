// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdarg.h>

#include "internal.h"

static __thread char sentence[1024];

AUXTRACE_API const char *auxtrace_error(void)
{
	return sentence;
}

int fail(int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(sentence, sizeof(sentence), format, ap);
	va_end(ap);
	errno = err;
	return -1;
}
