// SPDX-License-Identifier: GPL-2.0-only
/* SNAPSHOT: one cut over all channels, in place or kept in a slot; RELEASE of such a slot. */

#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include "answer.h"
#include "base/user_index.h"
#include "broadcast.h"
#include "core/channel.h"
#include "core/known.h"
#include "core/slots.h"
#include "rights.h"
#include "session.h"
#include "verbs.h"

/**
 * struct snapshot_call - arguments of a SNAPSHOT, shared by its CPUs
 * @flags: AUXTRACE_SNAPSHOT_*
 * @slot: with SLOT: the slot to continue in
 * @cuts: the result, by channel index
 */
struct snapshot_call {
	u32 flags;
	u32 slot;
	struct auxtrace_cut *cuts;
};

static void snapshot_take_here(struct auxt_channel *ch, void *data)
{
	struct snapshot_call *call = data;

	auxt_channel_snapshot(ch, call->flags, call->slot, &call->cuts[ch->index]);
}

/* Claims a slot on all channels, or on none if a SAMPLE has claimed it on one. */
static bool snapshot_claim(struct auxt_session *session, u32 slot)
{
	unsigned int cpu, undo;

	for_each_cpu(cpu, session->group.cpus) {
		if (auxt_slots_claim(&session->group.channels[cpu]->slots, slot))
			continue;
		for_each_cpu(undo, session->group.cpus) {
			if (undo == cpu)
				return false;
			auxt_slots_release(&session->group.channels[undo]->slots, slot);
		}
	}
	return true;
}

static void snapshot_release(struct auxt_session *session, u32 slot)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus)
		auxt_slots_release(&session->group.channels[cpu]->slots, slot);
}

/* Claims a slot that is free on all channels. Returns it or -ENOSPC. With slots_lock held. */
static int snapshot_claim_any(struct auxt_session *session)
{
	u32 i;

	for (i = 1; i < session->nr_slots; i++) {
		u32 slot = (session->slot + i) % session->nr_slots;

		if (snapshot_claim(session, slot))
			return slot;
	}
	return -ENOSPC;
}

/* With the session locked. With SLOT, sets @held to the slot that holds the cut. */
static int snapshot_take(struct auxt_session *session, struct snapshot_call *call, u32 *held)
{
	bool started = session->state == AUXTRACE_STATE_STARTED;
	int slot = 0;

	if (call->flags && !started)
		return -EBADFD;
	mutex_lock(&session->slots_lock);
	if (call->flags & AUXTRACE_SNAPSHOT_SLOT)
		slot = snapshot_claim_any(session);
	if (slot >= 0) {
		call->slot = slot;
		auxt_broadcast(session, session->group.cpus, started, snapshot_take_here, call);
	}
	if (slot >= 0 && call->flags & AUXTRACE_SNAPSHOT_SLOT) {
		*held = session->slot;
		session->held |= BIT_ULL(session->slot);
		session->slot = slot;
	}
	mutex_unlock(&session->slots_lock);
	return slot < 0 ? slot : 0;
}

/* The same, locked, and tells user space the cuts. */
static int snapshot_take_and_tell(struct auxt_session *session, struct auxtrace_snapshot *arg,
				  const struct auxt_answer *answer)
{
	struct snapshot_call call = { .flags = arg->flags };
	u32 i, len = min(arg->cuts_len, arg->out_count);
	int err;

	call.cuts = kvcalloc(session->nr_channels, sizeof(*call.cuts), GFP_KERNEL);
	if (!call.cuts)
		return -ENOMEM;
	err = auxt_rights_interrupt(session) ?: auxt_session_lock(session);
	if (!err) {
		err = snapshot_take(session, &call, &arg->out_slot);
		auxt_session_unlock(session);
	}
	for (i = 0; !err && i < len; i++)
		auxt_answer_write_array(answer, i, arg->cut_size, &call.cuts[i],
					sizeof(*call.cuts));
	kvfree(call.cuts);
	return err;
}

/**
 * auxt_snapshot() - AUXTRACE_IOC_SNAPSHOT
 * @session: the session
 * @data: struct auxtrace_snapshot
 *
 * Return: 0; -EINVAL unknown flag, both flags, SLOT in a session without slots, or a cut_size that
 * is too small or no multiple of 8; -E2BIG one beyond a page; -EBADFD before SETUP, or a flag while
 * not started; -ENOSPC SLOT, and no other slot is free on all CPUs; -EFAULT a bad pointer; -ENOMEM;
 * -EINTR a fatal signal.
 */
int auxt_snapshot(struct auxt_session *session, void *data)
{
	struct auxtrace_snapshot *arg = data;
	struct auxt_answer answer;
	int err;

	if (arg->flags & ~AUXTRACE_SNAPSHOT_ALL || arg->flags == AUXTRACE_SNAPSHOT_ALL)
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->flags & AUXTRACE_SNAPSHOT_SLOT && session->nr_slots == 1)
		return -EINVAL;
	arg->out_count = session->nr_channels;
	arg->out_slot = 0;
	if (arg->cuts_len && (arg->cut_size < offsetofend(struct auxtrace_cut, time) ||
			      arg->cut_size % 8))
		return -EINVAL;
	if (arg->cuts_len && arg->cut_size > PAGE_SIZE)
		return -E2BIG;
	err = auxt_answer_pin(&answer, arg->cuts,
			      (size_t)min(arg->cuts_len, arg->out_count) * arg->cut_size);
	if (err)
		return err;
	err = snapshot_take_and_tell(session, arg, &answer);
	auxt_answer_unpin(&answer);
	return err;
}

/**
 * auxt_release() - AUXTRACE_IOC_RELEASE
 * @session: the session
 * @data: struct auxtrace_release
 *
 * Return: 0; -EINVAL unknown flag, no such slot, the slot holds no snapshot (SAMPLE: no sample),
 * or a CPU that is not the session's; -EBADFD before SETUP.
 */
int auxt_release(struct auxt_session *session, void *data)
{
	const struct auxtrace_release *arg = data;
	bool sample = arg->flags & AUXTRACE_RELEASE_SAMPLE;
	struct auxt_channel *ch;
	u32 cpu = arg->cpu;
	int err = -EINVAL;

	if (arg->flags & ~AUXTRACE_RELEASE_ALL || (arg->cpu && !sample))
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->slot >= session->nr_slots)
		return -EINVAL;
	if (sample) {
		if (!auxt_user_index(&cpu, nr_cpu_ids))
			return -EINVAL;
		ch = session->group.channels[cpu];
		if (!ch)
			return -EINVAL;
		return auxt_slots_release_sample(&ch->slots, arg->slot) ? 0 : -EINVAL;
	}
	mutex_lock(&session->slots_lock);
	if (session->held & BIT_ULL(arg->slot)) {
		session->held &= ~BIT_ULL(arg->slot);
		snapshot_release(session, arg->slot);
		err = 0;
	}
	mutex_unlock(&session->slots_lock);
	return err;
}
