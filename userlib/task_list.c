// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Address spaces: what a decoder needs to find user code by CR3 and address.
 *
 * One entry is one address space. A process that execs has two; a thread and a vfork
 * child share their parent's. The kernel may give the page-table root of a process that
 * is gone to a new one, so each entry has the times when it began and ended. If these overlap,
 * the one that began later has it: the kernel reports an exit after it has freed the root.
 *
 * What perf reports of processes is kept beside that (reported.c). It is written where nothing was read: of a process that
 * had ended by then, or of a program that it no longer ran. Nobody knows the page tables then; a decoder
 * finds such code by the number of the process that runs.
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
#include "pid_namespace.h"
#include "reported.h"
#include "space.h"
#include "task_list.h"

struct task_list {
	struct space *head, **tail;
	struct reported *reported;
	bool reports;		/* of the processes that the trace names */
	bool newest;
	size_t appended;	/* since ended ones were forgotten last */
	size_t forgotten;
};

struct task_list *task_list_new(bool newest)
{
	struct task_list *list = calloc(1, sizeof(*list));

	if (!list)
		return NULL;
	list->tail = &list->head;
	list->newest = newest;
	list->reports = has_numbers_of_trace();
	list->reported = reported_new(newest);
	if (list->reported)
		return list;
	free(list);
	return NULL;
}

size_t task_list_forgotten(const struct task_list *list)
{
	return list->forgotten + reported_forgotten(list->reported);
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
	reported_free(list->reported);
	free(list);
}

/* One that was read in the middle of an exec has no vdso yet, and one that was read at the exit may have none any more. */
static bool same_space(const struct space *old, const struct space *fresh)
{
	bool same_vdso = old->vdso_start && (fresh->vdso_start || !fresh->cut) ? old->vdso_start == fresh->vdso_start :
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
	if (old->gone || !same_space(old, fresh))
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
	old->cut = old->cut && fresh->cut;
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
		if (space_add_mapping(old, fresh->map[i].line, &fresh->map[i].seen))
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

/* Exits of threads are reported, too: the process may still be there. */
static bool has_ended_before(const struct auxtrace_session *session, const struct space *s, uint64_t time)
{
	return s->end_tsc && s->end_tsc < time && (s->gone || space_has_gone(session, s));
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

/* Without memory it is done later. */
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
	forget_ended_before(list, session, spaces_kept_from(ends, ended));
	free(ends);
}

/* A recorder that overwrites may run for months. Nobody may hold a pointer to an entry but @s across this. */
static void append(struct task_list *list, const struct auxtrace_session *session, struct space *s)
{
	if (list->newest && ++list->appended > SPACES_ENDED_MAX / 2) {
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

/* What was read of @reported's process, and was there at the same time; @cut: only a part was. NULL: nothing. */
static const struct space *reading_of(const struct task_list *list, const struct space *reported, bool cut)
{
	const struct space *s = list->head;

	while (s && (s->pid != reported->pid || s->cut != cut ||
		     (reported->end_tsc && s->begin_tsc >= reported->end_tsc) ||
		     (s->end_tsc && s->end_tsc <= reported->begin_tsc)))
		s = s->next;
	return s;
}

int task_list_end(struct task_list *list, pid_t pid, uint64_t time)
{
	struct space *s = newest_of(list, pid);

	if (!time)
		time = __rdtsc();
	/*
	 * Exits of threads are reported in any order. The process ends with the last one, or goes on by
	 * an exec. An exit from before an exec is not of this address space.
	 */
	if (s && !s->gone && time > s->end_tsc && time >= s->begin_tsc)
		s->end_tsc = time;
	if (reported_end(list->reported, pid ?: getpid(), time) && (!s || s->gone))
		return fail(ENOENT, "process %d is not in the recording", pid);
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

static int begin_read(struct task_list *list, struct auxtrace_session *session, pid_t pid, uint64_t time,
		      enum task_cause cause)
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

int task_list_begin(struct task_list *list, struct auxtrace_session *session, pid_t pid, pid_t parent,
		    uint64_t time, enum task_cause cause)
{
	int ret = begin_read(list, session, pid, time, cause), err = errno;
	const struct space *before;

	if (!pid)
		pid = getpid();
	if (!list->reports || !time)
		return ret;
	if (cause == TASK_EXEC ? reported_exec(list->reported, pid, time) :
	    parent > 0 && reported_fork(list->reported, parent, pid, time, newest_of(list, parent)))
		return fail(ENOMEM, "no memory for process %d", pid);
	/* When it ended is known now. The newest one stays: the next child is a copy of it. */
	before = reported_before(list->reported, pid);
	if (before && reading_of(list, before, false))
		reported_drop_before(list->reported, pid);
	errno = err;
	return ret;
}

int task_list_map(struct task_list *list, pid_t pid, const struct reported_map *m)
{
	int ret = reported_map(list->reported, pid ?: getpid(), m);
	struct space *s = newest_of(list, pid);

	if (s && !s->gone && !s->vdso_start && !strcmp(m->path, "[vdso]")) {
		s->vdso_start = m->start;
		s->vdso_len = m->end - m->start;
		ret = ret < 0 ? ret : 0;
	}
	if (s && !s->gone && *m->path == '/')
		ret = space_add_reported(s, m) || ret < 0 ? -1 : 0;
	if (ret > 0)
		return fail(ENOENT, "process %d is not in the recording", pid);
	return ret ? fail(ENOMEM, "no memory for process %d", pid) : 0;
}

/* Did it begin after @time? One whose begin was not reported may have been there before. */
static bool began_after(const struct space *s, uint64_t time)
{
	return s->begin_tsc != s->seen_tsc && s->begin_tsc > time;
}

/*
 * What was written, and looked at. The kernel has one vdso for programs of 64 bits, and one for those of 32 bits, below
 * 4 GiB.
 */
struct written {
	struct {
		const struct space *of;
		char name[64];
	} vdso[2];
	struct files_now files;
};

static unsigned int kind_of_vdso(const struct space *s)
{
	return !(s->vdso_start >> 32);
}

/* The file with the vdso of @s, in *@name; NULL: it is not known. */
static int write_vdso(const struct space *s, const char *suffix, struct written *written, int dirfd, const char **name)
{
	typeof(written->vdso[0]) *kind = &written->vdso[kind_of_vdso(s)];
	bool same = kind->of && kind->of->vdso_len == s->vdso_len;

	*name = NULL;
	if (!s->vdso && (!s->vdso_start || !same))
		return 0;
	*name = kind->name;
	if (!s->vdso || (same && !memcmp(kind->of->vdso, s->vdso, s->vdso_len)))
		return 0;
	kind->of = s;
	snprintf(kind->name, sizeof(kind->name), "vdso.%s", suffix);
	return space_write_vdso(s, kind->name, dirfd);
}

/* The process has @number others. */
static int write_one(const struct space *s, unsigned int number, struct written *written, int dirfd)
{
	const char *vdso;
	char suffix[32];

	if (number)
		snprintf(suffix, sizeof(suffix), "%d.%u", s->pid, number);
	else
		snprintf(suffix, sizeof(suffix), "%d", s->pid);
	return write_vdso(s, suffix, written, dirfd, &vdso) || space_write(s, suffix, vdso, &written->files, dirfd) ? -1 : 0;
}

/* How many of process @pid were read before @end; NULL: of all. */
static unsigned int count_read(const struct task_list *list, pid_t pid, const struct space *end)
{
	unsigned int count = 0;

	for (const struct space *s = list->head; s != end; s = s->next)
		count += s->pid == pid;
	return count;
}

/* Is what is reported of a process written? Threads of the kernel have no mappings. */
static bool is_written(const struct task_list *list, const struct space *reported, uint64_t until)
{
	return reported->begin_tsc <= until && reported->count && !reading_of(list, reported, false);
}

static int write_reported(const struct task_list *list, uint64_t until, struct written *written, int dirfd)
{
	const struct space *s = NULL;

	while ((s = reported_next(list->reported, s))) {
		const struct space *part = reading_of(list, s, true);
		struct space whole = *s;
		unsigned int number;

		if (!is_written(list, s, until))
			continue;
		number = count_read(list, s->pid, NULL);
		for (const struct space *older = s->older; older; older = older->older)
			number += older->pid == s->pid;
		if (part) {
			whole.cr3 = part->cr3;
			whole.cr3_mask = part->cr3_mask;
		}
		if (write_one(&whole, number, written, dirfd))
			return -1;
	}
	return 0;
}

/* Is something reported that stands for this, of which only a part could be read? */
static bool is_replaced(const struct task_list *list, const struct space *part, uint64_t until)
{
	const struct space *s = NULL;

	while (part->cut && (s = reported_next(list->reported, s)))
		if (s->pid == part->pid && is_written(list, s, until) && reading_of(list, s, true) == part)
			return true;
	return false;
}

int task_list_write(const struct task_list *list, int dirfd, uint64_t until)
{
	struct written written = { 0 };

	for (const struct space *s = list->head; s; s = s->next)
		if (!began_after(s, until) && !is_replaced(list, s, until) && write_one(s, count_read(list, s->pid, s), &written, dirfd))
			return -1;
	return write_reported(list, until, &written, dirfd);
}
