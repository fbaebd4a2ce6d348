/* SPDX-License-Identifier: GPL-2.0-only */
/* Task scope: the threads to which a session is limited. */
#ifndef AUXT_MEMBERS_H
#define AUXT_MEMBERS_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/hash.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>
#include "base/charge.h"

struct auxt_member;
struct auxt_member_block;
struct task_struct;

#define AUXT_MEMBER_BUCKET_BITS	10
#define AUXT_MEMBER_FILTER_BITS	6	/* a filter has 1 << that bits */

/**
 * struct auxt_member_bucket - members with the same upper bits of the hash of their task_struct's address
 * @lock: held to change or walk the list; a raw lock below the kernel's run-queue locks
 * @first: the list
 * @filter: has bit N for each member whose lower bits of the hash are N
 */
struct auxt_member_bucket {
	raw_spinlock_t lock;
	struct auxt_member *first;
	u64 filter;
};

/**
 * struct auxt_members - the members of a session
 * @follow: AUXTRACE_SETUP_*: which of the threads that members create become members
 * @lost: number of threads that did not become members for lack of a place
 * @charge: what the table and the places are charged to
 * @refill: allocates more places
 * @free_lock: held to change what follows; taken with a bucket's lock held
 * @free: list of free places
 * @nr_free: its length
 * @nr_used: number of members, with those that have ended and are not freed yet
 * @blocks: all places, as they were allocated
 * @bucket: the members
 */
struct auxt_members {
	u32 follow;
	atomic64_t lost;
	struct auxt_charge charge;
	struct work_struct refill;
	raw_spinlock_t free_lock;
	struct auxt_member *free;
	unsigned int nr_free;
	unsigned int nr_used;
	struct auxt_member_block *blocks;
	struct auxt_member_bucket bucket[1 << AUXT_MEMBER_BUCKET_BITS];
};

/* Task context. */
struct auxt_members *auxt_members_new(u32 follow);
int auxt_members_reserve(struct auxt_members *m, unsigned int count);
unsigned int auxt_members_alive(struct auxt_members *m);
void auxt_members_free(struct auxt_members *m);

/* Any context but an NMI. */
int auxt_members_add(struct auxt_members *m, const struct task_struct *task);
void auxt_members_remove(struct auxt_members *m, const struct task_struct *task);
bool auxt_members_search(struct auxt_member_bucket *bucket, const struct task_struct *task);

static __always_inline unsigned int auxt_members_hash(const struct task_struct *task)
{
	return hash_ptr((void *)task, AUXT_MEMBER_BUCKET_BITS + AUXT_MEMBER_FILTER_BITS);
}

static __always_inline struct auxt_member_bucket *
auxt_members_bucket(struct auxt_members *m, const struct task_struct *task)
{
	return &m->bucket[auxt_members_hash(task) >> AUXT_MEMBER_FILTER_BITS];
}

static __always_inline u64 auxt_members_filter(const struct task_struct *task)
{
	return 1ULL << (auxt_members_hash(task) & ((1U << AUXT_MEMBER_FILTER_BITS) - 1));
}

/**
 * auxt_members_lack() - is a thread certainly no member?
 * @m: the members
 * @task: as for auxt_members_have()
 *
 * Takes no lock and calls nothing. Any context but an NMI.
 *
 * Return: true if it is none; false if auxt_members_have() must say it.
 */
static __always_inline bool auxt_members_lack(struct auxt_members *m,
					      const struct task_struct *task)
{
	return !(READ_ONCE(auxt_members_bucket(m, task)->filter) & auxt_members_filter(task));
}

/**
 * auxt_members_have() - is a thread a member?
 * @m: the members
 * @task: the thread that the CPU runs, or is about to run
 *
 * Takes no lock if no member of the bucket has the thread's filter bit, or the first one is the thread. Any
 * context but an NMI.
 *
 * Return: true if it is. The answer is exact: such a thread becomes a member before it runs first,
 * or in SETUP, and remains one as long as it runs.
 */
static __always_inline bool auxt_members_have(struct auxt_members *m,
					      const struct task_struct *task)
{
	return !auxt_members_lack(m, task) &&
	       auxt_members_search(auxt_members_bucket(m, task), task);
}

#endif /* AUXT_MEMBERS_H */
