// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf_ring.h"

int perf_ring_open(struct perf_ring *r, const struct perf_event_attr *wanted, int cpu, unsigned int pages)
{
	struct perf_event_attr attr = *wanted;
	/* perf overwrites if the user cannot write a tail. */
	int err, prot = attr.write_backward ? PROT_READ : PROT_READ | PROT_WRITE;

	attr.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED;
	r->page_size = sysconf(_SC_PAGESIZE);
	r->size = pages * r->page_size;
	r->fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (r->fd < 0)
		return -1;
	r->page = mmap(NULL, r->page_size + r->size, prot, MAP_SHARED, r->fd, 0);
	if (r->page == MAP_FAILED) {
		err = errno;
		close(r->fd);
		errno = err;
		return -1;
	}
	r->data = (const uint8_t *)r->page + r->page_size;
	return 0;
}

void perf_ring_close(struct perf_ring *r)
{
	munmap(r->page, r->page_size + r->size);
	close(r->fd);
}

/* For how many nanoseconds the event was enabled, which it is until perf drops it. -1: perf does not say. */
static int64_t enabled_ns(const struct perf_ring *r)
{
	struct {
		uint64_t count, enabled;
	} values;

	return read(r->fd, &values, sizeof(values)) == sizeof(values) ? (int64_t)values.enabled : -1;
}

void perf_ring_look(struct perf_ring *r)
{
	r->enabled = enabled_ns(r);
}

bool perf_ring_dropped(const struct perf_ring *r)
{
	return enabled_ns(r) == r->enabled;
}

void perf_ring_copy(const struct perf_ring *r, uint64_t at, void *to, size_t size)
{
	size_t first = r->size - at % r->size;

	if (first > size)
		first = size;
	memcpy(to, r->data + at % r->size, first);
	memcpy((char *)to + first, r->data, size - first);
}

bool perf_ring_write(const struct perf_ring *r, uint64_t from, size_t size, FILE *f)
{
	size_t at = from % r->size, first = r->size - at;

	if (first > size)
		first = size;
	return fwrite(r->data + at, 1, first, f) == first && fwrite(r->data, 1, size - first, f) == size - first;
}
