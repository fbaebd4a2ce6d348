/* SPDX-License-Identifier: GPL-2.0-only */
/* The capabilities that INFO collects from the trace PMUs. */
#ifndef AUXT_CAPS_H
#define AUXT_CAPS_H

#include <linux/auxtrace.h>
#include <linux/compiler.h>
#include <linux/string.h>
#include <linux/types.h>

/**
 * struct auxt_caps - capabilities, one after another
 * @len: bytes in use
 * @bytes: struct auxtrace_cap_*; info.c asserts that all of them fit
 */
struct auxt_caps {
	u32 len;
	u8 bytes[256] __aligned(8);
};

/* Adds a capability: any struct auxtrace_cap_* that begins with @cap. */
static __always_inline void auxt_caps_add(struct auxt_caps *caps, const struct auxtrace_cap *cap)
{
	memcpy(caps->bytes + caps->len, cap, cap->size);
	caps->len += cap->size;
}

#endif /* AUXT_CAPS_H */
