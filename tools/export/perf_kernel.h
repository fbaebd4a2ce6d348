/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's code for perf: the folder kcore_dir, and the record of where the kernel was. */
#ifndef EXPORT_PERF_KERNEL_H
#define EXPORT_PERF_KERNEL_H

#include "perf_data.h"

struct meta;

/*
 * Copy the kernel's files of the recording @dir to @out/kcore_dir, its code as it was at the begin. Without
 * a kcore it does nothing.
 */
void perf_kernel_copy(const char *dir, const struct meta *meta, const char *out);

/* Write the MMAP record. Without names of the kernel there is none. */
void perf_kernel_write(const char *dir, struct perf_data *data);

#endif
