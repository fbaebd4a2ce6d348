// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers in programs: uprobes and uretprobes.
 *
 * A uprobe belongs to a file: the kernel replaces the instruction in each address space that maps
 * the file and that the consumer's filter accepts. A trigger with a pid accepts the address spaces
 * of that process only, so that other processes run the program's own code.
 */

#include <linux/capability.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include "compat/compat.h"
#include "compat/uprobe.h"
#include "trigger/hit.h"
#include "trigger/trigger.h"

/**
 * struct uprobe_trigger - a uprobe or a uretprobe
 * @t: the trigger
 * @consumer: the kernel's consumer, with one of the two handlers
 * @path: the file; holds a reference to it
 * @registered: the kernel's handle
 */
struct uprobe_trigger {
	struct auxt_trigger *t;
	struct uprobe_consumer consumer;
	struct path path;
	struct auxt_uprobe registered;
};

/*
 * Does the trigger's process use @mm? All its threads share one address space. The first one may
 * have ended before the others, and has none then.
 */
static bool uprobe_trigger_is_process_mm(const struct auxt_trigger *t, const struct mm_struct *mm)
{
	const struct mm_struct *process_mm = NULL;
	struct task_struct *leader, *thread;

	rcu_read_lock();
	leader = pid_task(t->pid, PIDTYPE_TGID);
	if (leader) {
		for_each_thread(leader, thread) {
			process_mm = READ_ONCE(thread->mm);
			if (process_mm)
				break;
		}
	}
	rcu_read_unlock();
	return process_mm && process_mm == mm;
}
NOKPROBE_SYMBOL(uprobe_trigger_is_process_mm);

static bool uprobe_trigger_filter(AUXT_UPROBE_FILTER_ARGS)
{
	struct uprobe_trigger *p = container_of(consumer, struct uprobe_trigger, consumer);

	return uprobe_trigger_is_process_mm(p->t, mm);
}
NOKPROBE_SYMBOL(uprobe_trigger_filter);

/*
 * What a handler returns. fork(2) copies the probe to the child without asking the filter: the
 * kernel removes it there when the child first reaches it. A child of vfork(2) shares the address
 * space of the process, so its probe is that of the process.
 */
static int uprobe_trigger_keep(const struct auxt_trigger *t)
{
	if (!t->pid || task_tgid(current) == t->pid ||
	    uprobe_trigger_is_process_mm(t, current->mm))
		return 0;
	return UPROBE_HANDLER_REMOVE;
}
NOKPROBE_SYMBOL(uprobe_trigger_keep);

static int uprobe_trigger_on_call(AUXT_UPROBE_HANDLER_ARGS)
{
	struct auxt_trigger *t = container_of(consumer, struct uprobe_trigger, consumer)->t;

	auxt_trigger_hit(t, 0);
	return uprobe_trigger_keep(t);
}
NOKPROBE_SYMBOL(uprobe_trigger_on_call);

/* The call of a function whose return is the hit. */
static int uprobe_trigger_before_return(AUXT_UPROBE_HANDLER_ARGS)
{
	return uprobe_trigger_keep(container_of(consumer, struct uprobe_trigger, consumer)->t);
}
NOKPROBE_SYMBOL(uprobe_trigger_before_return);

static int uprobe_trigger_on_return(AUXT_URETPROBE_HANDLER_ARGS)
{
	auxt_trigger_hit(container_of(consumer, struct uprobe_trigger, consumer)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(uprobe_trigger_on_return);

static int uprobe_trigger_attach_at(struct auxt_trigger *t, const struct auxtrace_trigger *arg,
				    bool at_return)
{
	struct uprobe_trigger *p;
	struct inode *inode;
	char *name;
	int err;

	/*
	 * As perf's uprobe PMU. The kernel cannot tell where the instructions of a file begin: a probe
	 * within one changes what the programs do that run it.
	 */
	if (!capable(CAP_SYS_ADMIN))
		return -EACCES;
	if (!arg->name_len)
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return -ENOMEM;
	name = auxt_trigger_name(arg);
	if (IS_ERR(name)) {
		err = PTR_ERR(name);
		goto err_free;
	}
	err = kern_path(name, LOOKUP_FOLLOW, &p->path);
	kfree(name);
	if (err)
		goto err_free;
	/* kern_path() asks for the right to search the directories only. */
	err = auxt_path_permission(&p->path, MAY_READ);
	if (err)
		goto err_path;
	inode = d_real_inode(p->path.dentry);
	err = -EINVAL;
	if (!S_ISREG(inode->i_mode) || arg->address >= i_size_read(inode))
		goto err_path;
	if (at_return)
		p->consumer.ret_handler = uprobe_trigger_on_return;
	else
		p->consumer.handler = uprobe_trigger_on_call;
	if (t->pid) {
		p->consumer.filter = uprobe_trigger_filter;
		if (at_return)
			p->consumer.handler = uprobe_trigger_before_return;
	}
	p->t = t;
	t->event = p;
	err = auxt_uprobe_register(&p->registered, inode, arg->address, &p->consumer);
	if (!err)
		return 0;
	/* The kernel's errnos for an instruction or a file system that cannot be probed. */
	if (err == -ENOTSUPP || err == -ENOEXEC || err == -EIO)
		err = -EOPNOTSUPP;

err_path:
	path_put(&p->path);
err_free:
	kfree(p);
	return err;
}
NOKPROBE_SYMBOL(uprobe_trigger_attach_at);

static void uprobe_trigger_detach(struct auxt_trigger *t)
{
	struct uprobe_trigger *p = t->event;

	auxt_uprobe_unregister(&p->registered, &p->consumer);
	path_put(&p->path);
	kfree(p);
}
NOKPROBE_SYMBOL(uprobe_trigger_detach);

static int uprobe_trigger_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return uprobe_trigger_attach_at(t, arg, false);
}
NOKPROBE_SYMBOL(uprobe_trigger_attach);

static int uprobe_trigger_attach_return(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return uprobe_trigger_attach_at(t, arg, true);
}
NOKPROBE_SYMBOL(uprobe_trigger_attach_return);

const struct trigger_kind auxt_trigger_uprobe = {
	.attach = uprobe_trigger_attach,
	.detach = uprobe_trigger_detach,
};

const struct trigger_kind auxt_trigger_uretprobe = {
	.attach = uprobe_trigger_attach_return,
	.detach = uprobe_trigger_detach,
};
