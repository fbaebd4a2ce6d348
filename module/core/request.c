// SPDX-License-Identifier: GPL-2.0
/*
 * What triggers ask of a channel, carried out: a reason to be off set or cleared, or a
 * pending left for the settle loop.
 */

#include <linux/atomic.h>
#include <linux/kprobes.h>
#include "core/inhibit.h"
#include "core/request.h"
#include "core/settle.h"

/**
 * auxt_request_forget() - what is to be done at the deadline is not to be done
 * @ch: the channel
 * @trigger: id of who asked for it; 0: whoever it was
 */
void auxt_request_forget(struct auxt_channel *ch, u32 trigger)
{
	u32 *agreed = &ch->deferred.request.action;
	u32 action = READ_ONCE(*agreed);

	/* Not in an NMI, so no other context is under way with it. */
	if (!action || cmpxchg_local(agreed, action, AUXT_PENDING_BUSY) != action)
		return;
	if (trigger && ch->deferred.request.trigger != trigger) {
		WRITE_ONCE(*agreed, action);
		/* The deadline may have passed meanwhile. */
		auxt_settle_sync(ch);
		return;
	}
	ch->aux.deadline = 0;
	auxt_request_complete(&ch->deferred);
}
NOKPROBE_SYMBOL(auxt_request_forget);

static bool request_store(struct auxt_pending_request *pending, const struct auxt_request *request,
			  u64 value)
{
	struct auxt_pending_request coming = { .request = *request, .value = value };
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
NOKPROBE_SYMBOL(request_store);

static noinline bool request_defer(struct auxt_channel *ch, const struct auxt_request *request,
				   u64 value)
{
	bool sample = request->action == AUXTRACE_ACTION_SAMPLE;

	if (!request_store(sample ? &ch->sample : &ch->deferred, request, value))
		return false;
	auxt_settle(ch, AUXT_TODO_SYNC);
	return true;
}
NOKPROBE_SYMBOL(request_defer);

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
		return request_defer(ch, request, value);
	if (likely(auxt_inhibit_apply(ch, request, value))) {
		auxt_settle_run(ch, AUXT_TODO_APPLY);
		auxt_inhibit_record(ch, request, value);
		/* Now: the record alone may be as much as readers wait for. */
		auxt_settle_notify(ch);
	}
	return true;
}
NOKPROBE_SYMBOL(auxt_request_make);
