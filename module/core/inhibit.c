// SPDX-License-Identifier: GPL-2.0-only
/* Setting and clearing reasons of the inhibit mask for triggers: the part that is not inline. */

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include "core/inhibit.h"

/**
 * auxt_inhibit_broadcast() - queue a request for the session's other CPUs
 * @ch: the channel of this CPU
 * @request: a PAUSE, RESUME or FREEZE
 *
 * It replaces an earlier request of its kind that has not been sent. remote.c delivers it.
 */
void auxt_inhibit_broadcast(struct auxt_channel *ch, const struct auxt_request *request)
{
	struct auxt_remote *remote = &ch->remote;
	atomic64_t *out = request->action == AUXTRACE_ACTION_FREEZE ?
			  &remote->out_freeze : &remote->out_toggle;

	atomic64_set(out, AUXT_REMOTE_WORD(request->action, request->trigger));
	if (request->action == AUXTRACE_ACTION_FREEZE)
		atomic64_set(&remote->unreported, 1);
	irq_work_queue(&remote->work);
}
NOKPROBE_SYMBOL(auxt_inhibit_broadcast);

/**
 * auxt_inhibit_at_deadline() - carry out the deferred request, if there is one
 * @ch: a channel that has produced as many bytes as the request waits for
 */
void auxt_inhibit_at_deadline(struct auxt_channel *ch)
{
	struct auxt_pending_request pending;

	if (!auxt_request_is_pending(&ch->deferred))
		return;
	pending = ch->deferred;
	ch->aux.deadline = 0;
	auxt_request_complete(&ch->deferred);
	if (auxt_inhibit_apply(ch, &pending.request, pending.value) &&
	    pending.request.action != AUXTRACE_ACTION_FREEZE)
		auxt_inhibit_record(ch, &pending.request, pending.value);
}
NOKPROBE_SYMBOL(auxt_inhibit_at_deadline);
