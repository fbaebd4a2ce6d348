// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <x86intrin.h>

#include "internal.h"
#include "recording_dir.h"
#include "thread_names.h"

/* "TID PID NAME". A thread that has ended meanwhile has no line. */
static void write_thread(FILE *f, const char *pid, const char *tid)
{
	char path[600], name[64] = "";
	FILE *comm;

	snprintf(path, sizeof(path), "/proc/%s/task/%s/comm", pid, tid);
	comm = fopen(path, "re");
	if (!comm)
		return;
	if (fgets(name, sizeof(name), comm))
		fprintf(f, "%s %s %.*s\n", tid, pid, (int)strcspn(name, "\n"), name);
	fclose(comm);
}

static void write_process(FILE *f, const char *pid)
{
	struct dirent *e;
	char path[300];
	DIR *task;

	snprintf(path, sizeof(path), "/proc/%s/task", pid);
	task = opendir(path);
	if (!task)
		return;
	while ((e = readdir(task)))
		if (isdigit((unsigned char)e->d_name[0]))
			write_thread(f, pid, e->d_name);
	closedir(task);
}

int thread_names_write(int dirfd)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	FILE *f;

	if (!proc)
		return fail(errno, "cannot read /proc: %s; is it mounted?", strerror(errno));
	f = recording_file(dirfd, "threads");
	if (!f) {
		closedir(proc);
		return -1;
	}
	fprintf(f, "tsc %" PRIu64 "\n", (uint64_t)__rdtsc());
	while ((e = readdir(proc)))
		if (isdigit((unsigned char)e->d_name[0]))
			write_process(f, e->d_name);
	closedir(proc);
	return recording_file_close(f, "threads");
}
