// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *slurp(FILE *f)
{
	size_t size = 0, got;
	char *text = NULL;

	do {
		text = realloc(text, size + 65537);
		assert_non_null(text);
		got = fread(text + size, 1, 65536, f);
		size += got;
	} while (got);
	text[size] = 0;
	return text;
}

const struct result *run_auxtrace(const char *arguments)
{
	static struct result result;
	char errors[] = "/tmp/auxtrace-err.XXXXXX", command[1024];
	const char *program = getenv("AUXTRACE");
	int fd = mkstemp(errors), status;
	FILE *f;

	assert_true(fd >= 0);
	assert_non_null(program);
	free(result.out);
	free(result.err);
	snprintf(command, sizeof(command), "%s %s 2>%s", program, arguments, errors);
	f = popen(command, "r");
	assert_non_null(f);
	result.out = slurp(f);
	status = pclose(f);
	result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	f = fdopen(fd, "r");
	result.err = slurp(f);
	fclose(f);
	unlink(errors);
	return &result;
}

void expect_part(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("not there: \"%s\"\nin: %s", part, text);
}
