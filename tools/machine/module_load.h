/* SPDX-License-Identifier: GPL-2.0-only */
/* Why the kernel module is not loaded. */
#ifndef MODULE_LOAD_H
#define MODULE_LOAD_H

/*
 * Adds a finding that says what stands between the kernel and the module, where it is not loaded: not installed, refused by
 * name, or by its signature; or that nothing does. Loads nothing.
 */
void find_module(void);

#endif
