// SPDX-License-Identifier: GPL-2.0-only
/* Triggers in the kernel: a kprobe or a kretprobe for each trigger. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/security.h>
#include <linux/slab.h>
#include "compat/probe.h"
#include "trigger/hit.h"
#include "trigger/trigger.h"

/**
 * struct kprobe_trigger - a kprobe, or a kretprobe and the kprobe in it
 * @t: the trigger
 * @rp: the probe; a kprobe uses @rp.kp only
 * @name: symbol; NULL: the probe is at an address
 */
struct kprobe_trigger {
	struct auxt_trigger *t;
	struct kretprobe rp;
	char *name;
};

static int kprobe_trigger_on_call(struct kprobe *kp, struct pt_regs *regs)
{
	auxt_trigger_hit(container_of(kp, struct kprobe_trigger, rp.kp)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(kprobe_trigger_on_call);

static int kprobe_trigger_on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *rp = auxt_get_kretprobe(instance);

	/* NULL: the probe was unregistered while the function ran. */
	if (rp)
		auxt_trigger_hit(container_of(rp, struct kprobe_trigger, rp)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(kprobe_trigger_on_return);

static void kprobe_trigger_free(struct kprobe_trigger *p)
{
	kfree(p->name);
	kfree(p);
}
NOKPROBE_SYMBOL(kprobe_trigger_free);

static struct kprobe_trigger *kprobe_trigger_new(struct auxt_trigger *t,
						 const struct auxtrace_trigger *arg)
{
	struct kprobe_trigger *p;
	char *name = NULL;
	int err;

	/* As tracefs and perf do: __register_trace_kprobe() in kernel/trace/trace_kprobe.c. */
	err = security_locked_down(LOCKDOWN_KPROBES);
	if (err)
		return ERR_PTR(err);
	p = kzalloc(sizeof(*p), GFP_KERNEL_ACCOUNT);
	if (!p)
		return ERR_PTR(-ENOMEM);
	/*
	 * Without a name, the address must not be 0. With a name it is an offset: no function is
	 * longer than INT_MAX, and struct kprobe would truncate a larger offset.
	 */
	if (arg->name_len ? arg->address > INT_MAX : !arg->address) {
		kfree(p);
		return ERR_PTR(-EINVAL);
	}
	if (arg->name_len) {
		name = auxt_trigger_name(arg);
		if (IS_ERR(name)) {
			kfree(p);
			return ERR_CAST(name);
		}
		p->rp.kp.offset = arg->address;
	} else {
		p->rp.kp.addr = (kprobe_opcode_t *)(unsigned long)arg->address;
	}
	p->t = t;
	p->name = name;
	p->rp.kp.symbol_name = name;
	return p;
}
NOKPROBE_SYMBOL(kprobe_trigger_new);

/*
 * The kernel returns EINVAL both for an address outside its code and for an instruction that
 * must not be probed, and EILSEQ for an address inside an instruction. The ABI says EOPNOTSUPP.
 */
static int kprobe_trigger_errno(int err)
{
	return err == -EINVAL || err == -EILSEQ ? -EOPNOTSUPP : err;
}
NOKPROBE_SYMBOL(kprobe_trigger_errno);

static int kprobe_trigger_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct kprobe_trigger *p = kprobe_trigger_new(t, arg);
	int err;

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->rp.kp.pre_handler = kprobe_trigger_on_call;
	t->event = p;
	err = register_kprobe(&p->rp.kp);
	if (err)
		kprobe_trigger_free(p);
	return kprobe_trigger_errno(err);
}
NOKPROBE_SYMBOL(kprobe_trigger_attach);

static u64 kprobe_trigger_missed(const struct auxt_trigger *t)
{
	const struct kprobe_trigger *p = t->event;

	return p->rp.kp.nmissed;
}
NOKPROBE_SYMBOL(kprobe_trigger_missed);

static void kprobe_trigger_detach(struct auxt_trigger *t)
{
	struct kprobe_trigger *p = t->event;

	unregister_kprobe(&p->rp.kp);
	t->dropped = kprobe_trigger_missed(t);
	kprobe_trigger_free(p);
}
NOKPROBE_SYMBOL(kprobe_trigger_detach);

const struct trigger_kind auxt_trigger_kprobe = {
	.attach = kprobe_trigger_attach,
	.detach = kprobe_trigger_detach,
	.missed = kprobe_trigger_missed,
};

static int kprobe_trigger_attach_return(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct kprobe_trigger *p = kprobe_trigger_new(t, arg);
	int err;

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->rp.handler = kprobe_trigger_on_return;
	/* Number of tasks that can be in the function at once; the kernel misses further calls. */
	p->rp.maxactive = max(64U, 4 * num_possible_cpus());
	t->event = p;
	err = register_kretprobe(&p->rp);
	if (err)
		kprobe_trigger_free(p);
	return kprobe_trigger_errno(err);
}
NOKPROBE_SYMBOL(kprobe_trigger_attach_return);

static u64 kprobe_trigger_missed_return(const struct auxt_trigger *t)
{
	const struct kprobe_trigger *p = t->event;

	return (u64)p->rp.nmissed + p->rp.kp.nmissed;
}
NOKPROBE_SYMBOL(kprobe_trigger_missed_return);

static void kprobe_trigger_detach_return(struct auxt_trigger *t)
{
	struct kprobe_trigger *p = t->event;

	unregister_kretprobe(&p->rp);
	t->dropped = kprobe_trigger_missed_return(t);
	/* A call that returns later finds no probe: see kprobe_trigger_on_return(). */
	kprobe_trigger_free(p);
}
NOKPROBE_SYMBOL(kprobe_trigger_detach_return);

const struct trigger_kind auxt_trigger_kretprobe = {
	.attach = kprobe_trigger_attach_return,
	.detach = kprobe_trigger_detach_return,
	.missed = kprobe_trigger_missed_return,
};
