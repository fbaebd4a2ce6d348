/* SPDX-License-Identifier: GPL-2.0-only */
/* Arguments of the ioctls: mostly what the ABI allows, and broken ones. */
#ifndef DEVICE_ARGUMENTS_H
#define DEVICE_ARGUMENTS_H

#include <linux/auxtrace.h>
#include <linux/perf_event.h>
#include <stdint.h>

#include "program.h"

/**
 * struct scratch - memory of one thread that arguments are in and point to
 * @arg: the ioctl's struct
 * @cpus: a CPU set
 * @name: of a symbol or file
 * @attr: of a perf event
 * @effects: for PAUSE and RESUME
 * @cuts: for SNAPSHOT
 * @caps: for INFO
 */
struct scratch {
	union {
		uint64_t word[64];
		struct auxtrace_info info;
		struct auxtrace_setup setup;
		struct auxtrace_start start;
		struct auxtrace_control control;
		struct auxtrace_status status;
		struct auxtrace_task task;
		struct auxtrace_output output;
		struct auxtrace_snapshot snapshot;
		struct auxtrace_release release;
		struct auxtrace_trigger trigger;
		struct auxtrace_trigger_state state;
	} arg;
	uint64_t cpus[2];
	struct auxtrace_filter filters[4];
	char name[64];
	struct perf_event_attr attr;
	struct auxtrace_effect effects[8];
	struct auxtrace_cut cuts[8];
	uint64_t caps[64];
};

/* Numbers of this machine that arguments need. */
void arguments_init(void);

/*
 * Fill @s->arg for @r, which is an ioctl. Returns the ioctl's number; *@where is the pointer
 * to pass. @edge is the end of the thread's memory: what follows it cannot be accessed.
 */
unsigned long arguments_make(const struct record *r, struct scratch *s, void *edge, void **where);

/* May this operation fail with this errno? As the header says; 0 is success. */
int arguments_may_fail(enum operation op, int err);

/* What a uprobe and a breakpoint can be on. */
void probed(void);
extern volatile uint64_t watched;

#endif
