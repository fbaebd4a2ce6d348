// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which threads a user without a capability may trace.
 *
 * perf asks ptrace_may_access(PTRACE_MODE_READ_REALCREDS), which no kernel exports to modules. This is
 * what that asks of credentials, and nothing more lenient; it is stricter in two points: no capability
 * of the user's replaces an answer, and the thread's program must be dumpable in any case. Security
 * modules are not asked, as their hooks are not exported either (docs/security.md).
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/kprobes.h>
#include <linux/rcupdate.h>
#include <linux/uidgid.h>
#include <linux/user_namespace.h>
#include "base/access.h"
#include "compat/dumpable.h"

/* Real, effective and saved: a thread whose IDs differ can take rights back that the user lacks. */
static bool access_has_same_ids(const struct cred *cred, const struct cred *theirs)
{
	return uid_eq(cred->uid, theirs->uid) && uid_eq(cred->uid, theirs->euid) &&
	       uid_eq(cred->uid, theirs->suid) && gid_eq(cred->gid, theirs->gid) &&
	       gid_eq(cred->gid, theirs->egid) && gid_eq(cred->gid, theirs->sgid);
}
NOKPROBE_SYMBOL(access_has_same_ids);

/*
 * Has the user all capabilities of the thread? Whoever creates a user namespace has all of them in it,
 * and in those that are created in it.
 */
static bool access_covers_capabilities(const struct cred *cred, const struct cred *theirs)
{
	const struct user_namespace *ns = theirs->user_ns;

	if (ns == cred->user_ns)
		return cap_issubset(theirs->cap_permitted, cred->cap_permitted);
	while (ns->level > cred->user_ns->level + 1)
		ns = ns->parent;
	return ns->parent == cred->user_ns && uid_eq(ns->owner, cred->euid);
}
NOKPROBE_SYMBOL(access_covers_capabilities);

/**
 * auxt_access_allowed() - may a user trace a thread?
 * @cred: the user's credentials
 * @task: a thread that the kernel does not free meanwhile; see access.h
 *
 * Return: true if so now. A later execve(2) may change it.
 */
bool auxt_access_allowed(const struct cred *cred, struct task_struct *task)
{
	const struct cred *theirs;
	bool allowed;

	rcu_read_lock();
	theirs = __task_cred(task);
	allowed = access_has_same_ids(cred, theirs) && access_covers_capabilities(cred, theirs);
	rcu_read_unlock();
	/* Credentials that give more rights are published after the program is no longer dumpable. */
	smp_rmb();
	return allowed && auxt_is_dumpable(task);
}
NOKPROBE_SYMBOL(auxt_access_allowed);
