// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail_nth.h"
#include "file.h"
#include "uapi.h"

#define DEBUGFS		"/sys/kernel/debug/"

static int nth_fd = -1, log_fd = -1;

static void set(const char *attribute, const char *value)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), DEBUGFS "%s", attribute);
	err = file_write(path, value);
	if (err)
		skip_test("%s: %s", path, strerror(-err));
}

void fault_required(void)
{
	if (nth_fd >= 0)
		return;
	/* By default only what cannot wait may fail, and no single page. */
	set("failslab/ignore-gfp-wait", "N");
	set("fail_page_alloc/ignore-gfp-wait", "N");
	set("fail_page_alloc/ignore-gfp-highmem", "N");
	set("fail_page_alloc/min-order", "0");
	/* A line in the kernel's log says what failed, without a backtrace. */
	set("failslab/verbose", "1");
	set("fail_page_alloc/verbose", "1");
	set("fail_usercopy/verbose", "1");
	log_fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (log_fd < 0 || nth_fd < 0)
		skip_test("this kernel has no fail-nth, or no log");
}

void fault_next(unsigned int nth)
{
	char text[16];

	lseek(log_fd, 0, SEEK_END);
	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(nth_fd, text, strlen(text), 0) < 0)
		fail_msg("fail-nth: %s", strerror(errno));
}

enum fault fault_happened(void)
{
	enum fault kind = FAULT_MEMORY;
	char text[1024] = "";
	bool happened;
	ssize_t got;

	/* This read may itself be the nth: then it fails, and the call before it did not. */
	happened = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';
	while (pwrite(nth_fd, "0", 1, 0) < 0)
		if (errno != EFAULT)
			fail_msg("fail-nth: %s", strerror(errno));
	if (!happened)
		return FAULT_NONE;
	/* A copy is always in the log; an allocation is not, if it asked for no warning. */
	for (;;) {
		got = read(log_fd, text, sizeof(text) - 1);
		if (got < 0 && errno == EPIPE)	/* the oldest lines are gone */
			continue;
		if (got <= 0)
			break;
		text[got] = 0;
		if (strstr(text, "name fail_usercopy"))
			kind = FAULT_COPY;
	}
	return kind;
}
