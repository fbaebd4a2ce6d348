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

#define FROM_KERNEL	1	/* the group of what the kernel sends; udev's is another one */
#define ONLINE		"online@/devices/system/cpu/cpu"
/* In some centuries: it never expires, and is only ever cancelled. */
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

int arrivals_open(struct arrivals *a)
{
	struct epoll_event event = { .events = EPOLLIN };
	int err;

	a->epoll = epoll_create1(EPOLL_CLOEXEC);
	a->uevents = open_uevents();
	a->clock = a->uevents < 0 ? -1 : open_clock();
	if (a->epoll >= 0 && a->clock >= 0 && !epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->uevents, &event) &&
	    !epoll_ctl(a->epoll, EPOLL_CTL_ADD, a->clock, &event))
		return 0;
	err = errno;
	arrivals_close(a);
	errno = err;
	return -1;
}

int arrivals_fd(const struct arrivals *a)
{
	return a->epoll;
}

/* Which of the uevents since the last call are of CPUs. Where the kernel had no room for all of them, one may have been. */
static bool heard_uevent(const struct arrivals *a)
{
	char text[4096];
	bool heard = false;
	ssize_t n;

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

	return read(a->clock, &expired, sizeof(expired)) < 0 && errno == ECANCELED;
}

bool arrivals_heard(struct arrivals *a)
{
	bool uevent = heard_uevent(a), clock = heard_clock(a);

	return uevent || clock;
}

void arrivals_close(struct arrivals *a)
{
	if (a->clock >= 0)
		close(a->clock);
	if (a->uevents >= 0)
		close(a->uevents);
	if (a->epoll >= 0)
		close(a->epoll);
	*a = (struct arrivals){ .epoll = -1, .uevents = -1, .clock = -1 };
}
