/* SPDX-License-Identifier: GPL-2.0-only */
/* Loading and unloading the module. */
#ifndef VM_KMOD_H
#define VM_KMOD_H

/* The module's reference count; -1 if it is not loaded. */
int kmod_users(void);
/* 0 or a negative errno; -EWOULDBLOCK if it is in use. */
int kmod_unload(void);
/* Load the file that $AUXTRACE_KO names and wait for the device node: 0 or a negative errno. */
int kmod_load(void);
/* Skips the running test, saying why, if $AUXTRACE_KO does not name a file. */
void kmod_required(void);

#endif
