// SPDX-License-Identifier: GPL-2.0
/*
 * What triggers ask of a channel, carried out: a reason to be off set or cleared, or a
 * pending left for the settle loop.
 */

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include "core/channel.h"
#include "core/record.h"
#include "core/remote.h"
#include "core/request.h"
#include "core/settle.h"

static __always_inline bool freeze(struct auxt_channel *ch, const struct auxt_request *request,
				   u64 value)
{
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN)
		return false;
	ch->frozen_by = (struct auxt_pending) { .request = *request, .value = value };
	/* By the first that is hit. */
	if (request->all_cpus)
		auxt_remote_send(ch, request);
	/* Who finds the reason changed finds who it was, and that others are to follow. */
	barrier();
	atomic_or(AUXTRACE_INHIBIT_FROZEN, &ch->inhibit);
	return true;
}

static __always_inline bool toggle(struct auxt_channel *ch, const struct auxt_request *request)
{
	bool is_set = auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TRIGGER;
	bool changes = true;

	if (request->action == AUXTRACE_ACTION_PAUSE && !is_set) {
		ch->paused_by = request->trigger;
		/* As above. */
		barrier();
		atomic_or(AUXTRACE_INHIBIT_TRIGGER, &ch->inhibit);
	} else if (request->action == AUXTRACE_ACTION_RESUME && is_set) {
		ch->resumed_by = request->trigger;
		barrier();
		atomic_andnot(AUXTRACE_INHIBIT_TRIGGER, &ch->inhibit);
	} else {
		changes = false;
	}
	if (unlikely(request->all_cpus)) {
		/*
		 * What changes nothing here may do so elsewhere. Set before the others are
		 * asked, so that one that is changed back after that finds it.
		 */
		WRITE_ONCE(*ch->last_broadcast, request->action);
		auxt_remote_send(ch, request);
	} else if (changes && READ_ONCE(*ch->last_broadcast) != request->action) {
		WRITE_ONCE(*ch->last_broadcast, 0);
	}
	return changes;
}

/* Returns false if the channel is as the trigger wants it. */
static __always_inline bool carry_out(struct auxt_channel *ch, const struct auxt_request *request,
				      u64 value)
{
	if (unlikely(request->action == AUXTRACE_ACTION_FREEZE))
		return freeze(ch, request, value);
	return toggle(ch, request);
}

/* Of a freeze the settle loop writes the record. */
static __always_inline void tell(struct auxt_channel *ch, const struct auxt_request *request,
				 u64 value)
{
	if (ch->wanted & AUXTRACE_WANT_TRIGGER && request->action != AUXTRACE_ACTION_FREEZE)
		auxt_record_trigger(&ch->data, request, value, READ_ONCE(ch->aux.produced));
}

/**
 * auxt_request_at_deadline() - the channel has produced what a pending waited for
 * @ch: the channel
 */
void auxt_request_at_deadline(struct auxt_channel *ch)
{
	const struct auxt_pending pending = ch->later;

	if (!auxt_is_pending(&ch->later))
		return;
	ch->aux.deadline = 0;
	auxt_complete(&ch->later);
	if (carry_out(ch, &pending.request, pending.value))
		tell(ch, &pending.request, pending.value);
}
NOKPROBE_SYMBOL(auxt_request_at_deadline);

/**
 * auxt_request_forget() - what is to be done at the deadline is not to be done
 * @ch: the channel
 * @trigger: id of who asked for it; 0: whoever it was
 */
void auxt_request_forget(struct auxt_channel *ch, u32 trigger)
{
	u32 *agreed = &ch->later.request.action;
	u32 action = READ_ONCE(*agreed);

	/* Not in an NMI, so no other context is under way with it. */
	if (!action || cmpxchg_local(agreed, action, AUXT_PENDING_BUSY) != action)
		return;
	if (trigger && ch->later.request.trigger != trigger) {
		WRITE_ONCE(*agreed, action);
		/* The deadline may have passed meanwhile. */
		auxt_channel_sync(ch);
		return;
	}
	ch->aux.deadline = 0;
	auxt_complete(&ch->later);
}

static bool try_pend(struct auxt_pending *pending, const struct auxt_request *request, u64 value)
{
	struct auxt_pending coming = { .request = *request, .value = value };
	u32 *agreed = &pending->request.action;

	coming.request.action = AUXT_PENDING_BUSY;
	if (READ_ONCE(*agreed) ||
	    cmpxchg_local(agreed, AUXTRACE_ACTION_NONE, AUXT_PENDING_BUSY) != AUXTRACE_ACTION_NONE)
		return false;
	*pending = coming;
	barrier();
	WRITE_ONCE(*agreed, request->action);
	return true;
}
NOKPROBE_SYMBOL(try_pend);

static noinline bool defer(struct auxt_channel *ch, const struct auxt_request *request,
			      u64 value)
{
	bool sample = request->action == AUXTRACE_ACTION_SAMPLE;

	if (!try_pend(sample ? &ch->sample : &ch->later, request, value))
		return false;
	auxt_settle(ch, AUXT_TODO_SYNC);
	return true;
}
NOKPROBE_SYMBOL(defer);

/**
 * auxt_request_make() - a trigger asks for its action
 * @ch: the channel
 * @request: what is asked
 * @value: of the event, for the record
 *
 * Return: false if it could not be taken up: an earlier SAMPLE, or one with a delay in
 * bytes, is not done.
 */
bool auxt_request_make(struct auxt_channel *ch, const struct auxt_request *request, u64 value)
{
	if (unlikely(request->action == AUXTRACE_ACTION_SAMPLE || request->delay))
		return defer(ch, request, value);
	if (likely(carry_out(ch, request, value))) {
		auxt_settle_only(ch, AUXT_TODO_APPLY);
		tell(ch, request, value);
		/* Now: the record alone may be as much as readers wait for. */
		auxt_settle_notify(ch);
	}
	return true;
}
NOKPROBE_SYMBOL(auxt_request_make);
