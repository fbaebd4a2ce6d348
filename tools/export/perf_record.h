/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Records of perf.data. Those that perf's kernel writes end in a trailer: who, when and where, by the
 * sample type that all events of the file have.
 */
#ifndef EXPORT_PERF_RECORD_H
#define EXPORT_PERF_RECORD_H

#include <stdint.h>

#include <linux/perf_event.h>

#include "lib/meta.h"
#include "perf_data.h"

#define PERF_SAMPLE_TYPE	(PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | \
				 PERF_SAMPLE_IDENTIFIER)

/* IDs of the two events. */
#define PERF_ID_TRACE		1
#define PERF_ID_SIDEBAND	2

#define PERF_NOBODY		UINT32_MAX	/* a process or thread that is not known */

/* Records of perf's tools, beyond the kernel's. */
enum {
	PERF_AUXTRACE_INFO = 70,
	PERF_AUXTRACE = 71,
};

struct perf_trailer {
	uint32_t pid, tid;
	uint64_t time;		/* ns of perf's clock; 0: before everything else */
	uint32_t cpu, reserved;
	uint64_t id;
};

struct perf_record {
	struct perf_event_header header;
	uint8_t bytes[65520];	/* header.size has 16 bits */
};

void perf_record_begin(struct perf_record *r, uint32_t type, uint16_t misc);
void perf_record_add(struct perf_record *r, const void *bytes, size_t size);
/* A final zero and padding to a multiple of 8 follow. */
void perf_record_add_text(struct perf_record *r, const char *text);
/* Write the record as it is. */
void perf_record_write(const struct perf_record *r, struct perf_data *data);
/* Write it with a trailer. */
void perf_record_end(struct perf_record *r, struct perf_data *data, const struct perf_trailer *trailer);

/* COMM: thread @tid of @pid has that name. @exec: since an exec. */
void perf_record_comm(struct perf_data *data, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		      uint64_t time);

/* The time @tsc by perf's clock. */
uint64_t perf_time(const struct meta *meta, uint64_t tsc);

#endif
