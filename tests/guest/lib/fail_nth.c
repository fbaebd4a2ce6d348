// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fail_nth.h"
#include "file.h"
#include "uapi.h"

#define DEBUGFS		"/sys/kernel/debug/"

static int nth_fd = -1;

static void set(const char *attribute, const char *name, const char *text)
{
	char path[128];
	int err;

	snprintf(path, sizeof(path), DEBUGFS "%s/%s", attribute, name);
	err = file_write(path, text);
	if (err)
		skip_test("%s: %s", path, strerror(-err));
}

/* fail-nth counts what any of the kernel's attributes may fail: calls from nowhere never do. */
static void enable(const char *attribute, bool on)
{
	set(attribute, "require-start", on ? "0" : "1");
	set(attribute, "require-end", on ? "0xffffffffffffffff" : "2");
	set(attribute, "verbose", "0");
}

void fault_select(enum fault kind)
{
	if (nth_fd < 0)
		nth_fd = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		skip_test("this kernel has no fail-nth");
	enable("failslab", kind == FAULT_MEMORY);
	enable("fail_page_alloc", kind == FAULT_MEMORY);
	enable("fail_usercopy", kind == FAULT_COPY);
	/* By default only what cannot wait may fail, and no single page. */
	set("failslab", "ignore-gfp-wait", "N");
	set("fail_page_alloc", "ignore-gfp-wait", "N");
	set("fail_page_alloc", "ignore-gfp-highmem", "N");
	set("fail_page_alloc", "min-order", "0");
}

void fault_next(unsigned int nth)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", nth);
	if (pwrite(nth_fd, text, strlen(text), 0) < 0)
		fail_msg("fail-nth: %s", strerror(errno));
}

bool fault_happened(void)
{
	char text[16] = "";
	bool happened;

	/* This read may itself be the nth: then it fails, and the call before it did not. */
	happened = pread(nth_fd, text, sizeof(text) - 1, 0) > 0 && text[0] == '0';
	while (pwrite(nth_fd, "0", 1, 0) < 0)
		if (errno != EFAULT)
			fail_msg("fail-nth: %s", strerror(errno));
	return happened;
}
