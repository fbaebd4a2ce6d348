// SPDX-License-Identifier: GPL-2.0-only
/* Writes to an address that no kernel maps, in an interrupt; on -rt in a thread. */
#include <linux/irq_work.h>
#include <linux/module.h>

static void oops_in_interrupt(struct irq_work *work)
{
	*(volatile int *)16 = 1;
}

static struct irq_work oops_work;

static int __init oops_init(void)
{
	init_irq_work(&oops_work, oops_in_interrupt);
	irq_work_queue(&oops_work);
	irq_work_sync(&oops_work);
	return -EINVAL;
}

module_init(oops_init);
MODULE_DESCRIPTION("Ends the kernel by an oops");
MODULE_LICENSE("GPL");
