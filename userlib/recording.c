// SPDX-License-Identifier: LGPL-2.1-or-later
/* A recording: a directory of plain files (auxtrace-recording(5)). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <x86intrin.h>

#include "internal.h"
#include "recording.h"
#include "thread_names.h"

static void free_recording(struct auxtrace_recording *rec)
{
	files_close(&rec->files);
	aux_writer_free(rec->writer);
	task_list_free(rec->tasks);
	kernel_free(rec->kernel);
	kernel_added_free(&rec->added);
	free(rec);
}

static struct auxtrace_recording *create(struct auxtrace_session *s, const char *dir)
{
	struct auxtrace_recording *rec;
	int err;

	if (!s->setup.size) {
		fail(EBADFD, "a recording needs a session that is set up");
		return NULL;
	}
	rec = calloc(1, sizeof(*rec));
	if (!rec) {
		fail(ENOMEM, "no memory for a recording");
		return NULL;
	}
	rec->session = s;
	rec->begin = instant_now();
	rec->added.newest = s->setup.flags & AUXTRACE_SETUP_OVERWRITE;
	rec->files.dirfd = -1;
	rec->space = UINT64_MAX;
	rec->tasks = task_list_new(s->setup.flags & AUXTRACE_SETUP_OVERWRITE);
	if (!rec->tasks) {
		fail(ENOMEM, "no memory for a recording");
		goto err_free;
	}
	rec->writer = aux_writer_new(s->info.out_page_size);
	if (!rec->writer || files_open(&rec->files, rec->writer, s, AT_FDCWD, dir))
		goto err_free;
	if (thread_names_write(rec->files.dirfd))
		goto err_remove;
	return rec;

err_remove:
	files_remove(&rec->files, AT_FDCWD);

err_free:
	err = errno;
	free_recording(rec);
	errno = err;
	return NULL;
}

AUXTRACE_API struct auxtrace_recording *auxtrace_recording_create(struct auxtrace_session *s,
								  const char *dir)
{
	struct auxtrace_recording *rec = create(s, dir);

	if (!rec || !(s->setup.flags & AUXTRACE_SETUP_KERNEL))
		return rec;
	/* Without it the recording is as good, but for what it says of changes. */
	rec->kernel = kernel_read();
	if (!rec->kernel)
		fail_forget();
	return rec;
}

/* Write the new bytes of all channels at once, then release them to the hardware. */
static ssize_t drain_aux(struct auxtrace_recording *rec, bool last)
{
	struct files *files = &rec->files;
	ssize_t total = 0, *taken = calloc(files->nr_streams, sizeof(*taken));
	int ret = 0, err;

	if (!taken)
		return fail(ENOMEM, "no memory to drain with");
	for (unsigned int i = 0; !ret && i < files->nr_streams; i++) {
		struct stream *stream = &files->streams[i];
		struct auxtrace_spans spans;

		ret = auxtrace_reader_peek(stream->reader, &spans);
		if (ret)
			break;
		taken[i] = aux_file_put(rec->writer, &stream->aux, &spans, last);
		ret = taken[i] < 0 ? -1 : 0;
	}
	err = errno;
	if (aux_writer_flush(rec->writer)) {
		ret = -1;
		err = errno;
	}
	for (unsigned int i = 0; !ret && i < files->nr_streams; i++) {
		total += taken[i];
		ret = auxtrace_reader_consume(files->streams[i].reader, taken[i]);
		err = errno;
	}
	free(taken);
	errno = err;
	return ret ? -1 : total;
}

static ssize_t drain_records(struct stream *stream)
{
	const union auxtrace_record *record;
	ssize_t total = 0;
	int got;

	while ((got = auxtrace_reader_next_record(stream->reader, &record)) > 0) {
		if (stream_write_record(stream, record))
			return -1;
		total += record->header.size;
	}
	if (got < 0)
		return -1;
	auxtrace_reader_consume_records(stream->reader);
	return total;
}

static ssize_t drain(struct auxtrace_recording *rec, bool last)
{
	const struct auxtrace_setup *setup = &rec->session->setup;
	ssize_t total = 0, n;

	if (!(setup->flags & AUXTRACE_SETUP_OVERWRITE)) {
		total = drain_aux(rec, last);
		if (total < 0)
			return -1;
	}
	if (!setup->data_size || setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE)
		return total;
	for (unsigned int i = 0; i < rec->files.nr_streams; i++, total += n) {
		n = drain_records(&rec->files.streams[i]);
		if (n < 0)
			return -1;
	}
	return total;
}

AUXTRACE_API ssize_t auxtrace_recording_drain(struct auxtrace_recording *rec)
{
	return drain(rec, false);
}

AUXTRACE_API int auxtrace_recording_add_task(struct auxtrace_recording *rec, pid_t pid)
{
	return task_list_add(rec->tasks, rec->session, pid);
}

AUXTRACE_API int auxtrace_recording_end_task(struct auxtrace_recording *rec, pid_t pid, uint64_t time)
{
	return task_list_end(rec->tasks, pid, time);
}

AUXTRACE_API int auxtrace_recording_begin_task(struct auxtrace_recording *rec, pid_t pid, uint64_t time)
{
	return task_list_begin(rec->tasks, rec->session, pid, 0, time, TASK_FORK);
}

AUXTRACE_API int auxtrace_recording_fork_task(struct auxtrace_recording *rec, pid_t parent, pid_t pid, uint64_t time)
{
	return task_list_begin(rec->tasks, rec->session, pid, parent, time, TASK_FORK);
}

AUXTRACE_API int auxtrace_recording_exec_task(struct auxtrace_recording *rec, pid_t pid, uint64_t time)
{
	return task_list_begin(rec->tasks, rec->session, pid, 0, time, TASK_EXEC);
}

AUXTRACE_API int auxtrace_recording_add_mapping(struct auxtrace_recording *rec, pid_t pid,
						uint64_t start, uint64_t end, uint64_t offset,
						const char *path)
{
	const struct auxtrace_mapping mapping = {
		.size = sizeof(mapping), .start = start, .end = end, .offset = offset, .path = path,
	};

	return auxtrace_recording_add_mapped_file(rec, pid, &mapping);
}

/* Clocks run at rates that differ by less than this: NTP sets them by no more than 500 ppm. */
#define CLOCK_ERROR	1000	/* a 1000th */

/* What is at the path of a mapping that was made at @time in the session's clock. */
static struct file_seen see_file(const struct auxtrace_info *info, const char *path, uint64_t time)
{
	/* If this is interrupted between the clocks, the mapping seems to be later than it was: that does no harm. */
	uint64_t tsc = __rdtsc(), age;
	struct file_seen seen;
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	age = time && time < tsc ? (unsigned __int128)(tsc - time) * info->out_time_mult >> info->out_time_shift : 0;
	seen = file_see(path, age ? now.tv_sec * 1000000000ull + now.tv_nsec - age : 0, age / CLOCK_ERROR);
	seen.by_perf = true;
	return seen;
}

AUXTRACE_API int auxtrace_recording_add_mapped_file(struct auxtrace_recording *rec, pid_t pid,
						    const struct auxtrace_mapping *mapping)
{
	struct reported_map m = {
		.start = mapping->start, .end = mapping->end, .offset = mapping->offset, .path = mapping->path,
		.number = { mapping->major, mapping->minor, mapping->inode },
	};

	if (mapping->size < sizeof(*mapping) || mapping->reserved)
		return fail(EINVAL, "the size of the struct auxtrace_mapping is %zu, not %zu, or what is reserved is not 0",
			    mapping->size, sizeof(*mapping));
	if (*m.path == '/')
		m.seen = see_file(&rec->session->info, m.path, mapping->time);
	return task_list_map(rec->tasks, pid, &m);
}

AUXTRACE_API int auxtrace_recording_add_kernel_code(struct auxtrace_recording *rec, uint64_t time, uint64_t address,
						    size_t size, const char *name)
{
	return kernel_added_add(&rec->added, time ?: __rdtsc(), address, size, name);
}

AUXTRACE_API int auxtrace_recording_end_kernel_code(struct auxtrace_recording *rec, uint64_t time, uint64_t address)
{
	return kernel_added_end(&rec->added, time ?: __rdtsc(), address);
}

AUXTRACE_API void auxtrace_recording_on_cut(struct auxtrace_recording *rec,
					    void (*on_cut)(void *arg), void *arg)
{
	rec->on_cut = on_cut;
	rec->on_cut_arg = arg;
}

AUXTRACE_API int auxtrace_recording_add_all_tasks(struct auxtrace_recording *rec)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int added = 0, ret = 0, err;

	if (!proc)
		return fail(errno, "cannot read /proc: %s; is it mounted?", strerror(errno));
	while (!ret && (errno = 0, e = readdir(proc))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (!task_list_add(rec->tasks, rec->session, atoi(e->d_name)))
			added++;
		else if (errno != ESRCH && errno != ENXIO && errno != ENOENT && errno != EPERM)
			ret = -1;
	}
	if (!ret && errno)
		ret = fail(errno, "cannot list /proc: %s", strerror(errno));
	err = errno;
	closedir(proc);
	errno = err;
	return ret ?: added;
}

/* Write what overwritable areas and rings hold: only now is it not overwritten any more. */
static int read_overwritten(struct auxtrace_recording *rec)
{
	uint32_t flags = rec->session->setup.flags;

	for (unsigned int i = 0; i < rec->files.nr_streams; i++) {
		struct stream *stream = &rec->files.streams[i];
		struct auxtrace_spans spans;

		if (flags & AUXTRACE_SETUP_OVERWRITE) {
			if (auxtrace_reader_peek(stream->reader, &spans))
				return -1;
			stream->begin = spans.position;
			if (aux_file_put(rec->writer, &stream->aux, &spans, true) < 0)
				return -1;
		}
		if (flags & AUXTRACE_SETUP_DATA_OVERWRITE && stream_copy_records(stream, NULL))
			return -1;
	}
	return aux_writer_flush(rec->writer);
}

/* What the finish has written takes space, too. */
static int trim_again(struct auxtrace_recording *rec, struct auxtrace_totals *totals)
{
	if (rec->space == UINT64_MAX)
		return 0;
	return recording_trim(rec, rec->space, &totals->trimmed);
}

static int finish(struct auxtrace_recording *rec, struct auxtrace_totals *totals)
{
	struct failure kernel_failure;
	bool kernel_failed = false;
	int trimmed;

	if (drain(rec, true) < 0 || read_overwritten(rec) || files_flush(&rec->files))
		return -1;
	if (rec->session->setup.flags & AUXTRACE_SETUP_KERNEL)
		totals->code_changes = AUXTRACE_CHANGES_UNKNOWN;
	if (rec->session->setup.flags & AUXTRACE_SETUP_KERNEL &&
	    kernel_record(rec->files.dirfd, rec->kernel, &totals->code_changes)) {
		kernel_failed = true;
		fail_keep(&kernel_failure);
	}
	if (rec->on_cut)
		rec->on_cut(rec->on_cut_arg);
	/* meta comes last: it marks the recording complete. */
	if (kernel_added_write(&rec->added, rec->files.dirfd) ||
	    task_list_write(rec->tasks, rec->files.dirfd, UINT64_MAX) || write_meta(rec, &rec->files, NULL, totals))
		return -1;
	trimmed = trim_again(rec, totals);
	return kernel_failed ? fail_again(&kernel_failure) : trimmed;
}

AUXTRACE_API int auxtrace_recording_finish(struct auxtrace_recording *rec,
					   struct auxtrace_totals *totals)
{
	struct auxtrace_totals sum = { 0 };
	int ret = finish(rec, &sum), err = errno;

	if (totals)
		*totals = sum;
	free_recording(rec);
	errno = err;
	return ret;
}

AUXTRACE_API void auxtrace_recording_abort(struct auxtrace_recording *rec)
{
	if (!rec)
		return;
	files_remove(&rec->files, AT_FDCWD);
	free_recording(rec);
}

AUXTRACE_API int auxtrace_save(struct auxtrace_session *s, const char *dir)
{
	/* The trace is over: how the kernel's code was before is not known. */
	struct auxtrace_recording *rec = create(s, dir);

	if (!rec)
		return -1;
	if (auxtrace_recording_add_all_tasks(rec) < 0) {
		int err = errno;

		auxtrace_recording_abort(rec);
		errno = err;
		return -1;
	}
	return auxtrace_recording_finish(rec, NULL);
}
