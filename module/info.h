/* SPDX-License-Identifier: GPL-2.0-only */
/* The ioctls that do not use the session: INFO and TASK. */
#ifndef AUXT_INFO_H
#define AUXT_INFO_H

#include <linux/types.h>

struct auxt_session;
struct mm_struct;

int auxt_info(struct auxt_session *session, void *data);
int auxt_task(struct auxt_session *session, void *data);
struct mm_struct *auxt_task_get_mm(u32 tid);

#endif /* AUXT_INFO_H */
