// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests of triggers to a channel. A PAUSE, RESUME or FREEZE changes the inhibit mask at
 * once. A SAMPLE, and a request with a delay in bytes, is stored for the settle loop.
 */

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include "core/inhibit.h"
#include "core/request.h"
#include "core/settle.h"

/**
 * auxt_request_forget() - withdraw the deferred request
 * @ch: the channel
 * @trigger: only if the trigger with this id made it; 0: in any case
 */
void auxt_request_forget(struct auxt_channel *ch, u32 trigger)
{
	u32 *state = &ch->deferred.state;

	/* Not an NMI, so this has not interrupted a context that holds the request BUSY. */
	if (READ_ONCE(*state) == AUXT_PENDING_NONE ||
	    cmpxchg_local(state, AUXT_PENDING_READY, AUXT_PENDING_BUSY) != AUXT_PENDING_READY)
		return;
	if (trigger && ch->deferred.request.trigger != trigger) {
		WRITE_ONCE(*state, AUXT_PENDING_READY);
		/* If the deadline passed while the request was BUSY, the settle loop skipped it. */
		auxt_settle_sync(ch);
		return;
	}
	ch->aux.deadline = 0;
	auxt_request_complete(&ch->deferred);
}
NOKPROBE_SYMBOL(auxt_request_forget);

/* Returns false if a request is pending already. */
static bool request_store(struct auxt_pending_request *pending, const struct auxt_request *request,
			  u64 value)
{
	u32 *state = &pending->state;

	if (READ_ONCE(*state) != AUXT_PENDING_NONE ||
	    cmpxchg_local(state, AUXT_PENDING_NONE, AUXT_PENDING_BUSY) != AUXT_PENDING_NONE)
		return false;
	pending->request = *request;
	pending->value = value;
	/* Pairs with auxt_request_is_pending()'s. */
	barrier();
	WRITE_ONCE(*state, AUXT_PENDING_READY);
	return true;
}
NOKPROBE_SYMBOL(request_store);

static bool request_defer(struct auxt_channel *ch, const struct auxt_request *request, u64 value)
{
	bool sample = request->action == AUXTRACE_ACTION_SAMPLE;

	if (!request_store(sample ? &ch->sample : &ch->deferred, request, value))
		return false;
	auxt_settle(ch, AUXT_TODO_SYNC);
	return true;
}
NOKPROBE_SYMBOL(request_defer);

/* The request has changed the inhibit mask: all else follows. @freeze: it is a FREEZE. */
static __always_inline void request_settle(struct auxt_channel *ch,
					   const struct auxt_request *request, u64 value,
					   bool freeze)
{
	auxt_settle_apply(ch);
	if (!freeze)
		auxt_inhibit_record(ch, request, value);
	/* After the record, with which the data ring may reach its watermark. */
	auxt_settle_notify(ch);
}

/* Any request. In a function of its own, so that others save fewer registers. */
static noinline bool request_make_any(struct auxt_channel *ch, const struct auxt_request *request,
				      u64 value)
{
	if (request->action == AUXTRACE_ACTION_SAMPLE || request->delay)
		return request_defer(ch, request, value);
	if (auxt_inhibit_apply(ch, request, value))
		request_settle(ch, request, value, request->action == AUXTRACE_ACTION_FREEZE);
	return true;
}
NOKPROBE_SYMBOL(request_make_any);

/**
 * auxt_request_make() - carry out a request, or store it for the settle loop
 * @ch: the channel
 * @request: the request
 * @value: value of the event, for the record
 *
 * Return: false if the request was dropped because an earlier SAMPLE, or an earlier request
 * with a delay in bytes, is still pending.
 */
bool auxt_request_make(struct auxt_channel *ch, const struct auxt_request *request, u64 value)
{
	/* Most are a PAUSE or RESUME of this CPU, at once. */
	if (unlikely(request->delay | request->all_cpus ||
		     request->action > AUXTRACE_ACTION_RESUME))
		return request_make_any(ch, request, value);
	if (likely(auxt_inhibit_toggle(ch, request)))
		request_settle(ch, request, value, false);
	return true;
}
NOKPROBE_SYMBOL(auxt_request_make);
