// SPDX-License-Identifier: GPL-2.0
/* Triggers in programs: uprobes and uretprobes. */

#include <linux/err.h>
#include <linux/errno.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/namei.h>
#include <linux/path.h>
#include <linux/slab.h>
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

static int uprobe_trigger_on_call(AUXT_UPROBE_HANDLER_ARGS)
{
	auxt_trigger_hit(container_of(consumer, struct uprobe_trigger, consumer)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(uprobe_trigger_on_call);

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

	if (!arg->name_len)
		return -EINVAL;
	p = kzalloc(sizeof(*p), GFP_KERNEL);
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
	inode = d_real_inode(p->path.dentry);
	err = -EINVAL;
	if (!S_ISREG(inode->i_mode) || arg->address >= i_size_read(inode))
		goto err_path;
	if (at_return)
		p->consumer.ret_handler = uprobe_trigger_on_return;
	else
		p->consumer.handler = uprobe_trigger_on_call;
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
