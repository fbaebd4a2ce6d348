// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "jit.h"
#include "perf_map.h"
#include "recording_dir.h"

#define MAGIC		0x4a695444	/* "JiTD" */
#define CODE_LIMIT	(16u << 20)	/* of one function */
#define DUMP_LIMIT	(256u << 20)	/* of a dump made of a map */

struct dump_header {
	uint32_t magic, version, size, elf_mach, reserved, pid;
	uint64_t time, flags;
};

struct load {			/* JIT_CODE_LOAD. The name with its final 0 and the code follow */
	uint32_t id, size;
	uint64_t time;
	uint32_t pid, tid;
	uint64_t vma, addr, code_size, index;
};

struct dump {
	uint8_t *data;
	size_t size;
};

bool jit_is_dump(const char *path)
{
	const char *name = strrchr(path, '/');
	size_t digits;

	if (!name || strncmp(name, "/jit-", 5))
		return false;
	digits = strspn(name + 5, "0123456789");
	return digits && !strcmp(name + 5 + digits, ".dump");
}

/* Room for @size bytes more, or NULL. */
static uint8_t *grow(struct dump *d, size_t size)
{
	uint8_t *data = d->size + size <= DUMP_LIMIT ? realloc(d->data, d->size + size) : NULL;

	if (!data)
		return NULL;
	d->data = data;
	d->size += size;
	return data + d->size - size;
}

/* A function whose memory cannot be read any more is left out. False: no room. */
static bool add_function(struct dump *d, int mem, pid_t pid, uint64_t addr, uint64_t size, const char *name)
{
	size_t len = strlen(name) + 1;
	struct load load = {
		.size = sizeof(load) + len + size, .pid = pid, .tid = pid,
		.vma = addr, .addr = addr, .code_size = size,
	};
	uint8_t *to = grow(d, load.size);

	if (!to)
		return false;
	if (pread(mem, to + sizeof(load) + len, size, addr) != (ssize_t)size) {
		d->size -= load.size;
		return true;
	}
	memcpy(to, &load, sizeof(load));
	memcpy(to + sizeof(load), name, len);
	return true;
}

/* "START SIZE NAME", hexadecimal. */
static void add_functions(struct dump *d, FILE *map, int mem, pid_t pid)
{
	char *line = NULL;
	size_t space = 0;
	bool room = true;

	while (room && getline(&line, &space, map) > 0) {
		uint64_t addr, size;
		int at = 0;

		line[strcspn(line, "\n")] = 0;
		if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &addr, &size, &at) == 2 && at && size &&
		    size <= CODE_LIMIT)
			room = add_function(d, mem, pid, addr, size, line + at);
	}
	free(line);
}

/* Anybody can make a file in /tmp: only the process's own counts. */
static FILE *open_map(pid_t pid, const char *proc)
{
	struct stat map, process;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), PERF_MAP_DIR "/" PERF_MAP_NAME, pid);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &map) || stat(proc, &process) || !S_ISREG(map.st_mode) || map.st_uid != process.st_uid) {
		close(fd);
		return NULL;
	}
	return fdopen(fd, "r");
}

uint8_t *jit_of_map(pid_t pid, const char *proc, size_t *size)
{
	struct dump_header header = {
		.magic = MAGIC, .version = 1, .size = sizeof(header), .elf_mach = EM_X86_64, .pid = pid,
	};
	FILE *map = open_map(pid, proc);
	struct dump d = { 0 };
	char path[64];
	uint8_t *to;
	int mem;

	if (!map)
		return NULL;
	snprintf(path, sizeof(path), "%s/mem", proc);
	mem = open(path, O_RDONLY | O_CLOEXEC);
	to = mem < 0 ? NULL : grow(&d, sizeof(header));
	if (to) {
		memcpy(to, &header, sizeof(header));
		add_functions(&d, map, mem, pid);
	}
	if (mem >= 0)
		close(mem);
	fclose(map);
	*size = d.size;
	return d.data;
}

int jit_copy_dump(int dirfd, const char *name, const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC), err = 0;
	struct stat st;
	char buf[65536];
	ssize_t got = 0;
	FILE *f;

	/* It has gone: the code is not known then. */
	if (fd < 0)
		return 0;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		close(fd);
		return 0;
	}
	f = recording_file(dirfd, name);
	if (!f) {
		err = errno;
		close(fd);
		errno = err;
		return -1;
	}
	while ((got = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, got, f);
	err = errno;
	close(fd);
	if (recording_file_close(f, name))
		return -1;
	return got < 0 ? fail(err, "cannot read %s: %s", path, strerror(err)) : 0;
}
