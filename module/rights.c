// SPDX-License-Identifier: GPL-2.0-only
/*
 * What callers without a capability may do.
 *
 * A session that such a caller sets up has an owner (auxt_group.owner), and is restricted from then on,
 * whoever uses it: to user code, and to threads to which the owner has access. What it costs others is
 * bounded: there are at most so many of these sessions as the administrator says, as each adds probes to
 * every context switch; and each may interrupt other CPUs only so often.
 */

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/moduleparam.h>
#include <linux/time64.h>
#include <linux/uidgid.h>
#include "base/pace.h"
#include "rights.h"
#include "session.h"

/*
 * A SETUP and its close make the kernel patch the code of tracepoints, which interrupts every CPU some 24
 * times. All such sessions together may do that ten times a second.
 */
#define RIGHTS_SETUP_NS		(100 * NSEC_PER_MSEC)
#define RIGHTS_SETUP_BURST	10

/* A request to all CPUs interrupts each of them once: a thousand times a second, for each session. */
#define RIGHTS_INTERRUPT_NS	NSEC_PER_MSEC
#define RIGHTS_INTERRUPT_BURST	50

static unsigned int rights_unprivileged;
module_param_named(unprivileged, rights_unprivileged, uint, 0644);
MODULE_PARM_DESC(unprivileged, "number of sessions that users without CAP_PERFMON and CAP_SYS_ADMIN may have at a time, of user code of their own processes (default 0: none)");

static atomic_t rights_sessions;
static struct auxt_pace rights_setups;

/**
 * auxt_rights_of_all() - has the administrator allowed sessions without a capability?
 *
 * Return: true if so.
 */
bool auxt_rights_of_all(void)
{
	return READ_ONCE(rights_unprivileged);
}

static bool rights_take_session(void)
{
	int count = atomic_read(&rights_sessions);

	do {
		if ((unsigned int)count >= READ_ONCE(rights_unprivileged))
			return false;
	} while (!atomic_try_cmpxchg(&rights_sessions, &count, count + 1));
	return true;
}

/**
 * auxt_rights_enter() - may the caller set up a session?
 * @setup: argument of SETUP, checked
 * @owner: gets NULL; or, if the caller may only because the administrator has allowed it to all, the
 *	owner of the session, with a reference
 *
 * auxt_rights_leave() must follow if there is an owner. Who the threads of the scope are is not checked here.
 *
 * Return: 0; -EACCES no CAP_PERFMON, and not allowed without; -EUSERS there are as many sessions without a
 * capability as are allowed; -EINTR a fatal signal.
 */
int auxt_rights_enter(const struct auxtrace_setup *setup, const struct cred **owner)
{
	int err;

	*owner = NULL;
	if (perfmon_capable())
		return 0;
	if (!auxt_rights_of_all() || setup->flags & AUXTRACE_SETUP_KERNEL ||
	    !(setup->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS)))
		return -EACCES;
	if (!rights_take_session())
		return -EUSERS;
	/* After that, so that at most as many callers wait as there may be sessions. */
	err = auxt_pace_wait(auxt_pace_turn(&rights_setups, RIGHTS_SETUP_NS, RIGHTS_SETUP_BURST,
					    READ_ONCE(rights_unprivileged)));
	if (err) {
		atomic_dec(&rights_sessions);
		return err;
	}
	*owner = get_current_cred();
	return 0;
}

/**
 * auxt_rights_leave() - undo auxt_rights_enter()
 * @owner: what that got, when nothing else is left of SETUP. It may be NULL
 */
void auxt_rights_leave(const struct cred *owner)
{
	if (!owner)
		return;
	put_cred(owner);
	atomic_dec(&rights_sessions);
}

/**
 * auxt_rights_start() - may the caller start a session?
 * @session: the session, in any state
 *
 * A descriptor does not suffice, as for any session: the owner's own processes may do it, while the
 * administrator allows them to.
 *
 * Return: 0 or -EACCES.
 */
int auxt_rights_start(const struct auxt_session *session)
{
	if (perfmon_capable())
		return 0;
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW || !session->group.owner ||
	    !auxt_rights_of_all() || !uid_eq(current_uid(), session->group.owner->uid))
		return -EACCES;
	return 0;
}

/**
 * auxt_rights_turn() - take the session's next turn to interrupt the CPUs of others
 * @session: a session that was set up, with an owner
 *
 * For callers that must not wait: they come back then.
 *
 * Return: when it comes, on ktime_get_ns()'s clock; it may have come already.
 */
u64 auxt_rights_turn(struct auxt_session *session)
{
	/* Only callers of this session wait for one another, and they may be any number. */
	return auxt_pace_turn(&session->interrupts, RIGHTS_INTERRUPT_NS, RIGHTS_INTERRUPT_BURST, U32_MAX);
}

/**
 * auxt_rights_interrupt() - wait until a session may interrupt the CPUs of others
 * @session: a session that was set up
 *
 * Sessions without an owner need not wait.
 *
 * Return: 0; -EINTR a fatal signal.
 */
int auxt_rights_interrupt(struct auxt_session *session)
{
	return session->group.owner ? auxt_pace_wait(auxt_rights_turn(session)) : 0;
}
