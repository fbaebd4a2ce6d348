/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The code that ran: bytes and names of an address in an address space.
 *
 * Kernel addresses are the same in all address spaces and come from the
 * recording's kcore. User addresses come from the files that the task with that
 * CR3 had mapped. An address space that is not in the recording has no code here:
 * it is never taken from another one that looks alike.
 */
#ifndef CODE_IMAGE_H
#define CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct code_image;

#define CODE_NO_CR3	UINT64_MAX	/* as libipt says it */

enum code_result {
	CODE_OK,
	CODE_NO_TASK,		/* no task with that CR3; without CR3: not one, or several */
	CODE_PROBES,		/* the kernel's page for probed instructions, whose bytes nobody has */
	CODE_NO_MAPPING,	/* the task had no code there, or its file cannot be read */
};

/* Reads the recording in @dir; files of programs are looked for below @symfs. */
struct code_image *code_open(const char *dir, const char *symfs);
void code_close(struct code_image *code);

static inline bool code_is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/*
 * Up to @size bytes at @ip; *@got is how many, at least 1 if CODE_OK. Where two
 * tasks had one CR3, one after the other, @tsc (0: unknown) says which is meant.
 */
enum code_result code_read(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip,
			   uint8_t *buf, size_t size, size_t *got);

/* Is the code at @ip, which code_read() can read, that of a 32-bit program? */
bool code_is_32bit(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip);
/*
 * Does the kernel take interrupts and exceptions at @ip, so that no branch goes there?
 * @unknown: what to answer for a kernel address if the recording does not tell its entries.
 */
bool code_is_entry(const struct code_image *code, uint64_t ip, bool unknown);

struct code_name {
	const char *function;	/* NULL: unknown */
	uint64_t offset;	/* from its begin; function unknown: from the file's begin */
	const char *object;	/* base name of the file, "[vdso]" or "[kernel]"; NULL: unknown */
};
void code_name(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct code_name *name);

#endif
