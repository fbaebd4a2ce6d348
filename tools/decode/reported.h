/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that perf reports with its bytes when it comes and when it goes: trampolines of ftrace, and the kernel's copies of
 * instructions that have a kprobe.
 *
 * A trampoline: KSYMBOL of type OOL with its name, TEXT_POKE without old bytes; in the end TEXT_POKE without new bytes,
 * KSYMBOL that unregisters it. A kprobe: the same TEXT_POKEs; the KSYMBOLs are those of the page that has many such copies,
 * and the last such page stays.
 */
#ifndef REPORTED_H
#define REPORTED_H

#include "added.h"
#include "lib/symbols.h"
#include "side.h"

/* Append it to @a, not in order. @kallsyms: the kernel's symbols when kcore was written. */
void reported_add(struct added *a, const struct side *side, const struct symbols *kallsyms);

#endif
