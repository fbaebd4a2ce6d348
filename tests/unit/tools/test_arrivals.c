// SPDX-License-Identifier: GPL-2.0-only
/* Who hears of CPUs. The test plays the kernel, which sends uevents, sets the time, and lets the machine sleep. */
#include <errno.h>
#include <linux/netlink.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/arrivals.h"

static int kernel;		/* the other end of the socket */
static bool no_socket, no_bind, no_timer, lost, set;
static int64_t slept, now;

int __wrap_socket(int domain, int type, int protocol);
int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len);
ssize_t __wrap_recv(int fd, void *buf, size_t size, int flags);
ssize_t __real_recv(int fd, void *buf, size_t size, int flags);
ssize_t __wrap_read(int fd, void *buf, size_t size);
ssize_t __real_read(int fd, void *buf, size_t size);
int __wrap_timerfd_create(int clock, int flags);
int __real_timerfd_create(int clock, int flags);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

int __wrap_socket(int domain, int type, int protocol)
{
	int fds[2];

	assert_int_equal(domain, AF_NETLINK);
	assert_int_equal(protocol, NETLINK_KOBJECT_UEVENT);
	errno = EAFNOSUPPORT;
	if (no_socket)
		return -1;
	assert_int_equal(socketpair(AF_UNIX, SOCK_DGRAM | (type & (SOCK_NONBLOCK | SOCK_CLOEXEC)), 0, fds), 0);
	kernel = fds[1];
	return fds[0];
}

int __wrap_bind(int fd, const struct sockaddr *address, socklen_t len)
{
	const struct sockaddr_nl *nl = (const void *)address;

	(void)fd;
	assert_int_equal(len, sizeof(*nl));
	/* What udev sends to its listeners is another group. */
	assert_int_equal(nl->nl_groups, 1);
	errno = EPERM;
	return no_bind ? -1 : 0;
}

ssize_t __wrap_recv(int fd, void *buf, size_t size, int flags)
{
	if (!lost)
		return __real_recv(fd, buf, size, flags);
	lost = false;
	errno = ENOBUFS;
	return -1;
}

ssize_t __wrap_read(int fd, void *buf, size_t size)
{
	if (!set)
		return __real_read(fd, buf, size);
	set = false;
	errno = ECANCELED;
	return -1;
}

int __wrap_timerfd_create(int clock, int flags)
{
	assert_int_equal(clock, CLOCK_REALTIME);
	errno = EMFILE;
	return no_timer ? -1 : __real_timerfd_create(clock, flags);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
	/* Each reading may take long. */
	const int64_t ns = (now += 100000000) + (clock == CLOCK_BOOTTIME ? slept : 0);

	*t = (struct timespec){ .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };
	return 0;
}

static int begin(void **state)
{
	(void)state;
	kernel = -1;
	no_socket = no_bind = no_timer = lost = set = false;
	slept = 700000000;
	now = 5000000000;
	return 0;
}

static int end(void **state)
{
	(void)state;
	return kernel >= 0 ? close(kernel) : 0;
}

/* A uevent is several strings. */
#define tell(text)	assert_int_equal(send(kernel, text "\0SUBSYSTEM=x", sizeof(text "\0SUBSYSTEM=x"), 0), \
					 sizeof(text "\0SUBSYSTEM=x"))

static bool readable(const struct arrivals *a)
{
	struct pollfd p = { .fd = arrivals_fd(a), .events = POLLIN };

	return poll(&p, 1, 0) == 1;
}

static void of_all_uevents_those_of_cpus_that_come_are_heard(void **state)
{
	struct arrivals a;

	(void)state;
	arrivals_open(&a);
	assert_false(readable(&a));
	assert_false(arrivals_heard(&a));
	tell("offline@/devices/system/cpu/cpu3");
	tell("change@/devices/system/cpu/cpu3");
	tell("online@/devices/system/memory/memory3");
	tell("onlin");
	assert_true(readable(&a));
	assert_false(arrivals_heard(&a));
	assert_false(readable(&a));
	tell("online@/devices/system/cpu/cpu3");
	tell("add@/devices/virtual/net/veth1");
	assert_true(arrivals_heard(&a));
	assert_false(arrivals_heard(&a));
	assert_false(readable(&a));
	arrivals_close(&a);
	assert_int_equal(arrivals_fd(&a), -1);
}

static void a_uevent_for_which_there_was_no_room_may_have_been_one(void **state)
{
	struct arrivals a;

	(void)state;
	arrivals_open(&a);
	tell("add@/devices/virtual/net/veth1");
	lost = true;
	assert_true(arrivals_heard(&a));
	assert_false(arrivals_heard(&a));
	assert_false(readable(&a));
	arrivals_close(&a);
}

static void a_change_of_the_time_may_have_been_a_sleep(void **state)
{
	struct arrivals a;

	(void)state;
	arrivals_open(&a);
	set = true;
	assert_true(arrivals_heard(&a));
	assert_false(arrivals_heard(&a));
	assert_false(arrivals_slept(&a));
	slept += 1000000000;
	assert_true(arrivals_slept(&a));
	assert_false(arrivals_slept(&a));
	arrivals_close(&a);
}

static void what_there_is_of_both_is_heard(void **state)
{
	struct arrivals a;

	(void)state;
	no_socket = true;
	arrivals_open(&a);
	set = true;
	assert_true(arrivals_heard(&a));
	arrivals_close(&a);

	no_socket = false;
	no_bind = true;
	arrivals_open(&a);
	set = true;
	assert_true(arrivals_heard(&a));
	arrivals_close(&a);
	assert_int_equal(end(state), 0);

	no_bind = false;
	no_timer = true;
	arrivals_open(&a);
	tell("online@/devices/system/cpu/cpu0");
	assert_true(readable(&a));
	assert_true(arrivals_heard(&a));
	arrivals_close(&a);
	assert_int_equal(end(state), 0);
	kernel = -1;

	no_socket = true;
	arrivals_open(&a);
	assert_false(readable(&a));
	assert_false(arrivals_heard(&a));
	arrivals_close(&a);
}

/* Its second closing does nothing. */
static void what_was_never_opened_can_be_closed(void **state)
{
	struct arrivals a = ARRIVALS_NONE;

	(void)state;
	assert_int_equal(arrivals_fd(&a), -1);
	arrivals_close(&a);
	arrivals_close(&a);
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		t(of_all_uevents_those_of_cpus_that_come_are_heard),
		t(a_uevent_for_which_there_was_no_room_may_have_been_one),
		t(a_change_of_the_time_may_have_been_a_sleep),
		t(what_there_is_of_both_is_heard),
		t(what_was_never_opened_can_be_closed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
