/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What the kernel calls a BPF image: trampolines and dispatchers, code that it makes for programs, as perf's KSYMBOL records
 * name it.
 */
#ifndef BPF_IMAGE_H
#define BPF_IMAGE_H

#include <stdbool.h>
#include <string.h>

static inline bool bpf_is_image(const char *name)
{
	return !strncmp(name, "bpf_trampoline_", 15) || !strncmp(name, "bpf_dispatcher_", 15);
}

#endif
