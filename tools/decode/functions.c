// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "functions.h"
#include "lib/tool.h"

static uint32_t add_to_hash(uint32_t hash, const char *s)
{
	for (; s && *s; s++)
		hash = (hash ^ (unsigned char)*s) * 16777619;
	return hash;
}

static uint32_t hash_of(const char *name, const char *object)
{
	return add_to_hash((add_to_hash(2166136261u, name) ^ 0xff) * 16777619, object);
}

static bool same(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

static void grow(struct functions *f)
{
	size_t buckets = f->buckets ? 4 * f->buckets : 1024;
	struct function **bucket = xcalloc(buckets, sizeof(*bucket));

	for (size_t i = 0; i < f->buckets; i++)
		while (f->bucket[i]) {
			struct function *function = f->bucket[i], **to;

			f->bucket[i] = function->chain;
			to = &bucket[hash_of(function->name, function->object) % buckets];
			function->chain = *to;
			*to = function;
		}
	free(f->bucket);
	f->bucket = bucket;
	f->buckets = buckets;
}

static struct function *find_or_add(struct functions *f, const struct call *call)
{
	const char *name = call->name.function, *object = call->name.object;
	uint32_t hash = hash_of(name, object);
	struct function *function;

	if (f->count >= f->buckets)
		grow(f);
	for (function = f->bucket[hash % f->buckets]; function; function = function->chain)
		if (same(function->name, name) && same(function->object, object))
			return function;
	function = xcalloc(1, sizeof(*function));
	function->name = name ? xstrdup(name) : NULL;
	function->object = object ? xstrdup(object) : NULL;
	function->kernel = code_is_kernel(call->ip);
	function->index = f->count++;
	function->chain = f->bucket[hash % f->buckets];
	f->bucket[hash % f->buckets] = function;
	return function;
}

struct function *functions_find(struct functions *f, const struct call *call)
{
	const char *name = call->name.function, *object = call->name.object;
	struct function **known = &f->known[((uintptr_t)name / 4 + (uintptr_t)object) % FUNCTIONS_KNOWN];

	if (!*known || !same((*known)->name, name) || !same((*known)->object, object))
		*known = find_or_add(f, call);
	return *known;
}

const struct function **functions_list(const struct functions *f)
{
	const struct function **list = xcalloc(f->count + 1, sizeof(*list));

	for (size_t i = 0; i < f->buckets; i++)
		for (const struct function *function = f->bucket[i]; function; function = function->chain)
			list[function->index] = function;
	return list;
}

void functions_free(struct functions *f)
{
	for (size_t i = 0; i < f->buckets; i++)
		while (f->bucket[i]) {
			struct function *function = f->bucket[i];

			f->bucket[i] = function->chain;
			free(function->name);
			free(function->object);
			free(function);
		}
	free(f->bucket);
	*f = (struct functions){ 0 };
}

static bool is_named(const char *name, const char *object, const char *text)
{
	const char *at = strchr(text, '@');
	size_t length = at ? (size_t)(at - text) : strlen(text);

	if (!name || strncmp(name, text, length))
		return false;
	/* A function of a kernel module has the module's name behind it, one of C++ its parameters. */
	if (name[length] && name[length] != '(' && strncmp(name + length, " [", 2))
		return false;
	return !at || (object && !strcmp(object, at + 1));
}

bool function_is(const struct function *f, const char *text)
{
	return is_named(f->name, f->object, text);
}

bool call_is_of(const struct call *call, const char *text)
{
	return is_named(call->name.function, call->name.object, text);
}

void function_print(const struct function *f)
{
	print_plain(stdout, f->name ?: "[no symbol]");
	if (f->object && !(f->name && f->kernel)) {
		fputs(" (", stdout);
		print_plain(stdout, f->object);
		putchar(')');
	}
}
