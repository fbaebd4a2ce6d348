// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "kcore.h"
#include "lockdown.h"

static const char *why_closed(int err)
{
	if (err == EPERM && lockdown_closes_kcore())
		return "; the kernel is locked down in confidentiality mode, which closes it to everybody: only user code can be decoded";
	if (err == EPERM || err == EACCES)
		return "; it needs CAP_SYS_RAWIO and root's file permissions";
	return "";
}

static int read_headers(struct kcore *kcore)
{
	Elf64_Ehdr eh;
	size_t size;

	if (pread(kcore->fd, &eh, sizeof(eh), 0) != sizeof(eh) ||
	    memcmp(eh.e_ident, ELFMAG, SELFMAG) || eh.e_phentsize != sizeof(*kcore->ph))
		return fail(EIO, "/proc/kcore is not the ELF file it should be");
	size = eh.e_phnum * sizeof(*kcore->ph);
	kcore->ph = malloc(size);
	if (!kcore->ph)
		return fail(ENOMEM, "no memory for the program headers of /proc/kcore");
	if (pread(kcore->fd, kcore->ph, size, eh.e_phoff) != (ssize_t)size)
		return fail(EIO, "cannot read the program headers of /proc/kcore");
	kcore->count = eh.e_phnum;
	return 0;
}

int kcore_open(struct kcore *kcore)
{
	int err;

	*kcore = (struct kcore){ .fd = open("/proc/kcore", O_RDONLY | O_CLOEXEC) };
	err = errno;
	if (kcore->fd < 0)
		return fail(err, "cannot open /proc/kcore, where the kernel's code is read from: %s%s",
			    strerror(err), why_closed(err));
	if (!read_headers(kcore))
		return 0;
	kcore_close(kcore);
	return -1;
}

const Elf64_Phdr *kcore_segment(const struct kcore *kcore, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < kcore->count; i++) {
		const Elf64_Phdr *ph = &kcore->ph[i];

		if (ph->p_type == PT_LOAD && ph->p_vaddr < end && ph->p_vaddr + ph->p_memsz > start)
			return ph;
	}
	return NULL;
}

int kcore_read(const struct kcore *kcore, const Elf64_Phdr *segment, uint64_t address, void *bytes,
	       size_t size)
{
	uint64_t offset = segment->p_offset + (address - segment->p_vaddr);
	size_t at = 0;

	while (at < size) {
		ssize_t got = pread(kcore->fd, (char *)bytes + at, size - at, offset + at);

		if (got <= 0)
			return fail(got ? errno : EIO, "cannot read kernel code at %#" PRIx64 " from /proc/kcore: %s",
				    address + at, got ? strerror(errno) : "it ends");
		at += got;
	}
	return 0;
}

void kcore_close(struct kcore *kcore)
{
	int err = errno;

	free(kcore->ph);
	close(kcore->fd);
	errno = err;
}
