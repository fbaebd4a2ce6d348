/* SPDX-License-Identifier: GPL-2.0-only */
/* The triggers of one session: ADD, DEL, READ. */
#ifndef AUXT_TRIGGER_SET_H
#define AUXT_TRIGGER_SET_H

#include <linux/auxtrace.h>

struct auxt_trigger_set;
struct cpumask;

/* Task context. */
struct auxt_trigger_set *auxt_trigger_set_new(const struct cpumask *cpus,
					      const struct auxtrace_setup *setup);
void auxt_trigger_set_free(struct auxt_trigger_set *set);
int auxt_trigger_set_add(struct auxt_trigger_set *set, struct auxtrace_trigger *arg);
int auxt_trigger_set_del(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg);
int auxt_trigger_set_read(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg);
int auxt_trigger_set_renew(struct auxt_trigger_set *set);
void auxt_trigger_set_renew_later(struct auxt_trigger_set *set);

#endif /* AUXT_TRIGGER_SET_H */
