// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elfutils/libdwfl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"

#define SYSTEM_PATH	":.debug:/usr/lib/debug"

struct debug_file {
	Dwfl_Callbacks callbacks;
	char *search;		/* where libdwfl looks for debug files */
	Dwfl *dwfl;
	Dwfl_Module *module;
};

/* libdwfl separates directories by colons: one with a colon in its name cannot be searched. */
static char *search_path(const char *symfs)
{
	char real[PATH_MAX], *path = NULL;

	if (!*symfs || !realpath(symfs, real) || strchr(real, ':'))
		return xstrdup(SYSTEM_PATH);
	if (asprintf(&path, ":.debug:%s/usr/lib/debug:/usr/lib/debug", real) < 0)
		out_of_memory();
	return path;
}

/* Addresses are those for which the file is linked, or, if it is to be linked yet, from @base on. */
static struct debug_file *open_at(const char *path, const char *symfs, GElf_Addr base)
{
	struct debug_file *file = xcalloc(1, sizeof(*file));

	file->search = search_path(symfs);
	file->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
		.debuginfo_path = &file->search,
	};
	file->dwfl = dwfl_begin(&file->callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, -1, base, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	if (!file->module) {
		debug_file_close(file);
		return NULL;
	}
	return file;
}

struct debug_file *debug_file_open(const char *path, const char *symfs)
{
	return open_at(path, symfs, 0);
}

struct debug_file *debug_file_open_module(const char *path)
{
	/* Not from 0 on: an address of 0 says that the linker left the code out. */
	return open_at(path, "", 0x100000);
}

/* Is @shndx of @elf code? The debug file has the program's section headers, but not their bytes. */
static bool is_code(Elf *elf, GElf_Word shndx)
{
	Elf_Scn *scn = elf_getscn(elf, shndx);
	GElf_Shdr sh;

	return scn && gelf_getshdr(scn, &sh) && sh.sh_flags & SHF_EXECINSTR;
}

static bool is_function(const GElf_Sym *sym, Elf *elf, GElf_Word shndx)
{
	switch (GELF_ST_TYPE(sym->st_info)) {
	case STT_FUNC:
	case STT_GNU_IFUNC:
		return shndx != SHN_UNDEF;
	case STT_NOTYPE:	/* hand-written assembly */
		return elf && shndx != SHN_UNDEF && is_code(elf, shndx);
	default:
		return false;
	}
}

/* Add the functions of the program's own table, or those of other tables. Returns false if there are none. */
static bool add_functions(struct debug_file *file, struct symbols *s, bool own)
{
	int count = dwfl_module_getsymtab(file->module);
	GElf_Addr bias;
	Elf *program = dwfl_module_getelf(file->module, &bias);
	bool found = false;

	for (int i = 1; i < count; i++) {
		GElf_Addr addr;
		GElf_Word shndx;
		GElf_Sym sym;
		Elf *elf = NULL;
		const char *name = dwfl_module_getsym_info(file->module, i, &sym, &addr, &shndx, &elf, NULL);

		if (!name || !*name || *name == '.' || (elf == program) != own || !is_function(&sym, elf, shndx))
			continue;
		/* A symbol without a size goes up to the next one, as the debug file has all. */
		symbols_add(s, sym.st_value, sym.st_size, GELF_ST_BIND(sym.st_info) == STB_GLOBAL, name);
		found = true;
	}
	return found;
}

bool debug_file_symbols(struct debug_file *file, struct symbols *s)
{
	if (!add_functions(file, s, false))
		return false;
	/* .gnu_debugdata has those alone that the dynamic table lacks. */
	add_functions(file, s, true);
	return true;
}

struct debug_file *program_symbols(struct symbols *s, const char *path, const struct mapped *image)
{
	struct debug_file *file = NULL;

	if (!image->data)
		return NULL;
	if (symbols_are_stripped(image->data, image->size))
		file = debug_file_open(path, "");
	if (file && !debug_file_symbols(file, s)) {
		debug_file_close(file);
		file = NULL;
	}
	symbols_from_elf(s, image->data, image->size);
	return file;
}

void debug_file_all_symbols(struct debug_file *file, struct symbols *s)
{
	int count = dwfl_module_getsymtab(file->module);

	for (int i = 1; i < count; i++) {
		GElf_Addr addr;
		GElf_Word shndx;
		GElf_Sym sym;
		Elf *elf = NULL;
		const char *name = dwfl_module_getsym_info(file->module, i, &sym, &addr, &shndx, &elf, NULL);

		if (name && *name && *name != '.' && is_function(&sym, elf, shndx))
			symbols_add(s, addr, sym.st_size, GELF_ST_BIND(sym.st_info) == STB_GLOBAL, name);
	}
}

Dwfl_Module *debug_file_module(struct debug_file *file)
{
	return file->module;
}

void debug_file_close(struct debug_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file->search);
	free(file);
}
