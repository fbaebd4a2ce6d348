/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Source lines of the kernel's code and its modules', from their debug files. Those of modules are found by the
 * build-ids that their memory had; the kernel's by its release, and its functions must be where they were.
 */
#ifndef KERNEL_LINES_H
#define KERNEL_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/source_lines.h"
#include "lib/symbols.h"

struct kernel_lines;

/*
 * Of the kernel @release, whose functions were at the addresses of @kallsyms. @symfs: a directory whose
 * usr/lib/debug comes before /usr/lib/debug; "": none. All three must outlive it.
 */
struct kernel_lines *kernel_lines_open(const char *release, const struct symbols *kallsyms, const char *symfs);
/* Bytes that the kernel's memory had: build-ids in them are of modules. */
void kernel_lines_search(struct kernel_lines *k, const uint8_t *bytes, size_t size);
/* The place of the code at @ip. Returns false if it is not known; then @place says for which addresses that holds. */
bool kernel_lines_find(struct kernel_lines *k, uint64_t ip, struct source_place *place);
void kernel_lines_close(struct kernel_lines *k);

#endif
