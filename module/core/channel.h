/* SPDX-License-Identifier: GPL-2.0-only */
/* A channel: a session on one CPU. */
#ifndef AUXT_CHANNEL_H
#define AUXT_CHANNEL_H

#include "core/state.h"

struct task_struct;

/* Any context, any CPU. */
void auxt_channel_set_asleep(bool asleep);

/* Task context. */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_aux_buffer *buffer,
				      struct auxt_group *group, int cpu, unsigned int index,
				      const struct auxtrace_setup *setup);
void auxt_channel_flush(struct auxt_group *group);
void auxt_channel_free(struct auxt_channel *ch);

/*
 * On the channel's CPU with interrupts off; or, while that CPU is offline or the session is
 * not started, on any CPU with the session's idle_lock held.
 */
int auxt_channel_attach(struct auxt_channel *ch);
void auxt_channel_begin(struct auxt_channel *ch);
void auxt_channel_leave(struct auxt_channel *ch);
void auxt_channel_come_back(struct auxt_channel *ch);
void auxt_channel_detach(struct auxt_channel *ch);
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit);
void auxt_channel_undo_reset(struct auxt_channel *ch);
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason);
void auxt_channel_allow(struct auxt_channel *ch, u32 reason);
void auxt_channel_pause(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_resume(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_snapshot(struct auxt_channel *ch, u32 flags, u32 slot,
			   struct auxtrace_cut *to);
void auxt_channel_pause_output(struct auxt_channel *ch, bool pause);

/* On the channel's CPU with interrupts off, or in an NMI there. */
void auxt_channel_crash(struct auxt_channel *ch);

/* On the channel's CPU, which is about to run @next, with interrupts off. */
void auxt_channel_switch_task(struct auxt_channel *ch, const struct task_struct *next, bool member);
void auxt_channel_context_switch(struct auxt_channel *ch, const struct task_struct *prev,
				 const struct task_struct *next, bool preempted);

/* NMI on the channel's CPU. */
bool auxt_channel_interrupt(struct auxt_channel *ch, bool asserted);

#endif /* AUXT_CHANNEL_H */
