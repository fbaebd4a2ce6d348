// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fault.h"
#include "machine.h"
#include "uapi.h"

void fault_begin(struct fault *f)
{
	struct uffdio_api api = { .api = UFFD_API };
	struct uffdio_register range = { .mode = UFFDIO_REGISTER_MODE_MISSING };

	f->fd = syscall(SYS_userfaultfd, O_CLOEXEC);
	if (f->fd < 0)
		skip_test("this kernel has no userfaultfd(2)");
	assert_int_equal(ioctl(f->fd, UFFDIO_API, &api), 0);
	f->before = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->before, MAP_FAILED);
	f->page = f->before + page_size;
	range.range.start = (uintptr_t)f->page;
	range.range.len = page_size;
	assert_int_equal(ioctl(f->fd, UFFDIO_REGISTER, &range), 0);
}

void fault_wait(const struct fault *f)
{
	struct pollfd fd = { .fd = f->fd, .events = POLLIN };
	struct uffd_msg msg;

	assert_int_equal(poll(&fd, 1, 60000), 1);
	assert_int_equal(read(f->fd, &msg, sizeof(msg)), sizeof(msg));
	assert_int_equal(msg.event, UFFD_EVENT_PAGEFAULT);
	assert_int_equal(msg.arg.pagefault.address & -page_size, (uintptr_t)f->page);
}

void fault_end(const struct fault *f, const char *text)
{
	char *bytes = aligned_alloc(page_size, page_size);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)f->page, .src = (uintptr_t)bytes, .len = page_size,
	};

	assert_non_null(bytes);
	memset(bytes, 0, page_size);
	strcpy(bytes, text);
	assert_int_equal(ioctl(f->fd, UFFDIO_COPY, &copy), 0);
	free(bytes);
}

void fault_end_unmapped(const struct fault *f)
{
	struct uffdio_range range = { .start = (uintptr_t)f->page, .len = page_size };

	assert_int_equal(munmap(f->page, page_size), 0);
	assert_int_equal(ioctl(f->fd, UFFDIO_WAKE, &range), 0);
}

void fault_close(const struct fault *f)
{
	close(f->fd);
	munmap(f->before, 2 * page_size);
}
