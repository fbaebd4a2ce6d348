// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source_text.h"
#include "tool.h"

#define MAX_SIZE	(64u << 20)
/* Bytes of a line that are shown */
#define MAX_LINE	240

struct source_file {
	struct source_file *next;
	char *path;
	char *text;		/* its lines end with 0 */
	const char **line;
	size_t count;
};

struct source_text {
	const char *symfs;
	time_t when;
	struct source_file *files;	/* the one that was asked for last comes first */
};

struct source_text *source_text_begin(const char *symfs, time_t when)
{
	struct source_text *t = xcalloc(1, sizeof(*t));

	t->symfs = symfs;
	t->when = when;
	return t;
}

void source_text_end(struct source_text *t)
{
	while (t->files) {
		struct source_file *f = t->files;

		t->files = f->next;
		free(f->path);
		free(f->text);
		free(f->line);
		free(f);
	}
	free(t);
}

/* The program names the file: it may be anything. */
static int open_source(const struct source_text *t, const char *path, struct stat *st)
{
	char below[8300];
	int fd = -1;

	if (*t->symfs && snprintf(below, sizeof(below), "%s%s", t->symfs, path) < (int)sizeof(below))
		fd = open_regular(below, st);
	return fd < 0 ? open_regular(path, st) : fd;
}

static void add_line(struct source_file *f, char *line)
{
	char *end;

	for (char *c = line; *c; c++)
		if (isspace((unsigned char)*c))
			*c = ' ';
	make_plain(line);
	line += strspn(line, " ");
	end = line + strlen(line);
	while (end > line && end[-1] == ' ')
		*--end = 0;
	if (end - line > MAX_LINE + 3) {
		/* Not within a character of several bytes. */
		for (end = line + MAX_LINE; (*end & 0xc0) == 0x80 && end > line; end--)
			;
		strcpy(end, "...");
	}
	list_grow(f->line, f->count);
	f->line[f->count++] = line;
}

static void read_lines(struct source_file *f, int fd, size_t size)
{
	ssize_t n;

	f->text = xcalloc(1, size + 1);
	n = read(fd, f->text, size);
	f->text[n > 0 ? n : 0] = 0;
	for (char *at = f->text, *line; (line = strsep(&at, "\n"));)
		add_line(f, line);
}

static struct source_file *read_file(struct source_text *t, const char *path)
{
	struct source_file *f = xcalloc(1, sizeof(*f));
	struct stat st;
	int fd = open_source(t, path, &st);

	f->path = xstrdup(path);
	if (fd < 0)
		return f;
	if (st.st_size <= MAX_SIZE) {
		read_lines(f, fd, st.st_size);
		if (st.st_mtime > t->when)
			say("%s has changed since the recording: its text may not be that of what ran", path);
	}
	close(fd);
	return f;
}

/* Take the file out of the list, or read it. */
static struct source_file *find_file(struct source_text *t, const char *path)
{
	for (struct source_file **at = &t->files; *at; at = &(*at)->next) {
		struct source_file *f = *at;

		if (strcmp(f->path, path))
			continue;
		*at = f->next;
		return f;
	}
	return read_file(t, path);
}

const char *source_text_line(struct source_text *t, const char *path, unsigned int number)
{
	struct source_file *f = find_file(t, path);

	f->next = t->files;
	t->files = f;
	return number && number <= f->count ? f->line[number - 1] : NULL;
}
