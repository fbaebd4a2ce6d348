/* SPDX-License-Identifier: GPL-2.0-only */
/* Suggestions for a misspelt name. */
#ifndef SUGGEST_H
#define SUGGEST_H

#define SUGGEST_NAMES	3
#define SUGGEST_LENGTH	128

struct suggestions {
	const char *wanted;
	unsigned int count;
	struct {
		unsigned int distance;
		char name[SUGGEST_LENGTH];
	} best[SUGGEST_NAMES];	/* nearest first */
	char text[SUGGEST_NAMES * (SUGGEST_LENGTH + 2) + 32];
};

void suggest_begin(struct suggestions *n, const char *wanted);
/* Consider @name, one of the existing names. */
void suggest_offer(struct suggestions *n, const char *name);
/* "; near it are x, y" for the end of a message, or "" if no offered name is similar. */
const char *suggest_text(struct suggestions *n);

#endif
