// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation of a call, and each copy from or to its caller, fails once. The call then
 * fails with ENOMEM (EFAULT), or does without; the session is as before, and the same call
 * succeeds when nothing fails.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "fail_nth.h"
#include "kmod.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trigger.h"

#define SLOTS		4
#define AUX_SIZE	space_for(SLOTS * 4 * 4096)
#define DATA_SIZE	(SLOTS * 4096)

/* No call makes as many allocations. */
#define MAX_FAULTS	2000U

struct call {
	const char *name;
	int (*make)(struct session *s, void *arg);	/* 0 or a negative errno */
	/* Fails the running test unless @s is as before the call. */
	void (*unchanged)(struct session *s, void *arg);
	/* After a call that succeeded */
	void (*undo)(struct session *s, void *arg);
	void *arg;
	int other_errno;	/* that a fault may give beside ENOMEM; 0: none */
};

/* Calls again and again, each time with the next fault, until no fault is left. */
static void fail_each(struct session *s, const struct call *c)
{
	static const int expected[] = { [FAULT_MEMORY] = ENOMEM, [FAULT_COPY] = EFAULT };
	unsigned int nth, failed = 0, faults[] = { 0, 0, 0 };

	fault_required();
	for (nth = 1;; nth++) {
		enum fault kind;
		int ret;

		assert_true(nth < MAX_FAULTS);
		fault_next(nth);
		ret = c->make(s, c->arg);
		kind = fault_happened();
		if (ret && kind == FAULT_NONE)
			fail_msg("%s: %s without a fault", c->name, strerror(-ret));
		if (ret && ret != -expected[kind] && (!c->other_errno || ret != -c->other_errno))
			fail_msg("%s: fault %u: %s", c->name, nth, strerror(-ret));
		if (ret) {
			failed++;
			c->unchanged(s, c->arg);
		} else if (c->undo) {
			c->undo(s, c->arg);
		}
		if (kind == FAULT_NONE)
			break;
		faults[kind]++;
	}
	print_message("%s: %u allocations and %u copies; it failed by %u of these\n", c->name,
		      faults[FAULT_MEMORY], faults[FAULT_COPY], failed);
	/* What is not reached is not tested. */
	assert_int_not_equal(failed, 0);
	assert_int_equal(c->make(s, c->arg), 0);
	if (c->undo)
		c->undo(s, c->arg);
}

static uint32_t state_of(const struct session *s)
{
	struct auxtrace_status st;

	ok_status(s->fd, 0, &st);
	return st.out_state;
}

/* ---- SETUP ------------------------------------------------------------------ */

static int make_setup(struct session *s, void *arg)
{
	return at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
}

static void setup_unchanged(struct session *s, void *arg)
{
	assert_int_equal(state_of(s), AUXTRACE_STATE_NEW);
	fail_start(EBADFD, s->fd);
}

static void undo_setup(struct session *s, void *arg)
{
	at_close(s->fd);
	s->fd = at_open();
}

static void setup_with(uint32_t flags, uint32_t slots)
{
	/* The first CPU whose memory is allocated and the last: those between are like these. */
	uint64_t cpus = one_cpu | 1ULL << last_cpu;
	/* Enough for one session and not for two: what a failed SETUP leaves charged shows. */
	rlim_t bytes = cpus_count(cpus) * (AUX_SIZE + DATA_SIZE) * 3 / 2;
	struct rlimit before, limit = { bytes, RLIM_INFINITY };
	struct call c = { "SETUP", make_setup, setup_unchanged, undo_setup, NULL, 0 };
	struct session s;

	session_prepare(&s, cpus, flags, AUX_SIZE);
	session_prepare_data(&s, slots ? AUXTRACE_SETUP_DATA_OVERWRITE : 0, DATA_SIZE);
	s.setup.slots = slots;
	s.setup.records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH;
	s.fd = at_open();
	getrlimit(RLIMIT_MEMLOCK, &before);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	fail_each(&s, &c);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &before), 0);
	at_close(s.fd);
}

#define KERNEL_AND_USER	(AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)

static void a_setup_that_fails_changes_nothing(void **state)
{
	setup_with(KERNEL_AND_USER, 0);
	setup_with(KERNEL_AND_USER | AUXTRACE_SETUP_OVERWRITE, SLOTS);
	/* BTS: the areas are mapped for its records. */
	setup_with(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 0);
	setup_with(KERNEL_AND_USER | AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS, 0);
}

/* ---- mmap --------------------------------------------------------------------- */

struct region {
	unsigned int number;
	size_t length;
	void *at;
};

static int make_mmap(struct session *s, void *arg)
{
	struct region *r = arg;

	r->at = mmap(NULL, r->length, PROT_READ, MAP_SHARED, s->fd,
		     AUXTRACE_MMAP_OFFSET(last_cpu, r->number));
	return r->at == MAP_FAILED ? -errno : 0;
}

static void mmap_unchanged(struct session *s, void *arg)
{
	char line[256];
	FILE *f = fopen("/proc/self/maps", "re");

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		if (strstr(line, "auxtrace]") || strstr(line, "/dev/auxtrace"))
			fail_msg("still mapped: %s", line);
	fclose(f);
}

static void undo_mmap(struct session *s, void *arg)
{
	struct region *r = arg;

	assert_int_equal(munmap(r->at, r->length), 0);
	mmap_unchanged(s, arg);
}

/* A session without mappings. */
static void open_unmapped(struct session *s, uint32_t flags, uint32_t slots)
{
	session_prepare(s, all_cpus, flags, AUX_SIZE);
	session_prepare_data(s, slots ? AUXTRACE_SETUP_DATA_OVERWRITE : 0, DATA_SIZE);
	s->setup.slots = slots;
	s->fd = at_open();
	ok_setup(s->fd, &s->setup);
}

static void a_mmap_that_fails_maps_nothing(void **state)
{
	static const char *const names[] = {
		"mmap of the status page", "mmap of the user page", "mmap of the AUX area",
		"mmap of the data ring",
	};
	struct session s;

	open_unmapped(&s, KERNEL_AND_USER, 0);
	for (unsigned int i = 0; i < 4; i++) {
		struct region r = { i, page_size, NULL };
		struct call c = { names[i], make_mmap, mmap_unchanged, undo_mmap, &r, 0 };

		if (i == AUXTRACE_REGION_AUX)
			r.length = AUX_SIZE;
		if (i == AUXTRACE_REGION_DATA)
			r.length = DATA_SIZE;
		fail_each(&s, &c);
	}
	at_close(s.fd);
}

/* ---- START --------------------------------------------------------------------- */

static int make_start(struct session *s, void *arg)
{
	return at_start(s->fd);
}

/* Not even on one CPU is the hardware in use. */
static void start_unchanged(struct session *s, void *arg)
{
	assert_int_equal(state_of(s), AUXTRACE_STATE_STOPPED);
	for (uint64_t left = all_cpus; left; left &= left - 1) {
		int cpu = cpus_first(left), fd;

		assert_false(msr_tracing(cpu));
		fd = perf_open_plain(-1, cpu);
		if (fd < 0)
			fail_msg("perf on CPU %d: %s", cpu, strerror(-fd));
		close(fd);
	}
}

static void undo_start(struct session *s, void *arg)
{
	ok_stop(s->fd);
}

static void a_start_that_fails_takes_no_hardware(void **state)
{
	/* BTS: perf's debug stores are allocated, and perf does without if it cannot. */
	struct call c = { "START", make_start, start_unchanged, undo_start, NULL,
			  under_bts() ? EIO : 0 };
	struct session s;

	perf_required();
	open_unmapped(&s, KERNEL_AND_USER, 0);
	fail_each(&s, &c);
	at_close(s.fd);
}

/* ---- SNAPSHOT -------------------------------------------------------------------- */

struct snapshot {
	uint32_t flags, slot;
	struct auxtrace_status before;
};

static int make_snapshot(struct session *s, void *arg)
{
	struct snapshot *shot = arg;
	struct auxtrace_cut cuts[MAX_CPUS];
	int ret;

	ret = at_snapshot(s->fd, shot->flags, cuts, MAX_CPUS, &shot->slot);
	return ret < 0 ? ret : 0;
}

static void snapshot_unchanged(struct session *s, void *arg)
{
	struct snapshot *shot = arg;
	struct auxtrace_status now;

	ok_status(s->fd, 0, &now);
	assert_int_equal(now.out_windows, shot->before.out_windows);
	assert_int_equal(now.out_nr_running, shot->before.out_nr_running);
	for (uint32_t slot = 0; slot < SLOTS; slot++)
		fail_release(EINVAL, s->fd, slot);
}

static void undo_snapshot(struct session *s, void *arg)
{
	struct snapshot *shot = arg;

	if (shot->flags & AUXTRACE_SNAPSHOT_SLOT)
		ok_release(s->fd, shot->slot);
	if (shot->flags & AUXTRACE_SNAPSHOT_PAUSE) {
		ok_output(s->fd, 0, 0);
		expect_call("RESUME", 0, at_control(s->fd, AUXTRACE_IOC_RESUME, 0, NULL, 0),
			    __FILE__, __LINE__);
	}
	ok_status(s->fd, 0, &shot->before);
}

static void a_snapshot_that_fails_retains_nothing(void **state)
{
	static const uint32_t flags[] = { 0, AUXTRACE_SNAPSHOT_PAUSE, AUXTRACE_SNAPSHOT_SLOT };
	struct session s;

	open_unmapped(&s, KERNEL_AND_USER | AUXTRACE_SETUP_OVERWRITE, SLOTS);
	ok_start(s.fd);
	for (unsigned int i = 0; i < 3; i++) {
		struct snapshot shot = { .flags = flags[i] };
		struct call c = { "SNAPSHOT", make_snapshot, snapshot_unchanged, undo_snapshot,
				  &shot, 0 };

		ok_status(s.fd, 0, &shot.before);
		fail_each(&s, &c);
	}
	ok_stop(s.fd);
	at_close(s.fd);
}

/* ---- TRIGGER_ADD ------------------------------------------------------------------- */

struct adding {
	struct auxtrace_trigger t;
	uint32_t id;
	unsigned int kprobes;
};

static unsigned int kprobes_now(void)
{
	FILE *f = fopen("/sys/kernel/debug/kprobes/list", "re");
	unsigned int n = 0;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n;
}

static int make_add(struct session *s, void *arg)
{
	struct adding *a = arg;

	return at_trigger_add(s->fd, a->t, &a->id);
}

static void add_unchanged(struct session *s, void *arg)
{
	struct adding *a = arg;

	assert_int_equal(kprobes_now(), a->kprobes);
}

static void undo_add(struct session *s, void *arg)
{
	struct adding *a = arg;

	trigger_del(s, a->id);
	add_unchanged(s, arg);
}

static void a_trigger_that_cannot_be_added_leaves_nothing(void **state)
{
	struct session s;

	open_unmapped(&s, KERNEL_AND_USER | AUXTRACE_SETUP_OVERWRITE, 0);
	ok_start(s.fd);
	for (unsigned int i = 0; i < nr_sources; i++) {
		struct adding a = { .t = trigger(sources[i].kind, AUXTRACE_ACTION_PAUSE) };
		struct call c = { sources[i].name, make_add, add_unchanged, undo_add, &a, 0 };

		if (!sources[i].complete(&s, &a.t))
			continue;
		a.kprobes = kprobes_now();
		fail_each(&s, &c);
	}
	/* Two are left, which the latency trigger referred to: no failure took a place. */
	for (unsigned int i = 2; i < AUXTRACE_MAX_TRIGGERS; i++)
		trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						AUXTRACE_ACTION_NONE, CALL_NUMBER));
	ok_stop(s.fd);
	at_close(s.fd);
	/* The source of page faults has locked all. */
	assert_int_equal(munlockall(), 0);
}

/* ---- the others ---------------------------------------------------------------------- */

static void state_unchanged(struct session *s, void *arg)
{
	assert_int_equal(state_of(s), AUXTRACE_STATE_STARTED);
}

static int make_poll(struct session *s, void *arg)
{
	struct pollfd fd = { .fd = s->fd, .events = POLLIN | POLLPRI };

	return poll(&fd, 1, 0) < 0 ? -errno : 0;
}

static int make_pause(struct session *s, void *arg)
{
	struct auxtrace_effect effects[MAX_CPUS];
	int ret = at_control(s->fd, AUXTRACE_IOC_PAUSE, s->cpus, effects, MAX_CPUS);

	return ret < 0 ? ret : 0;
}

static int make_sync(struct session *s, void *arg)
{
	struct auxtrace_status st;

	return at_status(s->fd, AUXTRACE_STATUS_SYNC, &st);
}

static int make_info(struct session *s, void *arg)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };

	return at_ioctl(s->fd, AUXTRACE_IOC_INFO, &info);
}

static int make_task(struct session *s, void *arg)
{
	struct auxtrace_task task = { .size = sizeof(task) };

	return at_ioctl(s->fd, AUXTRACE_IOC_TASK, &task);
}

static void other_calls_fail_without_effect(void **state)
{
	static const struct call calls[] = {
		{ "poll", make_poll, state_unchanged, NULL, NULL, 0 },
		{ "PAUSE", make_pause, state_unchanged, NULL, NULL, 0 },
		{ "STATUS with SYNC", make_sync, state_unchanged, NULL, NULL, 0 },
		{ "INFO with PROBE", make_info, state_unchanged, NULL, NULL, 0 },
		{ "TASK", make_task, state_unchanged, NULL, NULL, 0 },
	};
	struct session s;

	open_unmapped(&s, KERNEL_AND_USER, 0);
	ok_start(s.fd);
	for (unsigned int i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		fail_each(&s, &calls[i]);
	ok_stop(s.fd);
	at_close(s.fd);
}

/* What no session holds any more; tests/guest/init.sh has kmemleak look for the rest. */
static void nothing_is_left(void **state)
{
	assert_int_equal(kmod_users(), 0);
}

int main(void)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	const struct CMUnitTest tests[] = {
		vm_test(a_setup_that_fails_changes_nothing),
		vm_test(a_mmap_that_fails_maps_nothing),
		vm_test(a_start_that_fails_takes_no_hardware),
		vm_test(a_snapshot_that_fails_retains_nothing),
		vm_test(a_trigger_that_cannot_be_added_leaves_nothing),
		vm_test(other_calls_fail_without_effect),
		vm_test(nothing_is_left),
	};

	if (access("/proc/thread-self/fail-nth", W_OK)) {
		print_message("SKIP: this kernel has no fail-nth\n");
		return 77;
	}
	/* A session of a thread that has it is not charged to its user. */
	if (setrlimit(RLIMIT_MEMLOCK, &unlimited) || caps_drop(CAP(IPC_LOCK)))
		return 1;
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
