// SPDX-License-Identifier: GPL-2.0
/* PAUSE, RESUME and PAUSE_OUTPUT, of all CPUs of a session or some. */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "core/channel.h"
#include "cpuset.h"
#include "session_private.h"

static struct auxtrace_effect *effect_of(const struct auxt_channel *ch, struct auxt_broadcast *call)
{
	return call->effects ? &call->effects[ch->index] : NULL;
}

static void pause(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_pause(ch, effect_of(ch, call));
}

static void resume(struct auxt_channel *ch, struct auxt_broadcast *call)
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
static int prepare_effects(const struct auxt_session *session, struct auxt_broadcast *call,
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
		   void (*fn)(struct auxt_channel *, struct auxt_broadcast *))
{
	struct auxt_broadcast call = { .session = session, .fn = fn };
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	/* Before NEW becomes STOPPED there is no set of CPUs to look at. */
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	cpus = get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	arg->out_count = cpus == session->cpus ? session->nr_channels : cpumask_weight(cpus);

	err = prepare_effects(session, &call, arg);
	if (!err)
		err = auxt_session_lock(session);
	if (err)
		goto out;
	if (session->state == AUXTRACE_STATE_STARTED)
		auxt_broadcast(&call, cpus, true);
	else
		err = -EBADFD;
	auxt_session_unlock(session);
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

static void pause_output(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_pause_output(ch, true);
}

static void resume_output(struct auxt_channel *ch, struct auxt_broadcast *call)
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
	struct auxt_broadcast call = {
		.session = session,
		.fn = arg->pause ? pause_output : resume_output,
	};
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->pause > 1)
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (!session->has_data)
		return -EINVAL;
	cpus = get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	err = auxt_session_lock(session);
	if (!err) {
		auxt_broadcast(&call, cpus, session->state == AUXTRACE_STATE_STARTED);
		auxt_session_unlock(session);
	}
	put_cpus(session, cpus);
	return err;
}
