/* SPDX-License-Identifier: GPL-2.0 */
/* What callers without a capability may do. */
#ifndef AUXT_RIGHTS_H
#define AUXT_RIGHTS_H

#include <linux/types.h>

struct auxt_session;
struct auxtrace_setup;

/* Task context, without locks. */
bool auxt_rights_of_all(void);
int auxt_rights_enter(struct auxt_session *session, const struct auxtrace_setup *setup);
void auxt_rights_leave(struct auxt_session *session);
int auxt_rights_start(const struct auxt_session *session);
int auxt_rights_interrupt(struct auxt_session *session);

/* Any context. */
u64 auxt_rights_turn(struct auxt_session *session);

#endif /* AUXT_RIGHTS_H */
