// SPDX-License-Identifier: GPL-2.0-only
/* STATUS and poll(2): the state of a session as a whole. */

#include <linux/jiffies.h>
#include <linux/ktime.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "broadcast.h"
#include "core/known.h"
#include "core/members.h"
#include "core/remote.h"
#include "core/settle.h"
#include "rights.h"
#include "session.h"
#include "verbs.h"

static void status_sync_here(struct auxt_channel *ch, void *data)
{
	auxt_settle_sync(ch);
}

static void status_sync_tails_here(struct auxt_channel *ch, void *data)
{
	auxt_settle_sync_tails(ch);
}

/*
 * Adds the counters of a channel. The CPUs change them meanwhile: each load is atomic, but the sums
 * are not of one moment.
 */
static void status_add(struct auxtrace_status *sum, const struct auxt_channel *ch)
{
	sum->out_nr_running += READ_ONCE(ch->now.running);
	sum->out_produced += READ_ONCE(ch->now.produced);
	sum->out_consumed += READ_ONCE(ch->now.consumed);
	sum->out_overwritten += READ_ONCE(ch->now.overwritten);
	sum->out_windows += READ_ONCE(ch->now.windows);
	sum->out_gaps += READ_ONCE(ch->now.gaps);
	sum->out_pmis += READ_ONCE(ch->now.pmis);
	sum->out_data_produced += READ_ONCE(ch->status->data_head);
	sum->out_data_consumed += READ_ONCE(ch->status->data_consumed);
	sum->out_data_overwritten += READ_ONCE(ch->status->data_overwritten);
	sum->out_data_lost += READ_ONCE(ch->status->data_lost);
}

/**
 * auxt_status() - AUXTRACE_IOC_STATUS
 * @session: the session
 * @data: struct auxtrace_status
 *
 * Return: 0; -EINVAL unknown flag or non-zero reserved member; -EINTR a fatal signal.
 */
int auxt_status(struct auxt_session *session, void *data)
{
	struct auxtrace_status *arg = data;
	struct auxtrace_status sum = { .size = arg->size, .flags = arg->flags };
	unsigned int cpu;
	int err;

	if (arg->flags & ~AUXTRACE_STATUS_ALL || arg->reserved)
		return -EINVAL;
	if (auxt_session_state(session) != AUXTRACE_STATE_NEW) {
		err = arg->flags & AUXTRACE_STATUS_SYNC ? auxt_rights_interrupt(session) : 0;
		if (!err)
			err = auxt_session_lock(session);
		if (err)
			return err;
		if (arg->flags & AUXTRACE_STATUS_SYNC)
			auxt_broadcast(session, session->group.cpus,
				       session->state == AUXTRACE_STATE_STARTED, status_sync_here,
				       NULL);
		sum.out_state = session->state;
		sum.out_nr_channels = session->nr_channels;
		for_each_cpu(cpu, session->group.cpus)
			status_add(&sum, session->group.channels[cpu]);
		if (session->group.members) {
			sum.out_members = auxt_members_alive(session->group.members);
			sum.out_members_lost = atomic64_read(&session->group.members->lost);
		}
		auxt_session_unlock(session);
	}
	*arg = sum;
	return 0;
}

static bool status_has_new_tail(const struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus)
		if (auxt_settle_has_new_tail(session->group.channels[cpu]))
			return true;
	return false;
}

/* Sends an IPI only to CPUs where the reader has moved a tail. */
static void status_take_tails(struct auxt_session *session)
{
	cpumask_var_t moved;
	unsigned int cpu;

	/* If there is no memory, the next call takes them, or a writer that needs space. */
	if (!zalloc_cpumask_var(&moved, GFP_KERNEL))
		return;
	for_each_cpu(cpu, session->group.cpus)
		if (auxt_settle_has_new_tail(session->group.channels[cpu]))
			cpumask_set_cpu(cpu, moved);
	if (!cpumask_empty(moved) && !auxt_session_lock(session)) {
		auxt_broadcast(session, moved, session->state == AUXTRACE_STATE_STARTED,
			       status_sync_tails_here, NULL);
		auxt_session_unlock(session);
	}
	free_cpumask_var(moved);
}

/* The turn has come for which status_sync_tails() did not wait. */
static void status_take_tails_later(struct work_struct *work)
{
	struct auxt_session *session = container_of(work, struct auxt_session, tails.work);

	status_take_tails(session);
	/* poll(2) has reported nothing of these channels: it looks again. */
	wake_up_interruptible_poll(&session->group.waiters,
				   EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLERR);
}

/*
 * Takes new tails. If the session may interrupt other CPUs only later, a work takes them then, and this
 * returns false.
 *
 * poll(2) must not wait: epoll calls it with the mutex of the epoll instance held. Kernels before 6.4
 * wait for that mutex with a mutex of the whole machine held, whenever a file of that instance is
 * closed. AIO calls it in a work of the kernel's common work queue.
 */
static bool status_sync_tails(struct auxt_session *session)
{
	u64 turn, now;

	if (!status_has_new_tail(session))
		return true;
	if (session->group.owner) {
		if (delayed_work_pending(&session->tails))
			return false;
		turn = auxt_rights_turn(session);
		now = ktime_get_ns();
		if (turn > now) {
			/* If another caller was faster, this turn passes unused. */
			schedule_delayed_work(&session->tails, nsecs_to_jiffies(turn - now) + 1);
			return false;
		}
	}
	status_take_tails(session);
	return true;
}

/**
 * auxt_poll_init() - prepare a session for poll(2)
 * @session: a new session
 */
void auxt_poll_init(struct auxt_session *session)
{
	INIT_DELAYED_WORK(&session->tails, status_take_tails_later);
}

/**
 * auxt_poll_end() - end what poll(2) has left to be done later
 * @session: a session whose file nobody has open
 */
void auxt_poll_end(struct auxt_session *session)
{
	cancel_delayed_work_sync(&session->tails);
}

/*
 * Does poll(2) report a freeze? Only once the request to freeze has been sent to all CPUs. Each CPU
 * carries it out before later requests of user space (broadcast.c), so a caller that was notified
 * of a freeze never sees a CPU that is not frozen.
 */
static bool status_is_frozen(const struct auxt_session *session)
{
	bool frozen = false;
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus)
		frozen |= auxt_channel_inhibited(session->group.channels[cpu]) &
			  AUXTRACE_INHIBIT_FROZEN;
	if (!frozen)
		return false;
	/* Pairs with the atomics that write out_freeze and in_freeze before FROZEN. */
	smp_rmb();
	for_each_cpu(cpu, session->group.cpus)
		if (auxt_remote_is_sending_freeze(&session->group.channels[cpu]->remote))
			return false;
	return true;
}

/**
 * auxt_poll() - poll(2)
 * @session: the session
 * @file: its file
 * @wait: the caller's poll table
 *
 * Return: EPOLLIN if there is something to read, EPOLLPRI if a channel is frozen, EPOLLERR before
 * SETUP or if a channel has HWERROR; see the ABI at mmap.
 */
__poll_t auxt_poll(struct auxt_session *session, struct file *file,
		   struct poll_table_struct *wait)
{
	__poll_t events = 0;
	unsigned int cpu;
	bool stopped, taken;

	poll_wait(file, &session->group.waiters, wait);
	/* The caller is in the queue before it looks: pairs with settle_wake() in core/settle.c. */
	smp_mb();
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return EPOLLERR;
	taken = status_sync_tails(session);
	stopped = READ_ONCE(session->state) == AUXTRACE_STATE_STOPPED;
	for_each_cpu(cpu, session->group.cpus) {
		const struct auxt_channel *ch = session->group.channels[cpu];

		/* If its new tail is not taken yet, what the reader has read still seems to be unread. */
		if (auxt_channel_is_readable(ch, stopped) && (taken || !auxt_settle_has_new_tail(ch)))
			events |= EPOLLIN | EPOLLRDNORM;
		if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_HWERROR)
			events |= EPOLLERR;
	}
	if (status_is_frozen(session))
		events |= EPOLLPRI;
	return events;
}
