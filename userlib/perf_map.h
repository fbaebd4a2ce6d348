/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file in which a process names the code that it makes: a perf map. Library and command include this. */
#ifndef AUXTRACE_PERF_MAP_H
#define AUXTRACE_PERF_MAP_H

#define PERF_MAP_DIR	"/tmp"
#define PERF_MAP_NAME	"perf-%d.map"	/* with the process ID */

#endif
