/* SPDX-License-Identifier: GPL-2.0 */
/* SETUP as the tests of it want it: right but for what they change. */
#ifndef VM_SETUP_H
#define VM_SETUP_H

#include "uapi.h"

#define SETUP_AUX_SIZE	(64 * 1024)

/* A right one: user code on the first CPU, an area of SETUP_AUX_SIZE. */
void setup_prepare(struct session *s);

/* SETUP takes @s, of a file of its own. */
void setup_ok(struct session *s);

/* It refuses @wrong with @err, then accepts a right one on the same file. */
void setup_refuses(int err, struct session *wrong);

#endif
