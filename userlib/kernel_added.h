/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that the kernel generated while a recording ran, as the caller reports it: BPF programs. The kernel's code is
 * copied at the recording's end (kernel_code.h), when such code may be gone.
 */
#ifndef KERNEL_ADDED_H
#define KERNEL_ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ADDED_LIMIT	(4u << 20)	/* bytes of a list */

struct added_code {
	uint64_t address;
	uint64_t from, until;	/* in the session's clock: it was there; until is UINT64_MAX if it still is */
	uint64_t read;		/* when its bytes had been read */
	size_t size;
	uint8_t *bytes;		/* and behind them the name */
};

struct kernel_added {
	struct added_code *code;	/* in the order of the reports */
	size_t count;
	size_t size;		/* of it all */
	bool newest;		/* of an overwritten trace: what has been gone for longest makes room */
};

/* See auxtrace_recording_add_kernel_code(), auxtrace_recording_end_kernel_code(). 0, or -1 with errno and the message. */
int kernel_added_add(struct kernel_added *added, uint64_t time, uint64_t address, size_t size, const char *name);
int kernel_added_end(struct kernel_added *added, uint64_t time, uint64_t address);

/* Write the file kcore.added of a recording; without such code there is none. 0, or -1 with errno and the message. */
int kernel_added_write(const struct kernel_added *added, int dirfd);

/* errno stays. */
void kernel_added_free(struct kernel_added *added);

#endif
