// SPDX-License-Identifier: LGPL-2.1-or-later
/* A recording: a directory of plain files (auxtrace(1), "FILES"). */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "internal.h"

#define FORMAT_VERSION	1

struct stream {			/* cpuN.aux */
	struct auxtrace_reader *reader;
	int fd;
	uint64_t begin;		/* AUX position of the file's first byte */
	uint64_t read;		/* bytes in the file */
};

struct auxtrace_recording {
	struct auxtrace_session *session;
	int dirfd;
	char *dir;
	struct task_list *tasks;
	unsigned int nr_streams;
	struct stream *streams;
};

static bool is_recording_file(const char *name)
{
	static const char *const plain[] = { "meta", "kcore", "kallsyms", "modules" };
	size_t len = strlen(name);

	for (unsigned int i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(name, plain[i]))
			return true;
	if (!strncmp(name, "task.", 5) || !strncmp(name, "vdso.", 5))
		return isdigit((unsigned char)name[5]);
	return !strncmp(name, "cpu", 3) && len > 4 && !strcmp(name + len - 4, ".aux");
}

/* Take an earlier recording away; with @check only look for what is none. */
static int clear_dir(int dirfd, const char *dir, bool check)
{
	DIR *d = fdopendir(dup(dirfd));
	struct dirent *e;
	int ret = 0;

	if (!d)
		return fail(errno, "cannot read %s: %s", dir, strerror(errno));
	rewinddir(d);
	while (!ret && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		if (!is_recording_file(e->d_name))
			ret = fail(ENOTEMPTY, "%s holds %s, which is not of a recording: name another directory",
				   dir, e->d_name);
		else if (!check && unlinkat(dirfd, e->d_name, 0))
			ret = fail(errno, "cannot remove %s/%s: %s", dir, e->d_name, strerror(errno));
	}
	closedir(d);
	return ret;
}

static int open_dir(const char *dir)
{
	int fd;

	if (mkdir(dir, 0700) && errno != EEXIST)
		return fail(errno, "cannot make the directory %s: %s", dir, strerror(errno));
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return fail(errno, "cannot open the directory %s: %s", dir, strerror(errno));
	if (clear_dir(fd, dir, true) || clear_dir(fd, dir, false)) {
		int err = errno;

		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

FILE *recording_file(int dirfd, const char *name)
{
	int fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (f)
		return f;
	fail(errno, "cannot write %s: %s", name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

int recording_file_close(FILE *f, const char *name)
{
	int err = ferror(f) ? EIO : 0;

	errno = 0;
	if (fclose(f) || err)
		return fail(errno ?: err, "cannot write %s: %s", name, strerror(errno ?: err));
	return 0;
}

static int open_streams(struct auxtrace_recording *rec)
{
	struct auxtrace_session *s = rec->session;

	rec->streams = calloc(s->nr_readers, sizeof(*rec->streams));
	if (!rec->streams)
		return fail(ENOMEM, "no memory for a recording");
	for (unsigned int i = 0; i < s->nr_readers; i++) {
		struct stream *stream = &rec->streams[i];
		char name[32];

		stream->reader = &s->readers[i];
		stream->begin = stream->reader->tail;
		snprintf(name, sizeof(name), "cpu%u.aux", stream->reader->cpu);
		stream->fd = openat(rec->dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (stream->fd < 0)
			return fail(errno, "cannot write %s/%s: %s", rec->dir, name, strerror(errno));
		rec->nr_streams++;
	}
	return 0;
}

static void free_recording(struct auxtrace_recording *rec)
{
	for (unsigned int i = 0; i < rec->nr_streams; i++)
		if (rec->streams[i].fd >= 0)
			close(rec->streams[i].fd);
	free(rec->streams);
	task_list_free(rec->tasks);
	if (rec->dirfd >= 0)
		close(rec->dirfd);
	free(rec->dir);
	free(rec);
}

AUXTRACE_API struct auxtrace_recording *auxtrace_recording_create(struct auxtrace_session *s,
								  const char *dir)
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
	rec->dirfd = -1;
	rec->dir = strdup(dir);
	rec->tasks = task_list_new();
	if (!rec->dir || !rec->tasks) {
		fail(ENOMEM, "no memory for a recording");
		goto err_free;
	}
	rec->dirfd = open_dir(dir);
	if (rec->dirfd < 0 || open_streams(rec))
		goto err_free;
	return rec;

err_free:
	err = errno;
	free_recording(rec);
	errno = err;
	return NULL;
}

static int write_spans(const struct auxtrace_recording *rec, struct stream *stream,
		       const struct auxtrace_spans *spans)
{
	for (int i = 0; i < spans->count; i++) {
		const uint8_t *p = spans->iov[i].iov_base;
		size_t left = spans->iov[i].iov_len;

		while (left) {
			ssize_t n = write(stream->fd, p, left);

			if (n < 0 && errno == EINTR)
				continue;
			if (n < 0)
				return fail(errno, "cannot write %s/cpu%u.aux: %s", rec->dir,
					    stream->reader->cpu, strerror(errno));
			p += n;
			left -= n;
			stream->read += n;
		}
	}
	return 0;
}

AUXTRACE_API ssize_t auxtrace_recording_drain(struct auxtrace_recording *rec)
{
	ssize_t total = 0;

	if (rec->session->setup.flags & AUXTRACE_SETUP_OVERWRITE)
		return 0;
	for (unsigned int i = 0; i < rec->nr_streams; i++) {
		struct stream *stream = &rec->streams[i];
		struct auxtrace_spans spans;

		if (auxtrace_reader_peek(stream->reader, &spans) ||
		    write_spans(rec, stream, &spans) ||
		    auxtrace_reader_consume(stream->reader, spans.len))
			return -1;
		total += spans.len;
	}
	return total;
}

AUXTRACE_API int auxtrace_recording_add_task(struct auxtrace_recording *rec, pid_t pid)
{
	return task_list_add(rec->tasks, rec->session, pid);
}

AUXTRACE_API int auxtrace_recording_end_task(struct auxtrace_recording *rec, pid_t pid, uint64_t tsc)
{
	return task_list_end(rec->tasks, pid, tsc);
}

AUXTRACE_API int auxtrace_recording_add_mapping(struct auxtrace_recording *rec, pid_t pid,
						uint64_t start, uint64_t end, uint64_t offset,
						const char *path)
{
	return task_list_map(rec->tasks, pid, start, end, offset, path);
}

AUXTRACE_API int auxtrace_recording_add_all_tasks(struct auxtrace_recording *rec)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int added = 0;

	if (!proc)
		return fail(errno, "cannot read /proc: %s; is it mounted?", strerror(errno));
	while ((e = readdir(proc))) {
		if (!isdigit((unsigned char)e->d_name[0]))
			continue;
		if (!task_list_add(rec->tasks, rec->session, atoi(e->d_name))) {
			added++;
		} else if (errno != ESRCH && errno != ENXIO && errno != ENOENT &&
			   errno != EPERM) {
			int err = errno;

			closedir(proc);
			errno = err;
			return -1;
		}
	}
	closedir(proc);
	return added;
}

static int read_overwritten(struct auxtrace_recording *rec)
{
	for (unsigned int i = 0; i < rec->nr_streams; i++) {
		struct stream *stream = &rec->streams[i];
		struct auxtrace_spans spans;

		if (auxtrace_reader_peek(stream->reader, &spans))
			return -1;
		stream->begin = spans.position;
		if (write_spans(rec, stream, &spans))
			return -1;
	}
	return 0;
}

static void write_machine(FILE *f, const struct auxtrace_info *info)
{
	struct utsname uts;

	if (!uname(&uts))
		fprintf(f, "release %s\n", uts.release);
	fprintf(f, "cpu_family %u\ncpu_model %u\ncpu_stepping %u\n", info->out_cpu_family,
		info->out_cpu_model, info->out_cpu_stepping);
	fprintf(f, "tsc_art_num %u\ntsc_art_den %u\nmax_nonturbo_ratio %u\n",
		info->out_tsc_art_num, info->out_tsc_art_den, info->out_max_nonturbo_ratio);
	fprintf(f, "tsc_khz %" PRIu64 "\ntime_shift %u\ntime_mult %u\ntime_zero %" PRIu64 "\n",
		(uint64_t)info->out_tsc_khz, info->out_time_shift, info->out_time_mult,
		(uint64_t)info->out_time_zero);
}

static int write_cpu(FILE *f, struct stream *stream, struct auxtrace_totals *totals)
{
	struct auxtrace_status_page page;

	if (auxtrace_reader_status(stream->reader, &page))
		return -1;
	fprintf(f, "cpu %u begin %" PRIu64 " read %" PRIu64 " produced %" PRIu64 " overwritten %" PRIu64
		" windows %" PRIu64 " window_begin %" PRIu64 " window_begin_tsc %" PRIu64
		" window_end %" PRIu64 " window_end_tsc %" PRIu64,
		stream->reader->cpu, stream->begin, stream->read, (uint64_t)page.produced,
		(uint64_t)page.overwritten, (uint64_t)page.windows, (uint64_t)page.window_begin,
		(uint64_t)page.window_begin_tsc, (uint64_t)page.window_end,
		(uint64_t)page.window_end_tsc);
	fprintf(f, " pauses_asked %" PRIu64 " pauses_done %" PRIu64 " resumes_asked %" PRIu64
		" resumes_done %" PRIu64 " pmis %" PRIu64 " gaps %" PRIu64 " gaps_full %" PRIu64
		" gaps_error %" PRIu64 " gaps_offline %" PRIu64 "\n",
		(uint64_t)page.pauses_asked, (uint64_t)page.pauses_done, (uint64_t)page.resumes_asked,
		(uint64_t)page.resumes_done, (uint64_t)page.pmis, (uint64_t)page.gaps,
		(uint64_t)page.gaps_full, (uint64_t)page.gaps_error, (uint64_t)page.gaps_offline);
	totals->produced += page.produced;
	totals->read += stream->read;
	totals->overwritten += page.overwritten;
	totals->windows += page.windows;
	totals->gaps += page.gaps;
	totals->pmis += page.pmis;
	return 0;
}

static int write_meta(struct auxtrace_recording *rec, struct auxtrace_totals *totals)
{
	const struct auxtrace_session *s = rec->session;
	FILE *f = recording_file(rec->dirfd, "meta");
	char terms[256];
	int ret = 0;

	if (!f)
		return -1;
	auxtrace_config_format(s->setup.config, terms, sizeof(terms));
	fprintf(f, "auxtrace_recording %u\nabi %u\npmu %u\n", FORMAT_VERSION, AUXTRACE_ABI_VERSION,
		s->setup.pmu);
	write_machine(f, &s->info);
	fprintf(f, "config %#" PRIx64 "\nterms %s\nflags %#x\naux_size %" PRIu64 "\n",
		(uint64_t)s->setup.config, terms, s->setup.flags, (uint64_t)s->setup.aux_size);
	for (unsigned int i = 0; !ret && i < rec->nr_streams; i++)
		ret = write_cpu(f, &rec->streams[i], totals);
	return recording_file_close(f, "meta") || ret ? -1 : 0;
}

static int finish(struct auxtrace_recording *rec, struct auxtrace_totals *totals)
{
	bool overwrite = rec->session->setup.flags & AUXTRACE_SETUP_OVERWRITE;
	int kernel_err = 0;
	char sentence[512];

	if (overwrite ? read_overwritten(rec) : auxtrace_recording_drain(rec) < 0)
		return -1;
	if (rec->session->setup.flags & AUXTRACE_SETUP_KERNEL && record_kernel(rec->dirfd)) {
		kernel_err = errno;
		snprintf(sentence, sizeof(sentence), "%s", auxtrace_error());
	}
	/* meta comes last: a directory with it is a whole recording. */
	if (task_list_write(rec->tasks, rec->dirfd) || write_meta(rec, totals))
		return -1;
	return kernel_err ? fail(kernel_err, "%s", sentence) : 0;
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
	clear_dir(rec->dirfd, rec->dir, false);
	rmdir(rec->dir);
	free_recording(rec);
}

AUXTRACE_API int auxtrace_save(struct auxtrace_session *s, const char *dir)
{
	struct auxtrace_recording *rec = auxtrace_recording_create(s, dir);

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
