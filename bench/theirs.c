// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "die.h"
#include "theirs.h"

static int type_of(const struct source *source)
{
	char path[64];
	int type;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", source->perfs);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%d", &type) != 1)
		die("%s", path);
	fclose(f);
	return type;
}

void theirs_set_aux_action(struct perf_event_attr *attr, uint32_t action)
{
	size_t behind = offsetof(struct perf_event_attr, aux_sample_size) +
			sizeof(attr->aux_sample_size);

	memcpy((char *)attr + behind, &action, sizeof(action));
}

static void map(struct theirs_event *event, const struct theirs_setup *setup)
{
	/* perf makes a data ring or AUX area overwritable if it is mapped read-only. */
	int data = PROT_READ | (setup->data_overwrite ? 0 : PROT_WRITE);
	int aux = PROT_READ | (setup->aux_overwrite ? 0 : PROT_WRITE);
	size_t page = sysconf(_SC_PAGESIZE);

	event->page = mmap(NULL, page + setup->data_size, data, MAP_SHARED, event->fd, 0);
	if (event->page == MAP_FAILED)
		die("mmap of perf's data ring");
	if (!setup->aux_size)
		return;
	event->page->aux_offset = page + setup->data_size;
	event->page->aux_size = setup->aux_size;
	event->aux = mmap(NULL, setup->aux_size, aux, MAP_SHARED, event->fd,
			  event->page->aux_offset);
	if (event->aux == MAP_FAILED)
		die("mmap of perf's AUX area");
}

void theirs_open(struct theirs *theirs, const struct theirs_setup *setup)
{
	struct perf_event_attr attr = setup->attr;

	attr.size = sizeof(attr);
	attr.disabled = 1;
	if (setup->source) {
		attr.type = type_of(setup->source);
		attr.config = setup->source->config;
	}
	theirs->nr = setup->nr;
	theirs->data_size = setup->data_size;
	theirs->aux_size = setup->aux_size;
	theirs->event = calloc(setup->nr, sizeof(*theirs->event));
	if (!theirs->event)
		die("events");
	for (unsigned int i = 0; i < setup->nr; i++) {
		struct theirs_event *event = &theirs->event[i];

		event->fd = syscall(SYS_perf_event_open, &attr, setup->pid,
				    setup->any_cpu ? -1 : (int)i, -1, PERF_FLAG_FD_CLOEXEC);
		if (event->fd < 0)
			die("perf_event_open on CPU %u", i);
		map(event, setup);
	}
	theirs_enable(theirs);
}

void theirs_close(struct theirs *theirs)
{
	for (unsigned int i = 0; i < theirs->nr; i++) {
		struct theirs_event *event = &theirs->event[i];

		if (event->aux)
			munmap(event->aux, theirs->aux_size);
		munmap(event->page, sysconf(_SC_PAGESIZE) + theirs->data_size);
		close(event->fd);
	}
	free(theirs->event);
}

void theirs_disable(void *arg)
{
	const struct theirs *theirs = arg;

	for (unsigned int i = 0; i < theirs->nr; i++)
		if (ioctl(theirs->event[i].fd, PERF_EVENT_IOC_DISABLE, 0))
			die("PERF_EVENT_IOC_DISABLE");
}

void theirs_enable(void *arg)
{
	const struct theirs *theirs = arg;

	for (unsigned int i = 0; i < theirs->nr; i++)
		if (ioctl(theirs->event[i].fd, PERF_EVENT_IOC_ENABLE, 0))
			die("PERF_EVENT_IOC_ENABLE");
}

void theirs_output(struct theirs *theirs, bool pause)
{
	if (ioctl(theirs->event[0].fd, PERF_EVENT_IOC_PAUSE_OUTPUT, pause))
		die("PERF_EVENT_IOC_PAUSE_OUTPUT");
}

uint64_t theirs_tracepoint(const char *name)
{
	char path[128];
	uint64_t id;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/kernel/tracing/events/%s/id", name);
	f = fopen(path, "re");
	if (!f || fscanf(f, "%" SCNu64, &id) != 1)
		die("%s", path);
	fclose(f);
	return id;
}

int theirs_join(const struct theirs *theirs, const struct perf_event_attr *wanted, bool records)
{
	struct perf_event_attr attr = *wanted;
	int fd;

	attr.size = sizeof(attr);
	fd = syscall(SYS_perf_event_open, &attr, -1, 0, theirs->event[0].fd, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		die("perf_event_open of a member of the group");
	if (records && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, theirs->event[0].fd))
		die("PERF_EVENT_IOC_SET_OUTPUT");
	return fd;
}
