// SPDX-License-Identifier: GPL-2.0
/* SNAPSHOT: one cut over all channels, in place or put aside in a slot; RELEASE of that. */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/channel.h"
#include "session_private.h"
#include "core/slots.h"

static void snapshot(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_snapshot(ch, call->flags, call->slot, &call->cuts[ch->index]);
}

/* Triggers may take a slot of one channel for a sample at any time: all or none. */
static bool claim_slot(struct auxt_session *session, u32 slot)
{
	unsigned int cpu, undo;

	for_each_cpu(cpu, session->cpus) {
		if (auxt_slots_claim(&session->channel[cpu]->slots, slot))
			continue;
		for_each_cpu(undo, session->cpus) {
			if (undo == cpu)
				return false;
			auxt_slots_give(&session->channel[undo]->slots, slot);
		}
	}
	return true;
}

static void give_slot(struct auxt_session *session, u32 slot)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		auxt_slots_give(&session->channel[cpu]->slots, slot);
}

/* A slot that no channel had for anything, or -ENOSPC. With slots_lock. */
static int claim_any_slot(struct auxt_session *session)
{
	u32 i;

	for (i = 1; i < session->nr_slots; i++) {
		u32 slot = (session->slot + i) % session->nr_slots;

		if (claim_slot(session, slot))
			return slot;
	}
	return -ENOSPC;
}

/* With the state locked. */
static int take_snapshot(struct auxt_session *session, struct auxt_broadcast *call, u32 *held)
{
	bool started = session->state == AUXTRACE_STATE_STARTED;
	int slot = 0;

	if (call->flags && !started)
		return -EBADFD;
	mutex_lock(&session->slots_lock);
	if (call->flags & AUXTRACE_SNAPSHOT_SLOT)
		slot = claim_any_slot(session);
	if (slot >= 0) {
		call->slot = slot;
		auxt_broadcast(call, session->cpus, started);
	}
	if (slot >= 0 && call->flags & AUXTRACE_SNAPSHOT_SLOT) {
		*held = session->slot;
		session->held |= BIT_ULL(session->slot);
		session->slot = slot;
	}
	mutex_unlock(&session->slots_lock);
	return slot < 0 ? slot : 0;
}

/**
 * auxt_session_snapshot() - AUXTRACE_IOC_SNAPSHOT
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_snapshot(struct auxt_session *session, struct auxtrace_snapshot *arg)
{
	struct auxt_broadcast call = { .session = session, .fn = snapshot, .flags = arg->flags };
	struct auxtrace_cut __user *to = u64_to_user_ptr(arg->cuts);
	u32 room;
	int err;

	if (arg->flags & ~AUXTRACE_SNAPSHOT_ALL || arg->flags == AUXTRACE_SNAPSHOT_ALL ||
	    arg->reserved)
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->flags & AUXTRACE_SNAPSHOT_SLOT && session->nr_slots == 1)
		return -EINVAL;
	arg->out_count = session->nr_channels;
	arg->out_slot = 0;
	room = min(arg->cuts_len, arg->out_count);
	/* A bad address must be known before anything happens. */
	if (clear_user(to, room * sizeof(*to)))
		return -EFAULT;
	call.cuts = kvcalloc(session->nr_channels, sizeof(*call.cuts), GFP_KERNEL);
	if (!call.cuts)
		return -ENOMEM;
	err = auxt_session_lock(session);
	if (!err) {
		err = take_snapshot(session, &call, &arg->out_slot);
		auxt_session_unlock(session);
	}
	if (!err && copy_to_user(to, call.cuts, room * sizeof(*to)))
		err = -EFAULT;
	kvfree(call.cuts);
	return err;
}

/**
 * auxt_session_release() - AUXTRACE_IOC_RELEASE
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_release(struct auxt_session *session, struct auxtrace_release *arg)
{
	bool sample = arg->flags & AUXTRACE_RELEASE_SAMPLE;
	int err = -EINVAL;

	if (arg->flags & ~AUXTRACE_RELEASE_ALL || (arg->cpu && !sample))
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->slot >= session->nr_slots)
		return -EINVAL;
	if (sample) {
		if (arg->cpu >= nr_cpu_ids || !cpumask_test_cpu(arg->cpu, session->cpus))
			return -EINVAL;
		return auxt_slots_release_sample(&session->channel[arg->cpu]->slots, arg->slot) ?
		       0 : -EINVAL;
	}
	mutex_lock(&session->slots_lock);
	if (session->held & BIT_ULL(arg->slot)) {
		session->held &= ~BIT_ULL(arg->slot);
		give_slot(session, arg->slot);
		err = 0;
	}
	mutex_unlock(&session->slots_lock);
	return err;
}
