// SPDX-License-Identifier: GPL-2.0-only
/* A session, one open file of /dev/auxtrace: its life and its locks. */

#include <linux/cpu.h>
#include <linux/slab.h>
#include "base/aux_buffer.h"
#include "core/tail_poll.h"
#include "session.h"

/**
 * auxt_session_new() - create a session for open(2)
 *
 * Return: a session in state NEW, or NULL if out of memory.
 */
struct auxt_session *auxt_session_new(void)
{
	struct auxt_session *session = kzalloc(sizeof(*session), GFP_KERNEL_ACCOUNT);

	if (!session)
		return NULL;
	mutex_init(&session->setup_lock);
	init_rwsem(&session->state_lock);
	mutex_init(&session->slots_lock);
	mutex_init(&session->idle_lock);
	auxt_tail_poll_init_group(&session->group);
	session->state = AUXTRACE_STATE_NEW;
	return session;
}

/**
 * auxt_session_free() - free a session at the last close(2)
 * @session: stopped, and what SETUP made is freed
 */
void auxt_session_free(struct auxt_session *session)
{
	kfree(session);
}

/**
 * auxt_session_lock() - keep the state and the set of online CPUs as they are
 * @session: the session
 *
 * Return: 0, or -EINTR after a fatal signal.
 */
int auxt_session_lock(struct auxt_session *session)
{
	cpus_read_lock();
	if (!down_read_killable(&session->state_lock))
		return 0;
	cpus_read_unlock();
	return -EINTR;
}

/**
 * auxt_session_unlock() - undo auxt_session_lock()
 * @session: the session
 */
void auxt_session_unlock(struct auxt_session *session)
{
	up_read(&session->state_lock);
	cpus_read_unlock();
}

/**
 * auxt_session_mmap() - map a region of a channel
 * @session: the session
 * @vma: the mapping
 *
 * Return: 0; -EBADFD before SETUP; else as auxt_aux_buffer_mmap().
 */
int auxt_session_mmap(struct auxt_session *session, struct vm_area_struct *vma)
{
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return -EBADFD;
	return auxt_aux_buffer_mmap(session->buffer, vma);
}
