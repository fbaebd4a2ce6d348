// SPDX-License-Identifier: GPL-2.0-only
/* PAUSE, RESUME and PAUSE_OUTPUT, for all CPUs of a session or some of them. */

#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include "answer.h"
#include "broadcast.h"
#include "core/channel.h"
#include "cpuset.h"
#include "rights.h"
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

static void control_copy_effects(const struct auxt_session *session, const struct cpumask *cpus,
				 const struct auxtrace_effect *effects,
				 const struct auxtrace_control *arg,
				 const struct auxt_answer *answer)
{
	unsigned int cpu, n = 0;

	for_each_cpu(cpu, cpus) {
		const struct auxt_channel *ch = session->group.channels[cpu];

		if (n == arg->effects_len)
			break;
		auxt_answer_write_array(answer, n++, arg->effect_size, &effects[ch->index],
					sizeof(*effects));
	}
}

/* Sends a request to started channels. @effects: may be NULL. */
static int control_send(struct auxt_session *session, const struct cpumask *cpus,
			auxt_broadcast_fn fn, struct auxtrace_effect *effects)
{
	int err;

	if (auxt_broadcast_alone(session, cpus, fn, effects))
		return 0;
	err = auxt_rights_interrupt(session) ?: auxt_session_lock(session);
	if (err)
		return err;
	if (session->state == AUXTRACE_STATE_STARTED)
		auxt_broadcast(session, cpus, true, fn, effects);
	else
		err = -EBADFD;
	auxt_session_unlock(session);
	return err;
}

/* The same, and tells user space the effects. */
static int control_send_and_tell(struct auxt_session *session, const struct cpumask *cpus,
				 auxt_broadcast_fn fn, const struct auxtrace_control *arg)
{
	size_t len = min(arg->effects_len, cpumask_weight(cpus));
	struct auxtrace_effect *effects;
	struct auxt_answer answer;
	int err;

	if (arg->effect_size < offsetofend(struct auxtrace_effect, time) || arg->effect_size % 8)
		return -EINVAL;
	if (arg->effect_size > PAGE_SIZE)
		return -E2BIG;
	effects = kvcalloc(session->nr_channels, sizeof(*effects), GFP_KERNEL);
	if (!effects)
		return -ENOMEM;
	err = auxt_answer_pin(&answer, arg->effects, len * arg->effect_size);
	if (!err) {
		err = control_send(session, cpus, fn, effects);
		if (!err)
			control_copy_effects(session, cpus, effects, arg, &answer);
		auxt_answer_unpin(&answer);
	}
	kvfree(effects);
	return err;
}

static int control_session(struct auxt_session *session, const struct auxtrace_control *arg,
			   auxt_broadcast_fn fn)
{
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
	if (arg->effects_len)
		err = control_send_and_tell(session, cpus, fn, arg);
	else
		err = control_send(session, cpus, fn, NULL);
	control_put_cpus(session, cpus);
	return err;
}

/**
 * auxt_pause() - AUXTRACE_IOC_PAUSE
 * @session: the session
 * @data: struct auxtrace_control
 *
 * Return: 0; -EINVAL unknown flag, a CPU that is not the session's, no CPU, or an effect_size that
 * is too small or no multiple of 8; -E2BIG one beyond a page; -EBADFD not started; -EFAULT a bad
 * pointer; -ENOMEM; -EINTR a fatal signal.
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
	err = auxt_rights_interrupt(session) ?: auxt_session_lock(session);
	if (!err) {
		auxt_broadcast(session, cpus, session->state == AUXTRACE_STATE_STARTED,
			       arg->pause ? control_pause_output : control_resume_output, NULL);
		auxt_session_unlock(session);
	}
	control_put_cpus(session, cpus);
	return err;
}
