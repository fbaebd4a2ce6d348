/* SPDX-License-Identifier: GPL-2.0 */
/* The host of a VM with --exec-log: scripts/vm-hostd. Exits with a message if it fails. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <stdbool.h>

/* QEMU's own execution log. What happens behind the call is in it, or no more. */
void host_log(bool on);

#endif
