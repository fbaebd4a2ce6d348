/* SPDX-License-Identifier: GPL-2.0-only */
/* CPU hotplug, suspend and reboot. */
#ifndef AUXT_HOTPLUG_H
#define AUXT_HOTPLUG_H

int auxt_hotplug_init(void);
void auxt_hotplug_exit(void);

#endif /* AUXT_HOTPLUG_H */
