/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* /proc/kcore: an ELF core file of the kernel's memory. */
#ifndef KCORE_H
#define KCORE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

struct kcore {
	int fd;
	Elf64_Phdr *ph;
	size_t count;
};

/* The segment that has @address, or NULL. */
const Elf64_Phdr *kcore_segment(const struct kcore *kcore, uint64_t address);

/* These return 0, or -1 with errno and the message. */
int kcore_open(struct kcore *kcore);
/* The @size bytes at @offset, which are the kernel's at @address. */
int kcore_read(const struct kcore *kcore, uint64_t offset, uint64_t address, void *bytes, size_t size);

void kcore_close(struct kcore *kcore);

#endif
