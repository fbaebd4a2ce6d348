// SPDX-License-Identifier: GPL-2.0-only
#include "scratch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

char dir[64];

int scratch_begin(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	strcpy(dir, "/tmp/auxtrace-scratch.XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	return !f || fputs(text, f) < 0 || fclose(f) ? -1 : 0;
}

int scratch_end(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

void run(const char *format, ...)
{
	char text[2048], command[2200];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	snprintf(command, sizeof(command), "set -e; cd %s; %s", dir, text);
	if (system(command))
		fail_msg("failed: %s", command);
}
