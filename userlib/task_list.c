// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Address spaces: what a decoder needs to find user code by CR3 and address.
 *
 * One entry is one address space. A process that execs has two; a thread and a vfork
 * child share their parent's. The kernel may give the page-table root of a process that
 * is gone to a new one, so each entry has the times when it began and ended. If these overlap,
 * the one that began later has it: the kernel reports an exit after it has freed the root.
 *
 * An entry keeps every mapping that was ever seen in it. If files were mapped one after
 * the other at the same address, it has both, and a decoder cannot tell which one ran.
 */
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

#include "internal.h"
#include "jit.h"
#include "recording_dir.h"
#include "task_list.h"

#define VDSO_LIMIT	(1u << 20)
#define MAX_EXECS	10	/* while a process is read */

#define LINE_MAX_LEN	(PATH_MAX + 128)

struct space {
	struct space *next;
	pid_t pid;
	char comm[64];
	char exe[4096];
	uint64_t cr3, cr3_mask;
	uint64_t seen_tsc;	/* when it was first read: when that began, */
	uint64_t read_tsc;	/* and when it had been done */
	uint64_t begin_tsc, end_tsc;	/* end_tsc 0: it has not ended, as far as we know */
	bool gone;		/* by an exec; or another process has its page-table root, or its number */
	uint64_t vdso_start;
	size_t vdso_len;
	uint8_t *vdso;
	uint8_t *jit;		/* code that it made, by its map of names; NULL: there is none */
	size_t jit_size;
	size_t count;
	char **map;		/* lines of /proc/PID/maps, without newlines */
};

struct task_list {
	struct space *head, **tail;
};

struct task_list *task_list_new(void)
{
	struct task_list *list = calloc(1, sizeof(*list));

	if (list)
		list->tail = &list->head;
	return list;
}

static void free_mappings(struct space *s)
{
	for (size_t i = 0; i < s->count; i++)
		free(s->map[i]);
	free(s->map);
	s->map = NULL;
	s->count = 0;
}

static void free_space(struct space *s)
{
	free_mappings(s);
	free(s->vdso);
	free(s->jit);
	free(s);
}

void task_list_free(struct task_list *list)
{
	if (!list)
		return;
	while (list->head) {
		struct space *s = list->head;

		list->head = s->next;
		free_space(s);
	}
	free(list);
}

static int add_mapping(struct space *s, const char *line)
{
	char **grown;

	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->map[i], line))
			return 0;
	grown = realloc(s->map, (s->count + 1) * sizeof(*grown));
	if (!grown)
		return -1;
	s->map = grown;
	grown[s->count] = strdup(line);
	return grown[s->count] ? (s->count++, 0) : -1;
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
		}
		ret = add_mapping(s, line);
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
		free_space(s);
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
static struct space *read_space(struct auxtrace_session *session, pid_t pid)
{
	for (int left = MAX_EXECS;; left--) {
		struct auxtrace_task before, after;
		struct space *s;

		if (task_of_process(session, pid, &before))
			return NULL;
		s = read_once(pid ?: getpid(), &before);
		if (!s || !left)
			return s;
		/* Of a thread that has exited meanwhile, /proc has no mappings. */
		if (ask_again(session, before.pid, &after) ? s->count : after.out_context == before.out_context)
			return s;
		free_space(s);
	}
}

/* An entry that was read in the middle of an exec has no vdso yet. */
static bool same_space(const struct space *old, const struct space *fresh)
{
	bool same_vdso = old->vdso_start ? old->vdso_start == fresh->vdso_start :
					   old->pid == fresh->pid;

	return old->cr3 == fresh->cr3 && same_vdso && !strcmp(old->exe, fresh->exe);
}

/*
 * Does process @s->pid have the page tables of @s no more? If the device cannot say, it is taken
 * to have them.
 */
static bool has_gone(const struct auxtrace_session *session, const struct space *s)
{
	struct auxtrace_task task;

	if (ask_again(session, s->pid, &task) && (errno != ENXIO || ask_threads(session, s->pid, &task)))
		return errno == ESRCH || errno == ENXIO;
	return task.out_context != s->cr3;
}

/*
 * Is @fresh the address space of @old? A child that fork made has the program and the vdso of
 * its parent's other children, and may get the page-table root of one that is gone. So the
 * entry of another process is this one only if that process still has it.
 */
static bool is_again(const struct auxtrace_session *session, struct space *old,
		     const struct space *fresh)
{
	if (old->gone || !same_space(old, fresh))
		return false;
	if (old->pid == fresh->pid || !has_gone(session, old))
		return true;
	old->gone = true;
	if (!old->end_tsc)
		old->end_tsc = fresh->begin_tsc;
	return false;
}

/* The newest entry of process @pid that had been read before @time, or NULL. 0: the caller. */
static struct space *newest_before(const struct task_list *list, pid_t pid, uint64_t time)
{
	struct space *found = NULL;

	if (!pid)
		pid = getpid();
	for (struct space *s = list->head; s; s = s->next)
		if (s->pid == pid && s->read_tsc < time)
			found = s;
	return found;
}

static struct space *newest_of(const struct task_list *list, pid_t pid)
{
	return newest_before(list, pid, UINT64_MAX);
}

/* @fresh is the same address space, read again: add what is new to @old. */
static int refresh(struct space *old, struct space *fresh)
{
	old->end_tsc = 0;
	if (!old->vdso) {
		old->vdso_start = fresh->vdso_start;
		old->vdso_len = fresh->vdso_len;
		old->vdso = fresh->vdso;
		fresh->vdso = NULL;
	}
	if (fresh->jit) {
		free(old->jit);
		old->jit = fresh->jit;
		old->jit_size = fresh->jit_size;
		fresh->jit = NULL;
	}
	for (size_t i = 0; i < fresh->count; i++)
		if (add_mapping(old, fresh->map[i]))
			return fail(ENOMEM, "no memory for process %d", fresh->pid);
	return 0;
}

/*
 * Begin the address space at @time, when a fork or an exec was reported, if it was not read before
 * that: a reading that an exec comes into the middle of waits for its end. Of several reports the last
 * one made it: after a fork it may be read only after the exec.
 */
static void begin_at(struct space *s, uint64_t time)
{
	if (time && time <= s->read_tsc && (s->begin_tsc == s->seen_tsc || time > s->begin_tsc))
		s->begin_tsc = time;
}

static int add(struct task_list *list, struct auxtrace_session *session, pid_t pid, uint64_t time,
	       enum task_cause cause)
{
	struct space *fresh = read_space(session, pid), *before;
	int ret;

	if (!fresh)
		return -1;
	begin_at(fresh, time);
	for (struct space *s = list->head; s; s = s->next)
		if (is_again(session, s, fresh)) {
			if (s->pid == fresh->pid)
				begin_at(s, time);
			ret = refresh(s, fresh);
			free_space(fresh);
			return ret;
		}
	/* An exec ended the process's earlier address space, unless that was an earlier process's. */
	before = newest_of(list, fresh->pid);
	if (before && !before->gone && (cause == TASK_EXEC || !before->end_tsc))
		before->end_tsc = fresh->begin_tsc;
	*list->tail = fresh;
	list->tail = &fresh->next;
	return 0;
}

int task_list_end(struct task_list *list, pid_t pid, uint64_t time)
{
	struct space *s = newest_of(list, pid);

	if (!s || s->gone)
		return fail(ENOENT, "process %d is not in the recording", pid);
	if (!time)
		time = __rdtsc();
	/*
	 * Exits of threads are reported in any order. The process ends with the last one, or goes on by
	 * an exec. An exit from before an exec is not of this address space.
	 */
	if (time > s->end_tsc && time >= s->begin_tsc)
		s->end_tsc = time;
	return 0;
}

int task_list_add(struct task_list *list, struct auxtrace_session *session, pid_t pid)
{
	return add(list, session, pid, 0, TASK_READ);
}

/*
 * What was read of @pid before the fork or exec at @time is another address space, even if a later
 * process has the same number and page-table root. An exec proves that the process was there until
 * then: an end that was reported is that of a thread. Before a fork the number was another process's,
 * whose end was reported, or lost.
 */
static void end_entry_before(struct task_list *list, pid_t pid, uint64_t time, enum task_cause cause)
{
	struct space *s = newest_before(list, pid, time);

	if (!s || s->gone)
		return;
	s->gone = true;
	if (cause == TASK_EXEC || !s->end_tsc || s->end_tsc > time)
		s->end_tsc = time;
}

int task_list_begin(struct task_list *list, struct auxtrace_session *session, pid_t pid,
		    uint64_t time, enum task_cause cause)
{
	struct space *s;

	/* Nothing was read before 0, which stands for a time that is not known. */
	end_entry_before(list, pid, time, cause);
	if (!add(list, session, pid, time, cause))
		return 0;
	/* The process has ended. If it was read after the fork or the exec, that is when it began. */
	s = newest_of(list, pid);
	if (!s || s->gone)
		return -1;
	if (time) {
		begin_at(s, time);
		return -1;
	}
	s->gone = true;
	if (cause == TASK_EXEC || !s->end_tsc)
		s->end_tsc = __rdtsc();
	return -1;
}

int task_list_map(struct task_list *list, pid_t pid, uint64_t start, uint64_t end, uint64_t offset,
		  const char *path)
{
	struct space *s = newest_of(list, pid);
	char line[LINE_MAX_LEN];

	if (!s || s->gone)
		return fail(ENOENT, "process %d is not in the recording", pid);
	snprintf(line, sizeof(line), "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 %s", start, end,
		 offset, path);
	return add_mapping(s, line) ? fail(ENOMEM, "no memory for process %d", pid) : 0;
}

/* The path in a line of maps, which may contain blanks. NULL: no file that can be opened. */
static const char *mapped_file(const char *line)
{
	const char *path = strchr(line, '/');
	size_t len = path ? strlen(path) : 0;

	/* A deleted file cannot be opened by its name. */
	if (len > 10 && !strcmp(path + len - 10, " (deleted)"))
		return NULL;
	return path;
}

/* Write sizes and times, by which a decoder notices that a file is not the one that ran. */
static void write_files(const struct space *s, FILE *f)
{
	const char *last = "";

	for (size_t i = 0; i < s->count; i++) {
		const char *path = mapped_file(s->map[i]);
		struct stat st;

		if (!path || !strcmp(path, last) || stat(path, &st))
			continue;
		last = path;
		fprintf(f, "file %" PRIu64 " %" PRIu64 ".%09ld %s\n", (uint64_t)st.st_size,
			(uint64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec, path);
	}
}

/* The dump of code that the process wrote itself, which it has mapped; NULL: none. */
static const char *own_dump(const struct space *s)
{
	for (size_t i = 0; i < s->count; i++) {
		const char *path = mapped_file(s->map[i]);

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

static int write_space(const struct space *s, const char *suffix, int dirfd)
{
	char name[64];
	FILE *f;

	snprintf(name, sizeof(name), "task.%s", suffix);
	f = recording_file(dirfd, name);
	if (!f)
		return -1;
	fprintf(f, "pid %d\ncomm %s\nexe %s\ncr3 %#" PRIx64 "\ncr3_mask %#" PRIx64 "\nbegin_tsc %" PRIu64 "\nend_tsc %" PRIu64 "\n",
		s->pid, s->comm, s->exe, s->cr3, s->cr3_mask, s->begin_tsc, s->end_tsc);
	if (s->vdso)
		fprintf(f, "vdso %#" PRIx64 " vdso.%s\n", s->vdso_start, suffix);
	if (s->jit || own_dump(s))
		fprintf(f, "jit jit.%s\n", suffix);
	write_files(s, f);
	for (size_t i = 0; i < s->count; i++)
		fprintf(f, "map %s\n", s->map[i]);
	if (recording_file_close(f, name))
		return -1;
	snprintf(name, sizeof(name), "jit.%s", suffix);
	if (write_jit(s, name, dirfd))
		return -1;
	if (!s->vdso)
		return 0;
	snprintf(name, sizeof(name), "vdso.%s", suffix);
	f = recording_file(dirfd, name);
	if (!f)
		return -1;
	fwrite(s->vdso, 1, s->vdso_len, f);
	return recording_file_close(f, name);
}

/* Did it begin after @time? One whose begin was not reported may have been there before. */
static bool began_after(const struct space *s, uint64_t time)
{
	return s->begin_tsc != s->seen_tsc && s->begin_tsc > time;
}

int task_list_write(const struct task_list *list, int dirfd, uint64_t until)
{
	for (const struct space *s = list->head; s; s = s->next) {
		unsigned int earlier = 0;
		char suffix[32];

		if (began_after(s, until))
			continue;
		for (const struct space *t = list->head; t != s; t = t->next)
			earlier += t->pid == s->pid;
		if (earlier)
			snprintf(suffix, sizeof(suffix), "%d.%u", s->pid, earlier);
		else
			snprintf(suffix, sizeof(suffix), "%d", s->pid);
		if (write_space(s, suffix, dirfd))
			return -1;
	}
	return 0;
}
