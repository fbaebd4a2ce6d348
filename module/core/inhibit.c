// SPDX-License-Identifier: GPL-2.0
/* What sets and clears the reasons of a channel's inhibit mask for a trigger. */

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include "core/inhibit.h"

/**
 * auxt_inhibit_broadcast() - ask the other CPUs for the same
 * @ch: the channel of this CPU
 * @request: a PAUSE, RESUME or FREEZE
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
 * auxt_inhibit_at_deadline() - the channel has produced what a pending waited for
 * @ch: the channel
 */
void auxt_inhibit_at_deadline(struct auxt_channel *ch)
{
	const struct auxt_pending_request pending = ch->deferred;

	if (!auxt_request_is_pending(&ch->deferred))
		return;
	ch->aux.deadline = 0;
	auxt_request_complete(&ch->deferred);
	if (auxt_inhibit_apply(ch, &pending.request, pending.value))
		auxt_inhibit_record(ch, &pending.request, pending.value);
}
NOKPROBE_SYMBOL(auxt_inhibit_at_deadline);
