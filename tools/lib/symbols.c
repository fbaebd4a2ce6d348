// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "tool.h"
#include "userlib/search.h"

#define VERSYM_HIDDEN	0x8000	/* of an entry of SHT_GNU_versym: it is not the default version */

void symbols_add(struct symbols *s, uint64_t addr, uint64_t size, bool global, const char *name)
{
	if (s->count == s->space) {
		s->space = s->space ? 2 * s->space : 256;
		s->sym = xrealloc(s->sym, s->space * sizeof(*s->sym));
	}
	s->sym[s->count++] = (struct symbol){ .addr = addr, .size = size, .name = name, .global = global };
}

/* Is @name what glibc's own code calls an exported function, or one of its versions? */
static bool is_alias(const char *name)
{
	return !strncmp(name, "__GI_", 5) || strchr(name, '@');
}

/*
 * Of several names of one address symbols_find() takes the last: one with a size, and one that is not an alias
 * that only the full table has.
 */
static int by_address(const void *a, const void *b)
{
	const struct symbol *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (!x->size != !y->size)
		return x->size ? 1 : -1;
	if (is_alias(x->name) != is_alias(y->name))
		return is_alias(x->name) ? -1 : 1;
	return -strcmp(x->name, y->name);
}

void symbols_sort(struct symbols *s)
{
	if (s->count)
		qsort(s->sym, s->count, sizeof(*s->sym), by_address);
}

/* Bytes from a symbol without a size to the end of its section. */
static uint64_t left_of_section(Elf *elf, const GElf_Sym *sym)
{
	Elf_Scn *scn = elf_getscn(elf, sym->st_shndx);
	GElf_Shdr sh;

	if (!scn || !gelf_getshdr(scn, &sh) || sym->st_value < sh.sh_addr ||
	    sym->st_value >= sh.sh_addr + sh.sh_size)
		return 0;
	return sh.sh_addr + sh.sh_size - sym->st_value;
}

/* The versions of the symbols in the dynamic table @index, or NULL. */
static Elf_Data *versions_of(Elf *elf, size_t index)
{
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_GNU_versym && sh.sh_link == index)
			return elf_getdata(scn, NULL);
	}
	return NULL;
}

/* A full table has the version in the name, behind @ or, if it is the default one, behind @@. */
static bool is_old(Elf_Data *versions, size_t i, const char *name)
{
	GElf_Versym version;

	if (versions)
		return gelf_getversym(versions, (int)i, &version) && version & VERSYM_HIDDEN;
	return strchr(name, '@') && !strstr(name, "@@");
}

static void add_table(struct symbols *s, Elf *elf, Elf_Scn *scn, const GElf_Shdr *sh)
{
	Elf_Data *data = elf_getdata(scn, NULL), *versions = versions_of(elf, elf_ndxscn(scn));
	uint64_t size;

	if (!data || !sh->sh_entsize)
		return;
	for (size_t i = 0; i < sh->sh_size / sh->sh_entsize; i++) {
		const char *name;
		GElf_Sym sym;

		if (!gelf_getsym(data, i, &sym) || sym.st_shndx == SHN_UNDEF || !sym.st_value)
			continue;
		/* Hand-written assembly has functions without a type. */
		switch (GELF_ST_TYPE(sym.st_info)) {
		case STT_FUNC:
		case STT_GNU_IFUNC:
		case STT_NOTYPE:
			break;
		default:
			continue;
		}
		name = elf_strptr(elf, sh->sh_link, sym.st_name);
		if (!name || !*name || *name == '.')
			continue;
		/*
		 * The dynamic table lacks most functions: what follows a symbol without a size may be one that
		 * has no name here. Only its first byte is surely its own.
		 */
		size = sh->sh_type == SHT_DYNSYM ? 1 : left_of_section(elf, &sym);
		symbols_add(s, sym.st_value, sym.st_size ?: size, GELF_ST_BIND(sym.st_info) == STB_GLOBAL, name);
		s->sym[s->count - 1].old = is_old(versions, i, name);
	}
}

/* Linkage stubs have no symbols: name them after their sections. */
static void add_stubs(struct symbols *s, Elf *elf, const GElf_Shdr *sh)
{
	const char *name;
	size_t strings;

	if (elf_getshdrstrndx(elf, &strings))
		return;
	name = elf_strptr(elf, strings, sh->sh_name);
	if (name && !strncmp(name, ".plt", 4) && sh->sh_size)
		symbols_add(s, sh->sh_addr, sh->sh_size, false, name);
}

void symbols_from_elf(struct symbols *s, const uint8_t *image, size_t size)
{
	GElf_Word wanted[] = { SHT_SYMTAB, SHT_DYNSYM };
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, size);
	if (!elf)
		return;
	/* The full table, if there is one, has all names of the dynamic one. */
	for (unsigned int i = 0; i < ARRAY_SIZE(wanted) && !s->count; i++) {
		Elf_Scn *scn = NULL;

		while ((scn = elf_nextscn(elf, scn))) {
			GElf_Shdr sh;

			if (gelf_getshdr(scn, &sh) && sh.sh_type == wanted[i])
				add_table(s, elf, scn, &sh);
		}
	}
	for (Elf_Scn *scn = NULL; (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh))
			add_stubs(s, elf, &sh);
	}
	/* The names point into the image, which stays mapped. */
	elf_end(elf);
	symbols_sort(s);
}

bool symbols_are_stripped(const uint8_t *image, size_t size)
{
	bool stripped = true;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, size);
	if (!elf || elf_kind(elf) != ELF_K_ELF)
		stripped = false;
	for (Elf_Scn *scn = NULL; stripped && (scn = elf_nextscn(elf, scn));) {
		GElf_Shdr sh;

		if (gelf_getshdr(scn, &sh) && sh.sh_type == SHT_SYMTAB)
			stripped = false;
	}
	elf_end(elf);
	return stripped;
}

/* A line of kallsyms. There are so many that sscanf() would take longer than a short decode. */
struct line {
	uint64_t addr;
	char type;
	const char *name, *module;	/* NULL: it is the kernel's own */
};

/* Takes @text apart. Returns false if it is not such a line. */
static bool parse_line(struct line *l, char *text)
{
	const char *blanks = " \t\n";
	char *at, *addr = strtok_r(text, blanks, &at), *type = strtok_r(NULL, blanks, &at);

	l->name = strtok_r(NULL, blanks, &at);
	l->module = strtok_r(NULL, blanks, &at);
	if (!l->name)
		return false;
	l->addr = strtoull(addr, NULL, 16);
	l->type = *type;
	return true;
}

int symbols_from_kallsyms(struct symbols *s, const char *path)
{
	size_t size = 0, used = 0, space = 0;
	char *line = NULL;
	ssize_t length;
	FILE *f = open_text(path);

	if (!f)
		return -errno;
	while ((length = getline(&line, &size, f)) > 0) {
		struct line l;

		if (!parse_line(&l, line) || !l.addr || !strchr("tTwW", l.type))
			continue;
		/* The name and the module are shorter than the line that they are from. */
		while (space < used + length) {
			space = space ? 2 * space : 1 << 20;
			s->names = xrealloc(s->names, space);
		}
		/* realloc() may move the names: store offsets, and make them pointers below. */
		symbols_add(s, l.addr, 0, isupper((unsigned char)l.type), (const char *)used);
		used = stpcpy(s->names + used, l.name) - s->names;
		if (l.module)
			used = stpcpy(stpcpy(s->names + used, " "), l.module) - s->names;
		used++;
	}
	free(line);
	fclose(f);
	for (size_t i = 0; i < s->count; i++)
		s->sym[i].name = s->names + (uintptr_t)s->sym[i].name;
	symbols_sort(s);
	return 0;
}

struct symbol *symbols_find(const struct symbols *s, uint64_t addr)
{
	struct symbol *sym;
	size_t i;

	find_first(i, s->count, s->sym[i].addr > addr);
	if (!i)
		return NULL;
	sym = &s->sym[i - 1];
	return !sym->size || addr - sym->addr < sym->size ? sym : NULL;
}

bool symbols_is_padding(const char *name)
{
	return !strncmp(name, "__pfx_", 6) || !strncmp(name, "__SCT__", 7);
}

void symbols_free(struct symbols *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->sym[i].demangled);
	free(s->sym);
	free(s->names);
	*s = (struct symbols){ 0 };
}
