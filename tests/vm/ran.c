// SPDX-License-Identifier: GPL-2.0
/*
 * An attempt in the log was not completed if
 *   - a "Stopped execution" line for the same address follows, or
 *   - an interrupt or exception follows whose return address is that instruction:
 *     a fault, an INT n (decoders and BTS place them before the instruction), or an
 *     interrupt inside a REP string.
 * The log does not tell whose an event is, but the register dump below it does: the
 * task register's base is of one CPU only, and as a rule the next instruction, the
 * handler's first, tells whose.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ran.h"

struct words {
	const uint64_t *word;
	size_t count;
};

/* How often the first instruction after an event was this CPU's, by task register. */
struct owner {
	uint64_t tr;
	unsigned long ours, others;
};

struct owners {
	struct owner owner[RAN_MAX_CPUS];
	unsigned int count;
};

static void die(const char *path, const char *what)
{
	fprintf(stderr, "ran: %s: %s\n", path, what);
	exit(2);
}

static struct words map(const char *path)
{
	struct words w = { 0 };
	struct stat st;
	int fd = open(path, O_RDONLY);
	void *at;

	if (fd < 0 || fstat(fd, &st))
		die(path, strerror(errno));
	if (!st.st_size || st.st_size % sizeof(*w.word))
		die(path, "not a file of whole words");
	at = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (at == MAP_FAILED)
		die(path, strerror(errno));
	close(fd);
	w.word = at;
	w.count = st.st_size / sizeof(*w.word);
	return w;
}

static struct owner *owner_of(struct owners *o, uint64_t tr, const char *path)
{
	for (unsigned int i = 0; i < o->count; i++)
		if (o->owner[i].tr == tr)
			return &o->owner[i];
	if (o->count == RAN_MAX_CPUS)
		die(path, "more task registers than CPUs");
	o->owner[o->count] = (struct owner){ .tr = tr };
	return &o->owner[o->count++];
}

/* Events follow one another without an instruction when a handler faults at once. */
static void find_owners(struct owners *o, const struct words *w, unsigned int cpu,
			const char *path)
{
	size_t first = 0;
	bool waiting = false;

	for (size_t i = 0; i < w->count; i++) {
		if (ran_kind(w->word[i]) == RAN_EVENT) {
			if (!waiting)
				first = i;
			waiting = true;
			if (++i == w->count)
				die(path, "truncated");
		} else if (ran_kind(w->word[i]) == RAN_INSN && waiting) {
			for (size_t e = first; e < i; e++) {
				struct owner *owner;

				if (ran_kind(w->word[e]) != RAN_EVENT)
					continue;
				owner = owner_of(o, w->word[++e], path);
				if (ran_cpu(w->word[i]) == cpu)
					owner->ours++;
				else
					owner->others++;
			}
			waiting = false;
		}
	}
}

static void push(struct ran *ran, uint64_t word)
{
	if (ran->count == ran->room) {
		ran->room = ran->room ? 2 * ran->room : 1 << 20;
		ran->word = realloc(ran->word, ran->room * sizeof(*ran->word));
		if (!ran->word)
			die("list", strerror(ENOMEM));
	}
	ran->word[ran->count++] = word;
}

/* The attempts at @ip that end the flow were not completed. */
static void drop(struct ran *ran, uint64_t ip)
{
	while (ran->count && ran_kind(ran->word[ran->count - 1]) == RAN_INSN &&
	       ran_ip(ran->word[ran->count - 1]) == ip)
		ran->count--;
}

void ran_load(struct ran *ran, const char *path, unsigned int cpu)
{
	struct words w = map(path);
	struct owners owners = { 0 };

	find_owners(&owners, &w, cpu, path);
	for (size_t i = 0; i < w.count; i++) {
		uint64_t word = w.word[i];

		if (ran_kind(word) == RAN_EVENT) {
			const struct owner *o = owner_of(&owners, w.word[++i], path);

			if (o->ours > o->others) {
				drop(ran, ran_ip(word));
				push(ran, word);
			}
		} else if (ran_cpu(word) == cpu) {
			if (ran_kind(word) == RAN_STOPPED)
				drop(ran, ran_ip(word));
			else
				push(ran, word);
		}
	}
	munmap((void *)w.word, w.count * sizeof(*w.word));
}
