// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "pmu.h"
#include "uapi.h"
#include "worker.h"

#define DEVICE		"/dev/auxtrace"
#define MAX_FDS		64
#define MAX_MAPS	(MAX_CPUS * 4)
#define MAX_SESSIONS	8

/*
 * The kernel writes a page in microseconds. But where virtual CPUs share real ones, the
 * writing CPU may be stopped in the middle.
 */
#define SEQ_SECONDS	10

/* AUXTRACE_TEST_CASE=PATTERN: only the cases whose names match it, * and ? as in a shell. */
__attribute__((constructor)) static void choose_cases(void)
{
	const char *pattern = getenv("AUXTRACE_TEST_CASE");

	if (pattern)
		cmocka_set_test_filter(pattern);
}

static int fds[MAX_FDS];
static unsigned int nr_fds;

static struct {
	void *addr;
	size_t len;
} maps[MAX_MAPS];
static unsigned int nr_maps;

/* Copies for teardown: a test keeps its session on its stack. */
static struct session sessions[MAX_SESSIONS];
static unsigned int nr_sessions;

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
	       unsigned int space)
{
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus_len = cpus ? sizeof(cpus) : 0,
		.cpus = cpus ? (uintptr_t)&cpus : 0,
		.effects = (uintptr_t)effects,
		.effects_len = space,
		.effect_size = sizeof(*effects),
	};
	unsigned int n = 0;
	int ret;

	/* No CPU has this number: what the kernel has not written is known. */
	if (space)
		memset(effects, 0xff, space * sizeof(*effects));
	ret = at_ioctl(fd, nr, &arg);
	while (n < space && effects[n].cpu != UINT32_MAX)
		n++;
	return ret ? ret : (int)n;
}

int at_status(int fd, uint32_t flags, struct auxtrace_status *status)
{
	*status = (struct auxtrace_status){ .size = sizeof(*status), .flags = flags };
	return at_ioctl(fd, AUXTRACE_IOC_STATUS, status);
}

int at_output(int fd, uint64_t cpus, uint32_t pause)
{
	struct auxtrace_output arg = {
		.size = sizeof(arg),
		.cpus_len = cpus ? sizeof(cpus) : 0,
		.cpus = cpus ? (uintptr_t)&cpus : 0,
		.pause = pause,
	};

	return at_ioctl(fd, AUXTRACE_IOC_PAUSE_OUTPUT, &arg);
}

int at_snapshot(int fd, uint32_t flags, struct auxtrace_cut *cuts, unsigned int space,
		uint32_t *slot)
{
	struct auxtrace_snapshot arg = {
		.size = sizeof(arg),
		.flags = flags,
		.cuts = (uintptr_t)cuts,
		.cuts_len = space,
		.cut_size = sizeof(*cuts),
	};
	int ret = at_ioctl(fd, AUXTRACE_IOC_SNAPSHOT, &arg);

	if (slot)
		*slot = arg.out_slot;
	return ret ? ret : (int)arg.out_count;
}

int at_release(int fd, uint32_t slot)
{
	struct auxtrace_release arg = { .size = sizeof(arg), .slot = slot };

	return at_ioctl(fd, AUXTRACE_IOC_RELEASE, &arg);
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
	unsigned int space = effects ? cpus_count(asked) : 0;
	int ret = at_control(s->fd, nr, cpus, effects, space);

	expect_call(what, 0, ret, file, line);
	if (ret != (int)space) {
		print_error("%s: asked %u CPUs, %d effects\n", what, cpus_count(asked), ret);
		_fail(file, line);
	}
	for (unsigned int i = 0; i < space; i++) {
		int cpu = cpus_first(asked);

		if (effects[i].cpu != (unsigned int)cpu) {
			print_error("%s: effect %u is of CPU %u, not of %d\n", what, i,
				    effects[i].cpu, cpu);
			_fail(file, line);
		}
		asked &= asked - 1;
	}
}

void expect_snapshot(const struct session *s, uint32_t flags, struct auxtrace_cut *cuts,
		     uint32_t *slot, const char *file, int line)
{
	uint32_t in = AUXTRACE_MAX_SLOTS;
	int ret = at_snapshot(s->fd, flags, cuts, s->count, &in);

	expect_call("SNAPSHOT", 0, ret, file, line);
	if (slot)
		*slot = in;
	for (unsigned int i = 0; i < s->count && ret == (int)s->count; i++) {
		const struct auxtrace_cut *c = &cuts[i];
		const struct channel *ch = &s->channel[i];

		if (c->cpu == (unsigned int)ch->cpu && !c->reserved && c->slot < ch->slots &&
		    (!(flags & AUXTRACE_SNAPSHOT_SLOT) || c->slot == in) &&
		    c->aux_begin <= c->aux_end && c->data_begin <= c->data_end &&
		    c->aux_end - c->aux_begin <= ch->aux_size / ch->slots &&
		    c->data_end - c->data_begin <= ch->data_size)
			continue;
		print_error("SNAPSHOT: cut %u: CPU %u, slot %u of out_slot %u, AUX [%llu, %llu), data [%llu, %llu)\n",
			    i, c->cpu, c->slot, in, c->aux_begin, c->aux_end, c->data_begin,
			    c->data_end);
		_fail(file, line);
	}
	if (ret != (int)s->count) {
		print_error("SNAPSHOT: %u CPUs, out_count is %d\n", s->count, ret);
		_fail(file, line);
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
	for (unsigned int i = 0; i < nr_sessions; i++)
		if (sessions[i].fd == fd)
			sessions[i].fd = -1;
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

bool at_capability(int fd, uint32_t flags, uint32_t tag, void *to, size_t size)
{
	uint64_t caps[128];
	struct auxtrace_info info = {
		.size = sizeof(info),
		.flags = flags,
		.caps = (uintptr_t)caps,
		.caps_len = sizeof(caps),
	};
	const struct auxtrace_cap *cap;

	memset(to, 0, size);
	ok_info(fd, &info);
	assert_true(info.out_caps_len <= sizeof(caps));
	for (size_t at = 0; at < info.out_caps_len; at += cap->size) {
		cap = (const void *)((const uint8_t *)caps + at);
		assert_true(cap->size >= sizeof(*cap) && cap->size % 8 == 0 &&
			    cap->size <= info.out_caps_len - at);
		if (cap->tag != tag)
			continue;
		assert_int_equal(cap->size, size);
		memcpy(to, cap, size);
		return true;
	}
	return false;
}

struct auxtrace_cap_pmu at_pmu(int fd, uint32_t flags, uint32_t pmu)
{
	struct auxtrace_cap_pmu cap;

	assert_true(at_capability(fd, flags, AUXTRACE_CAP_PMU(pmu), &cap, sizeof(cap)));
	assert_int_equal(cap.pmu, pmu);
	assert_int_equal(cap.reserved, 0);
	return cap;
}

struct auxtrace_cap_intel_pt at_pt(void)
{
	struct auxtrace_cap_intel_pt cap;
	int fd = at_open();

	at_capability(fd, 0, AUXTRACE_CAP_INTEL_PT, &cap, sizeof(cap));
	at_close(fd);
	return cap;
}

uint32_t at_bts_flags(void)
{
	struct auxtrace_cap_intel_bts cap;
	int fd = at_open();

	at_capability(fd, 0, AUXTRACE_CAP_INTEL_BTS, &cap, sizeof(cap));
	at_close(fd);
	return cap.flags;
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
		.pmu = under_bts() ? AUXTRACE_PMU_INTEL_BTS : AUXTRACE_PMU_INTEL_PT,
		.cpus_len = sizeof(s->cpus),
		.cpus = (uintptr_t)&s->cpus,
		.config = under_bts() ? 0 : CONFIG_TSC,
		.aux_size = aux_size,
	};
}

void session_prepare_data(struct session *s, uint32_t flags, uint64_t size)
{
	s->setup.flags |= flags;
	s->setup.data_size = size;
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
		ch->slots = s->setup.slots ? s->setup.slots : 1;
		ch->data_size = s->setup.data_size;
		ch->data_backward = s->setup.flags & AUXTRACE_SETUP_DATA_BACKWARD;
		ch->data_overwrite = s->setup.flags & AUXTRACE_SETUP_DATA_OVERWRITE;
		if (ch->data_size)
			ch->data = map(s->fd, ch->cpu, AUXTRACE_REGION_DATA, ch->data_size,
				       PROT_READ);
	}
	assert_true(nr_sessions < MAX_SESSIONS);
	sessions[nr_sessions++] = *s;
}

void session_open(struct session *s, uint64_t cpus, uint32_t flags, uint64_t aux_size)
{
	session_prepare(s, cpus, flags, aux_size);
	session_setup(s);
}

void session_unmap(struct session *s)
{
	unsigned int i;

	for (i = 0; i < nr_sessions && s->count; i++)
		if (sessions[i].channel[0].status == s->channel[0].status)
			break;
	if (i < nr_sessions && s->count) {
		sessions[i] = sessions[--nr_sessions];
		if (invariants_broken(s))
			fail_msg("before munmap");
	}
	for (i = 0; i < s->count; i++) {
		unmap(s->channel[i].status);
		unmap(s->channel[i].user);
		unmap(s->channel[i].aux);
		unmap(s->channel[i].data);
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

/* No record is being written, and none was since @head was loaded from data_head. */
static bool data_at_rest(const struct channel *ch, uint64_t head,
			 const struct auxtrace_status_page *copy)
{
	return __atomic_load_n(&ch->status->data_reserved, __ATOMIC_RELAXED) ==
	       copy->data_reserved &&
	       AUXTRACE_DATA_POSITION(copy->data_reserved) == head && copy->data_head == head;
}

bool channel_status_plain(const struct channel *ch, struct auxtrace_status_page *st)
{
	time_t begun = time(NULL);

	do {
		/* Pairs with the kernel's write barriers around its changes of the page. */
		uint32_t begin = __atomic_load_n(&ch->status->seq, __ATOMIC_ACQUIRE);
		/* Pairs with the release store by which the kernel publishes records. */
		uint64_t head = __atomic_load_n(&ch->status->data_head, __ATOMIC_ACQUIRE);

		if (begin & 1)
			continue;
		memcpy(st, (const void *)ch->status, sizeof(*st));
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		if (__atomic_load_n(&ch->status->seq, __ATOMIC_RELAXED) == begin &&
		    data_at_rest(ch, head, st)) {
			st->seq = begin;
			return true;
		}
	} while (time(NULL) - begun <= SEQ_SECONDS);
	print_error("status page of CPU %d: never consistent, seq is %u, data_reserved %#llx, data_head %#llx\n",
		    ch->cpu, ch->status->seq, ch->status->data_reserved, ch->status->data_head);
	return false;
}

struct auxtrace_status_page channel_status(const struct channel *ch)
{
	struct auxtrace_status_page copy;

	if (!channel_status_plain(ch, &copy))
		fail();
	return copy;
}

void channel_copy_slot(const struct channel *ch, uint32_t slot, uint64_t position, void *to,
		       size_t len)
{
	uint64_t size = ch->aux_size / ch->slots;
	const uint8_t *area = ch->aux + slot * size;
	size_t at = position % size;
	size_t first = size - at < len ? size - at : len;

	assert_true(slot < ch->slots);
	assert_true(len <= size);
	memcpy(to, area + at, first);
	memcpy((uint8_t *)to + first, area, len - first);
}

void channel_copy(const struct channel *ch, uint64_t position, void *to, size_t len)
{
	channel_copy_slot(ch, 0, position, to, len);
}

void channel_set_tail(const struct channel *ch, uint64_t tail)
{
	/* Pairs with the kernel's acquire of the tail: reads of the data come before. */
	__atomic_store_n(&ch->user->aux_tail, tail, __ATOMIC_RELEASE);
}

void channel_set_data_tail(const struct channel *ch, uint64_t tail)
{
	/* As above, for the records. */
	__atomic_store_n(&ch->user->data_tail, tail, __ATOMIC_RELEASE);
}

int at_group_setup(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open_plain();

	if (fd < 0) {
		print_message("SKIP: " DEVICE ": %s\n", strerror(-fd));
		exit(77);
	}
	if (ioctl(fd, AUXTRACE_IOC_INFO, &info)) {
		print_error("INFO: %s\n", strerror(errno));
		return -1;
	}
	close(fd);
	if (!(info.out_pmus >> (under_bts() ? AUXTRACE_PMU_INTEL_BTS : AUXTRACE_PMU_INTEL_PT) & 1)) {
		print_message("SKIP: no %s to trace with (out_pmus is %#x)\n",
			      under_bts() ? "BTS" : "Intel PT", info.out_pmus);
		exit(77);
	}
	return 0;
}

int at_teardown(void **state)
{
	unsigned int broken;

	workers_end();
	load_stop_all();
	emulator_knobs_reset();
	broken = invariants_at_end(sessions, nr_sessions);
	nr_sessions = 0;
	while (nr_maps)
		unmap(maps[nr_maps - 1].addr);
	while (nr_fds)
		close(fds[--nr_fds]);
	return cpus_restore() || broken ? -1 : 0;
}
