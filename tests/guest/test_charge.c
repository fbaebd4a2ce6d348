// SPDX-License-Identifier: GPL-2.0-only
/* What the memory of a session is charged to: the user's locked memory, and a memory cgroup. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "machine.h"
#include "setup.h"

/* Enough for one session of AREA, not for two. */
#define LIMIT	(400 << 10)
#define AREA	(256 << 10)
#define NOBODY	65534

/* ---- locked memory ------------------------------------------------------- */

struct caller {
	int fd;			/* that SETUP uses */
	uid_t uid;
	bool execs;		/* SETUP comes after an execve(2) */
	bool capable;		/* it has CAP_IPC_LOCK */
};

static int setup_on(int fd)
{
	struct session s;

	setup_prepare(&s);
	s.setup.aux_size = AREA;
	return -at_ioctl(fd, AUXTRACE_IOC_SETUP, &s.setup);
}

/* SETUP by a process within the limit; in a child. */
static int setup_within_limit(void *arg)
{
	const struct rlimit memlock = { LIMIT, LIMIT };
	const struct caller *who = arg;
	char fd[16];

	if (setrlimit(RLIMIT_MEMLOCK, &memlock) || prctl(PR_SET_KEEPCAPS, 1))
		return 100;
	if (!who->capable && prctl(PR_CAPBSET_DROP, CAP_IPC_LOCK))
		return 101;
	if (who->uid && setresuid(who->uid, who->uid, who->uid))
		return 102;
	/* The capabilities that setresuid(2) has left are permitted, not effective. */
	if (who->uid && caps_regain())
		return 103;
	if (!who->capable && caps_drop(CAP(IPC_LOCK)))
		return 104;
	if (!who->execs)
		return setup_on(who->fd);
	snprintf(fd, sizeof(fd), "%d", who->fd);
	fcntl(who->fd, F_SETFD, 0);
	execl("/proc/self/exe", "test_charge", fd, NULL);
	return 105;
}

static int setup_by(struct caller who)
{
	return child_run(setup_within_limit, &who);
}

static void processes_of_a_user_share_one_sum(void **state)
{
	int first = at_open(), second = at_open();

	assert_int_equal(setup_by((struct caller){ .fd = first }), 0);
	/* A new process, and one that then executes a program: both have a memory of their own. */
	assert_int_equal(setup_by((struct caller){ .fd = second }), ENOMEM);
	assert_int_equal(setup_by((struct caller){ .fd = second, .execs = true }), ENOMEM);
	at_close(first);
	assert_int_equal(setup_by((struct caller){ .fd = second, .execs = true }), 0);
}

static void each_user_has_a_sum_of_its_own(void **state)
{
	int first = at_open(), second = at_open(), third = at_open();

	assert_int_equal(setup_by((struct caller){ .fd = first, .uid = NOBODY }), 0);
	assert_int_equal(setup_by((struct caller){ .fd = second }), 0);
	assert_int_equal(setup_by((struct caller){ .fd = third, .uid = NOBODY }), ENOMEM);
	assert_int_equal(setup_by((struct caller){ .fd = third }), ENOMEM);
	/* Who closes the file is not who made the session. */
	at_close(first);
	assert_int_equal(setup_by((struct caller){ .fd = third }), ENOMEM);
	assert_int_equal(setup_by((struct caller){ .fd = third, .uid = NOBODY }), 0);
}

static void with_the_capability_nothing_is_locked(void **state)
{
	int fd[4];

	for (int i = 0; i < 3; i++) {
		fd[i] = at_open();
		assert_int_equal(setup_by((struct caller){ .fd = fd[i], .capable = true }), 0);
	}
	fd[3] = at_open();
	assert_int_equal(setup_by((struct caller){ .fd = fd[3] }), 0);
}

struct scope_setup {
	uint32_t flags;		/* AUXTRACE_SETUP_* beside those of setup_prepare() */
	long pages;		/* the limit */
};

static int setup_with_scope(void *arg)
{
	const struct scope_setup *call = arg;
	const rlim_t limit = call->pages * page_size;
	struct session s;

	if (setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ limit, limit }) || caps_drop(CAP(IPC_LOCK)))
		return 100;
	setup_prepare(&s);
	s.setup.flags |= call->flags;
	return -at_ioctl(at_open_plain(), AUXTRACE_IOC_SETUP, &s.setup);
}

/* The least limit, in pages, with which SETUP succeeds. */
static long pages_needed(uint32_t flags)
{
	struct scope_setup call = { flags, 1 };
	int ret;

	while ((ret = child_run(setup_with_scope, &call)) == ENOMEM && call.pages < 1000)
		call.pages++;
	assert_int_equal(ret, 0);
	return call.pages;
}

/* A table of 16 KiB and places for threads, of which 511 take two pages: some, and as many again. */
static void the_places_of_a_task_scope_are_charged(void **state)
{
	long without = pages_needed(0), with = pages_needed(AUXTRACE_SETUP_THREAD);

	print_message("%ld pages, with a task scope %ld\n", without, with);
	assert_true(without > SETUP_AUX_SIZE / (long)page_size);
	assert_in_range(with - without, 4 + 2 + 2, 100);
}

static void *map_status(int fd)
{
	return mmap(NULL, page_size, PROT_READ, MAP_SHARED, fd,
		    AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_STATUS));
}

static void the_charge_lasts_until_the_last_mapping_is_gone(void **state)
{
	int first = at_open(), second = at_open();
	void *map;

	assert_int_equal(setup_by((struct caller){ .fd = first }), 0);
	map = map_status(first);
	assert_true(map != MAP_FAILED);
	at_close(first);
	assert_int_equal(setup_by((struct caller){ .fd = second }), ENOMEM);
	munmap(map, page_size);
	assert_int_equal(setup_by((struct caller){ .fd = second }), 0);
}

/* Maps a region in a user namespace, says so, and keeps it until its input ends. */
static void keep_mapping(int fd, int from, int to)
{
	char byte = 0;

	if (unshare(CLONE_NEWUSER) || map_status(fd) == MAP_FAILED)
		_exit(1);
	close(fd);
	if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 0)
		_exit(2);
	_exit(0);
}

static void a_process_in_another_user_namespace_gives_back_the_same(void **state)
{
	int first = at_open(), second = at_open(), from[2], to[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(setup_by((struct caller){ .fd = first, .uid = NOBODY }), 0);
	assert_int_equal(pipe2(from, O_CLOEXEC) | pipe2(to, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(from[1]);
		keep_mapping(first, from[0], to[1]);
	}
	close(from[0]);
	close(to[1]);
	assert_int_equal(read(to[0], &byte, 1), 1);
	at_close(first);
	assert_int_equal(setup_by((struct caller){ .fd = second, .uid = NOBODY }), ENOMEM);
	close(from[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(setup_by((struct caller){ .fd = second, .uid = NOBODY }), 0);
	close(to[0]);
}

/* ---- a memory cgroup ----------------------------------------------------- */

#define CGROUPS	"/tmp/cgroups"
#define CGROUP	CGROUPS "/session"
#define BIG	(64 << 20)
#define BIG_RING	(32 << 20)
/* The kernel keeps up to 64 pages a CPU charged that are free (MEMCG_CHARGE_BATCH). */
#define STOCK	(2 << 20)

static int cgroup_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* The number after @key (which may be empty) in a file of the cgroup. */
static long cgroup_number(const char *file, const char *key)
{
	char path[128], text[1024] = "", *at;
	FILE *f;

	snprintf(path, sizeof(path), CGROUP "/%s", file);
	f = fopen(path, "re");
	assert_non_null(f);
	assert_true(fread(text, 1, sizeof(text) - 1, f) > 0);
	fclose(f);
	at = strstr(text, key);
	assert_non_null(at);
	return strtol(at + strlen(key), NULL, 10);
}

static void cgroup_required(void)
{
	mkdir("/tmp", 0755);
	mkdir(CGROUPS, 0755);
	if (mount("none", CGROUPS, "cgroup2", 0, NULL) && errno != EBUSY)
		skip_test("no cgroup2: %s", strerror(errno));
	if (cgroup_write(CGROUPS "/cgroup.subtree_control", "+memory"))
		skip_test("no memory controller");
	assert_true(!mkdir(CGROUP, 0755) || errno == EEXIST);
}

struct cgroup_setup {
	int fd;
	unsigned int aux_size, data_size;
};

static int setup_in_cgroup(void *arg)
{
	const struct cgroup_setup *call = arg;
	struct session s;

	if (cgroup_write(CGROUP "/cgroup.procs", "0"))
		return 100;
	setup_prepare(&s);
	s.setup.aux_size = call->aux_size;
	s.setup.data_size = call->data_size;
	return -at_ioctl(call->fd, AUXTRACE_IOC_SETUP, &s.setup);
}

/* What it may have is too little; then enough: then all of it is charged, and given back. */
static void check_cgroup(const char *little, const char *enough, struct cgroup_setup call)
{
	long size = call.aux_size + call.data_size, charged, left;

	assert_int_equal(cgroup_write(CGROUP "/memory.max", little), 0);
	assert_int_equal(child_run(setup_in_cgroup, &call), ENOMEM);
	/* It was refused, and nobody was killed for it. */
	assert_int_equal(cgroup_number("memory.events", "oom_kill "), 0);
	assert_true(cgroup_number("memory.current", "") < 8 << 20);

	assert_int_equal(cgroup_write(CGROUP "/memory.max", enough), 0);
	assert_int_equal(child_run(setup_in_cgroup, &call), 0);
	charged = cgroup_number("memory.current", "");
	print_message("%ld KiB charged for %ld KiB\n", charged >> 10, size >> 10);
	assert_true(charged >= size);
	at_close(call.fd);
	left = cgroup_number("memory.current", "");
	print_message("%ld KiB are left\n", left >> 10);
	assert_true(left <= charged - size + STOCK);
	assert_int_equal(cgroup_number("memory.events", "oom_kill "), 0);
}

static void the_limit_of_the_memory_cgroup_is_kept(void **state)
{
	struct utsname name;

	cgroup_required();
	assert_int_equal(uname(&name), 0);
	if (!strncmp(name.release, "5.10.", 5))
		skip_test("this kernel cannot charge what users map");
	check_cgroup("32M", "128M", (struct cgroup_setup){ at_open(), BIG, 0 });
	/* An area that fits, and a data ring that does not. */
	check_cgroup("80M", "128M", (struct cgroup_setup){ at_open(), BIG, BIG_RING });
	rmdir(CGROUP);
	umount(CGROUPS);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		vm_test(processes_of_a_user_share_one_sum),
		vm_test(each_user_has_a_sum_of_its_own),
		vm_test(with_the_capability_nothing_is_locked),
		vm_test(the_places_of_a_task_scope_are_charged),
		vm_test(the_charge_lasts_until_the_last_mapping_is_gone),
		vm_test(a_process_in_another_user_namespace_gives_back_the_same),
		vm_test(the_limit_of_the_memory_cgroup_is_kept),
	};

	/* See setup_within_limit(). */
	if (argc == 2)
		return setup_on(atoi(argv[1]));
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
