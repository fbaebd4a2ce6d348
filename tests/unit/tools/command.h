/* SPDX-License-Identifier: GPL-2.0-only */
/* Runs the auxtrace command that $AUXTRACE names, and keeps what it said. */
#ifndef COMMAND_H
#define COMMAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

struct result {
	int status;		/* exit status; 128 + signal */
	char *out, *err;
};

/* @arguments: as a shell takes them. The result is valid until the next call. */
const struct result *run_auxtrace(const char *arguments);

/* The running test fails unless @text has @part. */
void expect_part(const char *text, const char *part);

#endif
