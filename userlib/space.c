// SPDX-License-Identifier: LGPL-2.1-or-later
/* Reads address spaces from the device and from /proc, and writes them. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <x86intrin.h>

#include "deleted_path.h"
#include "internal.h"
#include "jit.h"
#include "recording_dir.h"
#include "space.h"

#define VDSO_LIMIT	(1u << 20)
#define LINE_MAX_LEN	(PATH_MAX + 128)
#define MAX_EXECS	10	/* while a process is read */

static void free_mappings(struct space *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->map[i].line);
	free(s->map);
	s->map = NULL;
	s->count = 0;
}

void space_free(struct space *s)
{
	free_mappings(s);
	free(s->vdso);
	free(s->jit);
	free(s);
}

int space_add_mapping(struct space *s, const char *line, const struct file_seen *seen)
{
	struct space_map *grown;

	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->map[i].line, line)) {
			file_seen_again(&s->map[i].seen, seen);
			return 0;
		}
	grown = realloc(s->map, (s->count + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	s->map = grown;
	grown[s->count] = (struct space_map){ strdup(line), *seen };
	return grown[s->count].line ? (s->count++, 0) : -1;
}

int space_add_reported(struct space *s, const struct reported_map *m)
{
	char line[LINE_MAX_LEN];

	if (strchr(m->path, '\n'))
		return 0;
	snprintf(line, sizeof(line), "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " %02x:%02x %" PRIu64 " %s", m->start, m->end,
		 m->offset, m->number.major, m->number.minor, m->number.inode, m->path);
	return space_add_mapping(s, line, &m->seen);
}

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

uint64_t spaces_kept_from(uint64_t *end, size_t count)
{
	if (count <= SPACES_ENDED_MAX)
		return 0;
	qsort(end, count, sizeof(*end), by_time);
	return end[count - SPACES_ENDED_MAX / 2];
}

int space_copy(struct space *to, const struct space *from)
{
	memcpy(to->comm, from->comm, sizeof(to->comm));
	memcpy(to->exe, from->exe, sizeof(to->exe));
	to->vdso_start = from->vdso_start;
	to->vdso_len = from->vdso_len;
	to->map = calloc(from->count + 1, sizeof(*to->map));
	if (!to->map)
		return -1;
	for (; to->count < from->count; to->count++) {
		to->map[to->count] = (struct space_map){ strdup(from->map[to->count].line), from->map[to->count].seen };
		if (!to->map[to->count].line)
			return -1;
	}
	return 0;
}

/* The path in a line of maps, which may contain blanks. NULL: no file that can be opened. */
static const char *mapped_file(const char *line)
{
	const char *path = strchr(line, '/');

	/* A deleted file cannot be opened by its name. */
	return path && !path[deleted_path_length(path)] ? path : NULL;
}

/* Data in a file changes: it is of no matter. Nor is a dump of code one of which anything is executed. */
static bool is_code(const char *line)
{
	const char *perms = strchr(line, ' '), *path = mapped_file(line);

	return perms && path && perms + 4 < path && perms[3] == 'x' && !jit_is_dump(path);
}

/* Read all mappings of files, executable or not: a decoder needs the whole ELF image. */
static int read_maps(struct space *s, const char *proc)
{
	char path[64], *line = NULL;
	size_t size = 0;
	ssize_t len;
	FILE *f;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/maps", proc);
	f = fopen(path, "re");
	if (!f)
		return -1;
	while (!ret && (len = getline(&line, &size, f)) > 0) {
		struct file_seen seen = { 0 };
		uint64_t start, end;
		const char *name;

		if (line[len - 1] == '\n')
			line[len - 1] = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) != 2)
			continue;
		name = strpbrk(line, "/[");
		if (name && *name == '[') {
			/* The kernel runs probed instructions in [uprobes], which cannot be read. */
			if (strcmp(name, "[vdso]") && strcmp(name, "[uprobes]"))
				continue;
			if (name[1] == 'v') {
				s->vdso_start = start;
				s->vdso_len = end - start;
			}
		} else if (!name) {
			continue;
		} else if (is_code(line)) {
			seen = file_see(name, 0, 0);
		}
		ret = space_add_mapping(s, line, &seen);
	}
	free(line);
	fclose(f);
	return ret;
}

static int read_vdso(struct space *s, const char *proc)
{
	char path[64];
	ssize_t got;
	int fd;

	if (!s->vdso_len || s->vdso_len > VDSO_LIMIT)
		return 0;
	s->vdso = malloc(s->vdso_len);
	if (!s->vdso)
		return -1;
	snprintf(path, sizeof(path), "%s/mem", proc);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = fd < 0 ? -1 : pread(fd, s->vdso, s->vdso_len, s->vdso_start);
	if (fd >= 0)
		close(fd);
	if (got != (ssize_t)s->vdso_len) {
		/* A decoder then reports code in the vdso as missing. */
		free(s->vdso);
		s->vdso = NULL;
	}
	return 0;
}

static void read_names(struct space *s, const char *proc)
{
	char path[64];
	ssize_t len;
	FILE *f;

	/* The process's, not that of a thread. */
	snprintf(path, sizeof(path), "/proc/%d/comm", s->pid);
	f = fopen(path, "re");
	if (f) {
		if (fgets(s->comm, sizeof(s->comm), f))
			s->comm[strcspn(s->comm, "\n")] = 0;
		fclose(f);
	}
	snprintf(path, sizeof(path), "%s/exe", proc);
	len = readlink(path, s->exe, sizeof(s->exe) - 1);
	s->exe[len < 0 ? 0 : len] = 0;
	/* Behind a newline would be another line of the file that the name is in. */
	s->exe[strcspn(s->exe, "\n")] = 0;
}

static struct space *read_once(pid_t pid, const struct auxtrace_task *task)
{
	struct space *s = calloc(1, sizeof(*s));
	char proc[32];

	if (!s) {
		fail(ENOMEM, "no memory for process %d", pid);
		return NULL;
	}
	/* By the thread that has them. */
	snprintf(proc, sizeof(proc), "/proc/%d", task->pid ? (pid_t)task->pid : pid);
	s->pid = pid;
	s->cr3 = task->out_context;
	s->cr3_mask = task->out_context_mask;
	s->seen_tsc = s->begin_tsc = __rdtsc();
	read_names(s, proc);
	if (read_maps(s, proc) || read_vdso(s, proc)) {
		/* To the caller EACCES means that the device refuses to trace. */
		fail(errno == EACCES ? EPERM : errno, "cannot read the mappings of process %d: %s%s", pid,
		     strerror(errno), errno == EACCES ? "; it needs CAP_SYS_PTRACE" : "");
		space_free(s);
		return NULL;
	}
	s->jit = jit_of_map(pid, proc, &s->jit_size);
	s->read_tsc = __rdtsc();
	return s;
}

/*
 * A caller without a capability is not told page tables, nor does its trace, which is of user code only,
 * have any. So its number stands for those of a process: no CR3 has the low bit set. 0, or -1 with ESRCH.
 */
static int number_instead(struct auxtrace_task *task)
{
	pid_t pid = task->pid ?: (unsigned int)getpid();

	if (kill(pid, 0) && errno == ESRCH)
		return -1;
	task->out_context = (uint64_t)pid << 12 | 1;
	task->out_context_mask = UINT64_MAX;
	return 0;
}

static bool has_number_instead(const struct auxtrace_session *session)
{
	return session_is_own_only(session) && !(session->setup.flags & AUXTRACE_SETUP_KERNEL);
}

/* Not auxtrace_task(): if this fails, the caller has not, so its message stays. */
static int ask_again(const struct auxtrace_session *session, pid_t pid, struct auxtrace_task *task)
{
	*task = (struct auxtrace_task){ .size = sizeof(*task), .pid = pid };
	if (has_number_instead(session))
		return number_instead(task);
	return device_ioctl(session->fd, AUXTRACE_IOC_TASK, task);
}

/*
 * Ask for the threads of process @pid until one has an address space. The main thread has none once
 * it has exited, while the others go on. ENXIO: none has one. Another errno: they cannot be listed.
 */
static int ask_threads(const struct auxtrace_session *session, pid_t pid, struct auxtrace_task *task)
{
	struct dirent *e;
	char path[32];
	DIR *dir;
	int ret = -1, err;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir) {
		/* The process has ended since. */
		if (errno == ENOENT)
			errno = ENXIO;
		return -1;
	}
	while (ret && (errno = 0, e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		/* Not "." and ".."; and the main thread has been asked for. */
		if (tid && tid != pid)
			ret = ask_again(session, tid, task);
	}
	err = errno ?: ENXIO;
	closedir(dir);
	if (ret)
		errno = err;
	return ret;
}

/* As auxtrace_task(). @task->pid is then the thread that was asked for. */
static int task_of_process(struct auxtrace_session *session, pid_t pid, struct auxtrace_task *task)
{
	if (has_number_instead(session)) {
		*task = (struct auxtrace_task){ .size = sizeof(*task), .pid = pid };
		return number_instead(task) ? fail(ESRCH, "there is no process %d", pid) : 0;
	}
	if (!auxtrace_task(session, pid, task))
		return 0;
	if (errno != ENXIO)
		return -1;
	if (!ask_threads(session, pid, task)) {
		fail_forget();
		return 0;
	}
	if (errno != ENXIO)
		return fail(errno, "cannot read the threads of process %d: %s", pid, strerror(errno));
	return -1;
}

/*
 * The page tables and the mappings are of one address space: if an exec came in between, or the
 * thread's exit, again.
 */
struct space *space_read(struct auxtrace_session *session, pid_t pid)
{
	for (int left = MAX_EXECS;; left--) {
		struct auxtrace_task before, after;
		struct space *s;

		if (task_of_process(session, pid, &before))
			return NULL;
		s = read_once(pid ?: getpid(), &before);
		if (!s || !left)
			return s;
		/* Of a thread that has exited meanwhile, /proc has no mappings, or the first ones. */
		s->cut = ask_again(session, before.pid, &after);
		if (s->cut ? s->count : after.out_context == before.out_context)
			return s;
		space_free(s);
	}
}

bool space_has_gone(const struct auxtrace_session *session, const struct space *s)
{
	struct auxtrace_task task;

	if (ask_again(session, s->pid, &task) && (errno != ENXIO || ask_threads(session, s->pid, &task)))
		return errno == ESRCH || errno == ENXIO;
	return task.out_context != s->cr3;
}

/* What a line of maps is when the recording is written. */
struct line_now {
	const char *path;	/* NULL: not a file that can be opened */
	bool there;		/* a file is at the path: */
	struct stat st;
	bool other;		/* not the one that was mapped for execution */
};

static void look_at(const struct space_map *map, struct line_now *line, struct files_now *now)
{
	struct file_number number = { 0 };

	if (!line->there || !is_code(map->line))
		return;
	sscanf(map->line, "%*x-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64, &number.major, &number.minor, &number.inode);
	line->other = file_is_other(now, line->path, &line->st, number, &map->seen);
}

/* As many as the space has, to be freed by the caller. NULL without memory. */
static struct line_now *look_at_all(const struct space *s, struct files_now *now)
{
	struct line_now *lines = calloc(s->count + 1, sizeof(*lines));

	for (size_t i = 0; lines && i < s->count; i++) {
		struct line_now *line = &lines[i];
		const char *path = mapped_file(s->map[i].line);

		/* All segments of a file are of the same moment. */
		if (i && path && lines[i - 1].path && !strcmp(path, lines[i - 1].path)) {
			*line = lines[i - 1];
			line->other = false;
		} else if (path) {
			line->there = !stat(path, &line->st);
		}
		line->path = path;
		look_at(&s->map[i], line, now);
	}
	return lines;
}

/* Is the code that was mapped from @path that of another file, all of it? */
static bool is_replaced(const struct space *s, const struct line_now *lines, const char *path)
{
	bool replaced = false;

	for (size_t i = 0; i < s->count; i++) {
		if (!lines[i].path || strcmp(lines[i].path, path) || !is_code(s->map[i].line))
			continue;
		if (!lines[i].other)
			return false;
		replaced = true;
	}
	return replaced;
}

/* Write sizes and times, by which a decoder notices that a file is not the one that ran. */
static void write_files(const struct space *s, const struct line_now *lines, FILE *f)
{
	const char *last = "";

	for (size_t i = 0; i < s->count; i++) {
		const char *path = lines[i].path;
		const struct stat *st = &lines[i].st;

		if (!path || !strcmp(path, last) || !lines[i].there || is_replaced(s, lines, path))
			continue;
		last = path;
		fprintf(f, "file %" PRIu64 " %" PRIu64 ".%09ld %s\n", (uint64_t)st->st_size,
			(uint64_t)st->st_mtim.tv_sec, st->st_mtim.tv_nsec, path);
	}
}

/* Does the kernel already say that the file is gone? */
static bool has_deleted(const struct space *s, const char *line)
{
	size_t len = strlen(line);

	for (size_t i = 0; i < s->count; i++)
		if (!strncmp(s->map[i].line, line, len) && !strcmp(s->map[i].line + len, DELETED))
			return true;
	return false;
}

/* To decoders a file that was replaced is what it is to the kernel. */
static void write_maps(const struct space *s, const struct line_now *lines, FILE *f)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *line = s->map[i].line;

		if (!lines[i].other)
			fprintf(f, "map %s\n", line);
		else if (!has_deleted(s, line))
			fprintf(f, "map %s" DELETED "\n", line);
	}
}

/* The dump of code that the process wrote itself, which it has mapped; NULL: none. One that was forked has its parent's. */
static const char *own_dump(const struct space *s)
{
	if (!s->cr3_mask)
		return NULL;
	for (size_t i = 0; i < s->count; i++) {
		const char *path = mapped_file(s->map[i].line);

		if (path && jit_is_dump(path))
			return path;
	}
	return NULL;
}

/* Write the code that the process made, if there is any, to the file @name. */
static int write_jit(const struct space *s, const char *name, int dirfd)
{
	const char *dump = own_dump(s);
	FILE *f;

	if (dump)
		return jit_copy_dump(dirfd, name, dump);
	if (!s->jit)
		return 0;
	f = recording_file(dirfd, name);
	if (!f)
		return -1;
	fwrite(s->jit, 1, s->jit_size, f);
	return recording_file_close(f, name);
}

int space_write(const struct space *s, const char *suffix, const char *vdso, struct files_now *now, int dirfd)
{
	struct line_now *lines;
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "task.%s", suffix);
	f = recording_file(dirfd, name);
	if (!f)
		return -1;
	lines = look_at_all(s, now);
	if (!lines) {
		fclose(f);
		return fail(ENOMEM, "no memory for process %d", s->pid);
	}
	fprintf(f, "pid %d\ncomm %s\nexe %s\n", s->pid, s->comm, s->exe);
	if (s->cr3_mask)
		fprintf(f, "cr3 %#" PRIx64 "\ncr3_mask %#" PRIx64 "\n", s->cr3, s->cr3_mask);
	else
		fprintf(f, "cr3 unknown\n");
	fprintf(f, "begin_tsc %" PRIu64 "\nend_tsc %" PRIu64 "\n", s->begin_tsc, s->end_tsc);
	if (vdso)
		fprintf(f, "vdso %#" PRIx64 " %s\n", s->vdso_start, vdso);
	if (s->jit || own_dump(s))
		fprintf(f, "jit jit.%s\n", suffix);
	write_files(s, lines, f);
	write_maps(s, lines, f);
	free(lines);
	if (recording_file_close(f, name))
		return -1;
	snprintf(name, sizeof(name), "jit.%s", suffix);
	return write_jit(s, name, dirfd);
}

int space_write_vdso(const struct space *s, const char *name, int dirfd)
{
	FILE *f = recording_file(dirfd, name);

	if (!f)
		return -1;
	fwrite(s->vdso, 1, s->vdso_len, f);
	return recording_file_close(f, name);
}
