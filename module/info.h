/* SPDX-License-Identifier: GPL-2.0 */
/* The ioctls that do not use the session: INFO and TASK. */
#ifndef AUXT_INFO_H
#define AUXT_INFO_H

struct auxt_session;

int auxt_info(struct auxt_session *session, void *data);
int auxt_task(struct auxt_session *session, void *data);

#endif /* AUXT_INFO_H */
