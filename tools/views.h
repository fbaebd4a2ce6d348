/* SPDX-License-Identifier: GPL-2.0 */
/* The forms in which `auxtrace script` shows a flow; all write to stdout. */
#ifndef VIEWS_H
#define VIEWS_H

#include "flow.h"

struct view *insn_view(void);	/* one line an instruction, for programs */
struct view *calls_view(void);	/* function calls, for people */
struct view *errors_view(void);	/* only what went wrong */

#endif
