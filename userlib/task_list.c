// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Address spaces: what a decoder needs to find user code by CR3 and address.
 *
 * One entry is one address space. A process that execs has two; a thread and a vfork
 * child share their parent's. The kernel may give the page-table root of a process that
 * is gone to a new one, so each entry has the times when it began and ended. If these overlap,
 * the one that began later has it: the kernel reports an exit after it has freed the root.
 *
 * Of a process that ended before it could be read, nobody knows the page tables. Its entries have no
 * CR3 (cr3_mask 0) and the mappings that were reported; a decoder finds them by the process's number.
 *
 * An entry keeps every mapping that was ever seen in it. If files were mapped one after
 * the other at the same address, it has both, and a decoder cannot tell which one ran.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "internal.h"
#include "space.h"
#include "task_list.h"

#define LINE_MAX_LEN	(PATH_MAX + 128)
#define COMM_LEN	16	/* TASK_COMM_LEN of <linux/sched.h> */

#define ENDED_MAX	4096	/* entries of processes that have ended, where the newest suffice */

struct task_list {
	struct space *head, **tail;
	bool newest;
	size_t appended;	/* since ended ones were forgotten last */
	size_t forgotten;
};

struct task_list *task_list_new(bool newest)
{
	struct task_list *list = calloc(1, sizeof(*list));

	if (list) {
		list->tail = &list->head;
		list->newest = newest;
	}
	return list;
}

size_t task_list_forgotten(const struct task_list *list)
{
	return list->forgotten;
}

void task_list_free(struct task_list *list)
{
	if (!list)
		return;
	while (list->head) {
		struct space *s = list->head;

		list->head = s->next;
		space_free(s);
	}
	free(list);
}

/* An entry that was read in the middle of an exec has no vdso yet. */
static bool same_space(const struct space *old, const struct space *fresh)
{
	bool same_vdso = old->vdso_start ? old->vdso_start == fresh->vdso_start :
					   old->pid == fresh->pid;

	return old->cr3 == fresh->cr3 && same_vdso && !strcmp(old->exe, fresh->exe);
}

/*
 * Is @fresh the address space of @old? A child that fork made has the program and the vdso of
 * its parent's other children, and may get the page-table root of one that is gone. So the
 * entry of another process is this one only if that process still has it.
 */
static bool is_again(const struct auxtrace_session *session, struct space *old,
		     const struct space *fresh)
{
	if (old->gone || !old->cr3_mask || !same_space(old, fresh))
		return false;
	if (old->pid == fresh->pid || !space_has_gone(session, old))
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
		if (space_add_mapping(old, fresh->map[i]))
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

static int by_time(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Exits of threads are reported, too: the process may still be there. */
static bool has_ended_before(const struct auxtrace_session *session, const struct space *s, uint64_t time)
{
	return s->end_tsc && s->end_tsc < time && (s->gone || !s->cr3_mask || space_has_gone(session, s));
}

static void forget_ended_before(struct task_list *list, const struct auxtrace_session *session, uint64_t time)
{
	struct space **at = &list->head, *s;

	while ((s = *at)) {
		if (!has_ended_before(session, s, time)) {
			at = &s->next;
			continue;
		}
		*at = s->next;
		space_free(s);
		list->forgotten++;
	}
	list->tail = at;
}

/* If more than ENDED_MAX have ended, keep the half of these that ended last. Without memory it is done later. */
static void forget_ended(struct task_list *list, const struct auxtrace_session *session)
{
	size_t count = 0, ended = 0;
	uint64_t *ends;

	for (const struct space *s = list->head; s; s = s->next)
		count++;
	ends = calloc(count, sizeof(*ends));
	if (!ends)
		return;
	for (const struct space *s = list->head; s; s = s->next)
		if (s->end_tsc)
			ends[ended++] = s->end_tsc;
	if (ended > ENDED_MAX) {
		qsort(ends, ended, sizeof(*ends), by_time);
		forget_ended_before(list, session, ends[ended - ENDED_MAX / 2]);
	}
	free(ends);
}

/* A recorder that overwrites may run for months. Nobody may hold a pointer to an entry but @s across this. */
static void append(struct task_list *list, const struct auxtrace_session *session, struct space *s)
{
	if (list->newest && ++list->appended > ENDED_MAX / 2) {
		list->appended = 0;
		forget_ended(list, session);
	}
	*list->tail = s;
	list->tail = &s->next;
}

static int add(struct task_list *list, struct auxtrace_session *session, pid_t pid, uint64_t time,
	       enum task_cause cause)
{
	struct space *fresh = space_read(session, pid), *before;
	int ret;

	if (!fresh)
		return -1;
	begin_at(fresh, time);
	for (struct space *s = list->head; s; s = s->next)
		if (is_again(session, s, fresh)) {
			if (s->pid == fresh->pid)
				begin_at(s, time);
			ret = refresh(s, fresh);
			space_free(fresh);
			return ret;
		}
	/* An exec ended the process's earlier address space, unless that was an earlier process's. */
	before = newest_of(list, fresh->pid);
	if (before && !before->gone && (cause == TASK_EXEC || !before->end_tsc))
		before->end_tsc = fresh->begin_tsc;
	append(list, session, fresh);
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

/* Does @err of a reading say that there is nothing to read any more? */
static bool has_ended(int err)
{
	return err == ESRCH || err == ENXIO || err == ENOENT;
}

/* A new entry for @pid, which could not be read. It has what @parent has mapped; NULL: nothing yet. */
static struct space *new_reported(pid_t pid, uint64_t time, const struct space *parent)
{
	struct space *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->pid = pid;
	s->begin_tsc = s->read_tsc = time ?: __rdtsc();
	if (parent && space_copy(s, parent)) {
		space_free(s);
		return NULL;
	}
	return s;
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
	if (s && !s->gone && time) {
		begin_at(s, time);
		return -1;
	}
	if (s && !s->gone) {
		s->gone = true;
		if (cause == TASK_EXEC || !s->end_tsc)
			s->end_tsc = __rdtsc();
	}
	if (cause == TASK_EXEC && has_ended(errno)) {
		int err = errno;

		s = new_reported(pid, time, NULL);
		if (!s)
			return fail(ENOMEM, "no memory for process %d", pid);
		append(list, session, s);
		errno = err;
	}
	return -1;
}

/* @s began with an exec that was not reported before it was read: put what the process had before that in front. */
static void insert_before(struct task_list *list, struct space *s, struct space *before)
{
	struct space **at = &list->head;

	while (*at != s)
		at = &(*at)->next;
	before->next = s;
	*at = before;
	s->begin_tsc = s->seen_tsc;
}

int task_list_fork(struct task_list *list, struct auxtrace_session *session, pid_t parent, pid_t pid, uint64_t time)
{
	int ret = task_list_begin(list, session, pid, time, TASK_FORK), err = errno;
	const struct space *had = newest_of(list, parent);
	struct space *s = newest_of(list, pid), *first;
	bool read = s && !s->gone;

	/* If it was read and has no entry, it has its parent's address space, as vfork makes it. */
	if (!had || (ret ? !has_ended(err) : !read))
		return ret;
	if (read && s->vdso_start == had->vdso_start && !strcmp(s->exe, had->exe))
		return ret;
	first = new_reported(pid, time, had);
	if (!first)
		return fail(ENOMEM, "no memory for process %d", pid);
	if (read)
		insert_before(list, s, first);
	else
		append(list, session, first);
	errno = err;
	return ret;
}

/* The kernel has one vdso for programs of 64 bits, and one for those of 32 bits. */
static int take_vdso(const struct task_list *list, struct space *to, uint64_t start, size_t size)
{
	for (const struct space *s = list->head; s; s = s->next)
		if (s->vdso && s->vdso_len == size && !(s->vdso_start >> 32) == !(start >> 32))
			return space_copy_vdso(to, s, start);
	return 0;
}

/* The kernel maps the program first, of which the process has its name (begin_new_exec() in fs/exec.c). */
static void name_by(struct space *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(s->exe, sizeof(s->exe), "%s", path);
	snprintf(s->comm, COMM_LEN, "%s", slash ? slash + 1 : path);
}

int task_list_map(struct task_list *list, pid_t pid, uint64_t start, uint64_t end, uint64_t offset,
		  const char *path)
{
	bool vdso = !strcmp(path, "[vdso]");
	struct space *s = newest_of(list, pid);
	char line[LINE_MAX_LEN];

	if (!s || s->gone)
		return fail(ENOENT, "process %d is not in the recording", pid);
	if (vdso && s->vdso)
		return 0;
	if (!vdso && !*s->exe)
		name_by(s, path);
	snprintf(line, sizeof(line), "%" PRIx64 "-%" PRIx64 " r-xp %08" PRIx64 " 00:00 0 %s", start, end,
		 offset, path);
	if (space_add_mapping(s, line) || (vdso && take_vdso(list, s, start, end - start)))
		return fail(ENOMEM, "no memory for process %d", pid);
	return 0;
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

		if (began_after(s, until) || (!s->cr3_mask && !s->count))
			continue;
		for (const struct space *t = list->head; t != s; t = t->next)
			earlier += t->pid == s->pid;
		if (earlier)
			snprintf(suffix, sizeof(suffix), "%d.%u", s->pid, earlier);
		else
			snprintf(suffix, sizeof(suffix), "%d", s->pid);
		if (space_write(s, suffix, dirfd))
			return -1;
	}
	return 0;
}
