// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace.ko: init and exit. */

#include <linux/module.h>
#include "device.h"
#include "hotplug.h"
#include "hw/panic.h"
#include "hw/pmi.h"
#include "hw/reservation.h"

#ifndef CONFIG_X86_64
# error "auxtrace needs a 64-bit x86 kernel: it uses Intel PT and BTS, and loads 64 bits at once"
#endif

static int __init auxt_init(void)
{
	int err;

	err = auxt_reservation_init();
	if (err)
		return err;
	err = auxt_pmi_init();
	if (err)
		return err;
	err = auxt_panic_init();
	if (err)
		goto err_pmi;
	err = auxt_hotplug_init();
	if (err)
		goto err_panic;
	/* Last: from here on there may be open files. */
	err = auxt_device_init();
	if (err)
		goto err_hotplug;
	return 0;

err_hotplug:
	auxt_hotplug_exit();
err_panic:
	auxt_panic_exit();
err_pmi:
	auxt_pmi_exit();
	return err;
}

static void __exit auxt_exit(void)
{
	auxt_device_exit();
	auxt_hotplug_exit();
	auxt_panic_exit();
	auxt_pmi_exit();
}

module_init(auxt_init);
module_exit(auxt_exit);

MODULE_DESCRIPTION("Hardware instruction trace around events");
MODULE_AUTHOR("The auxtrace project");
MODULE_VERSION("0.1.0");
MODULE_LICENSE("GPL");
