// SPDX-License-Identifier: GPL-2.0
/*
 * What a call returns in memory: entries of the size that the caller gave, and none after an
 * EFAULT, whatever happens to that memory while the call runs.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "machine.h"
#include "pmu.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	space_for(64 * 1024)
#define USER		AUXTRACE_SETUP_USER
#define SLOT		AUXTRACE_SNAPSHOT_SLOT

static void slot_session(struct session *s, uint64_t cpus)
{
	session_prepare(s, cpus, USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	s->setup.slots = 4;
	session_setup(s);
}

/* ---- sizes of entries ------------------------------------------------------------ */

static int pause_with(int fd, void *effects, uint32_t len, uint32_t size)
{
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.effects = (uintptr_t)effects,
		.effects_len = len,
		.effect_size = size,
	};

	return at_ioctl(fd, AUXTRACE_IOC_PAUSE, &arg);
}

static int snapshot_with(int fd, void *cuts, uint32_t len, uint32_t size)
{
	struct auxtrace_snapshot arg = {
		.size = sizeof(arg),
		.cuts = (uintptr_t)cuts,
		.cuts_len = len,
		.cut_size = size,
	};

	return at_ioctl(fd, AUXTRACE_IOC_SNAPSHOT, &arg);
}

/* Entries of a later version: what this kernel does not know of them is zeroed. */
static void check_entries(const uint8_t *bytes, const struct session *s, size_t size, size_t known)
{
	for (unsigned int i = 0; i < s->count; i++) {
		uint32_t cpu;

		/* Each begins with its CPU. */
		memcpy(&cpu, bytes + i * size, sizeof(cpu));
		assert_int_equal(cpu, s->channel[i].cpu);
		for (size_t at = known; at < size; at++)
			assert_int_equal(bytes[i * size + at], 0);
	}
	/* Nothing is written behind the last one. */
	for (size_t at = 0; at < 64; at++)
		assert_int_equal(bytes[s->count * size + at], 0xa5);
}

static void entries_have_the_size_that_the_caller_gives(void **state)
{
	static const size_t more[] = { 0, 8, 24, 1000 };
	static uint8_t bytes[MAX_CPUS * 1100];
	struct session s;

	slot_session(&s, all_cpus);
	ok_start(s.fd);
	for (size_t i = 0; i < sizeof(more) / sizeof(*more); i++) {
		size_t effect = sizeof(struct auxtrace_effect), cut = sizeof(struct auxtrace_cut);

		memset(bytes, 0xa5, sizeof(bytes));
		assert_int_equal(pause_with(s.fd, bytes, MAX_CPUS, effect + more[i]), 0);
		check_entries(bytes, &s, effect + more[i], effect);
		memset(bytes, 0xa5, sizeof(bytes));
		assert_int_equal(snapshot_with(s.fd, bytes, MAX_CPUS, cut + more[i]), 0);
		check_entries(bytes, &s, cut + more[i], cut);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void entries_of_an_impossible_size_are_refused_without_effect(void **state)
{
	static uint8_t bytes[MAX_CPUS * 128];
	struct session s;

	slot_session(&s, one_cpu);
	ok_start(s.fd);
	for (uint32_t size = 0; size < sizeof(struct auxtrace_effect); size++)
		expect_call("PAUSE", EINVAL, pause_with(s.fd, bytes, 1, size), __FILE__, __LINE__);
	for (uint32_t size = 0; size < sizeof(struct auxtrace_cut); size++)
		expect_call("SNAPSHOT", EINVAL, snapshot_with(s.fd, bytes, 1, size), __FILE__,
			    __LINE__);
	/* Entries that would lie askew. */
	for (uint32_t more = 1; more < 8; more++) {
		expect_call("PAUSE", EINVAL,
			    pause_with(s.fd, bytes, 1, sizeof(struct auxtrace_effect) + more),
			    __FILE__, __LINE__);
		expect_call("SNAPSHOT", EINVAL,
			    snapshot_with(s.fd, bytes, 1, sizeof(struct auxtrace_cut) + more),
			    __FILE__, __LINE__);
	}
	expect_call("PAUSE", E2BIG, pause_with(s.fd, bytes, 1, page_size + 8), __FILE__, __LINE__);
	expect_call("PAUSE", E2BIG, pause_with(s.fd, bytes, 1, UINT32_MAX - 7), __FILE__, __LINE__);
	expect_call("SNAPSHOT", E2BIG, snapshot_with(s.fd, bytes, 1, page_size + 8), __FILE__,
		    __LINE__);
	expect_call("SNAPSHOT", E2BIG, snapshot_with(s.fd, bytes, UINT32_MAX, UINT32_MAX - 7), __FILE__,
		    __LINE__);
	assert_int_equal(channel_status(s.channel).pauses_asked, 0);
	/* Without entries their size does not matter. */
	assert_int_equal(pause_with(s.fd, NULL, 0, 0), 0);
	assert_int_equal(snapshot_with(s.fd, NULL, 0, UINT32_MAX), 0);
	ok_stop(s.fd);
}

static void entries_may_end_at_the_last_byte_that_can_be_written(void **state)
{
	uint8_t *two = at_guarded_page();
	struct session s;

	slot_session(&s, all_cpus);
	ok_start(s.fd);
	for (int lack = 0; lack < 2; lack++) {
		size_t effects = s.count * sizeof(struct auxtrace_effect) - lack;
		size_t cuts = s.count * sizeof(struct auxtrace_cut) - lack;
		int err = lack ? EFAULT : 0;

		expect_call("PAUSE", err, pause_with(s.fd, two + page_size - effects, MAX_CPUS,
						     sizeof(struct auxtrace_effect)),
			    __FILE__, __LINE__);
		expect_call("SNAPSHOT", err, snapshot_with(s.fd, two + page_size - cuts, MAX_CPUS,
							   sizeof(struct auxtrace_cut)),
			    __FILE__, __LINE__);
	}
	assert_int_equal(channel_status(s.channel).pauses_asked, 1);
	munmap(two, 2 * page_size);
	ok_stop(s.fd);
}

/* ---- memory that comes and goes while the call runs ------------------------------- */

/* A page of which another thread takes the right to write, and gives it back. */
struct flicker {
	pthread_t thread;
	uint8_t *page;
	int stop;
};

static void *flicker_run(void *arg)
{
	struct flicker *f = arg;
	unsigned int n = 0;

	while (!__atomic_load_n(&f->stop, __ATOMIC_RELAXED)) {
		mprotect(f->page, page_size, PROT_READ);
		for (volatile unsigned int i = 0; i < n % 4096; i++)
			;
		mprotect(f->page, page_size, PROT_READ | PROT_WRITE);
		for (volatile unsigned int i = 0; i < n * 7 % 16384; i++)
			;
		n += 97;
	}
	return NULL;
}

static void flicker_start(struct flicker *f)
{
	*f = (struct flicker){ 0 };
	f->page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f->page, MAP_FAILED);
	assert_int_equal(pthread_create(&f->thread, NULL, flicker_run, f), 0);
}

static void flicker_end(struct flicker *f)
{
	__atomic_store_n(&f->stop, 1, __ATOMIC_RELAXED);
	pthread_join(f->thread, NULL);
	munmap(f->page, page_size);
}

/* Only the kernel writes to the page: the arguments are copied there while it can be written. */
static void put(uint8_t *to, const void *arg, size_t len)
{
	struct iovec local = { (void *)arg, len }, remote = { to, len };

	while (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)len)
		;
}

#define FLICKER_ROUNDS	3000
#define FLICKER_EACH	100
/* Adding and deleting a trigger takes tens of milliseconds. */
#define TRIGGER_ROUNDS	200
#define TRIGGER_EACH	20

static void a_snapshot_that_fails_retains_no_slot(void **state)
{
	const struct auxtrace_snapshot arg = { .size = sizeof(arg), .flags = SLOT };
	unsigned int done = 0, failed = 0;
	struct flicker f;
	struct session s;

	two_cpus_required();
	slot_session(&s, all_cpus);
	ok_start(s.fd);
	flicker_start(&f);
	for (int i = 0; i < FLICKER_ROUNDS && (done < FLICKER_EACH || failed < FLICKER_EACH); i++) {
		struct auxtrace_status_page before = channel_status(s.channel), after;
		int ret;

		put(f.page, &arg, sizeof(arg));
		ret = at_ioctl(s.fd, AUXTRACE_IOC_SNAPSHOT, f.page);
		after = channel_status(s.channel);
		if (ret == -EFAULT) {
			failed++;
			assert_int_equal(after.snapshots, before.snapshots);
			assert_int_equal(after.windows, before.windows);
			assert_int_equal(after.slot, before.slot);
		} else {
			done++;
			assert_int_equal(ret, 0);
			assert_int_equal(after.snapshots, before.snapshots + 1);
			assert_int_equal(((struct auxtrace_snapshot *)f.page)->out_slot, before.slot);
			ok_release(s.fd, before.slot);
		}
	}
	flicker_end(&f);
	print_message("%u snapshots, %u refused\n", done, failed);
	assert_true(done);
	/* No slot leaked: all but the current one can be retained. */
	for (int i = 0; i < 3; i++)
		ok_snapshot(&s, SLOT, (struct auxtrace_cut[MAX_CPUS]){ }, NULL);
	fail_snapshot(ENOSPC, s.fd, SLOT);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_pause_that_fails_pauses_nothing(void **state)
{
	unsigned int done = 0, failed = 0;
	struct flicker f;
	struct session s;

	two_cpus_required();
	slot_session(&s, all_cpus);
	ok_start(s.fd);
	flicker_start(&f);
	for (int i = 0; i < FLICKER_ROUNDS && (done < FLICKER_EACH || failed < FLICKER_EACH); i++) {
		uint64_t before = channel_status(s.channel).pauses_asked;
		int ret = pause_with(s.fd, f.page, MAX_CPUS, sizeof(struct auxtrace_effect));
		struct auxtrace_status_page after = channel_status(s.channel);

		failed += ret == -EFAULT;
		done += !ret;
		assert_true(!ret || ret == -EFAULT);
		assert_int_equal(after.pauses_asked, before + !ret);
		assert_int_equal(after.running, !!ret);
		ok_resume(&s, 0, NULL);
	}
	flicker_end(&f);
	print_message("%u pauses, %u refused\n", done, failed);
	assert_true(done);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_trigger_that_is_refused_is_not_added(void **state)
{
	unsigned int done = 0, failed = 0;
	struct flicker f;
	struct session s;

	two_cpus_required();
	slot_session(&s, one_cpu);
	flicker_start(&f);
	for (int i = 0; i < TRIGGER_ROUNDS && (done < TRIGGER_EACH || failed < TRIGGER_EACH); i++) {
		struct auxtrace_trigger arg = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
							      AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
		struct auxtrace_trigger_state st;
		int ret;

		arg.size = sizeof(arg);
		put(f.page, &arg, sizeof(arg));
		ret = at_ioctl(s.fd, AUXTRACE_IOC_TRIGGER_ADD, f.page);
		if (ret) {
			assert_int_equal(ret, -EFAULT);
			failed++;
			continue;
		}
		/* Each ID follows the last: no refused call took one and kept its trigger. */
		done++;
		assert_int_equal(((struct auxtrace_trigger *)f.page)->out_id, done);
		st = (struct auxtrace_trigger_state){ .size = sizeof(st), .id = done };
		ok_ioctl(s.fd, AUXTRACE_IOC_TRIGGER_DEL, &st);
	}
	flicker_end(&f);
	print_message("%u triggers, %u refused\n", done, failed);
	assert_true(done);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(entries_have_the_size_that_the_caller_gives),
		vm_test(entries_of_an_impossible_size_are_refused_without_effect),
		vm_test(entries_may_end_at_the_last_byte_that_can_be_written),
		vm_test(a_snapshot_that_fails_retains_no_slot),
		vm_test(a_pause_that_fails_pauses_nothing),
		vm_test(a_trigger_that_is_refused_is_not_added),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
