/* SPDX-License-Identifier: GPL-2.0-only */
/* Which threads a user without a capability may trace. */
#ifndef AUXT_ACCESS_H
#define AUXT_ACCESS_H

#include <linux/types.h>

struct cred;
struct task_struct;

/* @task is the current thread, or the caller may take a task_lock(). */
bool auxt_access_allowed(const struct cred *cred, struct task_struct *task);

#endif /* AUXT_ACCESS_H */
