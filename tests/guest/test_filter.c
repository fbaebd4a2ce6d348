// SPDX-License-Identifier: GPL-2.0-only
/*
 * Filters: which ones SETUP accepts; that only code of their ranges is in the trace; that a STOP range
 * ends the trace until the next window; that with an address space only its process is in the trace; that
 * the registers are restored.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "insns.h"
#include "invariants.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "setup.h"
#include "trace.h"

#define MSR_RTIT_ADDR0_A	0x580
#define MSR_RTIT_CR3_MATCH	0x572
#define KERNEL_HALF		0xffff800000000000ull

/* ---- what SETUP accepts --------------------------------------------------- */

static struct auxtrace_filter range(uint32_t action, uint64_t first, uint64_t last)
{
	return (struct auxtrace_filter){ .action = action, .first = first, .last = last };
}

static void set_filters(struct session *s, const struct auxtrace_filter *filter, unsigned int count)
{
	s->setup.filters = (uintptr_t)filter;
	s->setup.nr_filters = count;
	s->setup.filter_size = sizeof(*filter);
}

static void prepare(struct session *s, const struct auxtrace_filter *filter, unsigned int count)
{
	setup_prepare(s);
	set_filters(s, filter, count);
}

static void filters_required(unsigned int count)
{
	pt_required("filters");
	if (at_pt().nr_ranges < count)
		skip_test("this CPU has %u address ranges", at_pt().nr_ranges);
}

static void refuses(int err, struct auxtrace_filter filter)
{
	struct session s;

	prepare(&s, &filter, 1);
	setup_refuses(err, &s);
}

static void accepts(const struct auxtrace_filter *filter, unsigned int count)
{
	struct session s;

	prepare(&s, filter, count);
	setup_ok(&s);
}

static void setup_with_a_wrong_filter_gives_EINVAL(void **state)
{
	struct auxtrace_filter reserved = range(AUXTRACE_FILTER_TRACE, 0x1000, 0x1fff);

	filters_required(1);
	refuses(EINVAL, range(0, 0x1000, 0x1fff));
	refuses(EINVAL, range(AUXTRACE_FILTER_STOP + 1, 0x1000, 0x1fff));
	refuses(EINVAL, range(AUXTRACE_FILTER_TRACE, 0x1000, 0xfff));
	/* No code can be there, and the CPU refuses a write of the register. */
	refuses(EINVAL, range(AUXTRACE_FILTER_TRACE, 1ull << 60, 1ull << 60));
	refuses(EINVAL, range(AUXTRACE_FILTER_TRACE, 0x1000, 1ull << 60));
	refuses(EINVAL, range(AUXTRACE_FILTER_STOP, 1ull << 63, ~0ull));
	reserved.reserved = 1;
	refuses(EINVAL, reserved);
}

static void setup_accepts_the_ranges_that_are_right(void **state)
{
	const struct auxtrace_filter right[] = {
		range(AUXTRACE_FILTER_TRACE, 0x1000, 0x1000),
		range(AUXTRACE_FILTER_STOP, 0, ~0ull),
		range(AUXTRACE_FILTER_TRACE, KERNEL_HALF, ~0ull),
		range(AUXTRACE_FILTER_TRACE, 0, (1ull << 47) - 1),
	};

	filters_required(1);
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++)
		accepts(&right[i], 1);
}

static void setup_with_filters_of_one_action_that_overlap_gives_EINVAL(void **state)
{
	struct auxtrace_filter two[] = {
		range(AUXTRACE_FILTER_TRACE, 0x1000, 0x1fff), range(AUXTRACE_FILTER_TRACE, 0x1fff, 0x2fff),
	};
	struct session s;

	filters_required(2);
	prepare(&s, two, 2);
	setup_refuses(EINVAL, &s);
	/* The later one begins first; one is within the other; both are the same. */
	two[1] = range(AUXTRACE_FILTER_TRACE, 0x800, 0x1000);
	setup_refuses(EINVAL, &s);
	two[1] = range(AUXTRACE_FILTER_TRACE, 0x1200, 0x12ff);
	setup_refuses(EINVAL, &s);
	two[1] = two[0];
	setup_refuses(EINVAL, &s);
	/* One behind the other. */
	two[1] = range(AUXTRACE_FILTER_TRACE, 0x2000, 0x2fff);
	accepts(two, 2);
	/* A place to stop, within what is traced. */
	two[1] = range(AUXTRACE_FILTER_STOP, 0x1200, 0x12ff);
	accepts(two, 2);
}

static void setup_with_more_filters_than_the_cpu_has_ranges_gives_EOPNOTSUPP(void **state)
{
	struct auxtrace_filter filter[40];
	unsigned int ranges = at_pt().nr_ranges;
	struct session s;

	pt_required("filters");
	for (unsigned int i = 0; i < 40; i++)
		filter[i] = range(AUXTRACE_FILTER_TRACE, 0x1000 * (i + 1), 0x1000 * (i + 1) + 0xff);
	for (unsigned int count = 1; count <= 40; count++) {
		prepare(&s, filter, count);
		if (count <= ranges)
			setup_ok(&s);
		else
			setup_refuses(EOPNOTSUPP, &s);
	}
	prepare(&s, filter, UINT32_MAX);
	setup_refuses(EOPNOTSUPP, &s);
}

static void setup_of_bts_with_filters_gives_EOPNOTSUPP(void **state)
{
	bts_required();
	refuses(EOPNOTSUPP, range(AUXTRACE_FILTER_TRACE, 0x1000, 0x1fff));
}

static void setup_reads_the_filters_to_their_size(void **state)
{
	struct {
		struct auxtrace_filter filter;
		uint64_t later;
	} longer[2] = { { range(AUXTRACE_FILTER_TRACE, 0x1000, 0x1fff), 0 },
			{ range(AUXTRACE_FILTER_STOP, 0x3000, 0x3fff), 0 } };
	uint8_t *two = at_guarded_page(), *end = two + page_size;
	struct session s;

	filters_required(2);
	prepare(&s, &longer[0].filter, 2);
	s.setup.filter_size = sizeof(longer[0]);
	setup_ok(&s);
	longer[1].later = 1;
	setup_refuses(E2BIG, &s);
	longer[1].later = 0;
	for (unsigned int size = 0; size < sizeof(longer[0].filter); size++) {
		s.setup.filter_size = size;
		setup_refuses(EINVAL, &s);
	}
	s.setup.filter_size = sizeof(longer[0]) - 4;
	setup_refuses(EINVAL, &s);
	s.setup.filter_size = page_size + 8;
	setup_refuses(EINVAL, &s);
	s.setup.filter_size = UINT32_MAX - 7;
	setup_refuses(EINVAL, &s);

	/* Filters that cannot be read, from their begin or from somewhere on. */
	prepare(&s, NULL, 1);
	setup_refuses(EFAULT, &s);
	s.setup.filters = ~0ull - 7;
	setup_refuses(EFAULT, &s);
	memcpy(end - sizeof(longer[0].filter), &longer[0].filter, sizeof(longer[0].filter));
	prepare(&s, (void *)(end - sizeof(longer[0].filter)), 1);
	setup_ok(&s);
	s.setup.nr_filters = 2;
	setup_refuses(EFAULT, &s);
	munmap(two, 2 * page_size);
}

static void setup_without_filters_ignores_where_they_are(void **state)
{
	struct session s;

	prepare(&s, (void *)8, 0);
	s.setup.filter_size = 3;
	setup_ok(&s);
}

/* ---- what is traced -------------------------------------------------------- */

#define IN(name) __attribute__((noinline, section(#name)))

extern const char __start_first_range[], __stop_first_range[];
extern const char __start_second_range[], __stop_second_range[];

static unsigned int volatile sink;

/* In no range. */
static unsigned int __attribute__((noinline)) elsewhere(unsigned int n)
{
	unsigned int x = 0;

	for (unsigned int i = 0; i < n; i++)
		x += sink + i % 3;
	return x;
}

static unsigned int IN(first_range) first(unsigned int n)
{
	unsigned int x = 1;

	for (unsigned int i = 0; i < n; i++)
		x = x & 1 ? 3 * x + elsewhere(i % 4) : x / 2;
	return x;
}

static unsigned int IN(second_range) second(unsigned int n)
{
	unsigned int x = n;

	while (n--)
		x = x * 2654435761u >> 3;
	return x + sink;
}

static struct auxtrace_filter first_range(uint32_t action)
{
	return range(action, (uintptr_t)__start_first_range, (uintptr_t)__stop_first_range - 1);
}

static struct auxtrace_filter second_range(uint32_t action)
{
	return range(action, (uintptr_t)__start_second_range, (uintptr_t)__stop_second_range - 1);
}

static void work(unsigned int rounds)
{
	for (unsigned int i = 0; i < rounds; i++)
		sink += first(20) + second(20) + elsewhere(20);
}

static bool is_in(const struct auxtrace_filter *filter, uint64_t ip)
{
	return ip >= filter->first && ip <= filter->last;
}

/* The instructions in the trace [@begin, @end), by place. */
struct places {
	size_t first, second, others;
};

static struct places decode(const struct channel *ch, uint64_t begin, uint64_t end)
{
	const struct auxtrace_filter one = first_range(0), two = second_range(0);
	struct places places = { 0 };
	uint8_t *trace = malloc(end - begin + 1);
	struct insns in;

	assert_non_null(trace);
	channel_copy(ch, begin, trace, end - begin);
	insns_decode(&in, trace, end - begin);
	if (in.error)
		fail_msg("libipt: error %d at %#llx", in.error, (unsigned long long)in.error_ip);
	for (size_t i = 0; i < in.count; i++) {
		if (is_in(&one, in.ip[i]))
			places.first++;
		else if (is_in(&two, in.ip[i]))
			places.second++;
		else
			places.others++;
	}
	insns_free(&in);
	free(trace);
	return places;
}

/* A session of this thread's CPU alone, on which the test runs. */
static void open_filtered(struct session *s, const struct auxtrace_filter *filter, unsigned int count)
{
	assert_int_equal(cpu_pin(first_cpu), 0);
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER, 1 << 20);
	set_filters(s, filter, count);
	session_setup(s);
}

static void only_the_code_of_trace_ranges_is_traced(void **state)
{
	const struct auxtrace_filter one = first_range(AUXTRACE_FILTER_TRACE);
	const struct auxtrace_filter both[] = { one, second_range(AUXTRACE_FILTER_TRACE) };
	struct places places;
	struct session s;

	filters_required(2);
	open_filtered(&s, &one, 1);
	ok_start(s.fd);
	work(10);
	ok_stop(s.fd);
	places = decode(s.channel, 0, channel_status(s.channel).produced);
	assert_true(places.first > 10 * 20 * 3);
	assert_int_equal(places.second + places.others, 0);
	check_accounting(&s);
	session_close(&s);

	open_filtered(&s, both, 2);
	ok_start(s.fd);
	work(10);
	ok_stop(s.fd);
	places = decode(s.channel, 0, channel_status(s.channel).produced);
	assert_true(places.first > 10 * 20 * 3 && places.second > 10 * 20 * 3);
	assert_int_equal(places.others, 0);
	check_accounting(&s);
}

static void a_stop_range_ends_the_trace_until_the_next_window(void **state)
{
	const struct auxtrace_filter stop = second_range(AUXTRACE_FILTER_STOP);
	struct auxtrace_status_page page;
	uint64_t begin = 0, end;
	struct places places;
	struct session s;

	filters_required(1);
	open_filtered(&s, &stop, 1);
	ok_start(s.fd);
	for (int window = 1; window <= 3; window++) {
		struct auxtrace_status status;

		sink += first(100);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		sink += second(100);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		end = channel_status(s.channel).produced;
		/* The module has stopped and started the hardware twice: it stays as it is. */
		for (int i = 0; i < 2; i++) {
			sink += first(10000);
			ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
			page = channel_status(s.channel);
			assert_int_equal(page.produced, end);
			assert_int_equal(page.windows, window);
			assert_int_equal(page.running, 1);
			assert_int_equal(page.inhibit, 0);
		}
		ok_pause(&s, 0, NULL);
		assert_int_equal(channel_status(s.channel).produced, end);
		places = decode(s.channel, begin, end);
		assert_true(places.first > 100 * 3 && places.first < 10000);
		assert_int_equal(places.second, 0);
		begin = end;
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	page = channel_status(s.channel);
	assert_int_equal(page.gaps, 0);
	check_accounting(&s);
}

/* The area is full once in a while: its STOP mark and the range set the same bit. */
static void with_a_stop_range_full_areas_are_still_found(void **state)
{
	const struct auxtrace_filter stop = second_range(AUXTRACE_FILTER_STOP);
	unsigned int full = 0;
	struct session s;

	filters_required(1);
	assert_int_equal(cpu_pin(first_cpu), 0);
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER, 2 * page_size);
	set_filters(&s, &stop, 1);
	session_setup(&s);
	ok_start(s.fd);
	for (int i = 0; i < 40; i++) {
		struct auxtrace_status_page page;

		sink += first(1 + i % 7 * 4000);
		sink += second(i);
		page = channel_status(s.channel);
		full += !!(page.inhibit & AUXTRACE_INHIBIT_FULL);
		assert_false(page.inhibit & AUXTRACE_INHIBIT_HWERROR);
		ok_pause(&s, 0, NULL);
		channel_set_tail(s.channel, channel_status(s.channel).produced);
		ok_resume(&s, 0, NULL);
		assert_int_equal(channel_status(s.channel).inhibit, 0);
	}
	ok_stop(s.fd);
	assert_int_equal(channel_status(s.channel).gaps_error, 0);
	assert_true(full > 5 && full < 35);
	check_accounting(&s);
}

/* ---- address spaces ------------------------------------------------------------ */

#define BOTH	(AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)

static void address_space_required(void)
{
	pt_required("CR3");
	if (!(at_pt().flags & AUXTRACE_PT_CR3_FILTER))
		skip_test("this CPU does not compare CR3");
}

/* User code and the kernel have page tables of their own: TASK says that the bit is not to be compared. */
static bool tables_are_isolated(void)
{
	struct auxtrace_task task = { .size = sizeof(task) };

	ok_task(at_open(), &task);
	return !(task.out_context_mask & 0x1000);
}

static void prepare_space(struct session *s, uint32_t flags, uint32_t tid)
{
	setup_prepare(s);
	s->setup.flags = flags;
	s->setup.tid = tid;
}

static void setup_of_an_address_space_that_is_not_there_is_refused(void **state)
{
	const uint32_t space = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_ADDRESS_SPACE;
	struct session s;
	int status;
	pid_t child;

	address_space_required();
	prepare_space(&s, space | AUXTRACE_SETUP_THREAD, 0);
	setup_refuses(EINVAL, &s);
	prepare_space(&s, space | AUXTRACE_SETUP_PROCESS, 0);
	setup_refuses(EINVAL, &s);
	prepare_space(&s, space | AUXTRACE_SETUP_DESCENDANTS, 0);
	setup_refuses(EINVAL, &s);
	prepare_space(&s, space, 2000000000);
	setup_refuses(ESRCH, &s);
	/* A kernel thread, and a process that has exited and is not reaped. */
	prepare_space(&s, space, 2);
	setup_refuses(ENXIO, &s);
	child = fork();
	assert_true(child >= 0);
	if (!child)
		_exit(0);
	assert_int_equal(waitid(P_PID, child, NULL, WEXITED | WNOWAIT), 0);
	prepare_space(&s, space, child);
	setup_refuses(ENXIO, &s);
	assert_int_equal(waitpid(child, &status, 0), child);
	/* One's own. */
	prepare_space(&s, space, 0);
	setup_ok(&s);
	prepare_space(&s, space, syscall(SYS_gettid));
	setup_ok(&s);
}

static void setup_of_an_address_space_takes_one_level_if_tables_are_isolated(void **state)
{
	struct session s;

	address_space_required();
	print_message("page tables are %sisolated\n", tables_are_isolated() ? "" : "not ");
	prepare_space(&s, BOTH | AUXTRACE_SETUP_ADDRESS_SPACE, 0);
	if (tables_are_isolated())
		setup_refuses(EOPNOTSUPP, &s);
	else
		setup_ok(&s);
	prepare_space(&s, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_ADDRESS_SPACE, 0);
	setup_ok(&s);
	prepare_space(&s, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_ADDRESS_SPACE, 0);
	setup_ok(&s);
}

static void setup_of_bts_with_an_address_space_gives_EOPNOTSUPP(void **state)
{
	struct session s;

	bts_required();
	prepare_space(&s, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_ADDRESS_SPACE, 0);
	setup_refuses(EOPNOTSUPP, &s);
}

#define CHILD_CALLS	100
#define PARENT_CALLS	700

/* A process on this CPU that works when it is told to. */
struct partner {
	pid_t pid;
	int to, from;
};

static void partner_begin(struct partner *p)
{
	int to[2], from[2];
	char byte;

	assert_int_equal(pipe(to), 0);
	assert_int_equal(pipe(from), 0);
	p->pid = fork();
	assert_true(p->pid >= 0);
	if (!p->pid) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1) {
			sink += second(1000);
			for (int i = 0; i < CHILD_CALLS; i++)
				syscall(SYS_getppid);
			if (write(from[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	close(to[0]);
	close(from[1]);
	p->to = to[1];
	p->from = from[0];
}

/* Both work: this process in the first range. */
static void partner_work(struct partner *p)
{
	char byte = 0;

	sink += first(1000);
	for (int i = 0; i < PARENT_CALLS; i++)
		syscall(SYS_getppid);
	assert_int_equal(write(p->to, &byte, 1), 1);
	assert_int_equal(read(p->from, &byte, 1), 1);
	sink += first(1000);
}

static void partner_end(struct partner *p)
{
	int status;

	close(p->to);
	close(p->from);
	assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
	assert_int_equal(status, 0);
}

static void only_code_with_the_page_tables_of_the_process_is_traced(void **state)
{
	const struct auxtrace_filter both[] = {
		first_range(AUXTRACE_FILTER_TRACE), second_range(AUXTRACE_FILTER_TRACE),
	};
	struct partner partner;
	struct places places;
	struct session s;

	address_space_required();
	filters_required(2);
	assert_int_equal(cpu_pin(first_cpu), 0);
	partner_begin(&partner);
	for (int space = 0; space < 2; space++) {
		session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER, 1 << 20);
		set_filters(&s, both, 2);
		if (space) {
			s.setup.flags |= AUXTRACE_SETUP_ADDRESS_SPACE;
			s.setup.tid = partner.pid;
		}
		session_setup(&s);
		ok_start(s.fd);
		partner_work(&partner);
		ok_stop(s.fd);
		places = decode(s.channel, 0, channel_status(s.channel).produced);
		assert_true(places.second > 3000);
		assert_int_equal(places.others, 0);
		if (space)
			assert_int_equal(places.first, 0);
		else
			assert_true(places.first > 6000);
		check_accounting(&s);
		session_close(&s);
	}
	/* The process ends before the session does. */
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_ADDRESS_SPACE, 1 << 20);
	s.setup.tid = partner.pid;
	session_setup(&s);
	ok_start(s.fd);
	partner_work(&partner);
	partner_end(&partner);
	ok_stop(s.fd);
	assert_true(channel_status(s.channel).produced > 100);
	check_accounting(&s);
}

/* What is in all of the channel's trace. */
static struct walk walk_all(const struct channel *ch)
{
	uint64_t size = channel_status(ch).produced;
	struct walk walk = { 0 };
	uint8_t *trace = malloc(size + 1);

	assert_non_null(trace);
	channel_copy(ch, 0, trace, size);
	trace_walk(&walk, trace, size, true);
	free(trace);
	assert_null(walk.error);
	return walk;
}

static void a_range_of_the_kernel_shows_nothing_unless_the_kernel_is_traced(void **state)
{
	const struct auxtrace_filter kernel = range(AUXTRACE_FILTER_TRACE, KERNEL_HALF, UINT64_MAX);
	const uint32_t flags[] = { AUXTRACE_SETUP_USER, BOTH };
	struct session s;

	filters_required(1);
	assert_int_equal(cpu_pin(first_cpu), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct walk walk;

		session_prepare(&s, one_cpu, flags[i], 1 << 20);
		set_filters(&s, &kernel, 1);
		session_setup(&s);
		ok_start(s.fd);
		for (int call = 0; call < 100; call++)
			syscall(SYS_getppid);
		ok_stop(s.fd);
		walk = walk_all(s.channel);
		assert_int_equal(walk.into_user, 0);
		if (flags[i] & AUXTRACE_SETUP_KERNEL)
			assert_true(walk.into_kernel >= 100);
		else
			assert_int_equal(walk.into_kernel, 0);
		check_accounting(&s);
		session_close(&s);
	}
}

static uint64_t kernel_function(const char *name)
{
	unsigned long long address, found = 0;
	char line[512], symbol[256];
	FILE *f = fopen("/proc/kallsyms", "re");

	assert_non_null(f);
	while (!found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%llx %*c %255s", &address, symbol) == 2 && !strcmp(symbol, name))
			found = address;
	fclose(f);
	return found;
}

/* How often was a function of the kernel entered, by one process and by the other? */
static void of_the_kernel_what_it_does_for_the_process_is_traced(void **state)
{
	const uint64_t at = kernel_function("__x64_sys_getppid");
	const struct auxtrace_filter entry = range(AUXTRACE_FILTER_TRACE, at, at);
	struct partner partner;
	struct session s;

	address_space_required();
	filters_required(1);
	assert_true(at != 0);
	assert_int_equal(cpu_pin(first_cpu), 0);
	partner_begin(&partner);
	for (int space = 0; space < 3; space++) {
		const uint64_t calls = space ? CHILD_CALLS : CHILD_CALLS + PARENT_CALLS;
		struct walk walk;

		/* User code and the kernel. */
		if (space == 2 && tables_are_isolated())
			break;
		session_prepare(&s, one_cpu, space == 2 ? BOTH : AUXTRACE_SETUP_KERNEL, 1 << 20);
		set_filters(&s, &entry, 1);
		if (space) {
			s.setup.flags |= AUXTRACE_SETUP_ADDRESS_SPACE;
			s.setup.tid = partner.pid;
		}
		session_setup(&s);
		ok_start(s.fd);
		partner_work(&partner);
		ok_stop(s.fd);
		walk = walk_all(s.channel);
		assert_int_equal(walk.into_user, 0);
		/* An interrupt at the entry is one more. */
		if (walk.into_kernel < calls || walk.into_kernel > calls + 10)
			fail_msg("the function was entered %llu times, not %llu", (unsigned long long)walk.into_kernel,
				 (unsigned long long)calls);
		check_accounting(&s);
		session_close(&s);
	}
	partner_end(&partner);
}

/* ---- registers --------------------------------------------------------------- */

static uint64_t read_msr(uint32_t reg)
{
	uint64_t value;
	int ret = msr_read(first_cpu, reg, &value);

	if (ret)
		fail_msg("MSR %#x cannot be read: %s", reg, strerror(-ret));
	return value;
}

/* perf's driver caches what it wrote there, and skips a write of the same value. */
static void stop_restores_the_registers_of_the_ranges(void **state)
{
	const struct auxtrace_filter one = first_range(AUXTRACE_FILTER_TRACE);
	unsigned int ranges = at_pt().nr_ranges;
	struct session s;

	filters_required(2);
	for (unsigned int i = 0; i < 2 * ranges; i++)
		assert_int_equal(msr_write(first_cpu, MSR_RTIT_ADDR0_A + i, 0x7000 + i), 0);
	open_filtered(&s, &one, 1);
	for (int i = 0; i < 2; i++) {
		ok_start(s.fd);
		assert_int_equal(read_msr(MSR_RTIT_ADDR0_A), one.first);
		assert_int_equal(read_msr(MSR_RTIT_ADDR0_A + 1), one.last);
		/* CFG of range 0, and of no other. */
		assert_int_equal(read_msr(MSR_RTIT_CTL) >> 32, 1);
		for (unsigned int n = 2; n < 2 * ranges; n++)
			assert_int_equal(read_msr(MSR_RTIT_ADDR0_A + n), 0x7000 + n);
		if (i)
			session_close(&s);
		else
			ok_stop(s.fd);
		for (unsigned int n = 0; n < 2 * ranges; n++)
			assert_int_equal(read_msr(MSR_RTIT_ADDR0_A + n), 0x7000 + n);
	}
	for (unsigned int i = 0; i < 2 * ranges; i++)
		assert_int_equal(msr_write(first_cpu, MSR_RTIT_ADDR0_A + i, 0), 0);
}

static void stop_restores_the_register_of_the_address_space(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	struct session s;

	address_space_required();
	ok_task(at_open(), &task);
	assert_int_equal(msr_write(first_cpu, MSR_RTIT_CR3_MATCH, 0x7000), 0);
	assert_int_equal(cpu_pin(first_cpu), 0);
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_ADDRESS_SPACE, 1 << 20);
	session_setup(&s);
	ok_start(s.fd);
	assert_int_equal(read_msr(MSR_RTIT_CR3_MATCH) & task.out_context_mask, task.out_context);
	assert_int_equal(!!(read_msr(MSR_RTIT_CR3_MATCH) & 0x1000),
			 tables_are_isolated() || task.out_context & 0x1000);
	ok_stop(s.fd);
	assert_int_equal(read_msr(MSR_RTIT_CR3_MATCH), 0x7000);
	/* A session without one does not touch it. */
	session_close(&s);
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, 1 << 20);
	ok_start(s.fd);
	assert_int_equal(read_msr(MSR_RTIT_CR3_MATCH), 0x7000);
	ok_stop(s.fd);
	assert_int_equal(msr_write(first_cpu, MSR_RTIT_CR3_MATCH, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_with_a_wrong_filter_gives_EINVAL),
		vm_test(setup_accepts_the_ranges_that_are_right),
		vm_test(setup_with_filters_of_one_action_that_overlap_gives_EINVAL),
		vm_test(setup_with_more_filters_than_the_cpu_has_ranges_gives_EOPNOTSUPP),
		vm_test(setup_of_bts_with_filters_gives_EOPNOTSUPP),
		vm_test(setup_reads_the_filters_to_their_size),
		vm_test(setup_without_filters_ignores_where_they_are),
		vm_test(only_the_code_of_trace_ranges_is_traced),
		vm_test(a_stop_range_ends_the_trace_until_the_next_window),
		vm_test(with_a_stop_range_full_areas_are_still_found),
		vm_test(stop_restores_the_registers_of_the_ranges),
		vm_test(setup_of_an_address_space_that_is_not_there_is_refused),
		vm_test(setup_of_an_address_space_takes_one_level_if_tables_are_isolated),
		vm_test(setup_of_bts_with_an_address_space_gives_EOPNOTSUPP),
		vm_test(only_code_with_the_page_tables_of_the_process_is_traced),
		vm_test(a_range_of_the_kernel_shows_nothing_unless_the_kernel_is_traced),
		vm_test(of_the_kernel_what_it_does_for_the_process_is_traced),
		vm_test(stop_restores_the_register_of_the_address_space),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
