// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tool.h"
#include "perf_maps.h"
#include "userlib/memory_path.h"
#include "userlib/perf_map.h"

#define MOST_PIDS	(4u << 20)	/* PID_MAX_LIMIT of <linux/threads.h> */

#define DESCENDS	1	/* from the command, or is it */
#define COUNTED		2	/* as lost or as read: a later word of its map is no news */

struct maker {			/* of code */
	pid_t pid;
	bool given;		/* by perf_maps_next() */
	bool read;
};

struct perf_maps {
	const char *dir;
	int inotify;
	unsigned long lost;
	uint8_t *is;		/* by process; zero pages, but where the numbers are used */
	struct maker *maker;	/* those that have not ended */
	size_t count;
	pid_t *came;		/* whose maps have come */
	size_t nr_came;
};

struct perf_maps *perf_maps_open(const char *dir, pid_t command)
{
	struct perf_maps *m = xcalloc(1, sizeof(*m));
	int err;

	m->dir = dir;
	m->inotify = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (m->inotify >= 0 && inotify_add_watch(m->inotify, dir, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0) {
		m->is = xcalloc(MOST_PIDS, sizeof(*m->is));
		m->is[command] = DESCENDS;
		return m;
	}
	err = errno;
	perf_maps_close(m);
	errno = err;
	return NULL;
}

void perf_maps_close(struct perf_maps *m)
{
	if (!m)
		return;
	if (m->inotify >= 0)
		close(m->inotify);
	free(m->is);
	free(m->maker);
	free(m->came);
	free(m);
}

int perf_maps_fd(const struct perf_maps *m)
{
	return m->inotify;
}

static bool is_known(pid_t pid)
{
	return pid > 0 && (unsigned int)pid < MOST_PIDS;
}

static size_t find(const struct perf_maps *m, pid_t pid)
{
	size_t i;

	for (i = 0; i < m->count && m->maker[i].pid != pid; i++)
		;
	return i;
}

static void add(struct perf_maps *m, pid_t pid)
{
	if (!is_known(pid) || m->is[pid] != DESCENDS || find(m, pid) < m->count)
		return;
	list_grow(m->maker, m->count);
	m->maker[m->count++] = (struct maker){ .pid = pid };
}

static void remove_maker(struct perf_maps *m, size_t i)
{
	m->lost += !m->maker[i].read;
	m->is[m->maker[i].pid] |= COUNTED;
	m->maker[i] = m->maker[--m->count];
}

/* The process of a map, by the name of the file. 0: it is none. */
static pid_t process_of(const char *name)
{
	int pid = 0, at = 0;

	return sscanf(name, PERF_MAP_NAME "%n", &pid, &at) == 1 && at && !name[at] && is_known(pid) ? pid : 0;
}

static void take_name(struct perf_maps *m, const char *name)
{
	pid_t pid = process_of(name);

	if (!pid)
		return;
	list_grow(m->came, m->nr_came);
	m->came[m->nr_came++] = pid;
}

/* More files came than the kernel notes. */
static void take_all(struct perf_maps *m)
{
	DIR *d = opendir(m->dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		take_name(m, e->d_name);
	if (d)
		closedir(d);
}

void perf_maps_look(struct perf_maps *m)
{
	char buf[16 * (sizeof(struct inotify_event) + NAME_MAX + 1)] __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t got;

	while ((got = read(m->inotify, buf, sizeof(buf))) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct inotify_event *e = (const void *)(buf + at);

			if (e->mask & IN_Q_OVERFLOW)
				take_all(m);
			else if (e->len)
				take_name(m, e->name);
			at += sizeof(*e) + e->len;
		}
	}
}

static bool same_owner(const char *map, const char *process)
{
	struct stat file, owner;

	/* One that has ended may have had it. */
	return !lstat(map, &file) && S_ISREG(file.st_mode) && (stat(process, &owner) || file.st_uid == owner.st_uid);
}

/* Anybody can make a file in /tmp: only the process's own counts. */
static bool has_map(const struct perf_maps *m, pid_t pid)
{
	char map[PATH_MAX], process[32];

	snprintf(map, sizeof(map), "%s/" PERF_MAP_NAME, m->dir, pid);
	snprintf(process, sizeof(process), "/proc/%d", pid);
	return same_owner(map, process);
}

void perf_maps_forked(struct perf_maps *m, pid_t parent, pid_t pid)
{
	size_t i;

	if (!is_known(parent) || !is_known(pid))
		return;
	/* The number was another process's, whose exit perf has lost. */
	i = find(m, pid);
	if (i < m->count)
		remove_maker(m, i);
	m->is[pid] = m->is[parent] & DESCENDS;
}

/* Memory that is in no file, as perf names it: "[stack]", or "[stack:TID]". */
static bool is_made(const char *path)
{
	return !strcmp(path, "//anon") || !strcmp(path, "[heap]") || !strncmp(path, "[stack", 6) || is_memory_path(path);
}

/* An earlier process with the same number may have left a map: then that of this one does not come. */
void perf_maps_mapped(struct perf_maps *m, pid_t pid, const char *path)
{
	if (is_known(pid) && m->is[pid] == DESCENDS && is_made(path) && has_map(m, pid))
		add(m, pid);
}

void perf_maps_exited(struct perf_maps *m, pid_t pid)
{
	size_t i = find(m, pid);

	if (i < m->count)
		remove_maker(m, i);
}

/* The code that the program before has made is gone. */
void perf_maps_execed(struct perf_maps *m, pid_t pid)
{
	size_t i = find(m, pid);

	if (i < m->count)
		remove_maker(m, i);
	if (is_known(pid))
		m->is[pid] &= DESCENDS;
}

static void take_came(struct perf_maps *m)
{
	for (size_t i = 0; i < m->nr_came; i++)
		if (has_map(m, m->came[i]))
			add(m, m->came[i]);
	free(m->came);
	m->came = NULL;
	m->nr_came = 0;
}

pid_t perf_maps_next(struct perf_maps *m)
{
	take_came(m);
	for (size_t i = 0; i < m->count; i++)
		if (!m->maker[i].given) {
			m->maker[i].given = true;
			return m->maker[i].pid;
		}
	return 0;
}

/* A zombie has no memory. */
static bool has_ended(pid_t pid)
{
	char path[32], text[128], *state;
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return true;
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = 0;
	/* Behind the name, in which may be anything. */
	state = strrchr(text, ')');
	return !state || state[1] != ' ' || state[2] == 'Z' || state[2] == 'X';
}

void perf_maps_failed(struct perf_maps *m, pid_t pid)
{
	size_t i = find(m, pid);

	/* Else its exit is to be reported; if it is not by the end of the recording, the process is read then. */
	if (i < m->count && has_ended(pid))
		remove_maker(m, i);
}

void perf_maps_read(struct perf_maps *m, pid_t pid)
{
	size_t i = find(m, pid);

	if (i < m->count)
		m->maker[i].read = true;
}

unsigned long perf_maps_lost(const struct perf_maps *m)
{
	return m->lost;
}
