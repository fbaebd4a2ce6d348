// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ds.h"
#include "msr.h"
#include "uapi.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define EVENT		"auxtrace_test/ds"
#define PROBED		"__x64_sys_newuname"
#define MAX_READS	100

static int put(const char *file, const char *text)
{
	char path[128];
	int fd, ret = 0;

	snprintf(path, sizeof(path), TRACEFS "%s", file);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * The probe reads word by word, and an NMI may move them meanwhile: false if the first is
 * another at the end.
 */
static bool last_hit(struct ds *ds)
{
	FILE *f = fopen(TRACEFS "trace", "re");
	unsigned long long v[5];
	bool found = false;
	char line[512];

	while (f && fgets(line, sizeof(line), f)) {
		const char *at = strstr(line, "base=");

		if (!at || sscanf(at, "base=%llx index=%llx maximum=%llx threshold=%llx again=%llx",
				  &v[0], &v[1], &v[2], &v[3], &v[4]) != 5)
			continue;
		*ds = (struct ds){ v[0], v[1], v[2], v[3] };
		found = v[4] == v[0];
	}
	if (f)
		fclose(f);
	return found;
}

struct ds ds_read(int cpu)
{
	struct ds ds = { 0 };
	struct utsname u;
	uint64_t area;
	char text[256];
	bool found = false;
	int ret;

	assert_int_equal(msr_read(cpu, MSR_DS_AREA, &area), 0);
	if (!area) {
		print_message("SKIP: perf uses no debug store on CPU %d\n", cpu);
		skip();
	}
	snprintf(text, sizeof(text),
		 "p:" EVENT " " PROBED " base=@0x%llx:x64 index=@0x%llx:x64 maximum=@0x%llx:x64 threshold=@0x%llx:x64 again=@0x%llx:x64\n",
		 (unsigned long long)area, (unsigned long long)area + 8,
		 (unsigned long long)area + 16, (unsigned long long)area + 24,
		 (unsigned long long)area);
	ret = put("kprobe_events", text);
	if (ret) {
		print_message("SKIP: no probe by tracefs: %s\n", strerror(-ret));
		skip();
	}
	for (int i = 0; i < MAX_READS && !found; i++) {
		put("events/" EVENT "/enable", "1");
		syscall(SYS_uname, &u);
		put("events/" EVENT "/enable", "0");
		found = last_hit(&ds);
	}
	ret = put("kprobe_events", "-:" EVENT "\n");
	assert_true(found);
	assert_int_equal(ret, 0);
	return ds;
}
