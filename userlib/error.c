// SPDX-License-Identifier: LGPL-2.1-or-later
/* The message of the last call that failed, one for each thread. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "internal.h"

static __thread char message[MESSAGE_SIZE];

AUXTRACE_API const char *auxtrace_error(void)
{
	return message;
}

void fail_forget(void)
{
	*message = 0;
}

int fail(int err, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	errno = err;
	return -1;
}

void fail_keep(struct failure *failure)
{
	failure->err = errno;
	strcpy(failure->message, message);
}

int fail_again(const struct failure *failure)
{
	strcpy(message, failure->message);
	errno = failure->err;
	return -1;
}
