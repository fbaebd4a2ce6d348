/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The address spaces of a recording: its files task.*. The trace says by a CR3 which one is in use, or, where it has
 * none, which process runs.
 */
#ifndef TASKS_H
#define TASKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_span.h"
#include "jit.h"
#include "lib/meta.h"
#include "object.h"

#define PROBES	"[uprobes]"	/* the path of the kernel's page for probed instructions, which cannot be read */

struct mapping {
	uint64_t start, end, offset;
	struct object *object;
};

struct task {
	uint32_t pid;
	unsigned int number;	/* the process has had so many before it */
	bool no_cr3;		/* it ended before it could be read: its CR3 is not known, and these are 0 */
	uint64_t cr3, cr3_mask;
	uint64_t begin_tsc, end_tsc;	/* end_tsc 0: it has not ended, as far as is known */
	struct jit jit;		/* code that it made */
	size_t count;
	struct mapping *map;	/* executable ones; those of different times may overlap */
};

struct tasks {
	struct task *task;	/* by pid, then by time */
	size_t count;
	struct task **by_cr3;	/* those whose CR3 is known, by it, then by time */
	size_t nr_cr3;
	uint64_t cr3_mask;	/* of all of them */
};

/* @objects gets the files that they have mapped. False, with a message, if they cannot be read. */
bool tasks_read(struct tasks *ts, const char *dir, const struct meta *meta, struct objects *objects);
void tasks_free(struct tasks *ts);

/*
 * The address space at @tsc (0: not known) of a CPU that has @cr3 and runs process @pid (0: not known). If that
 * process ended before its CR3 could be read, it decides. NULL: none is known.
 */
const struct task *tasks_find(const struct tasks *ts, uint64_t cr3, uint32_t pid, uint64_t tsc);
/* The one that process @pid had at @tsc. NULL: it is not known, or, without @tsc, there were several, as exec makes them. */
const struct task *tasks_of_process(const struct tasks *ts, uint32_t pid, uint64_t tsc);

/*
 * Set *@found to the mapping of @t at @ip. Returns false if there are several with different
 * code: it is unknown which one ran.
 */
bool task_mapping(const struct task *t, uint64_t ip, const struct mapping **found);
/*
 * Without CR3, as in a trace of user code only, the code at @ip is what process @pid has there, or, if that is not
 * known, what all have that have any. NULL: none has, or they have different code.
 */
const struct mapping *tasks_only_mapping(const struct tasks *ts, uint32_t pid, uint64_t tsc, uint64_t ip);
uint64_t mapping_offset(const struct mapping *m, uint64_t ip);

/* Cut @span where the answers of tasks_find() and tasks_of_process(), or their code of @size bytes at @ip, may change. */
void tasks_span(const struct tasks *ts, uint64_t cr3, uint32_t pid, uint64_t ip, size_t size, struct code_span *span);

#endif
