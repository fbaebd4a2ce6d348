// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "kernel_code.h"
#include "lockdown.h"
#include "recording_dir.h"

#define PAGE		4096ull

int kernel_code_add_range(struct kernel_code *code, uint64_t start, uint64_t end)
{
	struct code_range *grown = realloc(code->ranges, (code->nr_ranges + 1) * sizeof(*grown));

	if (!grown)
		return fail(ENOMEM, "no memory for the list of kernel code");
	code->ranges = grown;
	grown[code->nr_ranges++] = (struct code_range){
		.start = start & -PAGE, .end = (end + PAGE - 1) & -PAGE,
	};
	return 0;
}

int kernel_code_add_symbol(struct kernel_code *code, uint64_t address, bool is_code)
{
	size_t n = code->nr_symbols;

	/* Its room is a power of two. */
	if (!(n & (n - 1))) {
		struct code_symbol *grown = realloc(code->symbols, (n ? 2 * n : 1) * sizeof(*grown));

		if (!grown)
			return fail(ENOMEM, "no memory for the symbols of modules");
		code->symbols = grown;
	}
	code->symbols[code->nr_symbols++] = (struct code_symbol){ address, is_code };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_address(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void merge_ranges(struct kernel_code *code)
{
	struct code_range *ranges = code->ranges;
	size_t n = 0;

	qsort(ranges, code->nr_ranges, sizeof(*ranges), by_start);
	for (size_t i = 0; i < code->nr_ranges; i++) {
		struct code_range *last = n ? &ranges[n - 1] : NULL;

		if (last && ranges[i].start <= last->end) {
			if (ranges[i].end > last->end)
				last->end = ranges[i].end;
		} else {
			ranges[n++] = ranges[i];
		}
	}
	code->nr_ranges = n;
}

/*
 * Cut the range to the pages that a segment of kcore has, and say where they are. False: it has
 * none.
 */
static bool locate_range(struct code_range *r, const Elf64_Phdr *ph, unsigned int count)
{
	for (unsigned int k = 0; k < count; k++) {
		uint64_t start = (ph[k].p_vaddr + PAGE - 1) & -PAGE;
		uint64_t end = (ph[k].p_vaddr + ph[k].p_memsz) & -PAGE;

		if (ph[k].p_type != PT_LOAD || r->end <= start || r->start >= end)
			continue;
		if (r->start < start)
			r->start = start;
		if (r->end > end)
			r->end = end;
		r->from = ph[k].p_offset + (r->start - ph[k].p_vaddr);
		return true;
	}
	return false;
}

static int locate(int kcore, struct kernel_code *code)
{
	Elf64_Phdr *ph = NULL;
	Elf64_Ehdr eh;
	size_t size, n = 0;

	if (pread(kcore, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_phentsize != sizeof(*ph))
		return fail(EIO, "/proc/kcore is not the ELF file it should be");
	size = eh.e_phnum * sizeof(*ph);
	ph = malloc(size);
	if (!ph)
		return fail(ENOMEM, "no memory for the program headers of /proc/kcore");
	if (pread(kcore, ph, size, eh.e_phoff) != (ssize_t)size) {
		free(ph);
		return fail(EIO, "cannot read the program headers of /proc/kcore");
	}
	for (size_t i = 0; i < code->nr_ranges; i++)
		if (locate_range(&code->ranges[i], ph, eh.e_phnum))
			code->ranges[n++] = code->ranges[i];
	free(ph);
	code->nr_ranges = n;
	return n ? 0 : fail(EIO, "/proc/kcore does not have the kernel's text");
}

static int read_range(int kcore, const struct code_range *r)
{
	uint64_t size = r->end - r->start, at = 0;

	while (at < size) {
		ssize_t got = pread(kcore, r->bytes + at, size - at, r->from + at);

		if (got <= 0)
			return fail(got ? errno : EIO, "cannot read kernel code at %#" PRIx64 " from /proc/kcore: %s",
				    r->start + at, got ? strerror(errno) : "it ends");
		at += got;
	}
	return 0;
}

static int read_ranges(int kcore, struct kernel_code *code)
{
	size_t size = 0;
	int ret = 0;

	if (locate(kcore, code))
		return -1;
	for (size_t i = 0; i < code->nr_ranges; i++)
		size += code->ranges[i].end - code->ranges[i].start;
	code->bytes = malloc(size);
	if (!code->bytes)
		return fail(ENOMEM, "no memory for the %zu bytes of the kernel's code", size);
	size = 0;
	for (size_t i = 0; !ret && i < code->nr_ranges; i++) {
		struct code_range *r = &code->ranges[i];

		r->bytes = code->bytes + size;
		size += r->end - r->start;
		ret = read_range(kcore, r);
	}
	return ret;
}

static const char *why_kcore_is_closed(int err)
{
	if (err == EPERM && lockdown_closes_kcore())
		return "; the kernel is locked down in confidentiality mode, which closes it to everybody: only user code can be decoded";
	if (err == EPERM || err == EACCES)
		return "; it needs CAP_SYS_RAWIO and root's file permissions";
	return "";
}

int kernel_code_read(struct kernel_code *code)
{
	int kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	int ret;

	if (kcore < 0) {
		ret = errno;
		return fail(ret, "cannot open /proc/kcore, where the kernel's code is read from: %s%s",
			    strerror(ret), why_kcore_is_closed(ret));
	}
	merge_ranges(code);
	if (code->nr_symbols)
		qsort(code->symbols, code->nr_symbols, sizeof(*code->symbols), by_address);
	ret = read_ranges(kcore, code);
	close(kcore);
	return ret;
}

static void write_headers(FILE *out, const struct kernel_code *code)
{
	uint64_t offset = sizeof(Elf64_Ehdr) + code->nr_ranges * sizeof(Elf64_Phdr);
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = code->nr_ranges,
	};

	offset = (offset + PAGE - 1) & -PAGE;
	fwrite(&eh, sizeof(eh), 1, out);
	for (size_t i = 0; i < code->nr_ranges; i++) {
		const struct code_range *r = &code->ranges[i];
		Elf64_Phdr ph = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offset,
			.p_vaddr = r->start,
			.p_filesz = r->end - r->start,
			.p_memsz = r->end - r->start,
			.p_align = PAGE,
		};

		fwrite(&ph, sizeof(ph), 1, out);
		offset += ph.p_filesz;
	}
	while (ftell(out) % PAGE)
		putc(0, out);
}

int kernel_code_write(const struct kernel_code *code, int dirfd)
{
	FILE *out = recording_file(dirfd, "kcore");

	if (!out)
		return -1;
	write_headers(out, code);
	for (size_t i = 0; i < code->nr_ranges; i++)
		fwrite(code->ranges[i].bytes, 1, code->ranges[i].end - code->ranges[i].start, out);
	return recording_file_close(out, "kcore");
}

void kernel_code_free(struct kernel_code *code)
{
	free(code->ranges);
	free(code->symbols);
	free(code->bytes);
}
