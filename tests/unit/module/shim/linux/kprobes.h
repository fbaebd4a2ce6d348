/* SPDX-License-Identifier: GPL-2.0-only */
/* User space has no kprobes to keep off. */
#ifndef SHIM_LINUX_KPROBES_H
#define SHIM_LINUX_KPROBES_H

#define NOKPROBE_SYMBOL(function) \
	extern int shim_nokprobe_##function

struct kretprobe;
struct kretprobe_instance {
	struct kretprobe *rp;
};

#endif /* SHIM_LINUX_KPROBES_H */
