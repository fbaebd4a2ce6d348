// SPDX-License-Identifier: GPL-2.0-only
/* CPU sets from user space. */

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include "cpuset.h"

/* Longest set accepted, in bytes: more CPUs than any machine has. Bounds check_zeroed_user(). */
#define CPUSET_MAX	(16 * PAGE_SIZE)

/**
 * auxt_cpuset_get() - copy a CPU set from user space
 * @cpus: the result
 * @user: user address
 * @len: bytes there
 *
 * Return: 0; -EINVAL if it is empty or has a CPU that does not exist; -EFAULT.
 */
int auxt_cpuset_get(struct cpumask *cpus, u64 user, u32 len)
{
	const void __user *from = u64_to_user_ptr(user);
	u32 size = BITS_TO_LONGS(nr_cpu_ids) * sizeof(long);
	u32 used = min(len, size);

	if (!len || len > CPUSET_MAX)
		return -EINVAL;
	/* x86 is little-endian, so the user's bytes are the bitmap's. */
	cpumask_clear(cpus);
	if (copy_from_user(cpumask_bits(cpus), from, used))
		return -EFAULT;
	if (len > used) {
		int zero = check_zeroed_user(from + used, len - used);

		if (zero <= 0)
			return zero ?: -EINVAL;
	}
	if (find_next_bit(cpumask_bits(cpus), size * BITS_PER_BYTE, nr_cpu_ids) <
	    size * BITS_PER_BYTE)
		return -EINVAL;
	if (cpumask_empty(cpus) || !cpumask_subset(cpus, cpu_possible_mask))
		return -EINVAL;
	return 0;
}
