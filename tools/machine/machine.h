/* SPDX-License-Identifier: GPL-2.0-only */
/* What this CPU, kernel and caller can use, and otherwise why not: lib/findings.h has what was found. */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>

/* Adds all findings. */
void machine_find(void);
/* Can auxtrace trace here? No finding says NO about all sources, and one source has no NO of its own. */
bool machine_usable(void);

#endif
