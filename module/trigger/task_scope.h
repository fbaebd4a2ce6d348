/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef AUXT_TASK_SCOPE_H
#define AUXT_TASK_SCOPE_H

struct auxt_group;
struct auxtrace_setup;

/* Task context. */
int auxt_task_scope_begin(struct auxt_group *group, const struct auxtrace_setup *setup);
void auxt_task_scope_end(struct auxt_group *group);

#endif /* AUXT_TASK_SCOPE_H */
