// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "lib/tool.h"
#include "perf_ring.h"
#include "side_files.h"

/* 10,000 context switches. perf lets a user lock 129 pages a CPU for rings of events. */
#define DATA_PAGES	128
/* No record is longer: it has one path, or one name. */
#define LONGEST		8192

union side_record {
	struct perf_event_header header;
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} lost;
};

struct side_files {
	bool overwrite;
	int epoll;
	unsigned long lost;
	unsigned int count;
	struct side {		/* of a CPU */
		int cpu;
		struct perf_ring ring;
		FILE *file;	/* NULL: not open */
	} *side;
};

static int open_ring(struct perf_ring *ring, struct perf_event_attr *attr, int cpu)
{
	int ret = perf_ring_open(ring, attr, cpu, DATA_PAGES);

	/* Before 5.12 perf does not know build IDs: it reads the bit as one that must be 0. */
	if (ret && errno == EINVAL && attr->build_id) {
		attr->build_id = 0;
		ret = perf_ring_open(ring, attr, cpu, DATA_PAGES);
	}
	return ret;
}

static int open_side(struct side_files *s, int cpu, bool switches, bool kernel)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.build_id = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.context_switch = switches,
		.ksymbol = kernel,
		.bpf_event = kernel,
		.text_poke = kernel,
		/* What perf.data needs: the end of each record has thread, time, CPU and event. */
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU |
			       PERF_SAMPLE_IDENTIFIER,
		.sample_id_all = 1,
		.watermark = 1,
		.wakeup_watermark = DATA_PAGES / 2 * sysconf(_SC_PAGESIZE),
		.write_backward = s->overwrite,
	};
	struct epoll_event event = { .events = EPOLLIN };
	struct side *side = &s->side[s->count];

	if (open_ring(&side->ring, &attr, cpu))
		return -1;
	side->cpu = cpu;
	s->count++;
	return s->overwrite ? 0 : epoll_ctl(s->epoll, EPOLL_CTL_ADD, side->ring.fd, &event);
}

static bool has_cpu(const struct auxtrace_cpus *cpus, int cpu)
{
	return cpus && auxtrace_cpus_next(cpus, cpu) == cpu;
}

struct side_files *side_files_open(const struct auxtrace_cpus *session, bool kernel, bool overwrite)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_online();
	struct side_files *s;
	int err;

	if (!cpus)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->overwrite = overwrite;
	s->side = xcalloc(auxtrace_cpus_count(cpus), sizeof(*s->side));
	s->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (s->epoll < 0)
		goto failed;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if (open_side(s, c, has_cpu(session, c), kernel))
			goto failed;
	auxtrace_cpus_free(cpus);
	return s;

failed:
	err = errno;
	auxtrace_cpus_free(cpus);
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

/* Write the @size bytes from position @from. */
static bool write_span(FILE *f, const struct perf_ring *ring, uint64_t from, size_t size)
{
	size_t at = from % ring->size, first = ring->size - at;

	if (first > size)
		first = size;
	return fwrite(ring->data + at, 1, first, f) == first &&
	       fwrite(ring->data, 1, size - first, f) == size - first;
}

int side_files_drain(struct side_files *s, const char *dir)
{
	if (s->overwrite)
		return 0;
	for (unsigned int i = 0; i < s->count; i++) {
		struct side *side = &s->side[i];
		uint64_t tail = side->ring.page->data_tail, head = perf_ring_head(&side->ring);

		if (!side->file)
			side->file = open_file(dir, side);
		if (!side->file || !write_span(side->file, &side->ring, tail, head - tail) ||
		    fflush(side->file))
			return fail_write(dir, side);
		count_lost(s, &side->ring, tail, head);
		perf_ring_consume(&side->ring, head);
	}
	return 0;
}

/*
 * Write the records of @ring, a copy that begins at @head with the newest one, oldest first. A record
 * that perf was writing when the copy was made has overwritten some of the oldest: these are left out.
 */
static bool write_reversed(FILE *f, const struct perf_ring *ring, uint64_t head)
{
	uint64_t written = -head, left = ring->size - LONGEST, at = head;
	size_t count = 0, space = 0;
	struct {
		uint64_t at;
		size_t size;
	} *record = NULL;
	bool ok = true;

	if (written < left)
		left = written;
	while (left >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		perf_ring_copy(ring, at, &header, sizeof(header));
		/* The oldest record, of which newer ones have overwritten a part. */
		if (header.size < sizeof(header) || header.size > left)
			break;
		if (count == space) {
			space = space ? 2 * space : 1024;
			record = xrealloc(record, space * sizeof(*record));
		}
		record[count].at = at;
		record[count++].size = header.size;
		at += header.size;
		left -= header.size;
	}
	while (ok && count--)
		ok = write_span(f, ring, record[count].at, record[count].size);
	free(record);
	return ok;
}

/* perf counts the records that come while its output is paused, and tells in a LOST record. */
static uint64_t copy_ring(const struct perf_ring *ring, uint8_t *to)
{
	uint64_t head;

	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = perf_ring_head(ring);
	/* The head began at 0 and goes down. */
	if (-head < ring->size)
		memcpy(to + (ring->size + head), ring->data + (ring->size + head), -head);
	else
		memcpy(to, ring->data, ring->size);
	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	return head;
}

static bool write_file(const struct side *side, const char *dir)
{
	struct perf_ring copy = side->ring;
	FILE *f = open_file(dir, side);
	uint8_t *data;
	uint64_t head;
	bool ok;

	if (!f)
		return false;
	data = xrealloc(NULL, copy.size);
	head = copy_ring(&side->ring, data);
	copy.data = data;
	ok = write_reversed(f, &copy, head);
	free(data);
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
	for (unsigned int i = 0; i < s->count; i++) {
		if (s->side[i].file)
			fclose(s->side[i].file);
		perf_ring_close(&s->side[i].ring);
	}
	if (s->epoll >= 0)
		close(s->epoll);
	free(s->side);
	free(s);
}
