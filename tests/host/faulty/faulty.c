// SPDX-License-Identifier: GPL-2.0-only
/*
 * A module that is wrong in the way that its parameter names, once, when it is loaded. A
 * machine of scripts/vm must not survive it: tests/host/judge.sh.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/timer.h>
#include <linux/vmalloc.h>

static char *kind = "none";
module_param(kind, charp, 0);

/* The compiler must not know what is in it. */
static volatile int unknown = 64;

static void use_after_free(void)
{
	volatile char *p = kmalloc(100, GFP_KERNEL);

	kfree((void *)p);
	pr_info("faulty: %d\n", p[50]);
}

static void vmalloc_out_of_bounds(void)
{
	volatile char *p = vmalloc(4000);

	pr_info("faulty: %d\n", p[4000]);
}

static void shift_out_of_bounds(void)
{
	pr_info("faulty: %d\n", 1 << unknown);
}

static DEFINE_MUTEX(outer);
static DEFINE_MUTEX(inner);

/* Never a deadlock here: only lockdep sees what could be. */
static void locks_in_two_orders(void)
{
	mutex_lock(&outer);
	mutex_lock(&inner);
	mutex_unlock(&inner);
	mutex_unlock(&outer);
	mutex_lock(&inner);
	mutex_lock(&outer);
	mutex_unlock(&outer);
	mutex_unlock(&inner);
}

static void sleep_in_atomic(void)
{
	preempt_disable();
	mutex_lock(&outer);
	mutex_unlock(&outer);
	preempt_enable();
}

static void never(struct timer_list *timer)
{
}

static void free_active_timer(void)
{
	struct timer_list *timer = kmalloc(sizeof(*timer), GFP_KERNEL);

	timer_setup(timer, never, 0);
	mod_timer(timer, jiffies + 1000 * HZ);
	kfree(timer);
}

static void add_twice(void)
{
	LIST_HEAD(head);
	struct list_head entry;

	list_add(&entry, &head);
	list_add(&entry, &head);
}

/* Several: a stale pointer may be left of one. */
static void leak(void)
{
	for (int i = 0; i < 10; i++)
		*(volatile char *)kmalloc(300, GFP_KERNEL) = 1;
}

static int shared;

static int race(void *arg)
{
	unsigned long end = jiffies + 10 * HZ;

	while (time_before(jiffies, end)) {
		for (int i = 0; i < 1000; i++)
			shared++;
		cond_resched();
	}
	return 0;
}

static void race_for_data(void)
{
	struct task_struct *other = kthread_run(race, NULL, "faulty");

	if (!IS_ERR(other))
		race(NULL);
	msleep(1000);
}

static const struct {
	const char *kind;
	void (*make)(void);
} faults[] = {
	{ "use_after_free", use_after_free },
	{ "vmalloc_out_of_bounds", vmalloc_out_of_bounds },
	{ "shift_out_of_bounds", shift_out_of_bounds },
	{ "locks_in_two_orders", locks_in_two_orders },
	{ "sleep_in_atomic", sleep_in_atomic },
	{ "free_active_timer", free_active_timer },
	{ "add_twice", add_twice },
	{ "leak", leak },
	{ "race_for_data", race_for_data },
	{ "none", NULL },
};

static int __init faulty_init(void)
{
	for (int i = 0; i < ARRAY_SIZE(faults); i++) {
		if (strcmp(kind, faults[i].kind))
			continue;
		if (faults[i].make)
			faults[i].make();
		return 0;
	}
	return -EINVAL;
}

static void __exit faulty_exit(void)
{
}

module_init(faulty_init);
module_exit(faulty_exit);
MODULE_DESCRIPTION("Faults for tests/host/judge.sh");
MODULE_LICENSE("GPL");
