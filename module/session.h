/* SPDX-License-Identifier: GPL-2.0 */
/* A session: one open file of /dev/auxtrace. */
#ifndef AUXT_SESSION_H
#define AUXT_SESSION_H

#include <linux/auxtrace.h>
#include <linux/poll.h>

struct auxt_channel;
struct auxt_session;
struct auxt_trigger_set;
struct cpumask;
struct vm_area_struct;

struct auxt_session *auxt_session_new(void);
void auxt_session_free(struct auxt_session *session);

int auxt_session_setup(struct auxt_session *session, struct auxtrace_setup *arg);
int auxt_session_start(struct auxt_session *session, struct auxtrace_start *arg);
int auxt_session_stop(struct auxt_session *session, struct auxtrace_start *arg);
int auxt_session_pause(struct auxt_session *session, struct auxtrace_control *arg);
int auxt_session_resume(struct auxt_session *session, struct auxtrace_control *arg);
int auxt_session_pause_output(struct auxt_session *session, struct auxtrace_output *arg);
int auxt_session_snapshot(struct auxt_session *session, struct auxtrace_snapshot *arg);
int auxt_session_release(struct auxt_session *session, struct auxtrace_release *arg);
int auxt_session_status(struct auxt_session *session, struct auxtrace_status *arg);
int auxt_session_mmap(struct auxt_session *session, struct vm_area_struct *vma);
__poll_t auxt_session_poll(struct auxt_session *session, struct file *file,
			   struct poll_table_struct *wait);

struct auxt_trigger_set *auxt_session_triggers(const struct auxt_session *session);
const struct cpumask *auxt_session_cpus(const struct auxt_session *session);
struct auxt_channel *auxt_session_channel(const struct auxt_session *session, int cpu);

#endif /* AUXT_SESSION_H */
