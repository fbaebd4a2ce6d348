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

/**
 * struct probe - a uprobe or a uretprobe
 * @t: whose
 * @consumer: the kernel's
 * @path: keeps the file
 * @registered: the kernel's handle
 */
struct probe {
	struct auxt_trigger *t;
	struct uprobe_consumer consumer;
	struct path path;
	struct auxt_uprobe registered;
};

static int on_call(AUXT_UPROBE_HANDLER_ARGS)
{
	auxt_trigger_hit(container_of(consumer, struct probe, consumer)->t, 0);
	return 0;
}

static int on_return(AUXT_URETPROBE_HANDLER_ARGS)
{
	auxt_trigger_hit(container_of(consumer, struct probe, consumer)->t, 0);
	return 0;
}

static int attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg, bool at_return)
{
	struct probe *p;
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
		p->consumer.ret_handler = on_return;
	else
		p->consumer.handler = on_call;
	p->t = t;
	t->event = p;
	err = auxt_uprobe_register(&p->registered, inode, arg->address, &p->consumer);
	if (!err)
		return 0;
	/* Its words for an instruction, or a file system, that cannot be probed. */
	if (err == -ENOTSUPP || err == -ENOEXEC || err == -EIO)
		err = -EOPNOTSUPP;

err_path:
	path_put(&p->path);
err_free:
	kfree(p);
	return err;
}

static void detach(struct auxt_trigger *t)
{
	struct probe *p = t->event;

	auxt_uprobe_unregister(&p->registered, &p->consumer);
	path_put(&p->path);
	kfree(p);
}

static int uprobe_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return attach(t, arg, false);
}

static int uretprobe_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	return attach(t, arg, true);
}

const struct trigger_kind auxt_trigger_uprobe = {
	.uses = USES_NAME | USES_ADDRESS,
	.attach = uprobe_attach,
	.detach = detach,
};

const struct trigger_kind auxt_trigger_uretprobe = {
	.uses = USES_NAME | USES_ADDRESS,
	.attach = uretprobe_attach,
	.detach = detach,
};
