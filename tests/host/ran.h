/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the CPUs executed according to QEMU's execution log, as execlog leaves it for flowcmp
 * and btscmp: 64-bit words in the log's order, all CPUs together.
 */
#ifndef VM_RAN_H
#define VM_RAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ran_kind {
	RAN_INSN,	/* an attempt to execute the instruction at the IP */
	RAN_STOPPED,	/* that CPU's latest attempt at the IP was not completed */
	RAN_EVENT,	/* an interrupt or exception that will return to the IP; the next
			 * word is the base of the task register, which differs between CPUs */
};

/* How an instruction changes the flow; only if QEMU logged its bytes. */
enum ran_class {
	RAN_PLAIN,	/* no branch */
	RAN_JCC,	/* conditional */
	RAN_NEAR,	/* JMP, CALL, RET */
	RAN_FAR,	/* far transfers, IRET, SYSCALL, SYSRET */
	RAN_WRMSR,
};

#define RAN_MAX_CPUS	32

/* bits 0-47 IP, 48-52 CPU, 53 CPL is 3, 54-57 length or 0, 58-60 class, 61-62 kind */
static inline uint64_t ran_word(enum ran_kind kind, unsigned int cpu, uint64_t ip)
{
	return (ip & ((1ULL << 48) - 1)) | (uint64_t)cpu << 48 | (uint64_t)kind << 61;
}

static inline uint64_t ran_code(enum ran_class class, unsigned int length, bool user)
{
	return (uint64_t)user << 53 | (uint64_t)length << 54 | (uint64_t)class << 58;
}

static inline uint64_t ran_ip(uint64_t word)
{
	return (uint64_t)((int64_t)(word << 16) >> 16);
}

static inline unsigned int ran_cpu(uint64_t word)
{
	return word >> 48 & 31;
}

static inline bool ran_user(uint64_t word)
{
	return word >> 53 & 1;
}

static inline unsigned int ran_length(uint64_t word)
{
	return word >> 54 & 15;
}

static inline enum ran_class ran_class(uint64_t word)
{
	return word >> 58 & 7;
}

static inline enum ran_kind ran_kind(uint64_t word)
{
	return word >> 61 & 3;
}

/* What one CPU did. */
struct ran {
	uint64_t *word;		/* RAN_INSN and RAN_EVENT */
	size_t count, space;
};

/*
 * Reads execlog's file @path into @ran, which the caller has zeroed: the instructions that @cpu
 * completed and its interrupts and exceptions, in order. The caller frees ran->word. Ends the
 * program with status 2 and a message if the file cannot be read.
 */
void ran_load(struct ran *ran, const char *path, unsigned int cpu);

#endif
