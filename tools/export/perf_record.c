// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "perf_record.h"

_Static_assert(sizeof(struct perf_trailer) == 32, "the trailer of sample type 0x10087");

void perf_record_begin(struct perf_record *r, uint32_t type, uint16_t misc)
{
	r->header = (struct perf_event_header){ .type = type, .misc = misc, .size = sizeof(r->header) };
}

void perf_record_add(struct perf_record *r, const void *bytes, size_t size)
{
	if (size > sizeof(*r) - r->header.size)
		die(1, "a record of type %u does not fit into 64 KiB", r->header.type);
	memcpy((uint8_t *)r + r->header.size, bytes, size);
	r->header.size += size;
}

void perf_record_add_text(struct perf_record *r, const char *text)
{
	static const char zeros[8];
	size_t len = strlen(text);

	perf_record_add(r, text, len);
	perf_record_add(r, zeros, 8 - len % 8);
}

void perf_record_write(const struct perf_record *r, struct perf_data *data)
{
	perf_data_write(data, r, r->header.size);
}

void perf_record_end(struct perf_record *r, struct perf_data *data, const struct perf_trailer *trailer)
{
	perf_record_add(r, trailer, sizeof(*trailer));
	perf_record_write(r, data);
}

void perf_record_comm(struct perf_data *data, uint32_t pid, uint32_t tid, const char *comm, bool exec,
		      uint64_t time)
{
	const struct perf_trailer trailer = { .pid = pid, .tid = tid, .time = time, .id = PERF_ID_SIDEBAND };
	const uint32_t who[2] = { pid, tid };
	struct perf_record r;

	perf_record_begin(&r, PERF_RECORD_COMM, exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
	perf_record_add(&r, who, sizeof(who));
	perf_record_add_text(&r, comm);
	perf_record_end(&r, data, &trailer);
}

uint64_t perf_time(const struct meta *meta, uint64_t tsc)
{
	uint64_t ns = 0;

	meta_clock(meta, tsc, &ns);
	return ns;
}
