// SPDX-License-Identifier: GPL-2.0
/* PAUSE, RESUME and PAUSE_OUTPUT, for all CPUs of a session or some of them. */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include "broadcast.h"
#include "core/channel.h"
#include "cpuset.h"
#include "session.h"
#include "verbs.h"

/*
 * Returns the set of CPUs at @user, or the session's own set if @len is 0, which needs no
 * allocation. Free it with control_put_cpus().
 */
static const struct cpumask *control_get_cpus(const struct auxt_session *session, u64 user,
					      u32 len)
{
	struct cpumask *cpus;
	int err;

	if (!len)
		return session->group.cpus;
	cpus = kzalloc(cpumask_size(), GFP_KERNEL);
	if (!cpus)
		return ERR_PTR(-ENOMEM);
	err = auxt_cpuset_get(cpus, user, len);
	if (!err && !cpumask_subset(cpus, session->group.cpus))
		err = -EINVAL;
	if (!err)
		return cpus;
	kfree(cpus);
	return ERR_PTR(err);
}

static void control_put_cpus(const struct auxt_session *session, const struct cpumask *cpus)
{
	if (cpus != session->group.cpus)
		kfree(cpus);
}

/* ---- PAUSE and RESUME --------------------------------------------------- */

/* @data: effects by channel index, or NULL if user space asks for none. */
static struct auxtrace_effect *control_effect(const struct auxt_channel *ch, void *data)
{
	struct auxtrace_effect *effects = data;

	return effects ? &effects[ch->index] : NULL;
}

static void control_pause(struct auxt_channel *ch, void *data)
{
	auxt_channel_pause(ch, control_effect(ch, data));
}

static void control_resume(struct auxt_channel *ch, void *data)
{
	auxt_channel_resume(ch, control_effect(ch, data));
}

/*
 * Returns NULL if user space asks for no effects. Clears its array, so that a bad address fails
 * before anything is done.
 */
static struct auxtrace_effect *control_new_effects(const struct auxt_session *session,
						   const struct auxtrace_control *arg)
{
	u32 len = min(arg->effects_len, arg->out_count);
	struct auxtrace_effect *effects;

	if (!arg->effects_len)
		return NULL;
	if (clear_user(u64_to_user_ptr(arg->effects), len * sizeof(*effects)))
		return ERR_PTR(-EFAULT);
	effects = kvcalloc(session->nr_channels, sizeof(*effects), GFP_KERNEL);
	return effects ?: ERR_PTR(-ENOMEM);
}

static int control_copy_effects(const struct auxt_session *session, const struct cpumask *cpus,
				const struct auxtrace_effect *effects,
				const struct auxtrace_control *arg)
{
	struct auxtrace_effect __user *to = u64_to_user_ptr(arg->effects);
	unsigned int cpu, n = 0;

	for_each_cpu(cpu, cpus) {
		const struct auxt_channel *ch = session->group.channels[cpu];

		if (n == arg->effects_len)
			break;
		if (copy_to_user(to + n++, &effects[ch->index], sizeof(*to)))
			return -EFAULT;
	}
	return 0;
}

static int control_session(struct auxt_session *session, struct auxtrace_control *arg,
			   auxt_broadcast_fn fn)
{
	struct auxtrace_effect *effects;
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	/* The session has no set of CPUs before SETUP. */
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	cpus = control_get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	arg->out_count = cpus == session->group.cpus ? session->nr_channels : cpumask_weight(cpus);

	effects = control_new_effects(session, arg);
	err = PTR_ERR_OR_ZERO(effects);
	if (err)
		goto out_cpus;
	err = auxt_session_lock(session);
	if (err)
		goto out_effects;
	if (session->state == AUXTRACE_STATE_STARTED)
		auxt_broadcast(session, cpus, true, fn, effects);
	else
		err = -EBADFD;
	auxt_session_unlock(session);
	if (!err && effects)
		err = control_copy_effects(session, cpus, effects, arg);

out_effects:
	if (effects)
		kvfree(effects);
out_cpus:
	control_put_cpus(session, cpus);
	return err;
}

/**
 * auxt_pause() - AUXTRACE_IOC_PAUSE
 * @session: the session
 * @data: struct auxtrace_control
 *
 * Return: 0; -EINVAL unknown flag, a CPU that is not the session's, or no CPU; -EBADFD not
 * started; -EFAULT a bad pointer; -ENOMEM; -EINTR a fatal signal.
 */
int auxt_pause(struct auxt_session *session, void *data)
{
	return control_session(session, data, control_pause);
}

/**
 * auxt_resume() - AUXTRACE_IOC_RESUME
 * @session: the session
 * @data: struct auxtrace_control
 *
 * Return: as auxt_pause().
 */
int auxt_resume(struct auxt_session *session, void *data)
{
	return control_session(session, data, control_resume);
}

/* ---- PAUSE_OUTPUT ------------------------------------------------------- */

static void control_pause_output(struct auxt_channel *ch, void *data)
{
	auxt_channel_pause_output(ch, true);
}

static void control_resume_output(struct auxt_channel *ch, void *data)
{
	auxt_channel_pause_output(ch, false);
}

/**
 * auxt_pause_output() - AUXTRACE_IOC_PAUSE_OUTPUT
 * @session: the session
 * @data: struct auxtrace_output
 *
 * Return: 0; -EINVAL unknown flag, pause is neither 0 nor 1, no data ring, a CPU that is not the
 * session's, or no CPU; -EBADFD before SETUP; -EFAULT a bad pointer; -ENOMEM; -EINTR a fatal
 * signal.
 */
int auxt_pause_output(struct auxt_session *session, void *data)
{
	const struct auxtrace_output *arg = data;
	const struct cpumask *cpus;
	int err;

	if (arg->flags || arg->pause > 1)
		return -EINVAL;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	if (!session->has_data)
		return -EINVAL;
	cpus = control_get_cpus(session, arg->cpus, arg->cpus_len);
	if (IS_ERR(cpus))
		return PTR_ERR(cpus);
	err = auxt_session_lock(session);
	if (!err) {
		auxt_broadcast(session, cpus, session->state == AUXTRACE_STATE_STARTED,
			       arg->pause ? control_pause_output : control_resume_output, NULL);
		auxt_session_unlock(session);
	}
	control_put_cpus(session, cpus);
	return err;
}
