// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * A snapshot of a recording that continues.
 *
 * With slots the kernel retains the slot with the cut, so its pages do not change while
 * they are written. Without slots all CPUs are paused until the snapshot is written;
 * those that were paused before stay paused. A session that a trigger has frozen does
 * not change, and is not paused: the resume afterwards would end the freeze.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "internal.h"
#include "recording.h"
#include "recording_dir.h"
#include "thread_names.h"

/* What was running before the snapshot paused it. */
struct before {
	struct auxtrace_cpus *run;	/* CPUs to resume */
	struct auxtrace_cpus *write;	/* CPUs whose data ring's output to resume */
	bool frozen;			/* all CPUs are frozen */
};

static struct auxtrace_cpus *copy_cpus(const struct auxtrace_cpus *cpus)
{
	struct auxtrace_cpus *copy = malloc(sizeof(*copy) + cpus->len);

	if (copy)
		memcpy(copy, cpus, sizeof(*copy) + cpus->len);
	return copy;
}

static void remove_cpu(struct auxtrace_cpus *cpus, unsigned int cpu)
{
	cpus->mask[cpu / 8] &= ~(1u << cpu % 8);
}

static void free_running(struct before *before)
{
	auxtrace_cpus_free(before->run);
	auxtrace_cpus_free(before->write);
}

static int note_running(const struct auxtrace_session *s, struct before *before)
{
	before->run = copy_cpus(s->cpus);
	before->write = copy_cpus(s->cpus);
	if (!before->run || !before->write)
		return fail(ENOMEM, "no memory for sets of CPUs");
	before->frozen = true;
	for (unsigned int i = 0; i < s->nr_readers; i++) {
		struct auxtrace_status_page page;

		if (auxtrace_reader_status(&s->readers[i], &page))
			return -1;
		before->frozen &= !!(page.inhibit & AUXTRACE_INHIBIT_FROZEN);
		if (page.inhibit & AUXTRACE_INHIBIT_USER)
			remove_cpu(before->run, page.cpu);
		/* Bit 0: PAUSE_OUTPUT. Bit 1: a freeze, which the resume ends. */
		if (page.data_paused & 1)
			remove_cpu(before->write, page.cpu);
	}
	return 0;
}

static int resume_running(struct auxtrace_session *s, const struct before *before)
{
	if (before->frozen)
		return 0;
	if (s->setup.data_size && auxtrace_cpus_count(before->write) &&
	    auxtrace_pause_output(s, before->write, false))
		return -1;
	if (auxtrace_cpus_count(before->run) &&
	    auxtrace_resume_cpus(s, before->run, NULL, 0) < 0)
		return -1;
	return 0;
}

/* Write the bytes of the cuts. They do not change until the caller resumes the session. */
static int write_cuts(struct auxtrace_recording *rec, struct files *files,
		      const struct auxtrace_cut *cuts)
{
	for (unsigned int i = 0; i < files->nr_streams; i++) {
		struct stream *stream = &files->streams[i];
		struct auxtrace_spans spans;

		if (cuts[i].cpu != stream->reader->cpu)
			return fail(EBADE, "the module returned a cut of CPU %u in place of CPU %u", cuts[i].cpu,
				    stream->reader->cpu);
		if (auxtrace_reader_peek_cut(stream->reader, &cuts[i], &spans))
			return -1;
		stream->begin = spans.position;
		if (aux_file_put(rec->writer, &stream->aux, &spans, true) < 0 ||
		    stream_copy_records(stream, &cuts[i]))
			return -1;
	}
	return aux_writer_flush(rec->writer);
}

static void add_reports(struct auxtrace_recording *rec)
{
	if (rec->on_cut)
		rec->on_cut(rec->on_cut_arg);
}

/* What happens to processes while they are read is reported, too. */
static int add_tasks(struct auxtrace_recording *rec)
{
	if (auxtrace_recording_add_all_tasks(rec) < 0)
		return -1;
	add_reports(rec);
	return 0;
}

/*
 * The writing of the trace takes long enough for many processes to exec or to exit. So they are read
 * before it; but without slots all CPUs are paused until it is done, and then they are read after it.
 */
static int cut_and_write(struct auxtrace_recording *rec, struct files *files,
			 struct auxtrace_cut *cuts)
{
	struct auxtrace_session *s = rec->session;
	bool retained = session_slots(s) > 1;
	struct before before = { 0 };
	uint32_t slot, flags = AUXTRACE_SNAPSHOT_SLOT;
	struct failure failure;
	int ret = -1;

	if (!retained && note_running(s, &before))
		goto out;
	if (!retained)
		flags = before.frozen ? 0 : AUXTRACE_SNAPSHOT_PAUSE;
	if (auxtrace_snapshot(s, flags, cuts, s->nr_readers, &slot) < 0)
		goto out;
	add_reports(rec);
	ret = (retained && add_tasks(rec)) || write_cuts(rec, files, cuts) ? -1 : 0;
	if (ret) {
		fail_keep(&failure);
		/* No write may be in flight when the hardware writes these pages again. */
		aux_writer_flush(rec->writer);
	}
	if (retained ? auxtrace_release(s, slot) : resume_running(s, &before))
		ret = -1;
	else if (ret)
		fail_again(&failure);
	if (!ret && !retained)
		ret = add_tasks(rec);
out:
	free_running(&before);
	return ret;
}

/*
 * Give the snapshot the kernel's code. It is recorded at the first snapshot, and all
 * snapshots link to that copy. The recording's own copy is written again at its end; the
 * hard links keep the earlier one.
 */
static int link_kernel(struct auxtrace_recording *rec, struct files *files)
{
	static const char *const names[] = { "kcore", "kcore.changes", "kallsyms", "modules" };
	uint64_t changes;

	if (!(rec->session->setup.flags & AUXTRACE_SETUP_KERNEL))
		return 0;
	/* auxtrace_recording_finish() reports errors of this. */
	if (!rec->snapshots) {
		kernel_record(rec->files.dirfd, rec->kernel, &changes);
		rec->kcore_time = __rdtsc();
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		char to[32];

		if (!linkat(rec->files.dirfd, names[i], files->dirfd, names[i], 0) || errno == ENOENT)
			continue;
		/* Without hard links the snapshot refers to the newest copy. */
		snprintf(to, sizeof(to), "../%s", names[i]);
		if (symlinkat(to, files->dirfd, names[i]))
			return fail(errno, "cannot link %s/%s: %s", files->dir, names[i], strerror(errno));
	}
	return 0;
}

/* The trace of all CPUs is from before this. */
static uint64_t last_cut(const struct auxtrace_recording *rec, const struct auxtrace_cut *cuts)
{
	uint64_t last = 0;

	for (unsigned int i = 0; i < rec->session->nr_readers; i++)
		if (cuts[i].time > last)
			last = cuts[i].time;
	return last;
}

static int write_snapshot(struct auxtrace_recording *rec, struct files *files)
{
	struct auxtrace_cut *cuts = calloc(rec->session->nr_readers, sizeof(*cuts));
	int ret;

	if (!cuts)
		return fail(ENOMEM, "no memory for the cuts of a snapshot");
	ret = cut_and_write(rec, files, cuts) ||
	      task_list_write(rec->tasks, files->dirfd, last_cut(rec, cuts)) ||
	      thread_names_write(files->dirfd) || link_kernel(rec, files) ||
	      kernel_added_write(&rec->added, files->dirfd) || files_flush(files) || write_meta(rec, files, cuts, NULL);
	free(cuts);
	return ret ? -1 : 0;
}

AUXTRACE_API int auxtrace_recording_snapshot(struct auxtrace_recording *rec)
{
	struct files files;
	char name[32];
	int ret;

	if (!(rec->session->setup.flags & AUXTRACE_SETUP_OVERWRITE))
		return fail(EINVAL, "a snapshot needs a session in overwrite mode: a full trace is in its files already");
	snprintf(name, sizeof(name), "snapshot.%04u", rec->snapshots + 1);
	if (files_open(&files, rec->writer, rec->session, rec->files.dirfd, name))
		return -1;
	ret = write_snapshot(rec, &files);
	if (ret) {
		int err = errno;

		files_remove(&files, rec->files.dirfd);
		files_close(&files);
		errno = err;
		return -1;
	}
	files_close(&files);
	return ++rec->snapshots;
}

int recording_trim(struct auxtrace_recording *rec, uint64_t bytes, uint64_t *removed)
{
	const char *dir = rec->files.dir;

	for (;;) {
		uint64_t taken = 0;
		char name[32];

		if (recording_dir_space(rec->files.dirfd, dir, &taken))
			return -1;
		if (taken <= bytes || rec->snapshots_gone + 1 >= rec->snapshots)
			return 0;
		snprintf(name, sizeof(name), "snapshot.%04u", rec->snapshots_gone + 1);
		if (!recording_dir_remove_snapshot(rec->files.dirfd, dir, name))
			++*removed;
		else if (errno != ENOENT)
			return -1;
		rec->snapshots_gone++;
	}
}

AUXTRACE_API int auxtrace_recording_trim(struct auxtrace_recording *rec, uint64_t bytes)
{
	uint64_t removed = 0;

	rec->space = bytes;
	return recording_trim(rec, bytes, &removed) ?: (int)removed;
}
