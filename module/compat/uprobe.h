/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Uprobes: kernels differ in how a uprobe is registered and in the parameters of its handlers and
 * of its filter.
 */
#ifndef AUXT_COMPAT_UPROBE_H
#define AUXT_COMPAT_UPROBE_H

#include <linux/err.h>
#include <linux/uprobes.h>

#ifdef AUXT_HAVE_UPROBE_SESSION
# define AUXT_UPROBE_HANDLER_ARGS \
	struct uprobe_consumer *consumer, struct pt_regs *regs, __u64 *data
# define AUXT_URETPROBE_HANDLER_ARGS \
	struct uprobe_consumer *consumer, unsigned long func, struct pt_regs *regs, __u64 *data
#else
# define AUXT_UPROBE_HANDLER_ARGS \
	struct uprobe_consumer *consumer, struct pt_regs *regs
# define AUXT_URETPROBE_HANDLER_ARGS \
	struct uprobe_consumer *consumer, unsigned long func, struct pt_regs *regs
#endif

#ifdef AUXT_HAVE_UPROBE_FILTER_CTX
# define AUXT_UPROBE_FILTER_ARGS \
	struct uprobe_consumer *consumer, enum uprobe_filter_ctx context, struct mm_struct *mm
#else
# define AUXT_UPROBE_FILTER_ARGS \
	struct uprobe_consumer *consumer, struct mm_struct *mm
#endif

#ifdef AUXT_HAVE_UPROBE_OBJECT

struct auxt_uprobe {
	struct uprobe *uprobe;
};

static inline int auxt_uprobe_register(struct auxt_uprobe *up, struct inode *inode,
				       loff_t offset, struct uprobe_consumer *consumer)
{
	up->uprobe = uprobe_register(inode, offset, 0, consumer);
	return PTR_ERR_OR_ZERO(up->uprobe);
}

static inline void auxt_uprobe_unregister(struct auxt_uprobe *up,
					  struct uprobe_consumer *consumer)
{
	uprobe_unregister_nosync(up->uprobe, consumer);
	uprobe_unregister_sync();
}

#else

struct auxt_uprobe {
	struct inode *inode;
	loff_t offset;
};

static inline int auxt_uprobe_register(struct auxt_uprobe *up, struct inode *inode,
				       loff_t offset, struct uprobe_consumer *consumer)
{
	up->inode = inode;
	up->offset = offset;
	return uprobe_register(inode, offset, consumer);
}

static inline void auxt_uprobe_unregister(struct auxt_uprobe *up,
					  struct uprobe_consumer *consumer)
{
	uprobe_unregister(up->inode, up->offset, consumer);
}

#endif

#endif /* AUXT_COMPAT_UPROBE_H */
