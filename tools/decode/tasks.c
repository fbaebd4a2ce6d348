// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "tasks.h"
#include "userlib/search.h"

/* What reads the files of a recording */
struct reading {
	struct tasks *tasks;
	const char *dir;
	const struct meta *meta;
	struct objects *objects;
};

static void add_mapping(struct task *t, const struct mapping *m)
{
	list_grow(t->map, t->count);
	t->map[t->count++] = *m;
}

/* A line of /proc/PID/maps. */
static void parse_map(struct objects *objects, struct task *t, const char *line)
{
	struct mapping m = { 0 };
	const char *path = strchr(line, '/') ?: strstr(line, PROBES);
	char perms[8] = "";

	if (!path || sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64, &m.start, &m.end, perms,
			    &m.offset) != 4)
		return;
	if (perms[2] != 'x')
		return;
	m.object = objects_find(objects, path);
	/* Files of data may have changed or gone: nobody looks for code there. */
	object_open(objects, m.object);
	add_mapping(t, &m);
}

static void parse_vdso(const struct reading *r, struct task *t, const char *value)
{
	struct mapping m = { 0 };
	char name[64], path[4300];

	if (sscanf(value, "%" SCNi64 " %63s", (int64_t *)&m.start, name) != 2)
		return;
	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	m.object = objects_add_vdso(r->objects, path);
	m.end = m.start + m.object->image.size;
	add_mapping(t, &m);
}

static void parse_line(const struct reading *r, struct task *t, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return;
	*value++ = 0;
	if (!strcmp(line, "pid")) {
		t->pid = strtoul(value, NULL, 0);
	} else if (!strcmp(line, "cr3")) {
		t->no_cr3 = !strcmp(value, "unknown");
		t->cr3 = strtoull(value, NULL, 0);
	} else if (!strcmp(line, "cr3_mask")) {
		t->cr3_mask = strtoull(value, NULL, 0);
	} else if (!strcmp(line, "begin_tsc")) {
		t->begin_tsc = strtoull(value, NULL, 0);
	} else if (!strcmp(line, "end_tsc")) {
		t->end_tsc = strtoull(value, NULL, 0);
	} else if (!strcmp(line, "file")) {
		char mtime[64];
		uint64_t size;
		int at = 0;

		if (sscanf(value, "%" SCNu64 " %63s %n", &size, mtime, &at) == 2 && at)
			objects_note(r->objects, value + at, size, mtime);
	} else if (!strcmp(line, "vdso")) {
		parse_vdso(r, t, value);
	} else if (!strcmp(line, "jit") && !t->jit.file.data) {
		char path[4600];

		snprintf(path, sizeof(path), "%s/%s", r->dir, value);
		jit_open(&t->jit, path, r->meta);
	} else if (!strcmp(line, "map")) {
		parse_map(r->objects, t, value);
	}
}

/* The mask has the bits of CR3 that PIP packets show: it is the same in all files. */
static bool is_right(struct tasks *ts, struct task *t, const char *path)
{
	if (t->no_cr3)
		return true;
	if (!t->cr3_mask)
		return wrong("%s has no cr3_mask", path);
	if (ts->cr3_mask && ts->cr3_mask != t->cr3_mask) {
		say("%s has cr3_mask %#" PRIx64 ", and another file %#" PRIx64 ": its CR3 is not used", path,
		    t->cr3_mask, ts->cr3_mask);
		t->no_cr3 = true;
		return true;
	}
	ts->cr3_mask = t->cr3_mask;
	return true;
}

/* @name: task.PID or task.PID.NUMBER */
static bool read_file(const struct reading *r, const char *name)
{
	struct tasks *ts = r->tasks;
	const char *number = strchr(name + strlen("task."), '.');
	char path[4600], *line = NULL;
	struct task *t;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", r->dir, name);
	f = open_text(path);
	if (!f)
		return wrong("cannot read %s: %s", path, strerror(errno));
	list_grow(ts->task, ts->count);
	t = &ts->task[ts->count++];
	*t = (struct task){ .number = number ? strtoul(number + 1, NULL, 10) : 0 };
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		parse_line(r, t, line);
	}
	free(line);
	fclose(f);
	return is_right(ts, t, path);
}

static bool read_files(const struct reading *r)
{
	DIR *d = opendir(r->dir);
	bool right = true;
	struct dirent *e;

	if (!d)
		return wrong("cannot read %s: %s", r->dir, strerror(errno));
	while (right && (errno = 0, e = readdir(d)))
		if (!strncmp(e->d_name, "task.", 5))
			right = read_file(r, e->d_name);
	if (right && errno)
		right = wrong("cannot list %s: %s", r->dir, strerror(errno));
	closedir(d);
	return right;
}

/* Those that began at the same time are in the order in which the recorder met them. */
static int by_time(const struct task *a, const struct task *b)
{
	if (a->begin_tsc != b->begin_tsc)
		return a->begin_tsc < b->begin_tsc ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

static int by_process(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return by_time(x, y);
}

static int by_cr3(const void *a, const void *b)
{
	const struct task *x = *(struct task *const *)a, *y = *(struct task *const *)b;

	if (x->cr3 != y->cr3)
		return x->cr3 < y->cr3 ? -1 : 1;
	return by_time(x, y);
}

static void sort(struct tasks *ts)
{
	if (!ts->count)
		return;
	qsort(ts->task, ts->count, sizeof(*ts->task), by_process);
	ts->by_cr3 = xcalloc(ts->count, sizeof(*ts->by_cr3));
	for (size_t i = 0; i < ts->count; i++)
		if (!ts->task[i].no_cr3)
			ts->by_cr3[ts->nr_cr3++] = &ts->task[i];
	qsort(ts->by_cr3, ts->nr_cr3, sizeof(*ts->by_cr3), by_cr3);
}

bool tasks_read(struct tasks *ts, const char *dir, const struct meta *meta, struct objects *objects)
{
	const struct reading r = { ts, dir, meta, objects };

	*ts = (struct tasks){ 0 };
	if (!read_files(&r))
		return false;
	sort(ts);
	return true;
}

void tasks_free(struct tasks *ts)
{
	for (size_t i = 0; i < ts->count; i++) {
		jit_close(&ts->task[i].jit);
		free(ts->task[i].map);
	}
	free(ts->task);
	free(ts->by_cr3);
	*ts = (struct tasks){ 0 };
}

uint64_t mapping_offset(const struct mapping *m, uint64_t ip)
{
	return ip - m->start + m->offset;
}

/* Do both have the same bytes at @ip? */
static bool same_code(const struct mapping *a, const struct mapping *b, uint64_t ip)
{
	if (mapping_offset(a, ip) != mapping_offset(b, ip))
		return false;
	/* The vdso of each process is an object of its own, with the same bytes. */
	return a->object == b->object ||
	       (a->object->image.size && a->object->image.size == b->object->image.size &&
		!memcmp(a->object->image.data, b->object->image.data, a->object->image.size));
}

bool task_mapping(const struct task *t, uint64_t ip, const struct mapping **found)
{
	for (size_t i = 0; i < t->count; i++) {
		const struct mapping *m = &t->map[i];

		if (ip < m->start || ip >= m->end)
			continue;
		if (*found && !same_code(*found, m, ip))
			return false;
		*found = m;
	}
	return true;
}

/* The first one of process @pid, or where it would be. */
static size_t first_of_process(const struct tasks *ts, uint32_t pid)
{
	size_t i;

	find_first(i, ts->count, ts->task[i].pid >= pid);
	return i;
}

/* Of @ts->by_cr3, the first one that has @cr3. */
static size_t first_of_cr3(const struct tasks *ts, uint64_t cr3)
{
	size_t i;

	find_first(i, ts->nr_cr3, ts->by_cr3[i]->cr3 >= (cr3 & ts->cr3_mask));
	return i;
}

static bool has_cr3(const struct tasks *ts, size_t i, uint64_t cr3)
{
	return i < ts->nr_cr3 && ts->by_cr3[i]->cr3 == (cr3 & ts->cr3_mask);
}

/*
 * A task may be recorded later than it began: if no other one ever had this CR3, it is taken for earlier times as
 * well, but for code that it does not have.
 */
static const struct task *find_by_cr3(const struct tasks *ts, uint64_t cr3, uint64_t tsc)
{
	const struct task *found = NULL;
	size_t first = first_of_cr3(ts, cr3), i;

	for (i = first; has_cr3(ts, i, cr3); i++) {
		const struct task *t = ts->by_cr3[i];

		if (tsc && t->begin_tsc <= tsc)
			found = t->end_tsc && t->end_tsc < tsc ? NULL : t;
	}
	if (found || i != first + 1)
		return found;
	return tsc && ts->by_cr3[first]->begin_tsc <= tsc ? NULL : ts->by_cr3[first];
}

const struct task *tasks_of_process(const struct tasks *ts, uint32_t pid, uint64_t tsc)
{
	const struct task *found = NULL;

	for (size_t i = first_of_process(ts, pid); i < ts->count && ts->task[i].pid == pid; i++) {
		const struct task *t = &ts->task[i];

		if (found && !tsc)
			return NULL;
		if (!found || t->begin_tsc <= tsc)
			found = t;
	}
	return found;
}

const struct task *tasks_find(const struct tasks *ts, uint64_t cr3, uint32_t pid, uint64_t tsc)
{
	const struct task *own = pid ? tasks_of_process(ts, pid, tsc) : NULL;

	if (!own || !own->no_cr3)
		return find_by_cr3(ts, cr3, tsc);
	if (tsc && own->begin_tsc <= tsc)
		return own->end_tsc && own->end_tsc < tsc ? find_by_cr3(ts, cr3, tsc) : own;
	/* Before that it may have had that of its parent, by vfork; or the flow's time is a little early. */
	return find_by_cr3(ts, cr3, tsc) ?: own;
}

const struct mapping *tasks_only_mapping(const struct tasks *ts, uint32_t pid, uint64_t tsc, uint64_t ip)
{
	const struct task *running = pid ? tasks_of_process(ts, pid, tsc) : NULL;
	const struct mapping *found = NULL;

	if (running && task_mapping(running, ip, &found) && found)
		return found;
	found = NULL;
	for (size_t i = 0; i < ts->count; i++)
		if (!task_mapping(&ts->task[i], ip, &found))
			return NULL;
	return found;
}

static void cut_span(struct code_span *span, const struct task *t, uint64_t ip, size_t size)
{
	code_span_cut(span, t->begin_tsc);
	if (t->end_tsc)
		code_span_cut(span, t->end_tsc + 1);
	jit_span(&t->jit, ip, size, span);
}

void tasks_span(const struct tasks *ts, uint64_t cr3, uint32_t pid, uint64_t ip, size_t size, struct code_span *span)
{
	for (size_t i = first_of_process(ts, pid); i < ts->count && ts->task[i].pid == pid; i++)
		cut_span(span, &ts->task[i], ip, size);
	for (size_t i = first_of_cr3(ts, cr3); has_cr3(ts, i, cr3); i++)
		cut_span(span, ts->by_cr3[i], ip, size);
}
