// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: what may be mapped and how, which processes get at the pages, how long the
 * pages live.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "invariants.h"
#include "kmod.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "records.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)
#define DATA_SIZE	(16 * 1024)

static int try_map(int fd, uint64_t offset, size_t len, int prot, int flags)
{
	void *addr = mmap(NULL, len, prot, flags, fd, offset);

	if (addr == MAP_FAILED)
		return -errno;
	munmap(addr, len);
	return 0;
}

#define ok_map(fd, offset, len, prot) \
	expect_call("mmap", 0, try_map(fd, offset, len, prot, MAP_SHARED), __FILE__, __LINE__)
#define fail_map(err, fd, offset, len, prot) \
	expect_call("mmap", err, try_map(fd, offset, len, prot, MAP_SHARED), __FILE__, __LINE__)

static size_t region_len(unsigned int region)
{
	return region == AUXTRACE_REGION_AUX ? AUX_SIZE :
	       region == AUXTRACE_REGION_DATA ? DATA_SIZE : page_size;
}

#define for_each_region(r) for (unsigned int r = 0; r <= AUXTRACE_REGION_DATA; r++)

/* A session with no mapping yet. */
static int set_up(void)
{
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	s.fd = at_open();
	ok_setup(s.fd, &s.setup);
	return s.fd;
}

static void each_region_maps_with_its_length(void **state)
{
	int fd = set_up();

	for_each_region(r)
		ok_map(fd, AUXTRACE_MMAP_OFFSET(first_cpu, r), region_len(r), PROT_READ);
	ok_map(fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_USER), page_size,
	       PROT_READ | PROT_WRITE);
}

static void a_region_maps_twice_at_once_with_the_same_content(void **state)
{
	struct session s;
	uint64_t *again;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	again = mmap(NULL, page_size, PROT_READ, MAP_SHARED, s.fd,
		     AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_USER));
	assert_ptr_not_equal(again, MAP_FAILED);
	channel_set_tail(s.channel, 0x1234567);
	assert_int_equal(*again, 0x1234567);
	munmap(again, page_size);
}

static void mmap_before_setup_gives_EBADFD(void **state)
{
	int fd = at_open();

	for_each_region(r)
		fail_map(EBADFD, fd, AUXTRACE_MMAP_OFFSET(first_cpu, r), region_len(r), PROT_READ);
}

static void mmap_with_a_wrong_length_gives_EINVAL(void **state)
{
	int fd = set_up();

	for_each_region(r) {
		uint64_t offset = AUXTRACE_MMAP_OFFSET(first_cpu, r);

		fail_map(EINVAL, fd, offset, region_len(r) + page_size, PROT_READ);
		fail_map(EINVAL, fd, offset, region_len(r) * 2, PROT_READ);
	}
	fail_map(EINVAL, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_AUX),
		 AUX_SIZE - page_size, PROT_READ);
	fail_map(EINVAL, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_AUX),
		 page_size, PROT_READ);
	fail_map(EINVAL, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_DATA),
		 page_size, PROT_READ);
}

static void mmap_of_a_data_ring_without_one_gives_EINVAL(void **state)
{
	uint64_t offset = AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_DATA);
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	fail_map(EINVAL, s.fd, offset, page_size, PROT_READ);
	fail_map(EINVAL, s.fd, offset, DATA_SIZE, PROT_READ);
}

static void mmap_at_a_wrong_offset_gives_EINVAL(void **state)
{
	int fd = set_up();

	for_each_region(r) {
		uint64_t offset = AUXTRACE_MMAP_OFFSET(first_cpu, r);

		fail_map(EINVAL, fd, offset + page_size, region_len(r), PROT_READ);
		fail_map(EINVAL, fd, offset + (1ULL << 15), region_len(r), PROT_READ);
	}
	for (unsigned int r = AUXTRACE_REGION_DATA + 1; r < 16; r++)
		fail_map(EINVAL, fd, AUXTRACE_MMAP_OFFSET(first_cpu, r), page_size, PROT_READ);
}

static void mmap_of_a_cpu_that_is_not_the_sessions_gives_ENODEV(void **state)
{
	int fd = set_up();

	for_each_region(r) {
		if (all_cpus != one_cpu)
			fail_map(ENODEV, fd, AUXTRACE_MMAP_OFFSET(cpus_last(all_cpus), r),
				 region_len(r), PROT_READ);
		/* One that no machine has. */
		fail_map(ENODEV, fd, AUXTRACE_MMAP_OFFSET(0x7ffff, r), region_len(r), PROT_READ);
	}
}

static void a_private_mapping_gives_EINVAL(void **state)
{
	int fd = set_up();

	for_each_region(r)
		expect_call("mmap", EINVAL,
			    try_map(fd, AUXTRACE_MMAP_OFFSET(first_cpu, r), region_len(r),
				    PROT_READ, MAP_PRIVATE),
			    __FILE__, __LINE__);
}

static void a_writable_mapping_of_what_the_kernel_writes_gives_EACCES(void **state)
{
	int fd = set_up();

	fail_map(EACCES, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_STATUS), page_size,
		 PROT_READ | PROT_WRITE);
	fail_map(EACCES, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_AUX), AUX_SIZE,
		 PROT_READ | PROT_WRITE);
	fail_map(EACCES, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_AUX), AUX_SIZE,
		 PROT_WRITE);
	fail_map(EACCES, fd, AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_DATA), DATA_SIZE,
		 PROT_READ | PROT_WRITE);
}

/*
 * Where /dev is mounted noexec the kernel itself returns EPERM, so the test makes a device node
 * elsewhere.
 */
static void an_executable_mapping_gives_EACCES(void **state)
{
	char dir[] = "/tmp/auxtrace.XXXXXX", path[64];
	struct session s;
	struct stat st;

	assert_int_equal(stat("/dev/auxtrace", &st), 0);
	mkdir("/tmp", 01777);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/node", dir);
	assert_int_equal(mknod(path, S_IFCHR | 0600, st.st_rdev), 0);
	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_prepare_data(&s, 0, DATA_SIZE);
	s.fd = open(path, O_RDWR | O_CLOEXEC);
	unlink(path);
	rmdir(dir);
	assert_true(s.fd >= 0);
	at_remember(s.fd);
	ok_setup(s.fd, &s.setup);

	for_each_region(r)
		fail_map(EACCES, s.fd, AUXTRACE_MMAP_OFFSET(first_cpu, r), region_len(r),
			 PROT_READ | PROT_EXEC);
}

/* A session with every region. */
static void open_all(struct session *s, uint64_t cpus, uint64_t aux_size)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_USER, aux_size);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
}

static void a_mapping_cannot_be_given_more_rights_later(void **state)
{
	struct session s;

	open_all(&s, one_cpu, AUX_SIZE);

	void *const pages[] = { (void *)s.channel->status, s.channel->user,
				(void *)s.channel->aux, (void *)s.channel->data };

	for (int i = 0; i < 4; i++) {
		assert_int_equal(mprotect(pages[i], page_size, PROT_READ | PROT_EXEC), -1);
		assert_int_equal(errno, EACCES);
	}
	for (int i = 0; i < 4; i++) {
		if (pages[i] == s.channel->user)
			continue;
		assert_int_equal(mprotect(pages[i], page_size, PROT_READ | PROT_WRITE), -1);
		assert_int_equal(errno, EACCES);
	}
}

static void the_user_page_can_be_made_writable_later(void **state)
{
	int fd = set_up();
	uint64_t *user = mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd,
			      AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_USER));

	assert_ptr_not_equal(user, MAP_FAILED);
	assert_int_equal(mprotect(user, page_size, PROT_READ | PROT_WRITE), 0);
	*user = 0;
	munmap(user, page_size);
}

static void a_mapping_cannot_grow(void **state)
{
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	assert_ptr_equal(mremap((void *)s.channel->aux, AUX_SIZE, 2 * AUX_SIZE, MREMAP_MAYMOVE),
			 MAP_FAILED);
	/* The old mapping is unchanged. */
	assert_int_equal(s.channel->aux[AUX_SIZE - 1], s.channel->aux[AUX_SIZE - 1]);
	check_accounting(&s);
}

/* write(2) of an address that is not mapped fails with EFAULT instead of a signal. */
static int reads_mappings(void *arg)
{
	struct session *s = arg;
	const volatile void *const pages[] = { s->channel->status, s->channel->user,
					       s->channel->aux, s->channel->data };
	int pipes[2];

	if (pipe(pipes))
		return 100;
	for (int i = 0; i < 4; i++)
		if (write(pipes[1], (const void *)pages[i], 1) != -1 || errno != EFAULT)
			return 101 + i;
	return 0;
}

static void a_fork_does_not_inherit_mappings(void **state)
{
	struct session s;

	open_all(&s, one_cpu, AUX_SIZE);
	assert_int_equal(child_run(reads_mappings, &s), 0);
	check_accounting(&s);
}

/* Does the kernel leave the mapping that has @address out of core dumps? */
static bool is_left_out_of_dumps(const void *address)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	bool is_it = false, left_out = false;
	unsigned long begin, end;
	char line[512];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2)
			is_it = (uintptr_t)address >= begin && (uintptr_t)address < end;
		if (is_it && !strncmp(line, "VmFlags:", 8))
			left_out = strstr(line, " dd ");
	}
	fclose(f);
	return left_out;
}

static void core_dumps_leave_the_mappings_out(void **state)
{
	struct session s;

	open_all(&s, one_cpu, AUX_SIZE);
	assert_false(is_left_out_of_dumps(&s));
	assert_true(is_left_out_of_dumps(s.channel->status));
	assert_true(is_left_out_of_dumps(s.channel->user));
	assert_true(is_left_out_of_dumps(s.channel->aux));
	assert_true(is_left_out_of_dumps(s.channel->data));
	/* Nor does madvise(2) bring them in. */
	assert_int_equal(madvise((void *)s.channel->aux, AUX_SIZE, MADV_DODUMP), -1);
	assert_int_equal(errno, EINVAL);
}

#define DIRTY_BYTES	(64u << 20)
#define LARGE_AREA	(4u << 20)

/* The pages must not show what their previous owner left. */
static void a_new_area_is_zero(void **state)
{
	void *dirty = mmap(NULL, DIRTY_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct session s;

	assert_ptr_not_equal(dirty, MAP_FAILED);
	memset(dirty, 0xa5, DIRTY_BYTES);
	munmap(dirty, DIRTY_BYTES);

	open_all(&s, all_cpus, LARGE_AREA);
	for (unsigned int i = 0; i < s.count; i++) {
		const struct channel *ch = &s.channel[i];
		static const uint8_t zero[4096];

		for (size_t at = 0; at < LARGE_AREA; at += sizeof(zero))
			assert_memory_equal(ch->aux + at, zero, sizeof(zero));
		for (size_t at = 0; at < DATA_SIZE; at += sizeof(zero))
			assert_memory_equal(ch->data + at, zero, sizeof(zero));
		assert_memory_equal(ch->user, zero, page_size);
		assert_memory_equal((const uint8_t *)ch->status + sizeof(*ch->status), zero,
				    page_size - sizeof(*ch->status));
	}
}

static void a_mapping_outlives_the_close_with_its_data(void **state)
{
	struct auxtrace_status_page before, after;
	struct walk walk = { 0 };
	struct session s;
	struct records r;
	uint64_t len;
	uint8_t *copy;
	int users;

	kmod_required();
	users = kmod_users();
	open_all(&s, one_cpu, AUX_SIZE);
	len = load_trace(&s, 1000);
	assert_true(len > 0 && len < AUX_SIZE);
	copy = test_malloc(AUX_SIZE);
	memcpy(copy, s.channel->aux, AUX_SIZE);
	before = channel_status(s.channel);

	at_close(s.fd);
	s.fd = -1;
	after = channel_status(s.channel);
	assert_int_equal(after.produced, before.produced);
	assert_int_equal(after.inhibit, AUXTRACE_INHIBIT_SETUP);
	assert_memory_equal(copy, s.channel->aux, AUX_SIZE);
	trace_check_window(&walk, s.channel->aux, len, "after close");
	records_read_all(&r, s.channel);
	assert_int_equal(r.count, after.data_records);
	assert_int_equal(records_newest(&r, AUXTRACE_RECORD_WINDOW)->window.end_position, len);
	records_free(&r);
	check_accounting(&s);

	/* The mappings hold a reference to the module. */
	assert_true(kmod_users() > users);
	expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
	session_unmap(&s);
	assert_int_equal(kmod_users(), users);
	test_free(copy);
}

static void closing_a_started_session_stops_it_and_keeps_the_trace(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(1000);
	at_close(s.fd);
	s.fd = -1;

	st = channel_status(s.channel);
	assert_int_equal(st.running, 0);
	assert_int_equal(st.inhibit & AUXTRACE_INHIBIT_SETUP, AUXTRACE_INHIBIT_SETUP);
	assert_true(st.produced > 0);
	assert_int_equal(st.window_end, st.produced);
	trace_check_window(&walk, s.channel->aux, st.produced, "closed while tracing");
	check_accounting(&s);
}

static void the_module_stays_while_a_file_is_open(void **state)
{
	int fd;

	kmod_required();
	fd = at_open();
	expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
	at_close(fd);
}

static void pages_of_the_area_can_be_spliced_without_a_copy(void **state)
{
	struct session s;
	struct iovec iov;
	uint8_t *copy;
	int pipes[2];
	ssize_t n;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	assert_true(load_trace(&s, 5000) > 4 * page_size);
	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	at_remember(pipes[0]);
	at_remember(pipes[1]);
	/* vmsplice(2) takes references on the pages themselves. */
	iov.iov_base = (void *)s.channel->aux;
	iov.iov_len = 4 * page_size;
	n = vmsplice(pipes[1], &iov, 1, 0);
	assert_int_equal(n, 4 * page_size);

	copy = test_malloc(4 * page_size);
	memcpy(copy, s.channel->aux, 4 * page_size);
	/* The references outlive both the mapping and the session. */
	session_close(&s);
	for (size_t at = 0; at < 4 * page_size; at += n) {
		uint8_t buf[4096];

		n = read(pipes[0], buf, sizeof(buf));
		assert_true(n > 0);
		assert_memory_equal(buf, copy + at, n);
	}
	test_free(copy);
}

struct remote {
	pid_t pid;
	const uint8_t *addr;
	uint8_t *copy;
};

static int reads_the_parent(void *arg)
{
	struct remote *r = arg;
	uint8_t *buf = malloc(AUX_SIZE);
	struct iovec local = { buf, AUX_SIZE }, remote = { (void *)r->addr, AUX_SIZE };
	ssize_t n = process_vm_readv(r->pid, &local, 1, &remote, 1, 0);

	if (n < 0)
		return errno;
	return n == AUX_SIZE && !memcmp(buf, r->copy, AUX_SIZE) ? 0 : 100;
}

static void another_process_can_read_the_mapped_area(void **state)
{
	struct remote r = { .pid = getpid() };
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	load_trace(&s, 1000);
	r.addr = s.channel->aux;
	r.copy = test_malloc(AUX_SIZE);
	memcpy(r.copy, r.addr, AUX_SIZE);
	assert_int_equal(child_run(reads_the_parent, &r), 0);
	test_free(r.copy);
}

/* All that a program may say of its memory; the kernel may refuse it. */
static const int advice[] = {
	MADV_RANDOM, MADV_SEQUENTIAL, MADV_WILLNEED, MADV_DONTNEED, MADV_FREE, MADV_REMOVE, MADV_DOFORK,
	MADV_DODUMP, MADV_MERGEABLE, MADV_HUGEPAGE, 20 /* COLD */, 21 /* PAGEOUT */, 22 /* POPULATE_READ */,
	23 /* POPULATE_WRITE */, 24 /* DONTNEED_LOCKED */, 25 /* COLLAPSE */,
};

#define NR_ADVICE	((int)(sizeof(advice) / sizeof(*advice)))
/* And what is no advice. */
#define WAYS		(NR_ADVICE + 5)

/* Writes by ways that pass by the mapping's protection. */
static bool is_written_in_spite(void *at)
{
	uint64_t word = UINT64_MAX;
	struct iovec from = { &word, 8 }, to = { at, 8 };
	int mem = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	bool written = mem >= 0 && pwrite(mem, &word, 8, (uintptr_t)at) == 8;

	close(mem);
	return process_vm_writev(getpid(), &from, 1, &to, 1, 0) == 8 || written;
}

/* Touches each page. One that is gone is an error of write(2), not a signal. */
static void looks_at(const char *addr, size_t len)
{
	int pipes[2];

	if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK))
		return;
	for (size_t at = 0; at < len; at += page_size)
		if (write(pipes[1], addr + at, 1) != 1 && errno != EFAULT)
			break;
	close(pipes[0]);
	close(pipes[1]);
}

static int abuses_a_mapping(int fd, unsigned int region, int how)
{
	const int prot = region == AUXTRACE_REGION_USER ? PROT_READ | PROT_WRITE : PROT_READ;
	size_t len = region_len(region);
	unsigned long node = 1;
	char *addr, *other;

	addr = mmap(NULL, len, prot, MAP_SHARED, fd, AUXTRACE_MMAP_OFFSET(first_cpu, region));
	other = mmap(NULL, len, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(addr != MAP_FAILED && other != MAP_FAILED);
	CHECK(region == AUXTRACE_REGION_USER || !is_written_in_spite(addr));
	if (how < NR_ADVICE)
		madvise(addr, len, advice[how]);
	else if (how == NR_ADVICE)
		CHECK(mremap(addr, 0, len, MREMAP_MAYMOVE) == MAP_FAILED);
	else if (how == NR_ADVICE + 1)
		syscall(SYS_remap_file_pages, addr, len, 0, 0, 0);
	else if (how == NR_ADVICE + 2)
		syscall(SYS_mbind, addr, len, 2 /* BIND */, &node, 64, 1 << 1 /* MOVE */);
	else if (how == NR_ADVICE + 3)
		mlock(addr, len);
	else
		munmap(addr + len / page_size / 2 * page_size, page_size);
	looks_at(addr, len);
	CHECK(region == AUXTRACE_REGION_USER || !is_written_in_spite(addr));
	/* The rest of it over another one, in part, and gone by the exit of the process. */
	mprotect(addr, page_size, PROT_NONE);
	mprotect(addr, page_size, prot);
	if (mremap(addr, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, other) != MAP_FAILED)
		looks_at(other, len);
	return 0;
}

static int abuses_mappings(void *arg)
{
	const struct session *s = arg;

	for_each_region(region)
		for (int how = 0; how < WAYS; how++)
			CHECK(!abuses_a_mapping(s->fd, region, how));
	return 0;
}

static void what_a_process_does_with_its_mappings_is_its_own_affair(void **state)
{
	uint8_t *copy = test_malloc(AUX_SIZE);
	struct session s;

	open_all(&s, one_cpu, AUX_SIZE);
	load_trace(&s, 1000);
	memcpy(copy, (void *)s.channel->aux, AUX_SIZE);
	assert_int_equal(child_run(abuses_mappings, &s), 0);
	/* Once more with the hardware on. */
	ok_start(s.fd);
	assert_int_equal(child_run(abuses_mappings, &s), 0);
	ok_stop(s.fd);
	assert_memory_equal(copy, (void *)s.channel->aux, page_size);
	check_accounting(&s);
	test_free(copy);
}

static void close_and_unload_while_tracing_leaves_the_hardware_off(void **state)
{
	struct session s;

	kmod_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, AUX_SIZE);
	ok_start(s.fd);
	expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
	session_unmap(&s);
	expect_call("delete_module", EWOULDBLOCK, kmod_unload(), __FILE__, __LINE__);
	at_close(s.fd);
	expect_call("delete_module", 0, kmod_unload(), __FILE__, __LINE__);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		assert_false(msr_tracing(cpus_first(left)));

	expect_call("finit_module", 0, kmod_load(), __FILE__, __LINE__);
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(each_region_maps_with_its_length),
		vm_test(a_region_maps_twice_at_once_with_the_same_content),
		vm_test(mmap_before_setup_gives_EBADFD),
		vm_test(mmap_with_a_wrong_length_gives_EINVAL),
		vm_test(mmap_of_a_data_ring_without_one_gives_EINVAL),
		vm_test(mmap_at_a_wrong_offset_gives_EINVAL),
		vm_test(mmap_of_a_cpu_that_is_not_the_sessions_gives_ENODEV),
		vm_test(a_private_mapping_gives_EINVAL),
		vm_test(a_writable_mapping_of_what_the_kernel_writes_gives_EACCES),
		vm_test(an_executable_mapping_gives_EACCES),
		vm_test(a_mapping_cannot_be_given_more_rights_later),
		vm_test(the_user_page_can_be_made_writable_later),
		vm_test(a_mapping_cannot_grow),
		vm_test(a_fork_does_not_inherit_mappings),
		vm_test(core_dumps_leave_the_mappings_out),
		vm_test(a_new_area_is_zero),
		vm_test(a_mapping_outlives_the_close_with_its_data),
		vm_test(closing_a_started_session_stops_it_and_keeps_the_trace),
		vm_test(the_module_stays_while_a_file_is_open),
		vm_test(pages_of_the_area_can_be_spliced_without_a_copy),
		vm_test(another_process_can_read_the_mapped_area),
		vm_test(what_a_process_does_with_its_mappings_is_its_own_affair),
		vm_test(close_and_unload_while_tracing_leaves_the_hardware_off),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
