/* SPDX-License-Identifier: GPL-2.0 */
/* What stops tracing from outside: CPU hotplug, suspend, reboot, panic. */
#ifndef AUXT_HOTPLUG_H
#define AUXT_HOTPLUG_H

#include <linux/types.h>

int auxt_hotplug_init(void);
void auxt_hotplug_exit(void);

bool auxt_stop_panicking(void);

#endif /* AUXT_HOTPLUG_H */
