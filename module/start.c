// SPDX-License-Identifier: GPL-2.0-only
/* START and STOP. */

#include <linux/cpu.h>
#include <linux/wait.h>
#include "broadcast.h"
#include "core/channel.h"
#include "core/remote.h"
#include "hw/reservation.h"
#include "rights.h"
#include "session.h"
#include "trigger/set.h"
#include "verbs.h"

/* For each CPU, at most: of START and STOP. */
#define START_INTERRUPTS	5

/**
 * struct start_call - arguments of a START, shared by its CPUs
 * @flags: AUXTRACE_SETUP_*
 * @err: 0, or the error of a CPU that could not attach
 */
struct start_call {
	u32 flags;
	atomic_t err;
};

static void start_attach(struct auxt_channel *ch, void *data)
{
	struct start_call *call = data;
	u32 inhibit = AUXTRACE_INHIBIT_SETUP;
	int err;

	if (call->flags & AUXTRACE_SETUP_PAUSED)
		inhibit |= AUXTRACE_INHIBIT_USER;
	if (call->flags & AUXTRACE_SETUP_TRIGGER_PAUSED)
		inhibit |= AUXTRACE_INHIBIT_TRIGGER;
	auxt_channel_reset(ch, inhibit);
	err = auxt_channel_attach(ch);
	if (err)
		atomic_set(&call->err, err);
}

static void start_begin(struct auxt_channel *ch, void *data)
{
	auxt_channel_begin(ch);
}

static void start_end(struct auxt_channel *ch, void *data)
{
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	auxt_remote_forget(ch);
}

/* START failed on a CPU: restore on each CPU the state before it. */
static void start_undo(struct auxt_channel *ch, void *data)
{
	auxt_channel_detach(ch);
	auxt_remote_forget(ch);
	auxt_channel_undo_reset(ch);
}

static void start_release_reservations(struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus) {
		struct auxt_channel *ch = session->group.channels[cpu];

		if (auxt_reservation_owner(cpu, session->pmu->number) == ch)
			auxt_reservation_release(ch);
	}
}

static int start_take_reservations(struct auxt_session *session)
{
	unsigned int cpu;
	int err;

	for_each_cpu(cpu, session->group.cpus) {
		err = auxt_reservation_take(session->group.channels[cpu]);
		if (err) {
			start_release_reservations(session);
			return err;
		}
	}
	return 0;
}

/* Reserved, so that later versions can give it a meaning for which 0 is right. */
static bool start_are_user_pages_valid(const struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus) {
		const struct auxtrace_user_page *user = session->group.channels[cpu]->user;

		if (memchr_inv(user + 1, 0, PAGE_SIZE - sizeof(*user)))
			return false;
	}
	return true;
}

/* With cpus_read_lock() and, for writing, state_lock held. */
static int start_do_start(struct auxt_session *session)
{
	struct start_call call = { .flags = session->flags };
	const struct cpumask *cpus = session->group.cpus;
	unsigned int cpu;
	int err;

	if (session->state == AUXTRACE_STATE_STARTED)
		return -EALREADY;
	if (!cpumask_subset(cpus, cpu_online_mask))
		return -ENODEV;
	if (!start_are_user_pages_valid(session))
		return -EINVAL;
	err = start_take_reservations(session);
	if (err)
		return err;

	/* Before the first attach: attached channels may make requests of each other. */
	for_each_cpu(cpu, cpus)
		auxt_remote_forget(session->group.channels[cpu]);
	/* Attaching may fail on a CPU. No hardware starts before it has succeeded on all. */
	auxt_broadcast(session, cpus, true, start_attach, &call);
	err = atomic_read(&call.err);
	if (err) {
		auxt_broadcast(session, cpus, true, start_undo, NULL);
		start_release_reservations(session);
		return err;
	}
	auxt_broadcast(session, cpus, true, start_begin, NULL);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STARTED);
	return 0;
}

/* Locks as for start_do_start(). */
static int start_do_stop(struct auxt_session *session)
{
	if (session->state != AUXTRACE_STATE_STARTED)
		return -EALREADY;
	auxt_broadcast(session, session->group.cpus, true, start_end, NULL);
	start_release_reservations(session);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STOPPED);
	/* A stopped session is readable below its watermarks, too. */
	wake_up_interruptible_poll(&session->group.waiters, EPOLLIN | EPOLLRDNORM);
	return 0;
}

static int start_change_state(struct auxt_session *session, int (*change)(struct auxt_session *))
{
	int err, i;

	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	/* It interrupts each CPU several times, also for perf. */
	for (i = 0; i < START_INTERRUPTS; i++) {
		err = auxt_rights_interrupt(session);
		if (err)
			return err;
	}
	cpus_read_lock();
	if (down_write_killable(&session->state_lock)) {
		err = -EINTR;
	} else {
		err = change(session);
		up_write(&session->state_lock);
	}
	cpus_read_unlock();
	return err;
}

/**
 * auxt_start() - AUXTRACE_IOC_START
 * @session: the session
 * @data: struct auxtrace_start
 *
 * Return: 0, or an errno, after which the session is as it was: -EINVAL unknown flag, or the
 * reserved part of a user page is not zero; -EACCES no CAP_PERFMON, and not the session's owner or no
 * longer allowed; -EBADFD before SETUP; -EALREADY
 * started; -ENODEV a CPU is offline; -EBUSY perf, firmware or another session uses the trace PMU;
 * -EIO its registers cannot be written, an earlier session could not turn it off, or perf's debug
 * store is not where the CPU looks for it (BTS); -EOPNOTSUPP a CPU no longer has what the session's
 * config needs; -EINTR a fatal signal; or perf's error
 * when its PMU is reserved.
 */
int auxt_start(struct auxt_session *session, void *data)
{
	const struct auxtrace_start *arg = data;
	int err;

	if (arg->flags)
		return -EINVAL;
	err = auxt_rights_start(session);
	if (err)
		return err;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	/* A CPU that went offline after a TRIGGER_ADD has lost the trigger's event. */
	return auxt_trigger_set_renew(session->triggers) ?:
	       start_change_state(session, start_do_start);
}

/**
 * auxt_stop() - AUXTRACE_IOC_STOP
 * @session: the session
 * @data: struct auxtrace_start
 *
 * Return: 0; -EINVAL unknown flag; -EBADFD before SETUP; -EALREADY not started; -EINTR a fatal
 * signal.
 */
int auxt_stop(struct auxt_session *session, void *data)
{
	const struct auxtrace_start *arg = data;

	if (arg->flags)
		return -EINVAL;
	return start_change_state(session, start_do_stop);
}

/**
 * auxt_stop_at_close() - stop a session at the last close(2), if it is started
 * @session: a session that no other code uses
 */
void auxt_stop_at_close(struct auxt_session *session)
{
	if (session->state == AUXTRACE_STATE_NEW)
		return;
	/* Not killable: a task that is being killed must release the hardware, too. */
	cpus_read_lock();
	down_write(&session->state_lock);
	start_do_stop(session);
	up_write(&session->state_lock);
	cpus_read_unlock();
}
