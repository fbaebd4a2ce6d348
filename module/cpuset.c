// SPDX-License-Identifier: GPL-2.0
/* CPU sets as they come from user space. */

#include <linux/bitmap.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include "cpuset.h"

/* No machine has more CPUs than these bytes have bits; bounds the look for stray ones. */
#define CPUSET_MAX	(16 * PAGE_SIZE)

/**
 * auxt_cpuset_get() - copy a set in
 * @cpus: the answer
 * @user: user address
 * @len: bytes there
 *
 * Return: 0; -EINVAL if it is empty or has a CPU that does not exist; -EFAULT.
 */
int auxt_cpuset_get(struct cpumask *cpus, u64 user, u32 len)
{
	const void __user *from = u64_to_user_ptr(user);
	u32 room = BITS_TO_LONGS(nr_cpu_ids) * sizeof(long);
	u32 used = min(len, room);

	if (!len || len > CPUSET_MAX)
		return -EINVAL;
	/* x86 is little-endian: the bytes of the bit string are those of the bitmap. */
	cpumask_clear(cpus);
	if (copy_from_user(cpumask_bits(cpus), from, used))
		return -EFAULT;
	if (len > used) {
		int zero = check_zeroed_user(from + used, len - used);

		if (zero <= 0)
			return zero ?: -EINVAL;
	}
	if (find_next_bit(cpumask_bits(cpus), room * BITS_PER_BYTE, nr_cpu_ids) <
	    room * BITS_PER_BYTE)
		return -EINVAL;
	if (cpumask_empty(cpus) || !cpumask_subset(cpus, cpu_possible_mask))
		return -EINVAL;
	return 0;
}
