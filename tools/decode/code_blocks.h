/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Blocks of code: instructions that run one after the other, up to the first that may do something else. A
 * block is decoded once, and kept as long as its code is known to be the same.
 */
#ifndef CODE_BLOCKS_H
#define CODE_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

#include <intel-pt.h>

#include "code_image.h"
#include "insn.h"

#define BLOCK_MAX	15	/* instructions; a longer one is several blocks */

/* One line of the CPU's cache */
struct code_block {
	uint64_t ip;
	uint64_t space;		/* whose code it is */
	uint64_t from, until;	/* TSCs: it is the same from @from on, and before @until */
	uint64_t target;	/* of a direct branch, by the last instruction, */
	uint8_t length;		/* bytes of all */
	uint8_t last_length;	/* of the last one */
	uint8_t special;	/* enum insn_special: what that one is */
	uint8_t iclass;
	bool direct;
	uint8_t mode;
	uint8_t count;		/* instructions; 0: this block is free */
	uint8_t size[BLOCK_MAX]; /* of each */
} __attribute__((aligned(64)));

_Static_assert(BLOCK_MAX * INSN_MAX <= UINT8_MAX, "length");
_Static_assert(sizeof(struct code_block) == 64, "a line of the cache");

/* The address behind it */
static inline uint64_t block_end(const struct code_block *b)
{
	return b->ip + b->length;
}

/* The address of its last instruction */
static inline uint64_t block_last(const struct code_block *b)
{
	return b->ip + b->length - b->last_length;
}

/* Its last instruction, as far as the block has it. The bytes are not in it. */
static inline struct pt_insn block_last_insn(const struct code_block *b)
{
	return (struct pt_insn){ .ip = block_last(b), .size = b->last_length, .mode = b->mode, .iclass = b->iclass };
}

/* Is @b the block at @ip, as its code was at @tsc? @space: code_space()'s. */
static inline bool block_is(const struct code_block *b, uint64_t space, uint64_t tsc, enum pt_exec_mode mode, uint64_t ip)
{
	return b->ip == ip && b->count && b->space == space && b->mode == mode && b->from <= tsc && tsc < b->until;
}

/* A cache: each block has one place. */
struct code_blocks {
	struct code_image *code;
	uint64_t alone;
	unsigned int bits;
	struct code_block block[];
};

/*
 * Blocks of @code. The instruction at @alone (0: none) is always a block of its own. It takes up to 16M; if there are
 * many, @of at once, they take less each.
 */
struct code_blocks *code_blocks_open(struct code_image *code, uint64_t alone, unsigned int of);
void code_blocks_close(struct code_blocks *blocks);

/*
 * The block at @ip, of the code that code_read() has for @cr3 and @tsc. It is valid up to the next call. Returns 0,
 * -pte_bad_insn, or -pte_nomap: code_read() returned *@why.
 */
int code_blocks_find(struct code_blocks *blocks, uint64_t cr3, uint64_t tsc, enum pt_exec_mode mode, uint64_t ip,
		     const struct code_block **block, enum code_result *why);

static inline struct code_block *code_blocks_place(struct code_blocks *b, uint64_t space, uint64_t ip)
{
	uint64_t hash = (ip + space) * 0x9e3779b97f4a7c15ull;

	return &b->block[hash >> (64 - b->bits)];
}

/* Control may come to @ip soon. Most blocks are not in the core's cache: let it read that one meanwhile. */
static inline void code_blocks_prefetch(struct code_blocks *b, uint64_t space, uint64_t ip)
{
	__builtin_prefetch(code_blocks_place(b, code_is_kernel(ip) ? 0 : space, ip));
}

/*
 * The block at @ip, if it is there already and is not the instruction that is always alone; else NULL. @space is
 * code_space()'s for user code.
 */
static inline const struct code_block *code_blocks_known(struct code_blocks *b, uint64_t space, uint64_t tsc,
							 enum pt_exec_mode mode, uint64_t ip)
{
	const struct code_block *block;

	if (code_is_kernel(ip))
		space = 0;
	block = code_blocks_place(b, space, ip);
	return block_is(block, space, tsc, mode, ip) && ip != b->alone ? block : NULL;
}

/* The instruction at @ip alone. */
int code_blocks_insn(struct code_blocks *blocks, uint64_t cr3, uint64_t tsc, enum pt_exec_mode mode, uint64_t ip,
		     struct insn *insn, enum code_result *why);

#endif
