/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Setting and clearing reasons of the inhibit mask for triggers. Inline, because this is part of
 * the short path from a hit to the WRMSR that pauses.
 */
#ifndef AUXT_INHIBIT_H
#define AUXT_INHIBIT_H

#include "core/record.h"
#include "core/state.h"

/* On the channel's CPU with interrupts off, also in NMIs. */
void auxt_inhibit_broadcast(struct auxt_channel *ch, const struct auxt_request *request);

static __always_inline bool auxt_inhibit_freeze(struct auxt_channel *ch,
						const struct auxt_request *request, u64 value)
{
	bool changes;

	/* This NMI has interrupted the code below, which is about to freeze the channel. */
	if (READ_ONCE(ch->freezing))
		return false;
	WRITE_ONCE(ch->freezing, true);
	barrier();
	/* While @freezing is set, no NMI freezes the channel; one may have done so before. */
	changes = !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN);
	if (changes) {
		ch->frozen_by = (struct auxt_pending_request) {
			.request = *request, .value = value,
		};
		/* The first CPU sends it to all others. Their request has all_cpus clear: remote.c. */
		if (request->all_cpus)
			auxt_inhibit_broadcast(ch, request);
	}
	/*
	 * If the reason is visible, so are frozen_by and the pending broadcast. An NMI's FREEZE
	 * between the two stores sets the reason itself, and is the one in frozen_by.
	 */
	barrier();
	WRITE_ONCE(ch->freezing, false);
	if (changes)
		atomic_or(AUXTRACE_INHIBIT_FROZEN, &ch->inhibit);
	return changes;
}

/* Sets or clears the reason TRIGGER. Returns false if that changes nothing. */
static __always_inline bool auxt_inhibit_set(struct auxt_channel *ch,
					     const struct auxt_request *request)
{
	bool is_set = auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TRIGGER;

	if (request->action == AUXTRACE_ACTION_PAUSE && !is_set) {
		ch->paused_by = request->trigger;
		/* If the reason is visible, so is paused_by; below likewise. */
		barrier();
		atomic_or(AUXTRACE_INHIBIT_TRIGGER, &ch->inhibit);
	} else if (request->action == AUXTRACE_ACTION_RESUME && is_set) {
		ch->resumed_by = request->trigger;
		barrier();
		atomic_andnot(AUXTRACE_INHIBIT_TRIGGER, &ch->inhibit);
	} else {
		return false;
	}
	return true;
}

/* A PAUSE or RESUME of this CPU alone. Returns false if it changes nothing. */
static __always_inline bool auxt_inhibit_toggle(struct auxt_channel *ch,
						const struct auxt_request *request)
{
	u32 last;

	if (!auxt_inhibit_set(ch, request))
		return false;
	/* All CPUs of the session read this line: nobody writes it but where it changes. */
	last = READ_ONCE(ch->group->last_broadcast);
	if (unlikely(last && last != request->action))
		WRITE_ONCE(ch->group->last_broadcast, 0);
	return true;
}

/* One of all CPUs. Returns false if it changes nothing here; it may do so on another CPU. */
static __always_inline bool auxt_inhibit_toggle_all(struct auxt_channel *ch,
						    const struct auxt_request *request)
{
	bool changes = auxt_inhibit_set(ch, request);

	/*
	 * last_broadcast is set before the request is sent, so that a later change of another
	 * channel resets it.
	 */
	WRITE_ONCE(ch->group->last_broadcast, request->action);
	auxt_inhibit_broadcast(ch, request);
	return changes;
}

/* Returns false if the request changes nothing on this channel. */
static __always_inline bool auxt_inhibit_apply(struct auxt_channel *ch,
					       const struct auxt_request *request, u64 value)
{
	if (unlikely(request->action == AUXTRACE_ACTION_FREEZE))
		return auxt_inhibit_freeze(ch, request, value);
	return request->all_cpus ? auxt_inhibit_toggle_all(ch, request) :
				   auxt_inhibit_toggle(ch, request);
}

/* Writes the record of a request that is no FREEZE: the settle loop writes that of a FREEZE. */
static __always_inline void auxt_inhibit_record(struct auxt_channel *ch,
						const struct auxt_request *request, u64 value)
{
	if (ch->wanted & AUXTRACE_WANT_TRIGGER)
		auxt_record_trigger(&ch->data, request, value, READ_ONCE(ch->aux.produced));
}

/* In the settle loop. */
void auxt_inhibit_at_deadline(struct auxt_channel *ch);

#endif /* AUXT_INHIBIT_H */
