// SPDX-License-Identifier: GPL-2.0
/*
 * What triggers ask of a channel, carried out: a reason to be off set or cleared, or a
 * wish left for the settle loop.
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
	ch->frozen_by = (struct auxt_wish) { .request = *request, .value = value };
	/* By the first that is hit. */
	if (request->relayed)
		auxt_relay_send(ch, request);
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
	if (unlikely(request->relayed)) {
		/*
		 * What changes nothing here may do so elsewhere. Set before the others are
		 * asked, so that one that is changed back after that finds it.
		 */
		WRITE_ONCE(*ch->together, request->action);
		auxt_relay_send(ch, request);
	} else if (changes && READ_ONCE(*ch->together) != request->action) {
		WRITE_ONCE(*ch->together, 0);
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
		auxt_record_trigger(&ch->data, request, value, READ_ONCE(ch->ring.produced));
}

/**
 * auxt_request_at_deadline() - the channel has produced what a wish waited for
 * @ch: the channel
 */
void auxt_request_at_deadline(struct auxt_channel *ch)
{
	const struct auxt_wish wish = ch->later;

	if (!auxt_is_wished(&ch->later))
		return;
	ch->ring.deadline = 0;
	auxt_grant(&ch->later);
	if (carry_out(ch, &wish.request, wish.value))
		tell(ch, &wish.request, wish.value);
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
	if (!action || cmpxchg_local(agreed, action, AUXT_WISH_COMING) != action)
		return;
	if (trigger && ch->later.request.trigger != trigger) {
		WRITE_ONCE(*agreed, action);
		/* The deadline may have passed meanwhile. */
		auxt_channel_attend(ch);
		return;
	}
	ch->ring.deadline = 0;
	auxt_grant(&ch->later);
}

static bool take_up(struct auxt_wish *wish, const struct auxt_request *request, u64 value)
{
	struct auxt_wish coming = { .request = *request, .value = value };
	u32 *agreed = &wish->request.action;

	coming.request.action = AUXT_WISH_COMING;
	if (READ_ONCE(*agreed) ||
	    cmpxchg_local(agreed, AUXTRACE_ACTION_NONE, AUXT_WISH_COMING) != AUXTRACE_ACTION_NONE)
		return false;
	*wish = coming;
	barrier();
	WRITE_ONCE(*agreed, request->action);
	return true;
}
NOKPROBE_SYMBOL(take_up);

static noinline bool wish_for(struct auxt_channel *ch, const struct auxt_request *request,
			      u64 value)
{
	bool sample = request->action == AUXTRACE_ACTION_SAMPLE;

	if (!take_up(sample ? &ch->sample : &ch->later, request, value))
		return false;
	auxt_settle(ch, AUXT_TODO_LOOK);
	return true;
}
NOKPROBE_SYMBOL(wish_for);

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
		return wish_for(ch, request, value);
	if (likely(carry_out(ch, request, value))) {
		auxt_settle_quietly(ch, AUXT_TODO_AGREE);
		tell(ch, request, value);
		/* Now: the record alone may be as much as readers wait for. */
		auxt_settle_tell(ch);
	}
	return true;
}
NOKPROBE_SYMBOL(auxt_request_make);
