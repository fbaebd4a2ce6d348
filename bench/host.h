/* SPDX-License-Identifier: GPL-2.0-only */
/* The host of a VM with --exec-log: scripts/vm-hostd. Exits with a message if it fails. */
#ifndef BENCH_HOST_H
#define BENCH_HOST_H

#include <stdbool.h>

/* Switches QEMU's execution log on or off; what follows the call is logged, or not. */
void host_log(bool on);

#endif
