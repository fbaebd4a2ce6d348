/* SPDX-License-Identifier: GPL-2.0 */
#ifndef SHIM_LINUX_SLAB_H
#define SHIM_LINUX_SLAB_H

#include <stdlib.h>
#include <string.h>

#define GFP_KERNEL			0
#define GFP_KERNEL_ACCOUNT		0
#define __GFP_NOWARN			0
#define __GFP_RETRY_MAYFAIL		0
#define kzalloc_node(size, gfp, node)	((void)(node), calloc(1, size))
#define kvzalloc(size, gfp)		calloc(1, size)
#define kvfree(p)			free(p)
#define kfree(p)			free(p)

#endif /* SHIM_LINUX_SLAB_H */
