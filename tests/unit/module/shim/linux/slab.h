/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define GFP_KERNEL			0
#define GFP_KERNEL_ACCOUNT		0
#define __GFP_NOWARN			0
#define __GFP_RETRY_MAYFAIL		0
/* While it is true there is no memory for a channel, nor for anything of kvzalloc(). */
__attribute__((weak)) bool shim_no_memory;
/* The how-many-th allocation from now on fails; 0: none. */
__attribute__((weak)) unsigned int shim_fail_alloc;

static inline bool shim_alloc_fails(void)
{
	return shim_no_memory || (shim_fail_alloc && !--shim_fail_alloc);
}

#define kzalloc_node(size, gfp, node)	((void)(node), shim_alloc_fails() ? NULL : calloc(1, size))
#define kvzalloc(size, gfp)		(shim_alloc_fails() ? NULL : calloc(1, size))
#define kcalloc(n, size, gfp)		(shim_alloc_fails() ? NULL : calloc(n, size))
#define struct_size(p, member, n)	(sizeof(*(p)) + sizeof((p)->member[0]) * (n))
#define kvfree(p)			free(p)
#define kfree(p)			free(p)

#endif /* SHIM_LINUX_SLAB_H */
