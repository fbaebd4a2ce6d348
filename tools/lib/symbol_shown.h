/* SPDX-License-Identifier: GPL-2.0 */
/* Names of C++ and Rust as their sources have them. */
#ifndef SYMBOL_SHOWN_H
#define SYMBOL_SHOWN_H

#include "symbols.h"

/* The name to show. It is the same pointer each time, valid until symbols_free(). */
const char *symbol_shown(struct symbol *sym);

#endif
