// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "named_function.h"
#include "suggest.h"

#define MOST_LISTED	8	/* functions of one name, in a message */

bool is_number(const char *text, uint64_t *value)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*value = strtoull(text, &end, 0);
	return !*end && !errno;
}

/* A function as an option names it. */
struct wanted {
	char *name;
	bool old;		/* there is none but for programs of old */
	bool global;		/* NAME#g */
	uint64_t number;	/* NAME#N; 0: any of that name */
};

/*
 * Is @symbol the function @name? Names of a module's functions have the module behind a blank, and those in full tables of
 * libraries the version behind "@".
 */
static bool is_named(const struct symbol *symbol, const char *name)
{
	const char *behind = symbol->name + strlen(name);

	return !strncmp(symbol->name, name, strlen(name)) && strchr(" @", *behind);
}

/*
 * The function @name that follows the function @before (NULL: the first one). A function may have its name twice, as a
 * weak alias of itself. With @old also one that only programs of old see.
 */
static const struct symbol *next_function(const struct symbols *symbols, const char *name, bool old, const struct symbol *before)
{
	const struct symbol *end = symbols->sym + symbols->count;

	for (const struct symbol *s = before ? before + 1 : symbols->sym; s < end; s++)
		if ((!before || s->addr != before->addr) && (old || !s->old) && is_named(s, name))
			return s;
	return NULL;
}

/* perf takes #0, #g and #G for the global function. Some languages have # in names. */
static struct wanted parse_function(const struct option_text *option, const struct symbols *symbols, const char *text)
{
	const char *hash = next_function(symbols, text, true, NULL) ? NULL : strrchr(text, '#');
	struct wanted w = { .name = strndup(text, hash ? (size_t)(hash - text) : strlen(text)) };

	if (!w.name)
		out_of_memory();
	w.old = !next_function(symbols, w.name, false, NULL);
	if (!hash)
		return w;
	if (!strcmp(hash, "#g") || !strcmp(hash, "#G"))
		w.global = true;
	else if (!is_number(hash + 1, &w.number))
		die(EXIT_USAGE, "%s %s: \"%s\" is no number: #2 is the second function of that name, #g the global one",
		    option->name, option->text, hash);
	else
		w.global = !w.number;
	return w;
}

static bool is_global(const struct symbols *symbols, const struct symbol *function, const char *name)
{
	const struct symbol *end = symbols->sym + symbols->count;

	for (const struct symbol *s = function; s < end && s->addr == function->addr; s++)
		if (s->global && is_named(s, name))
			return true;
	return false;
}

/* "usage#2 at 0x1234 (global, before main)"; of a module's function also the module. */
static void show_function(FILE *out, const struct symbols *symbols, const struct symbol *s, const char *name, uint64_t number)
{
	const struct symbol *end = symbols->sym + symbols->count, *next = s;
	const char *global = is_global(symbols, s, name) ? "global, " : "";

	while (next < end && next->addr == s->addr)
		next++;
	fprintf(out, "%s%s#%" PRIu64 " at %#" PRIx64 "%s", number > 1 ? ", " : "", name, number, s->addr,
		s->name[strlen(name)] == ' ' ? s->name + strlen(name) : "");
	if (next < end)
		fprintf(out, " (%sbefore %s)", global, next->name);
	else if (*global)
		fputs(" (global)", out);
}

/* All functions of the name, for a message, as perf lists them: the function that follows tells which source file one is from. */
static char *list_functions(const struct symbols *symbols, const struct wanted *w)
{
	const struct symbol *s = NULL;
	uint64_t count = 0;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		out_of_memory();
	while ((s = next_function(symbols, w->name, w->old, s)))
		if (++count <= MOST_LISTED)
			show_function(out, symbols, s, w->name, count);
	if (count > MOST_LISTED)
		fprintf(out, " and %" PRIu64 " more", count - MOST_LISTED);
	if (fclose(out))
		out_of_memory();
	return text;
}

static void __attribute__((noreturn)) die_unknown(const struct option_text *option, const struct symbols *symbols,
						  const char *name, const char *where)
{
	struct suggestions suggestions;

	suggest_begin(&suggestions, name);
	for (size_t i = 0; i < symbols->count; i++)
		suggest_offer(&suggestions, symbols->sym[i].name);
	die(EXIT_USAGE, "%s %s: %s has no function %s%s", option->name, option->text, where, name, suggest_text(&suggestions));
}

/* @count functions are of the name that is @w, and @globals of them global: @w is none of them, or not only one. */
static void __attribute__((noreturn)) die_undecided(const struct option_text *option, const struct symbols *symbols,
						    const struct wanted *w, const char *where, uint64_t count,
						    uint64_t globals)
{
	const char *list = list_functions(symbols, w);

	if (w->global && !globals)
		die(EXIT_USAGE, "%s %s: %s has no global function %s, only %s", option->name, option->text, where, w->name,
		    list);
	if (w->global)
		die(EXIT_USAGE, "%s %s: %s has %" PRIu64 " global functions %s: say which one, %s", option->name,
		    option->text, where, globals, w->name, list);
	if (w->number)
		die(EXIT_USAGE, "%s %s: %s has %" PRIu64 " function%s %s: %s", option->name, option->text, where, count,
		    count == 1 ? "" : "s", w->name, list);
	die(EXIT_USAGE, "%s %s: %s has %" PRIu64 " functions %s: say which one, %s%s%s%s", option->name, option->text, where,
	    count, w->name, list, globals == 1 ? "; " : "", globals == 1 ? w->name : "", globals == 1 ? "#g is the global one" : "");
}

const struct symbol *named_function(const struct option_text *option, const struct symbols *symbols, const char *text,
				    const char *where)
{
	struct wanted w = parse_function(option, symbols, text);
	const struct symbol *found = NULL, *s = NULL;
	uint64_t count = 0, globals = 0;

	while ((s = next_function(symbols, w.name, w.old, s))) {
		bool global = is_global(symbols, s, w.name);

		count++;
		globals += global;
		if (w.number ? count == w.number : !w.global || global)
			found = s;
	}
	if (!count)
		die_unknown(option, symbols, w.name, where);
	if (!found || (!w.number && (w.global ? globals : count) > 1))
		die_undecided(option, symbols, &w, where, count, globals);
	free(w.name);
	return found;
}
