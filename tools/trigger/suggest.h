/* SPDX-License-Identifier: GPL-2.0 */
/* A name that is wrong: which of those that there are was meant? */
#ifndef NEAR_H
#define NEAR_H

#define NEAR_NAMES	3
#define NEAR_LENGTH	128

struct near {
	const char *wanted;
	unsigned int count;
	struct {
		unsigned int distance;
		char name[NEAR_LENGTH];
	} best[NEAR_NAMES];	/* nearest first */
	char text[NEAR_NAMES * (NEAR_LENGTH + 2) + 32];
};

void near_begin(struct near *n, const char *wanted);
void near_offer(struct near *n, const char *name);
/* "; near it are x, y", or "" if nothing is. */
const char *near_text(struct near *n);

#endif
