// SPDX-License-Identifier: LGPL-2.1-or-later
/* See "no copy" in aux_file.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <liburing.h>

#include "aux_file.h"
#include "internal.h"

#define DEPTH	64		/* writes in flight */
#define CHUNK	(1u << 20)	/* bytes of one write: several for a file keep a disk busy */

struct chunk {
	struct aux_file *file;
	const uint8_t *base;
	size_t len;
	uint64_t offset;	/* in the file */
};

struct aux_writer {
	size_t page_size;
	uint8_t *page;		/* bounce page, for pages that are not whole */
	struct io_uring uring;
	bool has_uring;
	char why_no_uring[80], why_not_direct[80];
	char how[200];
	unsigned int count;
	struct chunk chunk[DEPTH];
};

struct aux_writer *aux_writer_new(size_t page_size)
{
	struct aux_writer *w = calloc(1, sizeof(*w));
	int err;

	if (!w || !(w->page = aligned_alloc(page_size, page_size))) {
		free(w);
		fail(ENOMEM, "no memory to write files with");
		return NULL;
	}
	w->page_size = page_size;
	err = io_uring_queue_init(DEPTH, &w->uring, 0);
	w->has_uring = !err;
	if (err)
		snprintf(w->why_no_uring, sizeof(w->why_no_uring), "%s", strerror(-err));
	return w;
}

void aux_writer_free(struct aux_writer *w)
{
	if (!w)
		return;
	if (w->has_uring)
		io_uring_queue_exit(&w->uring);
	free(w->page);
	free(w);
}

const char *aux_writer_how(struct aux_writer *w, bool direct)
{
	if (!direct)
		snprintf(w->how, sizeof(w->how), "plain (O_DIRECT: %s)", w->why_not_direct);
	else if (w->has_uring)
		snprintf(w->how, sizeof(w->how), "direct io_uring");
	else
		snprintf(w->how, sizeof(w->how), "direct pwrite (io_uring: %s)", w->why_no_uring);
	return w->how;
}

static int fail_write(const struct aux_file *f, int err)
{
	return fail(err, "cannot write %s/%s: %s", f->dir, f->name, strerror(err));
}

static void not_direct(struct aux_writer *w, struct aux_file *f, int err)
{
	f->direct = false;
	snprintf(w->why_not_direct, sizeof(w->why_not_direct), "%s", strerror(err));
}

int aux_file_open(struct aux_writer *w, struct aux_file *f, int dirfd, const char *dir,
		  const char *name)
{
	int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;

	*f = (struct aux_file){ .direct = true, .dir = dir };
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->fd = openat(dirfd, name, flags | O_DIRECT, 0600);
	if (f->fd < 0 && errno == EINVAL) {
		not_direct(w, f, errno);
		f->fd = openat(dirfd, name, flags, 0600);
	}
	return f->fd < 0 ? fail_write(f, errno) : 0;
}

void aux_file_close(struct aux_file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	f->fd = -1;
}

/* Errors of a file system that does not support O_DIRECT, or not from this memory. */
static bool refuses_direct(int err)
{
	return err == EINVAL || err == EFAULT || err == EOPNOTSUPP;
}

/* Write a chunk by pwrite(2). */
static int write_chunk(struct aux_writer *w, const struct chunk *c)
{
	struct aux_file *f = c->file;
	const uint8_t *p = c->base;
	size_t left = c->len;

	while (left) {
		ssize_t n = pwrite(f->fd, p, left, c->offset + (p - c->base));

		if (n > 0) {
			p += n;
			left -= n;
		} else if (n == 0) {
			return fail(EIO, "cannot write %s/%s: no progress", f->dir, f->name);
		} else if (f->direct && refuses_direct(errno)) {
			not_direct(w, f, errno);
			if (fcntl(f->fd, F_SETFL, 0))
				return fail_write(f, errno);
		} else if (errno != EINTR) {
			return fail_write(f, errno);
		}
	}
	return 0;
}

/* Write all chunks by io_uring. Chunks that were not written completely stay queued. */
static void write_by_uring(struct aux_writer *w)
{
	unsigned int in_flight = 0, left = 0;

	for (unsigned int i = 0; i < w->count; i++) {
		struct io_uring_sqe *sqe = io_uring_get_sqe(&w->uring);
		struct chunk *c = &w->chunk[i];

		io_uring_prep_write(sqe, c->file->fd, c->base, c->len, c->offset);
		io_uring_sqe_set_data(sqe, c);
	}
	while (io_uring_sq_ready(&w->uring)) {
		int n = io_uring_submit(&w->uring);

		if (n > 0)
			in_flight += n;
		else if (n != -EINTR && n != -EAGAIN && n != -EBUSY)
			break;
	}
	while (in_flight) {
		struct io_uring_cqe *cqe;
		struct chunk *c;
		int err = io_uring_wait_cqe(&w->uring, &cqe);

		if (err == -EINTR)
			continue;
		if (err)
			break;
		/* The caller writes the others again by pwrite(2), which also reports the error. */
		c = io_uring_cqe_get_data(cqe);
		if (cqe->res == (int)c->len)
			c->len = 0;
		io_uring_cqe_seen(&w->uring, cqe);
		in_flight--;
	}
	/* A ring that failed is not used again. */
	if (in_flight || io_uring_sq_ready(&w->uring)) {
		io_uring_queue_exit(&w->uring);
		w->has_uring = false;
		snprintf(w->why_no_uring, sizeof(w->why_no_uring), "it failed during the recording");
	}
	for (unsigned int i = 0; i < w->count; i++)
		if (w->chunk[i].len)
			w->chunk[left++] = w->chunk[i];
	w->count = left;
}

int aux_writer_flush(struct aux_writer *w)
{
	int ret = 0;

	if (w->has_uring && w->count)
		write_by_uring(w);
	for (unsigned int i = 0; !ret && i < w->count; i++)
		ret = write_chunk(w, &w->chunk[i]);
	w->count = 0;
	return ret;
}

static int queue(struct aux_writer *w, struct aux_file *f, const uint8_t *base, size_t len)
{
	while (len) {
		size_t n = len < CHUNK ? len : CHUNK;

		if (w->count == DEPTH && aux_writer_flush(w))
			return -1;
		w->chunk[w->count++] = (struct chunk){ f, base, n, f->pad + f->size };
		f->size += n;
		base += n;
		len -= n;
	}
	return 0;
}

/* Write @len bytes, less than a page, through the bounce page. */
static int put_part(struct aux_writer *w, struct aux_file *f, const uint8_t *base, size_t len)
{
	uint64_t at = f->pad + f->size, within = at % w->page_size;
	struct chunk c = { f, w->page, w->page_size, at - within };

	memset(w->page, 0, w->page_size);
	memcpy(w->page + within, base, len);
	if (write_chunk(w, &c))
		return -1;
	f->size += len;
	if (within + len < w->page_size && ftruncate(f->fd, f->pad + f->size))
		return fail(errno, "cannot cut %s/%s: %s", f->dir, f->name, strerror(errno));
	return 0;
}

ssize_t aux_file_put(struct aux_writer *w, struct aux_file *f, const struct auxtrace_spans *spans,
		     bool last)
{
	uint64_t before = f->size;

	if (f->direct && !f->size && spans->len)
		f->pad = spans->position % w->page_size;
	/* The AUX area ends at a page boundary, so no page is in both parts. */
	for (int i = 0; i < spans->count; i++) {
		const uint8_t *base = spans->iov[i].iov_base;
		size_t left = spans->iov[i].iov_len, within = (f->pad + f->size) % w->page_size, n;

		if (f->direct && within) {
			n = w->page_size - within;
			if (n > left && !last)
				break;
			if (n > left)
				n = left;
			if (put_part(w, f, base, n))
				return -1;
			base += n;
			left -= n;
		}
		n = f->direct ? left - left % w->page_size : left;
		if (queue(w, f, base, n))
			return -1;
		if (last && left > n && put_part(w, f, base + n, left - n))
			return -1;
		if (!last && left > n)
			break;
	}
	return f->size - before;
}
