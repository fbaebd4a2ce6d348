// SPDX-License-Identifier: LGPL-2.1-or-later
#include <sys/mman.h>

#include "code_blocks.h"
#include "lib/tool.h"

/* Blocks of a cache: 16M, and as many as 16 caches have altogether, but not fewer than are of some use. */
#define MAX_BITS	18
#define MIN_BITS	12
#define ALL_BLOCKS	(16u << MAX_BITS)

static size_t size_of(unsigned int bits)
{
	return sizeof(struct code_blocks) + (sizeof(struct code_block) << bits);
}

struct code_blocks *code_blocks_open(struct code_image *code, uint64_t alone, unsigned int of)
{
	unsigned int bits = MAX_BITS;
	struct code_blocks *b;

	while (bits > MIN_BITS && (uint64_t)of << bits > ALL_BLOCKS)
		bits--;
	/* The kernel clears what is touched. */
	b = mmap(NULL, size_of(bits), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b == MAP_FAILED)
		out_of_memory();
	/*
	 * Blocks are all over it: with small pages most look-ups miss the TLB. With large ones it is soon resident as a
	 * whole. It works as well without them.
	 */
	madvise(b, size_of(bits), MADV_HUGEPAGE);
	b->code = code;
	b->alone = alone;
	b->bits = bits;
	return b;
}

void code_blocks_close(struct code_blocks *b)
{
	munmap(b, size_of(b->bits));
}

int code_blocks_insn(struct code_blocks *b, uint64_t cr3, uint64_t tsc, enum pt_exec_mode mode, uint64_t ip,
		     struct insn *insn, enum code_result *why)
{
	uint8_t bytes[INSN_MAX];
	size_t size, got;

	*why = code_read(b->code, cr3, tsc, ip, bytes, sizeof(bytes), &size);
	if (*why != CODE_OK)
		return -pte_nomap;
	/* It may continue in the next mapping. */
	if (size < sizeof(bytes) &&
	    code_read(b->code, cr3, tsc, ip + size, bytes + size, sizeof(bytes) - size, &got) == CODE_OK)
		size += got;
	return insn_decode(insn, mode, ip, bytes, size) ? 0 : -pte_bad_insn;
}

/* Does control always go on behind it, and no packet depend on it? */
static bool goes_on(const struct insn *insn)
{
	return insn->pt.iclass == ptic_other && insn->special == INSN_PLAIN;
}

static void append(struct code_block *block, const struct insn *insn)
{
	block->last_length = insn->pt.size;
	block->length += insn->pt.size;
	block->target = insn->target;
	block->special = insn->special;
	block->direct = insn->direct;
	block->iclass = insn->pt.iclass;
	/* What leads into a virtual machine and out of it branches far. */
	if (insn->special == INSN_ENTERS_VM)
		block->iclass = ptic_far_return;
	else if (insn->special == INSN_CALLS_VMM)
		block->iclass = ptic_far_call;
	block->size[block->count++] = insn->pt.size;
}

static int fill(struct code_blocks *b, struct code_block *block, uint64_t cr3, uint64_t tsc, enum code_result *why)
{
	uint64_t ip = block->ip;

	block->count = block->length = 0;
	do {
		struct insn insn;
		int status = code_blocks_insn(b, cr3, tsc, block->mode, ip, &insn, why);

		/* What cannot be read or decoded behind others is an error only if control arrives there. */
		if (status)
			return block->count ? 0 : status;
		append(block, &insn);
		if (!goes_on(&insn))
			return 0;
		ip = block_end(block);
	} while (block->count < BLOCK_MAX && ip != b->alone && block->ip != b->alone);
	return 0;
}

static int make(struct code_blocks *b, struct code_block *block, uint64_t cr3, uint64_t tsc, enum code_result *why)
{
	int status = fill(b, block, cr3, tsc, why);

	if (!status)
		code_lasts(b->code, cr3, tsc, block->ip, block->length, &block->from, &block->until);
	else
		block->count = 0;
	return status;
}

int code_blocks_find(struct code_blocks *b, uint64_t cr3, uint64_t tsc, enum pt_exec_mode mode, uint64_t ip,
		     const struct code_block **found, enum code_result *why)
{
	uint64_t space = code_space(b->code, cr3, ip);
	struct code_block *block = code_blocks_place(b, space, ip);

	*found = block;
	if (block_is(block, space, tsc, mode, ip))
		return 0;
	block->ip = ip;
	block->space = space;
	block->mode = mode;
	return make(b, block, cr3, tsc, why);
}
