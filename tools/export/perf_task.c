// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "lib/build_id.h"
#include "lib/copy_file.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "perf_record.h"
#include "perf_task.h"
#include "userlib/search.h"

/* PERF_RECORD_MISC_MMAP_BUILD_ID: since Linux 5.12. */
#define MISC_BUILD_ID	(1u << 14)

struct mapping {		/* of code */
	uint64_t start, end, offset;
	uint32_t major, minor, prot, flags;
	uint64_t inode;
	char *path;
};

struct process {		/* an address space */
	uint32_t pid;
	uint64_t begin_tsc;
	char comm[64];
	char vdso[64];		/* a file of the recording; "": none */
	size_t count;
	struct mapping *map;
};

struct thread {
	uint32_t tid, pid;
	char comm[64];		/* "": that of its process */
};

struct perf_tasks {
	const char *dir;
	const struct meta *meta;
	size_t nr_processes;
	struct process *process;	/* by PID; those of the same by time */
	size_t nr_threads, space;
	struct thread *thread;		/* by TID, of those that are not their process's first */
};

/* ---- threads ------------------------------------------------------------ */

static size_t find_thread(const struct perf_tasks *tasks, uint32_t tid)
{
	size_t i;

	find_first(i, tasks->nr_threads, tasks->thread[i].tid >= tid);
	return i;
}

static struct thread *add_thread(struct perf_tasks *tasks, uint32_t pid, uint32_t tid)
{
	size_t i = find_thread(tasks, tid);
	struct thread *t;

	if (i < tasks->nr_threads && tasks->thread[i].tid == tid)
		return &tasks->thread[i];
	if (tasks->nr_threads == tasks->space) {
		tasks->space = tasks->space ? 2 * tasks->space : 64;
		tasks->thread = xrealloc(tasks->thread, tasks->space * sizeof(*tasks->thread));
	}
	t = &tasks->thread[i];
	memmove(t + 1, t, (tasks->nr_threads++ - i) * sizeof(*t));
	*t = (struct thread){ .tid = tid, .pid = pid };
	return t;
}

void perf_tasks_add_thread(struct perf_tasks *tasks, uint32_t pid, uint32_t tid)
{
	/* 0 is the idle task of each CPU, which perf knows. */
	if (tid && tid != PERF_NOBODY && pid != PERF_NOBODY)
		add_thread(tasks, pid, tid);
}

uint32_t perf_tasks_process_of(const struct perf_tasks *tasks, uint32_t tid)
{
	size_t i = find_thread(tasks, tid);

	if (!tid)
		return 0;
	return i < tasks->nr_threads && tasks->thread[i].tid == tid ? tasks->thread[i].pid : PERF_NOBODY;
}

/* ---- reading ------------------------------------------------------------ */

/* A line of /proc/PID/maps. */
static void parse_map(struct process *p, const char *line)
{
	struct mapping m = { .flags = MAP_PRIVATE };
	char perms[8];
	int at = 0;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n", &m.start, &m.end,
		   perms, &m.offset, &m.major, &m.minor, &m.inode, &at) != 7 || !at)
		return;
	/* perf does not look for data. Nobody can read [uprobes]. */
	if (strlen(perms) != 4 || perms[2] != 'x' || (line[at] != '/' && strcmp(line + at, "[vdso]")))
		return;
	m.prot = PROT_EXEC | (perms[0] == 'r' ? PROT_READ : 0) | (perms[1] == 'w' ? PROT_WRITE : 0);
	if (perms[3] == 's')
		m.flags = MAP_SHARED;
	m.path = xstrdup(line + at);
	p->map = xrealloc(p->map, (p->count + 1) * sizeof(*p->map));
	p->map[p->count++] = m;
}

/* "TID PID NAME". The first line of the file is its time. */
static void parse_thread(struct perf_tasks *tasks, const char *line)
{
	uint32_t tid, pid;
	struct thread *t;
	int at = 0;

	if (sscanf(line, "%" SCNu32 " %" SCNu32 " %n", &tid, &pid, &at) != 2 || !at || !tid)
		return;
	t = add_thread(tasks, pid, tid);
	snprintf(t->comm, sizeof(t->comm), "%s", line + at);
}

static void read_threads(struct perf_tasks *tasks)
{
	char path[4600], *line = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/threads", tasks->dir);
	f = fopen(path, "re");
	if (!f && errno != ENOENT)
		die(1, "cannot read %s: %s", path, strerror(errno));
	while (f && getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		parse_thread(tasks, line);
	}
	free(line);
	if (f)
		fclose(f);
}

static void parse_line(struct process *p, char *line)
{
	char *value = strchr(line, ' ');

	if (!value)
		return;
	*value++ = 0;
	if (!strcmp(line, "pid"))
		p->pid = strtoul(value, NULL, 10);
	else if (!strcmp(line, "comm"))
		snprintf(p->comm, sizeof(p->comm), "%s", value);
	else if (!strcmp(line, "begin_tsc"))
		p->begin_tsc = strtoull(value, NULL, 0);
	else if (!strcmp(line, "map"))
		parse_map(p, value);
	else if (!strcmp(line, "vdso"))
		sscanf(value, "%*s %63s", p->vdso);
}

static void read_process(struct perf_tasks *tasks, const char *name)
{
	char path[4600], *line = NULL;
	struct process p = { 0 };
	size_t size = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", tasks->dir, name);
	f = fopen(path, "re");
	if (!f)
		die(1, "cannot read %s: %s", path, strerror(errno));
	while (getline(&line, &size, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		parse_line(&p, line);
	}
	free(line);
	fclose(f);
	if (!p.pid)
		die(1, "%s has no pid", path);
	add_thread(tasks, p.pid, p.pid);
	tasks->process = xrealloc(tasks->process, (tasks->nr_processes + 1) * sizeof(p));
	tasks->process[tasks->nr_processes++] = p;
}

static int by_pid(const void *a, const void *b)
{
	const struct process *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return x->begin_tsc < y->begin_tsc ? -1 : x->begin_tsc > y->begin_tsc;
}

struct perf_tasks *perf_tasks_read(const char *dir, const struct meta *meta)
{
	struct perf_tasks *tasks = xcalloc(1, sizeof(*tasks));
	DIR *d = opendir(dir);
	struct dirent *e;

	if (!d)
		die(1, "cannot read %s: %s", dir, strerror(errno));
	tasks->dir = dir;
	tasks->meta = meta;
	while ((errno = 0, e = readdir(d)))
		if (!strncmp(e->d_name, "task.", 5))
			read_process(tasks, e->d_name);
	if (errno)
		die(1, "cannot list %s: %s", dir, strerror(errno));
	closedir(d);
	read_threads(tasks);
	if (tasks->nr_processes)
		qsort(tasks->process, tasks->nr_processes, sizeof(*tasks->process), by_pid);
	return tasks;
}

void perf_tasks_free(struct perf_tasks *tasks)
{
	for (size_t i = 0; i < tasks->nr_processes; i++) {
		struct process *p = &tasks->process[i];

		for (size_t j = 0; j < p->count; j++)
			free(p->map[j].path);
		free(p->map);
	}
	free(tasks->process);
	free(tasks->thread);
	free(tasks);
}

/* ---- the vdso ----------------------------------------------------------- */

static void make_directory(const char *path)
{
	if (mkdir(path, 0700) && errno != EEXIST)
		die(1, "cannot make the directory %s: %s", path, strerror(errno));
}

/* Put the file @from into the cache, as CACHE/.build-id/XX/REST/vdso. */
static void keep_vdso(const char *cache, const char *from, const struct build_id *id)
{
	char path[4500];
	struct stat st;
	int at;

	make_directory(cache);
	at = snprintf(path, sizeof(path), "%s/.build-id", cache);
	make_directory(path);
	at += snprintf(path + at, sizeof(path) - at, "/%02x", id->bytes[0]);
	make_directory(path);
	path[at++] = '/';
	for (unsigned int i = 1; i < id->size; i++)
		at += snprintf(path + at, sizeof(path) - at, "%02x", id->bytes[i]);
	make_directory(path);
	snprintf(path + at, sizeof(path) - at, "/vdso");
	/* All processes have the same one, or nearly all. */
	if (stat(path, &st))
		copy_file(from, path);
}

static bool find_vdso(const struct perf_tasks *tasks, const struct process *p, const char *cache,
		      struct build_id *id)
{
	struct mapped file;
	char path[4600];
	bool found;

	*id = (struct build_id){ 0 };
	/* A file of the recording, not of another directory. */
	if (!*p->vdso || strchr(p->vdso, '/'))
		return false;
	snprintf(path, sizeof(path), "%s/%s", tasks->dir, p->vdso);
	if (map_file(path, false, &file))
		return false;
	found = build_id_of_elf(file.data, file.size, id);
	unmap_file(&file);
	if (found)
		keep_vdso(cache, path, id);
	return found;
}

/* ---- records ------------------------------------------------------------ */

static void write_mapping(struct perf_data *data, uint32_t pid, const struct mapping *m,
			  const struct build_id *id, uint64_t time)
{
	const struct perf_trailer trailer = { .pid = pid, .tid = pid, .time = time, .id = PERF_ID_SIDEBAND };
	struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		union {
			struct {
				uint32_t major, minor;
				uint64_t inode, generation;
			};
			struct {
				uint8_t size, zero[3], bytes[BUILD_ID_MAX];
			};
		};
		uint32_t prot, flags;
	} body = {
		.pid = pid, .tid = pid,
		.addr = m->start, .len = m->end - m->start, .pgoff = m->offset,
		.prot = m->prot, .flags = m->flags,
	};
	struct perf_record r;

	if (id && id->size) {
		body.size = id->size;
		memcpy(body.bytes, id->bytes, id->size);
	} else {
		id = NULL;
		body.major = m->major;
		body.minor = m->minor;
		body.inode = m->inode;
	}
	perf_record_begin(&r, PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | (id ? MISC_BUILD_ID : 0));
	perf_record_add(&r, &body, sizeof(body));
	perf_record_add_text(&r, m->path);
	perf_record_end(&r, data, &trailer);
}

/*
 * The first address space of a process is taken to have been there from the beginning: it may have been
 * read at the end only. Later ones came with an exec, or with a process of the same number.
 */
static bool write_process(const struct perf_tasks *tasks, const struct process *p, bool first,
			  struct perf_data *data, const char *cache)
{
	uint64_t time = first ? 0 : perf_time(tasks->meta, p->begin_tsc);
	struct build_id vdso;
	bool found = find_vdso(tasks, p, cache, &vdso);

	perf_record_comm(data, p->pid, p->pid, p->comm, !first, time);
	for (size_t i = 0; i < p->count; i++)
		write_mapping(data, p->pid, &p->map[i], *p->map[i].path == '[' ? &vdso : NULL, time);
	return found;
}

/* The name of the process with that number, after its last exec. */
static const char *name_of(const struct perf_tasks *tasks, uint32_t pid)
{
	size_t i;

	find_first(i, tasks->nr_processes, tasks->process[i].pid > pid);
	return i && tasks->process[i - 1].pid == pid ? tasks->process[i - 1].comm : NULL;
}

static void write_thread(const struct perf_tasks *tasks, const struct thread *t, struct perf_data *data)
{
	const char *process = name_of(tasks, t->pid);

	/* The first thread's record is that of the process, unless the process has no code (the kernel's). */
	if (t->tid != t->pid)
		perf_record_comm(data, t->pid, t->tid, *t->comm ? t->comm : process ?: "", false, 0);
	else if (!process && *t->comm)
		perf_record_comm(data, t->pid, t->tid, t->comm, false, 0);
}

bool perf_tasks_write(const struct perf_tasks *tasks, struct perf_data *data, const char *cache)
{
	bool found = false;

	for (size_t i = 0; i < tasks->nr_processes; i++) {
		const struct process *p = &tasks->process[i];

		found |= write_process(tasks, p, !i || p[-1].pid != p->pid, data, cache);
	}
	for (size_t i = 0; i < tasks->nr_threads; i++)
		write_thread(tasks, &tasks->thread[i], data);
	return found;
}
