/* SPDX-License-Identifier: GPL-2.0 */
/* What triggers ask of a channel. */
#ifndef AUXT_REQUEST_H
#define AUXT_REQUEST_H

#include <linux/auxtrace.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include <asm/barrier.h>

struct auxt_channel;

/**
 * struct auxt_request - an action, as a trigger asks for it at each hit
 * @action: AUXTRACE_ACTION_*
 * @trigger: its id
 * @size: SAMPLE: bytes wanted
 * @delay: bytes to be produced before it is done
 * @all_cpus: the session's other CPUs are to do the same
 */
struct auxt_request {
	u32 action;
	u32 trigger;
	u64 size;
	u64 delay;
	bool all_cpus;
};

/**
 * struct auxt_pending - a request that cannot be had at once
 * @request: its action is what the contexts that nest agree by: AUXT_PENDING_BUSY while
 *	one of them fills the pending in or takes it back, then the action, until the
 *	settle loop has granted it
 * @value: of the event
 */
struct auxt_pending {
	struct auxt_request request;
	u64 value;
};

#define AUXT_PENDING_BUSY	(~0u)

static __always_inline bool auxt_is_pending(const struct auxt_pending *pending)
{
	u32 action = READ_ONCE(pending->request.action);

	barrier();
	return action != AUXTRACE_ACTION_NONE && action != AUXT_PENDING_BUSY;
}

static __always_inline void auxt_complete(struct auxt_pending *pending)
{
	/* The next one may come from here on. */
	barrier();
	WRITE_ONCE(pending->request.action, AUXTRACE_ACTION_NONE);
}

/* On the channel's CPU with interrupts off, also in NMIs. */
bool auxt_request_make(struct auxt_channel *ch, const struct auxt_request *request, u64 value);

/* As above, but not in an NMI. */
void auxt_request_forget(struct auxt_channel *ch, u32 trigger);

/* In the settle loop. */
void auxt_request_at_deadline(struct auxt_channel *ch);

#endif /* AUXT_REQUEST_H */
