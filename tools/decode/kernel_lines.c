// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel_lines.h"
#include "lib/debug_file.h"
#include "lib/tool.h"

#define ID_SIZE	20

/* A debug file. */
struct debug {
	struct debug *next;
	uint8_t id[ID_SIZE];		/* of a module's */
	struct debug_file *file;
	struct symbols by_name;		/* sorted by name */
	bool have_lines;
	struct source_lines *lines;
};

/* A module, as kallsyms has it. */
struct module {
	struct module *next;
	const char *name;		/* "[name]" */
	struct debug *debug;		/* NULL: there is none */
};

struct kernel_lines {
	const char *release;
	const struct symbols *kallsyms;
	const char *symfs;
	bool searched;			/* for the kernel's: */
	struct debug *kernel;
	uint64_t bias;			/* of the addresses at which it ran to those in its debug file */
	struct debug *debugs;		/* of modules; which is whose is not known yet */
	struct module *modules;
};

/* ---- debug files ---------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct symbol *)a)->name, ((const struct symbol *)b)->name);
}

static struct debug *debug_open(const char *path, bool relocatable)
{
	struct debug_file *file = relocatable ? debug_file_open_module(path) : debug_file_open(path, "");
	struct debug *d;

	if (!file)
		return NULL;
	d = xcalloc(1, sizeof(*d));
	d->file = file;
	debug_file_all_symbols(file, &d->by_name);
	if (d->by_name.count)
		qsort(d->by_name.sym, d->by_name.count, sizeof(*d->by_name.sym), by_name);
	return d;
}

static void debug_close(struct debug *d)
{
	if (!d)
		return;
	source_lines_close(d->lines);
	symbols_free(&d->by_name);
	debug_file_close(d->file);
	free(d);
}

/* The function @name of @length bytes; NULL: there is none, or there are several. */
static const struct symbol *find_function(const struct debug *d, const char *name, size_t length)
{
	const struct symbol *first = d->by_name.sym, *end = first + d->by_name.count, *found;
	char *key = strndup(name, length);

	if (!key)
		out_of_memory();
	found = d->by_name.count ? bsearch(&(struct symbol){ .name = key }, first, d->by_name.count, sizeof(*first), by_name) : NULL;
	free(key);
	if (!found || (found > first && !by_name(found - 1, found)) || (found + 1 < end && !by_name(found, found + 1)))
		return NULL;
	return found;
}

static struct source_lines *lines_of(struct debug *d)
{
	if (!d->have_lines)
		d->lines = source_lines_open(d->file);
	d->have_lines = true;
	return d->lines;
}

/* ---- the kernel's ------------------------------------------------------------------ */

static const struct symbol *find_in_kallsyms(const struct kernel_lines *k, const char *name)
{
	for (size_t i = 0; i < k->kallsyms->count; i++)
		if (!strcmp(k->kallsyms->sym[i].name, name))
			return &k->kallsyms->sym[i];
	return NULL;
}

static bool has_function(const struct symbols *s, uint64_t addr, const char *name)
{
	const struct symbol *at = symbols_find(s, addr);

	/* The last of several names. */
	for (; at && at->addr == addr; at = at > s->sym ? at - 1 : NULL)
		if (!strcmp(at->name, name))
			return true;
	return false;
}

/* Has @d a function @name at @addr? Several functions may have the name. */
static bool debug_has(const struct debug *d, uint64_t addr, const char *name)
{
	const struct symbol *first = d->by_name.sym, *end = first + d->by_name.count, *at;

	at = bsearch(&(struct symbol){ .name = name }, first, d->by_name.count, sizeof(*first), by_name);
	while (at && at > first && !strcmp(at[-1].name, name))
		at--;
	for (; at && at < end && !strcmp(at->name, name); at++)
		if (at->addr == addr)
			return true;
	return false;
}

/* Are most functions of @d, by one bias, where the kernel had them? Those of its start may not be listed. */
static bool is_of_kernel(struct kernel_lines *k, const struct debug *d)
{
	const struct symbol *linked = find_function(d, "_stext", strlen("_stext"));
	const struct symbol *ran = find_in_kallsyms(k, "_stext");
	size_t count = 0, same = 0;

	if (!linked || !ran)
		return false;
	k->bias = ran->addr - linked->addr;
	for (size_t i = 0; i < d->by_name.count; i++) {
		const struct symbol *s = &d->by_name.sym[i];

		if (!s->size)
			continue;
		count++;
		same += has_function(k->kallsyms, s->addr + k->bias, s->name);
	}
	return 2 * same > count;
}

static void open_kernel(struct kernel_lines *k)
{
	static const char *const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux", "/lib/modules/%s/build/vmlinux",
	};

	k->searched = true;
	/* Whoever made the recording chose it. */
	if (!*k->release || strchr(k->release, '/'))
		return;
	for (unsigned int i = *k->symfs ? 0 : ARRAY_SIZE(places); i < 2 * ARRAY_SIZE(places) && !k->kernel; i++) {
		char path[8300], below[300];

		snprintf(below, sizeof(below), places[i % ARRAY_SIZE(places)], k->release);
		snprintf(path, sizeof(path), "%s%s", i < ARRAY_SIZE(places) ? k->symfs : "", below);
		k->kernel = access(path, R_OK) ? NULL : debug_open(path, false);
		if (k->kernel && !is_of_kernel(k, k->kernel)) {
			say("%s is not of the kernel that ran, whose functions were elsewhere: its source lines are not used", path);
			debug_close(k->kernel);
			k->kernel = NULL;
		}
	}
}

/* ---- modules -------------------------------------------------------------------- */

static void add_debug(struct kernel_lines *k, const uint8_t id[ID_SIZE])
{
	char path[8300], name[2 * ID_SIZE + 1];
	struct debug *d = k->debugs;

	/* Parts of a module may each have it. */
	while (d && memcmp(d->id, id, ID_SIZE))
		d = d->next;
	if (d)
		return;
	for (unsigned int i = 0; i < ID_SIZE; i++)
		snprintf(name + 2 * i, 3, "%02x", id[i]);
	for (unsigned int i = *k->symfs ? 0 : 1; i < 2 && !d; i++) {
		snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", i ? "" : k->symfs, name, name + 2);
		d = access(path, R_OK) ? NULL : debug_open(path, true);
	}
	if (!d)
		return;
	memcpy(d->id, id, ID_SIZE);
	d->next = k->debugs;
	k->debugs = d;
}

void kernel_lines_search(struct kernel_lines *k, const uint8_t *bytes, size_t size)
{
	/* The sizes of "GNU" and of the build-id, NT_GNU_BUILD_ID */
	static const uint8_t note[] = { 4, 0, 0, 0, ID_SIZE, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0 };
	const uint8_t *at = bytes, *end = bytes + size;

	while ((at = memmem(at, end - at, note, sizeof(note)))) {
		at += sizeof(note);
		if ((size_t)(end - at) >= ID_SIZE)
			add_debug(k, at);
	}
}

/* The functions that kallsyms lists for @module, with their names alone. */
static struct symbols functions_of_module(const struct kernel_lines *k, const char *module)
{
	struct symbols functions = { 0 };

	for (size_t i = 0; i < k->kallsyms->count; i++) {
		const struct symbol *s = &k->kallsyms->sym[i];
		const char *of = strchr(s->name, '[');

		if (of && !strcmp(of, module) && !symbols_is_padding(s->name))
			symbols_add(&functions, s->addr, of - 1 - s->name, s->global, s->name);
	}
	return functions;
}

/* The debug file that has the functions of @module: those that it shares with others are few. */
static struct debug *debug_of_module(const struct kernel_lines *k, const char *module)
{
	struct symbols functions = functions_of_module(k, module);
	struct debug *best = NULL;
	double most = 0;

	for (struct debug *d = k->debugs; d; d = d->next) {
		size_t same = 0;
		double share;

		for (size_t i = 0; i < functions.count; i++)
			same += find_function(d, functions.sym[i].name, functions.sym[i].size) != NULL;
		/* Those that ran at its start only are not listed any more. */
		share = (double)same / (functions.count + d->by_name.count - same);
		if (2 * same > functions.count && share > most) {
			best = d;
			most = share;
		}
	}
	symbols_free(&functions);
	return best;
}

static struct debug *module_debug(struct kernel_lines *k, const char *name)
{
	struct module *m = k->modules;

	while (m && strcmp(m->name, name))
		m = m->next;
	if (!m) {
		m = xcalloc(1, sizeof(*m));
		m->name = name;
		m->debug = k->debugs ? debug_of_module(k, name) : NULL;
		m->next = k->modules;
		k->modules = m;
	}
	return m->debug;
}

/* ---- interface -------------------------------------------------------------------- */

struct kernel_lines *kernel_lines_open(const char *release, const struct symbols *kallsyms, const char *symfs)
{
	struct kernel_lines *k = xcalloc(1, sizeof(*k));

	k->release = release;
	k->kallsyms = kallsyms;
	k->symfs = symfs;
	return k;
}

/* The debug file for the function @sym, and the bias of the function to it. NULL: there is none. */
static struct debug *debug_of(struct kernel_lines *k, const struct symbol *sym, uint64_t *bias)
{
	const char *module = strchr(sym->name, '[');
	const struct symbol *linked;
	struct debug *d;

	if (!module) {
		if (!k->searched)
			open_kernel(k);
		*bias = k->bias;
		/* Behind what was changed, a kernel that was built anew has its functions elsewhere. */
		return k->kernel && debug_has(k->kernel, sym->addr - k->bias, sym->name) ? k->kernel : NULL;
	}
	d = module_debug(k, module);
	linked = d ? find_function(d, sym->name, module - 1 - sym->name) : NULL;
	if (!linked)
		return NULL;
	*bias = sym->addr - linked->addr;
	return d;
}

bool kernel_lines_find(struct kernel_lines *k, uint64_t ip, struct source_place *place)
{
	const struct symbol *sym = symbols_find(k->kallsyms, ip);
	uint64_t bias, end;
	struct debug *d;
	bool known;

	*place = (struct source_place){ .start = ip, .end = ip + 1 };
	if (!sym)
		return false;
	/* Of several names of an address, symbols_find() returns the last. */
	end = sym + 1 < k->kallsyms->sym + k->kallsyms->count ? sym[1].addr : UINT64_MAX;
	d = debug_of(k, sym, &bias);
	if (!d || !lines_of(d)) {
		place->start = sym->addr;
		place->end = end;
		return false;
	}
	known = source_lines_find(d->lines, ip - bias, place);
	/* The file's addresses become the kernel's. */
	place->start = ip - bias - place->start < ip - sym->addr ? place->start + bias : sym->addr;
	place->end = place->end - (ip - bias) < end - ip ? place->end + bias : end;
	return known;
}

void kernel_lines_close(struct kernel_lines *k)
{
	if (!k)
		return;
	while (k->modules) {
		struct module *m = k->modules;

		k->modules = m->next;
		free(m);
	}
	while (k->debugs) {
		struct debug *d = k->debugs;

		k->debugs = d->next;
		debug_close(d);
	}
	debug_close(k->kernel);
	free(k);
}
