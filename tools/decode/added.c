// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "added.h"
#include "lib/bpf_image.h"
#include "lib/tool.h"
#include "reported.h"
#include "userlib/search.h"

#define UNIT	64ull

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
	code.named = code.start;
	code.until = code.until ?: UINT64_MAX;
	list_grow(a->code, a->count);
	a->code[a->count++] = code;
	return true;
}

static int by_start(const void *x, const void *y)
{
	const struct added_code *a = x, *b = y;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return a->read < b->read ? -1 : a->read > b->read;
}

static bool begins_at(const struct added *a, uint64_t address)
{
	size_t i;

	find_first(i, a->count, a->code[i].start >= address);
	return i < a->count && a->code[i].start == address;
}

/* The kernel gives generated code whole units of 64 bytes, and fills those that are free with int3. */
static uint64_t end_before_free_unit(const struct added_code *code)
{
	for (uint64_t at = (code->start + UNIT - 1) & -UNIT; at < code->end && code->end - at >= UNIT; at += UNIT) {
		const uint8_t *unit = code->bytes + (at - code->start);

		if (at > code->start && *unit == INT3 && !memcmp(unit, unit + 1, UNIT - 1))
			return at;
	}
	return code->end;
}

/*
 * The kernel reports a trampoline as a page, and may have given the rest of the page to others. A symbol that nobody has
 * reported meanwhile was there all the time.
 */
static void cut_trampoline(const struct added *a, struct added_code *code, const struct symbols *kallsyms)
{
	size_t i;

	if (!code->name || !bpf_is_image(code->name))
		return;
	code->end = end_before_free_unit(code);
	find_first(i, kallsyms->count, kallsyms->sym[i].addr > code->start);
	for (; i < kallsyms->count && kallsyms->sym[i].addr < code->end; i++)
		if (!begins_at(a, kallsyms->sym[i].addr))
			code->end = kallsyms->sym[i].addr;
}

static void read_file(struct added *a, const char *path)
{
	char *line = NULL;
	size_t room = 0;
	FILE *f;

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
}

void added_open(struct added *a, const char *path, const struct side *side, const struct symbols *kallsyms)
{
	*a = (struct added){ 0 };
	read_file(a, path);
	reported_add(a, side, kallsyms);
	if (a->count)
		qsort(a->code, a->count, sizeof(*a->code), by_start);
	for (size_t i = 0; i < a->count; i++) {
		const struct added_code *code = &a->code[i];

		if (code->end - code->start > a->longest)
			a->longest = code->end - code->start;
		cut_trampoline(a, &a->code[i], kallsyms);
	}
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

/* Of code that was not there at @tsc: does @a come sooner after that than @b, or went it later? */
static bool is_nearer(const struct added_code *a, const struct added_code *b, uint64_t tsc)
{
	if (!b)
		return true;
	if (a->from > tsc && b->from > tsc)
		return a->from <= b->from;
	return a->from > tsc || (b->from <= tsc && a->until >= b->until);
}

/* The first that may reach @ip. */
static size_t first_near(const struct added *a, uint64_t ip)
{
	size_t i;

	find_first(i, a->count, a->code[i].start > ip || ip - a->code[i].start < a->longest);
	return i;
}

const struct added_code *added_find(const struct added *a, uint64_t tsc, uint64_t ip, bool in_kcore, uint64_t kcore_tsc)
{
	const struct added_code *there = NULL, *nearest = NULL;
	bool known = !in_kcore;	/* what kcore has at @ip */

	for (size_t i = first_near(a, ip); i < a->count && a->code[i].start <= ip; i++) {
		const struct added_code *code = &a->code[i];

		if (code->end <= ip)
			continue;
		known |= was_there(code, kcore_tsc);
		/* The last one begins closest to @ip; of two readings of the same code it is the later one. */
		if (was_there(code, tsc))
			there = code;
		else if (is_nearer(code, nearest, tsc))
			nearest = code;
	}
	if (there)
		return in_kcore && was_there(there, kcore_tsc) ? NULL : there;
	return known ? nearest : NULL;
}

void added_span(const struct added *a, uint64_t ip, size_t size, struct code_span *span)
{
	for (size_t i = first_near(a, ip); i < a->count && a->code[i].start < ip + size; i++) {
		const struct added_code *code = &a->code[i];

		if (code->end <= ip)
			continue;
		code_span_cut(span, code->from);
		code_span_cut(span, code->read);
		if (code->until != UINT64_MAX)
			code_span_cut(span, code->until);
	}
}
