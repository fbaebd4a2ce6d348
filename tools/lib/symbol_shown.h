/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of C++ and Rust as their sources have them. */
#ifndef SYMBOL_SHOWN_H
#define SYMBOL_SHOWN_H

#include "symbols.h"

/* The name to show. It is the same pointer each time, valid until symbols_free(). */
const char *symbol_shown(struct symbol *sym);

#endif
