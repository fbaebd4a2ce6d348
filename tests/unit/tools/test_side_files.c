// SPDX-License-Identifier: GPL-2.0-only
/*
 * The files cpuN.side. The test plays perf: it writes the rings, which are files in memory,
 * and says what it was asked for.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/tool.h"
#include "record/perf_ring.h"
#include "record/side_files.h"

#define CPUS		2
#define RINGS		(3 * CPUS)	/* two for each, and as many for CPUs that come later */
#define RING_SIZE	(128 * 4096u)
/* No record of perf is longer: so many bytes of the oldest records may be gone while one is written. */
#define LONGEST		8192u
#define MAX_OPENS	16

static struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *data;
	size_t size;
	bool paused;
	unsigned int pauses;
	uint64_t served;	/* for how long perf has served the event, as it says */
	bool dropped;		/* it does so no more */
} ring[RINGS];

static struct opened {
	struct perf_event_attr attr;
	int cpu;
} opened[MAX_OPENS];

static unsigned int opens, in_use, maps, polled, fail_open, fail_map, fail_poll;
static size_t may_lock;		/* a ring longer than this cannot be mapped; 0: any can */
static int open_errno, epoll_fd, expected_prot;
static bool knows_no_build_id, no_cpus;
static char dir[64], said[8192];

/* ---- the library ----------------------------------------------------------- */

struct auxtrace_cpus {
	int cpu[CPUS];
	unsigned int count;
};

static struct auxtrace_cpus online;

struct auxtrace_cpus *auxtrace_cpus_online(void)
{
	errno = ENOSYS;
	return no_cpus ? NULL : &online;
}

int auxtrace_cpus_next(const struct auxtrace_cpus *cpus, unsigned int cpu)
{
	for (unsigned int i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] >= (int)cpu)
			return cpus->cpu[i];
	return -1;
}

void auxtrace_cpus_free(struct auxtrace_cpus *cpus)
{
	assert_ptr_equal(cpus, &online);
	errno = 0;
}

const char *auxtrace_error(void)
{
	return "why";
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(said + strlen(said), sizeof(said) - strlen(said), format, ap);
	va_end(ap);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

void *xrealloc(void *old, size_t size)
{
	void *p = realloc(old, size);

	assert_non_null(p);
	return p;
}

void *xgrow(void *list, size_t count, size_t size)
{
	return count & (count - 1) ? list : xrealloc(list, (count ? 2 * count : 1) * size);
}

/* ---- the kernel ------------------------------------------------------------ */

long __wrap_syscall(long nr, ...);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
int __wrap_ioctl(int fd, unsigned long request, ...);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __real_read(int fd, void *buf, size_t size);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

long __wrap_syscall(long nr, ...)
{
	const struct perf_event_attr *attr;
	unsigned long flags;
	int pid, cpu, group;
	va_list ap;

	va_start(ap, nr);
	attr = va_arg(ap, const struct perf_event_attr *);
	pid = va_arg(ap, int);
	cpu = va_arg(ap, int);
	group = va_arg(ap, int);
	flags = va_arg(ap, unsigned long);
	va_end(ap);
	assert_int_equal(nr, SYS_perf_event_open);
	assert_int_equal(pid, -1);
	assert_int_equal(group, -1);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	assert_true(opens < MAX_OPENS);
	opened[opens++] = (struct opened){ *attr, cpu };
	errno = open_errno;
	if (fail_open && !--fail_open)
		return -1;
	errno = EINVAL;
	if (knows_no_build_id && attr->build_id)
		return -1;
	assert_true(in_use < RINGS);
	return ring[in_use++].fd;
}

static struct ring *ring_of(int fd)
{
	for (unsigned int i = 0; i < RINGS; i++)
		if (ring[i].page && ring[i].fd == fd)
			return &ring[i];
	return NULL;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	if (fd < 0 || !ring_of(fd))
		return __real_mmap(addr, len, prot, flags, fd, offset);
	/* perf overwrites a ring that cannot be written to. */
	assert_int_equal(prot, expected_prot);
	assert_true(len <= 4096 + RING_SIZE);
	ring_of(fd)->size = len - 4096;
	assert_int_equal(flags, MAP_SHARED);
	maps++;
	if (may_lock && len > 4096 + may_lock) {
		errno = EPERM;
		return MAP_FAILED;
	}
	if (fail_map && !--fail_map) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	const struct ring *r = fd < 0 ? NULL : ring_of(fd);

	if (!r)
		return __real_read(fd, buf, size);
	assert_int_equal(size, 2 * sizeof(uint64_t));
	memcpy(buf, (const uint64_t[]){ 0, r->served }, size);
	return (ssize_t)size;
}

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	assert_int_equal(op, EPOLL_CTL_ADD);
	assert_int_equal(event->events, EPOLLIN);
	assert_non_null(ring_of(fd));
	epoll_fd = epoll;
	polled++;
	errno = ENOSPC;
	return fail_poll && !--fail_poll ? -1 : 0;
}

int __wrap_ioctl(int fd, unsigned long request, ...)
{
	struct ring *r = ring_of(fd);
	va_list ap;
	int on;

	va_start(ap, request);
	on = va_arg(ap, int);
	va_end(ap);
	assert_non_null(r);
	assert_int_equal(request, PERF_EVENT_IOC_PAUSE_OUTPUT);
	assert_int_equal(r->paused, !on);
	r->paused = on;
	r->pauses += on;
	return 0;
}

static int begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RINGS; i++) {
		struct ring *r = &ring[i];

		*r = (struct ring){ .fd = memfd_create("ring", MFD_CLOEXEC), .size = RING_SIZE };
		if (r->fd < 0 || ftruncate(r->fd, 4096 + RING_SIZE))
			return -1;
		r->page = __real_mmap(NULL, 4096 + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		if (r->page == MAP_FAILED)
			return -1;
		r->data = (uint8_t *)r->page + 4096;
	}
	online = (struct auxtrace_cpus){ { 3, 5 }, CPUS };
	opens = in_use = maps = polled = fail_open = fail_map = fail_poll = open_errno = 0;
	may_lock = 0;
	epoll_fd = -1;
	knows_no_build_id = no_cpus = false;
	*said = 0;
	expected_prot = PROT_READ | PROT_WRITE;
	snprintf(dir, sizeof(dir), "%s/side-files.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	for (unsigned int i = 0; i < RINGS; i++) {
		munmap(ring[i].page, 4096 + RING_SIZE);
		/* The code under test has closed those that it opened. */
		if (i < in_use ? fcntl(ring[i].fd, F_GETFD) != -1 : close(ring[i].fd))
			return -1;
		if (ring[i].paused)
			return -1;
	}
	if (epoll_fd >= 0 && fcntl(epoll_fd, F_GETFD) != -1)
		return -1;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

/* What perf wrote, oldest first, and where in it each record begins. */
static struct written {
	uint8_t bytes[8 * RING_SIZE];
	size_t size, begin[8 * RING_SIZE / 40], count;
} written;

/* A record of @size bytes, which no other one has, or a LOST record. */
static const void *record(uint32_t type, uint16_t size, uint64_t lost)
{
	static uint64_t rec[LONGEST / 8], number;
	struct perf_event_header header = { .type = type, .size = size };

	assert_true(size >= 40 && size % 8 == 0 && size <= sizeof(rec));
	for (unsigned int i = 1; i < size / 8u; i++)
		rec[i] = ++number * 0x9e3779b97f4a7c15;
	memcpy(rec, &header, sizeof(header));
	if (type == PERF_RECORD_LOST)
		rec[2] = lost;
	assert_true(written.size + size <= sizeof(written.bytes));
	memcpy(written.bytes + written.size, rec, size);
	written.begin[written.count++] = written.size;
	written.size += size;
	return rec;
}

static void forget_written(void)
{
	written.size = written.count = 0;
}

static void put_bytes(struct ring *r, uint64_t at, const uint8_t *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++)
		r->data[(at + i) % r->size] = bytes[i];
}

static void put(struct ring *r, uint32_t type, uint16_t size, uint64_t lost)
{
	put_bytes(r, r->page->data_head, record(type, size, lost), size);
	r->page->data_head += size;
	assert_true(r->page->data_head - r->page->data_tail <= RING_SIZE);
}

static void put_backward(struct ring *r, uint16_t size)
{
	put_bytes(r, r->page->data_head - size, record(PERF_RECORD_COMM, size, 0), size);
	r->page->data_head -= size;
}

/* ---- the files ------------------------------------------------------------- */

static struct side_files *open_files(const struct auxtrace_cpus *session, bool kernel, bool overwrite)
{
	struct side_files *s;

	expected_prot = PROT_READ | (overwrite ? 0 : PROT_WRITE);
	s = side_files_open(session, kernel, overwrite);
	assert_non_null(s);
	assert_int_equal(polled, overwrite ? 0 : CPUS);
	if (!overwrite)
		assert_int_equal(side_files_fd(s), epoll_fd);
	epoll_fd = side_files_fd(s);
	return s;
}

static const char *path_of(int cpu)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/cpu%d.side", dir, cpu);
	return path;
}

static size_t read_file(int cpu, uint8_t **bytes)
{
	FILE *f = fopen(path_of(cpu), "r");
	struct stat st;

	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	*bytes = xrealloc(NULL, st.st_size + 1);
	assert_int_equal(fread(*bytes, 1, st.st_size, f), st.st_size);
	fclose(f);
	return st.st_size;
}

/* The file has what was written from offset @from on. */
static void expect_file(int cpu, size_t from)
{
	uint8_t *bytes;
	size_t size = read_file(cpu, &bytes);

	assert_int_equal(size, written.size - from);
	if (size)
		assert_memory_equal(bytes, written.bytes + from, size);
	free(bytes);
}

/* It has the newest records, oldest first, from some record on. Returns that one's offset. */
static size_t expect_newest(int cpu)
{
	uint8_t *bytes;
	size_t size = read_file(cpu, &bytes), from = written.size - size;
	bool found = false;

	free(bytes);
	assert_true(size && size <= written.size);
	for (size_t i = 0; i < written.count; i++)
		found |= written.begin[i] == from;
	assert_true(found);
	expect_file(cpu, from);
	return from;
}

/* CPUs may have come, and perf goes on with the events that it has not dropped. */
static int renew(struct side_files *s)
{
	side_files_look(s);
	for (unsigned int i = 0; i < RINGS; i++)
		ring[i].served += ring[i].dropped ? 0 : PERF_RING_WAIT_NS;
	return side_files_renew(s, dir);
}

/* ---- tests ----------------------------------------------------------------- */

static void expect_dummy(const struct perf_event_attr *attr, bool overwrite)
{
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(attr->write_backward, overwrite);
	/* The decoder takes the end of each record for what this makes it. */
	assert_true(attr->sample_id_all);
	assert_int_equal(attr->sample_type & (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
					      PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER),
			 PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER);
	assert_false(attr->use_clockid || attr->inherit || attr->disabled);
	assert_int_equal(attr->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED);
	assert_true(attr->watermark);
	assert_int_equal(attr->wakeup_watermark, RING_SIZE / 2);
}

static void expect_rare(const struct perf_event_attr *attr, bool kernel, bool overwrite)
{
	expect_dummy(attr, overwrite);
	assert_true(attr->mmap && attr->mmap2 && attr->task && attr->comm && attr->comm_exec);
	assert_int_equal(attr->ksymbol, kernel);
	assert_int_equal(attr->bpf_event, kernel);
	assert_int_equal(attr->text_poke, kernel);
}

static void only_what_is_of_use_is_asked_for(void **state)
{
	static const struct auxtrace_cpus one = { { 5 }, 1 };

	for (unsigned int i = 0; i < 8; i++) {
		const bool kernel = i & 1, overwrite = i & 2;
		const struct auxtrace_cpus *session = i & 4 ? &one : NULL;
		struct side_files *s = open_files(session, kernel, overwrite);

		assert_int_equal(opens, CPUS + (session && overwrite));
		for (unsigned int o = 0; o < CPUS; o++) {
			const struct perf_event_attr *attr = &opened[o].attr;

			assert_int_equal(opened[o].cpu, online.cpu[o]);
			assert_true(attr->build_id);
			expect_rare(attr, kernel, overwrite);
			assert_int_equal(attr->context_switch, session && opened[o].cpu == 5 && !overwrite);
		}
		/* Where the newest win, switches do not push out the rest. */
		if (opens > CPUS) {
			const struct perf_event_attr *attr = &opened[CPUS].attr;

			assert_int_equal(opened[CPUS].cpu, 5);
			expect_dummy(attr, true);
			assert_true(attr->context_switch);
			assert_false(attr->mmap || attr->mmap2 || attr->task || attr->comm || attr->ksymbol ||
				     attr->bpf_event || attr->text_poke);
		}
		side_files_close(s);
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
	}
}

static void perf_without_build_ids_serves_as_well(void **state)
{
	struct side_files *s;

	(void)state;
	knows_no_build_id = true;
	s = open_files(&online, true, false);
	assert_int_equal(opens, 2 * CPUS);
	for (unsigned int o = 0; o < opens; o++) {
		assert_int_equal(opened[o].cpu, online.cpu[o / 2]);
		assert_int_equal(opened[o].attr.build_id, !(o % 2));
		expect_rare(&opened[o].attr, true, false);
		assert_true(opened[o].attr.context_switch);
	}
	side_files_close(s);
}

static void records_are_appended_byte_for_byte(void **state)
{
	struct side_files *s = open_files(NULL, false, false);
	struct stat st;
	mode_t mask;

	(void)state;
	/* The ring wraps in every part of a record. */
	for (unsigned int before = 0; before <= 72; before += 8) {
		uint64_t at = (uint64_t)RING_SIZE * (before + 1) - before;

		assert_true(ring[0].page->data_head <= at);
		ring[0].page->data_head = ring[0].page->data_tail = at;
		for (unsigned int i = 0; i < 3; i++)
			put(&ring[0], PERF_RECORD_COMM, 72, 0);
		mask = umask(0);
		assert_int_equal(side_files_drain(s, dir), 0);
		umask(mask);
		assert_int_equal(ring[0].page->data_tail, ring[0].page->data_head);
		expect_file(3, 0);
	}
	/* As much as the ring holds. */
	for (unsigned int i = 0; i < RING_SIZE / 64; i++)
		put(&ring[0], PERF_RECORD_FORK, 64, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	assert_int_equal(ring[0].page->data_tail, ring[0].page->data_head);
	expect_file(3, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	expect_file(3, 0);
	/* They have the names of what others run. */
	assert_int_equal(stat(path_of(3), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	/* The other CPU has nothing to say. */
	assert_int_equal(stat(path_of(5), &st), 0);
	assert_int_equal(st.st_size, 0);
	/* This is for the newest records only. */
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	assert_int_equal(side_files_lost(s), 0);
	assert_string_equal(said, "");
	side_files_close(s);
}

static void what_perf_lost_is_counted(void **state)
{
	struct side_files *s = open_files(NULL, false, false);

	(void)state;
	ring[1].page->data_head = ring[1].page->data_tail = RING_SIZE - 16;
	put(&ring[1], PERF_RECORD_LOST, 56, 3);
	put(&ring[1], PERF_RECORD_COMM, 56, 0);
	put(&ring[1], PERF_RECORD_LOST, 56, 1ull << 33);
	assert_int_equal(side_files_drain(s, dir), 0);
	assert_int_equal(side_files_lost(s), (1ull << 33) + 3);
	expect_file(5, 0);
	put(&ring[0], PERF_RECORD_LOST, 56, 4);
	assert_int_equal(side_files_drain(s, dir), 0);
	assert_int_equal(side_files_lost(s), (1ull << 33) + 7);
	side_files_close(s);
}

static void the_newest_records_are_written_oldest_first(void **state)
{
	struct side_files *s = open_files(NULL, false, true);
	struct stat st;
	mode_t mask;

	(void)state;
	/* Drained is nothing: the file would not end. */
	put_backward(&ring[0], 40);
	assert_int_equal(side_files_drain(s, dir), 0);
	assert_int_not_equal(stat(path_of(3), &st), 0);
	put_backward(&ring[0], 4096);
	put_backward(&ring[0], 72);
	mask = umask(0);
	assert_int_equal(side_files_write(s, dir), 0);
	umask(mask);
	expect_file(3, 0);
	assert_int_equal(stat(path_of(3), &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(path_of(5), &st), 0);
	assert_int_equal(st.st_size, 0);
	/* Written again, it is those that there are then. Nothing is consumed. */
	put_backward(&ring[0], 56);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	/* None was written while they were copied: perf counts those. */
	assert_int_equal(ring[0].pauses, 2);
	assert_int_equal(ring[1].pauses, 2);
	side_files_close(s);
}

/* All that fits, but for what a record that is being written may have cut. */
static void a_ring_that_has_wrapped_has_the_newest_records(void **state)
{
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	for (unsigned int size = 40; size <= 112; size += 24) {
		for (unsigned int i = 0; i < 5 * RING_SIZE / 4 / 88 + size; i++)
			put_backward(&ring[0], i % 10 ? 88 : size);
		assert_int_equal(side_files_write(s, dir), 0);
		assert_true(written.size - expect_newest(3) > RING_SIZE - LONGEST - 112);
	}
	side_files_close(s);
}

static void a_record_that_is_being_written_costs_the_oldest_ones_only(void **state)
{
	static const struct perf_event_header looks_good = { .type = PERF_RECORD_COMM, .size = 8 };
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	for (unsigned int i = 0; i < 2 * RING_SIZE / 88; i++)
		put_backward(&ring[0], 88);
	/* perf moves the head when the record is complete. Its bytes may look like records. */
	for (unsigned int at = 8; at <= LONGEST; at += 8)
		put_bytes(&ring[0], ring[0].page->data_head - at, (const void *)&looks_good, 8);
	assert_int_equal(side_files_write(s, dir), 0);
	assert_true(written.size - expect_newest(3) > RING_SIZE - LONGEST - 88);
	side_files_close(s);
}

/* Not full yet: what is behind the first record is no record. */
static void a_ring_that_has_not_been_full_has_all_records(void **state)
{
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	memset(ring[0].data, 0x18, RING_SIZE);
	while (written.size + 72 <= RING_SIZE - LONGEST)
		put_backward(&ring[0], 72);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	side_files_close(s);
}

/* A record of @time, and the same in what perf wrote in all. */
static void put_at_time(struct ring *r, uint64_t time)
{
	uint8_t *rec = written.bytes + written.size;

	record(PERF_RECORD_COMM, 64, 0);
	memcpy(rec + 64 - 24, &time, sizeof(time));
	r->page->data_head -= 64;
	put_bytes(r, r->page->data_head, rec, 64);
}

static void records_of_both_rings_are_in_the_order_of_time(void **state)
{
	struct side_files *s = open_files(&online, false, true);

	(void)state;
	/* ring[0] has the rare ones of CPU 3, ring[1] its switches. */
	for (unsigned int i = 0; i < 3000; i++)
		put_at_time(&ring[i % 100 != 0], 1000 + i);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	side_files_close(s);
}

/* A BPF_EVENT whose size is too large by some bytes: perf_trailer.h. */
static void a_record_with_too_large_a_size_is_in_its_place(void **state)
{
	struct side_files *s = open_files(&online, false, true);

	(void)state;
	for (uint64_t time = 1000; time < 1300; time++) {
		const size_t body = 24, excess = 40;
		uint8_t *rec;

		put_at_time(&ring[1], time++);
		rec = written.bytes + written.size;
		record(PERF_RECORD_BPF_EVENT, body + 32 + excess, 0);
		memcpy(rec + body + 8, &time, sizeof(time));
		ring[0].page->data_head -= body + 32 + excess;
		put_bytes(&ring[0], ring[0].page->data_head, rec, body + 32 + excess);
	}
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	side_files_close(s);
}

static void switches_do_not_push_out_the_rest(void **state)
{
	struct side_files *s = open_files(&online, false, true);
	uint8_t *bytes;
	size_t size;

	(void)state;
	put_at_time(&ring[0], 1);
	forget_written();
	for (unsigned int i = 0; i < 2 * RING_SIZE / 64; i++)
		put_at_time(&ring[1], 2 + i);
	assert_int_equal(side_files_write(s, dir), 0);
	size = read_file(3, &bytes);
	assert_true(size > RING_SIZE - LONGEST - 64 && size <= RING_SIZE - LONGEST + 64);
	/* The first one, and the newest. */
	assert_memory_equal(bytes + 64 - 24, (&(uint64_t){ 1 }), 8);
	assert_memory_equal(bytes + 64, written.bytes + written.size - (size - 64), size - 64);
	free(bytes);
	side_files_close(s);
}

static void rings_are_smaller_where_less_may_be_locked(void **state)
{
	struct side_files *s;

	may_lock = RING_SIZE / 4;
	s = open_files(NULL, false, true);
	assert_int_equal(in_use, 2 + CPUS);
	for (unsigned int i = 2; i < in_use; i++) {
		assert_int_equal(ring[i].size, may_lock);
		assert_int_equal(opened[i].attr.wakeup_watermark, may_lock / 2);
	}
	while (written.size < RING_SIZE)
		put_backward(&ring[2], 72);
	assert_int_equal(side_files_write(s, dir), 0);
	assert_true(written.size - expect_newest(3) > may_lock - LONGEST - 72);
	side_files_close(s);
	assert_int_equal(end(state), 0);
	assert_int_equal(begin(state), 0);
	/* Those that are drained, too: what does not fit is counted. */
	may_lock = RING_SIZE / 2;
	s = open_files(NULL, false, false);
	assert_int_equal(ring[1].size, may_lock);
	assert_int_equal(ring[2].size, may_lock);
	side_files_close(s);
	assert_int_equal(end(state), 0);
	assert_int_equal(begin(state), 0);
	/* Some records must fit. */
	may_lock = RING_SIZE / 8 - 1;
	assert_null(side_files_open(NULL, false, false));
	assert_int_equal(errno, EPERM);
	assert_int_equal(maps, 4);
}

/* Nothing comes to the ring that it had, of which all is in the file. */
static void the_file_of_a_cpu_that_was_offline_goes_on(void **state)
{
	struct side_files *s = open_files(&online, true, false);

	(void)state;
	put(&ring[0], PERF_RECORD_COMM, 72, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	put(&ring[0], PERF_RECORD_LOST, 56, 3);
	ring[0].dropped = true;
	assert_int_equal(renew(s), 0);
	assert_int_equal(opens, 3);
	assert_int_equal(opened[2].cpu, 3);
	expect_rare(&opened[2].attr, true, false);
	assert_true(opened[2].attr.context_switch);
	assert_int_equal(polled, 3);
	assert_int_equal(fcntl(ring[0].fd, F_GETFD), -1);
	put(&ring[2], PERF_RECORD_COMM, 64, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	expect_file(3, 0);
	assert_int_equal(side_files_lost(s), 3);
	/* No CPU came. */
	assert_int_equal(renew(s), 0);
	assert_int_equal(opens, 3);
	assert_string_equal(said, "");
	side_files_close(s);
}

static void a_cpu_that_comes_for_the_first_time_has_a_file(void **state)
{
	static const struct auxtrace_cpus one = { { 3 }, 1 };
	struct side_files *s;

	(void)state;
	online = one;
	s = side_files_open(&one, true, false);
	assert_non_null(s);
	online = (struct auxtrace_cpus){ { 3, 5 }, CPUS };
	assert_int_equal(renew(s), 0);
	assert_int_equal(opens, 2);
	assert_int_equal(opened[1].cpu, 5);
	/* It is not one of the session's. */
	assert_false(opened[1].attr.context_switch);
	put(&ring[1], PERF_RECORD_COMM, 64, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	expect_file(5, 0);
	side_files_close(s);
}

static void a_cpu_without_a_ring_is_told_unless_it_went(void **state)
{
	struct side_files *s = open_files(NULL, false, false);

	(void)state;
	put(&ring[0], PERF_RECORD_COMM, 72, 0);
	ring[0].dropped = true;
	fail_open = 1;
	open_errno = ENODEV;
	assert_int_equal(renew(s), 0);
	assert_string_equal(said, "");
	/* What it had is there. */
	expect_file(3, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	fail_open = 1;
	open_errno = EMFILE;
	assert_int_equal(renew(s), 0);
	assert_non_null(strstr(said, "cpu3.side"));
	assert_int_equal(renew(s), 0);
	put(&ring[2], PERF_RECORD_COMM, 64, 0);
	assert_int_equal(side_files_drain(s, dir), 0);
	expect_file(3, 0);
	side_files_close(s);
}

/* With what the CPU had before it went offline; only the last time counts. */
static void the_newest_records_of_a_cpu_that_was_offline_are_kept(void **state)
{
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	put_at_time(&ring[0], 1000);
	ring[0].dropped = true;
	assert_int_equal(renew(s), 0);
	assert_int_equal(in_use, 3);
	put_at_time(&ring[2], 2000);
	put_at_time(&ring[2], 3000);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 0);
	ring[2].dropped = true;
	assert_int_equal(renew(s), 0);
	assert_int_equal(fcntl(ring[0].fd, F_GETFD), -1);
	put_at_time(&ring[3], 4000);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 64);
	side_files_close(s);
}

/* Where no more memory may be locked, the new ring takes that of the old one. */
static void what_a_cpu_had_gives_way_to_what_it_gets(void **state)
{
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	put_at_time(&ring[0], 1000);
	ring[0].dropped = true;
	fail_open = 1;
	open_errno = EPERM;
	assert_int_equal(renew(s), 0);
	assert_int_equal(fcntl(ring[0].fd, F_GETFD), -1);
	put_at_time(&ring[2], 2000);
	assert_int_equal(side_files_write(s, dir), 0);
	expect_file(3, 64);
	assert_string_equal(said, "");
	side_files_close(s);
}

static void what_cannot_be_opened_leaves_nothing_open(void **state)
{
	(void)state;
	side_files_close(NULL);
	no_cpus = true;
	assert_null(side_files_open(NULL, true, false));
	assert_int_equal(errno, ENOSYS);
	no_cpus = false;
	fail_open = 2;
	open_errno = EACCES;
	assert_null(side_files_open(NULL, true, false));
	assert_int_equal(errno, EACCES);
	assert_int_equal(opens, 2);
	assert_int_equal(in_use, 1);
	assert_int_equal(begin(state), 0);
	/* Not for want of build IDs. */
	fail_open = 1;
	open_errno = EMFILE;
	assert_null(side_files_open(NULL, true, false));
	assert_int_equal(errno, EMFILE);
	assert_int_equal(opens, 1);
}

static void a_ring_that_cannot_be_mapped_is_told(void **state)
{
	(void)state;
	fail_map = 2;
	assert_null(side_files_open(NULL, true, false));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(in_use, 2);
	/* The one of switches of the first CPU, then of the second one */
	for (unsigned int nth = 2; nth <= 4; nth += 2) {
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
		expected_prot = PROT_READ;
		fail_map = nth;
		assert_null(side_files_open(&online, true, true));
		assert_int_equal(errno, ENOMEM);
		assert_int_equal(in_use, nth);
	}
	assert_int_equal(end(state), 0);
	assert_int_equal(begin(state), 0);
	expected_prot = PROT_READ;
	fail_open = 4;
	open_errno = EMFILE;
	assert_null(side_files_open(&online, true, true));
	assert_int_equal(errno, EMFILE);
	assert_int_equal(in_use, 3);
}

static void a_ring_that_cannot_be_waited_for_is_told(void **state)
{
	(void)state;
	fail_poll = 2;
	assert_null(side_files_open(NULL, true, false));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(in_use, 2);
}

static void expect_said(const char *path, int error)
{
	char text[256];

	snprintf(text, sizeof(text), "cannot write %s: %s", path, strerror(error));
	assert_string_equal(said, text);
	*said = 0;
}

static void a_file_that_cannot_be_written_is_told(void **state)
{
	struct side_files *s = open_files(NULL, false, false);
	char no_dir[128];

	(void)state;
	put(&ring[0], PERF_RECORD_COMM, 72, 0);
	snprintf(no_dir, sizeof(no_dir), "%s/gone", dir);
	assert_int_equal(side_files_drain(s, no_dir), -1);
	snprintf(no_dir, sizeof(no_dir), "%s/gone/cpu3.side", dir);
	expect_said(no_dir, ENOENT);
	/* What was not written is still there. */
	assert_int_equal(symlink("/dev/full", path_of(3)), 0);
	assert_int_equal(side_files_drain(s, dir), -1);
	expect_said(path_of(3), ENOSPC);
	assert_int_equal(ring[0].page->data_tail, 0);
	side_files_close(s);
}

static void one_of_the_newest_that_cannot_be_written_does_not_keep_the_others_back(void **state)
{
	struct side_files *s = open_files(NULL, false, true);

	(void)state;
	put_backward(&ring[0], 72);
	forget_written();
	put_backward(&ring[1], 72);
	assert_int_equal(symlink("/dev/full", path_of(3)), 0);
	assert_int_equal(side_files_write(s, dir), -1);
	expect_said(path_of(3), ENOSPC);
	expect_file(5, 0);
	assert_int_equal(unlink(path_of(3)), 0);
	assert_int_equal(mkdir(path_of(3), 0700), 0);
	assert_int_equal(side_files_write(s, dir), -1);
	expect_said(path_of(3), EISDIR);
	side_files_close(s);
}

static int end_test(void **state)
{
	forget_written();
	return end(state);
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin, end_test)
	const struct CMUnitTest tests[] = {
		t(only_what_is_of_use_is_asked_for),
		t(perf_without_build_ids_serves_as_well),
		t(records_are_appended_byte_for_byte),
		t(what_perf_lost_is_counted),
		t(the_newest_records_are_written_oldest_first),
		t(a_ring_that_has_wrapped_has_the_newest_records),
		t(a_record_that_is_being_written_costs_the_oldest_ones_only),
		t(a_ring_that_has_not_been_full_has_all_records),
		t(records_of_both_rings_are_in_the_order_of_time),
		t(a_record_with_too_large_a_size_is_in_its_place),
		t(switches_do_not_push_out_the_rest),
		t(rings_are_smaller_where_less_may_be_locked),
		t(the_file_of_a_cpu_that_was_offline_goes_on),
		t(a_cpu_that_comes_for_the_first_time_has_a_file),
		t(a_cpu_without_a_ring_is_told_unless_it_went),
		t(the_newest_records_of_a_cpu_that_was_offline_are_kept),
		t(what_a_cpu_had_gives_way_to_what_it_gets),
		t(what_cannot_be_opened_leaves_nothing_open),
		t(a_ring_that_cannot_be_mapped_is_told),
		t(a_ring_that_cannot_be_waited_for_is_told),
		t(a_file_that_cannot_be_written_is_told),
		t(one_of_the_newest_that_cannot_be_written_does_not_keep_the_others_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
