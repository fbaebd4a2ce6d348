// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/clock.h"
#include "lib/perf_trailer.h"
#include "side.h"

struct trailer {		/* tools/record/side_files.c asks for this sample_type */
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t id;
};

static void add(struct side *s, const struct side_record *record)
{
	list_grow(s->record, s->count);
	s->record[s->count++] = *record;
}

static void count_lost(struct side *s, const struct perf_event_header *header, size_t size)
{
	const struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} *rec = (const void *)header;

	if (header->type == PERF_RECORD_LOST && size >= sizeof(*rec))
		s->lost += rec->lost;
}

static void parse(struct side *s, const struct mapped *file, const struct meta *meta, const char *path)
{
	size_t at = 0;

	while (at < file->size) {
		const struct perf_event_header *header = (const void *)(file->data + at);
		const struct trailer *trailer;
		struct side_record record;

		/* perf's sizes are multiples of 8, so that all is aligned. */
		if (file->size - at < sizeof(*header) || header->size % 8 || header->size > file->size - at ||
		    header->size < sizeof(*header) + sizeof(*trailer)) {
			say("%s: there is no record at offset %zu: the rest is not read", path, at);
			return;
		}
		record = (struct side_record){ .header = header, .size = perf_trailer_at(header, sizeof(*trailer)) };
		trailer = (const void *)(file->data + at + record.size);
		record.pid = trailer->pid;
		record.tid = trailer->tid;
		record.cpu = trailer->cpu;
		record.tsc = clock_to_tsc(trailer->time, meta->time_zero, meta->time_mult, meta->time_shift);
		count_lost(s, header, record.size);
		add(s, &record);
		at += header->size;
	}
}

/* Those of one CPU stay in the order in which perf wrote them. */
static int by_time(const void *a, const void *b)
{
	const struct side_record *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->header < y->header ? -1 : x->header > y->header;
}

static bool is_side(const char *name)
{
	size_t digits = strspn(name + 3 * !strncmp(name, "cpu", 3), "0123456789");

	return !strncmp(name, "cpu", 3) && digits && !strcmp(name + 3 + digits, ".side");
}

static bool read_file(struct side *s, const char *path, const struct meta *meta)
{
	struct mapped file;
	int err = map_file(path, false, &file);

	if (err)
		return wrong("cannot read %s: %s", path, strerror(-err));
	parse(s, &file, meta, path);
	s->file = xrealloc(s->file, (s->nr_files + 1) * sizeof(*s->file));
	s->file[s->nr_files++] = file;
	return true;
}

bool side_read(struct side *s, const char *dir, const struct meta *meta)
{
	DIR *d = opendir(dir);
	bool found = false, right = true;
	struct dirent *e;
	char path[4600];

	*s = (struct side){ 0 };
	if (!d)
		return wrong("cannot read %s: %s", dir, strerror(errno));
	while (right && (errno = 0, e = readdir(d))) {
		if (!is_side(e->d_name))
			continue;
		found = true;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		if (meta->time_mult)
			right = read_file(s, path, meta);
	}
	if (right && errno)
		right = wrong("cannot list %s: %s", dir, strerror(errno));
	closedir(d);
	if (!right) {
		side_free(s);
		return false;
	}
	if (found && !meta->time_mult)
		say("perf's clock did not follow the TSC on that machine: the side files of %s are not used", dir);
	if (s->count)
		qsort(s->record, s->count, sizeof(*s->record), by_time);
	return true;
}

void side_free(struct side *s)
{
	free(s->record);
	for (size_t i = 0; i < s->nr_files; i++)
		unmap_file(&s->file[i]);
	free(s->file);
	*s = (struct side){ 0 };
}
