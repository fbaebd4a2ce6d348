// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/tool.h"
#include "tracepoints.h"

static const char *events_dir(void)
{
	static const char *const dirs[] = {
		"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		if (!access(dirs[i], R_OK | X_OK))
			return dirs[i];
	return NULL;
}

long tracepoint_id(const char *subsys, const char *name)
{
	const char *dir = events_dir();
	char path[512];
	FILE *f;
	long id;

	if (!dir)
		return -ENODEV;
	if (strchr(subsys, '/') || strchr(name, '/'))
		return -ENOENT;
	snprintf(path, sizeof(path), "%s/%s/%s/id", dir, subsys, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%ld", &id) != 1)
		id = -EIO;
	fclose(f);
	return id;
}

static long each_of(const char *dir, const char *subsys,
		    void (*fn)(const char *name, void *context), void *context)
{
	char path[1024], name[512];
	struct dirent *e;
	long count = 0;
	DIR *d;

	snprintf(path, sizeof(path), "%s/%s", dir, subsys);
	d = opendir(path);
	if (!d)
		return 0;
	while ((errno = 0, e = readdir(d))) {
		if (*e->d_name == '.' || e->d_type != DT_DIR)
			continue;
		snprintf(path, sizeof(path), "%s/%s/%s/id", dir, subsys, e->d_name);
		if (access(path, F_OK))
			continue;
		snprintf(name, sizeof(name), "%.200s:%.200s", subsys, e->d_name);
		fn(name, context);
		count++;
	}
	if (errno)
		count = -errno;
	closedir(d);
	return count;
}

long tracepoint_each(void (*fn)(const char *name, void *context), void *context)
{
	const char *dir = events_dir();
	struct dirent *e;
	long count = 0;
	DIR *d;

	if (!dir)
		return -ENODEV;
	d = opendir(dir);
	if (!d)
		return -errno;
	while (count >= 0 && (errno = 0, e = readdir(d))) {
		long more = 0;

		if (*e->d_name != '.' && e->d_type == DT_DIR)
			more = each_of(dir, e->d_name, fn, context);
		count = more < 0 ? more : count + more;
	}
	if (count >= 0 && errno)
		count = -errno;
	closedir(d);
	return count;
}

static void offer(const char *name, void *context)
{
	suggest_offer(context, name);
}

void tracepoint_suggest(struct suggestions *n)
{
	tracepoint_each(offer, n);
}
