/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One x86 instruction: its length, and where control can go from it. */
#ifndef INSN_H
#define INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#define INSN_MAX	15	/* bytes */

/* What else a trace of Intel PT says of instructions that do not branch for it */
enum insn_special {
	INSN_PLAIN,
	INSN_MOVES_TO_CR3,
	INSN_LOADS_VMCS,	/* VMPTRLD */
	INSN_ENTERS_VM,		/* VMLAUNCH, VMRESUME */
	INSN_CALLS_VMM,		/* VMCALL */
};

struct insn {
	struct pt_insn pt;	/* as libipt has it; iclass ptic_error: not an instruction */
	uint64_t target;	/* of a direct branch, or of an XBEGIN's abort */
	bool direct;		/* near branch to @target; if conditional, or to the next instruction */
	bool interrupt;		/* INT n, INT3, INT1 */
	bool begins_tx;		/* XBEGIN */
	bool may_stop;		/* may stop tracing: WRMSR, VM entries */
	enum insn_special special;
};

/* Returns false if the @size bytes at @bytes do not begin with an instruction. */
bool insn_decode(struct insn *insn, enum pt_exec_mode mode, uint64_t ip, const uint8_t *bytes,
		 size_t size);

/* Does control never continue behind it? */
static inline bool insn_ends_block(const struct insn *insn)
{
	return insn->pt.iclass != ptic_other && insn->pt.iclass != ptic_cond_jump &&
	       insn->pt.iclass != ptic_ptwrite;
}

#endif
