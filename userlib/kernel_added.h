/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that the kernel generated while a recording ran, as the caller reports it: BPF programs. The kernel's code is
 * copied at the recording's end (kernel_code.h), when such code may be gone.
 */
#ifndef KERNEL_ADDED_H
#define KERNEL_ADDED_H

#include <stddef.h>
#include <stdint.h>

#define ADDED_LIMIT	(16u << 20)	/* bytes of code in a list */

struct added_code {
	uint64_t address;
	uint64_t begin, end;	/* times in the session's clock: it was there; UINT64_MAX: it still is */
	uint64_t read;		/* when its bytes were read, at the latest */
	size_t size;
	uint8_t *bytes;		/* and behind them the name */
};

struct kernel_added {
	struct added_code *code;	/* in the order of the reports */
	size_t count;
	size_t size;		/* of all their bytes */
};

/* See auxtrace_recording_add_kernel_code(), auxtrace_recording_end_kernel_code(). 0, or -1 with errno and the message. */
int kernel_added_add(struct kernel_added *added, uint64_t time, uint64_t address, size_t size, const char *name);
int kernel_added_end(struct kernel_added *added, uint64_t time, uint64_t address);

/* Write the file kcore.added of a recording; without such code there is none. 0, or -1 with errno and the message. */
int kernel_added_write(const struct kernel_added *added, int dirfd);

/* errno stays. */
void kernel_added_free(struct kernel_added *added);

#endif
