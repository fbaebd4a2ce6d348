/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's code for perf: the folder kcore_dir, and the record of where the kernel was. */
#ifndef EXPORT_PERF_KERNEL_H
#define EXPORT_PERF_KERNEL_H

#include <sys/types.h>

#include "lib/symbols.h"
#include "lib/tool.h"
#include "perf_data.h"

struct meta;

/*
 * Copy the kernel's files of the recording @dir to @out/kcore_dir, its code as it was at the begin. Without
 * a kcore it does nothing.
 */
void perf_kernel_copy(const char *dir, const struct meta *meta, const char *out);

/* Where the ELF file with the headers in @image has @size bytes of @addr; 0: nowhere. */
off_t perf_kernel_offset(const struct mapped *image, uint64_t addr, size_t size);
/* Where the kernel begins; 0: unknown. */
uint64_t perf_kernel_text(const struct symbols *kallsyms);

/* Write the MMAP record. Without names of the kernel there is none. */
void perf_kernel_write(const char *dir, struct perf_data *data);

#endif
