// SPDX-License-Identifier: GPL-2.0-only
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
#include "fault.h"
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

/* ---- memory that goes while the call runs, at one moment --------------------------- */

/* A call in a thread of its own. */
struct call {
	pthread_t thread;
	int fd;
	unsigned long nr;
	void *arg;
	int ret;
};

static void *call_run(void *arg)
{
	struct call *call = arg;

	call->ret = at_ioctl(call->fd, call->nr, call->arg);
	return NULL;
}

/*
 * Makes a call that needs f->page. While it waits for that, f->before and the page of @arg lose
 * the right to write; then f->page comes with @text, or goes if that is NULL. Returns what the
 * call returns.
 */
static int call_protected(const struct session *s, unsigned long nr, void *arg,
			  const struct fault *f, const char *text)
{
	struct call call = { .fd = s->fd, .nr = nr, .arg = arg };

	assert_int_equal(pthread_create(&call.thread, NULL, call_run, &call), 0);
	fault_wait(f);
	assert_int_equal(mprotect(f->before, page_size, PROT_READ), 0);
	assert_int_equal(mprotect(arg, page_size, PROT_READ), 0);
	if (text)
		fault_end(f, text);
	else
		fault_end_unmapped(f);
	assert_int_equal(pthread_join(call.thread, NULL), 0);
	assert_int_equal(mprotect(arg, page_size, PROT_READ | PROT_WRITE), 0);
	return call.ret;
}

static void *argument_page(void)
{
	void *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(page, MAP_FAILED);
	return page;
}

/* What an entry that begins in f->before has in f->page: zeroes, which the kernel has written. */
#define MORE	64
static void check_more(const struct fault *f)
{
	for (int i = 0; i < MORE; i++)
		assert_int_equal(f->page[i], 0);
	assert_int_equal(f->page[MORE], 'x');
}

static const char *xs(void)
{
	static char text[MORE + 2];

	memset(text, 'x', MORE + 1);
	return text;
}

static void a_snapshot_answers_in_pages_that_it_has_checked(void **state)
{
	struct auxtrace_snapshot *arg = argument_page();
	struct auxtrace_status_page before, after;
	struct auxtrace_cut *cut;
	struct session s;
	struct fault f;

	for (int there = 0; there < 2; there++) {
		fault_begin(&f);
		slot_session(&s, one_cpu);
		ok_start(s.fd);
		cut = (struct auxtrace_cut *)f.page - 1;
		memset(cut, 0xa5, sizeof(*cut));
		*arg = (struct auxtrace_snapshot){
			.size = sizeof(*arg), .flags = SLOT, .cuts = (uintptr_t)cut,
			.cuts_len = 1, .cut_size = sizeof(*cut) + MORE, .out_slot = 0xa5,
		};
		before = channel_status(s.channel);
		expect_call("SNAPSHOT", there ? 0 : EFAULT,
			    call_protected(&s, AUXTRACE_IOC_SNAPSHOT, arg, &f, there ? xs() : NULL),
			    __FILE__, __LINE__);
		after = channel_status(s.channel);
		assert_int_equal(after.snapshots, before.snapshots + there);
		assert_int_equal(after.slot != before.slot, there);
		if (there) {
			assert_int_equal(cut->cpu, first_cpu);
			check_more(&f);
			assert_int_equal(arg->out_slot, before.slot);
			ok_release(s.fd, arg->out_slot);
		} else {
			assert_int_equal(cut->cpu, 0xa5a5a5a5);
			assert_int_equal(arg->out_slot, 0xa5);
		}
		ok_stop(s.fd);
		check_accounting(&s);
		session_close(&s);
		fault_close(&f);
	}
}

static void a_pause_answers_in_pages_that_it_has_checked(void **state)
{
	struct auxtrace_control *arg = argument_page();
	struct auxtrace_status_page after;
	struct auxtrace_effect *effect;
	struct session s;
	struct fault f;

	for (int there = 0; there < 2; there++) {
		fault_begin(&f);
		slot_session(&s, one_cpu);
		ok_start(s.fd);
		effect = (struct auxtrace_effect *)f.page - 1;
		memset(effect, 0xa5, sizeof(*effect));
		*arg = (struct auxtrace_control){
			.size = sizeof(*arg), .effects = (uintptr_t)effect,
			.effects_len = 1, .effect_size = sizeof(*effect) + MORE,
		};
		expect_call("PAUSE", there ? 0 : EFAULT,
			    call_protected(&s, AUXTRACE_IOC_PAUSE, arg, &f, there ? xs() : NULL),
			    __FILE__, __LINE__);
		after = channel_status(s.channel);
		assert_int_equal(after.pauses_asked, there);
		assert_int_equal(after.running, !there);
		if (there) {
			assert_int_equal(effect->cpu, first_cpu);
			assert_int_equal(effect->flags & AUXTRACE_EFFECT_CHANGED,
					 AUXTRACE_EFFECT_CHANGED);
			check_more(&f);
		} else {
			assert_int_equal(effect->cpu, 0xa5a5a5a5);
		}
		ok_stop(s.fd);
		check_accounting(&s);
		session_close(&s);
		fault_close(&f);
	}
}

/* The kernel waits for the trigger's name. */
static void a_trigger_answers_in_a_page_that_it_has_checked(void **state)
{
	struct auxtrace_trigger *arg = argument_page();
	struct session s;
	struct fault f;

	fault_begin(&f);
	slot_session(&s, one_cpu);
	*arg = trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE, CALL_FUNCTION, 0);
	arg->size = sizeof(*arg);
	arg->name = (uintptr_t)f.page;
	expect_call("TRIGGER_ADD", 0,
		    call_protected(&s, AUXTRACE_IOC_TRIGGER_ADD, arg, &f, CALL_FUNCTION),
		    __FILE__, __LINE__);
	assert_int_equal(arg->out_id, 1);
	trigger_del(&s, 1);
	fault_close(&f);
}

/* ---- memory that comes and goes while the call runs, at any moment ------------------ */

/* The last CPU is not traced: it would spend its time on the trace of the other thread's loops. */
#define TRACED_CPUS	(all_cpus & ~(1ULL << last_cpu))

/* A page of which another thread takes the right to write, and gives it back. */
struct flicker {
	pthread_t thread;
	uint8_t *page;
	int stop;
	unsigned int done, failed;	/* calls with the page */
};

static void *flicker_run(void *arg)
{
	struct flicker *f = arg;
	unsigned int n = 0;

	cpu_pin(last_cpu);
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

/* Only the kernel writes to the page: the arguments are copied there while it can be written. */
static void put(uint8_t *to, const void *arg, size_t len)
{
	struct iovec local = { (void *)arg, len }, remote = { to, len };

	while (process_vm_writev(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)len)
		;
}

/* One call with f->page; judges it, and undoes it if it succeeded. */
typedef void (*flicker_call)(struct session *s, struct flicker *f);

/*
 * First with a page that cannot be written to for certain. Then up to @rounds times while that
 * changes, or until @each calls succeeded and as many failed.
 */
static void flicker_calls(struct session *s, flicker_call call, const void *arg, size_t len,
			  unsigned int rounds, unsigned int each)
{
	struct flicker f = { 0 };

	f.page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(f.page, MAP_FAILED);
	put(f.page, arg, len);
	assert_int_equal(mprotect(f.page, page_size, PROT_READ), 0);
	call(s, &f);
	assert_int_equal(f.failed, 1);
	assert_int_equal(mprotect(f.page, page_size, PROT_READ | PROT_WRITE), 0);

	f.failed = 0;
	assert_int_equal(pthread_create(&f.thread, NULL, flicker_run, &f), 0);
	for (unsigned int i = 0; i < rounds && (f.done < each || f.failed < each); i++) {
		put(f.page, arg, len);
		call(s, &f);
	}
	__atomic_store_n(&f.stop, 1, __ATOMIC_RELAXED);
	pthread_join(f.thread, NULL);
	munmap(f.page, page_size);
	print_message("%u calls succeeded, %u failed%s\n", f.done, f.failed,
		      f.failed ? "" : ": the other thread was never in time");
	assert_true(f.done);
}

static void snapshot_to(struct session *s, struct flicker *f)
{
	struct auxtrace_status_page before = channel_status(s->channel), after;
	int ret = at_ioctl(s->fd, AUXTRACE_IOC_SNAPSHOT, f->page);

	after = channel_status(s->channel);
	if (ret == -EFAULT) {
		f->failed++;
		assert_int_equal(after.snapshots, before.snapshots);
		assert_int_equal(after.windows, before.windows);
		assert_int_equal(after.slot, before.slot);
	} else {
		f->done++;
		assert_int_equal(ret, 0);
		assert_int_equal(after.snapshots, before.snapshots + 1);
		assert_int_equal(((struct auxtrace_snapshot *)f->page)->out_slot, before.slot);
		ok_release(s->fd, before.slot);
	}
}

static void a_snapshot_that_fails_retains_no_slot(void **state)
{
	const struct auxtrace_snapshot arg = { .size = sizeof(arg), .flags = SLOT };
	struct session s;

	two_cpus_required();
	slot_session(&s, TRACED_CPUS);
	ok_start(s.fd);
	flicker_calls(&s, snapshot_to, &arg, sizeof(arg), 3000, 100);
	/* No slot leaked: all but the current one can be retained. */
	for (int i = 0; i < 3; i++)
		ok_snapshot(&s, SLOT, (struct auxtrace_cut[MAX_CPUS]){ }, NULL);
	fail_snapshot(ENOSPC, s.fd, SLOT);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void pause_to(struct session *s, struct flicker *f)
{
	uint64_t before = channel_status(s->channel).pauses_asked;
	int ret = pause_with(s->fd, f->page, MAX_CPUS, sizeof(struct auxtrace_effect));
	struct auxtrace_status_page after = channel_status(s->channel);

	f->failed += ret == -EFAULT;
	f->done += !ret;
	assert_true(!ret || ret == -EFAULT);
	assert_int_equal(after.pauses_asked, before + !ret);
	assert_int_equal(after.running, !!ret);
	ok_resume(s, 0, NULL);
}

static void a_pause_that_fails_pauses_nothing(void **state)
{
	struct session s;

	two_cpus_required();
	slot_session(&s, TRACED_CPUS);
	ok_start(s.fd);
	flicker_calls(&s, pause_to, NULL, 0, 3000, 100);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void trigger_in(struct session *s, struct flicker *f)
{
	struct auxtrace_trigger_state st = { .size = sizeof(st) };
	int ret = at_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_ADD, f->page);

	if (ret) {
		assert_int_equal(ret, -EFAULT);
		f->failed++;
		return;
	}
	/* Each ID follows the last: no call that failed took one and kept its trigger. */
	f->done++;
	assert_int_equal(((struct auxtrace_trigger *)f->page)->out_id, f->done);
	st.id = f->done;
	ok_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_DEL, &st);
}

static void a_trigger_that_is_refused_is_not_added(void **state)
{
	struct auxtrace_trigger arg = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						      AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
	struct session s;

	two_cpus_required();
	slot_session(&s, one_cpu);
	arg.size = sizeof(arg);
	/* Adding and deleting a trigger takes tens of milliseconds. */
	flicker_calls(&s, trigger_in, &arg, sizeof(arg), 200, 20);
}

/* A bad pointer is told before names are looked up, which takes long, and before they are judged. */
static void a_trigger_without_memory_for_its_answer_looks_nothing_up(void **state)
{
	const struct {
		struct auxtrace_trigger trigger;
		int err;
	} nowhere[] = {
		{ trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE, "no_such_function", 0), ENOENT },
		{ trigger_named(AUXTRACE_TRIGGER_UPROBE, AUXTRACE_ACTION_PAUSE, "/no/such/file", 0), ENOENT },
		{ trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_PAUSE, 1 << 20), EINVAL },
	};
	struct auxtrace_trigger *page;
	struct session s;

	slot_session(&s, one_cpu);
	page = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	for (size_t i = 0; i < sizeof(nowhere) / sizeof(*nowhere); i++) {
		*page = nowhere[i].trigger;
		page->size = sizeof(*page);
		expect_call("TRIGGER_ADD", nowhere[i].err,
			    at_ioctl(s.fd, AUXTRACE_IOC_TRIGGER_ADD, page), __FILE__, __LINE__);
		assert_int_equal(mprotect(page, page_size, PROT_READ), 0);
		expect_call("TRIGGER_ADD", EFAULT, at_ioctl(s.fd, AUXTRACE_IOC_TRIGGER_ADD, page),
			    __FILE__, __LINE__);
		assert_int_equal(mprotect(page, page_size, PROT_READ | PROT_WRITE), 0);
	}
	munmap(page, page_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(entries_have_the_size_that_the_caller_gives),
		vm_test(entries_of_an_impossible_size_are_refused_without_effect),
		vm_test(entries_may_end_at_the_last_byte_that_can_be_written),
		vm_test(a_snapshot_answers_in_pages_that_it_has_checked),
		vm_test(a_pause_answers_in_pages_that_it_has_checked),
		vm_test(a_trigger_answers_in_a_page_that_it_has_checked),
		vm_test(a_snapshot_that_fails_retains_no_slot),
		vm_test(a_pause_that_fails_pauses_nothing),
		vm_test(a_trigger_that_is_refused_is_not_added),
		vm_test(a_trigger_without_memory_for_its_answer_looks_nothing_up),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
