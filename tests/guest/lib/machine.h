/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine that the tests run on, as it is when the program starts. */
#ifndef VM_MACHINE_H
#define VM_MACHINE_H

#include <stddef.h>
#include <stdint.h>

#include "uapi.h"

extern size_t page_size;
extern uint64_t all_cpus;		/* online */
extern int first_cpu, last_cpu;
extern uint64_t one_cpu;		/* the set of first_cpu alone */
/* How much longer than on a stock kernel all takes at most: time limits are multiplied by it. */
extern unsigned int slowness;

/* Each skips the running test, with a message, on a machine that cannot run it. */
void two_cpus_required(void);
/* last_cpu can be taken offline: the boot CPU cannot as a rule. */
void hotplug_required(void);

/* Each fails the running test unless last_cpu changes its state. */
#define last_cpu_offline() \
	expect_call("offline", 0, cpu_set_online(last_cpu, 0), __FILE__, __LINE__)
#define last_cpu_online() \
	expect_call("online", 0, cpu_set_online(last_cpu, 1), __FILE__, __LINE__)

#endif
