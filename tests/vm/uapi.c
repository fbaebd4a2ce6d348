// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "load.h"
#include "uapi.h"

#define DEVICE		"/dev/auxtrace"
#define MAX_FDS		64
#define MAX_MAPS	(MAX_CPUS * 3)

/*
 * The kernel writes a page in microseconds; but where virtual CPUs share real
 * ones, the one that writes may have to wait for its turn in the middle of it.
 */
#define SEQ_SECONDS	10

static int fds[MAX_FDS];
static unsigned int nr_fds;

static struct {
	void *addr;
	size_t len;
} maps[MAX_MAPS];
static unsigned int nr_maps;

int at_open_plain(void)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int at_ioctl(int fd, unsigned long nr, void *arg)
{
	return ioctl(fd, nr, arg) < 0 ? -errno : 0;
}

int at_start(int fd)
{
	struct auxtrace_start arg = { .size = sizeof(arg) };

	return at_ioctl(fd, AUXTRACE_IOC_START, &arg);
}

int at_stop(int fd)
{
	struct auxtrace_start arg = { .size = sizeof(arg) };

	return at_ioctl(fd, AUXTRACE_IOC_STOP, &arg);
}

int at_control(int fd, unsigned long nr, uint64_t cpus, struct auxtrace_effect *effects,
	       unsigned int room)
{
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus_len = cpus ? sizeof(cpus) : 0,
		.cpus = cpus ? (uintptr_t)&cpus : 0,
		.effects = (uintptr_t)effects,
		.effects_len = room,
	};
	int ret = at_ioctl(fd, nr, &arg);

	return ret ? ret : (int)arg.out_count;
}

int at_status(int fd, uint32_t flags, struct auxtrace_status *status)
{
	*status = (struct auxtrace_status){ .size = sizeof(*status), .flags = flags };
	return at_ioctl(fd, AUXTRACE_IOC_STATUS, status);
}

static const char *errno_name(int err)
{
	const char *name = strerrorname_np(err);

	if (!err)
		return "success";
	return name ? name : "an unknown errno";
}

void expect_call(const char *what, int err, int got, const char *file, int line)
{
	if ((got < 0 ? -got : 0) == err)
		return;

	print_error("%s: expected %s, got %s\n", what, errno_name(err),
		    errno_name(got < 0 ? -got : 0));
	_fail(file, line);
}

void expect_control(const char *what, const struct session *s, unsigned long nr, uint64_t cpus,
		    struct auxtrace_effect *effects, const char *file, int line)
{
	uint64_t asked = cpus ? cpus : s->cpus;
	unsigned int room = effects ? cpus_count(asked) : 0;
	int ret = at_control(s->fd, nr, cpus, effects, room);

	expect_call(what, 0, ret, file, line);
	if (ret != (int)cpus_count(asked)) {
		print_error("%s: asked %u CPUs, out_count is %d\n", what, cpus_count(asked), ret);
		_fail(file, line);
	}
	for (unsigned int i = 0; i < room; i++) {
		int cpu = cpus_first(asked);

		if (effects[i].cpu != (unsigned int)cpu) {
			print_error("%s: effect %u is of CPU %u, not of %d\n", what, i,
				    effects[i].cpu, cpu);
			_fail(file, line);
		}
		asked &= asked - 1;
	}
}

void at_remember(int fd)
{
	assert_true(nr_fds < MAX_FDS);
	fds[nr_fds++] = fd;
}

int at_open(void)
{
	int fd = at_open_plain();

	if (fd < 0)
		fail_msg(DEVICE ": %s", strerror(-fd));
	at_remember(fd);
	return fd;
}

void at_close(int fd)
{
	for (unsigned int i = 0; i < nr_fds; i++) {
		if (fds[i] == fd) {
			fds[i] = fds[--nr_fds];
			close(fd);
			return;
		}
	}
	fail_msg("descriptor %d is not open", fd);
}

struct auxtrace_info at_info(void)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open();

	ok_info(fd, &info);
	at_close(fd);
	return info;
}

uint8_t *at_guarded_page(void)
{
	size_t page = sysconf(_SC_PAGESIZE);
	uint8_t *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
	return two;
}

static void *map(int fd, int cpu, unsigned int region, size_t len, int prot)
{
	void *addr = mmap(NULL, len, prot, MAP_SHARED, fd, AUXTRACE_MMAP_OFFSET(cpu, region));

	if (addr == MAP_FAILED)
		fail_msg("mmap of region %u of CPU %d: %s", region, cpu, strerror(errno));
	assert_true(nr_maps < MAX_MAPS);
	maps[nr_maps].addr = addr;
	maps[nr_maps++].len = len;
	return addr;
}

static void unmap(const volatile void *addr)
{
	for (unsigned int i = 0; i < nr_maps; i++) {
		if (maps[i].addr == addr) {
			munmap(maps[i].addr, maps[i].len);
			maps[i] = maps[--nr_maps];
			return;
		}
	}
}

void session_prepare(struct session *s, uint64_t cpus, uint32_t flags, uint64_t aux_size)
{
	memset(s, 0, sizeof(*s));
	s->fd = -1;
	s->cpus = cpus;
	s->setup = (struct auxtrace_setup){
		.size = sizeof(s->setup),
		.flags = flags,
		.pmu = AUXTRACE_PMU_INTEL_PT,
		.cpus_len = sizeof(s->cpus),
		.cpus = (uintptr_t)&s->cpus,
		.config = CONFIG_TSC,
		.aux_size = aux_size,
	};
}

void session_setup(struct session *s)
{
	size_t page = sysconf(_SC_PAGESIZE);

	s->fd = at_open();
	ok_setup(s->fd, &s->setup);

	for (uint64_t left = s->cpus; left; left &= left - 1) {
		struct channel *ch = &s->channel[s->count++];

		ch->cpu = cpus_first(left);
		ch->aux_size = s->setup.aux_size;
		ch->overwrite = s->setup.flags & AUXTRACE_SETUP_OVERWRITE;
		ch->status = map(s->fd, ch->cpu, AUXTRACE_REGION_STATUS, page, PROT_READ);
		ch->user = map(s->fd, ch->cpu, AUXTRACE_REGION_USER, page, PROT_READ | PROT_WRITE);
		ch->aux = map(s->fd, ch->cpu, AUXTRACE_REGION_AUX, ch->aux_size, PROT_READ);
	}
}

void session_open(struct session *s, uint64_t cpus, uint32_t flags, uint64_t aux_size)
{
	session_prepare(s, cpus, flags, aux_size);
	session_setup(s);
}

void session_unmap(struct session *s)
{
	for (unsigned int i = 0; i < s->count; i++) {
		unmap(s->channel[i].status);
		unmap(s->channel[i].user);
		unmap(s->channel[i].aux);
	}
	s->count = 0;
}

void session_close(struct session *s)
{
	session_unmap(s);
	at_close(s->fd);
	s->fd = -1;
}

struct channel *session_channel(struct session *s, int cpu)
{
	for (unsigned int i = 0; i < s->count; i++)
		if (s->channel[i].cpu == cpu)
			return &s->channel[i];
	fail_msg("CPU %d is not in the session", cpu);
	return NULL;
}

struct auxtrace_status_page channel_status(const struct channel *ch)
{
	struct auxtrace_status_page copy;
	time_t begun = time(NULL);

	do {
		/* Pairs with the kernel's write barriers around its changes of the page. */
		uint32_t begin = __atomic_load_n(&ch->status->seq, __ATOMIC_ACQUIRE);

		if (begin & 1)
			continue;
		memcpy(&copy, (const void *)ch->status, sizeof(copy));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&ch->status->seq, __ATOMIC_RELAXED) == begin) {
			copy.seq = begin;
			return copy;
		}
	} while (time(NULL) - begun <= SEQ_SECONDS);
	fail_msg("status page of CPU %d: never consistent, seq is %u", ch->cpu, ch->status->seq);
	return copy;
}

#define require(cond, st) \
	do { \
		if (!(cond)) \
			fail_msg("CPU %u: not so: %s (produced %llu, consumed %llu, " \
				 "overwritten %llu, windows %llu, asked %llu/%llu, " \
				 "done %llu/%llu, gaps %llu, inhibit %#x, running %u)", \
				 (st)->cpu, #cond, (st)->produced, (st)->consumed, \
				 (st)->overwritten, (st)->windows, (st)->pauses_asked, \
				 (st)->resumes_asked, (st)->pauses_done, (st)->resumes_done, \
				 (st)->gaps, (st)->inhibit, (st)->running); \
	} while (0)

/* What the header promises of any one state of a status page. */
static uint64_t check_page(const struct channel *ch, const struct auxtrace_status_page *st)
{
	uint64_t available;

	require(st->cpu == (unsigned int)ch->cpu, st);
	require(st->aux_size == ch->aux_size, st);
	require(st->running == !st->inhibit, st);
	require(st->gaps == st->gaps_full + st->gaps_error + st->gaps_offline, st);
	require(st->pauses_done <= st->pauses_asked, st);
	require(st->resumes_done <= st->resumes_asked, st);
	require(st->resumes_done <= st->windows, st);
	require(st->window_begin <= st->produced, st);
	require(st->window_end <= st->produced, st);

	if (ch->overwrite) {
		/* What is in the area is all of it, once it has been filled. */
		available = st->produced < ch->aux_size ? st->produced : ch->aux_size;
		require(st->consumed == 0, st);
		require(st->gaps_full == 0, st);
	} else {
		require(st->consumed <= st->produced, st);
		available = st->produced - st->consumed;
		require(available <= ch->aux_size, st);
		require(st->overwritten == 0, st);
	}
	require(st->produced == st->consumed + available + st->overwritten, st);
	return available;
}

uint64_t channel_available(const struct channel *ch)
{
	struct auxtrace_status_page st = channel_status(ch);

	return check_page(ch, &st);
}

void check_accounting(struct session *s)
{
	struct auxtrace_status sum = { 0 }, status;

	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		check_page(&s->channel[i], &st);
		sum.out_nr_running += st.running;
		sum.out_produced += st.produced;
		sum.out_consumed += st.consumed;
		sum.out_overwritten += st.overwritten;
		sum.out_windows += st.windows;
		sum.out_gaps += st.gaps;
		sum.out_pmis += st.pmis;
	}
	if (s->fd < 0)
		return;

	ok_status(s->fd, 0, &status);
	assert_int_equal(status.out_nr_channels, s->count);
	assert_int_equal(status.out_nr_running, sum.out_nr_running);
	assert_int_equal(status.out_produced, sum.out_produced);
	assert_int_equal(status.out_consumed, sum.out_consumed);
	assert_int_equal(status.out_overwritten, sum.out_overwritten);
	assert_int_equal(status.out_windows, sum.out_windows);
	assert_int_equal(status.out_gaps, sum.out_gaps);
	assert_int_equal(status.out_pmis, sum.out_pmis);
}

void channel_copy(const struct channel *ch, uint64_t position, void *to, size_t len)
{
	size_t at = position % ch->aux_size;
	size_t first = ch->aux_size - at < len ? ch->aux_size - at : len;

	assert_true(len <= ch->aux_size);
	memcpy(to, ch->aux + at, first);
	memcpy((uint8_t *)to + first, ch->aux, len - first);
}

void channel_set_tail(const struct channel *ch, uint64_t tail)
{
	/* Pairs with the kernel's acquire of the tail: the data was read before. */
	__atomic_store_n(&ch->user->aux_tail, tail, __ATOMIC_RELEASE);
}

int at_group_setup(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open_plain();

	(void)state;
	if (fd < 0) {
		print_message("SKIP: " DEVICE ": %s\n", strerror(-fd));
		exit(77);
	}
	if (ioctl(fd, AUXTRACE_IOC_INFO, &info)) {
		print_error("INFO: %s\n", strerror(errno));
		return -1;
	}
	close(fd);
	if (info.out_pt != AUXTRACE_PT_OK) {
		print_message("SKIP: no Intel PT to trace with (out_pt is %u)\n", info.out_pt);
		exit(77);
	}
	return 0;
}

int at_teardown(void **state)
{
	(void)state;
	load_stop_all();
	while (nr_maps)
		unmap(maps[nr_maps - 1].addr);
	while (nr_fds)
		close(fds[--nr_fds]);
	return cpus_restore();
}
