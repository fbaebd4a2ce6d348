// SPDX-License-Identifier: GPL-2.0
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tool.h"

static void vsay(const char *format, va_list ap)
{
	fflush(stdout);
	fputs("auxtrace: ", stderr);
	vfprintf(stderr, format, ap);
	putc('\n', stderr);
}

void say(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsay(format, ap);
	va_end(ap);
}

void die(int status, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsay(format, ap);
	va_end(ap);
	exit(status);
}

void must(bool done)
{
	if (!done)
		exit(1);
}

void *xrealloc(void *p, size_t size)
{
	p = realloc(p, size);
	if (!p && size)
		die(1, "out of memory");
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p && n && size)
		die(1, "out of memory");
	return p;
}

char *xstrdup(const char *s)
{
	char *copy = strdup(s);

	if (!copy)
		die(1, "out of memory");
	return copy;
}

uint64_t parse_size(const char *option, const char *text)
{
	unsigned int shift = 0;
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	switch (toupper((unsigned char)*end)) {
	case 'K':
		shift = 10;
		break;
	case 'M':
		shift = 20;
		break;
	case 'G':
		shift = 30;
		break;
	}
	if (shift)
		end++;
	if (end == text || *end || errno || *text == '-' || n > UINT64_MAX >> shift)
		die(EXIT_USAGE, "%s %s: a size is a number with or without K, M or G, for example 4M",
		    option, text);
	return (uint64_t)n << shift;
}

uint64_t parse_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
	unsigned long n;
	char *end;

	errno = 0;
	n = strtoul(text, &end, 0);
	if (!isdigit((unsigned char)*text) || *end || errno || n < min || n > max)
		die(EXIT_USAGE, "%s %s: it takes a number from %" PRIu64 " to %" PRIu64, option, text,
		    min, max);
	return n;
}

int map_file(const char *path, bool writable, struct mapped *m)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *p;

	*m = (struct mapped){ 0 };
	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
	}
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
