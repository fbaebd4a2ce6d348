// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "added.h"
#include "code_image.h"
#include "kernel_lines.h"
#include "lib/symbol_shown.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "object.h"
#include "pokes.h"
#include "tasks.h"
#include "userlib/search.h"

struct segment {
	uint64_t start, end;
	const uint8_t *bytes;
};

/* The name of an address, from one TSC on and before another */
struct known_name {
	uint64_t ip, space, from, until;	/* until 0: this one is free */
	struct code_name name;
};

#define KNOWN_NAMES	8192

/* What was read. All readers share it; it does not change but for names and source lines, which only the first reads. */
struct code_files {
	char *dir;
	const struct meta *meta;
	struct objects objects;
	struct tasks tasks;
	struct mapped kcore;
	uint64_t kcore_tsc;	/* when it was read; UINT64_MAX: at the end */
	struct pokes pokes;
	struct added added;
	size_t changes;
	struct segment *segment;
	size_t nr_segments;
	struct symbols kallsyms;
	struct kernel_lines *kernel_lines;	/* NULL: nobody has asked for them yet */
	struct segment *entry;	/* targets of interrupts and exceptions */
	size_t nr_entries;
};

/* A reader of them */
struct code_image {
	struct code_files *files;
	bool shares;		/* they are another one's */
	const struct segment *last_segment;
	uint32_t pid;		/* of the process that runs; 0: not known */
	/* A cache: the last result of find_mapping(), for a page. */
	uint64_t page, page_cr3, page_tsc;
	const struct mapping *page_mapping;
	struct known_name known[KNOWN_NAMES];
};

#define PAGE_MASK	(~4095ull)

/* ---- kernel ------------------------------------------------------------- */

/*
 * Since 5.8 the names of the kernel's entries begin with asm_. Two tables have the entries of
 * device interrupts.
 */
static void find_entries(struct code_image *code)
{
	const struct symbols *all = &code->files->kallsyms;

	for (size_t i = 0; i < all->count; i++) {
		const struct symbol *sym = &all->sym[i];
		bool table = !strcmp(sym->name, "irq_entries_start") ||
			     !strcmp(sym->name, "spurious_entries_start");
		uint64_t end = sym->addr + 1;

		if (!table && strncmp(sym->name, "asm_", 4))
			continue;
		for (size_t j = i + 1; table && j < all->count && end == sym->addr + 1; j++)
			if (all->sym[j].addr != sym->addr)
				end = all->sym[j].addr;
		code->files->entry = xrealloc(code->files->entry, (code->files->nr_entries + 1) * sizeof(*code->files->entry));
		code->files->entry[code->files->nr_entries++] = (struct segment){ .start = sym->addr, .end = end };
	}
}

/* "patched ADDRESS BEFORE AFTER": lines of places about which @code->files->pokes say nothing. */
static void count_changes(struct code_image *code)
{
	char path[4200], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore.changes", code->files->dir);
	f = open_text(path);
	if (!f)
		return;
	while (getline(&line, &size, f) > 0) {
		uint64_t addr;
		int at = 0, end = 0;

		if (sscanf(line, "patched %" SCNx64 " %n%*s%n", &addr, &at, &end) != 1 || end <= at ||
		    !pokes_touch(&code->files->pokes, addr, (end - at) / 2))
			code->files->changes++;
	}
	free(line);
	fclose(f);
}

static bool open_kcore(struct code_image *code, const struct side *side)
{
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	char path[4200];
	int err;

	snprintf(path, sizeof(path), "%s/kcore", code->files->dir);
	err = map_file(path, false, &code->files->kcore);
	if (err == -ENOENT)
		return true;	/* user code only */
	if (err)
		return wrong("cannot read %s: %s", path, strerror(-err));
	eh = (const void *)code->files->kcore.data;
	if (code->files->kcore.size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_phoff > code->files->kcore.size || eh->e_phnum * sizeof(*ph) > code->files->kcore.size - eh->e_phoff)
		return wrong("%s is not an ELF file", path);
	ph = (const void *)(code->files->kcore.data + eh->e_phoff);
	code->files->segment = xcalloc(eh->e_phnum, sizeof(*code->files->segment));
	for (unsigned int i = 0; i < eh->e_phnum; i++) {
		if (ph[i].p_type != PT_LOAD)
			continue;
		if (ph[i].p_filesz > code->files->kcore.size || ph[i].p_offset > code->files->kcore.size - ph[i].p_filesz)
			return wrong("%s is cut short", path);
		code->files->segment[code->files->nr_segments++] = (struct segment){
			.start = ph[i].p_vaddr,
			.end = ph[i].p_vaddr + ph[i].p_filesz,
			.bytes = code->files->kcore.data + ph[i].p_offset,
		};
	}
	snprintf(path, sizeof(path), "%s/kallsyms", code->files->dir);
	err = symbols_from_kallsyms(&code->files->kallsyms, path);
	if (err)
		say("cannot read %s: %s; kernel functions have no names", path, strerror(-err));
	find_entries(code);
	count_changes(code);
	snprintf(path, sizeof(path), "%s/kcore.added", code->files->dir);
	added_open(&code->files->added, path, side, &code->files->kallsyms);
	return true;
}

static int address_to_segment(const void *key, const void *element)
{
	const uint64_t ip = *(const uint64_t *)key;
	const struct segment *s = element;

	return ip < s->start ? -1 : ip >= s->end;
}

static const struct segment *find_segment(struct code_image *code, uint64_t ip)
{
	if (!code->files->nr_segments)
		return NULL;
	if (!code->last_segment || address_to_segment(&ip, code->last_segment))
		code->last_segment = bsearch(&ip, code->files->segment, code->files->nr_segments,
					     sizeof(*code->files->segment), address_to_segment);
	return code->last_segment;
}

/* Where the kernel's code at an address is. */
struct kernel_bytes {
	const uint8_t *bytes;	/* NULL: nowhere */
	uint64_t size;		/* from that address on */
	uint64_t tsc;		/* they are as they were then; UINT64_MAX: at the end */
	const struct added_code *added;	/* NULL: they are kcore's */
};

static struct kernel_bytes find_kernel(struct code_image *code, uint64_t tsc, uint64_t ip)
{
	const struct code_files *files = code->files;
	const struct segment *s = find_segment(code, ip);
	struct kernel_bytes found = { .tsc = files->kcore_tsc };

	if (s) {
		found.bytes = s->bytes + (ip - s->start);
		found.size = s->end - ip;
	}
	if (!files->added.count)
		return found;
	found.added = added_find(&files->added, tsc, ip, s && *found.bytes != INT3, files->kcore_tsc);
	if (found.added) {
		found.bytes = found.added->bytes + (ip - found.added->start);
		found.size = found.added->end - ip;
		found.tsc = found.added->read;
	}
	return found;
}

/* The time at which @code was there that is nearest to @tsc: changes before and after that are of other code. */
static uint64_t time_within(const struct added_code *code, uint64_t tsc)
{
	if (tsc < code->from)
		return code->from;
	return tsc < code->until ? tsc : code->until - 1;
}

/* ---- user code ---------------------------------------------------------- */

static enum code_result find_mapping(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip,
				     const struct mapping **m)
{
	const struct task *t;

	if (code->page_mapping && code->page == (ip & PAGE_MASK) && code->page_cr3 == cr3 &&
	    code->page_tsc == tsc) {
		*m = code->page_mapping;
		return CODE_OK;
	}
	if (cr3 == CODE_NO_CR3) {
		*m = tasks_only_mapping(&code->files->tasks, code->pid, tsc, ip);
		if (!*m)
			return CODE_NO_TASK;
	} else {
		t = tasks_find(&code->files->tasks, cr3, code->pid, tsc);
		if (!t)
			return CODE_NO_TASK;
		*m = NULL;
		if (!task_mapping(t, ip, m))
			return CODE_NO_MAPPING;
		if (!*m)
			return tsc && tsc < t->begin_tsc ? CODE_NO_TASK : CODE_NO_MAPPING;
	}
	code->page = ip & PAGE_MASK;
	code->page_cr3 = cr3;
	code->page_tsc = tsc;
	code->page_mapping = *m;
	return CODE_OK;
}

/* The code at @ip that the process made which had @cr3 at @tsc, or which runs. NULL: it made none. */
static const struct jit_code *find_jit(const struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip)
{
	const struct task *t = NULL;

	if (cr3 != CODE_NO_CR3)
		t = tasks_find(&code->files->tasks, cr3, code->pid, tsc);
	else if (code->pid)
		t = tasks_of_process(&code->files->tasks, code->pid, tsc);
	return t ? jit_find(&t->jit, tsc, ip) : NULL;
}

/* ---- interface ---------------------------------------------------------- */

struct code_image *code_open(const char *dir, const struct meta *meta, const char *symfs, const struct side *side)
{
	struct code_image *code = xcalloc(1, sizeof(*code));

	code->files = xcalloc(1, sizeof(*code->files));
	code->files->dir = xstrdup(dir);
	code->files->meta = meta;
	code->files->objects.symfs = symfs;
	code->files->kcore_tsc = meta->kcore_tsc ?: UINT64_MAX;
	pokes_find(&code->files->pokes, side, POKES_OF_CHANGES);
	if (open_kcore(code, side) && tasks_read(&code->files->tasks, dir, meta, &code->files->objects))
		return code;
	code_close(code);
	return NULL;
}

struct code_image *code_share(const struct code_image *of)
{
	struct code_image *code = xcalloc(1, sizeof(*code));

	code->files = of->files;
	code->shares = true;
	return code;
}

static void close_files(struct code_files *files)
{
	tasks_free(&files->tasks);
	objects_close(&files->objects);
	kernel_lines_close(files->kernel_lines);
	symbols_free(&files->kallsyms);
	unmap_file(&files->kcore);
	pokes_free(&files->pokes);
	added_close(&files->added);
	free(files->segment);
	free(files->entry);
	free(files->dir);
	free(files);
}

void code_close(struct code_image *code)
{
	if (!code->shares)
		close_files(code->files);
	free(code);
}

bool code_was_patched(const struct code_image *code)
{
	return code->files->pokes.count || code->files->added.count;
}

void code_run_by(struct code_image *code, uint32_t pid)
{
	if (code->pid == pid)
		return;
	code->pid = pid;
	code->page_mapping = NULL;
}

bool code_is_generated(struct code_image *code, uint64_t tsc, uint64_t ip)
{
	return code->files->added.count && code_is_kernel(ip) && find_kernel(code, tsc, ip).added;
}

uint64_t code_kernel_function(const struct code_image *code, const char *name)
{
	for (size_t i = 0; i < code->files->kallsyms.count; i++)
		if (!strcmp(code->files->kallsyms.sym[i].name, name))
			return code->files->kallsyms.sym[i].addr;
	return 0;
}

size_t code_changes(const struct code_image *code)
{
	return code->files->changes;
}

static size_t copy(uint8_t *buf, size_t size, const uint8_t *from, uint64_t left)
{
	size_t n = size < left ? size : left;

	memcpy(buf, from, n);
	return n;
}

enum code_result code_read(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip,
			   uint8_t *buf, size_t size, size_t *got)
{
	const struct jit_code *made;
	const struct mapping *m;
	enum code_result result;
	uint64_t offset;

	if (code_is_kernel(ip)) {
		struct kernel_bytes kernel = find_kernel(code, tsc, ip);

		if (!kernel.bytes)
			return CODE_NO_MAPPING;
		*got = copy(buf, size, kernel.bytes, kernel.size);
		if (code->files->pokes.count && tsc)
			pokes_apply(&code->files->pokes, kernel.tsc, kernel.added ? time_within(kernel.added, tsc) : tsc, ip,
				    buf, *got);
		return CODE_OK;
	}
	result = find_mapping(code, cr3, tsc, ip, &m);
	/* It may be made in memory that is a file's. */
	if (result != CODE_OK || mapping_offset(m, ip) >= m->object->image.size) {
		made = find_jit(code, cr3, tsc, ip);
		if (made) {
			*got = copy(buf, size, made->bytes + (ip - made->start), made->end - ip);
			return CODE_OK;
		}
	}
	if (result != CODE_OK)
		return result;
	offset = mapping_offset(m, ip);
	if (offset >= m->object->image.size)
		return strcmp(m->object->path, PROBES) ? CODE_NO_MAPPING : CODE_PROBES;
	if (size > m->end - ip)
		size = m->end - ip;
	*got = copy(buf, size, m->object->image.data + offset, m->object->image.size - offset);
	return CODE_OK;
}

uint64_t code_space(const struct code_image *code, uint64_t cr3, uint64_t ip)
{
	if (code_is_kernel(ip))
		return 0;
	/* A process's number has at most 22 bits (PID_MAX_LIMIT of <linux/threads.h>), and a CR3 no bit above 51. */
	return (cr3 == CODE_NO_CR3 ? 1ull << 63 : cr3 >> 12 << 22) | (code->pid & ((1u << 22) - 1));
}

void code_lasts(const struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, size_t size, uint64_t *from,
		uint64_t *until)
{
	struct code_span span = { .tsc = tsc, .until = UINT64_MAX };

	if (code_is_kernel(ip)) {
		if (pokes_span(&code->files->pokes, ip, size, &span))
			code_span_cut(&span, code->files->kcore_tsc);
		added_span(&code->files->added, ip, size, &span);
	} else {
		tasks_span(&code->files->tasks, cr3, code->pid, ip, size, &span);
	}
	*from = span.from;
	*until = span.until;
}

bool code_is_32bit(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip)
{
	const Elf64_Ehdr *eh;
	const struct mapping *m;

	if (code_is_kernel(ip) || find_mapping(code, cr3, tsc, ip, &m) != CODE_OK)
		return false;
	/* e_machine has the same offset in 32-bit and 64-bit headers. */
	eh = (const void *)m->object->image.data;
	return m->object->image.size >= sizeof(*eh) && !memcmp(eh->e_ident, ELFMAG, SELFMAG) &&
	       eh->e_machine == EM_386;
}

bool code_is_entry(const struct code_image *code, uint64_t ip, bool unknown)
{
	size_t i;

	if (!code->files->nr_entries)
		return unknown && code_is_kernel(ip);

	find_first(i, code->files->nr_entries, code->files->entry[i].end > ip);
	return i < code->files->nr_entries && code->files->entry[i].start <= ip;
}

static void find_name(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct code_name *name)
{
	const struct jit_code *made;
	const struct mapping *m;
	enum code_result result;
	uint64_t offset, vaddr;
	struct symbol *sym;

	*name = (struct code_name){ .offset = ip };
	if (code_is_kernel(ip)) {
		const struct added_code *added = find_kernel(code, tsc, ip).added;

		name->object = "[kernel]";
		if (added) {
			name->function = added->name;
			if (added->name)
				name->offset = ip - added->named;
			return;
		}
		sym = symbols_find(&code->files->kallsyms, ip);
		if (sym) {
			name->function = symbol_shown(sym);
			name->offset = ip - sym->addr;
		}
		return;
	}
	result = find_mapping(code, cr3, tsc, ip, &m);
	if (result != CODE_OK || mapping_offset(m, ip) >= m->object->image.size) {
		made = find_jit(code, cr3, tsc, ip);
		if (made) {
			*name = (struct code_name){ .function = made->name, .offset = ip - made->start, .object = "[jit]" };
			return;
		}
	}
	if (result != CODE_OK)
		return;
	offset = mapping_offset(m, ip);
	name->object = m->object->name;
	name->offset = offset;
	if (!object_vaddr(m->object, offset, &vaddr))
		return;
	sym = object_symbol(&code->files->objects, m->object, vaddr);
	if (sym) {
		name->function = symbol_shown(sym);
		name->offset = vaddr - sym->addr;
	}
}

static bool is_thunk(const char *function)
{
	return function && (strstr(function, "indirect_thunk") || strstr(function, "return_thunk"));
}

void code_name(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct code_name *name)
{
	uint64_t space = code_space(code, cr3, ip);
	struct known_name *known = &code->known[((ip + space) * 0x9e3779b97f4a7c15ull >> 32) % KNOWN_NAMES];

	if (known->ip != ip || known->space != space || tsc < known->from || tsc >= known->until) {
		known->ip = ip;
		known->space = space;
		code_lasts(code, cr3, tsc, ip, 1, &known->from, &known->until);
		find_name(code, cr3, tsc, ip, &known->name);
		known->name.thunk = is_thunk(known->name.function);
	}
	*name = known->name;
}

/* A module's build-id is in the memory that the recording has of it. */
static struct kernel_lines *kernel_lines(struct code_files *files)
{
	if (files->kernel_lines)
		return files->kernel_lines;
	files->kernel_lines = kernel_lines_open(files->meta->release, &files->kallsyms, files->objects.symfs);
	for (size_t i = 0; i < files->nr_segments; i++)
		kernel_lines_search(files->kernel_lines, files->segment[i].bytes,
				    files->segment[i].end - files->segment[i].start);
	return files->kernel_lines;
}

bool code_place(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct source_place *place)
{
	struct source_lines *lines;
	const struct mapping *m;
	uint64_t vaddr;
	bool known;

	*place = (struct source_place){ .start = ip, .end = ip + 1 };
	if (code_is_kernel(ip))
		return !find_kernel(code, tsc, ip).added && kernel_lines_find(kernel_lines(code->files), ip, place);
	if (find_mapping(code, cr3, tsc, ip, &m) != CODE_OK)
		return false;
	lines = object_lines(&code->files->objects, m->object);
	if (!lines) {
		place->start = m->start;
		place->end = m->end;
		return false;
	}
	if (!object_vaddr(m->object, mapping_offset(m, ip), &vaddr))
		return false;
	known = source_lines_find(lines, vaddr, place);
	/* The file's addresses become the task's. */
	place->start = vaddr - place->start < ip - m->start ? ip - (vaddr - place->start) : m->start;
	place->end = place->end - vaddr < m->end - ip ? ip + (place->end - vaddr) : m->end;
	return known;
}
