/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The views of auxtrace script. All write to stdout. */
#ifndef VIEWS_H
#define VIEWS_H

#include "flow.h"

struct view *insn_view(void);	/* one line an instruction, for programs */
struct view *branches_view(void); /* BTS records, for people */
struct view *errors_view(void);	/* only errors, for programs */

/* Callbacks for what a view does not show: */
void no_enable(struct view *v, const struct flow *f, uint64_t ip);
void no_disable(struct view *v, const struct flow *f, uint64_t ip, bool known);
void no_async(struct view *v, const struct flow *f, uint64_t from, uint64_t to, bool known);
void no_insn(struct view *v, const struct flow *f, const struct pt_insn *insn);

#endif
