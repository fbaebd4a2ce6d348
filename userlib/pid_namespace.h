/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whose numbers of processes these are. Library and command include this. */
#ifndef AUXTRACE_PID_NAMESPACE_H
#define AUXTRACE_PID_NAMESPACE_H

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/*
 * Records of the trace have the numbers of the initial PID namespace, perf's those of the caller's. The initial one has
 * this number in all kernels: PROC_PID_INIT_INO of <linux/proc_ns.h>.
 */
static inline bool has_numbers_of_trace(void)
{
	static const char initial[] = "pid:[4026531836]";
	char name[sizeof(initial)];

	return readlink("/proc/self/ns/pid", name, sizeof(name)) == sizeof(initial) - 1 &&
	       !memcmp(name, initial, sizeof(initial) - 1);
}

#endif
