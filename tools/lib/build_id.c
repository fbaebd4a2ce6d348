// SPDX-License-Identifier: LGPL-2.1-or-later
#include <gelf.h>
#include <string.h>

#include "build_id.h"

static bool find_note(Elf_Data *data, struct build_id *id)
{
	size_t at = 0, name, descriptor;
	GElf_Nhdr note;

	while ((at = gelf_getnote(data, at, &note, &name, &descriptor))) {
		const char *bytes = data->d_buf;

		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != sizeof("GNU") ||
		    memcmp(bytes + name, "GNU", sizeof("GNU")) || !note.n_descsz || note.n_descsz > BUILD_ID_MAX)
			continue;
		id->size = note.n_descsz;
		memcpy(id->bytes, bytes + descriptor, note.n_descsz);
		return true;
	}
	return false;
}

bool build_id_of_elf(const uint8_t *image, size_t size, struct build_id *id)
{
	bool found = false;
	size_t count;
	Elf *elf;

	*id = (struct build_id){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_memory((char *)image, size);
	if (!elf || elf_getphdrnum(elf, &count))
		count = 0;
	for (size_t i = 0; i < count && !found; i++) {
		Elf_Data *data;
		GElf_Phdr ph;

		if (!gelf_getphdr(elf, i, &ph) || ph.p_type != PT_NOTE)
			continue;
		data = elf_getdata_rawchunk(elf, ph.p_offset, ph.p_filesz,
					    ph.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR);
		found = data && find_note(data, id);
	}
	elf_end(elf);
	return found;
}
