/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file perf.data: header, attributes of events, records, features.
 *
 * The header is written last. A file without it is not complete, and perf refuses it. All
 * functions die with a message if the file cannot be written.
 */
#ifndef EXPORT_PERF_DATA_H
#define EXPORT_PERF_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* perf's header features, by bit. */
enum {
	PERF_FEATURE_OSRELEASE = 4,
	PERF_FEATURE_VERSION = 5,
	PERF_FEATURE_ARCH = 6,
	PERF_FEATURE_NRCPUS = 7,
	PERF_FEATURE_CPUID = 9,
	PERF_FEATURE_EVENT_DESC = 12,
	PERF_FEATURE_AUXTRACE = 18,
	PERF_FEATURE_SAMPLE_TIME = 21,
};

/* perf_event_attr as of Linux 4.18: perf refuses one that is longer than its own. */
struct perf_attr {
	uint32_t type, size;
	uint64_t config, sample_period, sample_type, read_format, flags;
	uint64_t rest[8];
};

/* An event. Each has one ID, which is in the trailer of its records. */
struct perf_event {
	struct perf_attr attr;
	uint64_t id;
	char name[32];
};

#define PERF_EVENTS	2

struct perf_data;

/* Create the file @path and write the attributes of its PERF_EVENTS @events, which the caller keeps. */
struct perf_data *perf_data_create(const char *path, const struct perf_event *events);

/* Where the next byte goes. */
uint64_t perf_data_position(const struct perf_data *data);
void perf_data_write(struct perf_data *data, const void *bytes, size_t size);
/* Append @size bytes of the file @path, from @offset. The kernel copies them. */
void perf_data_copy(struct perf_data *data, const char *path, uint64_t offset, uint64_t size);

/* The records are complete. Features follow, in the order of their bits. */
void perf_data_end_records(struct perf_data *data);
void perf_data_feature(struct perf_data *data, unsigned int feature, const void *payload, size_t size);
void perf_data_feature_text(struct perf_data *data, unsigned int feature, const char *text);
/* PERF_FEATURE_EVENT_DESC: the names of the events. */
void perf_data_feature_events(struct perf_data *data);

/* Write the header, close the file, free @data. */
void perf_data_finish(struct perf_data *data);

#endif
