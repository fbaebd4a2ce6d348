/* SPDX-License-Identifier: GPL-2.0 */
/* The triggers of one session: ADD, DEL, READ. */
#ifndef AUXT_TRIGGERS_H
#define AUXT_TRIGGERS_H

#include <linux/auxtrace.h>

struct auxt_trigger;
struct auxt_triggers;
struct cpumask;

struct auxt_triggers *auxt_triggers_new(const struct cpumask *cpus,
					const struct auxtrace_setup *setup);
void auxt_triggers_free(struct auxt_triggers *set);
int auxt_triggers_add(struct auxt_triggers *set, struct auxtrace_trigger *arg);
int auxt_triggers_del(struct auxt_triggers *set, struct auxtrace_trigger_state *arg);
int auxt_triggers_read(struct auxt_triggers *set, struct auxtrace_trigger_state *arg);
struct auxt_trigger *auxt_triggers_find(struct auxt_triggers *set, u32 id, int *place);
void auxt_triggers_renew(struct auxt_triggers *set);
void auxt_triggers_renew_later(struct auxt_triggers *set);

/* Interrupts off or NMI. */
struct auxt_trigger *auxt_triggers_at(struct auxt_triggers *set, unsigned int place);

#endif /* AUXT_TRIGGERS_H */
