/* SPDX-License-Identifier: GPL-2.0 */
/* The forms in which `auxtrace script` shows a flow; all write to stdout. */
#ifndef VIEWS_H
#define VIEWS_H

#include "flow.h"

struct view *insn_view(void);	/* one line an instruction, for programs */
struct view *calls_view(void);	/* function calls, for people */
struct view *branches_view(void); /* records of BTS, for people */
struct view *errors_view(void);	/* only what went wrong */

/* For what a view does not show: */
void no_enable(struct view *v, const struct flow *f, uint64_t ip);
void no_disable(struct view *v, const struct flow *f, uint64_t ip, bool known);
void no_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known);
void no_insn(struct view *v, const struct flow *f, const struct pt_insn *insn);

#endif
