/* SPDX-License-Identifier: GPL-2.0-only */
/* What a subcommand writes besides its standard output. */
#ifndef OUTPUT_H
#define OUTPUT_H

/*
 * Dies if @path exists, or if nothing can be made there: decoding may take minutes, and its result would then have
 * no place. Whoever makes it must not overwrite what is there by then, either.
 */
void output_must_be_new(const char *path);

#endif
