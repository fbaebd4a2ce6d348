// SPDX-License-Identifier: GPL-2.0
/*
 * A session: one open file of /dev/auxtrace.
 *
 * DOC: locks of a session, outermost first
 *
 * setup_lock	one SETUP at a time. Everything it makes (rings, channels, cpus)
 *		is then published by a release store of @state and never changes
 *		until the file is released, so that mmap(2) and others may use it
 *		after an acquire load without a lock. (mmap(2) comes with mmap_lock
 *		held, which SETUP takes to charge memory, and which copying to or
 *		from user space may take: no copy is made under the locks below.)
 * cpus_read_lock()	CPUs stay online or offline; the hotplug callbacks of
 *		stop.c, which touch channels, are kept out.
 * state_lock	held for writing by START and STOP, for reading by those who rely
 *		on the state. So PAUSE and RESUME from many threads run side by side,
 *		and their order is made where it matters: on the CPU they address.
 * slots_lock	one SNAPSHOT with SLOT at a time, so that a slot is the same on all CPUs;
 *		and RELEASE.
 * idle_lock	whoever touches, from afar, a channel on whose CPU nothing runs
 *		(offline, or the session not started).
 */

#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/uaccess.h>
#include <linux/wait.h>
#include "bts.h"
#include "channel.h"
#include "cpuset.h"
#include "guard.h"
#include "pt.h"
#include "rings.h"
#include "session.h"
#include "stop.h"
#include "trace_pmu.h"
#include "triggers.h"

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
 * @together: what triggers have asked all channels for. See struct auxt_channel
 * @pmu: what produces the trace
 * @cpus: the CPUs
 * @nr_channels: their number
 * @channel: by CPU number; NULL for a CPU that is not the session's
 * @rings: what user space maps
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
	u32 together;
	const struct trace_pmu *pmu;
	cpumask_var_t cpus;
	unsigned int nr_channels;
	struct auxt_channel **channel;
	struct auxt_rings *rings;
	struct auxt_triggers *triggers;
	wait_queue_head_t waiters;
};

static u32 state_of(const struct auxt_session *session)
{
	/* Pairs with the release in set_up(). */
	return smp_load_acquire(&session->state);
}

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

/* ---- doing something on the CPUs ---------------------------------------- */

/**
 * struct call - one thing to be done on several CPUs
 * @session: whose channels
 * @fn: what; on the CPU with interrupts off, or in its place
 * @effects: for @fn: answers by channel index, or NULL
 * @cuts: likewise
 * @flags: for @fn: AUXTRACE_SNAPSHOT_*
 * @slot: for @fn: slot to go on in
 * @err: for @fn: 0 or an error of one of them
 */
struct call {
	struct auxt_session *session;
	void (*fn)(struct auxt_channel *ch, struct call *call);
	struct auxtrace_effect *effects;
	struct auxtrace_cut *cuts;
	u32 flags;
	u32 slot;
	atomic_t err;
};

static void call_here(void *info)
{
	struct call *call = info;

	call->fn(call->session->channel[smp_processor_id()], call);
}

/*
 * One broadcast for the CPUs where something may run; the others' channels are
 * ours. Under cpus_read_lock() and state_lock.
 */
static void call_channels(struct call *call, const struct cpumask *cpus, bool started)
{
	struct auxt_session *session = call->session;
	unsigned int cpu;

	if (started)
		on_each_cpu_mask(cpus, call_here, call, true);
	if (started && cpumask_subset(cpus, cpu_online_mask))
		return;
	mutex_lock(&session->idle_lock);
	for_each_cpu(cpu, cpus)
		if (!started || !cpu_online(cpu))
			call->fn(session->channel[cpu], call);
	mutex_unlock(&session->idle_lock);
}

static int lock_state(struct auxt_session *session)
{
	cpus_read_lock();
	if (!down_read_killable(&session->state_lock))
		return 0;
	cpus_read_unlock();
	return -EINTR;
}

static void unlock_state(struct auxt_session *session)
{
	up_read(&session->state_lock);
	cpus_read_unlock();
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
		struct auxt_channel *ch = auxt_channel_new(session->pmu, session->rings,
							   &session->waiters, cpu, index++, arg);

		if (IS_ERR(ch)) {
			free_channels(session);
			return PTR_ERR(ch);
		}
		ch->session = session;
		ch->triggers = session->triggers;
		ch->together = &session->together;
		session->channel[cpu] = ch;
	}
	session->nr_channels = index;
	return 0;
}

/* With setup_lock. */
static int set_up(struct auxt_session *session, const struct auxtrace_setup *arg)
{
	int err;

	if (state_of(session) != AUXTRACE_STATE_NEW)
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

	session->rings = auxt_rings_new(session->cpus, arg, session->pmu->table_pages(arg));
	if (IS_ERR(session->rings)) {
		err = PTR_ERR(session->rings);
		goto err_cpus;
	}
	err = -ENOMEM;
	session->triggers = auxt_triggers_new(session->cpus, arg);
	if (!session->triggers)
		goto err_rings;
	err = make_channels(session, arg);
	if (err)
		goto err_triggers;
	session->flags = arg->flags;
	session->has_data = arg->data_size;
	session->nr_slots = max(arg->slots, 1U);
	/* All of it is in place: pairs with state_of(). */
	smp_store_release(&session->state, AUXTRACE_STATE_STOPPED);
	return 0;

err_triggers:
	auxt_triggers_free(session->triggers);
err_rings:
	auxt_rings_put(session->rings);
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

static void attach(struct auxt_channel *ch, struct call *call)
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

static void begin(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_allow(ch, AUXTRACE_INHIBIT_SETUP);
}

static void end(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_SETUP);
	auxt_channel_detach(ch);
	auxt_relay_forget(ch);
}

static void release_guards(struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		if (auxt_guard_owner(cpu, session->pmu->number) == session->channel[cpu])
			auxt_guard_release(session->channel[cpu]);
}

static int take_guards(struct auxt_session *session)
{
	int type = auxt_guard_type(session->pmu->name);
	unsigned int cpu;
	int err;

	for_each_cpu(cpu, session->cpus) {
		err = auxt_guard_take(session->channel[cpu], type);
		if (err) {
			release_guards(session);
			return err;
		}
	}
	return 0;
}

/* With cpus_read_lock() and state_lock for writing. */
static int start(struct auxt_session *session)
{
	struct call call = { .session = session };
	int err;

	if (session->state == AUXTRACE_STATE_STARTED)
		return -EALREADY;
	if (!cpumask_subset(session->cpus, cpu_online_mask))
		return -ENODEV;
	err = take_guards(session);
	if (err)
		return err;

	/* In two steps, because the first may fail somewhere: nothing runs until all can. */
	call.fn = attach;
	call_channels(&call, session->cpus, true);
	err = atomic_read(&call.err);
	if (err) {
		call.fn = end;
		call_channels(&call, session->cpus, true);
		release_guards(session);
		return err;
	}
	call.fn = begin;
	call_channels(&call, session->cpus, true);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STARTED);
	return 0;
}

/* As start(). */
static int stop(struct auxt_session *session)
{
	struct call call = { .session = session, .fn = end };

	if (session->state != AUXTRACE_STATE_STARTED)
		return -EALREADY;
	call_channels(&call, session->cpus, true);
	release_guards(session);
	WRITE_ONCE(session->state, AUXTRACE_STATE_STOPPED);
	/* What is less than a watermark can be read now. */
	wake_up_interruptible_poll(&session->waiters, EPOLLIN | EPOLLRDNORM);
	return 0;
}

/* Events hit at any time: what they asked of channels is carried out or gone. */
static void quiet_triggers(struct auxt_session *session)
{
	unsigned int cpu;

	auxt_triggers_free(session->triggers);
	for_each_cpu(cpu, session->cpus)
		auxt_relay_flush(session->channel[cpu]);
}

static int change_state(struct auxt_session *session, int (*change)(struct auxt_session *))
{
	int err;

	if (state_of(session) == AUXTRACE_STATE_NEW)
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
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	/* A CPU that was offline since has lost its events. */
	auxt_triggers_renew(session->triggers);
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
 * auxt_session_free() - the last close(2): stop, and let the rings go
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
		auxt_rings_put(session->rings);
		free_cpumask_var(session->cpus);
	}
	kfree(session);
}

/* ---- PAUSE, RESUME ------------------------------------------------------ */

static struct auxtrace_effect *effect_of(const struct auxt_channel *ch, struct call *call)
{
	return call->effects ? &call->effects[ch->index] : NULL;
}

static void pause(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_pause(ch, effect_of(ch, call));
}

static void resume(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_resume(ch, effect_of(ch, call));
}

static int put_effects(const struct auxt_session *session, const struct cpumask *cpus,
		       const struct auxtrace_effect *effects, const struct auxtrace_control *arg)
{
	struct auxtrace_effect __user *to = u64_to_user_ptr(arg->effects);
	unsigned int cpu, n = 0;

	for_each_cpu(cpu, cpus) {
		const struct auxtrace_effect *effect = &effects[session->channel[cpu]->index];

		if (n == arg->effects_len)
			break;
		if (copy_to_user(to + n++, effect, sizeof(*effect)))
			return -EFAULT;
	}
	return 0;
}

/*
 * The CPUs that a caller means: a set of his, or without one all of the session's,
 * for which nothing is allocated. To be put back.
 */
static const struct cpumask *get_cpus(const struct auxt_session *session, u64 user, u32 len)
{
	struct cpumask *cpus;
	int err;

	if (!len)
		return session->cpus;
	cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	if (!cpus)
		return ERR_PTR(-ENOMEM);
	err = auxt_cpuset_get(cpus, user, len);
	if (!err && !cpumask_subset(cpus, session->cpus))
		err = -EINVAL;
	if (!err)
		return cpus;
	kfree(cpus);
	return ERR_PTR(err);
}

static void put_cpus(const struct auxt_session *session, const struct cpumask *cpus)
{
	if (cpus != session->cpus)
		kfree(cpus);
}

/* A bad address must be known before anything happens. */
static int prepare_effects(const struct auxt_session *session, struct call *call,
			   const struct auxtrace_control *arg)
{
	u32 room = min(arg->effects_len, arg->out_count);

	if (!arg->effects_len)
		return 0;
	if (clear_user(u64_to_user_ptr(arg->effects), room * sizeof(*call->effects)))
		return -EFAULT;
	call->effects = kvcalloc(session->nr_channels, sizeof(*call->effects), GFP_KERNEL);
	return call->effects ? 0 : -ENOMEM;
}

static int control(struct auxt_session *session, struct auxtrace_control *arg,
		   void (*fn)(struct auxt_channel *, struct call *))
{
	struct call call = { .session = session, .fn = fn };
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	/* Before NEW becomes STOPPED there is no set of CPUs to look at. */
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	cpus = get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	arg->out_count = cpus == session->cpus ? session->nr_channels : cpumask_weight(cpus);

	err = prepare_effects(session, &call, arg);
	if (!err)
		err = lock_state(session);
	if (err)
		goto out;
	if (session->state == AUXTRACE_STATE_STARTED)
		call_channels(&call, cpus, true);
	else
		err = -EBADFD;
	unlock_state(session);
	if (!err && call.effects)
		err = put_effects(session, cpus, call.effects, arg);
out:
	if (call.effects)
		kvfree(call.effects);
	put_cpus(session, cpus);
	return err;
}

/**
 * auxt_session_pause() - AUXTRACE_IOC_PAUSE
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_pause(struct auxt_session *session, struct auxtrace_control *arg)
{
	return control(session, arg, pause);
}

/**
 * auxt_session_resume() - AUXTRACE_IOC_RESUME
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_resume(struct auxt_session *session, struct auxtrace_control *arg)
{
	return control(session, arg, resume);
}

/* ---- PAUSE_OUTPUT ------------------------------------------------------- */

static void pause_output(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_pause_output(ch, true);
}

static void resume_output(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_pause_output(ch, false);
}

/**
 * auxt_session_pause_output() - AUXTRACE_IOC_PAUSE_OUTPUT
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_pause_output(struct auxt_session *session, struct auxtrace_output *arg)
{
	struct call call = {
		.session = session,
		.fn = arg->pause ? pause_output : resume_output,
	};
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->pause > 1)
		return -EINVAL;
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (!session->has_data)
		return -EINVAL;
	cpus = get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	err = lock_state(session);
	if (!err) {
		call_channels(&call, cpus, session->state == AUXTRACE_STATE_STARTED);
		unlock_state(session);
	}
	put_cpus(session, cpus);
	return err;
}

/* ---- SNAPSHOT, RELEASE -------------------------------------------------- */

static void snapshot(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_snapshot(ch, call->flags, call->slot, &call->cuts[ch->index]);
}

/* Triggers may take a slot of one channel for a sample at any time: all or none. */
static bool claim_slot(struct auxt_session *session, u32 slot)
{
	unsigned int cpu, undo;

	for_each_cpu(cpu, session->cpus) {
		if (auxt_slots_claim(&session->channel[cpu]->slots, slot))
			continue;
		for_each_cpu(undo, session->cpus) {
			if (undo == cpu)
				return false;
			auxt_slots_give(&session->channel[undo]->slots, slot);
		}
	}
	return true;
}

static void give_slot(struct auxt_session *session, u32 slot)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		auxt_slots_give(&session->channel[cpu]->slots, slot);
}

/* A slot that no channel had for anything, or -ENOSPC. With slots_lock. */
static int claim_any_slot(struct auxt_session *session)
{
	u32 i;

	for (i = 1; i < session->nr_slots; i++) {
		u32 slot = (session->slot + i) % session->nr_slots;

		if (claim_slot(session, slot))
			return slot;
	}
	return -ENOSPC;
}

/* With the state locked. */
static int take_snapshot(struct auxt_session *session, struct call *call, u32 *held)
{
	bool started = session->state == AUXTRACE_STATE_STARTED;
	int slot = 0;

	if (call->flags && !started)
		return -EBADFD;
	mutex_lock(&session->slots_lock);
	if (call->flags & AUXTRACE_SNAPSHOT_SLOT)
		slot = claim_any_slot(session);
	if (slot >= 0) {
		call->slot = slot;
		call_channels(call, session->cpus, started);
	}
	if (slot >= 0 && call->flags & AUXTRACE_SNAPSHOT_SLOT) {
		*held = session->slot;
		session->held |= BIT_ULL(session->slot);
		session->slot = slot;
	}
	mutex_unlock(&session->slots_lock);
	return slot < 0 ? slot : 0;
}

/**
 * auxt_session_snapshot() - AUXTRACE_IOC_SNAPSHOT
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_snapshot(struct auxt_session *session, struct auxtrace_snapshot *arg)
{
	struct call call = { .session = session, .fn = snapshot, .flags = arg->flags };
	struct auxtrace_cut __user *to = u64_to_user_ptr(arg->cuts);
	u32 room;
	int err;

	if (arg->flags & ~AUXTRACE_SNAPSHOT_ALL || arg->flags == AUXTRACE_SNAPSHOT_ALL ||
	    arg->reserved)
		return -EINVAL;
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->flags & AUXTRACE_SNAPSHOT_SLOT && session->nr_slots == 1)
		return -EINVAL;
	arg->out_count = session->nr_channels;
	arg->out_slot = 0;
	room = min(arg->cuts_len, arg->out_count);
	/* A bad address must be known before anything happens. */
	if (clear_user(to, room * sizeof(*to)))
		return -EFAULT;
	call.cuts = kvcalloc(session->nr_channels, sizeof(*call.cuts), GFP_KERNEL);
	if (!call.cuts)
		return -ENOMEM;
	err = lock_state(session);
	if (!err) {
		err = take_snapshot(session, &call, &arg->out_slot);
		unlock_state(session);
	}
	if (!err && copy_to_user(to, call.cuts, room * sizeof(*to)))
		err = -EFAULT;
	kvfree(call.cuts);
	return err;
}

/**
 * auxt_session_release() - AUXTRACE_IOC_RELEASE
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_release(struct auxt_session *session, struct auxtrace_release *arg)
{
	bool sample = arg->flags & AUXTRACE_RELEASE_SAMPLE;
	int err = -EINVAL;

	if (arg->flags & ~AUXTRACE_RELEASE_ALL || (arg->cpu && !sample))
		return -EINVAL;
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (arg->slot >= session->nr_slots)
		return -EINVAL;
	if (sample) {
		if (arg->cpu >= nr_cpu_ids || !cpumask_test_cpu(arg->cpu, session->cpus))
			return -EINVAL;
		return auxt_slots_release_sample(&session->channel[arg->cpu]->slots, arg->slot) ?
		       0 : -EINVAL;
	}
	mutex_lock(&session->slots_lock);
	if (session->held & BIT_ULL(arg->slot)) {
		session->held &= ~BIT_ULL(arg->slot);
		give_slot(session, arg->slot);
		err = 0;
	}
	mutex_unlock(&session->slots_lock);
	return err;
}

/* ---- STATUS, poll ------------------------------------------------------- */

static void sync(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_attend(ch);
}

static void take_tails_of(struct auxt_channel *ch, struct call *call)
{
	auxt_channel_take_tails(ch);
}

/*
 * The sums are of what the CPUs have published last, each value whole, not of
 * one moment on all CPUs.
 */
static void add(struct auxtrace_status *sum, const struct auxt_channel *ch)
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
 * auxt_session_status() - AUXTRACE_IOC_STATUS
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_status(struct auxt_session *session, struct auxtrace_status *arg)
{
	struct call call = { .session = session, .fn = sync };
	struct auxtrace_status sum = { .size = arg->size, .flags = arg->flags };
	unsigned int cpu;
	int err;

	if (arg->flags & ~AUXTRACE_STATUS_ALL || arg->reserved)
		return -EINVAL;
	if (state_of(session) != AUXTRACE_STATE_NEW) {
		err = lock_state(session);
		if (err)
			return err;
		if (arg->flags & AUXTRACE_STATUS_SYNC)
			call_channels(&call, session->cpus,
				      session->state == AUXTRACE_STATE_STARTED);
		sum.out_state = session->state;
		sum.out_nr_channels = session->nr_channels;
		for_each_cpu(cpu, session->cpus)
			add(&sum, session->channel[cpu]);
		unlock_state(session);
	}
	*arg = sum;
	return 0;
}

/* Takes the tails that have moved, and no others. */
static void take_tails(struct auxt_session *session)
{
	struct call call = { .session = session, .fn = take_tails_of };
	cpumask_var_t moved;
	unsigned int cpu;

	/* Out of memory the next interrupt takes them. */
	if (!zalloc_cpumask_var(&moved, GFP_KERNEL))
		return;
	for_each_cpu(cpu, session->cpus)
		if (auxt_channel_has_new_tail(session->channel[cpu]))
			cpumask_set_cpu(cpu, moved);
	if (!cpumask_empty(moved) && !lock_state(session)) {
		call_channels(&call, moved, session->state == AUXTRACE_STATE_STARTED);
		unlock_state(session);
	}
	free_cpumask_var(moved);
}

/**
 * auxt_session_poll() - poll(2)
 * @session: the session
 * @file: its file
 * @wait: of the caller
 *
 * Return: as the ABI says.
 */
__poll_t auxt_session_poll(struct auxt_session *session, struct file *file,
			   struct poll_table_struct *wait)
{
	__poll_t events = 0;
	unsigned int cpu;
	bool stopped;

	poll_wait(file, &session->waiters, wait);
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return EPOLLERR;
	take_tails(session);
	stopped = READ_ONCE(session->state) == AUXTRACE_STATE_STOPPED;
	for_each_cpu(cpu, session->cpus) {
		const struct auxt_channel *ch = session->channel[cpu];

		if (auxt_channel_is_readable(ch, stopped))
			events |= EPOLLIN | EPOLLRDNORM;
		if (atomic_read(&ch->inhibit) & AUXTRACE_INHIBIT_HWERROR)
			events |= EPOLLERR;
		if (atomic_read(&ch->inhibit) & AUXTRACE_INHIBIT_FROZEN)
			events |= EPOLLPRI;
	}
	return events;
}

/* ---- triggers ----------------------------------------------------------- */

/**
 * auxt_session_triggers() - the triggers of a session
 * @session: the session
 *
 * Return: the set; NULL before SETUP.
 */
struct auxt_triggers *auxt_session_triggers(const struct auxt_session *session)
{
	return state_of(session) == AUXTRACE_STATE_NEW ? NULL : session->triggers;
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
	if (state_of(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	return auxt_rings_mmap(session->rings, vma);
}
