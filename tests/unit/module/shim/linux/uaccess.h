/* SPDX-License-Identifier: GPL-2.0-only */
/* User memory is the test's. */
#ifndef SHIM_LINUX_UACCESS_H
#define SHIM_LINUX_UACCESS_H

#include <errno.h>
#include <string.h>
#include <linux/mm.h>
#include <linux/types.h>

#define u64_to_user_ptr(address)	((void *)(unsigned long)(address))

static inline int copy_struct_from_user(void *to, size_t size, const void *from, size_t from_size)
{
	size_t least = from_size < size ? from_size : size;

	/* What this kernel does not know is not asked for. */
	for (size_t i = size; i < from_size; i++)
		if (((const char *)from)[i])
			return -E2BIG;
	memset(to, 0, size);
	memcpy(to, from, least);
	return 0;
}

#endif /* SHIM_LINUX_UACCESS_H */
