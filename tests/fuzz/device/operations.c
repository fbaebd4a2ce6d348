// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "arguments.h"
#include "coverage.h"
#include "operations.h"

#define DEVICE		"/dev/auxtrace"
#define MODULE		"/modules/auxtrace.ko"
#define PAGE		4096UL
#define CPUS		4U
#define REGIONS		4U
#define CELL		(1UL << 20)	/* the longest region of arguments.c */
#define CELLS		(FILES * CPUS * REGIONS)
#define MEMLOCK		(1UL << 20)	/* for threads without CAP_IPC_LOCK */
#define NR_FORKS	2U		/* of a program: a fork takes long */
#define HOTPLUG_MS	3000U		/* at least, between two changes */

/*
 * Sessions have descriptors of their own, which nothing else in this process gets: a thread
 * that closes one twice closes nothing else.
 */
#define FD_SESSION	100
#define FD_PERF		(FD_SESSION + FILES)
#define FD_HOLDER	(FD_PERF + 1)	/* keeps the module from being unloaded */

static char *cells;
static uint64_t lengths[FILES];		/* of the last SETUP: AUX area, data ring */
static uint64_t data_lengths[FILES];
static int sockets[2];
static pthread_t threads[THREADS];
static unsigned int nr_threads;
static unsigned int forks, offline;	/* offline: a bit for each CPU */
static bool want_reload, verbose;
static int64_t last_hotplug;
static int64_t pt_type;

static __thread struct {
	struct scratch *scratch;
	char *edge;
	int fail_nth;
	sigset_t signals;		/* the mask before set_failing() */
	bool failing, capabilities, pinned, child;
} me = { .fail_nth = -1 };

static void clear_failing(void)
{
	if (!me.failing)
		return;
	me.failing = false;
	pwrite(me.fail_nth, "0", 1, 0);
	pthread_sigmask(SIG_SETMASK, &me.signals, NULL);
}

static void end(const char *why, long value)
{
	clear_failing();
	fprintf(stderr, "device: %s: %ld\n", why, value);
	abort();
}

int64_t operations_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000LL + ts.tv_nsec / 1000000;
}

static int write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/*
 * From here to clear_failing() the kernel fails one allocation or copy that it does for this
 * thread: the nth, as @r says. Only in calls of sessions: the rest of the kernel need not be up to
 * it. Signals wait until then: if the fault hit the copy of a signal's frame to the stack, the
 * kernel would kill this process.
 */
static void set_failing(const struct record *r)
{
	sigset_t all;
	char text[8];

	if (me.fail_nth < 0 || !(r->who & WHO_FAILS) || r->op > OP_PASS)
		return;
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &me.signals);
	snprintf(text, sizeof(text), "%u", 1 + (r->p[13] & 0x3f));
	pwrite(me.fail_nth, text, strlen(text), 0);
	me.failing = true;
}

static char *cell(unsigned int file, unsigned int cpu, unsigned int region)
{
	return cells + ((file * CPUS + cpu) * REGIONS + region) * CELL;
}

/*
 * Reserves the range again, as PROT_NONE. That closes the hole that munmap(2) leaves, and mmap(2)
 * or mremap(2) to a fixed place if it fails after it has unmapped what was there. Without a fault:
 * this call must not fail. Any mmap(2) to no fixed place could take the hole meanwhile, so no
 * operation makes one.
 */
static void clear_cells(char *at, size_t length)
{
	clear_failing();
	if (mmap(at, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED,
		 -1, 0) == MAP_FAILED)
		end("mmap of nothing", errno);
}

static int open_session(int as)
{
	int fd = open(DEVICE, O_RDWR | O_CLOEXEC), err = 0;

	if (fd < 0)
		return errno;
	if (dup3(fd, as, O_CLOEXEC) < 0)
		err = errno;
	close(fd);
	return err;
}

static void no_capabilities(uint64_t dropped)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return;
	for (unsigned int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted & ~(uint32_t)(dropped >> (32 * i));
	syscall(SYS_capset, &head, data);
	me.capabilities = dropped;
}

/* ---- ioctls --------------------------------------------------------------- */

static void run_ioctl(const struct record *r, unsigned int file)
{
	void *where;
	unsigned long number = arguments_make(r, me.scratch, me.edge, &where);
	struct auxtrace_setup asked = me.scratch->arg.setup;
	int err = ioctl(FD_SESSION + file, number, where) ? errno : 0;

	if (r->op == OP_SETUP && !err) {
		lengths[file] = asked.aux_size;
		data_lengths[file] = asked.data_size;
	}
	coverage_result(r->op, r->who >> 6, err);
	if (verbose)
		fprintf(stderr, "device: operation %u of file %u: %s\n", r->op, file,
			err ? strerrorname_np(err) : "done");
	if (!arguments_may_fail(r->op, err)) {
		clear_failing();
		fprintf(stderr, "device: operation %u: %s is not among its errnos\n", r->op,
			strerrorname_np(err));
		abort();
	}
}

/* ---- the file and its mappings --------------------------------------------- */

static uint64_t region_length(unsigned int file, unsigned int region)
{
	if (region == AUXTRACE_REGION_AUX)
		return lengths[file];
	return region == AUXTRACE_REGION_DATA ? data_lengths[file] : PAGE;
}

static void run_mmap(const struct record *r, unsigned int file, unsigned int cpu)
{
	unsigned int region = r->p[0] & 3;
	int prot = region == AUXTRACE_REGION_USER ? PROT_READ | PROT_WRITE : PROT_READ;
	int flags = MAP_SHARED | MAP_FIXED;
	uint64_t length = region_length(file, region), offset = AUXTRACE_MMAP_OFFSET(cpu, region);
	void *got;

	if (r->who & WHO_BROKEN) {
		switch (r->p[1] % 8) {
		case 0:
			prot = r->p[2] & 7;
			break;
		case 1:
			flags = MAP_PRIVATE | MAP_FIXED;
			break;
		case 2:
			length += PAGE;
			break;
		case 3:
			length /= 2;
			break;
		case 4:
			offset += PAGE * (1 + r->p[2]);
			break;
		case 5:
			offset = (uint64_t)r->p[2] << 40;
			break;
		case 6:
			offset = (uint64_t)r->p[2] << 56 | (uint64_t)r->p[3] << 40;
			break;
		default:
			flags |= MAP_POPULATE | MAP_LOCKED;
		}
	}
	if (!length || length > CELL)
		length = PAGE;
	got = mmap(cell(file, cpu, region), length, prot, flags, FD_SESSION + file, offset);
	coverage_result(r->op, r->who >> 6, got == MAP_FAILED ? errno : 0);
	/* EBADF comes before anything is unmapped: the mapping outlives its descriptor. */
	if (got == MAP_FAILED && errno != EBADF)
		clear_cells(cell(file, cpu, region), length);
}

/* All of a region, or a part. */
static void run_munmap(const struct record *r, unsigned int file, unsigned int cpu)
{
	char *at = cell(file, cpu, r->p[0] & 3) + (r->p[1] & 3) * PAGE;
	size_t length = r->p[2] & 1 ? PAGE : CELL - 3 * PAGE;

	munmap(at, length);
	clear_cells(at, length);
}

static void run_mremap(const struct record *r, unsigned int file, unsigned int cpu)
{
	unsigned int region = r->p[0] & 3;
	uint64_t length = region_length(file, region) & ~(PAGE - 1);
	char *from = cell(file, cpu, region), *to = cell(file, r->p[1] & 3, r->p[2] & 3);
	uint64_t to_length = r->p[3] & 1 ? 2 * length : r->p[3] & 2 ? length / 2 : length;

	to_length &= ~(PAGE - 1);
	if (!length || !to_length || length > CELL || to_length > CELL || from == to)
		return;
	if (r->p[3] & 4) {
		if (mremap(from, length, to_length, 0) != MAP_FAILED && to_length < length)
			clear_cells(from + to_length, length - to_length);
	} else if (mremap(from, length, to_length, MREMAP_MAYMOVE | MREMAP_FIXED, to) != MAP_FAILED) {
		clear_cells(from, length);
	} else {
		clear_cells(to, to_length);
		if (to_length < length)
			clear_cells(from + to_length, length - to_length);
	}
}

/* Positions that a reader may write: where the trace is, before, beyond, and any. */
static void run_tail(const struct record *r, unsigned int file, unsigned int cpu)
{
	struct auxtrace_status_page st = { 0 };
	struct auxtrace_user_page user;
	struct iovec local = { &st, sizeof(st) };
	struct iovec remote = { cell(file, cpu, AUXTRACE_REGION_STATUS), sizeof(st) };
	uint64_t any, page[3];

	/* These calls fail where an access would be SIGSEGV, because another thread unmapped it. */
	process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
	memcpy(&any, &r->p[4], sizeof(any));
	switch (r->p[0] & 7) {
	case 0:
	case 1:
	case 2:
		user.aux_tail = st.produced;
		break;
	case 3:
		user.aux_tail = (st.produced + st.consumed) / 2;
		break;
	case 4:
		user.aux_tail = st.consumed - r->p[1];
		break;
	case 5:
		user.aux_tail = st.produced + 1 + r->p[1];
		break;
	case 6:
		user.aux_tail = st.produced + (any & 0xffff) - 0x8000;
		break;
	default:
		user.aux_tail = any;
	}
	switch (r->p[0] >> 3 & 7) {
	case 0:
	case 1:
	case 2:
		user.data_tail = st.data_head;
		break;
	case 3:
		user.data_tail = (st.data_head + st.data_consumed) / 2;
		break;
	case 4:
		user.data_tail = st.data_head + 8;
		break;
	case 5:
		user.data_tail = st.data_consumed - 8;
		break;
	default:
		user.data_tail = any;
	}
	/* What is reserved behind the tails must be 0. */
	page[0] = user.aux_tail;
	page[1] = user.data_tail;
	page[2] = !(r->p[2] & 0x1f);
	local.iov_base = page;
	local.iov_len = sizeof(page);
	remote.iov_base = cell(file, cpu, AUXTRACE_REGION_USER);
	remote.iov_len = sizeof(page);
	process_vm_writev(getpid(), &local, 1, &remote, 1, 0);
}

/* What every reader of a status page may rely on. */
static void run_look(const struct record *r, unsigned int file, unsigned int cpu)
{
	static __thread char bytes[PAGE];
	struct auxtrace_status_page st = { 0 };
	struct iovec local = { &st, sizeof(st) };
	struct iovec remote = { cell(file, cpu, AUXTRACE_REGION_STATUS), sizeof(st) };
	uint32_t seq;

	if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(st)) {
		seq = st.seq;
		local.iov_len = remote.iov_len = sizeof(seq);
		local.iov_base = &seq;
		/* The copy is whole if the number is even and still the same. */
		if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof(seq) &&
		    seq == st.seq && !(seq & 1) && st.slots && st.aux_size) {
			if (st.produced - st.consumed - st.overwritten > st.aux_size)
				end("more bytes are available than the area has", st.aux_size);
			if (st.gaps != st.gaps_full + st.gaps_error + st.gaps_offline)
				end("gaps do not add up", st.gaps);
			if (st.pauses_done > st.pauses_asked || st.resumes_done > st.resumes_asked)
				end("more requests were done than asked", st.pauses_done);
			if (st.slot >= st.slots)
				end("no such slot", st.slot);
		}
	}
	local.iov_base = bytes;
	local.iov_len = remote.iov_len = sizeof(bytes);
	remote.iov_base = cell(file, cpu, r->p[0] & 3) + (r->p[1] & 7) * PAGE;
	process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
}

static void run_poll(const struct record *r, unsigned int file)
{
	struct pollfd fd[2] = {
		{ .fd = FD_SESSION + file, .events = POLLIN | POLLPRI },
		{ .fd = FD_SESSION + (r->p[1] & 3), .events = POLLIN },
	};
	struct epoll_event event = { .events = EPOLLIN | EPOLLPRI | EPOLLET };
	struct timeval tv = { .tv_usec = r->p[2] * 8 };
	fd_set in, except;
	int epoll;

	switch (r->p[0] & 3) {
	case 0:
	case 1:
		poll(fd, 1 + (r->p[0] & 1), r->p[2] & 3);
		break;
	case 2:
		FD_ZERO(&in);
		FD_SET(FD_SESSION + file, &in);
		except = in;
		select(FD_SESSION + file + 1, &in, NULL, &except, &tv);
		break;
	default:
		/* What a session is closed under. */
		epoll = epoll_create1(EPOLL_CLOEXEC);
		epoll_ctl(epoll, EPOLL_CTL_ADD, FD_SESSION + file, &event);
		epoll_wait(epoll, &event, 1, r->p[2] & 3);
		if (r->p[1] & 1)
			close(FD_SESSION + file);
		close(epoll);
	}
}

/* Calls of a file that are none of its ABI. */
static void run_file(const struct record *r, unsigned int file)
{
	int fd = FD_SESSION + file;
	char bytes[16] = { 0 };
	ssize_t done = 0;

	switch (r->p[0] % 8) {
	case 0:
		done = read(fd, bytes, sizeof(bytes));
		break;
	case 1:
		done = write(fd, bytes, sizeof(bytes));
		break;
	case 2:
		lseek(fd, r->p[1], SEEK_SET);
		break;
	case 3:
		fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC);
		break;
	case 4:
		fsync(fd);
		break;
	case 5:
		ftruncate(fd, r->p[1]);
		break;
	case 6:
		/* A second descriptor of the same session. */
		if (file != (r->p[1] & 3))
			dup3(fd, FD_SESSION + (r->p[1] & 3), O_CLOEXEC);
		break;
	default:
		fallocate(fd, 0, 0, PAGE);
	}
	if (done > 0)
		end("read or write of a session", done);
}

/* Through a socket, where the session lives without a descriptor meanwhile. */
static void run_pass(const struct record *r, unsigned int file)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	char byte = 0;
	struct iovec iov = { &byte, 1 };
	struct msghdr message = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.bytes, .msg_controllen = sizeof(control.bytes),
	};
	struct cmsghdr *head;
	int fd = FD_SESSION + file;

	if (!(r->p[0] & 1)) {
		head = CMSG_FIRSTHDR(&message);
		head->cmsg_level = SOL_SOCKET;
		head->cmsg_type = SCM_RIGHTS;
		head->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(head), &fd, sizeof(fd));
		if (sendmsg(sockets[0], &message, MSG_DONTWAIT | MSG_NOSIGNAL) == 1 && r->p[0] & 2)
			close(fd);
		return;
	}
	if (recvmsg(sockets[1], &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
		return;
	head = CMSG_FIRSTHDR(&message);
	if (!head || head->cmsg_type != SCM_RIGHTS)
		return;
	memcpy(&fd, CMSG_DATA(head), sizeof(fd));
	dup3(fd, FD_SESSION + file, O_CLOEXEC);
	close(fd);
}

static void drain_sockets(void)
{
	static const struct record receive = { .op = OP_PASS, .p = { 1 } };

	/* More than a socket holds. */
	for (unsigned int i = 0; i < 16; i++)
		run_pass(&receive, 0);
}

/* A child has the files and none of the mappings. It may be killed in the middle of a call. */
static void run_fork(const struct record *r, const struct record *next, const struct record *last)
{
	int status;
	pid_t pid;

	if (me.child || __atomic_fetch_add(&forks, 1, __ATOMIC_RELAXED) >= NR_FORKS)
		return;
	pid = fork();
	if (!pid) {
		me.child = true;
		me.fail_nth = -1;
		for (unsigned int i = 0; i < 1U + (r->p[0] & 7) && next < last; i++, next++)
			operations_run(next, NULL, NULL);
		_exit(0);
	}
	if (pid < 0)
		return;
	if (r->p[1] & 1) {
		usleep(r->p[2] * 16);
		kill(pid, SIGKILL);
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (WIFSIGNALED(status) ? WTERMSIG(status) != SIGKILL : WEXITSTATUS(status))
		end("the child's end", status);
}

/* ---- what happens around it -------------------------------------------------- */

/* What triggers are on. */
static void run_fire(const struct record *r)
{
	struct timespec ts = { .tv_nsec = r->p[1] * 1000 };
	struct utsname name;
	volatile char *page = (char *)me.scratch + 3 * PAGE;

	for (unsigned int i = 0; i <= (r->p[2] & 7); i++) {
		switch (r->p[0] % 8) {
		case 0:
		case 1:
			uname(&name);
			break;
		case 2:
			sched_yield();
			break;
		case 3:
			/* The C library's calls another one. */
			syscall(SYS_nanosleep, &ts, NULL);
			break;
		case 4:
			/* The next access is a page fault. */
			madvise((void *)page, PAGE, MADV_DONTNEED);
			*page = 1;
			break;
		case 5:
			probed();
			break;
		case 6:
			watched++;
			break;
		default:
			syscall(SYS_getppid);
		}
	}
}

/* Branches for the trace: a TIP each. */
static void run_work(const struct record *r)
{
	static void (*volatile call)(void) = probed;

	for (unsigned int i = 0; i < 16U << (r->p[0] & 7); i++)
		call();
}

static void run_capabilities(const struct record *r)
{
	static const uint64_t drop[] = {
		1ULL << CAP_PERFMON | 1ULL << CAP_SYS_ADMIN,
		1ULL << CAP_IPC_LOCK,
		1ULL << CAP_SYS_ADMIN,
		0,
	};

	no_capabilities(drop[r->p[0] & 3]);
}

/* perf's own event of the trace PMU, which excludes sessions and is excluded by them. */
static void run_perf(const struct record *r, unsigned int cpu)
{
	struct perf_event_attr attr = {
		.type = pt_type, .size = sizeof(attr), .disabled = r->p[0] >> 1 & 1,
	};
	int fd;

	if (r->p[0] & 1) {
		close(FD_PERF);
		return;
	}
	fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return;
	dup3(fd, FD_PERF, O_CLOEXEC);
	close(fd);
}

static void set_online(unsigned int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	if (write_text(path, online ? "1" : "0"))
		return;
	if (online)
		__atomic_fetch_and(&offline, ~(1U << cpu), __ATOMIC_RELAXED);
	else
		__atomic_fetch_or(&offline, 1U << cpu, __ATOMIC_RELAXED);
}

static void run_hotplug(const struct record *r, unsigned int cpu)
{
	static const char always[] = "DEVICE_HOTPLUG";

	/* A hundred times as long as any other: not in each program. */
	if (!getenv(always) &&
	    operations_now_ms() - __atomic_load_n(&last_hotplug, __ATOMIC_RELAXED) < HOTPLUG_MS)
		return;
	/* One CPU remains beside the first, else the threads' races are none. */
	if (cpu < 2)
		cpu = 3;
	set_online(cpu, r->p[0] & 1);
	__atomic_store_n(&last_hotplug, operations_now_ms(), __ATOMIC_RELAXED);
}

static void run_pin(const struct record *r)
{
	unsigned long mask = r->p[0] & 0xf ? r->p[0] & 0xf : 0xf;

	syscall(SYS_sched_setaffinity, 0, sizeof(mask), &mask);
	me.pinned = mask != 0xf;
}

/* ---- all ----------------------------------------------------------------------- */

void operations_run(const struct record *r, const struct record *next, const struct record *last)
{
	unsigned int file = record_file(r), cpu = record_cpu(r);

	set_failing(r);
	switch (r->op) {
	case OP_OPEN:
		coverage_result(r->op, r->who >> 6, open_session(FD_SESSION + file));
		break;
	case OP_CLOSE:
		close(FD_SESSION + file);
		break;
	case OP_MMAP:
		run_mmap(r, file, cpu);
		break;
	case OP_MUNMAP:
		run_munmap(r, file, cpu);
		break;
	case OP_MREMAP:
		run_mremap(r, file, cpu);
		break;
	case OP_MPROTECT:
		if (r->p[1] & 1)
			madvise(cell(file, cpu, r->p[0] & 3), PAGE << (r->p[3] & 7), r->p[2]);
		else
			mprotect(cell(file, cpu, r->p[0] & 3), PAGE, r->p[2] & 7);
		break;
	case OP_TAIL:
		run_tail(r, file, cpu);
		break;
	case OP_LOOK:
		run_look(r, file, cpu);
		break;
	case OP_POLL:
		run_poll(r, file);
		break;
	case OP_FILE:
		run_file(r, file);
		break;
	case OP_PASS:
		run_pass(r, file);
		break;
	case OP_FORK:
		run_fork(r, next, last);
		break;
	case OP_FIRE:
		run_fire(r);
		break;
	case OP_WORK:
		run_work(r);
		break;
	case OP_SIGNAL:
		if (!me.child)
			pthread_kill(threads[r->p[0] % nr_threads], SIGUSR2);
		break;
	case OP_PIN:
		run_pin(r);
		break;
	case OP_CAPABILITIES:
		run_capabilities(r);
		break;
	case OP_PERF:
		run_perf(r, cpu);
		break;
	case OP_HOTPLUG:
		run_hotplug(r, cpu);
		break;
	case OP_UNLOAD:
		/* FD_HOLDER is open: it must be refused. */
		if (!me.child && !syscall(SYS_delete_module, "auxtrace", O_NONBLOCK))
			end("the module was unloaded in use", 0);
		if (!(r->p[0] & 0xf))
			__atomic_store_n(&want_reload, true, __ATOMIC_RELAXED);
		break;
	case OP_REPEAT:
	case OP_PHASE:
		break;
	default:
		run_ioctl(r, file);
	}
	clear_failing();
	/* The child's buffer is the parent's. */
	if (!me.child)
		coverage_take();
}

bool operations_want_reload(void)
{
	return want_reload;
}

/* A handler: the signal interrupts, it does not kill. */
static void on_signal(int number)
{
	(void)number;
}

/* Any allocation may fail, and none is written to the console. */
static void prepare_faults(void)
{
	write_text("/sys/kernel/debug/failslab/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-wait", "N");
	write_text("/sys/kernel/debug/fail_page_alloc/ignore-gfp-highmem", "N");
	write_text("/sys/kernel/debug/fail_page_alloc/min-order", "0");
	write_text("/sys/kernel/debug/failslab/verbose", "0");
	write_text("/sys/kernel/debug/fail_page_alloc/verbose", "0");
	write_text("/sys/kernel/debug/fail_usercopy/verbose", "0");
}

bool operations_init(void)
{
	struct rlimit memlock = { MEMLOCK, RLIM_INFINITY };
	struct sigaction action = { .sa_handler = on_signal };
	FILE *f;
	int err;

	verbose = getenv("DEVICE_VERBOSE");
	arguments_init();
	prepare_faults();
	sigaction(SIGUSR2, &action, NULL);
	setrlimit(RLIMIT_MEMLOCK, &memlock);
	f = fopen("/sys/bus/event_source/devices/intel_pt/type", "re");
	if (!f || fscanf(f, "%ld", &pt_type) != 1)
		pt_type = PERF_TYPE_SOFTWARE;
	if (f)
		fclose(f);
	cells = mmap(NULL, CELLS * CELL, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
		     -1, 0);
	if (cells == MAP_FAILED || socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, sockets))
		return false;
	err = open_session(FD_HOLDER);
	if (err) {
		fprintf(stderr, "device: " DEVICE ": %s\n", strerror(err));
		return false;
	}
	return true;
}

void operations_begin_thread(void)
{
	unsigned int number = __atomic_fetch_add(&nr_threads, 1, __ATOMIC_RELAXED);
	char *memory = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			    -1, 0);

	if (memory == MAP_FAILED || mprotect(memory + 2 * PAGE, PAGE, PROT_NONE))
		end("memory of a thread", errno);
	_Static_assert(sizeof(struct scratch) <= PAGE, "scratch fits before the last page");
	/* The page behind the edge is for page faults. */
	me.scratch = (struct scratch *)memory;
	me.edge = memory + 2 * PAGE;
	me.fail_nth = open("/proc/thread-self/fail-nth", O_RDWR | O_CLOEXEC);
	threads[number] = pthread_self();
}

void operations_end_thread(void)
{
	static const struct record unpin = { 0 };

	if (me.capabilities)
		no_capabilities(0);
	if (me.pinned)
		run_pin(&unpin);
}

static long number_in(const char *path, const char *format)
{
	char line[128];
	long n = -1;
	FILE *f = fopen(path, "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, format, &n) == 1)
			break;
	if (f)
		fclose(f);
	return n;
}

/* Files that other contexts still hold are closed soon: a child that was killed, a socket. */
static void wait_until_unused(long users)
{
	int64_t begun = operations_now_ms();

	while (number_in("/sys/module/auxtrace/refcnt", "%ld") != users) {
		if (operations_now_ms() - begun > 20000)
			end("no session is left, but users of the module", users);
		usleep(1000);
	}
}

static void reload(void)
{
	int fd = open(MODULE, O_RDONLY | O_CLOEXEC);

	close(FD_HOLDER);
	wait_until_unused(0);
	if (fd < 0 || syscall(SYS_delete_module, "auxtrace", O_NONBLOCK))
		end("unload", errno);
	if (syscall(SYS_finit_module, fd, "", 0))
		end("load", errno);
	close(fd);
	coverage_locate();
	if (open_session(FD_HOLDER))
		end("open after a load", errno);
}

/* What sessions had is returned: locked memory, and perf's hardware on each CPU. */
static void check_nothing_left(void)
{
	struct perf_event_attr attr = { .type = pt_type, .size = sizeof(attr), .disabled = 1 };
	uint64_t first_cpu = 1;
	struct auxtrace_setup setup = {
		.size = sizeof(setup), .flags = AUXTRACE_SETUP_USER,
		.cpus = (uintptr_t)&first_cpu, .cpus_len = sizeof(first_cpu),
		.aux_size = MEMLOCK / 2, .data_size = MEMLOCK / 4,
	};
	int fd;

	wait_until_unused(1);
	/* More than half of what the user may lock: a session that is gone is charged no more. */
	no_capabilities(1ULL << CAP_IPC_LOCK);
	if (open_session(FD_SESSION) || ioctl(FD_SESSION, AUXTRACE_IOC_SETUP, &setup))
		end("SETUP, and no session is left", errno);
	no_capabilities(0);
	close(FD_SESSION);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd < 0 && errno == EBUSY)
			end("perf is kept off, and no session is left, on CPU", cpu);
		if (fd >= 0)
			close(fd);
	}
}

void operations_end(bool do_reload)
{
	static unsigned int programs;

	for (unsigned int i = 0; i < FILES; i++)
		close(FD_SESSION + i);
	close(FD_PERF);
	drain_sockets();
	close(FD_SESSION);
	clear_cells(cells, CELLS * CELL);
	for (unsigned int cpu = 1; cpu < CPUS && offline; cpu++)
		if (offline & 1U << cpu)
			set_online(cpu, true);
	forks = 0;
	if (!(++programs % 256) || do_reload)
		check_nothing_left();
	if (do_reload)
		reload();
	want_reload = false;
}
