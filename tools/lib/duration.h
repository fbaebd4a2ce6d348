/* SPDX-License-Identifier: GPL-2.0 */
/* How long something took, for people. */
#ifndef DURATION_H
#define DURATION_H

#include <stddef.h>
#include <stdint.h>

/* @sign, then @ns in the unit that it needs, such as 1.25us; 16 bytes are enough for a sign of one character. */
void duration_text(char *text, size_t size, const char *sign, uint64_t ns);

#endif
