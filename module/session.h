/* SPDX-License-Identifier: GPL-2.0-only */
/* A session: one open file of /dev/auxtrace. */
#ifndef AUXT_SESSION_H
#define AUXT_SESSION_H

#include <linux/auxtrace.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/workqueue.h>
#include "base/pace.h"
#include "core/state.h"

struct auxt_aux_buffer;
struct auxt_trigger_set;
struct trace_pmu;
struct vm_area_struct;

/*
 * DOC: locks of a session, outermost first
 *
 * setup_lock	serialises SETUP. What SETUP creates (buffer, channels, CPU set) is published by
 *		a release store of @state and does not change until the file is released. So
 *		mmap(2) and others use it without a lock, after an acquire load of @state.
 *		SETUP and the last close take the lock of the kernel's tracepoints, which takes
 *		cpus_read_lock().
 * the lock of the trigger set (trigger/set.c)	held while events are created and released, for
 *		which the kernel takes the next lock.
 *		(mmap(2) runs with mmap_lock held, and a copy to or from user space may take
 *		it. mmap(2) takes none of these locks. Copies are made under the two locks so
 *		far, and none under those below.)
 * cpus_read_lock()	no CPU goes online or offline, so the callbacks of hotplug.c, which
 *		change channels, do not run. Nothing under it may take it again: see
 *		hw/reservation.c.
 * state_lock	START and STOP take it for writing, code that depends on the state for reading.
 *		So PAUSE and RESUME run in parallel; each CPU orders its own. A PAUSE or RESUME of
 *		the caller's own CPU alone takes none of these locks: auxt_broadcast_alone().
 * slots_lock	serialises SNAPSHOT with SLOT, so that a slot is the same on all CPUs, and
 *		RELEASE.
 * idle_lock	serialises tasks that use a channel in place of its CPU (core/channel.c): the CPU
 *		is offline, or the session is not started.
 */

/**
 * struct auxt_session - one open file of /dev/auxtrace
 * @setup_lock: see above
 * @state_lock: see above
 * @slots_lock: see above
 * @idle_lock: see above
 * @state: AUXTRACE_STATE_*
 * @flags: AUXTRACE_SETUP_*
 * @has_data: the channels have data rings
 * @nr_slots: number of slots of each area; 1: the areas are not divided
 * @slot: the slot that is traced into
 * @interrupts: how often it may interrupt other CPUs, if it has an owner: rights.c
 * @tails: takes the tails for which poll(2) could not wait: status.c
 * @held: slots that hold a snapshot, one bit each; each is held on all channels
 * @pmu: the trace PMU
 * @group: the CPUs and their channels
 * @nr_channels: number of channels
 * @buffer: the pages that user space maps
 * @triggers: the triggers
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
	struct auxt_pace interrupts;
	struct delayed_work tails;
	const struct trace_pmu *pmu;
	struct auxt_group group;
	unsigned int nr_channels;
	struct auxt_aux_buffer *buffer;
	struct auxt_trigger_set *triggers;
};

static inline u32 auxt_session_state(const struct auxt_session *session)
{
	/* Pairs with the release in setup_make(). */
	return smp_load_acquire(&session->state);
}

struct auxt_session *auxt_session_new(void);
void auxt_session_free(struct auxt_session *session);
int auxt_session_mmap(struct auxt_session *session, struct vm_area_struct *vma);

/* Between the two, the state does not change, and no CPU goes online or offline. */
int auxt_session_lock(struct auxt_session *session);
void auxt_session_unlock(struct auxt_session *session);

#endif /* AUXT_SESSION_H */
