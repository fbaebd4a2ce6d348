// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "threads.h"
#include "userlib/search.h"

#define MAX_FORKS	64	/* that may have passed a name on: more only in a damaged recording */

static void add(struct threads *t, uint32_t tid, uint64_t tsc, const char *name, uint32_t parent, bool exec)
{
	list_grow(t->name, t->count);
	t->name[t->count++] = (struct thread_name){ tid, tsc, name, parent, exec };
}

static const char *keep(struct threads *t, const char *name)
{
	list_grow(t->line, t->nr_lines);
	t->line[t->nr_lines] = xstrdup(name);
	return t->line[t->nr_lines++];
}

/*
 * "tsc" and the time when the file was made, then "TID PID NAME" of each thread. Some of the names are
 * of a later time, but they are the first that are known.
 */
static bool read_names(struct threads *t, const char *dir)
{
	char path[4200], *line = NULL, name[64];
	uint64_t tsc = 0;
	size_t size = 0;
	uint32_t tid;
	FILE *f;

	snprintf(path, sizeof(path), "%s/threads", dir);
	f = open_text(path);
	if (!f && errno == ENOENT)
		return true;	/* of an older version */
	if (!f)
		return wrong("cannot read %s: %s", path, strerror(errno));
	while (getline(&line, &size, f) > 0)
		if (sscanf(line, "tsc %" SCNu64, &tsc) != 1 &&
		    sscanf(line, "%" SCNu32 " %*u %63[^\n]", &tid, name) == 2)
			add(t, tid, tsc, keep(t, name), 0, false);
	free(line);
	fclose(f);
	return true;
}

static void take(struct threads *t, const struct side_record *r)
{
	const struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[];
	} *comm = (const void *)r->header;
	const struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time;
	} *fork = (const void *)r->header;

	if (r->header->type == PERF_RECORD_COMM && r->size > sizeof(*comm) &&
	    memchr(comm->comm, 0, r->size - sizeof(*comm)))
		add(t, comm->tid, r->tsc, comm->comm, 0, r->header->misc & PERF_RECORD_MISC_COMM_EXEC);
	else if (r->header->type == PERF_RECORD_FORK && r->size >= sizeof(*fork))
		add(t, fork->tid, r->tsc, NULL, fork->ptid, false);
}

static int by_thread(const void *a, const void *b)
{
	const struct thread_name *x = a, *y = b;

	if (x->tid != y->tid)
		return x->tid < y->tid ? -1 : 1;
	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

bool threads_read(struct threads *t, const char *dir, const struct side *side)
{
	*t = (struct threads){ 0 };
	add(t, 0, 0, "swapper", 0, false);
	if (!read_names(t, dir)) {
		threads_free(t);
		return false;
	}
	for (size_t i = 0; i < side->count; i++)
		take(t, &side->record[i]);
	qsort(t->name, t->count, sizeof(*t->name), by_thread);
	return true;
}

void threads_free(struct threads *t)
{
	for (size_t i = 0; i < t->nr_lines; i++)
		free(t->line[i]);
	free(t->line);
	free(t->name);
	*t = (struct threads){ 0 };
}

const char *threads_name(const struct threads *t, uint32_t tid, uint64_t tsc)
{
	for (unsigned int forks = 0; forks < MAX_FORKS; forks++) {
		const struct thread_name *n;
		size_t i;

		find_first(i, t->count, t->name[i].tid > tid || (t->name[i].tid == tid && t->name[i].tsc > tsc));
		if (i && t->name[i - 1].tid == tid)
			i--;
		if (i == t->count || t->name[i].tid != tid)
			return NULL;
		n = &t->name[i];
		if (n->name)
			return n->name;
		tid = n->parent;
		tsc = n->tsc;
	}
	return NULL;
}

uint64_t threads_exec(const struct threads *t, uint32_t tid, uint64_t from, uint64_t to)
{
	size_t i;

	find_first(i, t->count, t->name[i].tid > tid || (t->name[i].tid == tid && t->name[i].tsc > from));
	for (; i < t->count && t->name[i].tid == tid && t->name[i].tsc <= to; i++)
		if (t->name[i].exec)
			return t->name[i].tsc;
	return 0;
}
