/* SPDX-License-Identifier: GPL-2.0 */
/* The module as the kernel holds it. */
#ifndef VM_KMOD_H
#define VM_KMOD_H

/* Users of the module now; -1 if it is not loaded. */
int kmod_users(void);
/* Take it out, if nobody uses it: 0 or a negative errno (-EWOULDBLOCK: in use). */
int kmod_unload(void);
/*
 * Put it in, from the file that $AUXTRACE_KO names, and wait for the device
 * node: 0 or a negative errno.
 */
int kmod_load(void);
/* Skips the running test, saying why, if $AUXTRACE_KO does not name a file. */
void kmod_required(void);

#endif
