// SPDX-License-Identifier: GPL-2.0-only
/*
 * The syntax is that of perf record --filter, several separated by commas or blanks:
 *   filter|tracestop START [/ END] [@ FILE]
 * START is a function, an address (with FILE: an offset in it), or * for all of FILE; END is a
 * function, up to whose end the range goes, or a size. NAME#N, or as perf has it NAME #N, is the Nth function of that name,
 * NAME#g, NAME#G or NAME#0 the global one.
 */
#include <errno.h>
#include <gelf.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "filter.h"
#include "lib/debug_file.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "trigger/named_function.h"

#define SEPARATORS	" \t\n,"
#define KERNEL_HALF	(1ull << 63)

/* ---- the text ------------------------------------------------------------- */

/* What a filter says, before names are looked up. */
struct request {
	char *text, *start, *end, *file;	/* @end, @file: NULL if not given */
};

static const char *skip_blanks(const char *p)
{
	return p + strspn(p, " \t\n");
}

/* The word at *@p, up to one of @ends. Advances *@p behind it and the blanks that follow. */
static char *take_word(const char **p, const char *ends)
{
	size_t len = strcspn(*p, ends);
	char *word = strndup(*p, len);

	if (!word)
		out_of_memory();
	*p = skip_blanks(*p + len);
	return word;
}

/* The same, of a function or an address: with what says which function of that name, also behind blanks. */
static char *take_place(const char **p, const char *ends)
{
	char *name = take_word(p, ends), *number, *both;

	if (**p != '#')
		return name;
	number = take_word(p, ends);
	if (asprintf(&both, "%s%s", name, number) < 0)
		out_of_memory();
	free(name);
	free(number);
	return both;
}

static uint32_t parse_action(const char *option, const char *word)
{
	if (!strcmp(word, "filter"))
		return AUXTRACE_FILTER_TRACE;
	if (!strcmp(word, "tracestop"))
		return AUXTRACE_FILTER_STOP;
	if (!strcmp(word, "start") || !strcmp(word, "stop"))
		die(EXIT_USAGE, "--filter %s: Intel PT has no \"%s\" at an address: \"filter START / END\" traces a range, \"tracestop START\" stops for good",
		    option, word);
	die(EXIT_USAGE, "--filter %s: \"%s\" is no action: filter START or tracestop START, with [/ END] [@ FILE]",
	    option, word);
}

/* Reads one filter at *@p, and advances it to the next. Returns its action. */
static uint32_t parse_request(const char *option, const char **p, struct request *r)
{
	const char *begin = *p, *end;
	char *word = take_word(p, SEPARATORS);
	uint32_t action = parse_action(option, word);

	*r = (struct request){ .start = take_place(p, SEPARATORS "/@") };
	if (**p == '/') {
		*p = skip_blanks(*p + 1);
		r->end = take_place(p, SEPARATORS "@");
	}
	if (**p == '@') {
		*p = skip_blanks(*p + 1);
		r->file = take_word(p, SEPARATORS);
	}
	for (end = *p; end > begin && strchr(SEPARATORS, end[-1]); end--)
		;
	r->text = strndup(begin, end - begin);
	if (!r->text)
		out_of_memory();
	if (!*r->start || (r->end && !*r->end) || (r->file && !*r->file))
		die(EXIT_USAGE, "--filter %s: %s is missing in \"%s\"", option,
		    !*r->start ? "a function or an address" : r->end && !*r->end ? "the end behind /" :
		    "the file behind @", r->text);
	*p += strspn(*p, SEPARATORS);
	free(word);
	return action;
}

static void request_free(struct request *r)
{
	free(r->text);
	free(r->start);
	free(r->end);
	free(r->file);
}

/* ---- names ---------------------------------------------------------------- */

/* The last byte of a function. */
static uint64_t end_of(const struct symbols *symbols, const struct symbol *symbol)
{
	const struct symbol *end = symbols->sym + symbols->count;

	if (symbol->size)
		return symbol->addr + symbol->size - 1;
	for (const struct symbol *next = symbol + 1; next < end; next++)
		if (next->addr > symbol->addr)
			return next->addr - 1;
	return symbol->addr;
}

/*
 * Sets @first and @last to the addresses of the range: functions of @symbols, or numbers, to which
 * @base is added.
 */
static void find_range(const struct request *r, const struct symbols *symbols, const char *where,
		       uint64_t *first, uint64_t *last)
{
	const struct option_text option = { "--filter", r->text };
	const struct symbol *symbol;
	bool sized = false;
	uint64_t size;

	if (is_number(r->start, first)) {
		if (!r->end)
			die(EXIT_USAGE, "--filter %s: how long is the range? Write %s/SIZE", r->text, r->start);
	} else {
		symbol = named_function(&option, symbols, r->start, where);
		*first = symbol->addr;
		*last = end_of(symbols, symbol);
	}
	if (r->end && is_number(r->end, &size)) {
		if (!size)
			die(EXIT_USAGE, "--filter %s: a range of no bytes", r->text);
		*last = *first + size - 1;
		sized = true;
	} else if (r->end) {
		*last = end_of(symbols, named_function(&option, symbols, r->end, where));
	}
	if (*last < *first)
		die(EXIT_USAGE, sized ? "--filter %s: %s bytes go beyond the last address" :
		    "--filter %s: %s ends before the range begins", r->text, r->end);
}

static void resolve_kernel(const struct request *r, struct filter *f)
{
	uint64_t number;
	bool named = !is_number(r->start, &number) || (r->end && !is_number(r->end, &number));
	struct symbols symbols = { 0 };
	int err;

	if (!strcmp(r->start, "*"))
		die(EXIT_USAGE, "--filter %s: all of what? * needs @ FILE; for all of the kernel there is -k", r->text);
	if (named) {
		err = symbols_from_kallsyms(&symbols, "/proc/kallsyms");
		if (err || !symbols.count)
			die(EXIT_USAGE, "--filter %s: cannot read the kernel's names and addresses in /proc/kallsyms: %s; or do you mean a program: @ FILE?",
			    r->text, err ? strerror(-err) : "they are hidden (kernel.kptr_restrict)");
	}
	find_range(r, &symbols, "the kernel", &f->first, &f->last);
	symbols_free(&symbols);
}

/* ---- programs ------------------------------------------------------------- */

/* All executable segments of a program. */
struct segments {
	uint64_t first, last;	/* addresses as linked */
	GElf_Phdr *ph;
	size_t count;
	bool movable;
};

static bool read_segments(const struct mapped *file, struct segments *s)
{
	Elf *elf;
	GElf_Ehdr eh;
	size_t count;

	*s = (struct segments){ .first = UINT64_MAX };
	elf_version(EV_CURRENT);
	elf = file->size ? elf_memory((char *)file->data, file->size) : NULL;
	if (!elf || !gelf_getehdr(elf, &eh) || elf_getphdrnum(elf, &count)) {
		elf_end(elf);
		return false;
	}
	s->movable = eh.e_type != ET_EXEC;
	s->ph = xcalloc(count ?: 1, sizeof(*s->ph));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr *ph = &s->ph[s->count];

		if (!gelf_getphdr(elf, i, ph) || ph->p_type != PT_LOAD || !(ph->p_flags & PF_X) || !ph->p_filesz)
			continue;
		s->count++;
		if (ph->p_vaddr < s->first)
			s->first = ph->p_vaddr;
		if (ph->p_vaddr + ph->p_filesz - 1 > s->last)
			s->last = ph->p_vaddr + ph->p_filesz - 1;
	}
	elf_end(elf);
	return s->count;
}

/* The segment with the address @addr, or NULL. */
static const GElf_Phdr *segment_at(const struct segments *s, uint64_t addr)
{
	for (size_t i = 0; i < s->count; i++)
		if (addr >= s->ph[i].p_vaddr && addr - s->ph[i].p_vaddr < s->ph[i].p_filesz)
			return &s->ph[i];
	return NULL;
}

/* The segment with the byte at @offset of the file, or NULL. */
static const GElf_Phdr *segment_of(const struct segments *s, uint64_t offset)
{
	for (size_t i = 0; i < s->count; i++)
		if (offset >= s->ph[i].p_offset && offset - s->ph[i].p_offset < s->ph[i].p_filesz)
			return &s->ph[i];
	return NULL;
}

static void resolve_program(const struct request *r, struct filter *f)
{
	struct symbols symbols = { 0 };
	struct debug_file *debug;
	struct segments segments;
	const GElf_Phdr *ph;
	struct mapped file;
	uint64_t number;
	char *where;
	int err;

	f->path = realpath(r->file, NULL);
	if (!f->path)
		die(EXIT_USAGE, "--filter %s: %s: %s (a path, not a name that is searched for)", r->text, r->file, strerror(errno));
	err = map_file(f->path, true, &file);
	if (err)
		die(EXIT_USAGE, "--filter %s: cannot read %s: %s", r->text, r->file, strerror(-err));
	if (!read_segments(&file, &segments))
		die(EXIT_USAGE, "--filter %s: %s is no program and no library", r->text, r->file);
	debug = program_symbols(&symbols, f->path, &file);
	if (asprintf(&where, "%s%s", r->file, !debug && symbols_are_stripped(file.data, file.size) ?
		     " (stripped, and no debug file is found)" : "") < 0)
		out_of_memory();
	if (!strcmp(r->start, "*")) {
		if (r->end)
			die(EXIT_USAGE, "--filter %s: * is all of the file: leave out the end", r->text);
		f->first = segments.first;
		f->last = segments.last;
	} else {
		if (!is_number(r->start, &number) && !symbols.count)
			die(EXIT_USAGE, "--filter %s: %s has no symbols: give an offset in the file, for example 0x1234/0x100",
			    r->text, where);
		find_range(r, &symbols, where, &f->first, &f->last);
		/* As --on: a number is a place in the file. Functions are linked to addresses. */
		if (is_number(r->start, &number)) {
			ph = segment_of(&segments, number);
			if (!ph)
				die(EXIT_USAGE, "--filter %s: %s has no code at the offset %s", r->text, r->file, r->start);
			/* An end that is a function is an address already. */
			if (is_number(r->end, &number))
				f->last += ph->p_vaddr - ph->p_offset;
			f->first += ph->p_vaddr - ph->p_offset;
		}
	}
	ph = segment_at(&segments, f->first);
	if (!ph || f->last < f->first)
		die(EXIT_USAGE, "--filter %s: there is no code of %s", r->text, r->file);
	if (f->last > segments.last)
		die(EXIT_USAGE, "--filter %s: the range ends %" PRIu64 " bytes behind the code of %s", r->text,
		    f->last - segments.last, r->file);
	f->linked = f->first;
	f->movable = segments.movable;
	f->last += ph->p_offset - ph->p_vaddr;
	f->first += ph->p_offset - ph->p_vaddr;
	free(segments.ph);
	free(where);
	symbols_free(&symbols);
	debug_file_close(debug);
	unmap_file(&file);
}

void filters_parse(struct filters *f, const char *text)
{
	const char *p = text + strspn(text, SEPARATORS);

	if (!*p)
		die(EXIT_USAGE, "--filter: of which code? \"filter main @ prog\" would be one");
	while (*p) {
		struct filter *filter;
		struct request r;

		f->filter = xrealloc(f->filter, (f->count + 1) * sizeof(*f->filter));
		filter = &f->filter[f->count++];
		*filter = (struct filter){ .action = parse_request(text, &p, &r) };
		filter->text = xstrdup(r.text);
		if (r.file)
			resolve_program(&r, filter);
		else
			resolve_kernel(&r, filter);
		request_free(&r);
	}
}

bool filters_have_kernel(const struct filters *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (!f->filter[i].path && f->filter[i].first >= KERNEL_HALF)
			return true;
	return false;
}

bool filters_have_user(const struct filters *f)
{
	for (size_t i = 0; i < f->count; i++)
		if (f->filter[i].path || f->filter[i].first < KERNEL_HALF)
			return true;
	return false;
}

/* ---- where it is in memory ------------------------------------------------- */

/* Where process @pid has mapped the byte at @offset of the file to be executed. 0: nowhere. */
static uint64_t address_in(pid_t pid, const char *path, uint64_t offset)
{
	uint64_t address = 0, begin, end, from;
	unsigned long inode, major_nr, minor_nr;
	char name[64], *line = NULL;
	size_t size = 0;
	struct stat st;
	FILE *f;
	int at;

	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	f = fopen(name, "re");
	if (!f)
		return 0;
	if (stat(path, &st))
		memset(&st, 0, sizeof(st));
	while (!address && getline(&line, &size, f) > 0) {
		char executable;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*c%*c%c%*c %" SCNx64 " %lx:%lx %lu %n", &begin, &end,
			   &executable, &from, &major_nr, &minor_nr, &inode, &at) < 7 || executable != 'x')
			continue;
		line[strcspn(line, "\n")] = 0;
		/* Some file systems show another device here than stat(2) does. */
		if (strcmp(line + at, path) &&
		    (inode != st.st_ino || makedev(major_nr, minor_nr) != st.st_dev))
			continue;
		if (offset >= from && offset - from < end - begin)
			address = begin + (offset - from);
	}
	free(line);
	fclose(f);
	return address;
}

static int place(const struct filter *f, const pid_t *pid, size_t nr_pids, uint64_t *address)
{
	const pid_t *asked = NULL;

	*address = f->first;
	if (!f->path)
		return 0;
	for (size_t i = 0; i < nr_pids; i++) {
		if (!pid[i])
			continue;
		asked = &pid[i];
		*address = address_in(pid[i], f->path, f->first);
		if (*address)
			return 0;
	}
	*address = f->linked;
	if (!f->movable)
		return 0;
	if (!asked)
		say("--filter %s: %s can be at any address: name the command that runs it, or a process that does by -p PID",
		    f->text, f->path);
	else
		say("--filter %s: process %d has not mapped %s, which can be at any address: record the program itself as the command, or attach by -p PID when it is there (a library is not when its program begins)",
		    f->text, (int)*asked, f->path);
	return -1;
}

int filters_place(struct filters *f, const pid_t *pid, size_t nr_pids)
{
	free(f->placed);
	f->placed = xcalloc(f->count ?: 1, sizeof(*f->placed));
	for (size_t i = 0; i < f->count; i++) {
		const struct filter *from = &f->filter[i];
		uint64_t address;

		if (place(from, pid, nr_pids, &address))
			return -1;
		f->placed[i] = (struct auxtrace_filter){
			.action = from->action, .first = address, .last = address + (from->last - from->first),
		};
	}
	return 0;
}

void filters_free(struct filters *f)
{
	for (size_t i = 0; i < f->count; i++) {
		free(f->filter[i].text);
		free(f->filter[i].path);
	}
	free(f->filter);
	free(f->placed);
	*f = (struct filters){ 0 };
}
