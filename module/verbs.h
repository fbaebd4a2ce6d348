/* SPDX-License-Identifier: GPL-2.0-only */
/* The ioctls and poll(2) of /dev/auxtrace; @data is the ioctl's struct, copied from user space. */
#ifndef AUXT_VERBS_H
#define AUXT_VERBS_H

#include <linux/poll.h>

struct auxt_session;

/* setup.c */
int auxt_setup(struct auxt_session *session, void *data);
void auxt_undo_setup(struct auxt_session *session);

/* start.c */
int auxt_start(struct auxt_session *session, void *data);
int auxt_stop(struct auxt_session *session, void *data);
void auxt_stop_at_close(struct auxt_session *session);

/* control.c */
int auxt_pause(struct auxt_session *session, void *data);
int auxt_resume(struct auxt_session *session, void *data);
int auxt_pause_output(struct auxt_session *session, void *data);

/* snapshot.c */
int auxt_snapshot(struct auxt_session *session, void *data);
int auxt_release(struct auxt_session *session, void *data);

/* triggers.c */
int auxt_add_trigger(struct auxt_session *session, void *data);
int auxt_del_trigger(struct auxt_session *session, void *data);
int auxt_read_trigger(struct auxt_session *session, void *data);

/* status.c */
int auxt_status(struct auxt_session *session, void *data);
__poll_t auxt_poll(struct auxt_session *session, struct file *file,
		   struct poll_table_struct *wait);
void auxt_poll_init(struct auxt_session *session);
void auxt_poll_end(struct auxt_session *session);

#endif /* AUXT_VERBS_H */
