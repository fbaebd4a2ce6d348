/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Colours and a pager, for output that a person reads. Nothing of it happens unless stdout is a terminal. */
#ifndef TERMINAL_H
#define TERMINAL_H

enum style {
	STYLE_PLAIN,
	STYLE_FAINT,		/* what is the same in most lines */
	STYLE_KERNEL,
	STYLE_SOURCE,
	STYLE_HEADING,
	STYLE_BAD,
	NR_STYLES
};

/*
 * "always", "never" or "auto": stdout is a terminal that is not dumb, and the variable NO_COLOR is empty.
 * Dies for anything else. Without a call there are no colours.
 */
void terminal_colour(const char *when);
/* What begins text of this style; STYLE_PLAIN ends it. "" without colours. */
const char *style(enum style s);

/*
 * Let $AUXTRACE_PAGER or $PAGER (less) show what stdout and stderr get; "cat" or "": none. To be called before
 * anything is printed.
 */
void pager_begin(void);
/* Wait until the user has seen enough. Nothing can be printed to stdout any more. */
void pager_end(void);

#endif
