// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "recording_dir.h"
#include "stream.h"

int stream_open(struct stream *stream, struct aux_writer *w, struct auxtrace_reader *reader,
		int dirfd, const char *dir)
{
	char name[32];

	stream->reader = reader;
	stream->dirfd = dirfd;
	stream->dir = dir;
	stream->begin = reader->tail;
	stream->data_begin = reader->data_next;
	snprintf(name, sizeof(name), "cpu%u.aux", reader->cpu);
	if (aux_file_open(w, &stream->aux, dirfd, dir, name))
		return -1;
	if (!reader->data)
		return 0;
	snprintf(name, sizeof(name), "cpu%u.data", reader->cpu);
	stream->data = recording_file(dirfd, name);
	return stream->data ? 0 : -1;
}

static int fail_write(const struct stream *stream, const char *what, int err)
{
	return fail(err, "cannot write %s/cpu%u.%s: %s", stream->dir, stream->reader->cpu, what,
		    strerror(err));
}

static int write_data(struct stream *stream, const void *records, size_t len)
{
	if (fwrite(records, 1, len, stream->data) == len)
		return 0;
	return fail_write(stream, "data", errno);
}

static int save_sample(struct stream *stream, const union auxtrace_record *record)
{
	struct auxtrace_spans spans;
	char name[32];

	if (record->header.type != AUXTRACE_RECORD_SAMPLE || auxtrace_sample_data(record))
		return 0;
	if (auxtrace_reader_peek_sample(stream->reader, record, &spans))
		return -1;
	if (!stream->samples) {
		snprintf(name, sizeof(name), "cpu%u.samples", stream->reader->cpu);
		stream->samples = recording_file(stream->dirfd, name);
		if (!stream->samples)
			return -1;
	}
	for (int i = 0; i < spans.count; i++)
		if (fwrite(spans.iov[i].iov_base, 1, spans.iov[i].iov_len, stream->samples) !=
		    spans.iov[i].iov_len)
			return fail_write(stream, "samples", errno);
	stream->sample_bytes += spans.len;
	/* stdio has copied the bytes, so the slot may be reused before they are on disk. */
	return auxtrace_release_sample(stream->reader->session, stream->reader->cpu,
				       record->sample.sample_slot);
}

int stream_write_record(struct stream *stream, const union auxtrace_record *record)
{
	if (write_data(stream, record, record->header.size))
		return -1;
	stream->data_read += record->header.size;
	stream->records++;
	return save_sample(stream, record);
}

int stream_copy_records(struct stream *stream, const struct auxtrace_cut *cut)
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
		while (!ret && (record = auxtrace_record_next(buf, copy.len, &at)))
			ret = stream_write_record(stream, record);
	}
	free(buf);
	return ret;
}

/*
 * stdio drops what it could not write, so a flush that succeeds later proves nothing: ask
 * for earlier errors first.
 */
static int flush(FILE *f)
{
	bool failed = ferror(f);

	if (fflush(f))
		return errno;
	return failed ? EIO : 0;
}

int stream_flush(struct stream *stream)
{
	int err, ret = 0;

	if (stream->data && (err = flush(stream->data)))
		ret = fail_write(stream, "data", err);
	if (stream->samples && (err = flush(stream->samples)))
		ret = fail_write(stream, "samples", err);
	return ret;
}

void stream_close(struct stream *stream)
{
	aux_file_close(&stream->aux);
	if (stream->data)
		fclose(stream->data);
	if (stream->samples)
		fclose(stream->samples);
}
