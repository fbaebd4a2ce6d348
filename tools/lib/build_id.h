/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The build-id of an ELF file: which of its builds it is. */
#ifndef BUILD_ID_H
#define BUILD_ID_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_MAX	20

struct build_id {
	uint8_t size;
	uint8_t bytes[BUILD_ID_MAX];
};

/* That of the ELF file in memory; false: it has none. */
bool build_id_of_elf(const uint8_t *image, size_t size, struct build_id *id);

#endif
