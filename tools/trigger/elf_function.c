// SPDX-License-Identifier: GPL-2.0-only
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "elf_function.h"
#include "lib/debug_file.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "named_function.h"

/* The offset in the file of the byte that is linked for @addr; UINT64_MAX: there is none. */
static uint64_t offset_of(const struct mapped *file, uint64_t addr)
{
	Elf *elf = elf_memory((char *)file->data, file->size);
	uint64_t offset = UINT64_MAX;
	size_t count;

	if (!elf || elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (gelf_getphdr(elf, i, &ph) && ph.p_type == PT_LOAD && ph.p_flags & PF_X &&
		    addr >= ph.p_vaddr && addr - ph.p_vaddr < ph.p_filesz)
			offset = addr - ph.p_vaddr + ph.p_offset;
	}
	elf_end(elf);
	return offset;
}

uint64_t elf_function(const char *text, const char *path, const char *function)
{
	const struct option_text option = { "--on", text };
	const struct symbol *symbol;
	struct symbols symbols = { 0 };
	struct debug_file *debug;
	struct mapped file;
	const char *stripped;
	char where[PATH_MAX + 64];
	uint64_t offset;
	int err = map_file(path, true, &file);

	if (err)
		die(EXIT_USAGE, "--on %s: cannot read %s: %s", text, path, strerror(-err));
	debug = program_symbols(&symbols, path, &file);
	stripped = !debug && symbols_are_stripped(file.data, file.size) ? " (stripped, and no debug file is found)" : "";
	if (!symbols.count)
		die(EXIT_USAGE, "--on %s: %s%s has no symbols: give the offset in the file, for example 0x1234", text, path,
		    stripped);
	snprintf(where, sizeof(where), "%s%s", path, stripped);
	symbol = named_function(&option, &symbols, function, where);
	/* The debug file has the addresses, and only the program has the bytes. */
	offset = offset_of(&file, symbol->addr);
	if (offset == UINT64_MAX)
		die(EXIT_USAGE, "--on %s: %s has no code at %#" PRIx64 ", where %s would be", text, path, symbol->addr, function);
	symbols_free(&symbols);
	debug_file_close(debug);
	unmap_file(&file);
	return offset;
}
