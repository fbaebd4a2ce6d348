// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/copy_file.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "perf_kernel.h"
#include "perf_record.h"

void perf_kernel_copy(const char *dir, const char *out)
{
	static const char *const names[] = { "kcore", "kallsyms", "modules" };
	char from[4200], to[4300], folder[4200];

	snprintf(from, sizeof(from), "%s/kcore", dir);
	if (access(from, F_OK))
		return;
	snprintf(folder, sizeof(folder), "%s/kcore_dir", out);
	if (mkdir(folder, 0700))
		die(1, "cannot make the directory %s: %s", folder, strerror(errno));
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, names[i]);
		snprintf(to, sizeof(to), "%s/%s", folder, names[i]);
		copy_file(from, to);
	}
}

static uint64_t address_of(const struct symbols *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->sym[i].name, name))
			return s->sym[i].addr;
	return 0;
}

/*
 * The record names a symbol and its address: perf compares that with kallsyms to see whether the kernel
 * was moved. Modules need no records, for kcore has all code.
 */
static void write_text(struct perf_data *data, const char *symbol, uint64_t start, uint64_t end)
{
	const struct perf_trailer trailer = {
		.pid = PERF_NOBODY, .tid = 0, .id = PERF_ID_SIDEBAND,
	};
	const struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} body = { PERF_NOBODY, 0, start, end - start, start };
	struct perf_record r;
	char name[64];

	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", symbol);
	perf_record_begin(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	perf_record_add(&r, &body, sizeof(body));
	perf_record_add_text(&r, name);
	perf_record_end(&r, data, &trailer);
}

void perf_kernel_write(const char *dir, struct perf_data *data)
{
	const char *symbol = "_text";
	struct symbols s = { 0 };
	uint64_t start, end;
	char path[4200];

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	if (symbols_from_kallsyms(&s, path))
		return;
	start = address_of(&s, symbol);
	if (!start) {
		symbol = "_stext";
		start = address_of(&s, symbol);
	}
	end = address_of(&s, "_etext");
	if (start)
		write_text(data, symbol, start, end > start ? end : UINT64_MAX);
	symbols_free(&s);
}
