// SPDX-License-Identifier: GPL-2.0-only
/*
 * What users without a capability may do, and each thing that a hostile one may not: docs/security.md
 * has the list. A user is a child of the test that gives up all its rights.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "pmu.h"
#include "records.h"
#include "ring.h"
#include "setup.h"
#include "trace.h"
#include "trigger.h"

#define PARAMETER	"/sys/module/auxtrace/parameters/unprivileged"
#define SUID_DUMPABLE	"/proc/sys/fs/suid_dumpable"
#define DEVICE		"/dev/auxtrace"
#define USER		1000
#define OTHER		1001
#define SECONDS		60

/* ---- users ----------------------------------------------------------------------- */

static int become(uid_t uid)
{
	return setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

struct call {
	uid_t uid;
	int (*fn)(void *arg);
	void *arg;
};

static int call_as(void *arg)
{
	const struct call *call = arg;

	return become(call->uid) ? 110 : call->fn(call->arg);
}

/* Runs @fn as a user, with all that the process has open. Its result. */
static int as(uid_t uid, int (*fn)(void *arg), void *arg)
{
	return child_run(call_as, &(struct call){ uid, fn, arg });
}

/* Lets users have @count sessions. */
static void allow(const char *count)
{
	assert_int_equal(file_write(PARAMETER, count), 0);
}

static int begin(void **state)
{
	/* Kernels before 5.16 let users lock 64 KiB by default. */
	const struct rlimit memlock = { 256 << 20, 256 << 20 };

	return setrlimit(RLIMIT_MEMLOCK, &memlock) || chmod(DEVICE, 0666) || file_write(PARAMETER, "8") ? -1 : at_group_setup(state);
}

static int end(void **state)
{
	return chmod(DEVICE, 0600) || file_write(PARAMETER, "0") ? -1 : 0;
}

/* ---- attempts -------------------------------------------------------------------- */

/* A session of the caller's own process, which a user may have. */
static struct session own(void)
{
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_PROCESS,
			space_for(4 * page_size));
	return s;
}

/* The errno of SETUP on a file of its own, which is closed again. */
static int setup_errno(void *session)
{
	struct session *s = session;
	int ret;

	s->setup.cpus = (uintptr_t)&s->cpus;
	s->fd = at_open_plain();
	if (s->fd < 0)
		return -s->fd;
	ret = at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
	close(s->fd);
	return -ret;
}

static int user_setup(struct session s)
{
	return as(USER, setup_errno, &s);
}

static int setup_of(pid_t pid, uint32_t scope)
{
	struct session s = own();

	s.setup.flags = (s.setup.flags & ~AUXTRACE_SETUP_PROCESS) | scope;
	s.setup.tid = pid;
	return user_setup(s);
}

/* May a user trace process @pid? The same for a thread of it. */
static int setup_of_process(pid_t pid)
{
	int process = setup_of(pid, AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS);

	assert_int_equal(setup_of(pid, AUXTRACE_SETUP_THREAD), process);
	return process;
}

/* ---- targets --------------------------------------------------------------------- */

/* A process that has called @fn, and sleeps. @fn: 0 if it has succeeded. */
static pid_t target(int (*fn)(void))
{
	int ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(SECONDS * slowness);
		if (fn() || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return pid;
}

static void target_ends(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static int check_target(int (*fn)(void))
{
	pid_t pid = target(fn);
	int ret = setup_of_process(pid);

	target_ends(pid);
	return ret;
}

static int is_user(void)
{
	return become(USER);
}

static int is_other(void)
{
	return become(OTHER);
}

static int is_root(void)
{
	return 0;
}

static int is_not_dumpable(void)
{
	return become(USER) || prctl(PR_SET_DUMPABLE, 0);
}

static int can_be_other_again(void)
{
	return setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(USER, USER, OTHER) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

static int has_real_id_of_other(void)
{
	return setgroups(0, NULL) || setresgid(USER, USER, USER) || setresuid(OTHER, USER, USER) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

static int has_another_group(void)
{
	return setgroups(0, NULL) || setresgid(USER, USER, OTHER) || setresuid(USER, USER, USER) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

static int has_a_capability(void)
{
	return prctl(PR_SET_KEEPCAPS, 1) || become(USER) || caps_keep(CAP(NET_RAW)) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

static int map_ids(pid_t pid, const char *uids, const char *gids)
{
	char path[64];
	int err;

	snprintf(path, sizeof(path), "/proc/%d/uid_map", pid);
	err = file_write(path, uids);
	snprintf(path, sizeof(path), "/proc/%d/gid_map", pid);
	return err ?: file_write(path, gids);
}

/* In a user namespace that the user has created, and in one in that. */
static int is_in_a_namespace_of_its_own(void)
{
	return become(USER) || unshare(CLONE_NEWUSER) || prctl(PR_SET_DUMPABLE, 1);
}

static int is_in_two_namespaces_of_its_own(void)
{
	return is_in_a_namespace_of_its_own() || file_write("/proc/self/setgroups", "deny") ||
	       map_ids(getpid(), "1000 1000 1", "1000 1000 1") || unshare(CLONE_NEWUSER) ||
	       prctl(PR_SET_DUMPABLE, 1);
}

/* In a namespace that root has created, with the user's IDs. */
static int is_in_a_namespace_of_root(void)
{
	int go[2], status;
	pid_t parent = getpid(), helper;
	char byte;

	if (pipe2(go, O_CLOEXEC))
		return 1;
	helper = fork();
	if (!helper)
		_exit(read(go[0], &byte, 1) != 1 || map_ids(parent, "0 0 65536", "0 0 65536"));
	return unshare(CLONE_NEWUSER) || write(go[1], "", 1) != 1 ||
	       waitpid(helper, &status, 0) != helper || status || become(USER);
}

static void whose_processes_a_user_may_trace(void **state)
{
	pid_t pid;

	assert_int_equal(setup_of_process(0), 0);
	assert_int_equal(check_target(is_user), 0);
	assert_int_equal(check_target(is_other), EACCES);
	assert_int_equal(check_target(is_root), EACCES);
	assert_int_equal(setup_of_process(1), EACCES);
	assert_int_equal(check_target(is_not_dumpable), EACCES);
	assert_int_equal(check_target(can_be_other_again), EACCES);
	assert_int_equal(check_target(has_real_id_of_other), EACCES);
	assert_int_equal(check_target(has_another_group), EACCES);
	assert_int_equal(check_target(has_a_capability), EACCES);
	/* kthreadd runs no user code. */
	assert_int_equal(setup_of_process(2), ENXIO);
	pid = target(is_user);
	target_ends(pid);
	assert_int_equal(setup_of_process(pid), ESRCH);
	/* With the capability it is as ever. */
	pid = target(is_other);
	for (int i = 0; i < 2; i++) {
		struct session s = own();

		s.setup.tid = i ? 1 : pid;
		assert_int_equal(setup_errno(&s), 0);
	}
	target_ends(pid);
}

static int from_a_namespace(void *session)
{
	CHECK(!unshare(CLONE_NEWUSER));
	return setup_errno(session);
}

static void user_namespaces_give_no_rights_outside(void **state)
{
	struct session s = own();
	pid_t pid;

	if (child_run(from_a_namespace, &s) == 100)
		skip_test("this kernel has no user namespaces");
	assert_int_equal(check_target(is_in_a_namespace_of_its_own), 0);
	assert_int_equal(check_target(is_in_two_namespaces_of_its_own), 0);
	assert_int_equal(check_target(is_in_a_namespace_of_root), EACCES);
	/* From within: the own process, and not one outside that has the same IDs. */
	s = own();
	assert_int_equal(as(USER, from_a_namespace, &s), 0);
	pid = target(is_user);
	s.setup.tid = pid;
	assert_int_equal(as(USER, from_a_namespace, &s), EACCES);
	s.setup.tid = 0;
	s.setup.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE;
	assert_int_equal(as(USER, from_a_namespace, &s), EACCES);
	target_ends(pid);
}

/* ---- what is refused altogether -------------------------------------------------- */

static int may_of(void *may)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open_plain();

	CHECK(fd >= 0 && !at_ioctl(fd, AUXTRACE_IOC_INFO, &info));
	CHECK(info.out_may == *(uint32_t *)may);
	info.flags = AUXTRACE_INFO_PROBE;
	CHECK(at_ioctl(fd, AUXTRACE_IOC_INFO, &info) == -EACCES);
	return 0;
}

static int open_errno(void *unused)
{
	int fd = at_open_plain();

	return fd < 0 ? -fd : 0;
}

static void nothing_is_allowed_unless_the_administrator_says_so(void **state)
{
	uint32_t own_only = AUXTRACE_MAY_TRACE_OWN, none = 0;

	assert_int_equal(as(USER, may_of, &own_only), 0);
	allow("0");
	assert_int_equal(as(USER, may_of, &none), 0);
	assert_int_equal(user_setup(own()), EACCES);
	allow("8");
	assert_int_equal(user_setup(own()), 0);
	assert_int_equal(chmod(DEVICE, 0600), 0);
	assert_int_equal(as(USER, open_errno, NULL), EACCES);
	assert_int_equal(chmod(DEVICE, 0666), 0);
}

static void a_session_of_a_user_is_of_user_code_of_some_threads(void **state)
{
	struct session s = own();

	s.setup.flags |= AUXTRACE_SETUP_KERNEL;
	assert_int_equal(user_setup(s), EACCES);
	s.setup.flags &= ~AUXTRACE_SETUP_USER;
	assert_int_equal(user_setup(s), EACCES);
	s = own();
	s.setup.flags &= ~AUXTRACE_SETUP_PROCESS;
	assert_int_equal(user_setup(s), EACCES);
	s = own();
	s.cpus = all_cpus;
	assert_int_equal(user_setup(s), 0);
	/* What is wrong in itself is said first. */
	s.setup.aux_size = 1;
	s.setup.flags |= AUXTRACE_SETUP_KERNEL;
	assert_int_equal(user_setup(s), EINVAL);
}

static int tries_triggers(void *unused)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	struct session s = own();
	uint32_t id;

	s.setup.cpus = (uintptr_t)&s.cpus;
	s.fd = at_open_plain();
	CHECK(!at_ioctl(s.fd, AUXTRACE_IOC_SETUP, &s.setup));
	for (uint32_t kind = AUXTRACE_TRIGGER_PERF; kind <= AUXTRACE_TRIGGER_TIMER; kind++) {
		struct auxtrace_trigger t = { .size = sizeof(t), .kind = kind };

		t.action = AUXTRACE_ACTION_PAUSE;
		t.bound_ns = 10000;
		CHECK(at_trigger_add(s.fd, t, &id) == -EACCES);
		t.pid = getpid();
		CHECK(at_trigger_add(s.fd, t, &id) == -EACCES);
	}
	/* A CR3 is a physical address. */
	CHECK(at_ioctl(s.fd, AUXTRACE_IOC_TASK, &task) == -EACCES);
	task.pid = getpid();
	CHECK(at_ioctl(s.fd, AUXTRACE_IOC_TASK, &task) == -EACCES);
	return 0;
}

static void a_user_adds_no_trigger_and_asks_for_no_CR3(void **state)
{
	assert_int_equal(as(USER, tries_triggers, NULL), 0);
}

/* ---- what a user gets ------------------------------------------------------------ */

struct regions {
	const struct auxtrace_status_page *status;
	const uint8_t *aux, *data;
};

static const void *map(const struct session *s, int cpu, unsigned int region, size_t size)
{
	void *p = mmap(NULL, size, PROT_READ, MAP_SHARED, s->fd, AUXTRACE_MMAP_OFFSET(cpu, region));

	return p == MAP_FAILED ? NULL : p;
}

/* SETUP with the regions of the first CPU; 0 or an errno. */
static int open_own(struct session *s, struct regions *r)
{
	int ret;

	s->setup.cpus = (uintptr_t)&s->cpus;
	s->fd = at_open_plain();
	ret = s->fd < 0 ? s->fd : at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
	if (ret)
		return -ret;
	r->status = map(s, first_cpu, AUXTRACE_REGION_STATUS, page_size);
	r->aux = map(s, first_cpu, AUXTRACE_REGION_AUX, s->setup.aux_size);
	r->data = s->setup.data_size ? map(s, first_cpu, AUXTRACE_REGION_DATA, s->setup.data_size) : NULL;
	return r->status && r->aux && !r->data == !s->setup.data_size ? 0 : EFAULT;
}

/* Threads of others that run on the CPU meanwhile. */
static int makes_noise(void)
{
	if (become(OTHER) || cpu_pin(first_cpu))
		return 1;
	if (fork())
		return 0;
	alarm(SECONDS * slowness);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		load_run(50);
		usleep(100);
	}
}

/* How often this thread has slept. */
static long sleeps(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? -1 : usage.ru_nvcsw;
}

static int traces_itself(void *unused)
{
	const struct auxtrace_record_header *h;
	struct auxtrace_status st;
	struct session s = own();
	unsigned int windows = 0;
	struct walk w = { 0 };
	struct regions r;
	uint64_t at;

	/* All that is traced fits. */
	s.setup.flags |= AUXTRACE_SETUP_DESCENDANTS;
	s.setup.aux_size = space_for(1 << 20);
	s.setup.data_size = 1 << 18;
	CHECK(!open_own(&s, &r));
	CHECK(!cpu_pin(first_cpu));
	CHECK(!at_start(s.fd));
	for (int i = 0; i < 20; i++) {
		long slept = sleeps();

		load_run(100);
		/* On a busy host the timer may fire before the thread has slept: no window ends then. */
		while (sleeps() == slept)
			usleep(200);
		CHECK(!at_status(s.fd, AUXTRACE_STATUS_SYNC, &st));
	}
	CHECK(at_control(s.fd, AUXTRACE_IOC_PAUSE, 0, NULL, 0) == 0);
	CHECK(at_control(s.fd, AUXTRACE_IOC_RESUME, 0, NULL, 0) == 0);
	load_run(100);
	CHECK(!at_stop(s.fd));
	CHECK(!at_status(s.fd, 0, &st));
	CHECK(st.out_members == 1);
	CHECK(r.status->produced > 0 && r.status->produced <= s.setup.aux_size);
	/* User code, of user addresses. */
	trace_walk(&w, r.aux, r.status->produced, false);
	CHECK(!w.error && w.into_user > 20);
	CHECK(!w.into_kernel && !w.kernel_addresses);
	/* No other thread is named, though others run on the CPU. */
	for (at = 0; at < r.status->data_head; at += h->size) {
		const struct auxtrace_record_end *e;

		h = (const void *)(r.data + at);
		e = (const void *)(r.data + at + h->size - sizeof(*e));
		CHECK(at + h->size <= s.setup.data_size && e->size == h->size);
		CHECK(!e->tid || e->tid == (uint32_t)getpid());
		if (h->type == AUXTRACE_RECORD_WINDOW) {
			const struct auxtrace_record_window *rec = (const void *)h;

			CHECK(rec->begin_tid == (uint32_t)getpid() && rec->begin_pid == (uint32_t)getpid());
			CHECK(rec->tid == (uint32_t)getpid() && rec->pid == (uint32_t)getpid());
			windows++;
		}
		if (h->type == AUXTRACE_RECORD_ITRACE_START) {
			const struct auxtrace_record_itrace_start *rec = (const void *)h;

			CHECK(rec->tid == (uint32_t)getpid() && e->tid == (uint32_t)getpid());
		}
	}
	CHECK(windows > 20);
	return 0;
}

static void a_user_traces_an_own_process_and_sees_nothing_else(void **state)
{
	pid_t noise = target(makes_noise);
	int ret = as(USER, traces_itself, NULL);

	target_ends(noise);
	assert_int_equal(ret, 0);
}

/* The session begins while others run: the first window's records name nobody else. */
static int traces_a_child_that_wakes(void *unused)
{
	const struct auxtrace_record_header *h;
	struct session s = own();
	int go[2], status;
	struct regions r;
	pid_t child;
	char byte;

	CHECK(!pipe(go));
	CHECK(!cpu_pin(first_cpu));
	child = fork();
	if (!child) {
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		load_run(10);
		_exit(0);
	}
	s.setup.tid = child;
	s.setup.data_size = page_size;
	CHECK(!open_own(&s, &r));
	CHECK(!at_start(s.fd));
	CHECK(write(go[1], "", 1) == 1);
	CHECK(waitpid(child, &status, 0) == child && !status);
	CHECK(!at_stop(s.fd));
	CHECK(r.status->data_head);
	for (uint64_t at = 0; at < r.status->data_head; at += h->size) {
		const struct auxtrace_record_end *e;

		h = (const void *)(r.data + at);
		e = (const void *)(r.data + at + h->size - sizeof(*e));
		CHECK(!e->tid || e->tid == (uint32_t)child);
	}
	return 0;
}

static void records_name_no_thread_that_ran_before_a_member(void **state)
{
	assert_int_equal(as(USER, traces_a_child_that_wakes, NULL), 0);
}

#define TURNS	50

struct turns {
	int here[2], there[2];
	uint32_t tid;
};

static void *answers(void *arg)
{
	struct turns *t = arg;
	char byte;

	t->tid = gettid();
	for (int i = 0; i < TURNS; i++)
		if (read(t->there[0], &byte, 1) != 1 || write(t->here[1], &byte, 1) != 1)
			break;
	return NULL;
}

/* Two threads of the process, and others, take turns on a CPU. */
static int traces_two_threads(void *unused)
{
	const uint32_t own_pid = getpid();
	const struct auxtrace_record_switch *rec;
	unsigned int between = 0, others = 0;
	struct session s = own();
	struct turns turns;
	struct regions r;
	pthread_t thread;
	uint32_t runs = 0;
	char byte = 0;

	s.setup.data_size = 1 << 18;
	s.setup.records = AUXTRACE_WANT_SWITCH;
	CHECK(!open_own(&s, &r));
	CHECK(!cpu_pin(first_cpu) && !pipe(turns.here) && !pipe(turns.there));
	CHECK(!at_start(s.fd));
	CHECK(!pthread_create(&thread, NULL, answers, &turns));
	for (int i = 0; i < TURNS; i++) {
		CHECK(write(turns.there[1], &byte, 1) == 1 && read(turns.here[0], &byte, 1) == 1);
		usleep(200);
	}
	CHECK(!pthread_join(thread, NULL));
	CHECK(!at_stop(s.fd));
	CHECK(r.status->data_head <= s.setup.data_size && !r.status->data_lost);
	for (uint64_t at = 0; at < r.status->data_head; at += rec->header.size) {
		rec = (const void *)(r.data + at);
		CHECK(rec->header.type == AUXTRACE_RECORD_SWITCH);
		CHECK(rec->header.misc & AUXTRACE_SWITCH_OUT);
		CHECK(!rec->end.tid || rec->end.tid == own_pid || rec->end.tid == turns.tid);
		CHECK(!rec->next_prev_tid || rec->next_prev_tid == own_pid || rec->next_prev_tid == turns.tid);
		CHECK(rec->next_prev_pid == (rec->next_prev_tid ? own_pid : 0));
		/* Between two others nothing is told; of a member each. */
		CHECK(rec->end.tid || (rec->next_prev_tid && !(rec->header.misc & AUXTRACE_SWITCH_OUT_PREEMPT)));
		CHECK(!at || rec->end.tid == runs);
		runs = rec->next_prev_tid;
		if (rec->end.tid && rec->next_prev_tid)
			between++;
		else
			others++;
	}
	CHECK(between && others > TURNS);
	return 0;
}

static void switches_name_members_only(void **state)
{
	pid_t noise = target(makes_noise);
	int ret = as(USER, traces_two_threads, NULL);

	target_ends(noise);
	assert_int_equal(ret, 0);
}

/* ---- execve(2) ------------------------------------------------------------------- */

#define EXECUTED		"/tmp/unprivileged-program"
#define ROUNDS		2000

struct exec_case {
	const char *name;
	uid_t owner;
	mode_t mode;
	bool capability;	/* of the file */
	const char *suid_dumpable;
	bool stays;		/* is it a member afterwards? */
};

/* What the program does: says that it runs, waits, runs the load, says so. */
static int run_program(void)
{
	char byte;

	alarm(SECONDS * slowness);
	if (write(3, "b", 1) != 1 || read(4, &byte, 1) != 1)
		return 1;
	load_run(ROUNDS);
	return write(3, "e", 1) != 1;
}

/* A copy of this program with the rights of @c. */
static int make_program(const struct exec_case *c)
{
	const struct vfs_cap_data cap = {
		.magic_etc = VFS_CAP_REVISION_2 | VFS_CAP_FLAGS_EFFECTIVE,
		.data[0].permitted = 1u << CAP_NET_RAW,
	};
	char buf[65536];
	ssize_t n;
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), out, ret = 0;

	unlink(EXECUTED);
	out = open(EXECUTED, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, n) != n)
			ret = -1;
	if (n || fchown(out, c->owner, c->owner) || fchmod(out, c->mode))
		ret = -1;
	if (c->capability && fsetxattr(out, "security.capability", &cap, sizeof(cap), 0))
		ret = errno == EOPNOTSUPP ? 77 : -1;
	close(in);
	close(out);
	return ret;
}

static uint64_t produced(const struct session *s, struct auxtrace_status *st)
{
	return at_status(s->fd, AUXTRACE_STATUS_SYNC, st) ? UINT64_MAX : st->out_produced;
}

static int traces_an_exec(void *arg)
{
	const struct exec_case *c = arg;
	uint64_t before, at_main, after;
	struct auxtrace_status st;
	struct session s = own();
	int says[2], told[2], status;
	uint32_t windows;
	pid_t child;
	char byte;

	/* A program of other rights than the user's may not be killed: it ends when the pipes close. */
	CHECK(!pipe2(says, O_CLOEXEC) && !pipe2(told, O_CLOEXEC));
	child = fork();
	if (!child) {
		if (read(told[0], &byte, 1) != 1 || dup2(says[1], 13) < 0 || dup2(told[0], 14) < 0 ||
		    dup2(13, 3) < 0 || dup2(14, 4) < 0)
			_exit(1);
		execl(EXECUTED, "program", "run", NULL);
		_exit(2);
	}
	s.cpus = all_cpus;
	s.setup.cpus = (uintptr_t)&s.cpus;
	s.setup.flags |= AUXTRACE_SETUP_DESCENDANTS;
	s.setup.tid = child;
	s.fd = at_open_plain();
	CHECK(!at_ioctl(s.fd, AUXTRACE_IOC_SETUP, &s.setup));
	CHECK(!at_start(s.fd));
	before = produced(&s, &st);
	CHECK(st.out_members == 1);
	CHECK(write(told[1], "", 1) == 1);
	CHECK(read(says[0], &byte, 1) == 1 && byte == 'b');
	at_main = produced(&s, &st);
	windows = st.out_windows;
	CHECK(st.out_members == c->stays);
	CHECK(write(told[1], "", 1) == 1);
	CHECK(read(says[0], &byte, 1) == 1 && byte == 'e');
	after = produced(&s, &st);
	CHECK(waitpid(child, &status, 0) == child && !status);
	fprintf(stderr, "%s: %llu bytes up to main(), %llu in it\n", c->name,
		(unsigned long long)(at_main - before), (unsigned long long)(after - at_main));
	CHECK(at_main > before && after != UINT64_MAX);
	if (c->stays) {
		/* The dynamic linker alone is some thousand branches. */
		CHECK(at_main - before > space_for(1500));
		CHECK(after - at_main > ROUNDS);
	} else {
		/* The last instructions before the exec: a window begins, and there are some calls. */
		CHECK(at_main - before < space_for(1500));
		CHECK(after == at_main && st.out_windows == windows);
	}
	CHECK(!at_stop(s.fd));
	return 0;
}

static void a_member_whose_rights_an_exec_changes_is_none_from_there_on(void **state)
{
	static const struct exec_case cases[] = {
		{ .name = "plain", .mode = 0755, .stays = true },
		{ .name = "of the user", .owner = USER, .mode = 0700, .stays = true },
		/* The user's own rights are no others. */
		{ .name = "setuid of the user", .owner = USER, .mode = 06755, .stays = true },
		{ .name = "setuid root", .mode = 04755 },
		{ .name = "setuid of another user", .owner = OTHER, .mode = 04755 },
		{ .name = "setgid", .owner = OTHER, .mode = 02755 },
		{ .name = "file capability", .mode = 0755, .capability = true },
		{ .name = "unreadable", .mode = 0711 },
		/* The kernel then lets a user debug what runs with other rights. */
		{ .name = "setuid root, suid_dumpable 1", .mode = 04755, .suid_dumpable = "1" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int ret = make_program(&cases[i]);

		if (ret == 77) {
			print_message("no file capabilities here\n");
			continue;
		}
		assert_int_equal(ret, 0);
		if (cases[i].suid_dumpable)
			assert_int_equal(file_write(SUID_DUMPABLE, cases[i].suid_dumpable), 0);
		ret = as(USER, traces_an_exec, (void *)&cases[i]);
		assert_int_equal(file_write(SUID_DUMPABLE, "0"), 0);
		print_message("%s: %d\n", cases[i].name, ret);
		assert_int_equal(ret, 0);
	}
}

/* A session of a user with the capability follows every program. */
static void with_the_capability_every_exec_is_followed(void **state)
{
	static const struct exec_case cases[] = {
		{ .name = "setuid of another user", .owner = OTHER, .mode = 04755, .stays = true },
		{ .name = "unreadable", .mode = 0711, .stays = true },
	};

	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(make_program(&cases[i]), 0);
		assert_int_equal(child_run(traces_an_exec, (void *)&cases[i]), 0);
	}
}

/* A program that has been executed with other rights cannot become a target either. */
static int executes_with_rights_of_other(void *unused)
{
	struct session s = own();
	int says[2];
	char byte;
	pid_t pid;

	if (become(USER) || pipe(says))
		return 1;
	pid = fork();
	if (!pid) {
		if (dup2(says[1], 13) < 0 || dup2(13, 3) < 0)
			_exit(1);
		execl(EXECUTED, "program", "wait", NULL);
		_exit(1);
	}
	close(says[1]);
	s.setup.tid = pid;
	return pid < 0 || read(says[0], &byte, 1) != 1 || setup_errno(&s) != EACCES;
}

static void what_runs_with_other_rights_is_no_target(void **state)
{
	static const struct exec_case program = { .name = "setuid of another user", .owner = OTHER, .mode = 04755 };

	assert_int_equal(make_program(&program), 0);
	assert_int_equal(child_run(executes_with_rights_of_other, NULL), 0);
}

/* ---- a descriptor that is handed on ---------------------------------------------- */

static int tries_to_start(void *session)
{
	const struct session *s = session;
	struct auxtrace_trigger t = { .size = sizeof(t), .kind = AUXTRACE_TRIGGER_TIMER,
				      .action = AUXTRACE_ACTION_PAUSE, .bound_ns = 10000000 };
	struct auxtrace_status st;
	uint32_t id;

	CHECK(at_trigger_add(s->fd, t, &id) == -EACCES);
	CHECK(!at_status(s->fd, AUXTRACE_STATUS_SYNC, &st));
	return -at_start(s->fd);
}

static int sets_up(void *session)
{
	struct session *s = session;

	s->setup.cpus = (uintptr_t)&s->cpus;
	return -at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
}

static int stops(void *session)
{
	return -at_stop(((const struct session *)session)->fd);
}

static void only_the_owner_starts_a_session_while_it_is_allowed(void **state)
{
	pid_t member = target(is_user);
	struct session s = own();

	s.fd = at_open();
	/* Before SETUP there is no owner. */
	assert_int_equal(as(USER, tries_to_start, &s), 100);
	s.setup.tid = member;
	assert_int_equal(as(USER, sets_up, &s), 0);
	assert_int_equal(as(OTHER, tries_to_start, &s), EACCES);
	assert_int_equal(as(USER, tries_to_start, &s), 0);
	assert_int_equal(as(OTHER, stops, &s), 0);
	allow("0");
	assert_int_equal(as(USER, tries_to_start, &s), EACCES);
	allow("1");
	assert_int_equal(as(USER, tries_to_start, &s), 0);
	/* It goes on until it is stopped. */
	allow("0");
	assert_int_equal(as(USER, stops, &s), 0);
	/* Who has the capability starts any. */
	ok_start(s.fd);
	ok_stop(s.fd);
	at_close(s.fd);

	/* A session that was set up with the capability has no owner. */
	allow("8");
	s.fd = at_open();
	ok_setup(s.fd, &s.setup);
	assert_int_equal(as(USER, tries_to_start, &s), EACCES);
	target_ends(member);
}

/* ---- how much -------------------------------------------------------------------- */

static void users_have_as_many_sessions_as_the_administrator_says(void **state)
{
	struct session s[4];

	allow("2");
	for (int i = 0; i < 4; i++) {
		s[i] = own();
		s[i].fd = at_open();
	}
	/* What fails uses nothing up. */
	for (int i = 0; i < 3; i++)
		assert_int_equal(setup_of_process(1), EACCES);
	assert_int_equal(as(USER, sets_up, &s[0]), 0);
	assert_int_equal(as(OTHER, sets_up, &s[1]), 0);
	assert_int_equal(as(USER, sets_up, &s[2]), EUSERS);
	/* With the capability there is no limit, nor does such a session count. */
	ok_setup(s[3].fd, &s[3].setup);
	at_close(s[1].fd);
	assert_int_equal(as(USER, sets_up, &s[2]), 0);
	allow("8");
}

static int locks_little(void *session)
{
	const struct rlimit memlock = { 256 << 10, 256 << 10 };

	CHECK(!setrlimit(RLIMIT_MEMLOCK, &memlock));
	return setup_errno(session);
}

static void the_limit_of_locked_memory_holds(void **state)
{
	struct session s = own();

	s.setup.aux_size = 512 << 10;
	assert_int_equal(as(USER, locks_little, &s), ENOMEM);
	s.setup.aux_size = 32 << 10;
	assert_int_equal(as(USER, locks_little, &s), 0);
}

static int64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ll + ts.tv_nsec / 1000;
}

/* As the comments of module/rights.c have it. */
#define INTERVAL_US	1000
#define BURST		50
/* Between so many lie one interval less. */
#define TIMES		300

/* What a hostile user may repeat to interrupt all CPUs. */
static int interrupts(const struct session *s, int how)
{
	struct auxtrace_status st;

	switch (how) {
	case 0:
		return at_control(s->fd, AUXTRACE_IOC_PAUSE, 0, NULL, 0);
	case 1:
		return at_control(s->fd, AUXTRACE_IOC_RESUME, 0, NULL, 0);
	case 2:
		return at_status(s->fd, AUXTRACE_STATUS_SYNC, &st);
	case 3:
		return at_output(s->fd, 0, 1);
	default:
		return at_snapshot(s->fd, 0, NULL, 0, NULL) < 0;
	}
}

static int hammers(void *unused)
{
	struct session s = own();
	struct auxtrace_status st;
	int64_t from;

	s.cpus = all_cpus;
	s.setup.cpus = (uintptr_t)&s.cpus;
	s.setup.data_size = page_size;
	s.fd = at_open_plain();
	CHECK(!at_ioctl(s.fd, AUXTRACE_IOC_SETUP, &s.setup) && !at_start(s.fd));
	for (int how = 0; how < 5; how++) {
		from = now_us();
		for (int i = 0; i < TIMES; i++)
			CHECK(!interrupts(&s, how));
		CHECK(now_us() - from >= (TIMES - BURST - 1) * INTERVAL_US);
	}
	/* START and STOP interrupt CPUs several times each. */
	from = now_us();
	for (int i = 0; i < TIMES / 10; i++)
		CHECK(!at_stop(s.fd) && !at_start(s.fd));
	CHECK(now_us() - from >= (TIMES - BURST - 1) * INTERVAL_US);
	/* What interrupts nobody does not wait. It would take ten seconds. */
	from = now_us();
	for (int i = 0; i < 10000; i++)
		CHECK(!at_status(s.fd, 0, &st));
	CHECK(now_us() - from < 5000000ll * slowness);
	return 0;
}

static void a_user_interrupts_others_only_so_often(void **state)
{
	assert_int_equal(as(USER, hammers, NULL), 0);
}

/* The user page of a full trace of the own process on the first CPU. This thread runs on another one. */
static struct auxtrace_user_page *open_full_trace(struct session *s, struct regions *r)
{
	struct auxtrace_user_page *user;

	/* On the CPU itself it would interrupt nobody. */
	if (first_cpu == last_cpu || cpu_pin(last_cpu))
		return NULL;
	*s = own();
	s->setup.flags &= ~AUXTRACE_SETUP_OVERWRITE;
	if (open_own(s, r) || at_start(s->fd))
		return NULL;
	user = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd,
		    AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_USER));
	return user == MAP_FAILED ? NULL : user;
}

/* More polls than may interrupt another CPU in the time that they take. */
#define POLLS	3000

/* poll(2) takes new tails by an interrupt. It does not wait for its turn: later. */
static int hammers_by_tails(void *unused)
{
	struct auxtrace_user_page *user;
	struct pollfd p = { .events = POLLIN };
	struct regions r;
	struct session s;
	uint64_t bad;
	int64_t from;
	long slept;

	user = open_full_trace(&s, &r);
	CHECK(user);
	p.fd = s.fd;
	slept = sleeps();
	from = now_us();
	for (int i = 0; i < POLLS; i++) {
		/* Wrong ones are looked at, too, and counted. */
		__atomic_store_n(&user->aux_tail, UINT64_MAX - i, __ATOMIC_RELAXED);
		CHECK(poll(&p, 1, 0) >= 0);
	}
	CHECK(sleeps() - slept < POLLS / 10);
	bad = r.status->bad_tails;
	CHECK(bad && bad <= (uint64_t)(now_us() - from) / INTERVAL_US + BURST + 2);
	/* The last one of all is taken, even if nobody polls again. */
	__atomic_store_n(&user->aux_tail, UINT64_MAX - POLLS, __ATOMIC_RELAXED);
	CHECK(poll(&p, 1, 0) >= 0);
	for (int i = 0; i < 1000 && __atomic_load_n(&r.status->bad_tails, __ATOMIC_RELAXED) == bad; i++)
		usleep(10000);
	CHECK(__atomic_load_n(&r.status->bad_tails, __ATOMIC_RELAXED) > bad);
	return 0;
}

static void tails_interrupt_others_only_so_often(void **state)
{
	assert_int_equal(as(USER, hammers_by_tails, NULL), 0);
}

static void *runs_a_load(void *ends)
{
	if (cpu_pin(first_cpu))
		return NULL;
	while (!__atomic_load_n((int *)ends, __ATOMIC_RELAXED))
		load_run(50);
	return NULL;
}

#define READS	500

/*
 * A reader that has no turn left sleeps in poll(2) until its tail is taken and there is more to read: only its
 * tail lets the channel go on, which is full.
 */
static int reads_without_a_turn(void *unused)
{
	struct auxtrace_user_page *user;
	struct pollfd p = { .events = POLLIN };
	uint64_t produced = 0, later;
	struct regions r;
	struct session s;
	int ends = 0, slept = 0, more = 0;
	pthread_t thread;

	user = open_full_trace(&s, &r);
	CHECK(user && !pthread_create(&thread, NULL, runs_a_load, &ends));
	p.fd = s.fd;
	while (more < READS) {
		CHECK(poll(&p, 1, 10000 * slowness) == 1 && p.revents == POLLIN);
		later = __atomic_load_n(&r.status->produced, __ATOMIC_ACQUIRE);
		/* The CPU takes the tail a moment before it says so: poll(2) may have seen the old one. */
		CHECK(later >= produced);
		more += later > produced;
		/* It uses up its turns. */
		for (int k = 0; k < 4 && produced + k < later; k++) {
			struct pollfd now = p;

			__atomic_store_n(&user->aux_tail, produced + k, __ATOMIC_RELEASE);
			CHECK(poll(&now, 1, 0) >= 0);
		}
		produced = later;
		__atomic_store_n(&user->aux_tail, produced, __ATOMIC_RELEASE);
	}
	while (__atomic_load_n(&r.status->produced, __ATOMIC_ACQUIRE) < produced + 1000)
		CHECK(poll(&p, 1, 10000 * slowness) == 1);
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	CHECK(!pthread_join(thread, NULL));
	CHECK(!r.status->bad_tails);
	/* What is there is readable again when a wrong tail has been looked at: no channel says so. */
	CHECK(!at_stop(s.fd));
	for (int k = 0; k < 999; k++) {
		struct pollfd now = p;
		int got;

		__atomic_store_n(&user->aux_tail, UINT64_MAX - k, __ATOMIC_RELEASE);
		got = poll(&now, 1, 0);
		CHECK(got >= 0);
		if (got)
			continue;
		slept++;
		CHECK(poll(&p, 1, 10000 * slowness) == 1 && p.revents == POLLIN);
	}
	CHECK(slept);
	return 0;
}

static void a_reader_without_a_turn_sleeps_until_there_is_more(void **state)
{
	assert_int_equal(as(USER, reads_without_a_turn, NULL), 0);
}

/* The caller's own CPU alone is not anybody else's. */
static int hammers_itself(void *unused)
{
	struct session s = own();
	int64_t from;

	CHECK(!cpu_pin(first_cpu));
	s.setup.cpus = (uintptr_t)&s.cpus;
	s.fd = at_open_plain();
	CHECK(!at_ioctl(s.fd, AUXTRACE_IOC_SETUP, &s.setup) && !at_start(s.fd));
	from = now_us();
	for (int i = 0; i < 5000; i++)
		CHECK(!interrupts(&s, 0) && !interrupts(&s, 1));
	CHECK(now_us() - from < 5000000ll * slowness);
	return 0;
}

static void a_user_pauses_the_own_cpu_without_waiting(void **state)
{
	assert_int_equal(as(USER, hammers_itself, NULL), 0);
}

static int sets_up_often(void *unused)
{
	int64_t from = now_us();

	for (int i = 0; i < 25; i++) {
		struct session s = own();

		CHECK(!setup_errno(&s));
	}
	CHECK(now_us() - from >= 15 * 100 * 1000);
	return 0;
}

static void a_user_sets_sessions_up_only_so_often(void **state)
{
	assert_int_equal(as(USER, sets_up_often, NULL), 0);
}

/* As many sessions are allowed. */
#define WAITERS	8
#define KILLED_ROUNDS	12

static void *waits_to_set_up(void *unused)
{
	struct session s = own();

	setup_errno(&s);
	return NULL;
}

/* Those that are killed while they wait have had no turn: nobody waits for all these turns to pass. */
static int sets_up_after_waiters_were_killed(void *unused)
{
	int64_t from;
	pid_t pid;

	/* More than may be made up for: all that follow wait. */
	for (int i = 0; i < 15; i++) {
		struct session s = own();

		CHECK(!setup_errno(&s));
	}
	for (int i = 0; i < KILLED_ROUNDS; i++) {
		pid = fork();
		CHECK(pid >= 0);
		if (!pid) {
			pthread_t thread;

			for (int k = 0; k < WAITERS; k++)
				if (pthread_create(&thread, NULL, waits_to_set_up, NULL))
					_exit(1);
			pause();
		}
		usleep(100000);
		CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	}
	from = now_us();
	for (int i = 0; i < 2; i++) {
		struct session s = own();

		CHECK(!setup_errno(&s));
	}
	/* The turns of the others are nearly ten seconds, less the one or two that they had. */
	CHECK(now_us() - from < 3000000);
	return 0;
}

static void who_is_killed_while_waiting_makes_nobody_wait(void **state)
{
	assert_int_equal(as(USER, sets_up_after_waiters_were_killed, NULL), 0);
}

static int starts_and_stops(void *unused)
{
	struct session s = own();

	s.setup.cpus = (uintptr_t)&s.cpus;
	s.fd = at_open_plain();
	CHECK(!at_ioctl(s.fd, AUXTRACE_IOC_SETUP, &s.setup));
	for (;;)
		CHECK(!at_start(s.fd) && !at_stop(s.fd));
	return 0;
}

/*
 * For a caller without a capability, a kernel thread creates perf's counter, and START waits for that with
 * the lock held for which CPU hotplug waits.
 */
static void a_user_starts_sessions_while_cpus_go_and_come(void **state)
{
	pid_t pid[2];
	int status;

	if (first_cpu == last_cpu || cpu_set_online(last_cpu, 0))
		skip_test("no CPU can go offline");
	last_cpu_online();
	for (int i = 0; i < 2; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			alarm(SECONDS * slowness);
			_exit(become(USER) || (i ? sets_up_often(NULL) : starts_and_stops(NULL)));
		}
	}
	for (int i = 0; i < 20; i++) {
		last_cpu_offline();
		last_cpu_online();
	}
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kill(pid[i], SIGKILL), 0);
		assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
		/* It has not ended before. */
		assert_true(i || (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
	}
}

#define SLEEPERS	120

static void *waits_to_set_up_the_same(void *fd)
{
	struct session s = own();

	s.setup.cpus = (uintptr_t)&s.cpus;
	at_ioctl(*(int *)fd, AUXTRACE_IOC_SETUP, &s.setup);
	return NULL;
}

/* Two threads want to set each session up: one of them, or both, wait for their turn. */
static int keeps_many_waiting(void *ready)
{
	int fd[SLEEPERS / 2];
	pthread_t thread;

	for (int i = 0; i < SLEEPERS; i++) {
		if (i % 2 == 0)
			fd[i / 2] = at_open_plain();
		CHECK(fd[i / 2] >= 0 &&
		      !pthread_create(&thread, NULL, waits_to_set_up_the_same, &fd[i / 2]));
	}
	CHECK(write(*(int *)ready, "", 1) == 1);
	pause();
	return 0;
}

/*
 * The last turn comes in eleven seconds: the kernel must freeze those who wait for theirs within three. (It
 * also waits for those who are at work.)
 */
static void the_machine_sleeps_while_users_wait(void **state)
{
	int ready[2], ret;
	char byte, was[32] = "";
	FILE *f;
	pid_t pid;

	if (file_write("/sys/power/pm_test", "freezer") ||
	    file_write("/sys/module/suspend/parameters/pm_test_delay", "0"))
		skip_test("this kernel has no pm_test");
	f = fopen("/sys/power/pm_freeze_timeout", "re");
	assert_true(f && fgets(was, sizeof(was), f));
	fclose(f);
	assert_int_equal(file_write("/sys/power/pm_freeze_timeout", "3000"), 0);
	allow("200");
	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		alarm(SECONDS * slowness);
		_exit(become(USER) || keeps_many_waiting(&ready[1]));
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	ret = file_write("/sys/power/state", "freeze");
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(file_write("/sys/power/pm_freeze_timeout", was), 0);
	assert_int_equal(file_write("/sys/power/pm_test", "none"), 0);
	allow("8");
	assert_int_equal(ret, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		vm_test(nothing_is_allowed_unless_the_administrator_says_so),
		vm_test(a_session_of_a_user_is_of_user_code_of_some_threads),
		vm_test(a_user_adds_no_trigger_and_asks_for_no_CR3),
		vm_test(whose_processes_a_user_may_trace),
		vm_test(user_namespaces_give_no_rights_outside),
		vm_test(a_user_traces_an_own_process_and_sees_nothing_else),
		vm_test(records_name_no_thread_that_ran_before_a_member),
		vm_test(switches_name_members_only),
		vm_test(a_member_whose_rights_an_exec_changes_is_none_from_there_on),
		vm_test(with_the_capability_every_exec_is_followed),
		vm_test(what_runs_with_other_rights_is_no_target),
		vm_test(only_the_owner_starts_a_session_while_it_is_allowed),
		vm_test(users_have_as_many_sessions_as_the_administrator_says),
		vm_test(the_limit_of_locked_memory_holds),
		vm_test(a_user_interrupts_others_only_so_often),
		vm_test(tails_interrupt_others_only_so_often),
		vm_test(a_reader_without_a_turn_sleeps_until_there_is_more),
		vm_test(a_user_pauses_the_own_cpu_without_waiting),
		vm_test(a_user_sets_sessions_up_only_so_often),
		vm_test(who_is_killed_while_waiting_makes_nobody_wait),
		vm_test(a_user_starts_sessions_while_cpus_go_and_come),
		vm_test(the_machine_sleeps_while_users_wait),
	};

	/* See make_program(). */
	if (argc == 2 && !strcmp(argv[1], "run"))
		return run_program();
	if (argc == 2 && !strcmp(argv[1], "wait")) {
		alarm(SECONDS);
		return write(3, "b", 1) != 1 || pause();
	}
	return cmocka_run_group_tests(tests, begin, end);
}
