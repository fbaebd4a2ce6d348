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

/* The first segment that has memory from @start to @end, or NULL. */
const Elf64_Phdr *kcore_segment(const struct kcore *kcore, uint64_t start, uint64_t end);

/* These return 0, or -1 with errno and the message. */
int kcore_open(struct kcore *kcore);
/* The @size bytes at @address, which @segment has. */
int kcore_read(const struct kcore *kcore, const Elf64_Phdr *segment, uint64_t address, void *bytes,
	       size_t size);

/* errno stays. */
void kcore_close(struct kcore *kcore);

#endif
