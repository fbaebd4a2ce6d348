// SPDX-License-Identifier: GPL-2.0-only
#include "recording_case.h"

#include <asm/prctl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

/* There are lines that begin with @key, and no two of them are equal. */
static void expect_each_once(const char *name, const char *key)
{
	char *text = slurp(name, NULL), *at = strstr(text, key);

	assert_non_null(at);
	for (char *end; at; at = strstr(end, key)) {
		char line[512];

		end = strchr(at + 1, '\n');
		assert_non_null(end);
		assert_true((size_t)(end - at) + 1 < sizeof(line));
		memcpy(line, at, end - at + 1);
		line[end - at + 1] = '\0';
		assert_null(strstr(end, line));
	}
	free(text);
}

static int resolve_libc(struct dl_phdr_info *info, size_t size, void *path)
{
	(void)size;
	if (!strstr(info->dlpi_name, "/libc.so."))
		return 0;
	assert_non_null(realpath(info->dlpi_name, path));
	return 1;
}

/* The C library's file. On Debian 11 its name has the version. */
static const char *libc_path(void)
{
	static char path[PATH_MAX];

	assert_int_equal(dl_iterate_phdr(resolve_libc, path), 1);
	return path;
}

static void a_task_is_its_cr3_its_mappings_and_its_vdso(void **state)
{
	struct auxtrace_recording *rec;
	char name[32], line[64], exe[256] = "";
	size_t size;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x7777000;
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	/* Again: the same address space, one file. */
	assert_int_equal(auxtrace_recording_add_task(rec, getpid()), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", getpid());
	snprintf(line, sizeof(line), "pid %d\n", getpid());
	expect_in(name, line);
	expect_in(name, "\ncr3 0x7777000\ncr3_mask 0xffffffffff000\n");
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	expect_in(name, exe);
	expect_each_once(name, "\nmap ");
	expect_each_once(name, "\nfile ");
	expect_in(name, "r-xp");
	expect_in(name, libc_path());
	/* valgrind takes the vdso away from its programs. */
	if (getauxval(AT_SYSINFO_EHDR)) {
		free(slurp(named("vdso.%d", getpid()), &size));
		assert_true(size >= 4096);
	}
	assert_false(exists(named("task.%d.1", getpid())));
}

/* In the recording's jit.PID, which is freed by the caller. */
static char *made_code(size_t *size)
{
	struct auxtrace_recording *rec = auxtrace_recording_create(session, dir);

	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	return exists(named("jit.%d", getpid())) ? slurp(named("jit.%d", getpid()), size) : NULL;
}

/* Lines: a function of 16 bytes that can be read, one that cannot, one that is too large, and nonsense. */
static void code_that_a_map_names_is_read_from_memory(void **state)
{
	static const char code[] = "code that I made";
	char path[64], link[80], *made;
	size_t size;
	FILE *f;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	assert_null(made_code(&size));
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "10 10 nowhere\n%lx 10 my function\n%lx ffffffff huge\nnonsense\n", (long)code, (long)code);
	fclose(f);
	made = made_code(&size);
	assert_non_null(made);
	/* A header of 40 bytes, a record of 56, the name, the code. */
	assert_int_equal(size, 40 + 56 + sizeof("my function") + 16);
	assert_memory_equal(made, "DTiJ\1\0\0\0\50\0\0\0\76", 13);
	assert_string_equal(made + 40 + 56, "my function");
	assert_memory_equal(made + 40 + 56 + sizeof("my function"), code, 16);
	free(made);
	/* The process's own, and no other file. */
	snprintf(link, sizeof(link), "%s.real", path);
	assert_int_equal(rename(path, link), 0);
	assert_int_equal(symlink(link, path), 0);
	assert_null(made_code(&size));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rename(link, path), 0);
	if (!geteuid()) {
		assert_int_equal(chown(path, 12345, -1), 0);
		assert_null(made_code(&size));
	}
	assert_int_equal(unlink(path), 0);
}

static void a_dump_that_a_process_has_mapped_is_copied(void **state)
{
	char path[64], line[32], *made;
	size_t size;
	void *map;
	FILE *f;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", getpid());
	f = fopen(path, "w+");
	assert_non_null(f);
	fputs("what it says", f);
	fflush(f);
	map = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	assert_true(map != MAP_FAILED);
	made = made_code(&size);
	assert_non_null(made);
	assert_int_equal(size, strlen("what it says"));
	assert_memory_equal(made, "what it says", size);
	free(made);
	snprintf(line, sizeof(line), "\njit jit.%d\n", getpid());
	expect_in(named("task.%d", getpid()), line);
	munmap(map, 4096);
	fclose(f);
	assert_int_equal(unlink(path), 0);
}

static void pass_on(int fd)
{
	assert_int_equal(write(fd, "", 1), 1);
}

static void wait_for(int fd)
{
	char c;

	assert_int_equal(read(fd, &c, 1), 1);
}

/* With its data, or the kernel gives no other. */
static void unmap_vdso(void)
{
	FILE *f = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[256];

	while (f && fgets(line, sizeof(line), f))
		if ((strstr(line, "[vdso]") || strstr(line, "[vvar")) &&
		    sscanf(line, "%lx-%lx", &start, &end) == 2)
			munmap((void *)start, end - start);
}

/* Skips a test whose processes are told apart by their vdso. */
static void need_vdso(void)
{
	if (getauxval(AT_SYSINFO_EHDR))
		return;
	print_message("SKIP: no vdso here, as under valgrind\n");
	skip();
}

/* A child that first has no vdso, as in the middle of an exec, and then maps one. */
static void a_vdso_that_comes_later_belongs_to_the_same_address_space(void **state)
{
	unsigned long vdso = getauxval(AT_SYSINFO_EHDR);
	struct auxtrace_recording *rec;
	int there[2], back[2], status;
	char name[40];
	size_t size;
	pid_t child;

	(void)state;
	need_vdso();
	assert_int_equal(pipe(there) | pipe(back), 0);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		unmap_vdso();
		pass_on(back[1]);
		wait_for(there[0]);
		status = syscall(SYS_arch_prctl, ARCH_MAP_VDSO_64, vdso) < 0 ? errno : 0;
		pass_on(back[1]);
		wait_for(there[0]);
		_exit(status);
	}
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	wait_for(back[0]);
	assert_int_equal(auxtrace_recording_add_task(rec, child), 0);
	pass_on(there[1]);
	wait_for(back[0]);
	assert_int_equal(auxtrace_recording_add_task(rec, child), 0);
	pass_on(there[1]);
	for (int i = 0; i < 2; i++)
		assert_int_equal(close(there[i]) | close(back[i]), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	if (WEXITSTATUS(status) == EINVAL) {
		print_message("SKIP: this kernel maps no vdso for a process that asks\n");
		skip();
	}
	assert_int_equal(WEXITSTATUS(status), 0);
	snprintf(name, sizeof(name), "task.%d", child);
	expect_in(name, "\nvdso 0x");
	expect_in(name, "[vdso]");
	free(slurp(named("vdso.%d", child), &size));
	assert_true(size && size % PAGE == 0);
	assert_false(exists(named("task.%d.1", child)));
}

static void another_cr3_of_one_pid_is_another_file(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	for (unsigned int i = 1; i <= 3; i++) {
		fake.cr3 = i << 12;
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", getpid()), "\ncr3 0x1000\n");
	expect_in(named("task.%d.1", getpid()), "\ncr3 0x2000\n");
	expect_in(named("task.%d.2", getpid()), "\ncr3 0x3000\n");
}

static unsigned int tasks_asked;

/* The second child is asked for twice, then the first: it has other page tables by now. */
static void first_has_gone(void)
{
	fake.cr3 = ++tasks_asked == 3 ? 0x2000 : 0x1000;
}

/* Both children have the caller's program and vdso. */
static void add_two_children(pid_t pid[2], void (*on_task)(void))
{
	struct auxtrace_recording *rec;

	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	for (int i = 0; i < 2; i++)
		pid[i] = fake_child(NULL);
	assert_int_equal(auxtrace_recording_add_task(rec, pid[0]), 0);
	tasks_asked = 0;
	fake.on_task = on_task;
	assert_int_equal(auxtrace_recording_add_task(rec, pid[1]), 0);
	fake.on_task = NULL;
	for (int i = 0; i < 2; i++)
		fake_child_end(pid[i]);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

static void a_cr3_that_a_forked_child_got_again_is_another_file(void **state)
{
	pid_t pid[2];
	char name[32];

	(void)state;
	need_vdso();
	add_two_children(pid, first_has_gone);
	for (int i = 0; i < 2; i++) {
		char *text, *end;

		snprintf(name, sizeof(name), "task.%d", pid[i]);
		expect_in(name, "\ncr3 0x1000\n");
		text = slurp(name, NULL);
		end = strstr(text, "\nend_tsc ");
		assert_non_null(end);
		/* The first one ended at the latest when the second was seen. */
		assert_int_equal(!strtoull(end + strlen("\nend_tsc "), NULL, 0), i);
		free(text);
	}
}

/* An exec while the mappings are read. */
static void execs_once(void)
{
	fake.cr3 = ++tasks_asked == 1 ? 0x1000 : 0x2000;
}

static void always_execs(void)
{
	fake.cr3 = ++tasks_asked * 0x1000;
}

/* With what CR3 is the caller recorded? It is asked for more than once. */
static unsigned int cr3_recorded(void (*on_task)(void))
{
	struct auxtrace_recording *rec;

	rec = new_recording("0", AUXTRACE_SETUP_USER);
	tasks_asked = 0;
	fake.on_task = on_task;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.on_task = NULL;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d.1", getpid())));
	return value_of("", "\ncr3 ");
}

static void page_tables_and_mappings_are_of_one_address_space(void **state)
{
	(void)state;
	assert_int_equal(cr3_recorded(execs_once), 0x2000);
}

static void a_process_that_execs_for_ever_is_recorded(void **state)
{
	(void)state;
	assert_int_not_equal(cr3_recorded(always_execs), 0);
}

static void processes_that_share_an_address_space_are_one_file(void **state)
{
	pid_t pid[2];

	(void)state;
	need_vdso();
	add_two_children(pid, NULL);
	expect_in(named("task.%d", pid[0]), "\nend_tsc 0\n");
	assert_false(exists(named("task.%d", pid[1])));
}

static void a_mapping_that_has_gone_is_kept(void **state)
{
	struct auxtrace_recording *rec;
	char path[128];
	FILE *f;
	void *p;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	/* Beside the recording: it must not hold what is not its own. */
	snprintf(path, sizeof(path), "%s.mapped", dir);
	f = fopen(path, "w+");
	assert_non_null(f);
	assert_int_equal(ftruncate(fileno(f), PAGE), 0);
	p = mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE, fileno(f), 0);
	assert_true(p != MAP_FAILED);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	munmap(p, PAGE);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	fclose(f);
	unlink(path);
	expect_in(named("task.%d", getpid()), path);
}

static void an_exec_ends_what_was_before_and_an_exit_the_last(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fails(ENOENT, auxtrace_recording_end_task(rec, 0, 0));
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, getpid(), 0), 0);
	fake.cr3 = 0x3000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 12345), 0);
	/* A thread goes on in it. */
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), value_of(".1", "\nbegin_tsc "));
	assert_true(value_of(".1", "\nend_tsc ") > value_of(".1", "\nbegin_tsc "));
	assert_true(value_of(".1", "\nend_tsc ") < value_of(".2", "\nbegin_tsc "));
	assert_int_equal(value_of(".2", "\nend_tsc "), 0);
}

/* perf reports forks and execs with their times, which are before the process is looked at. */
static void an_address_space_begins_when_it_is_reported_to(void **state)
{
	uint64_t begin, fork, exec, late;
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fork = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork), 0);
	exec = __builtin_ia32_rdtsc();
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_exec_task(rec, getpid(), exec), 0);
	/* It was read after several execs: the last one made it, whatever is reported last. */
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec + 2), 0);
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec + 1), 0);
	/* Not known when. */
	begin = __builtin_ia32_rdtsc();
	fake.cr3 = 0x3000;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, 0), 0);
	late = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nbegin_tsc "), fork);
	assert_int_equal(value_of("", "\nend_tsc "), exec);
	assert_int_equal(value_of(".1", "\nbegin_tsc "), exec + 2);
	assert_int_equal(value_of(".1", "\nend_tsc "), value_of(".2", "\nbegin_tsc "));
	assert_true(value_of(".2", "\nbegin_tsc ") > begin);
	assert_true(value_of(".2", "\nbegin_tsc ") < late);
	assert_int_equal(value_of(".2", "\nend_tsc "), 0);
}

/*
 * Each thread that exits is reported. All threads but one exit before an exec, the main thread
 * perhaps among them: the one that did the exec then has its number.
 */
static void threads_that_exit_before_an_exec_do_not_end_the_address_space(void **state)
{
	uint64_t exec[3];
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	exec[0] = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_end_task(rec, 0, exec[0] - 1), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, exec[0] - 2), 0);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_exec_task(rec, getpid(), exec[0]), 0);
	/* What the exec made was read before its report. */
	exec[1] = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_end_task(rec, 0, exec[1] - 1), 0);
	fake.cr3 = 0x3000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec[1]), 0);
	/* The process ended before it could be read again. */
	exec[2] = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_end_task(rec, 0, exec[2] - 1), 0);
	fake.task_errno = ESRCH;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec[2]), -1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), exec[0]);
	assert_int_equal(value_of(".1", "\nbegin_tsc "), exec[0]);
	assert_int_equal(value_of(".1", "\nend_tsc "), exec[1]);
	assert_int_equal(value_of(".2", "\nbegin_tsc "), exec[1]);
	assert_int_equal(value_of(".2", "\nend_tsc "), exec[2]);
}

/* Without a time, too: ptrace(2) reports an exec only. */
static void a_main_thread_that_exits_before_an_exec_does_not_end_the_address_space(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 0), 0);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), value_of(".1", "\nbegin_tsc "));
}

/* A server's children: they have its program and its vdso, and the kernel gives numbers again. */
static void a_number_and_a_cr3_that_are_both_used_again_are_another_file(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t exit, fork[4];

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	exit = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_end_task(rec, 0, exit), 0);
	fork[0] = exit + 1;
	while (__builtin_ia32_rdtsc() <= fork[0])
		;
	assert_int_equal(auxtrace_recording_begin_task(rec, getpid(), fork[0]), 0);
	/* perf lost the report of its exit. */
	fork[1] = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork[1]), 0);
	/* One that is read before its fork is reported. */
	fork[2] = __builtin_ia32_rdtsc();
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork[2]), 0);
	/* One that ends before it can be read: its exit is not another's. */
	fork[3] = __builtin_ia32_rdtsc();
	fake.task_errno = ESRCH;
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork[3]), -1);
	fails(ENOENT, auxtrace_recording_end_task(rec, 0, fork[3] + 1));
	/* Nor is an exec of the next one, whose fork was not reported. */
	fake.task_errno = 0;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), exit);
	assert_int_equal(value_of(".1", "\ncr3 "), 0x1000);
	assert_int_equal(value_of(".1", "\nbegin_tsc "), fork[0]);
	assert_int_equal(value_of(".1", "\nend_tsc "), fork[1]);
	assert_int_equal(value_of(".2", "\nbegin_tsc "), fork[1]);
	assert_int_equal(value_of(".2", "\nend_tsc "), fork[2]);
	assert_int_equal(value_of(".3", "\nbegin_tsc "), fork[2]);
	assert_int_equal(value_of(".3", "\nend_tsc "), fork[3]);
	assert_int_equal(value_of(".4", "\ncr3 "), 0x2000);
}

struct threads {
	int told[2], go[2];
};

static void *run_on(void *arg)
{
	const struct threads *t = arg;
	pid_t tid = gettid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	assert_int_equal(write(t->told[1], &tid, sizeof(tid)), sizeof(tid));
	while (pause())
		;
	return NULL;
}

/* A process of two threads, whose main thread exits when told to. Returns the other's number. */
static pid_t begin_two_threads(struct threads *t, pid_t *pid)
{
	pthread_t other;
	pid_t tid;

	assert_int_equal(pipe(t->told) | pipe(t->go), 0);
	*pid = fork();
	assert_true(*pid >= 0);
	if (!*pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (pthread_create(&other, NULL, run_on, t))
			_exit(1);
		wait_for(t->go[0]);
		syscall(SYS_exit, 0);
	}
	/* A child that fails closes the pipe. */
	assert_int_equal(close(t->told[1]), 0);
	assert_int_equal(read(t->told[0], &tid, sizeof(tid)), sizeof(tid));
	return tid;
}

static pid_t without_main_thread;

static void has_no_main_thread(void)
{
	fake.task_errno = fake.task_pid == without_main_thread ? ENXIO : 0;
}

static void end_main_thread(const struct threads *t, pid_t pid)
{
	char path[64], line[256], state = 0;

	pass_on(t->go[1]);
	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (state != 'Z') {
		FILE *f = fopen(path, "re");

		assert_non_null(f);
		assert_non_null(fgets(line, sizeof(line), f));
		assert_int_equal(fclose(f), 0);
		assert_int_equal(sscanf(strrchr(line, ')'), ") %c", &state), 1);
		usleep(1000);
	}
	/* The device then says of it what it says of a process that has ended. */
	without_main_thread = pid;
	fake.on_task = has_no_main_thread;
}

static void end_two_threads(struct threads *t, pid_t pid)
{
	fake.on_task = NULL;
	fake_child_end(pid);
	assert_int_equal(close(t->told[0]) | close(t->go[0]) | close(t->go[1]), 0);
}

static void a_process_goes_on_without_its_main_thread(void **state)
{
	struct auxtrace_recording *rec;
	struct threads threads;
	pid_t pid, tid;

	(void)state;
	need_vdso();
	tid = begin_two_threads(&threads, &pid);
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, pid), 0);
	end_main_thread(&threads, pid);
	assert_int_equal(auxtrace_recording_end_task(rec, pid, 0), 0);
	/* As ptrace(2) reports a thread, and /proc the process. */
	assert_int_equal(auxtrace_recording_add_task(rec, tid), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, pid, 0), 0);
	assert_int_equal(auxtrace_recording_add_task(rec, pid), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	end_two_threads(&threads, pid);
	expect_in(named("task.%d", pid), "\nend_tsc 0\n");
	assert_false(exists(named("task.%d.1", pid)));
	assert_false(exists(named("task.%d", tid)));
}

static void a_process_without_a_main_thread_is_recorded(void **state)
{
	struct auxtrace_recording *rec;
	struct threads threads;
	char name[40];
	pid_t pid;

	(void)state;
	begin_two_threads(&threads, &pid);
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.cr3 = 0x1000;
	end_main_thread(&threads, pid);
	assert_int_equal(auxtrace_recording_add_task(rec, pid), 0);
	assert_string_equal(auxtrace_error(), "");
	end_two_threads(&threads, pid);
	/* Now it has ended. */
	fake.task_errno = ENXIO;
	fails(ENXIO, auxtrace_recording_add_task(rec, pid));
	says("has no address space");
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", pid);
	expect_in(name, "\ncr3 0x1000\n");
	expect_in(name, libc_path());
	expect_not_in(name, "\nexe \n");
}

static void ends_at_second_question(void)
{
	fake.task_errno = fake.task_calls > 1 ? ESRCH : 0;
}

/* The device still knew its page tables; /proc has no mappings any more. */
static void a_process_that_ends_while_it_is_read_leaves_no_empty_entry(void **state)
{
	struct auxtrace_recording *rec;
	siginfo_t end;
	pid_t pid;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, &end, WEXITED | WNOWAIT), 0);
	fake.cr3 = 0x1000;
	fake.task_calls = 0;
	fake.on_task = ends_at_second_question;
	fails(ESRCH, auxtrace_recording_add_task(rec, pid));
	fake.on_task = NULL;
	fake.task_errno = 0;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d", pid)));
}

/* An exec of another thread; perf has not reported it. */
static void an_exec_that_cannot_be_read_ends_what_was_before(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t thread;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	thread = __builtin_ia32_rdtsc();
	assert_int_equal(auxtrace_recording_end_task(rec, 0, thread), 0);
	fake.task_errno = ESRCH;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, 0), -1);
	fake.task_errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(value_of("", "\nend_tsc ") > thread);
}

/* The process has ended before the report of its exec, but not before it was read. */
static void an_exec_that_is_reported_late_takes_nothing_away(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t fork, exec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fork = __builtin_ia32_rdtsc();
	exec = fork + 1;
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork), 0);
	fake.task_errno = ESRCH;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec), -1);
	/* Nor does one of the fork that comes last. */
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork), -1);
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0, "/bin/next"), 0);
	/* A thread that the exec ended. */
	assert_int_equal(auxtrace_recording_end_task(rec, 0, fork), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nbegin_tsc "), exec);
	assert_int_equal(value_of("", "\nend_tsc "), 0);
	expect_in(named("task.%d", getpid()), "/bin/next");
}

/* The process has ended before its new address space can be read. */
static void after_an_exec_nothing_is_added_to_what_was_before(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t exec, late;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	exec = __builtin_ia32_rdtsc();
	late = exec + 1;
	fake.task_errno = ESRCH;
	fails(ESRCH, auxtrace_recording_exec_task(rec, getpid(), exec));
	fake.task_errno = 0;
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0, "/bin/next"), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, late), 0);
	/* Another process with its number and page-table root. */
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0, "/bin/after"), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), exec);
	expect_not_in(named("task.%d", getpid()), "/bin/next");
	assert_true(value_of(".1", "\nbegin_tsc ") > exec);
	assert_int_equal(value_of(".1", "\nend_tsc "), 0);
	expect_in(named("task.%d.1", getpid()), "/bin/after");
	expect_not_in(named("task.%d.1", getpid()), "/bin/next");
	/* That is what was reported. */
	assert_int_equal(value_of(".2", "\nbegin_tsc "), exec);
	assert_int_equal(value_of(".2", "\nend_tsc "), late);
	expect_in(named("task.%d.2", getpid()), "/bin/next");
}

static void a_reported_mapping_goes_to_the_newest_address_space(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fails(ENOENT, auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0x400, "/lib/gone.so"));
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0x400,
								"/lib/gone.so"), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d.1", getpid()), "\nmap 1000-3000 r-xp 00000400 00:00 0 /lib/gone.so\n");
}

static void what_is_no_process_is_refused(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.fail.nr = AUXTRACE_IOC_TASK;
	fake.fail.err = ESRCH;
	fails(ESRCH, auxtrace_recording_add_task(rec, 4711));
	/* The process ended before its fork or exec was reported. */
	fails(ESRCH, auxtrace_recording_begin_task(rec, 4711, 1));
	fails(ESRCH, auxtrace_recording_exec_task(rec, 4711, 1));
	/* All of /proc: those that went meanwhile are passed over ... */
	assert_int_equal(auxtrace_recording_add_all_tasks(rec), 0);
	/* ... but a refusal is one. */
	fake.fail.err = EACCES;
	fails(EACCES, auxtrace_recording_add_all_tasks(rec));
	auxtrace_recording_abort(rec);
}

/* A user without a capability is not told page tables: the number stands for them. */
static void without_the_right_to_page_tables_the_number_stands_for_them(void **state)
{
	struct auxtrace_recording *rec;
	pid_t child;

	(void)state;
	fake.info.out_may = AUXTRACE_MAY_TRACE_OWN;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.fail.nr = AUXTRACE_IOC_TASK;
	fake.fail.err = EACCES;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_true(auxtrace_recording_add_all_tasks(rec) > 0);
	child = fork();
	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	fails(ESRCH, auxtrace_recording_add_task(rec, child));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\ncr3 "), (uint64_t)getpid() << 12 | 1);
	assert_int_equal(value_of("", "\ncr3_mask "), UINT64_MAX);
}

/* The process has its new page tables before perf reports the exec, and was read in between. */
static void an_address_space_that_is_read_within_its_exec_is_one(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t exec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	fake.on_snapshot = take_slot;
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, 0), 0);
	/* It says when the reading began. */
	next_slot = 1;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	exec = number_in(named("snapshot.0001/task.%d", getpid()), "\nbegin_tsc ") + 1;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nbegin_tsc "), exec);
	assert_int_equal(value_of("", "\nend_tsc "), 0);
	assert_false(exists(named("task.%d.1", getpid())));
}

/* What stands for maps, mem, comm and exe of every process in /proc. */
static char process[80];

static void write_process(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", process, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* Memory of 'v' from 0x10000 to @end, where the vdso is; 0: none. */
static void write_memory(long end)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/mem", process);
	unlink(path);
	if (!end)
		return;
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0x10000, SEEK_SET), 0);
	for (long at = 0x10000; at < end; at++)
		putc('v', f);
	assert_int_equal(fclose(f), 0);
}

static void set_exe(const char *target)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/exe", process);
	unlink(path);
	assert_int_equal(symlink(target, path), 0);
}

static int begin_process(void **state)
{
	if (begin_recording(state))
		return -1;
	snprintf(process, sizeof(process), "%s.process", dir);
	if (mkdir(process, 0700))
		return -1;
	fake.process = process;
	write_process("comm", "the program\n");
	set_exe("/nowhere/program");
	write_memory(0x11000);
	return 0;
}

static int end_process(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", process);
	return system(command) | end_recording(state);
}

/* After a recording: for the next one all is as at the begin. */
static void next_recording(void **state)
{
	assert_int_equal(end_process(state), 0);
	assert_int_equal(begin_process(state), 0);
}

#define VDSO	"10000-11000 r-xp 00000000 00:00 0 [vdso]\n"
#define PROGRAM	"40000-41000 r-xp 00000000 00:00 0 /nowhere/program\n"
#define LIBRARY	"50000-51000 r-xp 00000000 00:00 0 /nowhere/library\n"

static void mappings_that_no_decoder_can_use_are_left_out(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	char *text, *vdso, expected[512];
	size_t size;

	(void)state;
	write_process("maps", VDSO
		      "20000-21000 r-xp 00000000 00:00 0 [uprobes]\n"
		      "30000-31000 rw-p 00000000 00:00 0 [heap]\n"
		      "31000-32000 r--p 00000000 00:00 0 [vvar]\n"
		      "32000-33000 rw-p 00000000 00:00 0 \n"
		      "33000 r-xp 00000000 00:00 0 /nowhere/one_number\n"
		      "what /nowhere/no_number\n"
		      PROGRAM PROGRAM
		      "60000-61000 r-xp 00000000 00:00 0 /nowhere/a [file] without a newline");
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(expected, sizeof(expected), "\nvdso 0x10000 vdso.%d\nmap " VDSO
		 "map 20000-21000 r-xp 00000000 00:00 0 [uprobes]\nmap " PROGRAM
		 "map 60000-61000 r-xp 00000000 00:00 0 /nowhere/a [file] without a newline\n", getpid());
	text = slurp(named("task.%d", getpid()), NULL);
	vdso = strstr(text, "\nvdso ");
	assert_non_null(vdso);
	assert_string_equal(vdso, expected);
	assert_non_null(strstr(text, "\ncomm the program\nexe /nowhere/program\n"));
	free(text);
	vdso = slurp(named("vdso.%d", getpid()), &size);
	assert_int_equal(size, PAGE);
	assert_int_equal(vdso[0], 'v');
	assert_int_equal(vdso[PAGE - 1], 'v');
	free(vdso);
}

static void a_vdso_that_cannot_be_read_is_left_out(void **state)
{
	static const struct {
		long end, memory;
		bool recorded;
	} cases[] = {
		{ 0x10000, 0x11000, false },
		{ 0x10001, 0x11000, true },
		{ 0x11000, 0x11000, true },
		{ 0x11000, 0x10fff, false },
		{ 0x11000, 0x10000, false },
		{ 0x11000, 0, false },
		/* No vdso is so large. */
		{ 0x110000, 0x110001, true },
		{ 0x110001, 0x110001, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
		char name[32], maps[64];

		snprintf(maps, sizeof(maps), "10000-%lx r-xp 00000000 00:00 0 [vdso]\n", cases[i].end);
		write_process("maps", maps);
		write_memory(cases[i].memory);
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		snprintf(name, sizeof(name), "task.%d", getpid());
		expect_in(name, maps);
		assert_int_equal(exists(named("vdso.%d", getpid())), cases[i].recorded);
		if (cases[i].recorded)
			expect_in(name, "\nvdso 0x10000 ");
		else
			expect_not_in(name, "\nvdso ");
		next_recording(state);
	}
}

/* It may end at any time, and the device may have answered before. */
static void a_process_without_names_has_none(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);

	(void)state;
	write_process("maps", PROGRAM);
	for (unsigned int i = 0; i < 2; i++) {
		char path[128];

		fake.cr3 = (i + 1) << 12;
		write_process("comm", "");
		snprintf(path, sizeof(path), "%s/%s", process, i ? "comm" : "exe");
		assert_int_equal(unlink(path), 0);
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", getpid()), "\ncomm \nexe \ncr3 ");
	expect_in(named("task.%d.1", getpid()), "\ncomm \nexe \ncr3 ");
}

/* /proc/PID/mem then gets the descriptor 0. */
static void a_process_without_a_standard_input_reads_a_vdso(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ret, left;

	(void)state;
	assert_return_code(input, errno);
	write_process("maps", VDSO);
	close(STDIN_FILENO);
	ret = auxtrace_recording_add_task(rec, 0);
	left = fcntl(STDIN_FILENO, F_GETFD);
	assert_return_code(dup2(input, STDIN_FILENO), errno);
	close(input);
	assert_int_equal(ret, 0);
	assert_int_equal(left, -1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(exists(named("vdso.%d", getpid())));
}

static int try_to_add(struct auxtrace_recording *rec, int step)
{
	if (step < 2)
		return auxtrace_recording_add_task(rec, 0);
	return auxtrace_recording_add_mapping(rec, getpid(), 0x70000, 0x71000, 0, "/nowhere/reported");
}

static void each_allocation_for_a_task_may_fail(void **state)
{
	static const char none[] = "no memory for process", unread[] = "cannot read the mappings of process";
	/* The process is read for the first time, then with a mapping that is new; one is reported. */
	static const struct {
		const char *maps, *texts[9];
	} steps[] = {
		{ VDSO, { none, unread, unread, unread } },
		{ VDSO LIBRARY, { none, unread, unread, unread, unread, unread, none, none } },
		{ "", { none, none } },
	};
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	char name[32];

	(void)state;
	for (int i = 0; i < 3; i++) {
		int n;

		write_process("maps", steps[i].maps);
		for (n = 0; steps[i].texts[n]; n++) {
			fake.fail_alloc = n + 1;
			fails(ENOMEM, try_to_add(rec, i));
			says(steps[i].texts[n]);
		}
		fake.fail_alloc = n + 1;
		assert_int_equal(try_to_add(rec, i), 0);
		/* It needs no more than that. */
		assert_int_equal(fake.fail_alloc, 1);
		fake.fail_alloc = 0;
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", getpid());
	expect_in(name, "map " VDSO "map " LIBRARY "map 70000-71000 r-xp 00000000 00:00 0 /nowhere/reported\n");
	assert_false(exists(named("task.%d.1", getpid())));
}

/* Two readings with the same page-table root, of one process or of two. */
static void an_address_space_is_told_by_its_program_and_its_vdso(void **state)
{
	static const char other_vdso[] = "20000-21000 r-xp 00000000 00:00 0 [vdso]\n";
	static const struct {
		const char *maps[2];
		bool other_program, other_process;
		int entries;
	} cases[] = {
		{ { VDSO, VDSO }, false, false, 1 },
		{ { VDSO, other_vdso }, false, false, 2 },
		{ { VDSO, VDSO }, true, false, 2 },
		{ { PROGRAM, VDSO }, false, false, 1 },
		{ { PROGRAM, VDSO }, true, false, 2 },
		{ { VDSO, VDSO }, false, true, 1 },
		{ { VDSO, other_vdso }, false, true, 2 },
		{ { VDSO, VDSO }, true, true, 2 },
		/* Without a vdso they cannot be told apart. */
		{ { PROGRAM, VDSO }, false, true, 2 },
		{ { PROGRAM, PROGRAM }, false, true, 2 },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
		pid_t pid = fake_child(NULL), second = cases[i].other_process ? getpid() : pid;

		write_process("maps", cases[i].maps[0]);
		assert_int_equal(auxtrace_recording_add_task(rec, pid), 0);
		write_process("maps", cases[i].maps[1]);
		if (cases[i].other_program)
			set_exe("/nowhere/other");
		assert_int_equal(auxtrace_recording_add_task(rec, second), 0);
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		fake_child_end(pid);
		assert_true(exists(named("task.%d", pid)));
		assert_int_equal(1 + exists(named("task.%d.1", pid)) + exists(named("task.%d", getpid())),
				 cases[i].entries);
		next_recording(state);
	}
}

/*
 * What TASK answers for the first process, and for its second thread. Any other process has the
 * CR3 0x1000.
 */
static struct {
	pid_t pid, tid;
	int err, thread_err;
	uint64_t thread_cr3;
} first_process;

static void answer_for_first_process(void)
{
	bool thread = fake.task_pid == first_process.tid;

	if (fake.task_pid == first_process.pid)
		fake.task_errno = first_process.err;
	else
		fake.task_errno = thread ? first_process.thread_err : 0;
	fake.cr3 = thread ? first_process.thread_cr3 : 0x1000;
}

static void a_process_that_is_gone_has_lost_its_page_tables(void **state)
{
	static const struct {
		int err, thread_err;
		uint64_t thread_cr3;
		bool ended, gone;
	} cases[] = {
		{ ESRCH, 0, 0x1000, false, true },
		{ ESRCH, 0, 0x1000, true, true },
		{ ENXIO, ENXIO, 0, false, true },
		{ ENXIO, ESRCH, 0, true, true },
		{ ENXIO, 0, 0x1000, false, false },
		{ ENXIO, 0, 0x2000, false, true },
		/* The device does not say, so the process is taken to have them. */
		{ EPERM, 0, 0x2000, false, false },
		{ EPERM, 0, 0x2000, true, false },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
		uint64_t exit_tsc, end, begin;
		struct threads threads;
		char name[32];

		write_process("maps", VDSO);
		first_process.tid = begin_two_threads(&threads, &first_process.pid);
		assert_int_equal(auxtrace_recording_add_task(rec, first_process.pid), 0);
		exit_tsc = __builtin_ia32_rdtsc();
		if (cases[i].ended)
			assert_int_equal(auxtrace_recording_end_task(rec, first_process.pid, exit_tsc), 0);
		first_process.err = cases[i].err;
		first_process.thread_err = cases[i].thread_err;
		first_process.thread_cr3 = cases[i].thread_cr3;
		fake.on_task = answer_for_first_process;
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		end_two_threads(&threads, first_process.pid);
		assert_int_equal(exists(named("task.%d", getpid())), cases[i].gone);
		snprintf(name, sizeof(name), "task.%d", first_process.pid);
		end = number_in(name, "\nend_tsc ");
		begin = cases[i].gone ? value_of("", "\nbegin_tsc ") : 0;
		assert_int_equal(end, cases[i].gone && cases[i].ended ? exit_tsc : begin);
		next_recording(state);
	}
}

/* No thread has an address space any more, or they cannot be listed. */
static void threads_that_cannot_be_asked_are_told(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	struct rlimit was, no_files;
	struct threads threads;
	int ret, err;

	(void)state;
	first_process.tid = begin_two_threads(&threads, &first_process.pid);
	first_process.err = ENXIO;
	first_process.thread_err = ESRCH;
	fake.on_task = answer_for_first_process;
	fails(ENXIO, auxtrace_recording_add_task(rec, first_process.pid));
	says("has no address space");
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	no_files = (struct rlimit){ .rlim_cur = 0, .rlim_max = was.rlim_max };
	fail_forget();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &no_files), 0);
	ret = auxtrace_recording_add_task(rec, first_process.pid);
	err = errno;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(ret, -1);
	assert_int_equal(err, EMFILE);
	says("cannot read the threads of process");
	says("Too many open files");
	fake.fail_readdir = 1;
	fails(EIO, auxtrace_recording_add_task(rec, first_process.pid));
	says("cannot read the threads of process");
	says("Input/output error");
	end_two_threads(&threads, first_process.pid);
	auxtrace_recording_abort(rec);
}

/* The fork has no time, and the new process ends before it is read. */
static void a_fork_that_cannot_be_read_ends_what_had_the_number(void **state)
{
	for (int ended = 0; ended < 2; ended++) {
		struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
		uint64_t exit_tsc;

		write_process("maps", PROGRAM);
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
		exit_tsc = __builtin_ia32_rdtsc();
		if (ended)
			assert_int_equal(auxtrace_recording_end_task(rec, 0, exit_tsc), 0);
		fake.task_errno = ESRCH;
		fails(ESRCH, auxtrace_recording_begin_task(rec, 0, 0));
		fake.task_errno = 0;
		/* A later exit is not that of the first process. */
		fails(ENOENT, auxtrace_recording_end_task(rec, 0, 0));
		says("is not in the recording");
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		if (ended)
			assert_int_equal(value_of("", "\nend_tsc "), exit_tsc);
		else
			assert_true(value_of("", "\nend_tsc ") > exit_tsc);
		next_recording(state);
	}
}

static void an_address_space_may_end_as_it_begins(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	uint64_t fork = __builtin_ia32_rdtsc();

	(void)state;
	write_process("maps", PROGRAM);
	assert_int_equal(auxtrace_recording_begin_task(rec, 0, fork), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, fork - 1), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, fork), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nbegin_tsc "), fork);
	assert_int_equal(value_of("", "\nend_tsc "), fork);
}

/* It was read, so it was there: the report is of another time. */
static void a_begin_after_the_reading_is_not_believed(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	const uint64_t late = UINT64_MAX;

	(void)state;
	write_process("maps", PROGRAM);
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, late), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(value_of("", "\nbegin_tsc ") < late);
}

#define GONE	4711	/* a process that cannot be read */

static struct auxtrace_recording *recording_of_a_parent(void)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);

	write_process("maps", VDSO PROGRAM LIBRARY);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.task_errno = ESRCH;
	return rec;
}

static void expect_reported(const char *suffix, uint64_t begin, uint64_t end)
{
	const char *name = named("task.%d%s", GONE, suffix);

	expect_in(name, "\ncr3 unknown\n");
	expect_not_in(name, "cr3_mask");
	assert_int_equal(number_in(name, "\nbegin_tsc "), begin);
	assert_int_equal(number_in(name, "\nend_tsc "), end);
}

static void a_child_that_cannot_be_read_has_what_its_parent_has(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();
	char *vdso, text[512];

	(void)state;
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 1000));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0x400, "/lib/later.so"), 0);
	/* The child's child, before the child ends; and the next process with the child's number. */
	fails(ESRCH, auxtrace_recording_fork_task(rec, GONE, GONE + 1, 1500));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x5000, 0x6000, 0, "/lib/last.so"), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, 2000), 0);
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 3000));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_reported("", 1000, 2000);
	expect_in(named("task.%d", GONE), "\ncomm the program\nexe /nowhere/program\n");
	snprintf(text, sizeof(text), "\nvdso 0x10000 vdso.%d\nmap " VDSO "map " PROGRAM "map " LIBRARY
		 "map 1000-3000 r-xp 00000400 00:00 0 /lib/later.so\nmap 5000-6000 r-xp 00000000 00:00 0 /lib/last.so\n",
		 getpid());
	expect_in(named("task.%d", GONE), text);
	/* All have the same vdso: it is there once. */
	vdso = slurp(named("vdso.%d", getpid()), NULL);
	assert_int_equal(vdso[PAGE - 1], 'v');
	free(vdso);
	assert_false(exists(named("vdso.%d", GONE)));
	expect_in(named("task.%d", GONE + 1), "/lib/later.so\n");
	expect_not_in(named("task.%d", GONE + 1), "/lib/last.so\n");
	expect_reported(".1", 3000, 0);
	expect_not_in(named("task.%d.1", GONE), "/lib/later.so\n");
	/* Nothing of that is the parent's. */
	expect_not_in(named("task.%d", getpid()), "/lib/later.so");
	assert_int_equal(value_of("", "\nend_tsc "), 0);
}

static void a_program_that_cannot_be_read_has_what_is_reported(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	(void)state;
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 1000));
	fails(ESRCH, auxtrace_recording_exec_task(rec, GONE, 2000));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0,
							"/bin/a-name-of-more-bytes"), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x5000, 0x6000, 0, "/lib/next.so"), 0);
	/* What it had mapped there would be read as more lines. */
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x7000, 0x8000, 0, "/lib/a\npid 1\n"), 0);
	/* Of the one vdso in the recording it has another size. */
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x70000, 0x72000, 0, "[vdso]"), 0);
	/* A thread: the process goes on until its exec. */
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, 3000), 0);
	fails(ESRCH, auxtrace_recording_exec_task(rec, GONE, 5000));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0, "/nowhere/last"), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x70000, 0x71000, 0, "[vdso]"), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_reported("", 1000, 2000);
	expect_not_in(named("task.%d", GONE), "/lib/next.so");
	expect_reported(".1", 2000, 5000);
	expect_in(named("task.%d.1", GONE), "\ncomm a-name-of-more-\nexe /bin/a-name-of-more-bytes\n");
	expect_in(named("task.%d.1", GONE), "\nmap 1000-3000 r-xp 00000000 00:00 0 /bin/a-name-of-more-bytes\n"
		  "map 5000-6000 r-xp 00000000 00:00 0 /lib/next.so\nmap 70000-72000 ");
	expect_not_in(named("task.%d.1", GONE), "\nvdso ");
	expect_reported(".2", 5000, 0);
	expect_in(named("task.%d.2", GONE), "\nvdso 0x70000 vdso.");
	expect_in(named("task.%d.2", GONE), "\nmap 1000-3000 r-xp 00000000 00:00 0 /nowhere/last\n"
		  "map 70000-71000 r-xp 00000000 00:00 0 [vdso]\n");
}

/* A process that is there when perf's reports of it are read, but runs the last of several programs. */
static void programs_before_the_one_that_is_read_are_what_is_reported(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();
	const uint64_t fork = __rdtsc(), env = fork + 1, exec = fork + 2;

	(void)state;
	fake.task_errno = 0;
	fake.cr3 = 0x2000;
	set_exe("/nowhere/other");
	write_process("maps", LIBRARY);
	assert_int_equal(auxtrace_recording_fork_task(rec, getpid(), GONE, fork), 0);
	assert_int_equal(auxtrace_recording_exec_task(rec, GONE, env), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0, "/bin/env"), 0);
	assert_int_equal(auxtrace_recording_exec_task(rec, GONE, exec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", GONE), "exe /nowhere/other\ncr3 0x2000\n");
	assert_int_equal(number_in(named("task.%d", GONE), "\nbegin_tsc "), exec);
	expect_reported(".1", fork, env);
	expect_in(named("task.%d.1", GONE), "exe /nowhere/program\n");
	expect_reported(".2", env, exec);
	expect_in(named("task.%d.2", GONE), "exe /bin/env\n");
	assert_false(exists(named("task.%d.3", GONE)));
}

/* The parent is read when it already runs another program: its child was a copy of the one before. */
static void a_child_has_what_its_parent_had_at_the_fork(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();
	const uint64_t now = __rdtsc();

	(void)state;
	fake.task_errno = 0;
	fake.cr3 = 0x2000;
	set_exe("/nowhere/other");
	write_process("maps", "60000-61000 r-xp 00000000 00:00 0 /nowhere/other\n");
	assert_int_equal(auxtrace_recording_fork_task(rec, getpid(), GONE, now), 0);
	fake.task_errno = ESRCH;
	fails(ESRCH, auxtrace_recording_fork_task(rec, GONE, GONE + 1, now + 1));
	assert_int_equal(auxtrace_recording_end_task(rec, GONE + 1, now + 2), 0);
	fails(ESRCH, auxtrace_recording_exec_task(rec, GONE, now + 3));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", GONE + 1), "/nowhere/library");
	expect_not_in(named("task.%d", GONE + 1), "/nowhere/other");
}

/* The exit of a thread is no end of the process, of which the next child is a copy. */
static void a_child_of_a_process_that_lost_a_thread_is_a_copy_of_it(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();
	const uint64_t now = __rdtsc();

	(void)state;
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, now));
	fake.task_errno = 0;
	fake.cr3 = 0x2000;
	set_exe("/nowhere/other");
	write_process("maps", "60000-61000 r-xp 00000000 00:00 0 /nowhere/other\n");
	assert_int_equal(auxtrace_recording_exec_task(rec, GONE, now + 1), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x60000, 0x61000, 0, "/nowhere/other"), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, now + 2), 0);
	fake.task_errno = ESRCH;
	fails(ESRCH, auxtrace_recording_fork_task(rec, GONE, GONE + 1, now + 3));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", GONE + 1), "/nowhere/other\n");
	expect_not_in(named("task.%d", GONE + 1), "/nowhere/library");
	/* What was read of the process is in the recording, and what was before its exec. */
	expect_in(named("task.%d", GONE), "\ncr3 0x2000\n");
	expect_reported(".1", now, now + 1);
	assert_false(exists(named("task.%d.2", GONE)));
}

/* It ends while /proc shows its mappings: the rest is missing. */
static void a_reading_that_is_cut_short_is_of_the_same_address_space(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	(void)state;
	fake.task_errno = 0;
	write_process("maps", PROGRAM);
	fake.task_calls = 0;
	fake.on_task = ends_at_second_question;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.on_task = NULL;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", getpid()), LIBRARY);
	assert_false(exists(named("task.%d.1", getpid())));
}

static void what_is_reported_is_better_than_a_reading_that_is_cut_short(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	(void)state;
	fake.task_errno = 0;
	fake.cr3 = 0x2000;
	write_process("maps", PROGRAM);
	fake.task_calls = 0;
	fake.on_task = ends_at_second_question;
	assert_int_equal(auxtrace_recording_fork_task(rec, getpid(), GONE, 1000), 0);
	fake.on_task = NULL;
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, 2000), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d", GONE)));
	expect_in(named("task.%d.1", GONE), "\ncr3 0x2000\ncr3_mask 0xffffffffff000\nbegin_tsc 1000\nend_tsc 2000\n");
	expect_in(named("task.%d.1", GONE), LIBRARY);
}

/* The rings of two CPUs are read one after the other. */
static void an_exec_may_be_reported_before_the_fork(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	(void)state;
	fails(ESRCH, auxtrace_recording_exec_task(rec, GONE, 2000));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0, "/bin/next"), 0);
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 1000));
	assert_int_equal(auxtrace_recording_add_mapping(rec, GONE, 0x5000, 0x6000, 0, "/lib/next.so"), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, 3000), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_reported("", 1000, 2000);
	expect_in(named("task.%d", GONE), "/nowhere/program");
	expect_not_in(named("task.%d", GONE), "next");
	expect_reported(".1", 2000, 3000);
	expect_in(named("task.%d.1", GONE), "/lib/next.so");
}

static void a_child_that_is_read_is_one_address_space(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();
	const uint64_t fork = __rdtsc();

	(void)state;
	fake.task_errno = 0;
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_fork_task(rec, getpid(), GONE, fork), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, GONE, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in(named("task.%d", GONE), "\ncr3 0x2000\n");
	assert_int_equal(number_in(named("task.%d", GONE), "\nbegin_tsc "), fork);
	assert_false(exists(named("task.%d.1", GONE)));
}

/* A thread of the kernel, of whose parent nothing is known; and one whose parent is outside of the PID namespace. */
static void of_what_nothing_is_known_there_is_no_entry(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	(void)state;
	fake.task_errno = ENXIO;
	fails(ENXIO, auxtrace_recording_fork_task(rec, 2, GONE, 1000));
	fails(ENXIO, auxtrace_recording_exec_task(rec, GONE, 2000));
	fails(ENXIO, auxtrace_recording_fork_task(rec, 0, GONE + 1, 1000));
	fails(ENOENT, auxtrace_recording_add_mapping(rec, GONE + 1, 0x1000, 0x3000, 0, "/bin/next"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d", GONE)));
	assert_false(exists(named("task.%d", GONE + 1)));
}

/* Reports without a time could be of any; and those of another PID namespace have other numbers than the trace. */
static void reports_that_the_trace_does_not_know_are_not_used(void **state)
{
	struct auxtrace_recording *rec = recording_of_a_parent();

	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 0));
	fails(ESRCH, auxtrace_recording_exec_task(rec, GONE, 0));
	fails(ENOENT, auxtrace_recording_add_mapping(rec, GONE, 0x1000, 0x3000, 0, "/bin/next"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d", GONE)));
	auxtrace_close(session);
	session = NULL;
	next_recording(state);
	fake.pid_namespace = "pid:[4026532000]";
	rec = recording_of_a_parent();
	fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), GONE, 1000));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_false(exists(named("task.%d", GONE)));
}

#define MANY	6200	/* more than a recording keeps */
#define FIRST	10000000

static void only_the_parent_is_there(void)
{
	fake.task_errno = fake.task_pid >= FIRST ? ESRCH : 0;
}

/* @flags of the session. Processes FIRST and so on come and go, as time goes on. The parent goes on, but for a thread. */
static void record_many(uint32_t flags)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER | flags);

	write_process("maps", PROGRAM);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 0), 0);
	fake.on_task = only_the_parent_is_there;
	for (int i = 0; i < MANY; i++) {
		uint64_t now = __rdtsc();

		fails(ESRCH, auxtrace_recording_fork_task(rec, getpid(), FIRST + i, now));
		assert_int_equal(auxtrace_recording_end_task(rec, FIRST + i, now + 1), 0);
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

static void of_a_trace_that_is_overwritten_the_newest_processes_are_kept(void **state)
{
	uint64_t forgotten;

	(void)state;
	record_many(AUXTRACE_SETUP_OVERWRITE);
	forgotten = number_in("meta", "\ntasks_forgotten ");
	assert_true(forgotten >= MANY - 4096 && forgotten < MANY - 2047);
	assert_false(exists(named("task.%d", FIRST + (int)forgotten - 1)));
	assert_true(exists(named("task.%d", FIRST + (int)forgotten)));
	assert_true(exists(named("task.%d", FIRST + MANY - 1)));
	assert_true(exists(named("task.%d", getpid())));
}

static pid_t present;	/* of the processes from FIRST on, the one that has not ended */

static void one_is_there(void)
{
	fake.task_errno = fake.task_pid >= FIRST && fake.task_pid != present ? ESRCH : 0;
	fake.cr3 = fake.task_pid >= FIRST ? 0x1000ull * (fake.task_pid - FIRST + 2) : 0x1000;
}

/* Each is read before it ends. */
static void of_those_that_were_read_the_newest_are_kept_too(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	uint64_t forgotten;

	(void)state;
	write_process("maps", PROGRAM);
	fake.on_task = one_is_there;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 0), 0);
	for (present = FIRST; present < FIRST + MANY; present++) {
		assert_int_equal(auxtrace_recording_begin_task(rec, present, __rdtsc()), 0);
		assert_int_equal(auxtrace_recording_end_task(rec, present, 0), 0);
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	forgotten = number_in("meta", "\ntasks_forgotten ");
	assert_true(forgotten > 0 && forgotten < MANY - 2047);
	assert_false(exists(named("task.%d", FIRST + (int)forgotten - 1)));
	assert_true(exists(named("task.%d", FIRST + (int)forgotten)));
	assert_true(exists(named("task.%d", FIRST + MANY - 1)));
	/* A thread of this one has ended: it is still there. */
	assert_true(exists(named("task.%d", getpid())));
}

static void of_a_full_trace_all_processes_are_kept(void **state)
{
	(void)state;
	record_many(0);
	expect_not_in("meta", "tasks_forgotten");
	assert_true(exists(named("task.%d", FIRST)));
	assert_true(exists(named("task.%d", getpid())));
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin_recording, end_recording)
#define p(f) cmocka_unit_test_setup_teardown(f, begin_process, end_process)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_task_is_its_cr3_its_mappings_and_its_vdso),
		t(code_that_a_map_names_is_read_from_memory),
		t(a_dump_that_a_process_has_mapped_is_copied),
		t(a_vdso_that_comes_later_belongs_to_the_same_address_space),
		t(another_cr3_of_one_pid_is_another_file),
		t(a_cr3_that_a_forked_child_got_again_is_another_file),
		t(page_tables_and_mappings_are_of_one_address_space),
		t(a_process_that_execs_for_ever_is_recorded),
		t(processes_that_share_an_address_space_are_one_file),
		t(a_mapping_that_has_gone_is_kept),
		t(an_exec_ends_what_was_before_and_an_exit_the_last),
		t(an_address_space_begins_when_it_is_reported_to),
		t(threads_that_exit_before_an_exec_do_not_end_the_address_space),
		t(a_main_thread_that_exits_before_an_exec_does_not_end_the_address_space),
		t(a_number_and_a_cr3_that_are_both_used_again_are_another_file),
		t(a_process_goes_on_without_its_main_thread),
		t(a_process_without_a_main_thread_is_recorded),
		t(a_process_that_ends_while_it_is_read_leaves_no_empty_entry),
		t(an_address_space_that_is_read_within_its_exec_is_one),
		t(without_the_right_to_page_tables_the_number_stands_for_them),
		t(an_exec_that_cannot_be_read_ends_what_was_before),
		t(an_exec_that_is_reported_late_takes_nothing_away),
		t(after_an_exec_nothing_is_added_to_what_was_before),
		t(a_reported_mapping_goes_to_the_newest_address_space),
		t(what_is_no_process_is_refused),
		p(mappings_that_no_decoder_can_use_are_left_out),
		p(a_vdso_that_cannot_be_read_is_left_out),
		p(a_process_without_names_has_none),
		p(a_process_without_a_standard_input_reads_a_vdso),
		p(each_allocation_for_a_task_may_fail),
		p(an_address_space_is_told_by_its_program_and_its_vdso),
		p(a_process_that_is_gone_has_lost_its_page_tables),
		p(threads_that_cannot_be_asked_are_told),
		p(a_fork_that_cannot_be_read_ends_what_had_the_number),
		p(an_address_space_may_end_as_it_begins),
		p(a_begin_after_the_reading_is_not_believed),
		p(a_child_that_cannot_be_read_has_what_its_parent_has),
		p(a_program_that_cannot_be_read_has_what_is_reported),
		p(programs_before_the_one_that_is_read_are_what_is_reported),
		p(a_child_has_what_its_parent_had_at_the_fork),
		p(a_child_of_a_process_that_lost_a_thread_is_a_copy_of_it),
		p(a_reading_that_is_cut_short_is_of_the_same_address_space),
		p(what_is_reported_is_better_than_a_reading_that_is_cut_short),
		p(an_exec_may_be_reported_before_the_fork),
		p(a_child_that_is_read_is_one_address_space),
		p(of_what_nothing_is_known_there_is_no_entry),
		p(reports_that_the_trace_does_not_know_are_not_used),
		p(of_a_trace_that_is_overwritten_the_newest_processes_are_kept),
		p(of_those_that_were_read_the_newest_are_kept_too),
		p(of_a_full_trace_all_processes_are_kept),
	};

	return cmocka_run_group_tests_name("userlib task list", tests, NULL, NULL);
}
