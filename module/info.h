/* SPDX-License-Identifier: GPL-2.0 */
/* The requests that need no session: INFO and TASK. */
#ifndef AUXT_INFO_H
#define AUXT_INFO_H

struct auxtrace_info;
struct auxtrace_task;

int auxt_info(struct auxtrace_info *info);
int auxt_task(struct auxtrace_task *arg);

#endif /* AUXT_INFO_H */
