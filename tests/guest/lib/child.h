/* SPDX-License-Identifier: GPL-2.0-only */
/* Test code that runs in another process. */
#ifndef VM_CHILD_H
#define VM_CHILD_H

#include <errno.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>

/*
 * Run @fn in a forked child. Return its result, 0 to 119, as a rule 0 or an errno; 128 + n if
 * signal n ended the child. @fn must not use cmocka: a failure cannot reach the parent's test.
 */
int child_run(int (*fn)(void *arg), void *arg);

/* In such a function: says where it failed, and ends it. */
#define CHECK(condition) \
	do { \
		if (!(condition)) { \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __func__, __LINE__, #condition, errno); \
			return 100; \
		} \
	} while (0)

#define CAP(c)	(1ULL << CAP_##c)

/* Keep only these capabilities, as bits CAP(x); 0 or a negative errno. */
int caps_keep(uint64_t caps);
/* Drop these; 0 or a negative errno. */
int caps_drop(uint64_t caps);
/* Make effective all that are permitted, as after a change of the user; 0 or a negative errno. */
int caps_regain(void);

#endif
