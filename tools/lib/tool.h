/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Messages, memory, numbers and files, for all of the command. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define EXIT_USAGE	2

/*
 * Traced programs choose the names of their files, functions and threads, and a terminal would obey what is in
 * them: control characters become question marks.
 */
void make_plain(char *text);
void print_plain(FILE *out, const char *text);

/* "auxtrace: MESSAGE" on stderr, plain but for the ends of its lines. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same, and false: for functions that return whether all is right. */
#define wrong(...)	(say(__VA_ARGS__), false)
/* The same as say(), and exit with @status. */
void die(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3), noreturn));
/* Exit with 1 unless it is @done: what failed has said why. */
void must(bool done);

/* Say that, and end the process. */
void out_of_memory(void) __attribute__((noreturn));
/* As malloc(3) and strdup(3), but without memory the process ends. */
void *xrealloc(void *p, size_t size);
void *xcalloc(size_t n, size_t size);
/* Make room for one more than the @count items of @list. It doubles at each power of two: nothing else may have allocated it. */
#define list_grow(list, count)	((list) = xgrow(list, count, sizeof(*(list))))
void *xgrow(void *list, size_t count, size_t size);
char *xstrdup(const char *s);

/* A number of bytes with an optional suffix K, M or G; dies for anything else. */
uint64_t parse_size(const char *option, const char *text);
/* A plain number from @min to @max; dies for anything else. */
uint64_t parse_number(const char *option, const char *text, uint64_t min, uint64_t max);

/* A file, mapped completely and privately. An empty file is NULL and 0. */
struct mapped {
	uint8_t *data;
	size_t size;
};
/*
 * Open @path for reading. Returns a file descriptor or a negative errno. Whoever made a recording may have put a pipe or
 * a device there, of which the opening alone may wait, or start something: these are EINVAL, and are not opened.
 */
struct stat;
int open_regular(const char *path, struct stat *st);
/* The same. Returns 0 or a negative errno. */
int map_file(const char *path, bool writable, struct mapped *m);
void unmap_file(struct mapped *m);
/* The same of a file to be read by lines. NULL with errno. */
FILE *open_text(const char *path);

#endif
