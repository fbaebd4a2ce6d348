// SPDX-License-Identifier: GPL-2.0-only
/* <linux/perf_event.h> has the format of the rings. */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "generated.h"
#include "lib/clock.h"
#include "lib/perf_trailer.h"
#include "lib/tool.h"
#include "perf_maps.h"
#include "perf_ring.h"
#include "sideband.h"

#define MAX_TRIES	1000	/* a machine that never stops forking: then the order is not certain */
#define DATA_PAGES	32	/* a record is some 100 bytes, and they are rare */

struct task_record {		/* PERF_RECORD_FORK, _EXIT */
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
};

struct comm_record {		/* PERF_RECORD_COMM */
	struct perf_event_header header;
	uint32_t pid, tid;
};

struct mmap_record {		/* PERF_RECORD_MMAP2, without a build ID */
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t addr, len, pgoff;
	uint32_t major, minor;
	uint64_t inode, generation;
	uint32_t prot, flags;
	char path[];
};

struct ksymbol_record {		/* PERF_RECORD_KSYMBOL */
	struct perf_event_header header;
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
	char name[];
};

union record {
	struct perf_event_header header;
	struct mmap_record mmap;
	struct task_record task;
	struct comm_record comm;
	struct ksymbol_record ksymbol;
	struct {
		struct perf_event_header header;
		uint64_t id, lost;
	} lost;
	char bytes[65536 + 1];	/* the longest, and a final 0 */
};

struct ring {			/* of a CPU */
	struct perf_ring perf;
	int cpu;
	bool dropped;		/* by perf: the CPU has been offline */
	uint64_t tail, head;
	bool has_next;
	union record next;	/* at @tail */
};

struct sideband {
	struct auxtrace_info info;
	struct generated *generated;	/* NULL: the kernel is not traced */
	struct perf_maps *maps;		/* NULL: nobody asks */
	int epoll;
	unsigned long cpus_came;
	unsigned int count;
	struct ring *ring;	/* one for each CPU */
};

static int open_ring(struct sideband *w, int cpu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.mmap = 1,
		.mmap2 = 1,
		.task = 1,
		.comm = 1,
		.comm_exec = 1,
		.ksymbol = !!w->generated,
		/* The last 8 bytes of each record. */
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		/* Wake up at each record: a process may not live long. */
		.watermark = 1,
		.wakeup_watermark = 1,
	};
	struct epoll_event event = { .events = EPOLLIN };
	struct ring *r;

	list_grow(w->ring, w->count);
	r = &w->ring[w->count];
	*r = (struct ring){ .cpu = cpu };
	if (perf_ring_open(&r->perf, &attr, cpu, DATA_PAGES))
		return -1;
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, r->perf.fd, &event)) {
		int err = errno;

		perf_ring_close(&r->perf);
		errno = err;
		return -1;
	}
	w->count++;
	return 0;
}

struct sideband *sideband_open(const struct auxtrace_info *info, bool kernel)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_online();
	struct sideband *w;
	int err;

	if (!cpus)
		return NULL;
	w = xcalloc(1, sizeof(*w));
	w->info = *info;
	/* Without times of its records it would not be known what had been read in time. */
	w->generated = kernel && info->out_time_mult ? generated_new() : NULL;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->epoll < 0)
		goto failed;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if (open_ring(w, c))
			goto failed;
	auxtrace_cpus_free(cpus);
	return w;

failed:
	err = errno;
	auxtrace_cpus_free(cpus);
	sideband_close(w);
	errno = err;
	return NULL;
}

void sideband_tell(struct sideband *w, struct perf_maps *maps)
{
	w->maps = maps;
}

int sideband_fd(const struct sideband *w)
{
	return w->epoll;
}

static void note_mapping(const struct mmap_record *rec, uint64_t time, struct auxtrace_recording *recording)
{
	bool vdso = !strcmp(rec->path, "[vdso]");
	const struct auxtrace_mapping mapping = {
		.size = sizeof(mapping), .start = rec->addr, .end = rec->addr + rec->len, .offset = rec->pgoff,
		.path = rec->path, .major = rec->major, .minor = rec->minor, .inode = rec->inode, .time = time,
	};

	/* perf reports an exec at its begin. The vdso is mapped last: read the mappings again. */
	if (vdso)
		auxtrace_recording_add_task(recording, rec->pid);
	/* "//anon" is not a file. */
	if (!vdso && (rec->path[0] != '/' || rec->path[1] == '/'))
		return;
	if (auxtrace_recording_add_mapped_file(recording, rec->pid, &mapping) && errno != ENOENT)
		say("%s", auxtrace_error());
}

/* perf's time as TSC; 0, which stands for now, if perf's clock does not follow the TSC. */
static uint64_t to_tsc(const struct sideband *w, uint64_t ns)
{
	const struct auxtrace_info *info = &w->info;

	return clock_to_tsc(ns, info->out_time_zero, info->out_time_mult, info->out_time_shift);
}

static uint64_t time_of(const union record *rec)
{
	uint64_t time;

	memcpy(&time, rec->bytes + perf_trailer_at(&rec->header, sizeof(time)), sizeof(time));
	return time;
}

static void note_generated(const struct sideband *w, const union record *rec, struct auxtrace_recording *recording)
{
	const struct ksymbol_record *ksymbol = &rec->ksymbol;
	uint64_t tsc = to_tsc(w, time_of(rec));

	/* The other type, OOL, is trampolines of ftrace and copies of instructions that have a kprobe. */
	if (!w->generated || rec->header.size < sizeof(*ksymbol) || ksymbol->type != PERF_RECORD_KSYMBOL_TYPE_BPF)
		return;
	if (ksymbol->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER)
		generated_went(w->generated, recording, tsc, ksymbol->addr);
	else
		generated_came(w->generated, tsc, ksymbol->addr, ksymbol->len, ksymbol->name);
}

static void handle(const struct sideband *w, const union record *rec,
		      struct auxtrace_recording *recording)
{
	switch (rec->header.type) {
	case PERF_RECORD_MMAP2:
		if (w->maps)
			perf_maps_mapped(w->maps, rec->mmap.pid, rec->mmap.path);
		note_mapping(&rec->mmap, to_tsc(w, time_of(rec)), recording);
		break;
	case PERF_RECORD_FORK:
		if (rec->task.pid == rec->task.ppid)
			break;
		if (w->maps)
			perf_maps_forked(w->maps, rec->task.ppid, rec->task.pid);
		/* Fails if the process has exited already. */
		auxtrace_recording_fork_task(recording, rec->task.ppid, rec->task.pid, to_tsc(w, rec->task.time));
		break;
	case PERF_RECORD_COMM:
		if (!(rec->header.misc & PERF_RECORD_MISC_COMM_EXEC))
			break;
		if (w->maps)
			perf_maps_execed(w->maps, rec->comm.pid);
		/* Fails if the process has exited already. */
		auxtrace_recording_exec_task(recording, rec->comm.pid, to_tsc(w, time_of(rec)));
		break;
	case PERF_RECORD_EXIT:
		if (w->maps && rec->task.pid == rec->task.tid)
			perf_maps_exited(w->maps, rec->task.pid);
		/* If only a thread exited, a later record or the end of the recording corrects this. */
		auxtrace_recording_end_task(recording, rec->task.pid, to_tsc(w, rec->task.time));
		break;
	case PERF_RECORD_KSYMBOL:
		note_generated(w, rec, recording);
		break;
	}
}

/* Copy the ring's next record to r->next. */
static void read_next(struct ring *r)
{
	union record *rec = &r->next;

	r->has_next = r->tail < r->head;
	if (!r->has_next)
		return;
	perf_ring_copy(&r->perf, r->tail, &rec->header, sizeof(rec->header));
	perf_ring_copy(&r->perf, r->tail, rec, rec->header.size);
	rec->bytes[rec->header.size] = 0;
}

static struct ring *earliest(const struct sideband *w)
{
	struct ring *found = NULL;

	for (unsigned int i = 0; i < w->count; i++) {
		struct ring *r = &w->ring[i];

		if (r->has_next && (!found || time_of(&r->next) < time_of(&found->next)))
			found = r;
	}
	return found;
}

/*
 * Read how far the rings are written, all at one time: if none goes on while all are looked at. Else a fork might be left
 * for later on one CPU, and what the child did by then be taken from another one.
 */
static void read_heads(struct sideband *w)
{
	bool same;

	for (unsigned int tries = 0; tries < MAX_TRIES; tries++) {
		same = true;
		for (unsigned int i = 0; i < w->count; i++) {
			struct ring *r = &w->ring[i];
			uint64_t head = perf_ring_head(&r->perf);

			same = same && head == r->head;
			r->head = head;
		}
		if (same)
			return;
	}
}

/* A process moves from CPU to CPU, so the records of all rings are handled in the order of time. */
static unsigned long drain(struct sideband *w, struct auxtrace_recording *recording)
{
	unsigned long lost = 0;
	struct ring *r;

	read_heads(w);
	for (unsigned int i = 0; i < w->count; i++) {
		r = &w->ring[i];
		r->tail = r->perf.page->data_tail;
		read_next(r);
	}
	while ((r = earliest(w))) {
		if (r->next.header.type == PERF_RECORD_LOST)
			lost += r->next.lost.lost;
		else
			handle(w, &r->next, recording);
		r->tail += r->next.header.size;
		read_next(r);
	}
	for (unsigned int i = 0; i < w->count; i++)
		perf_ring_consume(&w->ring[i].perf, w->ring[i].tail);
	return lost;
}

unsigned long sideband_drain(struct sideband *w, struct auxtrace_recording *recording)
{
	unsigned long lost = drain(w, recording);

	for (unsigned int tries = 0; w->generated && tries < MAX_TRIES && generated_read(w->generated, recording); tries++)
		lost += drain(w, recording);
	return lost;
}

void sideband_look(struct sideband *w)
{
	for (unsigned int i = 0; i < w->count; i++)
		perf_ring_look(&w->ring[i].perf);
}

static bool is_reported(const struct sideband *w, int cpu)
{
	for (unsigned int i = 0; i < w->count; i++)
		if (w->ring[i].cpu == cpu)
			return true;
	return false;
}

/* All records of the rings that perf has dropped are read. */
static void close_dropped(struct sideband *w)
{
	unsigned int kept = 0;

	for (unsigned int i = 0; i < w->count; i++) {
		if (w->ring[i].dropped)
			perf_ring_close(&w->ring[i].perf);
		else if (kept++ != i)
			w->ring[kept - 1] = w->ring[i];
	}
	w->count = kept;
}

static void open_missing(struct sideband *w)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_online();

	if (!cpus) {
		say("%s", auxtrace_error());
		return;
	}
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		if (is_reported(w, c))
			continue;
		w->cpus_came++;
		/* ENODEV: it went again, and counts once more when it comes. */
		if (open_ring(w, c) && errno != ENODEV)
			say("perf does not report what runs on CPU %d, which came online: %s", c, strerror(errno));
	}
	auxtrace_cpus_free(cpus);
}

unsigned long sideband_renew(struct sideband *w, struct auxtrace_recording *recording)
{
	unsigned long lost;

	for (unsigned int i = 0; i < w->count; i++)
		w->ring[i].dropped = perf_ring_dropped(&w->ring[i].perf);
	lost = drain(w, recording);
	close_dropped(w);
	open_missing(w);
	return lost;
}

void sideband_clock(struct sideband *w, const struct auxtrace_info *info)
{
	w->info = *info;
}

int64_t sideband_due(const struct sideband *w)
{
	return w->generated ? generated_due(w->generated) : INT64_MAX;
}

unsigned long sideband_generated_lost(const struct sideband *w)
{
	return w->generated ? generated_lost(w->generated) : 0;
}

unsigned long sideband_cpus_came(const struct sideband *w)
{
	return w->cpus_came;
}

void sideband_close(struct sideband *w)
{
	if (!w)
		return;
	for (unsigned int i = 0; i < w->count; i++)
		perf_ring_close(&w->ring[i].perf);
	if (w->epoll >= 0)
		close(w->epoll);
	generated_free(w->generated);
	free(w->ring);
	free(w);
}
