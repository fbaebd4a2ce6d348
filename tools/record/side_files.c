// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "lib/tool.h"
#include "perf_newest.h"
#include "perf_ring.h"
#include "side_files.h"

/*
 * 10,000 context switches. perf lets a user lock 129 pages a CPU, of which sideband.c has some, and more if RLIMIT_MEMLOCK
 * does: where that is not enough, rings are smaller.
 */
#define DATA_PAGES	128
#define LEAST_PAGES	16

union side_record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} lost;
};

/*
 * A CPU has a ring. With overwrite, one that is to have context switches has a second one for these alone: they
 * are so many that they would push out what is rare, and is needed as long as a process lives: names and maps.
 */
#define RINGS	2

struct rings {
	unsigned int count;
	struct perf_ring ring[RINGS];
};

struct side_files {
	const struct auxtrace_cpus *session;
	bool kernel, overwrite;
	unsigned int pages;	/* of a ring */
	int epoll;
	unsigned long lost;
	unsigned int count;
	struct side {		/* of a CPU */
		int cpu;
		struct rings now;
		struct rings before;	/* with @overwrite: what they had when the CPU last went offline */
		FILE *file;		/* NULL: not open */
	} *side;
};

static int open_ring(struct side_files *s, struct side *side, struct perf_event_attr attr)
{
	struct perf_ring *ring = &side->now.ring[side->now.count];
	int ret;

	attr.watermark = 1;
	attr.wakeup_watermark = s->pages / 2 * sysconf(_SC_PAGESIZE);
	ret = perf_ring_open(ring, &attr, side->cpu, s->pages);
	/* Before 5.12 perf does not know build IDs: it reads the bit as one that must be 0. */
	if (ret && errno == EINVAL && attr.build_id) {
		attr.build_id = 0;
		ret = perf_ring_open(ring, &attr, side->cpu, s->pages);
	}
	if (!ret)
		side->now.count++;
	return ret;
}

static bool has_cpu(const struct auxtrace_cpus *cpus, int cpu)
{
	return cpus && auxtrace_cpus_next(cpus, cpu) == cpu;
}

static void close_rings(struct rings *rings)
{
	while (rings->count)
		perf_ring_close(&rings->ring[--rings->count]);
}

/* Open the rings of its CPU. If that fails it has none. */
static int open_rings(struct side_files *s, struct side *side)
{
	const bool switches = has_cpu(s->session, side->cpu);
	const struct perf_event_attr dummy = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(dummy),
		.config = PERF_COUNT_SW_DUMMY,
		/* What perf.data needs: the end of each record has thread, time, CPU and event. */
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = 1,
		.write_backward = s->overwrite,
	};
	struct perf_event_attr rare = dummy, often = dummy;
	struct epoll_event event = { .events = EPOLLIN };
	int err;

	rare.mmap = 1;
	rare.mmap2 = 1;
	rare.build_id = 1;
	rare.task = 1;
	rare.comm = 1;
	rare.comm_exec = 1;
	rare.ksymbol = s->kernel;
	rare.bpf_event = s->kernel;
	rare.text_poke = s->kernel;
	rare.context_switch = switches && !s->overwrite;
	often.context_switch = 1;
	if (!open_ring(s, side, rare) &&
	    (!s->overwrite ? !epoll_ctl(s->epoll, EPOLL_CTL_ADD, side->now.ring[0].fd, &event) :
	     !switches || !open_ring(s, side, often)))
		return 0;
	err = errno;
	close_rings(&side->now);
	errno = err;
	return -1;
}

static struct side *add_side(struct side_files *s, int cpu)
{
	list_grow(s->side, s->count);
	s->side[s->count] = (struct side){ .cpu = cpu };
	return &s->side[s->count++];
}

static void close_sides(struct side_files *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct side *side = &s->side[i];

		if (side->file)
			fclose(side->file);
		close_rings(&side->now);
		close_rings(&side->before);
	}
	s->count = 0;
}

static int open_sides(struct side_files *s, const struct auxtrace_cpus *cpus)
{
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		if (open_rings(s, add_side(s, c))) {
			int err = errno;

			close_sides(s);
			errno = err;
			return -1;
		}
	}
	return 0;
}

struct side_files *side_files_open(const struct auxtrace_cpus *session, bool kernel, bool overwrite)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_online();
	struct side_files *s;
	int err, ret = -1;

	if (!cpus)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	*s = (struct side_files){ .session = session, .kernel = kernel, .overwrite = overwrite, .pages = DATA_PAGES };
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll >= 0)
		ret = open_sides(s, cpus);
	while (ret && errno == EPERM && s->pages > LEAST_PAGES) {
		s->pages /= 2;
		ret = open_sides(s, cpus);
	}
	err = errno;
	auxtrace_cpus_free(cpus);
	if (!ret)
		return s;
	side_files_close(s);
	errno = err;
	return NULL;
}

int side_files_fd(const struct side_files *s)
{
	return s->epoll;
}

static int fail_write(const char *dir, const struct side *side)
{
	say("cannot write %s/cpu%d.side: %s", dir, side->cpu, strerror(errno));
	return -1;
}

static FILE *open_file(const char *dir, const struct side *side)
{
	char path[4200];
	FILE *f;
	int fd;

	snprintf(path, sizeof(path), "%s/cpu%d.side", dir, side->cpu);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (!f && fd >= 0)
		close(fd);
	return f;
}

static void count_lost(struct side_files *s, const struct perf_ring *ring, uint64_t from, uint64_t to)
{
	union side_record rec;

	for (; from < to; from += rec.header.size) {
		perf_ring_copy(ring, from, &rec, sizeof(rec.header));
		if (rec.header.type != PERF_RECORD_LOST)
			continue;
		perf_ring_copy(ring, from, &rec, sizeof(rec));
		s->lost += rec.lost.lost;
	}
}

static int drain_side(struct side_files *s, struct side *side, const char *dir)
{
	struct perf_ring *ring = &side->now.ring[0];
	uint64_t tail, head;

	if (!side->now.count)
		return 0;
	tail = ring->page->data_tail;
	head = perf_ring_head(ring);
	if (!side->file)
		side->file = open_file(dir, side);
	if (!side->file || !perf_ring_write(ring, tail, head - tail, side->file) || fflush(side->file))
		return fail_write(dir, side);
	count_lost(s, ring, tail, head);
	perf_ring_consume(ring, head);
	return 0;
}

int side_files_drain(struct side_files *s, const char *dir)
{
	if (s->overwrite)
		return 0;
	for (unsigned int i = 0; i < s->count; i++)
		if (drain_side(s, &s->side[i], dir))
			return -1;
	return 0;
}

void side_files_look(struct side_files *s)
{
	for (struct side *side = s->side; side < s->side + s->count; side++)
		if (side->now.count)
			perf_ring_look(&side->now.ring[0]);
}

/* Nothing is written to its rings any more. */
static int retire(struct side_files *s, struct side *side, const char *dir)
{
	int ret = 0;

	if (s->overwrite) {
		close_rings(&side->before);
		side->before = side->now;
		side->now.count = 0;
	} else {
		ret = drain_side(s, side, dir);
		close_rings(&side->now);
	}
	return ret;
}

static struct side *side_of(struct side_files *s, int cpu)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->side[i].cpu == cpu)
			return &s->side[i];
	return NULL;
}

/* What the CPU had before takes of the memory that the user may lock. */
static int open_again(struct side_files *s, struct side *side)
{
	int ret = open_rings(s, side);

	if (!ret || errno != EPERM || !side->before.count)
		return ret;
	close_rings(&side->before);
	return open_rings(s, side);
}

int side_files_renew(struct side_files *s, const char *dir)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_online();
	int ret = 0;

	if (!cpus) {
		say("%s", auxtrace_error());
		return 0;
	}
	for (struct side *side = s->side; side < s->side + s->count; side++)
		if (side->now.count && perf_ring_dropped(&side->now.ring[0]) && retire(s, side, dir))
			ret = -1;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		struct side *side = side_of(s, c) ?: add_side(s, c);

		/* ENODEV: it went again. */
		if (!side->now.count && open_again(s, side) && errno != ENODEV)
			say("perf gives no ring for cpu%d.side behind the CPU's coming online (%s): who ran there is unknown from now on",
			    c, strerror(errno));
	}
	auxtrace_cpus_free(cpus);
	return ret;
}

static bool write_file(const struct side *side, const char *dir)
{
	const struct rings *now = &side->now, *before = &side->before;
	struct perf_ring ring[2 * RINGS];
	FILE *f = open_file(dir, side);
	bool ok;

	if (!f)
		return false;
	memcpy(ring, before->ring, before->count * sizeof(*ring));
	memcpy(ring + before->count, now->ring, now->count * sizeof(*ring));
	ok = perf_newest_write(ring, before->count + now->count, f);
	return !fclose(f) && ok;
}

int side_files_write(struct side_files *s, const char *dir)
{
	int ret = 0;

	if (!s->overwrite)
		return 0;
	for (unsigned int i = 0; i < s->count; i++)
		if (!write_file(&s->side[i], dir))
			ret = fail_write(dir, &s->side[i]);
	return ret;
}

unsigned long side_files_lost(const struct side_files *s)
{
	return s->lost;
}

void side_files_close(struct side_files *s)
{
	if (!s)
		return;
	close_sides(s);
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->side);
	free(s);
}
