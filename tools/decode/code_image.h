/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code that ran: the bytes and names at an address of an address space.
 *
 * Kernel code is the same in all address spaces and comes from the recording's kcore and kcore.added. User
 * code comes from the files that the task with that CR3 had mapped, or, where its CR3 is not known, the process that
 * runs. An address space that is not in the recording has no code here, even if another one looks similar.
 */
#ifndef CODE_IMAGE_H
#define CODE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meta.h"
#include "lib/source_lines.h"
#include "side.h"

struct code_image;

#define CODE_NO_CR3	UINT64_MAX	/* unknown; libipt's value for it */

enum code_result {
	CODE_OK,
	/*
	 * No task has that CR3, or the one that has it was recorded later and has no code there: then another task, which
	 * was not recorded, may have had the CR3. Without CR3: none has code there, or several differ.
	 */
	CODE_NO_TASK,
	CODE_PROBES,		/* the kernel's page for probed instructions, which cannot be read */
	CODE_NO_MAPPING,	/* the task had no code there, or the file cannot be read */
};

/*
 * Reads the recording in @dir. The files of programs are below @symfs. The kernel's code is as it was at
 * the time of each read as far as @side says, which must outlive the image. NULL, with a message, if it cannot
 * be read.
 */
struct code_image *code_open(const char *dir, const struct meta *meta, const char *symfs, const struct side *side);
/*
 * Another reader of the same code, for another thread; @of must outlive it. It has no names and no source lines:
 * code_name() and code_place() are only for the one that code_open() returned.
 */
struct code_image *code_share(const struct code_image *of);
void code_close(struct code_image *code);

/* Did the kernel patch or generate code during the recording, as far as is known? */
bool code_was_patched(const struct code_image *code);

/* Is that code which the kernel has generated, and kcore does not have? */
bool code_is_generated(struct code_image *code, uint64_t tsc, uint64_t ip);

/*
 * Process @pid runs now; 0: not known. It decides where neither CR3 nor the addresses alone tell which
 * process's code ran.
 */
void code_run_by(struct code_image *code, uint32_t pid);

/* The address of the kernel's function @name; 0: not known. */
uint64_t code_kernel_function(const struct code_image *code, const char *name);

/*
 * Places where the kernel's code changed during the recording, and it is not known when; 0 also if
 * that is not known.
 */
size_t code_changes(const struct code_image *code);

static inline bool code_is_kernel(uint64_t ip)
{
	return ip >> 63;
}

/*
 * Read up to @size bytes at @ip. CODE_OK: *@got is their number, at least 1. If two tasks had
 * the same CR3 one after the other, @tsc (0: unknown) decides which one.
 */
enum code_result code_read(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip,
			   uint8_t *buf, size_t size, size_t *got);

/*
 * What code_read() returns depends on the address space only by this number, and on the process that runs. Code of
 * different spaces may be the same.
 */
uint64_t code_space(const struct code_image *code, uint64_t cr3, uint64_t ip);
/* code_read() returns the same for [@ip, @ip + @size) at each TSC from @from on, and before @until. @tsc is one of them. */
void code_lasts(const struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, size_t size, uint64_t *from,
		uint64_t *until);

/* Is the code at @ip, which code_read() can read, part of a 32-bit program? */
bool code_is_32bit(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip);
/*
 * Is @ip an entry of the kernel for interrupts and exceptions? Branches do not go there.
 * @unknown: the answer for kernel addresses if the recording does not have the entries.
 */
bool code_is_entry(const struct code_image *code, uint64_t ip, bool unknown);

struct code_name {
	const char *function;	/* NULL: unknown */
	uint64_t offset;	/* in the function; if that is unknown, in the file */
	bool thunk;		/* a retpoline or return thunk: a part of the call or return by which control came */
	const char *object;	/* base name of the file, "[vdso]", "[jit]" or "[kernel]"; NULL: unknown */
};
void code_name(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct code_name *name);

/*
 * Where in its source the code is. Returns false if it is not known; then @place says for which addresses
 * that holds.
 */
bool code_place(struct code_image *code, uint64_t cr3, uint64_t tsc, uint64_t ip, struct source_place *place);

#endif
