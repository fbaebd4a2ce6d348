// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/copy_file.h"
#include "lib/tool.h"
#include "perf_data.h"

#define MAX_FEATURES	32
#define TEXT_UNIT	64	/* perf pads strings of features to this */

struct section {		/* of the file */
	uint64_t offset, size;
};

struct header {
	char magic[8];
	uint64_t size, attr_size;
	struct section attrs, data, event_types;
	uint64_t features[4];
};

struct file_attr {
	struct perf_attr attr;
	struct section ids;
};

struct perf_data {
	char *path;
	const struct perf_event *events;
	FILE *file;
	uint64_t position;
	struct header header;
	/* The features' table is written when all are known, in front of the first one. */
	unsigned int nr_features;
	uint64_t table;
	struct section feature[MAX_FEATURES];
};

static void fail_write(const struct perf_data *data, int err)
{
	die(1, "cannot write %s: %s", data->path, strerror(err));
}

void perf_data_write(struct perf_data *data, const void *bytes, size_t size)
{
	if (fwrite(bytes, 1, size, data->file) != size)
		fail_write(data, errno);
	data->position += size;
}

uint64_t perf_data_position(const struct perf_data *data)
{
	return data->position;
}

static void go_to(struct perf_data *data, uint64_t position)
{
	if (fseeko(data->file, position, SEEK_SET))
		fail_write(data, errno);
	data->position = position;
}

struct perf_data *perf_data_create(const char *path, const struct perf_event *events)
{
	struct perf_data *data = xcalloc(1, sizeof(*data));
	uint64_t ids = sizeof(data->header);

	data->path = xstrdup(path);
	data->events = events;
	data->file = fopen(path, "wxe");
	if (!data->file)
		fail_write(data, errno);
	go_to(data, ids);
	for (unsigned int i = 0; i < PERF_EVENTS; i++)
		perf_data_write(data, &events[i].id, sizeof(events[i].id));
	data->header.attrs.offset = data->position;
	for (unsigned int i = 0; i < PERF_EVENTS; i++) {
		struct file_attr attr = {
			.attr = events[i].attr,
			.ids = { ids + i * sizeof(events[i].id), sizeof(events[i].id) },
		};

		perf_data_write(data, &attr, sizeof(attr));
	}
	data->header.attrs.size = data->position - data->header.attrs.offset;
	data->header.data.offset = data->position;
	return data;
}

void perf_data_copy(struct perf_data *data, const char *path, uint64_t offset, uint64_t size)
{
	if (fflush(data->file))
		fail_write(data, errno);
	copy_to_fd(fileno(data->file), data->path, path, offset, size);
	/* The stream continues behind what it has not written itself. */
	go_to(data, data->position + size);
}

void perf_data_end_records(struct perf_data *data)
{
	data->header.data.size = data->position - data->header.data.offset;
	/* Place for the largest table. Its end may stay unused: payloads have offsets. */
	data->table = data->position;
	go_to(data, data->position + MAX_FEATURES * sizeof(struct section));
}

static void begin_feature(struct perf_data *data, unsigned int feature)
{
	data->header.features[0] |= 1ull << feature;
	data->feature[data->nr_features].offset = data->position;
}

static void end_feature(struct perf_data *data)
{
	struct section *s = &data->feature[data->nr_features++];

	s->size = data->position - s->offset;
}

void perf_data_feature(struct perf_data *data, unsigned int feature, const void *payload, size_t size)
{
	begin_feature(data, feature);
	perf_data_write(data, payload, size);
	end_feature(data);
}

static void write_text(struct perf_data *data, const char *text)
{
	uint32_t len = (strlen(text) + TEXT_UNIT) / TEXT_UNIT * TEXT_UNIT;
	char *padded = xcalloc(1, len);

	memcpy(padded, text, strlen(text));
	perf_data_write(data, &len, sizeof(len));
	perf_data_write(data, padded, len);
	free(padded);
}

void perf_data_feature_text(struct perf_data *data, unsigned int feature, const char *text)
{
	begin_feature(data, feature);
	write_text(data, text);
	end_feature(data);
}

void perf_data_feature_events(struct perf_data *data)
{
	const uint32_t head[2] = { PERF_EVENTS, sizeof(struct perf_attr) };

	begin_feature(data, PERF_FEATURE_EVENT_DESC);
	perf_data_write(data, head, sizeof(head));
	for (unsigned int i = 0; i < PERF_EVENTS; i++) {
		const struct perf_event *event = &data->events[i];
		const uint32_t ids = 1;

		perf_data_write(data, &event->attr, sizeof(event->attr));
		perf_data_write(data, &ids, sizeof(ids));
		write_text(data, event->name);
		perf_data_write(data, &event->id, sizeof(event->id));
	}
	end_feature(data);
}

void perf_data_finish(struct perf_data *data)
{
	struct header *header = &data->header;

	memcpy(header->magic, "PERFILE2", sizeof(header->magic));
	header->size = sizeof(*header);
	header->attr_size = sizeof(struct file_attr);
	go_to(data, data->table);
	perf_data_write(data, data->feature, data->nr_features * sizeof(data->feature[0]));
	go_to(data, 0);
	perf_data_write(data, header, sizeof(*header));
	if (fclose(data->file))
		fail_write(data, errno);
	free(data->path);
	free(data);
}
