// SPDX-License-Identifier: GPL-2.0-only
/* lib/kobject_uevent.c of the kernel has the format of uevents. */
#include <errno.h>
#include <linux/netlink.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "arrivals.h"
#include "lib/clock.h"

#define FROM_KERNEL	1	/* the group of what the kernel sends; udev's is another one */
#define ONLINE		"online@/devices/system/cpu/cpu"
/* More than a kernel's time has, which takes it for its last moment: the timer is only ever cancelled. */
#define NEVER		(1ll << 34)

static int open_uevents(void)
{
	const struct sockaddr_nl group = { .nl_family = AF_NETLINK, .nl_groups = FROM_KERNEL };
	int err, fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);

	if (fd < 0 || !bind(fd, (const struct sockaddr *)&group, sizeof(group)))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static int open_clock(void)
{
	const struct itimerspec never = { .it_value.tv_sec = NEVER };
	int err, fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);

	if (fd < 0 || !timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &never, NULL))
		return fd;
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/*
 * How long the machine has slept, in which only one of these clocks goes on: at least *@least, at most *@most. This process may
 * lose its CPU between any two readings.
 */
static void read_slept(int64_t *least, int64_t *most)
{
	int64_t before = clock_now_ns(), boottime = clock_ns(CLOCK_BOOTTIME);

	*most = boottime - before;
	*least = boottime - clock_now_ns();
}

void arrivals_open(struct arrivals *a)
{
	struct epoll_event event = { .events = EPOLLIN };
	int64_t least;

	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	a->uevents = open_uevents();
	a->clock = open_clock();
	read_slept(&least, &a->slept);
	if (a->uevents >= 0)
		epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->uevents, &event);
	if (a->clock >= 0)
		epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->clock, &event);
}

int arrivals_fd(const struct arrivals *a)
{
	return a->epoll;
}

/* Was a uevent since the last call of a CPU? Where the kernel had no room for all of them, one may have been. */
static bool heard_uevent(const struct arrivals *a)
{
	char text[4096];
	bool heard = false;
	ssize_t n;

	if (a->uevents < 0)
		return false;
	while ((n = recv(a->uevents, text, sizeof(text) - 1, 0)) >= 0 || errno == ENOBUFS || errno == EINTR) {
		if (n < 0) {
			heard |= errno == ENOBUFS;
			continue;
		}
		text[n] = '\0';
		heard |= !strncmp(text, ONLINE, strlen(ONLINE));
	}
	return heard;
}

static bool heard_clock(const struct arrivals *a)
{
	uint64_t expired;

	return a->clock >= 0 && read(a->clock, &expired, sizeof(expired)) < 0 && errno == ECANCELED;
}

bool arrivals_heard(struct arrivals *a)
{
	bool uevent = heard_uevent(a), clock = heard_clock(a);

	return uevent || clock;
}

bool arrivals_slept(struct arrivals *a)
{
	int64_t before = a->slept, least;

	read_slept(&least, &a->slept);
	return least > before;
}

void arrivals_close(struct arrivals *a)
{
	if (a->clock >= 0)
		close(a->clock);
	if (a->uevents >= 0)
		close(a->uevents);
	if (a->epoll >= 0)
		close(a->epoll);
	*a = (struct arrivals)ARRIVALS_NONE;
}
