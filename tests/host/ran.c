// SPDX-License-Identifier: GPL-2.0-only
/*
 * An attempt in the log was not completed if
 *   - a "Stopped execution" line for the same address follows, or
 *   - an interrupt or exception follows whose return address is that instruction: a fault, an
 *     INT n (decoders and BTS place them before the instruction), or an interrupt inside a REP
 *     string.
 * The log does not name the CPU of an interrupt or exception. But the register dump below it
 * has the base of the task register, which differs between CPUs. A base belongs to the CPU that
 * was most often at the return addresses of its events. (The next CPU in the log is no
 * criterion: where NMIs are frequent, the log may as often continue with another CPU as with
 * the handler.)
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

/* How often each CPU was at the return address of the events of a task register. */
struct owner {
	uint64_t tr;
	unsigned long there[RAN_MAX_CPUS];
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

/* After its latest attempt @word, can the CPU be at @ip? Branch targets are not considered. */
static bool is_there(uint64_t word, uint64_t ip)
{
	return word && (ip == ran_ip(word) || ip == ran_ip(word) + ran_length(word));
}

static void find_owners(struct owners *o, const struct words *w, const char *path)
{
	uint64_t latest[RAN_MAX_CPUS] = { 0 };

	for (size_t i = 0; i < w->count; i++) {
		uint64_t word = w->word[i];
		struct owner *owner;

		if (ran_kind(word) == RAN_INSN)
			latest[ran_cpu(word)] = word;
		if (ran_kind(word) != RAN_EVENT)
			continue;
		if (++i == w->count)
			die(path, "truncated");
		owner = owner_of(o, w->word[i], path);
		for (unsigned int cpu = 0; cpu < RAN_MAX_CPUS; cpu++)
			owner->there[cpu] += is_there(latest[cpu], ran_ip(word));
	}
}

static bool is_owner(const struct owner *o, unsigned int cpu)
{
	for (unsigned int other = 0; other < RAN_MAX_CPUS; other++)
		if (other != cpu && o->there[other] >= o->there[cpu])
			return false;
	return true;
}

static void push(struct ran *ran, uint64_t word)
{
	if (ran->count == ran->space) {
		ran->space = ran->space ? 2 * ran->space : 1 << 20;
		ran->word = realloc(ran->word, ran->space * sizeof(*ran->word));
		if (!ran->word)
			die("list", strerror(ENOMEM));
	}
	ran->word[ran->count++] = word;
}

/* Remove the attempts at @ip at the end of the list: they were not completed. */
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

	find_owners(&owners, &w, path);
	for (size_t i = 0; i < w.count; i++) {
		uint64_t word = w.word[i];

		if (ran_kind(word) == RAN_EVENT) {
			if (is_owner(owner_of(&owners, w.word[++i], path), cpu)) {
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
