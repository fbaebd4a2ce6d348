/* SPDX-License-Identifier: GPL-2.0 */
/* A session, for the files that carry its ioctls out. */
#ifndef AUXT_SESSION_PRIVATE_H
#define AUXT_SESSION_PRIVATE_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/cpumask.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/wait.h>
#include "session.h"

struct auxt_aux_buffer;
struct trace_pmu;

/*
 * DOC: locks of a session, outermost first
 *
 * setup_lock	one SETUP at a time. Everything it makes (buffer, channels, cpus)
 *		is then published by a release store of @state and never changes
 *		until the file is released, so that mmap(2) and others may use it
 *		after an acquire load without a lock. (mmap(2) comes with mmap_lock
 *		held, which SETUP takes to charge memory, and which copying to or
 *		from user space may take: no copy is made under the locks below.)
 * cpus_read_lock()	CPUs stay online or offline; the hotplug callbacks of
 *		hotplug.c, which touch channels, are kept out.
 * state_lock	held for writing by START and STOP, for reading by those who rely
 *		on the state. So PAUSE and RESUME from many threads run side by side,
 *		and their order is made where it matters: on the CPU they address.
 * slots_lock	one SNAPSHOT with SLOT at a time, so that a slot is the same on all CPUs;
 *		and RELEASE.
 * idle_lock	whoever touches, from afar, a channel on whose CPU nothing runs
 *		(offline, or the session not started).
 */

/**
 * struct auxt_session - one open file of /dev/auxtrace
 * @setup_lock: see above
 * @state_lock: see above
 * @slots_lock: see above
 * @idle_lock: see above
 * @state: AUXTRACE_STATE_*
 * @flags: AUXTRACE_SETUP_*
 * @has_data: its channels have data rings
 * @nr_slots: into how many its areas are divided
 * @slot: that is traced into
 * @held: slots that hold a snapshot, a bit each; no channel has them for anything else
 * @last_broadcast: what triggers have asked all channels for. See struct auxt_channel
 * @pmu: what produces the trace
 * @cpus: the CPUs
 * @nr_channels: their number
 * @channel: by CPU number; NULL for a CPU that is not the session's
 * @buffer: what user space maps
 * @triggers: what events do to it
 * @waiters: in poll(2)
 */
struct auxt_session {
	struct mutex setup_lock;
	struct rw_semaphore state_lock;
	struct mutex slots_lock;
	struct mutex idle_lock;
	u32 state;
	u32 flags;
	bool has_data;
	u32 nr_slots;
	u32 slot;
	u64 held;
	u32 last_broadcast;
	const struct trace_pmu *pmu;
	cpumask_var_t cpus;
	unsigned int nr_channels;
	struct auxt_channel **channel;
	struct auxt_aux_buffer *buffer;
	struct auxt_trigger_set *triggers;
	wait_queue_head_t waiters;
};

static inline u32 auxt_session_state(const struct auxt_session *session)
{
	/* Pairs with the release in set_up(). */
	return smp_load_acquire(&session->state);
}

/**
 * struct auxt_broadcast - one thing to be done on several CPUs
 * @session: whose channels
 * @fn: what; on the CPU with interrupts off, or in its place
 * @effects: for @fn: answers by channel index, or NULL
 * @cuts: likewise
 * @flags: for @fn: AUXTRACE_SNAPSHOT_*
 * @slot: for @fn: slot to go on in
 * @err: for @fn: 0 or an error of one of them
 */
struct auxt_broadcast {
	struct auxt_session *session;
	void (*fn)(struct auxt_channel *ch, struct auxt_broadcast *call);
	struct auxtrace_effect *effects;
	struct auxtrace_cut *cuts;
	u32 flags;
	u32 slot;
	atomic_t err;
};

void auxt_broadcast(struct auxt_broadcast *call, const struct cpumask *cpus, bool started);

/* The state, and which CPUs are online, stay as they are meanwhile. */
int auxt_session_lock(struct auxt_session *session);
void auxt_session_unlock(struct auxt_session *session);

#endif /* AUXT_SESSION_PRIVATE_H */
