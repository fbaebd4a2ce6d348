/* SPDX-License-Identifier: GPL-2.0 */
/* What stops tracing from outside: CPU hotplug, suspend, reboot. */
#ifndef AUXT_HOTPLUG_H
#define AUXT_HOTPLUG_H

struct auxt_channel;

int auxt_hotplug_init(void);
void auxt_hotplug_exit(void);

/* On the channel's CPU, interrupts off. */
int auxt_stop_attach(struct auxt_channel *ch);
void auxt_stop_begin(struct auxt_channel *ch);

#endif /* AUXT_HOTPLUG_H */
