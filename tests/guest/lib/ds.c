// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "ds.h"
#include "file.h"
#include "msr.h"
#include "uapi.h"

#define TRACEFS		"/sys/kernel/tracing/"
#define EVENT		"auxtrace_test/ds"
#define PROBED		"__x64_sys_newuname"
#define MAX_READS	100

/*
 * The probe reads word by word, and an NMI may change them meanwhile. So it reads the first
 * once more at its end: false if that has changed.
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
	if (!area)
		skip_test("perf uses no debug store on CPU %d", cpu);
	snprintf(text, sizeof(text),
		 "p:" EVENT " " PROBED " base=@0x%llx:x64 index=@0x%llx:x64 maximum=@0x%llx:x64 threshold=@0x%llx:x64 again=@0x%llx:x64\n",
		 (unsigned long long)area, (unsigned long long)area + 8,
		 (unsigned long long)area + 16, (unsigned long long)area + 24,
		 (unsigned long long)area);
	ret = file_write(TRACEFS "kprobe_events", text);
	if (ret)
		skip_test("no probe by tracefs: %s", strerror(-ret));
	for (int i = 0; i < MAX_READS && !found; i++) {
		file_write(TRACEFS "events/" EVENT "/enable", "1");
		syscall(SYS_uname, &u);
		file_write(TRACEFS "events/" EVENT "/enable", "0");
		found = last_hit(&ds);
	}
	ret = file_write(TRACEFS "kprobe_events", "-:" EVENT "\n");
	assert_true(found);
	assert_int_equal(ret, 0);
	return ds;
}
