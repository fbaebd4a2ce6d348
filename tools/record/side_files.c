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

struct side_files {
	bool overwrite;
	int epoll;
	unsigned long lost;
	unsigned int count;
	struct side {		/* of a CPU */
		int cpu;
		unsigned int rings;
		struct perf_ring ring[RINGS];
		FILE *file;	/* NULL: not open */
	} *side;
};

static int open_ring(struct side *side, struct perf_event_attr attr, unsigned int pages)
{
	struct perf_ring *ring = &side->ring[side->rings];
	int ret;

	attr.watermark = 1;
	attr.wakeup_watermark = pages / 2 * sysconf(_SC_PAGESIZE);
	ret = perf_ring_open(ring, &attr, side->cpu, pages);
	/* Before 5.12 perf does not know build IDs: it reads the bit as one that must be 0. */
	if (ret && errno == EINVAL && attr.build_id) {
		attr.build_id = 0;
		ret = perf_ring_open(ring, &attr, side->cpu, pages);
	}
	if (!ret)
		side->rings++;
	return ret;
}

static int open_side(struct side_files *s, int cpu, bool switches, bool kernel, unsigned int pages)
{
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
	struct side *side = &s->side[s->count++];

	rare.mmap = 1;
	rare.mmap2 = 1;
	rare.build_id = 1;
	rare.task = 1;
	rare.comm = 1;
	rare.comm_exec = 1;
	rare.ksymbol = kernel;
	rare.bpf_event = kernel;
	rare.text_poke = kernel;
	rare.context_switch = switches && !s->overwrite;
	often.context_switch = 1;
	side->cpu = cpu;
	if (open_ring(side, rare, pages))
		return -1;
	if (!s->overwrite)
		return epoll_ctl(s->epoll, EPOLL_CTL_ADD, side->ring[0].fd, &event);
	return switches ? open_ring(side, often, pages) : 0;
}

static void close_sides(struct side_files *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		struct side *side = &s->side[i];

		if (side->file)
			fclose(side->file);
		while (side->rings)
			perf_ring_close(&side->ring[--side->rings]);
	}
	s->count = 0;
}

static bool has_cpu(const struct auxtrace_cpus *cpus, int cpu)
{
	return cpus && auxtrace_cpus_next(cpus, cpu) == cpu;
}

static int open_sides(struct side_files *s, const struct auxtrace_cpus *cpus,
		      const struct auxtrace_cpus *session, bool kernel, unsigned int pages)
{
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		if (open_side(s, c, has_cpu(session, c), kernel, pages)) {
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
	unsigned int pages = DATA_PAGES;
	struct side_files *s;
	int err, ret = -1;

	if (!cpus)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->overwrite = overwrite;
	s->side = xcalloc(auxtrace_cpus_count(cpus), sizeof(*s->side));
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll >= 0)
		ret = open_sides(s, cpus, session, kernel, pages);
	while (ret && errno == EPERM && pages > LEAST_PAGES) {
		pages /= 2;
		ret = open_sides(s, cpus, session, kernel, pages);
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

int side_files_drain(struct side_files *s, const char *dir)
{
	if (s->overwrite)
		return 0;
	for (unsigned int i = 0; i < s->count; i++) {
		struct side *side = &s->side[i];
		struct perf_ring *ring = &side->ring[0];
		uint64_t tail = ring->page->data_tail, head = perf_ring_head(ring);

		if (!side->file)
			side->file = open_file(dir, side);
		if (!side->file || !perf_ring_write(ring, tail, head - tail, side->file) ||
		    fflush(side->file))
			return fail_write(dir, side);
		count_lost(s, ring, tail, head);
		perf_ring_consume(ring, head);
	}
	return 0;
}

static bool write_file(const struct side *side, const char *dir)
{
	FILE *f = open_file(dir, side);
	bool ok;

	if (!f)
		return false;
	ok = perf_newest_write(side->ring, side->rings, f);
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
