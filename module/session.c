// SPDX-License-Identifier: GPL-2.0
/*
 * A session: one open file of /dev/auxtrace, from open(2) to close(2). What is asked of
 * one that is set up stands in control.c, snapshot.c and status.c.
 */

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/wait.h>
#include "hw/bts.h"
#include "core/channel.h"
#include "cpuset.h"
#include "hw/reservation.h"
#include "hw/pt.h"
#include "base/aux_buffer.h"
#include "session_private.h"
#include "hotplug.h"
#include "core/trace_pmu.h"
#include "trigger/set.h"

/**
 * auxt_session_new() - open(2)
 *
 * Return: a session in state NEW, or NULL.
 */
struct auxt_session *auxt_session_new(void)
{
	struct auxt_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return NULL;
	mutex_init(&session->setup_lock);
	init_rwsem(&session->state_lock);
	mutex_init(&session->slots_lock);
	mutex_init(&session->idle_lock);
	init_waitqueue_head(&session->waiters);
	session->state = AUXTRACE_STATE_NEW;
	return session;
}

/* ---- SETUP -------------------------------------------------------------- */

static const struct trace_pmu *const pmus[] = {
	[AUXTRACE_PMU_INTEL_PT] = &auxt_pt,
	[AUXTRACE_PMU_INTEL_BTS] = &auxt_bts,
};

static bool is_power_of_two_from(u64 size, u64 min)
{
	return size >= min && !(size & (size - 1));
}

static bool is_data_ring_fine(const struct auxtrace_setup *arg)
{
	if (!arg->data_size)
		return !(arg->flags & (AUXTRACE_SETUP_DATA_BACKWARD |
				       AUXTRACE_SETUP_DATA_OVERWRITE)) &&
		       !arg->data_watermark && !arg->records;
	return is_power_of_two_from(arg->data_size, PAGE_SIZE) &&
	       arg->data_watermark < arg->data_size &&
	       !(arg->data_watermark && arg->flags & AUXTRACE_SETUP_DATA_OVERWRITE) &&
	       !(arg->records & ~AUXTRACE_WANT_ALL);
}

static bool are_slots_fine(const struct auxtrace_setup *arg)
{
	if (arg->slots <= 1)
		return true;
	return arg->flags & AUXTRACE_SETUP_OVERWRITE &&
	       is_power_of_two_from(arg->slots, 2) && arg->slots <= AUXTRACE_MAX_SLOTS &&
	       arg->aux_size / arg->slots >= 2 * PAGE_SIZE &&
	       (!(arg->flags & AUXTRACE_SETUP_DATA_OVERWRITE) ||
		arg->data_size / arg->slots >= PAGE_SIZE);
}

static int check_setup(const struct auxtrace_setup *arg)
{
	u32 full = arg->flags & (AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP);

	if (arg->flags & ~AUXTRACE_SETUP_ALL ||
	    !(arg->flags & (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)))
		return -EINVAL;
	if (full && (full & (full - 1) || arg->flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (!is_power_of_two_from(arg->aux_size, 2 * PAGE_SIZE))
		return -EINVAL;
	if (arg->aux_watermark & ~PAGE_MASK || arg->aux_watermark >= arg->aux_size ||
	    (arg->aux_watermark && arg->flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (!is_data_ring_fine(arg) || !are_slots_fine(arg))
		return -EINVAL;
	return 0;
}

static bool all_online(const struct cpumask *cpus)
{
	bool yes;

	cpus_read_lock();
	yes = cpumask_subset(cpus, cpu_online_mask);
	cpus_read_unlock();
	return yes;
}

static void free_channels(struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		auxt_channel_free(session->channel[cpu]);
	kvfree(session->channel);
	session->channel = NULL;
}

static int make_channels(struct auxt_session *session, const struct auxtrace_setup *arg)
{
	unsigned int cpu, index = 0;

	session->channel = kvcalloc(nr_cpu_ids, sizeof(*session->channel), GFP_KERNEL);
	if (!session->channel)
		return -ENOMEM;
	for_each_cpu(cpu, session->cpus) {
		struct auxt_channel *ch = auxt_channel_new(session->pmu, session->buffer,
							   &session->waiters, cpu, index++, arg);

		if (IS_ERR(ch)) {
			free_channels(session);
			return PTR_ERR(ch);
		}
		ch->session = session;
		ch->triggers = session->triggers;
		ch->last_broadcast = &session->last_broadcast;
		session->channel[cpu] = ch;
	}
	session->nr_channels = index;
	return 0;
}

/* With setup_lock. */
static int set_up(struct auxt_session *session, const struct auxtrace_setup *arg)
{
	int err;

	if (auxt_session_state(session) != AUXTRACE_STATE_NEW)
		return -EEXIST;
	err = check_setup(arg);
	if (err)
		return err;
	if (!zalloc_cpumask_var(&session->cpus, GFP_KERNEL))
		return -ENOMEM;
	err = auxt_cpuset_get(session->cpus, arg->cpus, arg->cpus_len);
	if (err)
		goto err_cpus;
	err = -EACCES;
	if (!perfmon_capable())
		goto err_cpus;
	err = -ENODEV;
	if (arg->pmu >= ARRAY_SIZE(pmus))
		goto err_cpus;
	session->pmu = pmus[arg->pmu];
	if (session->pmu->missing() || !all_online(session->cpus))
		goto err_cpus;
	err = session->pmu->check(arg);
	if (err)
		goto err_cpus;

	session->buffer = auxt_aux_buffer_new(session->cpus, arg, session->pmu->table_pages(arg),
					      auxt_data_slots(arg));
	if (IS_ERR(session->buffer)) {
		err = PTR_ERR(session->buffer);
		goto err_cpus;
	}
	err = -ENOMEM;
	session->triggers = auxt_trigger_set_new(session->cpus, arg);
	if (!session->triggers)
		goto err_buffer;
	err = make_channels(session, arg);
	if (err)
		goto err_triggers;
	session->flags = arg->flags;
	session->has_data = arg->data_size;
	session->nr_slots = max(arg->slots, 1U);
	/* All of it is in place: pairs with auxt_session_state(). */
	smp_store_release(&session->state, AUXTRACE_STATE_STOPPED);
	return 0;

err_triggers:
	auxt_trigger_set_free(session->triggers);
err_buffer:
	auxt_aux_buffer_put(session->buffer);
err_cpus:
	free_cpumask_var(session->cpus);
	return err;
}

/**
 * auxt_session_setup() - AUXTRACE_IOC_SETUP
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_setup(struct auxt_session *session, struct auxtrace_setup *arg)
{
	int err;

	if (mutex_lock_killable(&session->setup_lock))
		return -EINTR;
	err = set_up(session, arg);
	mutex_unlock(&session->setup_lock);
	return err;
}

/* ---- START, STOP -------------------------------------------------------- */

static void attach(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	u32 inhibit = AUXTRACE_INHIBIT_SETUP;
	int err;

	if (call->session->flags & AUXTRACE_SETUP_PAUSED)
		inhibit |= AUXTRACE_INHIBIT_USER;
	if (call->session->flags & AUXTRACE_SETUP_TRIGGER_PAUSED)
		inhibit |= AUXTRACE_INHIBIT_TRIGGER;
	auxt_channel_reset(ch, inhibit);
	err = auxt_stop_attach(ch);
	if (err)
		atomic_set(&call->err, err);
}

static void begin(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_stop_begin(ch);
}

static void end(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	auxt_remote_forget(ch);
}

/* START has failed somewhere: as if it had not been. */
static void undo_attach(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_detach(ch);
	auxt_remote_forget(ch);
	auxt_channel_undo_reset(ch);
}

static void release_reservations(struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		if (auxt_reservation_owner(cpu, session->pmu->number) == session->channel[cpu])
			auxt_reservation_release(session->channel[cpu]);
}

static int take_reservations(struct auxt_session *session)
{
	int type = auxt_reservation_type(session->pmu->name);
	unsigned int cpu;
	int err;

	for_each_cpu(cpu, session->cpus) {
		err = auxt_reservation_take(session->channel[cpu], type);
		if (err) {
			release_reservations(session);
			return err;
		}
	}
	return 0;
}

/* With cpus_read_lock() and state_lock for writing. */
static int start(struct auxt_session *session)
{
	struct auxt_broadcast call = { .session = session };
	unsigned int cpu;
	int err;

	if (session->state == AUXTRACE_STATE_STARTED)
		return -EALREADY;
	if (!cpumask_subset(session->cpus, cpu_online_mask))
		return -ENODEV;
	err = take_reservations(session);
	if (err)
		return err;

	/* Before the first is attached, as from then on they may ask each other. */
	for_each_cpu(cpu, session->cpus)
		auxt_remote_forget(session->channel[cpu]);
	/* In two steps, because the first may fail somewhere: nothing runs until all can. */
	call.fn = attach;
	auxt_broadcast(&call, session->cpus, true);
	err = atomic_read(&call.err);
	if (err) {
		call.fn = undo_attach;
		auxt_broadcast(&call, session->cpus, true);
		release_reservations(session);
		return err;
	}
	call.fn = begin;
	auxt_broadcast(&call, session->cpus, true);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STARTED);
	return 0;
}

/* As start(). */
static int stop(struct auxt_session *session)
{
	struct auxt_broadcast call = { .session = session, .fn = end };

	if (session->state != AUXTRACE_STATE_STARTED)
		return -EALREADY;
	auxt_broadcast(&call, session->cpus, true);
	release_reservations(session);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STOPPED);
	/* What is less than a watermark can be read now. */
	wake_up_interruptible_poll(&session->waiters, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/* Events hit at any time: what they asked of channels is carried out or gone. */
static void quiet_triggers(struct auxt_session *session)
{
	unsigned int cpu;

	auxt_trigger_set_free(session->triggers);
	for_each_cpu(cpu, session->cpus)
		auxt_remote_flush(session->channel[cpu]);
}

static int change_state(struct auxt_session *session, int (*change)(struct auxt_session *))
{
	int err;

	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
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
 * auxt_session_start() - AUXTRACE_IOC_START
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_start(struct auxt_session *session, struct auxtrace_start *arg)
{
	if (arg->flags)
		return -EINVAL;
	if (!perfmon_capable())
		return -EACCES;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	/* A CPU that was offline since has lost its events. */
	auxt_trigger_set_renew(session->triggers);
	return change_state(session, start);
}

/**
 * auxt_session_stop() - AUXTRACE_IOC_STOP
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_stop(struct auxt_session *session, struct auxtrace_start *arg)
{
	if (arg->flags)
		return -EINVAL;
	return change_state(session, stop);
}

/**
 * auxt_session_free() - the last close(2): stop, and let the buffer go
 * @session: nobody else uses it
 */
void auxt_session_free(struct auxt_session *session)
{
	if (session->state != AUXTRACE_STATE_NEW) {
		/* Not killable: whoever dies here must still give the hardware back. */
		cpus_read_lock();
		down_write(&session->state_lock);
		stop(session);
		up_write(&session->state_lock);
		cpus_read_unlock();
		quiet_triggers(session);
		free_channels(session);
		auxt_aux_buffer_put(session->buffer);
		free_cpumask_var(session->cpus);
	}
	kfree(session);
}

/* ---- triggers ----------------------------------------------------------- */

/**
 * auxt_session_triggers() - the triggers of a session
 * @session: the session
 *
 * Return: the set; NULL before SETUP.
 */
struct auxt_trigger_set *auxt_session_triggers(const struct auxt_session *session)
{
	return auxt_session_state(session) == AUXTRACE_STATE_NEW ? NULL : session->triggers;
}

/**
 * auxt_session_cpus() - the CPUs of a session
 * @session: the session, set up
 *
 * Return: them.
 */
const struct cpumask *auxt_session_cpus(const struct auxt_session *session)
{
	return session->cpus;
}

/**
 * auxt_session_channel() - a session on one CPU
 * @session: the session, set up
 * @cpu: one of its CPUs
 *
 * Return: the channel.
 */
struct auxt_channel *auxt_session_channel(const struct auxt_session *session, int cpu)
{
	return session->channel[cpu];
}

/**
 * auxt_session_mmap() - mmap(2)
 * @session: the session
 * @vma: the mapping
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_mmap(struct auxt_session *session, struct vm_area_struct *vma)
{
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	return auxt_aux_buffer_mmap(session->buffer, vma);
}
