// SPDX-License-Identifier: GPL-2.0-only
#include "fakedev.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <liburing.h>

struct fakedev fake;

int __real_open(const char *path, int flags, ...);
int __real_ioctl(int fd, unsigned long nr, ...);
void *__real_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __real_munmap(void *addr, size_t len);

int __wrap_open(const char *path, int flags, ...);
int __wrap_ioctl(int fd, unsigned long nr, ...);
void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset);
int __wrap_munmap(void *addr, size_t len);

int __real_openat(int dirfd, const char *path, int flags, ...);
int __wrap_openat(int dirfd, const char *path, int flags, ...);
int __real_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);
int __wrap_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags);
int __real_io_uring_submit(struct io_uring *ring);
int __wrap_io_uring_submit(struct io_uring *ring);

int __real_clock_gettime(clockid_t clock, struct timespec *ts);
int __wrap_clock_gettime(clockid_t clock, struct timespec *ts);

ssize_t __real_pwrite(int fd, const void *buf, size_t count, off_t offset);
ssize_t __wrap_pwrite(int fd, const void *buf, size_t count, off_t offset);

int __real_unlinkat(int dirfd, const char *path, int flags);
int __wrap_unlinkat(int dirfd, const char *path, int flags);

int __real_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);
int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags);

ssize_t __real_pread(int fd, void *buf, size_t count, off_t offset);
ssize_t __wrap_pread(int fd, void *buf, size_t count, off_t offset);

int __wrap_statfs(const char *path, struct statfs *buf);

ssize_t __real_readlink(const char *path, char *buf, size_t size);
ssize_t __wrap_readlink(const char *path, char *buf, size_t size);

DIR *__real_fdopendir(int fd);
DIR *__wrap_fdopendir(int fd);
struct dirent *__real_readdir(DIR *dir);
struct dirent *__wrap_readdir(DIR *dir);

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__real_fdopen(int fd, const char *mode);
FILE *__wrap_fdopen(int fd, const char *mode);
int __real_fclose(FILE *f);
int __wrap_fclose(FILE *f);

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *s);
char *__wrap_strdup(const char *s);

/* How many file descriptors are open, of the first ones. */
static int open_files(void)
{
	int n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static int files_before;

int fake_new(void **state)
{
	(void)state;
	files_before = open_files();
	memset(&fake, 0, sizeof(fake));
	fake.fd = -1;
	fake.really = "/dev/null";
	fake.info = (struct auxtrace_info){
		.size = sizeof(fake.info),
		.out_abi_version = AUXTRACE_ABI_VERSION,
		.out_pmus = 1,
		.out_may = AUXTRACE_MAY_TRACE,
		.out_nr_cpu_ids = FAKE_CPUS,
		.out_page_size = PAGE,
		.out_clock = AUXTRACE_CLOCK_TSC,
		.out_clock_hz = 2000000000,
		.out_time_zero = 1000,
		.out_time_mult = 512,
		.out_time_shift = 10,
	};
	for (uint32_t i = 0; i < 2; i++)
		fake.caps.pmu[i] = (struct auxtrace_cap_pmu){
			.cap = { .tag = AUXTRACE_CAP_PMU(i), .size = sizeof(fake.caps.pmu[i]) },
			.pmu = i,
		};
	fake.caps.bts.cap = (struct auxtrace_cap){ AUXTRACE_CAP_INTEL_BTS, sizeof(fake.caps.bts) };
	fake.caps.pt = (struct auxtrace_cap_intel_pt){
		.cap = { AUXTRACE_CAP_INTEL_PT, sizeof(fake.caps.pt) },
		.config = 0xffffffff & ~(1ull << 12 | 1ull << 5 | 1ull << 4),
		.mtc_periods = 1 << 0 | 1 << 3 | 1 << 6,
		.cyc_thresholds = 0xff,
		.psb_periods = 0x3f,
		.nr_ranges = 2,
		.flags = AUXTRACE_PT_CR3_FILTER,
	};
	fake.caps.x86 = (struct auxtrace_cap_x86){
		.cap = { AUXTRACE_CAP_X86, sizeof(fake.caps.x86) },
		.family = 6,
		.model = 94,
		.stepping = 3,
		.tsc_art_num = 84,
		.tsc_art_den = 2,
		.max_nonturbo_ratio = 32,
	};
	fake.cr3 = 0x1000;
	fake.released = UINT32_MAX;
	return 0;
}

int fake_end(void **state)
{
	(void)state;
	for (unsigned int c = 0; c < FAKE_CPUS; c++) {
		struct fake_channel *ch = &fake.channel[c];

		if (!ch->used)
			continue;
		__real_munmap(ch->status, PAGE);
		__real_munmap(ch->user, PAGE);
		__real_munmap(ch->aux, fake.setup.aux_size);
		if (ch->data)
			__real_munmap(ch->data, fake.setup.data_size);
		for (int i = 0; i < (ch->data ? 4 : 3); i++)
			close(ch->fd[i]);
	}
	/* The code under test has closed what it has opened. */
	assert_int_equal(open_files(), files_before);
	return 0;
}

pid_t fake_child(int *pidfd)
{
	pid_t parent = getpid();
	pid_t pid = fork();

	if (!pid) {
		/* A test that fails leaves no child behind that keeps the output open. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		while (getppid() == parent)
			pause();
		_exit(0);
	}
	assert_true(pid > 0);
	if (!pidfd)
		return pid;
	*pidfd = syscall(SYS_pidfd_open, pid, 0);
	if (*pidfd < 0 && errno == ENOSYS) {
		fake_child_end(pid);
		print_message("pidfd_open(2) is unknown here (valgrind 3.19 lacks it)\n");
		skip();
	}
	assert_true(*pidfd >= 0);
	return pid;
}

void fake_child_end(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* Where a file of the kernel's, or one of a process, is found in this test. */
static const char *proc_file(const char *path, char *buf, size_t size)
{
	static const char *const files[] = {
		"/proc/kcore", "/proc/kallsyms", "/proc/modules", "/sys/kernel/security/lockdown",
		"/sys/devices/system/cpu/online",
	};

	for (unsigned int i = 0; fake.proc && i < sizeof(files) / sizeof(*files); i++)
		if (!strcmp(path, files[i])) {
			snprintf(buf, size, "%s%s", fake.proc, strrchr(path, '/'));
			return buf;
		}
	if (!fake.process || strncmp(path, "/proc/", 6) || !isdigit((unsigned char)path[6]))
		return path;
	snprintf(buf, size, "%s%s", fake.process, strrchr(path, '/'));
	return buf;
}

static bool no_memory(void)
{
	if (!fake.fail_alloc || --fake.fail_alloc)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return no_memory() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return no_memory() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return no_memory() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return no_memory() ? NULL : __real_strdup(s);
}

ssize_t __wrap_readlink(const char *path, char *buf, size_t size)
{
	char other[256];
	size_t len;

	if (!strcmp(path, "/proc/self/ns/pid"))
		return snprintf(buf, size, "%s", fake.pid_namespace ?: "pid:[4026531836]");
	if (!fake.proc_self || strcmp(path, "/proc/self"))
		return __real_readlink(proc_file(path, other, sizeof(other)), buf, size);
	len = strlen(fake.proc_self);
	if (!len) {
		errno = ENOENT;
		return -1;
	}
	assert_true(len <= size);
	/* readlink(2) ends the text with no 0. */
	memset(buf, '7', size);
	memcpy(buf, fake.proc_self, len);
	return len;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	char buf[256];

	if (fake.fdinfo && !strncmp(path, "/proc/self/fdinfo/", strlen("/proc/self/fdinfo/")))
		path = fake.fdinfo;
	return __real_fopen(proc_file(path, buf, sizeof(buf)), mode);
}

int __wrap_statfs(const char *path, struct statfs *buf)
{
	assert_string_equal(path, "/sys/kernel/security");
	if (!fake.securityfs) {
		errno = ENOENT;
		return -1;
	}
	*buf = (struct statfs){ .f_type = *fake.securityfs };
	return 0;
}

int __wrap_open(const char *path, int flags, ...)
{
	char buf[256];
	va_list ap;
	int mode;

	/* Nothing that a process opens here goes to the programs it starts. */
	assert_true(flags & O_CLOEXEC);
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (fake.kcore_errno && !strcmp(path, "/proc/kcore")) {
		errno = fake.kcore_errno;
		return -1;
	}
	if (strcmp(path, "/dev/auxtrace"))
		return __real_open(proc_file(path, buf, sizeof(buf)), flags, mode);
	if (fake.open_errno) {
		errno = fake.open_errno;
		return -1;
	}
	return fake.fd = __real_open(fake.really, flags);
}

static bool no_files(void)
{
	if (!fake.fail_open || --fake.fail_open)
		return false;
	errno = EMFILE;
	return true;
}

DIR *__wrap_fdopendir(int fd)
{
	if (!fake.no_listing)
		return __real_fdopendir(fd);
	errno = ENOMEM;
	return NULL;
}

struct dirent *__wrap_readdir(DIR *dir)
{
	if (!fake.fail_readdir || --fake.fail_readdir)
		return __real_readdir(dir);
	errno = EIO;
	return NULL;
}

FILE *__wrap_fdopen(int fd, const char *mode)
{
	if (!fake.no_stream)
		return __real_fdopen(fd, mode);
	errno = ENOMEM;
	return NULL;
}

int __wrap_fclose(FILE *f)
{
	bool written = (fcntl(fileno(f), F_GETFL) & O_ACCMODE) != O_RDONLY;
	int ret = __real_fclose(f);

	if (!written || !fake.fail_close || --fake.fail_close)
		return ret;
	errno = ENOSPC;
	return EOF;
}

int __wrap_openat(int dirfd, const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	assert_true(flags & O_CLOEXEC);
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (no_files())
		return -1;
	if (fake.no_direct && flags & O_DIRECT) {
		errno = EINVAL;
		return -1;
	}
	if (fake.descriptor_0 && !strcmp(path, fake.descriptor_0))
		close(0);
	return __real_openat(dirfd, path, flags, mode);
}

int __wrap_io_uring_queue_init(unsigned int entries, struct io_uring *ring, unsigned int flags)
{
	return fake.no_uring ? -ENOSYS : __real_io_uring_queue_init(entries, ring, flags);
}

ssize_t __wrap_pwrite(int fd, const void *buf, size_t count, off_t offset)
{
	if (fake.on_write)
		fake.on_write();
	if (fake.refuse_direct && fcntl(fd, F_GETFL) & O_DIRECT) {
		errno = EINVAL;
		return -1;
	}
	if (fake.write_errno) {
		errno = fake.write_errno;
		fake.write_errno = 0;
		return -1;
	}
	return fake.write_nothing ? 0 : __real_pwrite(fd, buf, count, offset);
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	static time_t seconds;

	if (!fake.clock_step)
		return __real_clock_gettime(clock, ts);
	if (fake.on_clock)
		fake.on_clock();
	*ts = (struct timespec){ .tv_sec = seconds += fake.clock_step };
	return 0;
}

int __wrap_unlinkat(int dirfd, const char *path, int flags)
{
	if (!fake.rmdir_errno || flags != AT_REMOVEDIR)
		return __real_unlinkat(dirfd, path, flags);
	errno = fake.rmdir_errno;
	return -1;
}

int __wrap_linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (!fake.link_errno)
		return __real_linkat(from_dir, from, to_dir, to, flags);
	errno = fake.link_errno;
	return -1;
}

ssize_t __wrap_pread(int fd, void *buf, size_t count, off_t offset)
{
	static const char zeros[PAGE];
	static char last[PAGE];
	ssize_t got;

	if (fake.read_errno && count >= PAGE) {
		errno = fake.read_errno;
		return -1;
	}
	if (fake.fail_read && count >= PAGE && !--fake.fail_read) {
		errno = EIO;
		return -1;
	}
	if (fake.most_read && count > fake.most_read)
		count = fake.most_read;
	got = __real_pread(fd, buf, count, offset);
	if (fake.stale_holes && got == PAGE) {
		if (memcmp(buf, zeros, PAGE))
			memcpy(last, buf, PAGE);
		else
			memcpy(buf, last, PAGE);
	}
	return got;
}

/* Some writes come back with a part only, as on a file system that is nearly full. */
int __wrap_io_uring_submit(struct io_uring *ring)
{
	if (fake.uring_submits && !--fake.uring_submits)
		return fake.uring_errno ? -fake.uring_errno : -EIO;
	for (unsigned int i = ring->sq.sqe_head; i != ring->sq.sqe_tail; i++) {
		struct io_uring_sqe *sqe = &ring->sq.sqes[i & *ring->sq.kring_mask];

		/* A write to where there is nothing fails, as one that is refused does. */
		if (fake.refuse_direct)
			sqe->fd = -1;
		if (fake.uring_writes > 0 && sqe->len > PAGE) {
			fake.uring_writes--;
			sqe->len = PAGE;
		}
	}
	return __real_io_uring_submit(ring);
}

static void *region(struct fake_channel *ch, int i, size_t size)
{
	void *p;

	ch->fd[i] = memfd_create("fake", MFD_CLOEXEC);
	assert_return_code(ftruncate(ch->fd[i], size), errno);
	p = __real_mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ch->fd[i], 0);
	assert_true(p != MAP_FAILED);
	return p;
}

static void do_info(struct auxtrace_info *arg)
{
	struct auxtrace_info asked = *arg;

	assert_int_equal(asked.size, sizeof(*arg));
	assert_true(asked.caps_len >= sizeof(fake.caps));
	*arg = fake.info;
	arg->flags = asked.flags;
	arg->caps = asked.caps;
	arg->caps_len = asked.caps_len;
	if (!arg->out_caps_len)
		arg->out_caps_len = sizeof(fake.caps);
	memset((void *)(uintptr_t)asked.caps, 0, asked.caps_len);
	memcpy((void *)(uintptr_t)asked.caps, &fake.caps, sizeof(fake.caps));
	for (size_t at = sizeof(fake.caps); fake.many_caps && at < asked.caps_len;
	     at += sizeof(struct auxtrace_cap))
		*(struct auxtrace_cap *)(uintptr_t)(asked.caps + at) =
			(struct auxtrace_cap) { .tag = 77, .size = sizeof(struct auxtrace_cap) };
}

static int do_setup(struct auxtrace_setup *arg)
{
	assert_int_equal(arg->size, sizeof(*arg));
	assert_true(arg->cpus_len <= sizeof(fake.setup_cpus));
	fake.setup = *arg;
	memcpy(fake.setup_cpus, (void *)(uintptr_t)arg->cpus, arg->cpus_len);
	for (unsigned int c = 0; c < FAKE_CPUS; c++) {
		struct fake_channel *ch = &fake.channel[c];

		if (!(fake.setup_cpus[0] >> c & 1))
			continue;
		ch->used = true;
		ch->status = region(ch, 0, PAGE);
		ch->user = region(ch, 1, PAGE);
		ch->aux = region(ch, 2, arg->aux_size);
		if (arg->data_size)
			ch->data = region(ch, 3, arg->data_size);
		ch->status->data_size = arg->data_size;
		ch->status->slots = arg->slots ? arg->slots : 1;
		ch->status->cpu = c;
		ch->status->aux_size = arg->aux_size;
	}
	return 0;
}

static int do_control(struct auxtrace_control *arg)
{
	struct auxtrace_effect *effects = (void *)(uintptr_t)arg->effects;
	uint8_t set = fake.setup_cpus[0];
	unsigned int count = 0;

	assert_int_equal(arg->size, sizeof(*arg));
	assert_int_equal(arg->flags, 0);
	if (arg->effects_len)
		assert_int_equal(arg->effect_size, sizeof(*effects));
	fake.control = *arg;
	memset(fake.control_cpus, 0, sizeof(fake.control_cpus));
	if (arg->cpus_len) {
		memcpy(fake.control_cpus, (void *)(uintptr_t)arg->cpus, arg->cpus_len);
		set = fake.control_cpus[0];
		if (set & ~fake.setup_cpus[0]) {
			errno = EINVAL;
			return -1;
		}
	}
	for (unsigned int c = 0; c < FAKE_CPUS; c++) {
		if (!(set >> c & 1))
			continue;
		if (count < arg->effects_len)
			effects[count++] = (struct auxtrace_effect){
				.cpu = c, .flags = AUXTRACE_EFFECT_CHANGED, .position = 100 + c };
	}
	return 0;
}

static int do_output(struct auxtrace_output *arg)
{
	assert_int_equal(arg->size, sizeof(*arg));
	assert_int_equal(arg->flags, 0);
	fake.output = *arg;
	memset(fake.output_cpus, 0, sizeof(fake.output_cpus));
	if (arg->cpus_len)
		memcpy(fake.output_cpus, (void *)(uintptr_t)arg->cpus, arg->cpus_len);
	if (!fake.setup.data_size || fake.output_cpus[0] & ~fake.setup_cpus[0]) {
		errno = EINVAL;
		return -1;
	}
	for (unsigned int c = 0; c < FAKE_CPUS; c++)
		if (!arg->cpus_len || fake.output_cpus[0] >> c & 1)
			if (fake.channel[c].used)
				fake.channel[c].status->data_paused = arg->pause;
	return 0;
}

static int do_snapshot(struct auxtrace_snapshot *arg)
{
	struct auxtrace_cut *cuts = (void *)(uintptr_t)arg->cuts;

	assert_int_equal(arg->size, sizeof(*arg));
	if (arg->cuts_len)
		assert_int_equal(arg->cut_size, sizeof(*cuts));
	fake.snapshot = *arg;
	for (unsigned int c = 0; c < FAKE_CPUS; c++) {
		const struct auxtrace_status_page *page = fake.channel[c].status;
		struct auxtrace_cut cut;

		if (!fake.channel[c].used)
			continue;
		cut = (struct auxtrace_cut){
			.cpu = c, .slot = page->slot, .aux_begin = page->slot_begin,
			.aux_end = page->produced, .data_begin = page->data_slot_begin,
			.data_end = page->data_head, .window = page->windows, .time = 7000 + c,
		};
		arg->out_slot = page->slot;
		if (fake.on_snapshot)
			fake.on_snapshot(c, &cut);
		if (arg->out_count < arg->cuts_len)
			cuts[arg->out_count] = cut;
		arg->out_count++;
	}
	return 0;
}

static int do_trigger(struct auxtrace_trigger *arg)
{
	assert_int_equal(arg->size, sizeof(*arg));
	assert_int_equal(arg->reserved, 0);
	fake.trigger = *arg;
	if (fake.on_trigger)
		fake.on_trigger();
	arg->out_id = ++fake.triggers;
	return 0;
}

static int do_trigger_state(struct auxtrace_trigger_state *arg, bool del)
{
	uint32_t id = arg->id;

	assert_int_equal(arg->size, sizeof(*arg));
	if (!id || id > fake.triggers) {
		errno = ENOENT;
		return -1;
	}
	if (del) {
		assert_int_equal(arg->flags, 0);
		fake.deleted = id;
	} else if (fake.on_trigger_read) {
		fake.on_trigger_read();
	}
	if (arg->flags & AUXTRACE_TRIGGER_REARM)
		fake.rearmed = id;
	*arg = fake.state;
	arg->id = id;
	return 0;
}

int __wrap_ioctl(int fd, unsigned long nr, ...)
{
	struct auxtrace_release *release;
	struct auxtrace_status *status;
	struct auxtrace_task *task;
	va_list ap;
	void *arg;

	va_start(ap, nr);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd != fake.fd)
		return __real_ioctl(fd, nr, arg);
	fake.ioctls++;
	if (fake.eintr) {
		fake.eintr--;
		errno = EINTR;
		return -1;
	}
	if (nr == fake.fail.nr && (fake.fail.err || fake.fail.ret)) {
		errno = fake.fail.err;
		return fake.fail.err ? -1 : fake.fail.ret;
	}
	switch (nr) {
	case AUXTRACE_IOC_INFO:
		do_info(arg);
		return 0;
	case AUXTRACE_IOC_SETUP:
		if (fake.on_setup)
			fake.on_setup();
		return do_setup(arg);
	case AUXTRACE_IOC_START:
	case AUXTRACE_IOC_STOP:
		assert_int_equal(((struct auxtrace_start *)arg)->size, sizeof(struct auxtrace_start));
		return 0;
	case AUXTRACE_IOC_PAUSE:
	case AUXTRACE_IOC_RESUME:
		return do_control(arg);
	case AUXTRACE_IOC_PAUSE_OUTPUT:
		return do_output(arg);
	case AUXTRACE_IOC_SNAPSHOT:
		return do_snapshot(arg);
	case AUXTRACE_IOC_RELEASE:
		release = arg;
		assert_int_equal(release->size, sizeof(*release));
		fake.release = *release;
		if (fake.on_release)
			fake.on_release();
		if (release->flags)
			return 0;
		fake.released = release->slot;
		return 0;
	case AUXTRACE_IOC_TRIGGER_ADD:
		return do_trigger(arg);
	case AUXTRACE_IOC_TRIGGER_DEL:
	case AUXTRACE_IOC_TRIGGER_READ:
		return do_trigger_state(arg, nr == AUXTRACE_IOC_TRIGGER_DEL);
	case AUXTRACE_IOC_STATUS:
		status = arg;
		assert_int_equal(status->size, sizeof(*status));
		if (fake.on_status)
			fake.on_status();
		status->out_state = AUXTRACE_STATE_STOPPED;
		return 0;
	case AUXTRACE_IOC_TASK:
		task = arg;
		assert_int_equal(task->size, sizeof(*task));
		fake.task_pid = task->pid;
		fake.task_calls++;
		if (fake.on_task)
			fake.on_task();
		if (fake.task_errno) {
			errno = fake.task_errno;
			return -1;
		}
		task->out_context = fake.cr3;
		task->out_context_mask = 0xffffffffff000ull;
		return 0;
	}
	errno = ENOTTY;
	return -1;
}

void *__wrap_mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	unsigned int cpu = (uint64_t)offset >> 20, i = (uint64_t)offset >> 16 & 0xf;
	static const int rights[] = { PROT_READ, PROT_READ | PROT_WRITE, PROT_READ, PROT_READ };
	size_t sizes[] = { PAGE, PAGE, fake.setup.aux_size, fake.setup.data_size };

	if (fd < 0 || fd != fake.fd)
		return __real_mmap(addr, len, prot, flags, fd, offset);
	assert_true(cpu < FAKE_CPUS && fake.channel[cpu].used && i < (fake.setup.data_size ? 4 : 3));
	assert_int_equal(flags, MAP_SHARED);
	assert_int_equal(prot, rights[i]);
	assert_int_equal(len, sizes[i]);
	if (++fake.mmaps == (unsigned int)fake.fail_mmap) {
		errno = EAGAIN;
		return MAP_FAILED;
	}
	return __real_mmap(addr, len, prot, flags, fake.channel[cpu].fd[i], 0);
}

int __wrap_munmap(void *addr, size_t len)
{
	fake.unmaps++;
	return __real_munmap(addr, len);
}
