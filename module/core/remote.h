/* SPDX-License-Identifier: GPL-2.0 */
/* What a trigger on one CPU asks of the session's other CPUs. */
#ifndef AUXT_REMOTE_H
#define AUXT_REMOTE_H

#include <linux/atomic.h>
#include <linux/irq_work.h>
#include <linux/smp.h>
#include <linux/types.h>

struct auxt_channel;
struct auxt_request;

/**
 * struct auxt_remote - the relay of one channel
 * @work: asks the others; queued on the channel's CPU
 * @csd: carries out on the channel's CPU what others asked
 * @asked: @csd is on its way: who sets this sends it, alone
 * @out_toggle: for @work: the newest PAUSE or RESUME; 0: none
 * @out_freeze: for @work: a FREEZE, until all have been asked
 * @unreported: there was one since @work ran last, of which poll(2) has not told
 * @in_toggle: for @csd, likewise
 * @in_freeze: for @csd, likewise
 */
struct auxt_remote {
	struct irq_work work;
	call_single_data_t csd;
	atomic64_t asked;
	atomic64_t out_toggle;
	atomic64_t out_freeze;
	atomic64_t unreported;
	atomic64_t in_toggle;
	atomic64_t in_freeze;
};

/* What others asked of the channel's CPU has not been carried out. Anywhere. */
static inline bool auxt_remote_is_pending(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_toggle) | atomic64_read(&remote->in_freeze);
}

/*
 * Not all others have been asked for a FREEZE of the channel's CPU. Anywhere, after a look at
 * the reasons: it stands here before FROZEN does, and readers are woken when it has left.
 */
static inline bool auxt_remote_is_freezing_others(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->out_freeze);
}

/* A FREEZE is on its way, from the channel's CPU or to it. */
static inline bool auxt_remote_has_freeze(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_freeze) | atomic64_read(&remote->out_freeze);
}

/* Task context. */
void auxt_remote_init(struct auxt_channel *ch);
void auxt_remote_flush(struct auxt_channel *ch);

/* On the channel's CPU or in its place, interrupts off. */
void auxt_remote_forget(struct auxt_channel *ch);
void auxt_remote_thaw(struct auxt_channel *ch);

/* On the channel's CPU, interrupts off, also in NMIs. */
void auxt_remote_send(struct auxt_channel *ch, const struct auxt_request *request);

/* On the channel's CPU, interrupts off. */
void auxt_remote_run(struct auxt_channel *ch);

#endif /* AUXT_REMOTE_H */
