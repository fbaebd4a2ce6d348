/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of addresses: a sorted table, filled from an ELF image or kallsyms. */
#ifndef SYMBOLS_H
#define SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct symbol {
	uint64_t addr;
	uint64_t size;		/* 0: up to the next symbol */
	const char *name;
	char *demangled;	/* symbol_shown() keeps it here */
	bool global;		/* other files of its program, or of the kernel, see it */
	bool old;		/* of a library: only programs that were built with an earlier version of it see it */
};

struct symbols {
	struct symbol *sym;
	size_t count, space;
	char *names;		/* storage of the names from kallsyms */
};

/* Add one of which @name stays valid. symbols_sort() comes before the next symbols_find(). */
void symbols_add(struct symbols *s, uint64_t addr, uint64_t size, bool global, const char *name);
void symbols_sort(struct symbols *s);
/* Add the functions of an ELF image of @size bytes, if it has any. The dynamic ones only if @s has none. */
void symbols_from_elf(struct symbols *s, const uint8_t *image, size_t size);
/* Is it an ELF file that has no full table of symbols? A separate debug file may have it. */
bool symbols_are_stripped(const uint8_t *image, size_t size);
/* Add the functions of the kernel and its modules. Returns 0 or a negative errno. */
int symbols_from_kallsyms(struct symbols *s, const char *path);
/* The function that contains @addr, or NULL. */
struct symbol *symbols_find(const struct symbols *s, uint64_t addr);
/* Names of padding before kernel functions, and of static calls' trampolines. */
bool symbols_is_padding(const char *name);
void symbols_free(struct symbols *s);

#endif
