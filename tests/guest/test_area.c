// SPDX-License-Identifier: GPL-2.0-only
/*
 * AUX areas as memory: gigabytes for a channel, in few pieces, traced into from end to end;
 * from the CPU's own NUMA node or, if that has too little, from others; written to a disk by
 * O_DIRECT and io_uring without a copy. $AUXTRACE_DISK names an empty disk, which is
 * overwritten.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define OVER		AUXTRACE_SETUP_OVERWRITE
#define GIGABYTE	(1ULL << 30)
#define SLOTS		AUXTRACE_MAX_SLOTS
/* The largest block that every kernel's page allocator has. */
#define PIECE		(4u << 20)
#define MOUNT_POINT	"/tmp/disk"
#define UNMOUNT_MS	10000

/* A number from a file of "NAME NUMBER" or "NAME: NUMBER kB" lines. */
static uint64_t number_of(const char *path, const char *name)
{
	unsigned long long value = 0;
	FILE *f = fopen(path, "re");
	char line[256];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		size_t len = strlen(name);

		if (!strncmp(line, name, len) && (line[len] == ':' || line[len] == ' ')) {
			value = strtoull(line + len + 1, NULL, 10);
			break;
		}
	}
	fclose(f);
	return value;
}

static void memory_required(uint64_t bytes)
{
	uint64_t have = number_of("/proc/meminfo", "MemAvailable") << 10;

	if (have < bytes)
		skip_test("%llu MiB of memory are available, %llu are needed",
			  (unsigned long long)have >> 20, (unsigned long long)bytes >> 20);
}

/* ---- gigabytes ----------------------------------------------------------------- */

static uint64_t frame_of(uint64_t pagemap_entry)
{
	return pagemap_entry & ((1ULL << 55) - 1);
}

/* Reads an entry for each page of [addr, addr + len). */
static void read_pagemap(const uint8_t *addr, uint64_t len, uint64_t *entries)
{
	uint64_t bytes = len / page_size * 8;
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	/* A page that was never touched may not be in the page tables. */
	for (uint64_t at = 0; at < len; at += page_size)
		(void)((const volatile uint8_t *)addr)[at];
	assert_int_equal(pread(fd, entries, bytes, (uintptr_t)addr / page_size * 8), bytes);
	close(fd);
}

/* Bytes of [addr, addr + len) that lie in aligned physical pieces of PIECE. */
static uint64_t in_pieces(const uint8_t *addr, uint64_t len)
{
	uint64_t pages = PIECE / page_size, *entries = malloc(len / page_size * 8), sum = 0;

	read_pagemap(addr, len, entries);
	for (uint64_t first = 0; first < len / page_size; first += pages) {
		uint64_t i = 1;

		while (i < pages && entries[first + i] == entries[first] + i)
			i++;
		if (i == pages && !(frame_of(entries[first]) % pages))
			sum += PIECE;
	}
	free(entries);
	return sum;
}

/* Free memory in blocks of PIECE or more. */
static uint64_t free_in_pieces(void)
{
	FILE *f = fopen("/proc/buddyinfo", "re");
	char line[512];
	uint64_t sum = 0;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "zone"), *next;

		if (!at)
			continue;
		at = strchr(at + 5, ' ');
		while (*at == ' ')
			at++;
		for (uint64_t size = page_size;; size *= 2) {
			uint64_t n = strtoull(at, &next, 10);

			if (next == at)
				break;
			if (size >= PIECE)
				sum += n * size;
			at = next;
		}
	}
	fclose(f);
	return sum;
}

/* A session with SLOTS slots and areas of @size, which must be zero. */
static void set_up_zeroed(struct session *s, uint64_t cpus, uint64_t size)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_USER | OVER, size);
	s->setup.slots = SLOTS;
	session_setup(s);
	for (unsigned int i = 0; i < s->count; i++) {
		const uint64_t *words = (const uint64_t *)s->channel[i].aux;

		for (uint64_t at = 0; at < size / 8; at += page_size / 8)
			assert_int_equal(words[at], 0);
	}
}

/*
 * An area would take hours to fill. But each SNAPSHOT moves tracing to another slot, so trace
 * gets to the begin of every slot.
 */
static void trace_everywhere(struct session *s)
{
	uint64_t slot_size = s->setup.aux_size / SLOTS;
	struct auxtrace_cut cuts[MAX_CPUS];
	uint64_t seen = 0;

	ok_start(s->fd);
	for (unsigned int n = 0; n < SLOTS; n++) {
		uint32_t slot;

		for (unsigned int i = 0; i < s->count; i++) {
			assert_int_equal(cpu_pin(s->channel[i].cpu), 0);
			load_run(200);
		}
		ok_snapshot(s, AUXTRACE_SNAPSHOT_SLOT, cuts, &slot);
		/* Decoding would make far more trace than it decodes. */
		ok_pause(s, 0, NULL);
		seen |= 1ULL << slot;
		for (unsigned int i = 0; i < s->count; i++) {
			uint64_t len = cuts[i].aux_end - cuts[i].aux_begin;
			struct walk walk = { 0 };
			uint8_t *trace = malloc(len);

			if (!len || len >= slot_size)
				fail_msg("CPU %u, slot %u: [%llu, %llu)", cuts[i].cpu, slot,
					 cuts[i].aux_begin, cuts[i].aux_end);
			assert_non_null(trace);
			channel_copy_slot(&s->channel[i], slot, cuts[i].aux_begin, trace, len);
			trace_check_window(&walk, trace, len, "a slot of a large area");
			free(trace);
		}
		/* The first slot is released, so that the last SNAPSHOT finds a free one. */
		if (n < 1)
			ok_release(s->fd, slot);
		ok_resume(s, 0, NULL);
	}
	assert_int_equal(seen | 1ULL << channel_status(s->channel).slot, UINT64_MAX);
	ok_stop(s->fd);
	check_accounting(s);
}

static void a_gigabyte_for_each_channel_is_traced_into_from_end_to_end(void **state)
{
	uint64_t pieces, free_before;
	struct session s;

	memory_required(cpus_count(all_cpus) * GIGABYTE + (256 << 20));
	free_before = free_in_pieces();
	set_up_zeroed(&s, all_cpus, GIGABYTE);
	pieces = in_pieces(s.channel[0].aux, GIGABYTE);
	print_message("%llu of 1024 MiB lie in pieces of %u\n", (unsigned long long)pieces >> 20,
		      PIECE >> 20);
	if (free_before >= s.count * GIGABYTE + GIGABYTE / 4)
		assert_true(pieces >= GIGABYTE / 2);
	trace_everywhere(&s);
}

/* Offsets into it, and page numbers times the page size, need more than 31 bits. */
static void four_gigabytes_for_one_channel_are_traced_into_from_end_to_end(void **state)
{
	struct session s;

	memory_required(4 * GIGABYTE + (256 << 20));
	set_up_zeroed(&s, 1ULL << cpus_first(all_cpus), 4 * GIGABYTE);
	trace_everywhere(&s);
}

/* "DOC: regions of Intel PT": if the area is in pieces of 4 MiB, these are its regions. */
static void check_region(const struct channel *ch)
{
	uint64_t produced = channel_status(ch).produced, mask, offset;
	bool is_large;

	if (under_bts() || pt_has_single_entry())
		return;
	is_large = in_pieces(ch->aux, GIGABYTE) == GIGABYTE;
	assert_int_equal(msr_read(ch->cpu, MSR_RTIT_OUTPUT_MASK, &mask), 0);
	offset = mask >> 32;
	print_message("%llu bytes, the pointer is %llu in its region\n", (unsigned long long)produced,
		      (unsigned long long)offset);
	assert_true(produced > 2 * page_size);
	assert_int_equal(produced % (is_large ? GIGABYTE / 256 : page_size),
			 is_large ? offset : offset % page_size);
}

static void a_full_trace_of_a_gigabyte_area_decodes(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;

	memory_required(GIGABYTE + (256 << 20));
	session_open(&s, 1ULL << cpus_first(all_cpus), AUXTRACE_SETUP_USER, GIGABYTE);
	cpu_pin(s.channel->cpu);
	ok_start(s.fd);
	load_run(200000);
	ok_pause(&s, 0, NULL);
	check_region(s.channel);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	trace_check_window(&walk, s.channel->aux, st.produced, "a gigabyte area");
	assert_int_equal(st.pmis, 0);
	check_accounting(&s);
}

static void setup_beyond_free_memory_gives_ENOMEM_and_frees_all(void **state)
{
	uint64_t before, huge = 1;
	struct session s;

	before = number_of("/proc/meminfo", "MemAvailable");
	while (huge << 10 <= number_of("/proc/meminfo", "MemTotal") << 20)
		huge <<= 1;
	session_prepare(&s, 1ULL << cpus_first(all_cpus), AUXTRACE_SETUP_USER, huge);
	s.fd = at_open();
	fail_setup(ENOMEM, s.fd, &s.setup);
	s.setup.aux_size = 1 << 20;
	ok_setup(s.fd, &s.setup);
	at_close(s.fd);
	/* All but what caches and per-CPU lists have taken meanwhile. */
	assert_true(number_of("/proc/meminfo", "MemAvailable") > before - before / 8);
}

/* ---- nodes --------------------------------------------------------------------- */

#define NODES		"/sys/devices/system/node/"
#define NODE_PIECE	(64u << 20)

static unsigned int nr_nodes(void)
{
	unsigned int n = 0;
	char path[64];

	while (snprintf(path, sizeof(path), NODES "node%u", n), !access(path, F_OK))
		n++;
	return n;
}

static unsigned int node_of(int cpu)
{
	char path[64];

	for (unsigned int n = 0; n < nr_nodes(); n++) {
		snprintf(path, sizeof(path), NODES "node%u/cpu%d", n, cpu);
		if (!access(path, F_OK))
			return n;
	}
	fail_msg("CPU %d has no node", cpu);
	return 0;
}

/* The size of the blocks in which sysfs says what memory a node has. */
static uint64_t block_size(void)
{
	char digits[32] = "";
	FILE *f = fopen("/sys/devices/system/memory/block_size_bytes", "re");

	assert_non_null(f);
	assert_non_null(fgets(digits, sizeof(digits), f));
	fclose(f);
	return strtoull(digits, NULL, 16);
}

/* MemTotal or MemFree of a node, in bytes. */
static uint64_t of_node(unsigned int node, const char *what)
{
	char path[64], name[64];

	snprintf(path, sizeof(path), NODES "node%u/meminfo", node);
	snprintf(name, sizeof(name), "Node %u %s", node, what);
	return number_of(path, name) << 10;
}

/*
 * Bytes of the mapping that lie on the node. The node's directory in sysfs has a link for each of its
 * memory blocks (Documentation/ABI/testing/sysfs-devices-memory).
 */
static uint64_t bytes_on_node(const uint8_t *addr, uint64_t len, unsigned int node)
{
	uint64_t block_pages = block_size() / page_size, *entries = malloc(len / page_size * 8);
	uint64_t block = UINT64_MAX, sum = 0;
	bool in_node = false;

	read_pagemap(addr, len, entries);
	for (uint64_t i = 0; i < len / page_size; i++) {
		char path[80];

		/* Frame 0 means that the kernel hides the numbers. */
		assert_true(frame_of(entries[i]));
		if (frame_of(entries[i]) / block_pages != block) {
			block = frame_of(entries[i]) / block_pages;
			snprintf(path, sizeof(path), NODES "node%u/memory%llu", node,
				 (unsigned long long)block);
			in_node = !access(path, F_OK);
		}
		sum += in_node ? page_size : 0;
	}
	free(entries);
	return sum;
}

static void nodes_required(void)
{
	if (nr_nodes() < 2)
		skip_test("this machine has one memory node");
}

static void an_area_is_its_cpus_nodes_memory(void **state)
{
	unsigned int tried = 0;

	nodes_required();
	for (unsigned int cpu = 0; all_cpus >> cpu; cpu++) {
		unsigned int node = node_of(cpu);
		struct session s;

		if (of_node(node, "MemFree") < 2 * NODE_PIECE)
			continue;
		tried++;
		session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, NODE_PIECE);
		assert_int_equal(bytes_on_node(s.channel->aux, NODE_PIECE, node), NODE_PIECE);
		session_close(&s);
	}
	assert_true(tried >= 2);
}

/* For CPUs whose node has less memory than the area, or none. */
static void an_area_larger_than_its_node_takes_memory_of_others(void **state)
{
	unsigned int tried = 0;

	nodes_required();
	for (unsigned int cpu = 0; all_cpus >> cpu; cpu++) {
		unsigned int node = node_of(cpu);
		uint64_t total = of_node(node, "MemTotal"), here, size, got;
		struct session s;

		for (size = NODE_PIECE; size <= total; size *= 2)
			;
		here = of_node(node, "MemFree");
		if (number_of("/proc/meminfo", "MemFree") << 10 < here + size + (256 << 20))
			continue;
		tried++;
		print_message("%llu MiB for CPU %u\n", (unsigned long long)size >> 20, cpu);
		set_up_zeroed(&s, 1ULL << cpu, size);
		got = bytes_on_node(s.channel->aux, size, node);
		print_message("%llu of %llu MiB were free there, %llu were taken\n",
			      (unsigned long long)here >> 20, (unsigned long long)total >> 20,
			      (unsigned long long)got >> 20);
		/* At most a quarter of what is free goes to the kernel's reserves and to others. */
		assert_in_range(got, here - here / 4, total);
		trace_everywhere(&s);
		session_close(&s);
	}
	assert_true(tried);
}

/* ---- to a disk without a copy ---------------------------------------------------- */

#define AREA	(8u << 20)

static const char *disk_required(void)
{
	const char *disk = getenv("AUXTRACE_DISK");

	if (!disk || access(disk, W_OK))
		skip_test("$AUXTRACE_DISK names no disk");
	return disk;
}

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Pages of the file that the page cache holds. */
static size_t cached_pages(int fd, size_t len)
{
	unsigned char *residency = malloc(len / page_size);
	void *addr = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, 0);
	size_t sum = 0;

	assert_ptr_not_equal(addr, MAP_FAILED);
	assert_int_equal(mincore(addr, len, residency), 0);
	for (size_t i = 0; i < len / page_size; i++)
		sum += residency[i] & 1;
	munmap(addr, len);
	free(residency);
	return sum;
}

static int64_t write_direct(int fd, const void *from, size_t len)
{
	ssize_t n = pwrite(fd, from, len, 0);

	return n < 0 ? -errno : n;
}

/* One write by a ring of its own, without liburing. */
static int64_t write_by_io_uring(int fd, const void *from, size_t len)
{
	struct io_uring_params params = { 0 };
	int ring = syscall(SYS_io_uring_setup, 1, &params);
	struct io_uring_sqe *sqe;
	struct io_uring_cqe *cqe;
	uint8_t *sq, *cq;
	int64_t ret;

	if (ring < 0)
		return -errno;
	at_remember(ring);
	sq = mmap(NULL, params.sq_off.array + params.sq_entries * 4, PROT_READ | PROT_WRITE,
		  MAP_SHARED, ring, IORING_OFF_SQ_RING);
	cq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof(*cqe),
		  PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
	sqe = mmap(NULL, params.sq_entries * sizeof(*sqe), PROT_READ | PROT_WRITE, MAP_SHARED,
		   ring, IORING_OFF_SQES);
	assert_true(sq != MAP_FAILED && cq != MAP_FAILED && sqe != MAP_FAILED);
	memset(sqe, 0, sizeof(*sqe));
	sqe->opcode = IORING_OP_WRITE;
	sqe->fd = fd;
	sqe->addr = (uintptr_t)from;
	sqe->len = len;
	*(uint32_t *)(sq + params.sq_off.array) = 0;
	__atomic_store_n((uint32_t *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) {
		ret = -errno;
	} else {
		cqe = (void *)(cq + params.cq_off.cqes);
		assert_int_equal(__atomic_load_n((uint32_t *)(cq + params.cq_off.tail),
						 __ATOMIC_ACQUIRE), 1);
		ret = cqe->res;
	}
	at_close(ring);
	return ret;
}

/* The kernel's counters of its page cache, and of what is written to disks. */
struct counters {
	uint64_t file_pages, dirtied, out_kib;
};

static struct counters counters_now(void)
{
	/* Fold the per-CPU parts in: they are as large as what is judged. */
	file_write("/proc/sys/vm/stat_refresh", "1");
	return (struct counters){
		.file_pages = number_of("/proc/vmstat", "nr_file_pages"),
		.dirtied = number_of("/proc/vmstat", "nr_dirtied"),
		.out_kib = number_of("/proc/vmstat", "pgpgout"),
	};
}

/*
 * Write @len bytes of the area, at @from, to the file, which was opened with O_DIRECT. The page
 * cache must hold nothing of it afterwards, and the disk the same bytes.
 */
static void check_write(int fd, const uint8_t *from, size_t len,
			int64_t (*write_it)(int fd, const void *from, size_t len))
{
	struct counters before, after;
	uint8_t *back = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int64_t ret;

	assert_ptr_not_equal(back, MAP_FAILED);
	before = counters_now();
	ret = write_it(fd, from, len);
	after = counters_now();
	if (ret != (int64_t)len)
		fail_msg("%lld of %zu bytes written%s%s", (long long)ret, len, ret < 0 ? ": " : "",
			 ret < 0 ? strerror(-ret) : "");
	assert_true(after.out_kib - before.out_kib >= len >> 10);
	/* A copy would be as many pages; a file system's own pages are few. */
	assert_true(after.file_pages <= before.file_pages + len / page_size / 8);
	assert_true(after.dirtied <= before.dirtied + len / page_size / 8);
	assert_int_equal(cached_pages(fd, len), 0);
	assert_int_equal(pread(fd, back, len, 0), len);
	assert_memory_equal(back, from, len);
	munmap(back, len);
}

/* A whole area at rest, and a retained slot while tracing continues into the others. */
static void check_writes(const char *path, int flags)
{
	struct auxtrace_cut cuts[MAX_CPUS];
	int fd = open(path, O_RDWR | O_DIRECT | O_CLOEXEC | flags, 0600);
	struct session s;
	uint32_t slot;

	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	at_remember(fd);
	session_prepare(&s, all_cpus, AUXTRACE_SETUP_USER | OVER, AREA);
	s.setup.slots = 2;
	session_setup(&s);
	load_start(s.channel[s.count - 1].cpu);
	ok_start(s.fd);
	load_run(50000);
	ok_snapshot(&s, AUXTRACE_SNAPSHOT_SLOT, cuts, &slot);
	for (unsigned int i = 0; i < s.count; i++) {
		check_write(fd, s.channel[i].aux + slot * (AREA / 2), AREA / 2, write_direct);
		check_write(fd, s.channel[i].aux + slot * (AREA / 2), AREA / 2, write_by_io_uring);
		assert_int_equal(channel_status(&s.channel[i]).running, 1);
	}
	ok_stop(s.fd);
	check_write(fd, s.channel[0].aux, AREA, write_direct);
	check_write(fd, s.channel[0].aux, AREA, write_by_io_uring);
	check_accounting(&s);
	session_close(&s);
	at_close(fd);
}

static void an_area_is_written_to_a_disk_without_a_copy(void **state)
{
	check_writes(disk_required(), 0);
}

static void an_area_is_written_to_a_file_system_without_a_copy(void **state)
{
	const char *disk = disk_required();
	char command[128];

	snprintf(command, sizeof(command), "mke2fs %s > /dev/null 2>&1", disk);
	assert_int_equal(run(command), 0);
	mkdir(MOUNT_POINT, 0700);
	/* The ext4 driver mounts ext2, too. */
	if (mount(disk, MOUNT_POINT, "ext4", 0, NULL))
		fail_msg("mount: %s", strerror(errno));
	check_writes(MOUNT_POINT "/area", O_CREAT | O_TRUNC);
	/* An io_uring worker may hold the file a little longer. */
	for (int ms = 0; umount(MOUNT_POINT); ms++) {
		assert_int_equal(errno, EBUSY);
		assert_true(ms < UNMOUNT_MS);
		usleep(1000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_gigabyte_for_each_channel_is_traced_into_from_end_to_end),
		vm_test(four_gigabytes_for_one_channel_are_traced_into_from_end_to_end),
		vm_test(a_full_trace_of_a_gigabyte_area_decodes),
		vm_test(setup_beyond_free_memory_gives_ENOMEM_and_frees_all),
		vm_test(an_area_is_its_cpus_nodes_memory),
		vm_test(an_area_larger_than_its_node_takes_memory_of_others),
		vm_test(an_area_is_written_to_a_disk_without_a_copy),
		vm_test(an_area_is_written_to_a_file_system_without_a_copy),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
