// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "reported.h"

#define CHAINS		1024
#define COMM_LEN	16	/* TASK_COMM_LEN of <linux/sched.h> */

struct reported {
	struct space *chain[CHAINS];	/* by process (space.older): of each the newest first */
	bool newest;
	size_t ended, forgotten;
};

struct reported *reported_new(bool newest)
{
	struct reported *r = calloc(1, sizeof(*r));

	if (r)
		r->newest = newest;
	return r;
}

static struct space **chain_of(struct reported *r, pid_t pid)
{
	return &r->chain[(unsigned int)pid % CHAINS];
}

/* Where the newest one of @pid is, or the end of its chain. */
static struct space **place_of(struct reported *r, pid_t pid)
{
	struct space **at = chain_of(r, pid);

	while (*at && (*at)->pid != pid)
		at = &(*at)->older;
	return at;
}

/* Where the one before that is, or the end of the chain. */
static struct space **place_before(struct reported *r, pid_t pid)
{
	struct space **at = place_of(r, pid);

	if (!*at)
		return at;
	do
		at = &(*at)->older;
	while (*at && (*at)->pid != pid);
	return at;
}

const struct space *reported_before(struct reported *r, pid_t pid)
{
	return *place_before(r, pid);
}

static void drop(struct reported *r, struct space **at)
{
	struct space *s = *at;

	*at = s->older;
	r->ended -= !!s->end_tsc;
	space_free(s);
}

void reported_drop_before(struct reported *r, pid_t pid)
{
	struct space **at = place_before(r, pid);

	if (*at)
		drop(r, at);
}

void reported_free(struct reported *r)
{
	for (unsigned int i = 0; r && i < CHAINS; i++)
		while (r->chain[i])
			drop(r, &r->chain[i]);
	free(r);
}

const struct space *reported_next(const struct reported *r, const struct space *s)
{
	unsigned int i = s ? (unsigned int)s->pid % CHAINS + 1 : 0;

	if (s && s->older)
		return s->older;
	while (i < CHAINS && !r->chain[i])
		i++;
	return i < CHAINS ? r->chain[i] : NULL;
}

static void forget_ended_before(struct reported *r, uint64_t time)
{
	for (unsigned int i = 0; i < CHAINS; i++) {
		struct space **at = &r->chain[i];

		while (*at)
			if ((*at)->end_tsc && (*at)->end_tsc < time) {
				drop(r, at);
				r->forgotten++;
			} else {
				at = &(*at)->older;
			}
	}
}

/* The areas are overwritten by and by, and the recorder may run for months. Without memory it is done later. */
static void forget_ended(struct reported *r)
{
	uint64_t *ends = calloc(r->ended, sizeof(*ends));
	size_t count = 0;

	if (!ends)
		return;
	for (const struct space *s = reported_next(r, NULL); s; s = reported_next(r, s))
		if (s->end_tsc)
			ends[count++] = s->end_tsc;
	forget_ended_before(r, spaces_kept_from(ends, count));
	free(ends);
}

static void end_at(struct reported *r, struct space *s, uint64_t time)
{
	r->ended += !s->end_tsc;
	if (time > s->end_tsc)
		s->end_tsc = time;
}

/* The reports of two CPUs may come in the other order: of a fork, and of the child's exec. */
static void append(struct reported *r, struct space *s, bool exec)
{
	struct space **at, *last;

	if (r->newest && r->ended > SPACES_ENDED_MAX)
		forget_ended(r);
	at = place_of(r, s->pid);
	last = *at;
	if (last && last->begin_tsc > s->begin_tsc) {
		end_at(r, s, last->begin_tsc);
		at = &last->older;
	} else {
		/* An exec proves that the process was there until then: what has exited is a thread. */
		if (last && (exec || !last->end_tsc))
			end_at(r, last, s->begin_tsc);
		at = chain_of(r, s->pid);
	}
	s->older = *at;
	*at = s;
}

static struct space *new_space(pid_t pid, uint64_t time)
{
	struct space *s = calloc(1, sizeof(*s));

	if (s) {
		s->pid = pid;
		s->begin_tsc = time;
	}
	return s;
}

int reported_fork(struct reported *r, pid_t parent, pid_t pid, uint64_t time, const struct space *had)
{
	const struct space *from = *place_of(r, parent) ?: had;
	struct space *s = new_space(pid, time);

	if (!s || (from && space_copy(s, from))) {
		if (s)
			space_free(s);
		return -1;
	}
	append(r, s, false);
	return 0;
}

int reported_exec(struct reported *r, pid_t pid, uint64_t time)
{
	struct space *s = new_space(pid, time);

	if (!s)
		return -1;
	append(r, s, true);
	return 0;
}

int reported_end(struct reported *r, pid_t pid, uint64_t time)
{
	struct space *s = *place_of(r, pid);

	/* An exit from before an exec is not of this address space. */
	if (s && time >= s->begin_tsc)
		end_at(r, s, time);
	return !s;
}

/* The kernel maps the program first. A script's name, and one that is given by prctl(2), is in the COMM records. */
static void name_by(struct space *s, const char *path)
{
	const char *slash = strrchr(path, '/');

	snprintf(s->exe, sizeof(s->exe), "%.*s", (int)sizeof(s->exe) - 1, path);
	snprintf(s->comm, COMM_LEN, "%.*s", COMM_LEN - 1, slash ? slash + 1 : path);
}

int reported_map(struct reported *r, pid_t pid, const struct reported_map *m)
{
	struct space *s = *place_of(r, pid);

	if (!s)
		return 1;
	if (!strcmp(m->path, "[vdso]")) {
		s->vdso_start = m->start;
		s->vdso_len = m->end - m->start;
	} else if (!*s->exe && !strchr(m->path, '\n')) {
		name_by(s, m->path);
	}
	return space_add_reported(s, m);
}

size_t reported_forgotten(const struct reported *r)
{
	return r->forgotten;
}
