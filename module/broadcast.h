/* SPDX-License-Identifier: GPL-2.0-only */
/* Calling a function for several channels of a session, each on its CPU. */
#ifndef AUXT_BROADCAST_H
#define AUXT_BROADCAST_H

#include <linux/types.h>

struct auxt_channel;
struct auxt_session;
struct cpumask;

/* On the channel's CPU with interrupts off, not in an NMI; or in its place: see core/channel.c. */
typedef void (*auxt_broadcast_fn)(struct auxt_channel *ch, void *data);

/* Task context, in a session that is set up. True: @fn was called. */
bool auxt_broadcast_alone(struct auxt_session *session, const struct cpumask *cpus,
			  auxt_broadcast_fn fn, void *data);
/* Task context, with the session locked. */
void auxt_broadcast(struct auxt_session *session, const struct cpumask *cpus, bool started,
		    auxt_broadcast_fn fn, void *data);

#endif /* AUXT_BROADCAST_H */
