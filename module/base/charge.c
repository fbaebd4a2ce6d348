// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that a session locks, charged to the user who made it.
 *
 * As io_uring and AF_XDP do: all processes of the user share one sum, so that neither fork(2) nor
 * execve(2) begins at 0 again.
 */

#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>
#include "base/charge.h"

/**
 * auxt_charge_begin() - charge the caller's user from now on, unless the caller has CAP_IPC_LOCK
 * @charge: the charge, whose members are 0
 */
void auxt_charge_begin(struct auxt_charge *charge)
{
	if (capable(CAP_IPC_LOCK))
		return;
	charge->limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	charge->cred = get_current_cred();
}
NOKPROBE_SYMBOL(auxt_charge_begin);

/**
 * auxt_charge_add() - charge more pages
 * @charge: the charge
 * @pages: their number
 *
 * Any task may call it for the user: a kernel thread, too.
 *
 * Return: 0; -ENOMEM beyond the user's limit, after which nothing has changed.
 */
int auxt_charge_add(struct auxt_charge *charge, unsigned long pages)
{
	atomic_long_t *locked;
	long was;

	if (!charge->cred)
		return 0;
	locked = &charge->cred->user->locked_vm;
	was = atomic_long_read(locked);
	do {
		if (was + pages > charge->limit)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(locked, &was, was + pages));
	atomic_long_add(pages, &charge->pages);
	return 0;
}
NOKPROBE_SYMBOL(auxt_charge_add);

/**
 * auxt_charge_sub() - give back pages
 * @charge: the charge
 * @pages: their number, at most what was added
 */
void auxt_charge_sub(struct auxt_charge *charge, unsigned long pages)
{
	if (!charge->cred)
		return;
	atomic_long_sub(pages, &charge->pages);
	atomic_long_sub(pages, &charge->cred->user->locked_vm);
}
NOKPROBE_SYMBOL(auxt_charge_sub);

/**
 * auxt_charge_end() - give back all that was charged
 * @charge: the charge, which nobody adds to any more
 */
void auxt_charge_end(struct auxt_charge *charge)
{
	if (!charge->cred)
		return;
	auxt_charge_sub(charge, atomic_long_read(&charge->pages));
	put_cred(charge->cred);
	charge->cred = NULL;
}
NOKPROBE_SYMBOL(auxt_charge_end);
