// SPDX-License-Identifier: GPL-2.0-only
/* TRIGGER_ADD, TRIGGER_DEL and TRIGGER_READ, which need the trigger set that SETUP creates. */

#include "session.h"
#include "trigger/set.h"
#include "verbs.h"

static struct auxt_trigger_set *triggers_of(const struct auxt_session *session)
{
	return auxt_session_state(session) == AUXTRACE_STATE_NEW ? NULL : session->triggers;
}

/**
 * auxt_add_trigger() - AUXTRACE_IOC_TRIGGER_ADD
 * @session: the session
 * @data: struct auxtrace_trigger
 *
 * Return: 0; -EBADFD before SETUP; else as auxt_trigger_set_add().
 */
int auxt_add_trigger(struct auxt_session *session, void *data)
{
	struct auxt_trigger_set *set = triggers_of(session);

	return set ? auxt_trigger_set_add(set, data) : -EBADFD;
}

/**
 * auxt_del_trigger() - AUXTRACE_IOC_TRIGGER_DEL
 * @session: the session
 * @data: struct auxtrace_trigger_state
 *
 * Return: 0; -EBADFD before SETUP; else as auxt_trigger_set_del().
 */
int auxt_del_trigger(struct auxt_session *session, void *data)
{
	struct auxt_trigger_set *set = triggers_of(session);

	return set ? auxt_trigger_set_del(set, data) : -EBADFD;
}

/**
 * auxt_read_trigger() - AUXTRACE_IOC_TRIGGER_READ
 * @session: the session
 * @data: struct auxtrace_trigger_state
 *
 * Return: 0; -EBADFD before SETUP; else as auxt_trigger_set_read().
 */
int auxt_read_trigger(struct auxt_session *session, void *data)
{
	struct auxt_trigger_set *set = triggers_of(session);

	return set ? auxt_trigger_set_read(set, data) : -EBADFD;
}
