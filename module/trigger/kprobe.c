// SPDX-License-Identifier: GPL-2.0
/* Triggers at kernel functions: kprobes and kretprobes of their own. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/slab.h>
#include "compat/probe.h"
#include "trigger/hit.h"

/**
 * struct probe - a kprobe, or a kretprobe with its kprobe
 * @t: whose
 * @rp: the probe; of a kprobe, @rp.kp only is used
 * @name: symbol; NULL: an address
 */
struct probe {
	struct auxt_trigger *t;
	struct kretprobe rp;
	char *name;
};

static int on_call(struct kprobe *kp, struct pt_regs *regs)
{
	auxt_trigger_hit(container_of(kp, struct probe, rp.kp)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(on_call);

static int on_return(struct kretprobe_instance *instance, struct pt_regs *regs)
{
	struct kretprobe *rp = auxt_get_kretprobe(instance);

	/* NULL: it was unregistered while the function ran. */
	if (rp)
		auxt_trigger_hit(container_of(rp, struct probe, rp)->t, 0);
	return 0;
}
NOKPROBE_SYMBOL(on_return);

static void probe_free(struct probe *p)
{
	kfree(p->name);
	kfree(p);
}

static struct probe *probe_new(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct probe *p = kzalloc(sizeof(*p), GFP_KERNEL);
	char *name = NULL;

	if (!p)
		return ERR_PTR(-ENOMEM);
	/* Neither is no place; an offset that long is in no function, and kprobes would cut it. */
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

/* It says the same of an address that is none and of one that must not be probed. */
static int reason(int err)
{
	return err == -EINVAL || err == -EILSEQ ? -EOPNOTSUPP : err;
}

static int kprobe_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct probe *p = probe_new(t, arg);
	int err;

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->rp.kp.pre_handler = on_call;
	t->event = p;
	err = register_kprobe(&p->rp.kp);
	if (err)
		probe_free(p);
	return reason(err);
}

static u64 kprobe_missed(const struct auxt_trigger *t)
{
	const struct probe *p = t->event;

	return p->rp.kp.nmissed;
}

static void kprobe_detach(struct auxt_trigger *t)
{
	struct probe *p = t->event;

	unregister_kprobe(&p->rp.kp);
	t->dropped = kprobe_missed(t);
	probe_free(p);
}

const struct trigger_kind auxt_trigger_kprobe = {
	.uses = USES_NAME | USES_ADDRESS,
	.attach = kprobe_attach,
	.detach = kprobe_detach,
	.missed = kprobe_missed,
};

static int kretprobe_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct probe *p = probe_new(t, arg);
	int err;

	if (IS_ERR(p))
		return PTR_ERR(p);
	p->rp.handler = on_return;
	/* Tasks that may be inside at once without a hit being missed. */
	p->rp.maxactive = max(64U, 4 * num_possible_cpus());
	t->event = p;
	err = register_kretprobe(&p->rp);
	if (err)
		probe_free(p);
	return reason(err);
}

static u64 kretprobe_missed(const struct auxt_trigger *t)
{
	const struct probe *p = t->event;

	return (u64)p->rp.nmissed + p->rp.kp.nmissed;
}

static void kretprobe_detach(struct auxt_trigger *t)
{
	struct probe *p = t->event;

	unregister_kretprobe(&p->rp);
	t->dropped = kretprobe_missed(t);
	/* Instances of calls that are still inside find no probe, see on_return(). */
	probe_free(p);
}

const struct trigger_kind auxt_trigger_kretprobe = {
	.uses = USES_NAME | USES_ADDRESS,
	.attach = kretprobe_attach,
	.detach = kretprobe_detach,
	.missed = kretprobe_missed,
};
