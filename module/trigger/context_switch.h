/* SPDX-License-Identifier: GPL-2.0-only */
/* SWITCH records. */
#ifndef AUXT_CONTEXT_SWITCH_H
#define AUXT_CONTEXT_SWITCH_H

struct auxt_group;

/* Task context. */
int auxt_context_switch_watch(struct auxt_group *group);
void auxt_context_switch_unwatch(struct auxt_group *group);

#endif /* AUXT_CONTEXT_SWITCH_H */
