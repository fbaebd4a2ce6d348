// SPDX-License-Identifier: LGPL-2.1-or-later
/* The directory of a recording or snapshot, and the streams in it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recording.h"

static bool has_end(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

static bool is_recording_file(const char *name)
{
	static const char *const plain[] = { "meta", "kcore", "kallsyms", "modules" };

	for (unsigned int i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(name, plain[i]))
			return true;
	if (!strncmp(name, "task.", 5) || !strncmp(name, "vdso.", 5))
		return isdigit((unsigned char)name[5]);
	return !strncmp(name, "cpu", 3) && isdigit((unsigned char)name[3]) &&
	       (has_end(name, ".aux") || has_end(name, ".data") ||
		has_end(name, ".samples"));
}

static bool is_snapshot(const char *name)
{
	return !strncmp(name, "snapshot.", 9) && name[9] &&
	       strspn(name + 9, "0123456789") == strlen(name + 9);
}

static int clear_dir(int dirfd, const char *dir, bool check);

static int clear_snapshot(int dirfd, const char *dir, const char *name, bool check)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret;

	if (fd < 0)
		return fail(errno, "cannot open %s/%s: %s", dir, name, strerror(errno));
	ret = clear_dir(fd, name, check);
	close(fd);
	if (!ret && !check && unlinkat(dirfd, name, AT_REMOVEDIR))
		return fail(errno, "cannot remove %s/%s: %s", dir, name, strerror(errno));
	return ret;
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
		if (is_snapshot(e->d_name))
			ret = clear_snapshot(dirfd, dir, e->d_name, check);
		else if (!is_recording_file(e->d_name))
			ret = fail(ENOTEMPTY, "%s holds %s, which is not of a recording: name another directory",
				   dir, e->d_name);
		else if (!check && unlinkat(dirfd, e->d_name, 0))
			ret = fail(errno, "cannot remove %s/%s: %s", dir, e->d_name, strerror(errno));
	}
	closedir(d);
	return ret;
}

FILE *recording_file(int dirfd, const char *name)
{
	FILE *f;
	int fd;

	/* Who reads an earlier one (a kernel file, by a snapshot) goes on with that. */
	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
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

static int open_stream(struct files *files, struct aux_writer *w, struct auxtrace_reader *reader)
{
	struct stream *stream = &files->streams[files->nr_streams++];
	char name[32];

	stream->reader = reader;
	stream->begin = reader->tail;
	stream->data_begin = reader->data_next;
	snprintf(name, sizeof(name), "cpu%u.aux", reader->cpu);
	if (aux_file_open(w, &stream->aux, files->dirfd, name))
		return -1;
	if (!reader->data)
		return 0;
	snprintf(stream->data_name, sizeof(stream->data_name), "cpu%u.data", reader->cpu);
	stream->data = recording_file(files->dirfd, stream->data_name);
	return stream->data ? 0 : -1;
}

static int open_dir(int parent, const char *dir)
{
	int fd;

	if (mkdirat(parent, dir, 0700) && errno != EEXIST)
		return fail(errno, "cannot make the directory %s: %s", dir, strerror(errno));
	fd = openat(parent, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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

int files_open(struct files *files, struct aux_writer *w, const struct auxtrace_session *s,
	       int parent, const char *dir)
{
	int ret = 0, err;

	memset(files, 0, sizeof(*files));
	files->dirfd = open_dir(parent, dir);
	if (files->dirfd < 0)
		return -1;
	files->dir = strdup(dir);
	files->streams = calloc(s->nr_readers, sizeof(*files->streams));
	if (!files->dir || !files->streams)
		ret = fail(ENOMEM, "no memory for a recording");
	for (unsigned int i = 0; !ret && i < s->nr_readers; i++)
		ret = open_stream(files, w, &s->readers[i]);
	if (!ret)
		return 0;
	err = errno;
	files_close(files);
	errno = err;
	return -1;
}

/* stdio drops what it could not write: a later flush that has no more to do is no proof. */
static int flush(FILE *f)
{
	bool failed = ferror(f);

	if (fflush(f))
		return errno;
	return failed ? EIO : 0;
}

int files_flush(struct files *files)
{
	int ret = 0;

	for (unsigned int i = 0; i < files->nr_streams; i++) {
		struct stream *stream = &files->streams[i];
		int err;

		if (stream->data && (err = flush(stream->data)))
			ret = fail(err, "cannot write %s/%s: %s", files->dir, stream->data_name,
				   strerror(err));
		if (stream->samples && (err = flush(stream->samples)))
			ret = fail(err, "cannot write the samples of CPU %u: %s", stream->reader->cpu,
				   strerror(err));
	}
	return ret;
}

int stream_write_records(struct files *files, struct stream *stream, const void *records, size_t len)
{
	if (fwrite(records, 1, len, stream->data) == len)
		return 0;
	return fail(errno, "cannot write %s/%s: %s", files->dir, stream->data_name, strerror(errno));
}

void files_remove(struct files *files, int parent)
{
	clear_dir(files->dirfd, files->dir, false);
	unlinkat(parent, files->dir, AT_REMOVEDIR);
}

void files_close(struct files *files)
{
	for (unsigned int i = 0; i < files->nr_streams; i++) {
		aux_file_close(&files->streams[i].aux);
		if (files->streams[i].data)
			fclose(files->streams[i].data);
		if (files->streams[i].samples)
			fclose(files->streams[i].samples);
	}
	free(files->streams);
	free(files->dir);
	if (files->dirfd >= 0)
		close(files->dirfd);
	*files = (struct files){ .dirfd = -1 };
}

int stream_copy_records(struct files *files, struct stream *stream, const struct auxtrace_cut *cut)
{
	const union auxtrace_record *record;
	size_t size = stream->reader->session->setup.data_size, at = 0;
	struct auxtrace_copy copy;
	void *buf;
	int ret;

	if (!stream->data)
		return 0;
	buf = malloc(size);
	if (!buf)
		return fail(ENOMEM, "no memory for a copy of the data ring of CPU %u", stream->reader->cpu);
	ret = auxtrace_reader_copy_records(stream->reader, cut, buf, size, &copy);
	if (!ret) {
		stream->data_begin = copy.position;
		stream->data_read = copy.len;
		while (!ret && (record = auxtrace_record_next(buf, copy.len, &at))) {
			stream->records++;
			ret = stream_save_sample(files, stream, record);
		}
		if (!ret)
			ret = stream_write_records(files, stream, buf, copy.len);
	}
	free(buf);
	return ret;
}
