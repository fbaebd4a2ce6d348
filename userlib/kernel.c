// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's code as it is in memory. The vmlinux file does not have it: the kernel
 * patches its code at run time (alternatives, jump labels, ftrace, static calls).
 *
 * Recorded are the kernel's text, the modules, and code that the kernel generates in the
 * modules' area: BPF programs, ftrace and kprobe trampolines. kallsyms lists these
 * under the module names "bpf" and "__builtin_...".
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "lockdown.h"
#include "recording.h"
#include "recording_dir.h"

#define PAGE		4096ull
#define CHUNK		(1u << 16)
#define GENERATED_MAX	(4 * PAGE)	/* of a BPF program or trampoline, whose end kallsyms does not list */

struct range {
	uint64_t start, end;
	uint64_t from;		/* offset in /proc/kcore, set by locate() */
};

struct ranges {
	struct range *r;
	size_t count;
};

static int add_range(struct ranges *ranges, uint64_t start, uint64_t end)
{
	struct range *grown = realloc(ranges->r, (ranges->count + 1) * sizeof(*grown));

	if (!grown)
		return fail(ENOMEM, "no memory for the list of kernel code");
	ranges->r = grown;
	grown[ranges->count++] = (struct range){ start & -PAGE, (end + PAGE - 1) & -PAGE, 0 };
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static void merge_ranges(struct ranges *ranges)
{
	size_t n = 0;

	qsort(ranges->r, ranges->count, sizeof(*ranges->r), by_start);
	for (size_t i = 0; i < ranges->count; i++) {
		struct range *r = &ranges->r[i], *last = n ? &ranges->r[n - 1] : NULL;

		if (last && r->start <= last->end) {
			if (r->end > last->end)
				last->end = r->end;
		} else {
			ranges->r[n++] = *r;
		}
	}
	ranges->count = n;
}

/* Copy kallsyms and add the ranges of the kernel's text and of generated code. */
static int record_kallsyms(int dirfd, struct ranges *ranges)
{
	FILE *in = fopen("/proc/kallsyms", "re"), *out;
	uint64_t stext = 0, etext = 0;
	char line[1024];
	int ret = 0;

	if (!in)
		return fail(errno, "cannot read /proc/kallsyms: %s", strerror(errno));
	out = recording_file(dirfd, "kallsyms");
	if (!out) {
		fclose(in);
		return -1;
	}
	while (!ret && fgets(line, sizeof(line), in)) {
		char type, name[512], module[64] = "";
		uint64_t addr;

		fputs(line, out);
		if (sscanf(line, "%" SCNx64 " %c %511s [%63[^]]", &addr, &type, name, module) < 3)
			continue;
		if (!strcmp(name, "_stext"))
			stext = addr;
		else if (!strcmp(name, "_etext"))
			etext = addr;
		else if (addr && (!strcmp(module, "bpf") || !strncmp(module, "__builtin_", 10)))
			ret = add_range(ranges, addr, addr + GENERATED_MAX);
	}
	fclose(in);
	if (recording_file_close(out, "kallsyms") || ret)
		return -1;
	if (!stext || etext <= stext)
		return fail(EACCES, "/proc/kallsyms hides its addresses: kernel code can be recorded with CAP_SYSLOG, or with kernel.kptr_restrict=0");
	return add_range(ranges, stext, etext);
}

static int record_modules(int dirfd, struct ranges *ranges)
{
	FILE *in = fopen("/proc/modules", "re"), *out;
	char line[4096];
	int ret = 0;

	/* A kernel without module support does not have this file. */
	if (!in)
		return errno == ENOENT ? 0 : fail(errno, "cannot read /proc/modules: %s", strerror(errno));
	out = recording_file(dirfd, "modules");
	if (!out) {
		fclose(in);
		return -1;
	}
	while (!ret && fgets(line, sizeof(line), in)) {
		uint64_t size, addr;

		fputs(line, out);
		if (sscanf(line, "%*s %" SCNu64 " %*s %*s %*s %" SCNx64, &size, &addr) == 2 && addr)
			ret = add_range(ranges, addr, addr + size);
	}
	fclose(in);
	return recording_file_close(out, "modules") || ret ? -1 : 0;
}

/* Find each range in kcore. Drop ranges, and parts of them, that kcore does not have. */
static int locate(int kcore, struct ranges *ranges)
{
	struct ranges found = { 0 };
	Elf64_Phdr *ph = NULL;
	Elf64_Ehdr eh;
	size_t size;

	if (pread(kcore, &eh, sizeof(eh), 0) != sizeof(eh) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
	    eh.e_phentsize != sizeof(*ph))
		return fail(EIO, "/proc/kcore is not the ELF file it should be");
	size = eh.e_phnum * sizeof(*ph);
	ph = malloc(size);
	if (!ph || pread(kcore, ph, size, eh.e_phoff) != (ssize_t)size) {
		free(ph);
		return fail(EIO, "cannot read the program headers of /proc/kcore");
	}
	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *r = &ranges->r[i];

		for (unsigned int k = 0; k < eh.e_phnum; k++) {
			uint64_t start = ph[k].p_vaddr, end = start + ph[k].p_memsz;

			if (ph[k].p_type != PT_LOAD || r->end <= start || r->start >= end)
				continue;
			if (start < r->start)
				start = r->start;
			if (end > r->end)
				end = r->end;
			if (add_range(&found, start, end)) {
				free(ph);
				free(found.r);
				return -1;
			}
			found.r[found.count - 1].from = ph[k].p_offset + (start - ph[k].p_vaddr);
			break;
		}
	}
	free(ph);
	free(ranges->r);
	*ranges = found;
	if (!found.count)
		return fail(EIO, "/proc/kcore does not have the kernel's text");
	return 0;
}

static void write_headers(FILE *out, const struct ranges *ranges)
{
	uint64_t offset = sizeof(Elf64_Ehdr) + ranges->count * sizeof(Elf64_Phdr);
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = ranges->count,
	};

	offset = (offset + PAGE - 1) & -PAGE;
	fwrite(&eh, sizeof(eh), 1, out);
	for (size_t i = 0; i < ranges->count; i++) {
		const struct range *r = &ranges->r[i];
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

static int copy_code(int kcore, FILE *out, const struct ranges *ranges)
{
	char buf[CHUNK];

	for (size_t i = 0; i < ranges->count; i++) {
		uint64_t left = ranges->r[i].end - ranges->r[i].start;
		uint64_t at = ranges->r[i].from;

		while (left) {
			size_t want = left < CHUNK ? left : CHUNK;
			ssize_t got = pread(kcore, buf, want, at);

			if (got <= 0)
				return fail(got ? errno : EIO, "cannot read kernel code at %#" PRIx64 " from /proc/kcore: %s",
					    ranges->r[i].end - left, got ? strerror(errno) : "it ends");
			fwrite(buf, 1, got, out);
			left -= got;
			at += got;
		}
	}
	return 0;
}

static const char *why_kcore_is_closed(int err)
{
	if (err == EPERM && lockdown_closes_kcore())
		return "; the kernel is locked down in confidentiality mode, which closes it to everybody: only user code can be decoded";
	if (err == EPERM || err == EACCES)
		return "; it needs CAP_SYS_RAWIO and root's file permissions";
	return "";
}

static int record_kcore(int dirfd, struct ranges *ranges)
{
	int kcore = open("/proc/kcore", O_RDONLY | O_CLOEXEC);
	FILE *out;
	int ret;

	if (kcore < 0) {
		ret = errno;
		return fail(ret, "cannot open /proc/kcore, where the kernel's code is read from: %s%s",
			    strerror(ret), why_kcore_is_closed(ret));
	}
	if (locate(kcore, ranges)) {
		close(kcore);
		return -1;
	}
	out = recording_file(dirfd, "kcore");
	if (!out) {
		close(kcore);
		return -1;
	}
	write_headers(out, ranges);
	ret = copy_code(kcore, out, ranges);
	close(kcore);
	return recording_file_close(out, "kcore") || ret ? -1 : 0;
}

int record_kernel(int dirfd)
{
	struct ranges ranges = { 0 };
	int ret = -1;

	if (!record_kallsyms(dirfd, &ranges) && !record_modules(dirfd, &ranges)) {
		merge_ranges(&ranges);
		ret = record_kcore(dirfd, &ranges);
	}
	free(ranges.r);
	return ret;
}
