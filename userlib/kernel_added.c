// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "internal.h"
#include "kcore.h"
#include "kernel_added.h"
#include "recording_dir.h"

#define KERNEL_HALF	(1ull << 63)

static size_t room_of(const struct added_code *code)
{
	return sizeof(*code) + code->size + strlen((const char *)code->bytes + code->size) + 1;
}

static void forget(struct kernel_added *added, size_t i)
{
	added->size -= room_of(&added->code[i]);
	free(added->code[i].bytes);
	memmove(&added->code[i], &added->code[i + 1], (--added->count - i) * sizeof(*added->code));
}

/* Of the code that is gone that which has been so for longest; added->count: none is. */
static size_t find_oldest(const struct kernel_added *added)
{
	size_t oldest = added->count;

	for (size_t i = 0; i < added->count; i++)
		if (added->code[i].until != UINT64_MAX &&
		    (oldest == added->count || added->code[i].until < added->code[oldest].until))
			oldest = i;
	return oldest;
}

static int append(struct kernel_added *added, const struct added_code *code)
{
	size_t room = room_of(code);
	struct added_code *grown;

	while (added->newest && added->size + room > ADDED_LIMIT && find_oldest(added) < added->count)
		forget(added, find_oldest(added));
	if (added->size + room > ADDED_LIMIT)
		return fail(ENOSPC, "there is room for %u bytes of code that the kernel generates: %s is not recorded",
			    ADDED_LIMIT, (const char *)code->bytes + code->size);
	grown = realloc(added->code, (added->count + 1) * sizeof(*grown));
	if (!grown)
		return fail(ENOMEM, "no memory for a list of code that the kernel generated");
	added->code = grown;
	added->code[added->count++] = *code;
	added->size += room;
	return 0;
}

static int read_bytes(const struct added_code *code)
{
	uint64_t end = code->address + code->size;
	const Elf64_Phdr *segment;
	struct kcore kcore;
	int ret;

	if (kcore_open(&kcore))
		return -1;
	segment = kcore_segment(&kcore, code->address, end);
	if (!segment || code->address < segment->p_vaddr || end > segment->p_vaddr + segment->p_memsz)
		ret = fail(EFAULT, "/proc/kcore does not have the %zu bytes at %#" PRIx64, code->size, code->address);
	else
		ret = kcore_read(&kcore, segment, code->address, code->bytes, code->size);
	kcore_close(&kcore);
	return ret;
}

/* The newest code at @address that is still there; NULL: none is. */
static const struct added_code *find(const struct kernel_added *added, uint64_t address)
{
	for (size_t i = added->count; i--;)
		if (added->code[i].address == address && added->code[i].until == UINT64_MAX)
			return &added->code[i];
	return NULL;
}

static bool is_same(const struct added_code *a, const struct added_code *b)
{
	return a->from == b->from && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

/* Frees code->bytes unless they are in the list then. */
static int take(struct kernel_added *added, struct added_code *code)
{
	const struct added_code *before;

	if (read_bytes(code)) {
		free(code->bytes);
		return -1;
	}
	code->read = __rdtsc();
	before = find(added, code->address);
	if (before && is_same(before, code)) {
		free(code->bytes);
		return 0;
	}
	/* Its end was not reported: the kernel uses the memory again. */
	if (before && before->from != code->from && kernel_added_end(added, code->from, code->address))
		fail_forget();
	if (append(added, code)) {
		free(code->bytes);
		return -1;
	}
	return 0;
}

int kernel_added_add(struct kernel_added *added, uint64_t time, uint64_t address, size_t size, const char *name)
{
	struct added_code code = { .address = address, .from = time, .until = UINT64_MAX, .size = size };

	if (address < KERNEL_HALF || !size || size > ADDED_LIMIT || address + size < address)
		return fail(EINVAL, "%zu bytes at %#" PRIx64 " are no code of the kernel", size, address);
	if (strchr(name, '\n'))
		return fail(EINVAL, "a name of code has no line break");
	code.bytes = malloc(size + strlen(name) + 1);
	if (!code.bytes)
		return fail(ENOMEM, "no memory for %zu bytes of code that the kernel generated", size);
	strcpy((char *)code.bytes + size, name);
	return take(added, &code);
}

int kernel_added_end(struct kernel_added *added, uint64_t time, uint64_t address)
{
	bool known = false;

	for (size_t i = 0; i < added->count;) {
		struct added_code *code = &added->code[i];

		if (code->address == address && code->until == UINT64_MAX && time <= code->read) {
			/* The memory may have been other code's by then. */
			forget(added, i);
			continue;
		}
		if (code->address == address && code->until == UINT64_MAX) {
			code->until = time;
			known = true;
		}
		i++;
	}
	return known ? 0 : fail(ENOENT, "of the code at %#" PRIx64 " nothing was read while it was there", address);
}

static void write_bytes(FILE *out, const uint8_t *bytes, size_t count)
{
	static const char digit[] = "0123456789abcdef";

	for (size_t i = 0; i < count; i++) {
		putc_unlocked(digit[bytes[i] >> 4], out);
		putc_unlocked(digit[bytes[i] & 15], out);
	}
}

int kernel_added_write(const struct kernel_added *added, int dirfd)
{
	FILE *out;

	if (!added->count)
		return 0;
	out = recording_file(dirfd, "kcore.added");
	if (!out)
		return -1;
	for (size_t i = 0; i < added->count; i++) {
		const struct added_code *code = &added->code[i];

		fprintf(out, "added %#" PRIx64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " ", code->address, code->from,
			code->until == UINT64_MAX ? 0 : code->until, code->read);
		write_bytes(out, code->bytes, code->size);
		fprintf(out, " %s\n", (const char *)code->bytes + code->size);
	}
	return recording_file_close(out, "kcore.added");
}

void kernel_added_free(struct kernel_added *added)
{
	int err = errno;

	for (size_t i = 0; i < added->count; i++)
		free(added->code[i].bytes);
	free(added->code);
	*added = (struct kernel_added){ 0 };
	errno = err;
}
