// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "added.h"
#include "lib/tool.h"
#include "userlib/search.h"

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* @text has @size bytes as two digits each. NULL: it has not. */
static uint8_t *parse_bytes(const char *text, size_t size)
{
	uint8_t *bytes = xcalloc(size, 1);

	for (size_t i = 0; i < size; i++) {
		int high = hex_digit(text[2 * i]), low = high < 0 ? -1 : hex_digit(text[2 * i + 1]);

		if (low < 0) {
			free(bytes);
			return NULL;
		}
		bytes[i] = high << 4 | low;
	}
	return bytes;
}

/* "added ADDRESS BEGIN END READ BYTES NAME" */
static bool take(struct added *a, char *line)
{
	struct added_code code;
	int at = 0, end = 0;
	size_t size;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "added %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %n%*s%n", &code.start, &code.from,
		   &code.until, &code.read, &at, &end) != 4 || end <= at || (end - at) % 2 || line[end] != ' ')
		return false;
	size = (end - at) / 2;
	code.end = code.start + size;
	if (code.end < code.start)
		return false;
	code.bytes = parse_bytes(line + at, size);
	if (!code.bytes)
		return false;
	code.name = xstrdup(line + end + 1);
	code.until = code.until ?: UINT64_MAX;
	list_grow(a->code, a->count);
	a->code[a->count++] = code;
	if (size > a->longest)
		a->longest = size;
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct added_code *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->read < b->read ? -1 : a->read > b->read;
}

void added_open(struct added *a, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f;

	*a = (struct added){ 0 };
	f = open_text(path);
	if (!f)
		return;
	for (unsigned int n = 1; getline(&line, &room, f) > 0; n++)
		if (!take(a, line)) {
			say("%s: line %u is not 'added ADDRESS BEGIN END READ BYTES NAME': the rest is not read", path, n);
			break;
		}
	free(line);
	fclose(f);
	if (a->count)
		qsort(a->code, a->count, sizeof(*a->code), by_start);
}

void added_close(struct added *a)
{
	for (size_t i = 0; i < a->count; i++) {
		free(a->code[i].bytes);
		free(a->code[i].name);
	}
	free(a->code);
	*a = (struct added){ 0 };
}

static bool was_there(const struct added_code *code, uint64_t tsc)
{
	return tsc >= code->from && (tsc < code->until || code->until == UINT64_MAX);
}

/* Is @a, which comes later in the table than @b, a better answer for @tsc? */
static bool better(const struct added_code *a, const struct added_code *b, uint64_t tsc)
{
	if (!b)
		return true;
	/* Of two readings of the same code the later one. */
	if (was_there(a, tsc) || was_there(b, tsc))
		return was_there(a, tsc);
	if (a->from > tsc && b->from > tsc)
		return a->from <= b->from;
	return a->from > tsc || (b->from <= tsc && a->until >= b->until);
}

const struct added_code *added_find(const struct added *a, uint64_t tsc, uint64_t ip, bool kcore, uint64_t kcore_tsc)
{
	const struct added_code *found = NULL;
	size_t i;

	find_first(i, a->count, a->code[i].start + a->longest > ip);
	for (; i < a->count && a->code[i].start <= ip; i++) {
		const struct added_code *code = &a->code[i];

		if (code->end <= ip)
			continue;
		/* kcore has the same, as it was later. */
		if (kcore && (!was_there(code, tsc) || was_there(code, kcore_tsc)))
			continue;
		if (better(code, found, tsc))
			found = code;
	}
	return found;
}

void added_span(const struct added *a, uint64_t ip, size_t size, struct code_span *span)
{
	size_t i;

	find_first(i, a->count, a->code[i].start + a->longest > ip);
	for (; i < a->count && a->code[i].start < ip + size; i++) {
		const struct added_code *code = &a->code[i];

		code_span_cut(span, code->from);
		code_span_cut(span, code->read);
		if (code->until != UINT64_MAX)
			code_span_cut(span, code->until);
	}
}
