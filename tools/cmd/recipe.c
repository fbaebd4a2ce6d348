// SPDX-License-Identifier: GPL-2.0-only
#include "recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tool.h"

static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%";

static void put_quoted(FILE *out, const char *word)
{
	if (*word && strspn(word, plain) == strlen(word)) {
		fputs(word, out);
		return;
	}
	putc('\'', out);
	for (; *word; word++) {
		if (*word == '\'')
			fputs("'\\''", out);
		else
			putc(*word, out);
	}
	putc('\'', out);
}

void recipe_begin(struct recipe *r, const char *subcommand)
{
	r->out = open_memstream(&r->line, &r->size);
	if (!r->out)
		out_of_memory();
	put_quoted(r->out, program_invocation_name);
	recipe_word(r, subcommand);
}

void recipe_begin_recorder(struct recipe *r, const char *dir)
{
	recipe_begin(r, "record");
	recipe_word(r, "-o");
	recipe_word(r, dir);
	recipe_word(r, "--overwrite");
}

void recipe_word(struct recipe *r, const char *word)
{
	putc(' ', r->out);
	put_quoted(r->out, word);
}

void recipe_command(struct recipe *r, char *const *argv)
{
	fputs(" --", r->out);
	for (; *argv; argv++)
		recipe_word(r, *argv);
}

void recipe_text(struct recipe *r, const char *text)
{
	fputs(text, r->out);
}

int recipe_run(struct recipe *r)
{
	int status;

	if (fclose(r->out))
		out_of_memory();
	fprintf(stderr, "+ %s\n", r->line);
	status = system(r->line);
	if (status < 0)
		die(1, "cannot run sh: %s", strerror(errno));
	free(r->line);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool recipe_recorded(int status)
{
	return status != EXIT_USAGE && (status < 125 || status > 127);
}

char *recipe_program(const char *option, const char *name)
{
	const char *dir = getenv("PATH") ?: "/usr/bin:/bin";
	char path[4096], *found;

	if (strchr(name, '/')) {
		found = realpath(name, NULL);
		if (!found)
			die(EXIT_USAGE, "%s: %s: %s", option, name, strerror(errno));
		return found;
	}
	for (;; dir++) {
		int length = strcspn(dir, ":");

		snprintf(path, sizeof(path), "%.*s/%s", length, dir, name);
		if (length && !access(path, X_OK)) {
			found = realpath(path, NULL);
			if (found)
				return found;
		}
		dir += length;
		if (!*dir)
			die(EXIT_USAGE, "%s: no program %s in PATH; a library is named by its path", option, name);
	}
}
