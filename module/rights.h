/* SPDX-License-Identifier: GPL-2.0-only */
/* What callers without a capability may do. */
#ifndef AUXT_RIGHTS_H
#define AUXT_RIGHTS_H

#include <linux/types.h>

struct auxt_session;
struct auxtrace_setup;
struct cred;

/* Task context, without locks. */
bool auxt_rights_of_all(void);
int auxt_rights_enter(const struct auxtrace_setup *setup, const struct cred **owner);
void auxt_rights_leave(const struct cred *owner);
int auxt_rights_start(const struct auxt_session *session);
int auxt_rights_interrupt(struct auxt_session *session);

/* Any context. */
u64 auxt_rights_turn(struct auxt_session *session);

#endif /* AUXT_RIGHTS_H */
