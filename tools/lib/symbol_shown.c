// SPDX-License-Identifier: LGPL-2.1-or-later
#include <libiberty/demangle.h>

#include "symbol_shown.h"

/*
 * Not cplus_demangle(), which knows more languages: it needs libiberty's xmalloc(), which brings a second
 * xrealloc(). Rust comes first, as its older names are C++ names, too, with a hash at the end.
 */
static char *demangle(const char *name)
{
	const int options = DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO;

	return rust_demangle(name, options) ?: cplus_demangle_v3(name, options);
}

const char *symbol_shown(struct symbol *sym)
{
	if (!sym->demangled && sym->name[0] == '_' && (sym->name[1] == 'Z' || sym->name[1] == 'R'))
		sym->demangled = demangle(sym->name);
	return sym->demangled ?: sym->name;
}
