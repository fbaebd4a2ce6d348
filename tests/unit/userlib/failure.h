/* SPDX-License-Identifier: GPL-2.0-only */
/* What a call of the library that fails leaves: an errno, and a message about this failure. */
#ifndef FAILURE_H
#define FAILURE_H

#include "fakedev.h"

#include <errno.h>
#include <string.h>

#include <auxtrace.h>

/*
 * userlib/error.c: from now on there is no message. userlib/internal.h cannot be included: cmocka
 * has a macro with the name of the library's fail().
 */
void fail_forget(void);

/* The last message has the text. */
#define says(text) do {							\
	if (!strstr(auxtrace_error(), text))				\
		fail_msg("\"%s\" is not in: %s", text, auxtrace_error());	\
} while (0)

/* @failed, the call's outcome, is true. What errno was before the call is not its error. */
#define fails_as(err, failed) do {					\
	fail_forget();							\
	errno = EXDEV;							\
	assert_true(failed);						\
	assert_int_equal(errno, err);					\
	if (!*auxtrace_error())						\
		fail_msg("no message: %s", #failed);			\
} while (0)

/* For calls that return -1, and for those that return NULL. */
#define fails(err, call)	fails_as(err, (call) == -1)
#define fails_null(err, call)	fails_as(err, !(call))

#endif
