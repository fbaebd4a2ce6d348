// SPDX-License-Identifier: GPL-2.0-only
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "uapi.h"
#include "waiter.h"

static short poll_for(short events, int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, ms);

	assert_true(n >= 0);
	return n ? p.revents : 0;
}

short poll_events(int fd, int ms)
{
	return poll_for(POLLIN, fd, ms);
}

short poll_urgent(int fd, int ms)
{
	return poll_for(POLLPRI, fd, ms);
}

static void *wait_in_poll(void *arg)
{
	struct waiter *w = arg;
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	struct timespec begin, end;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	__atomic_store_n(&w->tid, gettid(), __ATOMIC_RELEASE);
	w->events = poll(&p, 1, WAIT_MS) > 0 ? p.revents : 0;
	clock_gettime(CLOCK_MONOTONIC, &end);
	w->ms = (end.tv_sec - begin.tv_sec) * 1000 + (end.tv_nsec - begin.tv_nsec) / 1000000;
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static char thread_state(pid_t tid)
{
	char path[64], state = '?';
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	f = fopen(path, "re");
	if (f && fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = '?';
	if (f)
		fclose(f);
	return state;
}

void waiter_start(struct waiter *w, int fd)
{
	pid_t tid;

	*w = (struct waiter){ .fd = fd };
	assert_int_equal(pthread_create(&w->thread, NULL, wait_in_poll, w), 0);
	while (!(tid = __atomic_load_n(&w->tid, __ATOMIC_ACQUIRE)))
		sched_yield();
	while (thread_state(tid) != 'S') {
		if (__atomic_load_n(&w->done, __ATOMIC_ACQUIRE)) {
			pthread_join(w->thread, NULL);
			fail_msg("poll did not wait, it said %#x", w->events);
		}
		sched_yield();
	}
}

void waiter_join(struct waiter *w)
{
	pthread_join(w->thread, NULL);
	assert_int_equal(w->events, POLLIN);
	assert_true(w->ms < WAIT_MS);
}

void wait_for_inhibit(const struct session *s, uint32_t inhibit)
{
	for (unsigned int i = 0; i < s->count; i++)
		wait_until(channel_status(&s->channel[i]).inhibit == inhibit);
}
