// SPDX-License-Identifier: GPL-2.0-only
/* An empty broadcast: to measure its cost and its time to reach the last CPU. */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/minmax.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <asm/msr.h>
#include <asm/tsc.h>

#include "broadcast.h"

static DEFINE_PER_CPU(u64, reached);

static void nothing(void *info)
{
}

static void note(void *info)
{
	__this_cpu_write(reached, rdtsc());
}

static long broadcast(unsigned long nr, smp_call_func_t function)
{
	cpumask_var_t cpus;
	unsigned int cpu;

	if (!nr || nr > nr_cpu_ids)
		return -EINVAL;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	for (cpu = 0; cpu < nr; cpu++)
		cpumask_set_cpu(cpu, cpus);
	cpus_read_lock();
	on_each_cpu_mask(cpus, function, NULL, true);
	cpus_read_unlock();
	free_cpumask_var(cpus);
	return 0;
}

static long broadcast_reach(struct broadcast_reach __user *arg)
{
	struct broadcast_reach reach;
	unsigned int cpu;
	long err;

	if (copy_from_user(&reach, arg, sizeof(reach)))
		return -EFAULT;
	err = broadcast(reach.nr, note);
	if (err)
		return err;
	reach.last_tsc = 0;
	for (cpu = 0; cpu < reach.nr; cpu++)
		reach.last_tsc = max(reach.last_tsc, per_cpu(reached, cpu));
	return copy_to_user(arg, &reach, sizeof(reach)) ? -EFAULT : 0;
}

static long broadcast_ioctl(struct file *file, unsigned int number, unsigned long arg)
{
	switch (number) {
	case BROADCAST_EMPTY:
		return broadcast(arg, nothing);
	case BROADCAST_REACH:
		return broadcast_reach((struct broadcast_reach __user *)arg);
	default:
		return -ENOTTY;
	}
}

static const struct file_operations broadcast_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = broadcast_ioctl,
};

static struct miscdevice broadcast_device = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "broadcast",
	.fops = &broadcast_fops,
	.mode = 0600,
};
module_misc_device(broadcast_device);

MODULE_DESCRIPTION("An empty broadcast, to compare with");
MODULE_LICENSE("GPL");
