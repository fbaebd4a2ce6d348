// SPDX-License-Identifier: GPL-2.0-only
/*
 * What perf's records become. The test plays the kernel, which writes the rings, and the library,
 * which is told of processes; the rings are files in memory.
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
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/tool.h"
#include "record/perf_maps.h"
#include "record/perf_ring.h"
#include "record/sideband.h"

#define CPUS		2
#define RINGS		3	/* one more, for a CPU that comes later */
#define RING_SIZE	(32 * 4096u)
#define MAX_CALLS	16

/* Of the rings in the order in which they are to be opened */
static int cpu_of[RINGS];

static struct ring {
	int fd;
	struct perf_event_mmap_page *page;
	uint8_t *data;
} ring[RINGS];

static unsigned int opened, fail_open, fail_map, fail_poll, polled, said;
static int epoll_fd, mapping_errno, code_errno, code_end_errno;
static bool kernel;		/* it is traced */
static int open_errno;
static uint64_t served[RINGS];	/* for how long perf has served the ring's event, as it says */
static bool dropped[RINGS];	/* it does so no more */
static uint64_t passed;		/* nanoseconds */
static uint64_t goes_at;	/* code is gone at that time, while it is read; 0: it is not */

enum kind { ADD, FORK, EXEC, END, MAP, CODE, CODE_END, DESCENDANT, MAPPED, EXECED, EXITED };

static struct call {
	enum kind kind;
	pid_t pid, parent;
	uint64_t time, start, end, offset, inode;
	uint32_t major, minor;
	char path[64];
} call[MAX_CALLS];
static unsigned int calls;

/* ---- the library ----------------------------------------------------------- */

struct auxtrace_cpus {
	int cpu[CPUS];
	int count;
};

static struct auxtrace_cpus online;
static bool no_cpus;

struct auxtrace_cpus *auxtrace_cpus_online(void)
{
	return no_cpus ? NULL : &online;
}

int auxtrace_cpus_next(const struct auxtrace_cpus *cpus, unsigned int cpu)
{
	assert_ptr_equal(cpus, &online);
	for (int i = 0; i < cpus->count; i++)
		if (cpus->cpu[i] >= (int)cpu)
			return cpus->cpu[i];
	return -1;
}

void auxtrace_cpus_free(struct auxtrace_cpus *cpus)
{
	assert_ptr_equal(cpus, &online);
}

const char *auxtrace_error(void)
{
	return "why";
}

static char said_text[256];

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(said_text, sizeof(said_text), format, ap);
	va_end(ap);
	said++;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	assert_non_null(p);
	return p;
}

void *xgrow(void *list, size_t count, size_t size)
{
	void *p = count & (count - 1) ? list : realloc(list, (count ? 2 * count : 1) * size);

	assert_non_null(p);
	return p;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	assert_non_null(copy);
	return copy;
}

static struct auxtrace_recording *recording_told(void)
{
	static char recording;

	return (void *)&recording;
}

static int told(struct auxtrace_recording *rec, enum kind kind, pid_t pid, uint64_t time)
{
	assert_ptr_equal(rec, recording_told());
	assert_true(calls < MAX_CALLS);
	call[calls++] = (struct call){ .kind = kind, .pid = pid, .time = time };
	return 0;
}

int auxtrace_recording_add_task(struct auxtrace_recording *rec, pid_t pid)
{
	return told(rec, ADD, pid, 0);
}

int auxtrace_recording_fork_task(struct auxtrace_recording *rec, pid_t parent, pid_t pid, uint64_t time)
{
	told(rec, FORK, pid, time);
	call[calls - 1].parent = parent;
	return 0;
}

int auxtrace_recording_exec_task(struct auxtrace_recording *rec, pid_t pid, uint64_t time)
{
	return told(rec, EXEC, pid, time);
}

int auxtrace_recording_end_task(struct auxtrace_recording *rec, pid_t pid, uint64_t time)
{
	return told(rec, END, pid, time);
}

int auxtrace_recording_add_mapped_file(struct auxtrace_recording *rec, pid_t pid, const struct auxtrace_mapping *m)
{
	assert_int_equal(m->size, sizeof(*m));
	assert_int_equal(m->reserved, 0);
	told(rec, MAP, pid, m->time);
	call[calls - 1].start = m->start;
	call[calls - 1].end = m->end;
	call[calls - 1].offset = m->offset;
	call[calls - 1].major = m->major;
	call[calls - 1].minor = m->minor;
	call[calls - 1].inode = m->inode;
	snprintf(call[calls - 1].path, sizeof(call->path), "%s", m->path);
	errno = mapping_errno;
	return mapping_errno ? -1 : 0;
}

static void put_ksymbol(struct ring *r, uint64_t addr, const char *name, uint64_t time, bool gone, unsigned int excess);

int auxtrace_recording_add_kernel_code(struct auxtrace_recording *rec, uint64_t time, uint64_t address, size_t size,
				       const char *name)
{
	told(rec, CODE, 0, time);
	call[calls - 1].start = address;
	call[calls - 1].end = address + size;
	snprintf(call[calls - 1].path, sizeof(call->path), "%s", name);
	if (goes_at)
		put_ksymbol(&ring[1], address, name, goes_at, true, 0);
	goes_at = 0;
	errno = code_errno;
	return code_errno ? -1 : 0;
}

int auxtrace_recording_end_kernel_code(struct auxtrace_recording *rec, uint64_t time, uint64_t address)
{
	told(rec, CODE_END, 0, time);
	call[calls - 1].start = address;
	errno = code_end_errno;
	return code_end_errno ? -1 : 0;
}

/* Whom the records are told as well: by the same list. */
static struct perf_maps *maps_told(void)
{
	static char maps;

	return (void *)&maps;
}

void perf_maps_forked(struct perf_maps *m, pid_t parent, pid_t pid)
{
	assert_ptr_equal(m, maps_told());
	told(recording_told(), DESCENDANT, pid, 0);
	call[calls - 1].parent = parent;
}

void perf_maps_mapped(struct perf_maps *m, pid_t pid, const char *path)
{
	assert_ptr_equal(m, maps_told());
	told(recording_told(), MAPPED, pid, 0);
	snprintf(call[calls - 1].path, sizeof(call->path), "%s", path);
}

void perf_maps_execed(struct perf_maps *m, pid_t pid)
{
	assert_ptr_equal(m, maps_told());
	told(recording_told(), EXECED, pid, 0);
}

void perf_maps_exited(struct perf_maps *m, pid_t pid)
{
	assert_ptr_equal(m, maps_told());
	told(recording_told(), EXITED, pid, 0);
}

/* ---- the kernel ------------------------------------------------------------ */

long __wrap_syscall(long nr, ...);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __real_read(int fd, void *buf, size_t size);
int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	assert_int_equal(clock, CLOCK_MONOTONIC);
	*t = (struct timespec){ .tv_sec = passed / 1000000000, .tv_nsec = passed % 1000000000 };
	return 0;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	for (unsigned int i = 0; i < RINGS; i++) {
		const uint64_t values[] = { 0, served[i] };

		if (ring[i].fd != fd)
			continue;
		assert_int_equal(size, sizeof(values));
		memcpy(buf, values, size);
		return (ssize_t)size;
	}
	return __real_read(fd, buf, size);
}

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
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->ksymbol, kernel);
	/* Its record has the inode only without a build ID. */
	assert_true(attr->mmap2 && !attr->build_id);
	assert_true(attr->mmap && attr->task && attr->comm && attr->comm_exec);
	/* What the time of a record, and the wake-up at each, depend on. */
	assert_int_equal(attr->sample_type, PERF_SAMPLE_TIME);
	assert_true(attr->sample_id_all && attr->watermark);
	assert_int_equal(attr->wakeup_watermark, 1);
	assert_false(attr->use_clockid || attr->inherit);
	assert_int_equal(attr->read_format, PERF_FORMAT_TOTAL_TIME_ENABLED);
	assert_int_equal(pid, -1);
	assert_int_equal(group, -1);
	assert_int_equal(flags, PERF_FLAG_FD_CLOEXEC);
	assert_true(opened < RINGS);
	assert_int_equal(cpu, cpu_of[opened]);
	if (fail_open && !--fail_open) {
		errno = open_errno;
		return -1;
	}
	return ring[opened++].fd;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	for (unsigned int i = 0; i < RINGS; i++)
		if (ring[i].page && ring[i].fd == fd && fail_map && !--fail_map) {
			errno = ENOMEM;
			return MAP_FAILED;
		}
	return __real_mmap(addr, len, prot, flags, fd, offset);
}

int __wrap_epoll_ctl(int epoll, int op, int fd, struct epoll_event *event)
{
	assert_int_equal(op, EPOLL_CTL_ADD);
	assert_int_equal(event->events, EPOLLIN);
	assert_int_equal(fd, ring[polled].fd);
	epoll_fd = epoll;
	polled++;
	errno = ENOSPC;
	return fail_poll && !--fail_poll ? -1 : 0;
}

static int begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RINGS; i++) {
		struct ring *r = &ring[i];

		r->page = NULL;
		r->fd = memfd_create("ring", MFD_CLOEXEC);
		if (r->fd < 0 || ftruncate(r->fd, 4096 + RING_SIZE))
			return -1;
		r->page = __real_mmap(NULL, 4096 + RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
		if (r->page == MAP_FAILED)
			return -1;
		r->data = (uint8_t *)r->page + 4096;
	}
	opened = fail_open = fail_map = fail_poll = polled = said = calls = 0;
	open_errno = EACCES;
	online = (struct auxtrace_cpus){ { 3, 5 }, CPUS };
	memcpy(cpu_of, (const int[RINGS]){ 3, 5, 5 }, sizeof(cpu_of));
	memset(dropped, 0, sizeof(dropped));
	mapping_errno = code_errno = code_end_errno = 0;
	kernel = false;
	goes_at = 0;
	epoll_fd = -1;
	no_cpus = false;
	return 0;
}

static int end(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < RINGS; i++) {
		munmap(ring[i].page, 4096 + RING_SIZE);
		/* The code under test has closed those that it opened. */
		if (i < opened ? fcntl(ring[i].fd, F_GETFD) != -1 : close(ring[i].fd))
			return -1;
	}
	return epoll_fd >= 0 && fcntl(epoll_fd, F_GETFD) != -1 ? -1 : 0;
}

static struct sideband *open_sideband(const struct auxtrace_info *info)
{
	struct sideband *w = sideband_open(info, kernel);

	assert_non_null(w);
	assert_int_equal(polled, online.count);
	assert_int_equal(sideband_fd(w), epoll_fd);
	return w;
}

static void put(struct ring *r, const void *record, size_t size)
{
	const uint8_t *bytes = record;

	for (size_t i = 0; i < size; i++)
		r->data[(r->page->data_head + i) % RING_SIZE] = bytes[i];
	r->page->data_head += size;
}

/* Threads but the main one have another number than @pid. */
static void put_thread(struct ring *r, uint32_t type, uint32_t pid, uint32_t tid, uint32_t ppid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, ppid, tid, ptid;
		uint64_t time, sample_time;
	} rec = {
		{ .type = type, .size = sizeof(rec) }, pid, ppid, tid, ppid, time, time,
	};

	assert_int_equal(sizeof(rec), 40);
	put(r, &rec, sizeof(rec));
}

static void put_task(struct ring *r, uint32_t type, uint32_t pid, uint32_t ppid, uint64_t time)
{
	put_thread(r, type, pid, pid + 1000, ppid, time);
}

static void put_comm(struct ring *r, uint16_t misc, uint32_t pid, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		uint64_t sample_time;
	} rec = {
		{ .type = PERF_RECORD_COMM, .misc = misc, .size = sizeof(rec) }, pid, pid + 1000, "prog", time,
	};

	put(r, &rec, sizeof(rec));
}

static void put_mmap(struct ring *r, uint32_t pid, const char *path, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
		uint32_t major, minor;
		uint64_t inode, generation;
		uint32_t prot, flags;
		char path[64];
		uint64_t sample_time;
	} rec = {
		{ .type = PERF_RECORD_MMAP2, .size = sizeof(rec) }, pid, pid + 1000,
		0x7f0000001000, 0x3000, 0x5000, 8, 17, 1ull << 40, 7, PROT_READ | PROT_EXEC, MAP_PRIVATE, "", time,
	};

	snprintf(rec.path, sizeof(rec.path), "%s", path);
	put(r, &rec, sizeof(rec));
}

/* @excess: bytes by which the kernel writes too large a size, as the CPU has other events that get the record */
static void put_ksymbol(struct ring *r, uint64_t addr, const char *name, uint64_t time, bool gone, unsigned int excess)
{
	struct {
		struct perf_event_header header;
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char bytes[64 + 8 + 64];
	} rec = {
		{ .type = PERF_RECORD_KSYMBOL }, addr, 0x40, PERF_RECORD_KSYMBOL_TYPE_BPF,
		gone ? PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER : 0, "",
	};
	size_t len = (strlen(name) + 1 + 7) & ~7ul;

	assert_true(len <= 64 && excess <= 64);
	memset(rec.bytes, 0x77, sizeof(rec.bytes));
	strncpy(rec.bytes, name, len);
	memcpy(rec.bytes + len, &time, sizeof(time));
	rec.header.size = offsetof(typeof(rec), bytes) + len + sizeof(time) + excess;
	put(r, &rec, rec.header.size);
}

static void put_lost(struct ring *r, uint64_t lost, uint64_t time)
{
	struct {
		struct perf_event_header header;
		uint64_t id, lost, sample_time;
	} rec = { { .type = PERF_RECORD_LOST, .size = sizeof(rec) }, 7, lost, time };

	put(r, &rec, sizeof(rec));
}

/* Everything was read, and the kernel may use its space again. */
static unsigned long drain(struct sideband *w)
{
	unsigned long lost;

	calls = 0;
	lost = sideband_drain(w, recording_told());
	for (unsigned int i = 0; i < RINGS; i++)
		assert_int_equal(ring[i].page->data_tail, ring[i].page->data_head);
	return lost;
}

/* CPUs may have come: the same, and perf goes on with the events that it has not dropped. */
static void renew(struct sideband *w)
{
	calls = 0;
	sideband_look(w);
	for (unsigned int i = 0; i < RINGS; i++)
		served[i] += dropped[i] ? 0 : PERF_RING_WAIT_NS;
	assert_int_equal(sideband_renew(w, recording_told()), 0);
	for (unsigned int i = 0; i < RINGS; i++)
		assert_int_equal(ring[i].page->data_tail, ring[i].page->data_head);
}

static void expect(unsigned int i, enum kind kind, pid_t pid, uint64_t time)
{
	assert_true(i < calls);
	assert_int_equal(call[i].kind, kind);
	assert_int_equal(call[i].pid, pid);
	assert_int_equal(call[i].time, time);
}

/* ---- tests ----------------------------------------------------------------- */

/* A clock that counts nanoseconds, so that times are what was written. */
static const struct auxtrace_info plain = { .out_time_mult = 1 };

/*
 * @time is the last tick whose time in nanoseconds, not rounded, is @ns at most; @ns is what the
 * clock showed at @tsc. By <linux/auxtrace.h>: ns = zero + (tsc * mult >> shift), in 128 bits.
 */
static void expect_tick(const struct auxtrace_info *info, uint64_t tsc, uint64_t time)
{
	const unsigned __int128 mult = info->out_time_mult;
	unsigned __int128 ns = tsc * mult >> info->out_time_shift;
	unsigned __int128 scaled = ns << info->out_time_shift;

	assert_true(time * mult <= scaled);
	assert_true(((unsigned __int128)time + 1) * mult > scaled);
	/* So it is not after @tsc. */
	assert_true(time <= tsc);
}

static void a_time_of_perfs_clock_is_a_tick_of_the_tsc(void **state)
{
	static const struct { uint32_t mult, shift; } rate[] = {
		{ 1022611260, 31 },	/* 2.1 GHz */
		{ 3834792229, 31 },	/* 560 MHz, more than a nanosecond a tick */
		{ 438261968, 31 },	/* 4.9 GHz */
		{ 2147483648, 31 },	/* 1 GHz */
		{ UINT32_MAX, 31 }, { 512, 10 }, { 699051, 21 }, { 3, 1 }, { 1, 0 }, { 1, 31 },
	};
	static const uint64_t zero[] = {
		0, 1000, 123456789012345678, UINT64_MAX,
		/* The TSC began before the kernel. */
		-123456789012345678ull,
		1ull << 63,
	};
	static const uint64_t tick[] = {
		2147483649, 4294967295, 4294967296, 0x1fdd9e6c7c134, 0xffffffffffffff,
		/* Where a product of 64 bits is too small for it. */
		1ull << 62, (1ull << 63) + 12345, UINT64_MAX,
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rate) * ARRAY_SIZE(zero); i++) {
		const struct auxtrace_info info = {
			.out_time_mult = rate[i / ARRAY_SIZE(zero)].mult,
			.out_time_shift = rate[i / ARRAY_SIZE(zero)].shift,
			.out_time_zero = zero[i % ARRAY_SIZE(zero)],
		};
		struct sideband *w = open_sideband(&info);
		unsigned int checked = 0;

		for (unsigned int t = 0; t < ARRAY_SIZE(tick); t++) {
			unsigned __int128 since = (unsigned __int128)tick[t] * info.out_time_mult >> info.out_time_shift;
			uint64_t ns = info.out_time_zero + (uint64_t)since;

			/* perf's clock has 64 bits: centuries. */
			if (since >> 64)
				continue;
			put_task(&ring[0], PERF_RECORD_FORK, 10, 1, ns);
			put_comm(&ring[0], PERF_RECORD_MISC_COMM_EXEC, 10, ns);
			put_task(&ring[0], PERF_RECORD_EXIT, 10, 1, ns);
			drain(w);
			assert_int_equal(calls, 3);
			for (unsigned int c = 0; c < calls; c++) {
				assert_int_equal(call[c].kind, FORK + c);
				expect_tick(&info, tick[t], call[c].time);
			}
			checked++;
		}
		assert_true(checked >= 6);
		sideband_close(w);
		assert_int_equal(end(state), 0);
		assert_int_equal(begin(state), 0);
	}
}

static void without_a_tsc_the_time_is_not_known(void **state)
{
	const struct auxtrace_info info = { .out_time_zero = 1000, .out_time_shift = 10 };
	struct sideband *w = open_sideband(&info);

	(void)state;
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 12345);
	put_comm(&ring[0], PERF_RECORD_MISC_COMM_EXEC, 10, 12346);
	put_task(&ring[0], PERF_RECORD_EXIT, 10, 1, 12347);
	assert_int_equal(drain(w), 0);
	assert_int_equal(calls, 3);
	expect(0, FORK, 10, 0);
	expect(1, EXEC, 10, 0);
	expect(2, END, 10, 0);
	sideband_close(w);
}

static void a_record_is_told_once_as_what_it_is(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 101);
	/* A thread: no address space of its own. Its exit is perhaps that of the last one. */
	put_task(&ring[0], PERF_RECORD_FORK, 10, 10, 102);
	put_comm(&ring[0], 0, 10, 103);
	put_comm(&ring[0], PERF_RECORD_MISC_COMM_EXEC, 10, 104);
	put_mmap(&ring[0], 10, "/lib/with a blank.so", 105);
	put_mmap(&ring[0], 10, "//anon", 106);
	put_mmap(&ring[0], 10, "[heap]", 107);
	put_mmap(&ring[0], 10, "anon_inode:x", 108);
	put_mmap(&ring[0], 10, "[vdso]", 109);
	put_task(&ring[0], PERF_RECORD_THROTTLE, 10, 1, 110);
	put_task(&ring[0], PERF_RECORD_EXIT, 10, 1, 111);
	put_task(&ring[0], PERF_RECORD_EXIT, 11, 11, 112);
	assert_int_equal(drain(w), 0);
	assert_int_equal(calls, 7);
	expect(0, FORK, 10, 101);
	assert_int_equal(call[0].parent, 1);
	expect(1, EXEC, 10, 104);
	expect(2, MAP, 10, 105);
	assert_int_equal(call[2].major, 8);
	assert_int_equal(call[2].minor, 17);
	assert_int_equal(call[2].inode, 1ull << 40);
	assert_int_equal(call[2].start, 0x7f0000001000);
	assert_int_equal(call[2].end, 0x7f0000004000);
	assert_int_equal(call[2].offset, 0x5000);
	assert_string_equal(call[2].path, "/lib/with a blank.so");
	/* The process is read again; if it has ended, its vdso is what is reported. */
	expect(3, ADD, 10, 0);
	expect(4, MAP, 10, 109);
	assert_string_equal(call[4].path, "[vdso]");
	expect(5, END, 10, 111);
	expect(6, END, 11, 112);
	drain(w);
	assert_int_equal(calls, 0);
	sideband_close(w);
}

static void perf_maps_are_told_of_processes_too(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	sideband_tell(w, maps_told());
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 101);
	put_task(&ring[0], PERF_RECORD_FORK, 10, 10, 102);
	put_mmap(&ring[0], 10, "//anon", 103);
	put_thread(&ring[0], PERF_RECORD_EXIT, 10, 11, 10, 104);
	put_thread(&ring[0], PERF_RECORD_EXIT, 10, 10, 1, 105);
	put_comm(&ring[0], PERF_RECORD_MISC_COMM_EXEC, 12, 106);
	drain(w);
	assert_int_equal(calls, 8);
	expect(0, DESCENDANT, 10, 0);
	assert_int_equal(call[0].parent, 1);
	expect(1, FORK, 10, 101);
	expect(2, MAPPED, 10, 0);
	assert_string_equal(call[2].path, "//anon");
	expect(3, END, 10, 104);
	/* The main thread's. */
	expect(4, EXITED, 10, 0);
	expect(5, END, 10, 105);
	expect(6, EXECED, 12, 0);
	expect(7, EXEC, 12, 106);
	sideband_close(w);
}

static void records_of_all_cpus_are_told_in_the_order_of_time(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 100);
	put_task(&ring[0], PERF_RECORD_EXIT, 10, 1, 400);
	put_task(&ring[1], PERF_RECORD_FORK, 11, 1, 50);
	put_comm(&ring[1], PERF_RECORD_MISC_COMM_EXEC, 10, 200);
	put_task(&ring[1], PERF_RECORD_EXIT, 11, 1, 300);
	put_task(&ring[1], PERF_RECORD_FORK, 10, 1, 500);
	drain(w);
	assert_int_equal(calls, 6);
	expect(0, FORK, 11, 50);
	expect(1, FORK, 10, 100);
	expect(2, EXEC, 10, 200);
	expect(3, END, 11, 300);
	expect(4, END, 10, 400);
	expect(5, FORK, 10, 500);
	sideband_close(w);
}

static void a_record_that_wraps_is_whole(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	/* At each place where one can be cut; the header is never, as records are multiples of 8. */
	for (unsigned int before = 8; before <= 144; before += 8) {
		struct perf_event_mmap_page *page = ring[1].page;

		page->data_head = page->data_tail = (uint64_t)RING_SIZE * before - before;
		put_mmap(&ring[1], before, "/a/path/that/is/longer/than/some/of/the/parts/of/a/record", 77);
		put_task(&ring[1], PERF_RECORD_EXIT, before, 1, 78);
		drain(w);
		assert_int_equal(calls, 2);
		expect(0, MAP, before, 77);
		assert_int_equal(call[0].offset, 0x5000);
		assert_string_equal(call[0].path, "/a/path/that/is/longer/than/some/of/the/parts/of/a/record");
		expect(1, END, before, 78);
	}
	sideband_close(w);
}

static void what_perf_lost_is_counted(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	put_lost(&ring[0], 3, 10);
	put_task(&ring[0], PERF_RECORD_EXIT, 10, 1, 30);
	put_lost(&ring[1], 4, 20);
	assert_int_equal(drain(w), 7);
	assert_int_equal(calls, 1);
	expect(0, END, 10, 30);
	assert_int_equal(drain(w), 0);
	sideband_close(w);
}

static void a_mapping_of_a_process_that_is_not_recorded_is_no_error(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	mapping_errno = ENOENT;
	put_mmap(&ring[0], 10, "/bin/x", 1);
	drain(w);
	assert_int_equal(said, 0);
	mapping_errno = ENOMEM;
	put_mmap(&ring[0], 10, "/bin/x", 2);
	drain(w);
	assert_int_equal(said, 1);
	sideband_close(w);
}

#define FIRST	0xffffffffc0000650ull
#define SECOND	0xffffffffc0001000ull

static void expect_code(unsigned int i, enum kind kind, uint64_t address, uint64_t time)
{
	expect(i, kind, 0, time);
	assert_int_equal(call[i].start, address);
}

static struct sideband *open_of_kernel(void)
{
	kernel = true;
	return open_sideband(&plain);
}

static void code_of_the_kernel_is_read_at_once_and_a_little_later(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	put_ksymbol(&ring[0], FIRST, "bpf_prog_1_x", 100, false, 0);
	drain(w);
	assert_int_equal(calls, 1);
	expect_code(0, CODE, FIRST, 100);
	assert_int_equal(call[0].end, FIRST + 0x40);
	assert_string_equal(call[0].path, "bpf_prog_1_x");
	assert_int_equal(sideband_due(w), passed + 20000000);
	passed += 19999999;
	drain(w);
	assert_int_equal(calls, 0);
	passed++;
	drain(w);
	assert_int_equal(calls, 1);
	expect_code(0, CODE, FIRST, 100);
	assert_int_equal(sideband_due(w), INT64_MAX);
	passed += 1000000000;
	drain(w);
	assert_int_equal(calls, 0);
	put_ksymbol(&ring[1], FIRST, "bpf_prog_1_x", 200, true, 0);
	drain(w);
	assert_int_equal(calls, 1);
	expect_code(0, CODE_END, FIRST, 200);
	assert_int_equal(sideband_generated_lost(w), 0);
	/* Of what it was before the recording, there is nothing to end. */
	put_ksymbol(&ring[1], SECOND, "older", 300, true, 0);
	drain(w);
	assert_int_equal(calls, 0);
	sideband_close(w);
}

/* What was read by then may be another program: the same call takes the report. */
static void code_that_goes_while_it_is_read_is_ended_at_once(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	put_ksymbol(&ring[0], FIRST, "x", 100, false, 0);
	goes_at = 150;
	drain(w);
	assert_int_equal(calls, 2);
	expect_code(0, CODE, FIRST, 100);
	expect_code(1, CODE_END, FIRST, 150);
	sideband_close(w);
}

static void code_that_is_gone_before_it_is_read_is_counted(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	code_end_errno = ENOENT;
	put_ksymbol(&ring[0], FIRST, "x", 100, false, 0);
	put_ksymbol(&ring[1], FIRST, "x", 120, true, 0);
	put_ksymbol(&ring[0], FIRST, "y", 140, false, 0);
	drain(w);
	assert_int_equal(calls, 2);
	expect_code(0, CODE_END, FIRST, 120);
	expect_code(1, CODE, FIRST, 140);
	assert_int_equal(sideband_generated_lost(w), 1);
	sideband_close(w);
}

/* perf reports it before the kernel has written it. */
static void a_trampoline_that_was_read_once_is_counted(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	for (int i = 0; i < 2; i++) {
		put_ksymbol(&ring[0], FIRST, "bpf_trampoline_1", 100, false, 0);
		drain(w);
		passed += i ? 20000000 : 0;
		drain(w);
		put_ksymbol(&ring[0], FIRST, "bpf_trampoline_1", 200, true, 0);
		drain(w);
		assert_int_equal(sideband_generated_lost(w), 1);
	}
	sideband_close(w);
}

static void a_program_without_a_name_has_one(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	put_ksymbol(&ring[0], FIRST, "", 100, false, 0);
	drain(w);
	assert_string_equal(call[0].path, "bpf_prog");
	sideband_close(w);
}

static void the_time_of_a_record_with_too_large_a_size_is_behind_its_name(void **state)
{
	struct sideband *w = open_of_kernel();
	static const char *const name[] = { "1", "1234567", "12345678", "a_longer_name" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(name); i++)
		for (unsigned int excess = 0; excess <= 64; excess += 8) {
			put_ksymbol(&ring[0], SECOND, name[i], 90 + i, false, excess);
			put_task(&ring[1], PERF_RECORD_EXIT, 10, 1, 80);
			put_task(&ring[1], PERF_RECORD_EXIT, 10, 1, 99);
			drain(w);
			assert_int_equal(calls, 3);
			expect_code(2, CODE, SECOND, 90 + i);
			assert_string_equal(call[2].path, name[i]);
		}
	sideband_close(w);
}

static void who_may_not_read_kcore_learns_it_once(void **state)
{
	struct sideband *w = open_of_kernel();

	(void)state;
	code_errno = EFAULT;
	put_ksymbol(&ring[0], FIRST, "x", 100, false, 0);
	drain(w);
	assert_int_equal(said, 0);
	code_errno = ENOSPC;
	put_ksymbol(&ring[0], FIRST + 128, "x", 100, false, 0);
	put_ksymbol(&ring[0], FIRST + 192, "x", 100, false, 0);
	drain(w);
	assert_int_equal(calls, 2);
	assert_int_equal(said, 1);
	code_errno = EPERM;
	put_ksymbol(&ring[0], SECOND, "x", 100, false, 0);
	put_ksymbol(&ring[0], SECOND + 64, "x", 100, false, 0);
	drain(w);
	assert_int_equal(calls, 1);
	assert_int_equal(said, 2);
	assert_int_equal(sideband_due(w), INT64_MAX);
	drain(w);
	assert_int_equal(calls, 0);
	/* What nobody can read is not lost. */
	code_end_errno = ENOENT;
	put_ksymbol(&ring[0], SECOND, "x", 200, true, 0);
	drain(w);
	assert_int_equal(sideband_generated_lost(w), 0);
	sideband_close(w);
}

static void without_the_kernel_its_code_is_not_asked_for(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	put_ksymbol(&ring[0], FIRST, "x", 100, false, 0);
	drain(w);
	assert_int_equal(calls, 0);
	assert_int_equal(sideband_due(w), INT64_MAX);
	assert_int_equal(sideband_generated_lost(w), 0);
	sideband_close(w);
}

/* perf writes nothing more to the ring that it had, and serves the new one. */
static void a_cpu_that_was_offline_gets_another_ring(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	/* Nobody has told. */
	dropped[1] = true;
	put_task(&ring[1], PERF_RECORD_FORK, 10, 1, 100);
	drain(w);
	assert_int_equal(calls, 1);
	assert_int_equal(opened, CPUS);
	assert_int_equal(sideband_cpus_came(w), 0);
	/* What it had is told, in its order. */
	put_task(&ring[1], PERF_RECORD_FORK, 11, 1, 200);
	put_task(&ring[0], PERF_RECORD_EXIT, 11, 1, 300);
	put_task(&ring[1], PERF_RECORD_FORK, 12, 1, 400);
	renew(w);
	assert_int_equal(calls, 3);
	expect(0, FORK, 11, 200);
	expect(1, END, 11, 300);
	expect(2, FORK, 12, 400);
	assert_int_equal(opened, 3);
	assert_int_equal(polled, 3);
	assert_int_equal(fcntl(ring[1].fd, F_GETFD), -1);
	assert_int_equal(sideband_cpus_came(w), 1);
	/* The new one is read, and the other CPU's. */
	put_task(&ring[2], PERF_RECORD_FORK, 13, 1, 500);
	put_task(&ring[0], PERF_RECORD_FORK, 14, 1, 600);
	drain(w);
	assert_int_equal(calls, 2);
	expect(0, FORK, 13, 500);
	expect(1, FORK, 14, 600);
	/* No CPU came. */
	renew(w);
	assert_int_equal(opened, 3);
	assert_int_equal(sideband_cpus_came(w), 1);
	assert_int_equal(said, 0);
	sideband_close(w);
}

static void a_cpu_that_comes_for_the_first_time_gets_a_ring(void **state)
{
	struct sideband *w;

	(void)state;
	online = (struct auxtrace_cpus){ { 3 }, 1 };
	w = open_sideband(&plain);
	assert_int_equal(opened, 1);
	online = (struct auxtrace_cpus){ { 3, 5 }, 2 };
	renew(w);
	assert_int_equal(opened, 2);
	assert_int_equal(sideband_cpus_came(w), 1);
	put_task(&ring[1], PERF_RECORD_FORK, 10, 1, 100);
	drain(w);
	assert_int_equal(calls, 1);
	sideband_close(w);
}

/* Then it has none, and gets one when it comes. */
static void a_cpu_that_is_still_offline_is_waited_for(void **state)
{
	struct sideband *w = open_sideband(&plain);

	(void)state;
	memcpy(cpu_of, (const int[RINGS]){ 3, 5, 3 }, sizeof(cpu_of));
	dropped[0] = true;
	online = (struct auxtrace_cpus){ { 5 }, 1 };
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 100);
	renew(w);
	assert_int_equal(calls, 1);
	assert_int_equal(opened, CPUS);
	assert_int_equal(sideband_cpus_came(w), 0);
	put_task(&ring[1], PERF_RECORD_FORK, 11, 1, 200);
	drain(w);
	assert_int_equal(calls, 1);
	/* It comes, and goes before it has a ring; and once more. */
	online = (struct auxtrace_cpus){ { 3, 5 }, 2 };
	fail_open = 1;
	open_errno = ENODEV;
	renew(w);
	assert_int_equal(said, 0);
	assert_int_equal(sideband_cpus_came(w), 1);
	fail_open = 1;
	open_errno = EMFILE;
	renew(w);
	assert_int_equal(said, 1);
	assert_non_null(strstr(said_text, "CPU 3"));
	assert_int_equal(sideband_cpus_came(w), 2);
	renew(w);
	assert_int_equal(opened, 3);
	assert_int_equal(sideband_cpus_came(w), 3);
	put_task(&ring[2], PERF_RECORD_FORK, 12, 1, 300);
	drain(w);
	assert_int_equal(calls, 1);
	expect(0, FORK, 12, 300);
	sideband_close(w);
}

static void what_cannot_be_opened_leaves_nothing_open(void **state)
{
	(void)state;
	sideband_close(NULL);
	no_cpus = true;
	assert_null(sideband_open(&plain, kernel));
	no_cpus = false;
	fail_open = 2;
	errno = 0;
	assert_null(sideband_open(&plain, kernel));
	assert_int_equal(errno, EACCES);
	assert_int_equal(opened, 1);
}

static void a_ring_that_cannot_be_waited_for_is_told(void **state)
{
	(void)state;
	fail_poll = 2;
	errno = 0;
	assert_null(sideband_open(&plain, kernel));
	assert_int_equal(errno, ENOSPC);
	assert_int_equal(opened, 2);
}

/* It stands still while the machine sleeps, and the TSC does not. */
static void behind_a_sleep_perfs_clock_is_another_one(void **state)
{
	const struct auxtrace_info slept = { .out_time_mult = 1, .out_time_zero = -1000000ull };
	struct sideband *w = open_sideband(&plain);

	(void)state;
	put_task(&ring[0], PERF_RECORD_FORK, 10, 1, 100);
	drain(w);
	expect(0, FORK, 10, 100);
	sideband_clock(w, &slept);
	put_task(&ring[0], PERF_RECORD_FORK, 11, 1, 200);
	drain(w);
	expect(0, FORK, 11, 1000200);
	sideband_close(w);
}

static void a_ring_that_cannot_be_mapped_is_told(void **state)
{
	(void)state;
	fail_map = 2;
	errno = 0;
	assert_null(sideband_open(&plain, kernel));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(opened, 2);
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		t(a_time_of_perfs_clock_is_a_tick_of_the_tsc),
		t(without_a_tsc_the_time_is_not_known),
		t(a_record_is_told_once_as_what_it_is),
		t(perf_maps_are_told_of_processes_too),
		t(records_of_all_cpus_are_told_in_the_order_of_time),
		t(a_record_that_wraps_is_whole),
		t(what_perf_lost_is_counted),
		t(a_mapping_of_a_process_that_is_not_recorded_is_no_error),
		t(code_of_the_kernel_is_read_at_once_and_a_little_later),
		t(code_that_goes_while_it_is_read_is_ended_at_once),
		t(code_that_is_gone_before_it_is_read_is_counted),
		t(a_trampoline_that_was_read_once_is_counted),
		t(a_program_without_a_name_has_one),
		t(the_time_of_a_record_with_too_large_a_size_is_behind_its_name),
		t(who_may_not_read_kcore_learns_it_once),
		t(without_the_kernel_its_code_is_not_asked_for),
		t(a_cpu_that_was_offline_gets_another_ring),
		t(a_cpu_that_comes_for_the_first_time_gets_a_ring),
		t(a_cpu_that_is_still_offline_is_waited_for),
		t(what_cannot_be_opened_leaves_nothing_open),
		t(a_ring_that_cannot_be_mapped_is_told),
		t(a_ring_that_cannot_be_waited_for_is_told),
		t(behind_a_sleep_perfs_clock_is_another_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
