/* SPDX-License-Identifier: GPL-2.0-only */
/* SETUP for the tests of it: valid except for what a test changes. */
#ifndef VM_SETUP_H
#define VM_SETUP_H

#include "uapi.h"

#define SETUP_AUX_SIZE	(64 * 1024)

/* A valid one: user code on the first CPU, an area of SETUP_AUX_SIZE. */
void setup_prepare(struct session *s);

/* SETUP of @s succeeds on a new file. */
void setup_ok(struct session *s);

/* SETUP of @wrong fails with @err, then a valid one succeeds on the same file. */
void setup_refuses(int err, struct session *wrong);

#endif
