// SPDX-License-Identifier: GPL-2.0
/*
 * What a broadcast alone costs: any ioctl(2) of /dev/broadcast calls an empty
 * function on the CPUs below its argument and waits for all of them.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/smp.h>

static void nothing(void *info)
{
}

static long broadcast_ioctl(struct file *file, unsigned int number, unsigned long nr)
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
	on_each_cpu_mask(cpus, nothing, NULL, true);
	cpus_read_unlock();
	free_cpumask_var(cpus);
	return 0;
}

static const struct file_operations broadcast_fops = {
	.owner = THIS_MODULE,
	.unlocked_ioctl = broadcast_ioctl,
};

static struct miscdevice broadcast = {
	.minor = MISC_DYNAMIC_MINOR,
	.name = "broadcast",
	.fops = &broadcast_fops,
	.mode = 0600,
};
module_misc_device(broadcast);

MODULE_DESCRIPTION("An empty broadcast, to compare with");
MODULE_LICENSE("GPL");
