// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task scope: the threads to which a session is limited.
 *
 * DOC: the table of members
 *
 * A hash table by the address of the task_struct. The kernel's tracepoint sched_process_free says
 * when an address may become another thread's, and then the thread is removed; trigger/task_scope.c
 * has the probe. So no member is ever mistaken for another thread.
 *
 * A thread is added in the clone(2) of its creator. Most kernels disable preemption for the probe
 * there, so that it cannot allocate: on PREEMPT_RT not even with GFP_ATOMIC. So places are allocated
 * beforehand. When fewer are free than are in use, or than a block has, a work item allocates more.
 * If threads are created faster than that, or are more than the user's limit of locked memory has places
 * for, no place may be left for one; the probe counts it. Places are freed with the table.
 *
 * Each bucket has a lock, because a list may change anywhere while a CPU searches it for the thread
 * that it switches to. Most threads need not be searched for: with N members, a thread that is none has
 * the filter bit of one in N of 65536 cases, and a bucket most often has one member at most.
 * auxt_members_have() takes no lock if the filter lacks the bit, or if the first member is the thread. What
 * it sees of a thread's own bucket is up to date: whoever added the thread held the run-queue lock with which
 * the thread was woken first afterwards, and the CPU that switches to it has taken that lock since. All that
 * has happened before SETUP has returned has happened before START.
 *
 * Without the lock, the first place of a list may be taken out and be another thread's a moment later.
 * It is a place nevertheless until the table is freed, and if it names the thread, the thread is a
 * member: a place that named an earlier thread with the same address was taken out before that was
 * freed, and the CPU that switches to the later thread has seen this, too.
 *
 * With N members a list has about N / 1024, through which a CPU goes with interrupts off: as many as a
 * machine has in practice are no burden, millions would be.
 */

#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "base/aux_buffer.h"
#include "compat/workqueue.h"
#include "core/members.h"

#define MEMBERS_IN_BLOCK	511	/* with the pointer to the next block 8 KiB less 8 bytes */

/* Pages that are charged for an object. */
#define MEMBERS_PAGES(object)	DIV_ROUND_UP(sizeof(object), PAGE_SIZE)

struct auxt_member {
	struct auxt_member *next;	/* in its bucket, or of the free places */
	const struct task_struct *task;
};

struct auxt_member_block {
	struct auxt_member_block *next;
	struct auxt_member member[MEMBERS_IN_BLOCK];
};

/* How many places should be free at least. */
static unsigned int members_wanted(const struct auxt_members *m)
{
	return max_t(unsigned int, READ_ONCE(m->nr_used), MEMBERS_IN_BLOCK);
}
NOKPROBE_SYMBOL(members_wanted);

static int members_add_block(struct auxt_members *m)
{
	struct auxt_member_block *block;
	unsigned long flags;
	int i;

	if (auxt_charge_add(&m->charge, MEMBERS_PAGES(*block)))
		return -ENOMEM;
	block = kvzalloc(sizeof(*block), AUXT_SESSION_GFP);
	if (!block) {
		auxt_charge_sub(&m->charge, MEMBERS_PAGES(*block));
		return -ENOMEM;
	}
	for (i = 0; i < MEMBERS_IN_BLOCK - 1; i++)
		block->member[i].next = &block->member[i + 1];
	raw_spin_lock_irqsave(&m->free_lock, flags);
	block->member[i].next = m->free;
	m->free = &block->member[0];
	WRITE_ONCE(m->nr_free, m->nr_free + MEMBERS_IN_BLOCK);
	block->next = m->blocks;
	m->blocks = block;
	raw_spin_unlock_irqrestore(&m->free_lock, flags);
	return 0;
}
NOKPROBE_SYMBOL(members_add_block);

/**
 * auxt_members_reserve() - allocate places until enough are free
 * @m: the members
 * @count: number of threads that are to be added, beside those that may be created meanwhile
 *
 * Return: 0; -ENOMEM, also beyond the user's limit of locked memory.
 */
int auxt_members_reserve(struct auxt_members *m, unsigned int count)
{
	int err = 0;

	while (!err && READ_ONCE(m->nr_free) < members_wanted(m) + count)
		err = members_add_block(m);
	return err;
}
NOKPROBE_SYMBOL(auxt_members_reserve);

static void members_refill(struct work_struct *work)
{
	/* If no memory may be had now, the next thread that is added queues the work again. */
	auxt_members_reserve(container_of(work, struct auxt_members, refill), 0);
}
NOKPROBE_SYMBOL(members_refill);

/* Returns a place, or NULL if none is free. With the lock of a bucket held. */
static struct auxt_member *members_take_place(struct auxt_members *m)
{
	struct auxt_member *member;

	raw_spin_lock(&m->free_lock);
	member = m->free;
	if (member) {
		m->free = member->next;
		WRITE_ONCE(m->nr_free, m->nr_free - 1);
		WRITE_ONCE(m->nr_used, m->nr_used + 1);
	}
	raw_spin_unlock(&m->free_lock);
	return member;
}
NOKPROBE_SYMBOL(members_take_place);

static void members_return_place(struct auxt_members *m, struct auxt_member *member)
{
	raw_spin_lock(&m->free_lock);
	member->next = m->free;
	m->free = member;
	WRITE_ONCE(m->nr_free, m->nr_free + 1);
	WRITE_ONCE(m->nr_used, m->nr_used - 1);
	raw_spin_unlock(&m->free_lock);
}
NOKPROBE_SYMBOL(members_return_place);

/* Returns what points to the member of @task, or to the end of the list. With the bucket's lock. */
static struct auxt_member **members_find(struct auxt_member_bucket *bucket,
					 const struct task_struct *task)
{
	struct auxt_member **at = &bucket->first;

	while (*at && (*at)->task != task)
		at = &(*at)->next;
	return at;
}
NOKPROBE_SYMBOL(members_find);

/**
 * auxt_members_search() - the rest of auxt_members_have()
 * @bucket: the bucket of @task
 * @task: a thread
 *
 * Return: true if it is a member.
 */
bool auxt_members_search(struct auxt_member_bucket *bucket, const struct task_struct *task)
{
	const struct auxt_member *first = READ_ONCE(bucket->first);
	unsigned long flags;
	bool found;

	if (first && READ_ONCE(first->task) == task)
		return true;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	found = *members_find(bucket, task);
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	return found;
}
NOKPROBE_SYMBOL(auxt_members_search);

/**
 * auxt_members_add() - make a thread a member
 * @m: the members
 * @task: a thread that the kernel has not freed
 *
 * Return: 1 if it was none and is one now; 0 if it was one; -ENOMEM if no place is free.
 */
int auxt_members_add(struct auxt_members *m, const struct task_struct *task)
{
	struct auxt_member_bucket *bucket = auxt_members_bucket(m, task);
	struct auxt_member *member;
	unsigned long flags;
	int ret = 0;

	raw_spin_lock_irqsave(&bucket->lock, flags);
	if (!*members_find(bucket, task)) {
		member = members_take_place(m);
		ret = member ? 1 : -ENOMEM;
	}
	if (ret == 1) {
		WRITE_ONCE(member->task, task);
		member->next = bucket->first;
		WRITE_ONCE(bucket->filter, bucket->filter | auxt_members_filter(task));
		/* Pairs with the reads without the lock in auxt_members_search(). */
		smp_store_release(&bucket->first, member);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
	if (READ_ONCE(m->nr_free) < members_wanted(m))
		auxt_queue_unbound_work(&m->refill);
	return ret;
}
NOKPROBE_SYMBOL(auxt_members_add);

/* What the filter is for the members in the list. Bits of these are never missing meanwhile. With the bucket's lock. */
static u64 members_filter_of(const struct auxt_member_bucket *bucket)
{
	const struct auxt_member *member;
	u64 filter = 0;

	for (member = bucket->first; member; member = member->next)
		filter |= auxt_members_filter(member->task);
	return filter;
}
NOKPROBE_SYMBOL(members_filter_of);

/**
 * auxt_members_remove() - the kernel is about to free a thread
 * @m: the members
 * @task: the thread, which may be none of the members
 */
void auxt_members_remove(struct auxt_members *m, const struct task_struct *task)
{
	struct auxt_member_bucket *bucket = auxt_members_bucket(m, task);
	struct auxt_member **at, *member;
	unsigned long flags;

	if (auxt_members_lack(m, task))
		return;
	raw_spin_lock_irqsave(&bucket->lock, flags);
	at = members_find(bucket, task);
	member = *at;
	if (member) {
		WRITE_ONCE(*at, member->next);
		WRITE_ONCE(bucket->filter, members_filter_of(bucket));
		members_return_place(m, member);
	}
	raw_spin_unlock_irqrestore(&bucket->lock, flags);
}
NOKPROBE_SYMBOL(auxt_members_remove);

/**
 * auxt_members_alive() - how many members have not ended?
 * @m: the members
 *
 * One that waits for its parent to reap it has ended. No task_struct is freed before its thread is
 * removed, for which the bucket's lock is needed.
 *
 * Return: their number.
 */
unsigned int auxt_members_alive(struct auxt_members *m)
{
	const struct auxt_member *member;
	unsigned int i, count = 0;
	unsigned long flags;

	for (i = 0; i < ARRAY_SIZE(m->bucket); i++) {
		if (!READ_ONCE(m->bucket[i].first))
			continue;
		raw_spin_lock_irqsave(&m->bucket[i].lock, flags);
		for (member = m->bucket[i].first; member; member = member->next)
			count += !READ_ONCE(member->task->exit_state);
		raw_spin_unlock_irqrestore(&m->bucket[i].lock, flags);
	}
	return count;
}
NOKPROBE_SYMBOL(auxt_members_alive);

/**
 * auxt_members_new() - allocate a table without members
 * @follow: AUXTRACE_SETUP_*: which of the threads that members create become members
 *
 * The table and all its places are charged to the locked memory of the caller's user, also those that
 * are allocated later.
 *
 * Return: the table, or NULL if out of memory, or beyond the user's limit.
 */
struct auxt_members *auxt_members_new(u32 follow)
{
	struct auxt_members *m = kvzalloc(sizeof(*m), AUXT_SESSION_GFP);
	unsigned int i;

	if (!m)
		return NULL;
	auxt_charge_begin(&m->charge);
	m->follow = follow;
	INIT_WORK(&m->refill, members_refill);
	raw_spin_lock_init(&m->free_lock);
	for (i = 0; i < ARRAY_SIZE(m->bucket); i++)
		raw_spin_lock_init(&m->bucket[i].lock);
	if (!auxt_charge_add(&m->charge, MEMBERS_PAGES(*m)) && !auxt_members_reserve(m, 0))
		return m;
	auxt_members_free(m);
	return NULL;
}
NOKPROBE_SYMBOL(auxt_members_new);

/**
 * auxt_members_free() - free a table that no other code uses
 * @m: the table; or NULL
 */
void auxt_members_free(struct auxt_members *m)
{
	struct auxt_member_block *block;

	if (!m)
		return;
	cancel_work_sync(&m->refill);
	while ((block = m->blocks)) {
		m->blocks = block->next;
		kvfree(block);
	}
	auxt_charge_end(&m->charge);
	kvfree(m);
}
NOKPROBE_SYMBOL(auxt_members_free);
