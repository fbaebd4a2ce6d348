/* SPDX-License-Identifier: GPL-2.0 */
/* One x86 instruction: how long it is, and where control may go from it. */
#ifndef INSN_H
#define INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#define INSN_MAX	15	/* bytes */

struct insn {
	struct pt_insn pt;	/* as libipt tells it; iclass ptic_error: none */
	uint64_t target;	/* of a direct branch; where an XBEGIN goes that aborts */
	bool direct;		/* near, to @target or, if conditional, to the next one */
	bool interrupt;		/* INT n, INT3, INT1 */
	bool begins_tx;		/* XBEGIN */
	bool may_stop;		/* behind it the trace may be off: WRMSR, VM entries */
};

/* False if @bytes, of which there are @size, do not begin with an instruction. */
bool insn_decode(struct insn *insn, enum pt_exec_mode mode, uint64_t ip, const uint8_t *bytes,
		 size_t size);

/* Does control never go on behind it? */
static inline bool insn_ends_block(const struct insn *insn)
{
	return insn->pt.iclass != ptic_other && insn->pt.iclass != ptic_cond_jump &&
	       insn->pt.iclass != ptic_ptwrite;
}

#endif
