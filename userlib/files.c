// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "recording.h"
#include "recording_dir.h"

static void close_streams(struct files *files)
{
	while (files->nr_streams)
		stream_close(&files->streams[--files->nr_streams]);
}

int files_open(struct files *files, struct aux_writer *w, const struct auxtrace_session *s,
	       int parent, const char *dir)
{
	int err;

	*files = (struct files){ .dirfd = -1, .dir = strdup(dir) };
	files->streams = calloc(s->nr_readers, sizeof(*files->streams));
	if (!files->dir || !files->streams) {
		fail(ENOMEM, "no memory for a recording");
		goto err_close;
	}
	files->dirfd = recording_dir_open(parent, dir, &files->made);
	if (files->dirfd < 0)
		goto err_close;
	while (files->nr_streams < s->nr_readers) {
		unsigned int i = files->nr_streams++;

		if (stream_open(&files->streams[i], w, &s->readers[i], files->dirfd, files->dir))
			goto err_close;
	}
	return 0;

err_close:
	err = errno;
	if (files->dirfd >= 0)
		files_remove(files, parent);
	files_close(files);
	errno = err;
	return -1;
}

int files_flush(struct files *files)
{
	int ret = 0;

	for (unsigned int i = 0; i < files->nr_streams; i++)
		if (stream_flush(&files->streams[i]))
			ret = -1;
	return ret;
}

void files_remove(struct files *files, int parent)
{
	struct failure failure;

	fail_keep(&failure);
	/* recording_dir_clear() needs a descriptor. The streams may hold the last ones. */
	close_streams(files);
	recording_dir_clear(files->dirfd, files->dir);
	if (files->made)
		unlinkat(parent, files->dir, AT_REMOVEDIR);
	fail_again(&failure);
}

void files_close(struct files *files)
{
	close_streams(files);
	free(files->streams);
	free(files->dir);
	if (files->dirfd >= 0)
		close(files->dirfd);
	*files = (struct files){ .dirfd = -1 };
}
