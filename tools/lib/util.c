// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p && size)
		out_of_memory();
	return p;
}

void *xgrow(void *list, size_t count, size_t size)
{
	if (count & (count - 1))
		return list;
	return xrealloc(list, (count ? 2 * count : 1) * size);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p && n && size)
		out_of_memory();
	return p;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		out_of_memory();
	return copy;
}

int open_regular(const char *path, struct stat *st)
{
	int place = open(path, O_PATH | O_CLOEXEC), fd;
	char self[64];

	if (place < 0)
		return -errno;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", place);
	if (fstat(place, st))
		fd = -errno;
	else if (!S_ISREG(st->st_mode))
		fd = S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	else if ((fd = open(self, O_RDONLY | O_CLOEXEC)) < 0)
		fd = -errno;
	close(place);
	return fd;
}

FILE *open_text(const char *path)
{
	struct stat st;
	int fd = open_regular(path, &st);
	FILE *f;

	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

int map_file(const char *path, bool writable, struct mapped *m)
{
	struct stat st;
	int fd = open_regular(path, &st);
	void *p;

	*m = (struct mapped){ 0 };
	if (fd < 0)
		return fd;
	if (!st.st_size) {
		close(fd);
		return 0;
	}
	p = mmap(NULL, st.st_size, PROT_READ | (writable ? PROT_WRITE : 0), MAP_PRIVATE, fd, 0);
	close(fd);
	if (p == MAP_FAILED)
		return -errno;
	m->data = p;
	m->size = st.st_size;
	return 0;
}

void unmap_file(struct mapped *m)
{
	if (m->data)
		munmap(m->data, m->size);
	*m = (struct mapped){ 0 };
}
