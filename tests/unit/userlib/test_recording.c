// SPDX-License-Identifier: GPL-2.0
#include "ringwriter.h"

#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
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

#include <auxtrace.h>

#define SIZE	(2 * PAGE)
#define says(text) assert_non_null(strstr(auxtrace_error(), text))

static char dir[64];
static struct auxtrace_session *session;

static int begin(void **state)
{
	fake_new(state);
	/* What is written is then told to the byte; O_DIRECT has tests of its own. */
	fake.no_direct = true;
	snprintf(dir, sizeof(dir), "%s/auxtrace-test.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	return mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	char command[128];

	auxtrace_close(session);
	session = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command) | fake_end(state);
}

static void set_up(const char *cpus, uint32_t flags)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = cpus, .config = "tsc", .aux_size = SIZE, .flags = flags,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
}

static void produce(unsigned int cpu, uint64_t to)
{
	struct fake_channel *ch = &fake.channel[cpu];

	for (uint64_t p = ch->status->produced; p < to; p++)
		ch->aux[p % SIZE] = p * 31 + p / 256 + cpu;
	ch->status->produced = to;
	if (fake.setup.flags & AUXTRACE_SETUP_OVERWRITE)
		ch->status->overwritten = to > SIZE ? to - SIZE : 0;
}

static char *slurp(const char *name, size_t *size)
{
	char path[128], *text;
	struct stat st;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "r");
	assert_non_null(f);
	assert_int_equal(fstat(fileno(f), &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_non_null(text);
	assert_int_equal(fread(text, 1, st.st_size, f), st.st_size);
	fclose(f);
	if (size)
		*size = st.st_size;
	return text;
}

static void expect_in(const char *name, const char *text)
{
	char *content = slurp(name, NULL);

	if (!strstr(content, text))
		fail_msg("%s does not have \"%s\" but:\n%s", name, text, content);
	free(content);
}

static void expect_not_in(const char *name, const char *text)
{
	char *content = slurp(name, NULL);

	assert_null(strstr(content, text));
	free(content);
}

static bool exists(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !access(path, F_OK);
}

static unsigned int mode_of(const char *name)
{
	char path[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(stat(path, &st), 0);
	return st.st_mode & 0777;
}

/* The file has what was produced [from, to), behind @pad bytes of 0. */
static void expect_aux_behind(const char *prefix, unsigned int cpu, uint64_t from, uint64_t to,
			      size_t pad)
{
	char name[64];
	uint8_t *data;
	size_t size;

	snprintf(name, sizeof(name), "%scpu%u.aux", prefix, cpu);
	data = (uint8_t *)slurp(name, &size);
	assert_int_equal(size, pad + to - from);
	for (size_t i = 0; i < pad; i++)
		assert_int_equal(data[i], 0);
	for (uint64_t p = from; p < to; p++)
		assert_int_equal(data[pad + p - from], (uint8_t)(p * 31 + p / 256 + cpu));
	free(data);
}

static void expect_aux(unsigned int cpu, uint64_t from, uint64_t to)
{
	expect_aux_behind("", cpu, from, to, 0);
}

static void a_recording_of_bts_says_so(void **state)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .pmu = AUXTRACE_PMU_INTEL_BTS, .cpus = "0", .aux_size = SIZE,
		.flags = AUXTRACE_SETUP_USER,
	};
	struct auxtrace_recording *rec;

	(void)state;
	fake.caps.bts.flags = AUXTRACE_BTS_CPL | AUXTRACE_BTS_BUFFERED;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 48);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(0, 0, 48);
	expect_in("meta", "\npmu 1\n");
	expect_in("meta", "\nbts_flags 0x3\n");
	expect_in("meta", "\nconfig 0\n");
	expect_in("meta", "cpu 0 begin 0 read 48 ");
}

static void a_full_trace_is_recorded_whole_across_many_wraps(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t at = 0;

	(void)state;
	/* The library makes it. */
	assert_int_equal(rmdir(dir), 0);
	set_up("0,2", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	for (unsigned int i = 0; i < 20; i++) {
		at += 1000 + 331 * i;
		produce(0, at);
		assert_int_equal(auxtrace_recording_drain(rec), 1000 + 331 * i);
		assert_int_equal(fake.channel[0].user->aux_tail, at);
	}
	produce(0, at + 77);
	produce(2, 5);
	fake.channel[0].status->windows = 3;
	fake.channel[0].status->gaps = 2;
	fake.channel[0].status->gaps_full = 2;
	fake.channel[2].status->pmis = 4;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(0, 0, at + 77);
	expect_aux(2, 0, 5);
	assert_int_equal(totals.produced, at + 82);
	assert_int_equal(totals.read, at + 82);
	assert_int_equal(totals.overwritten, 0);
	assert_int_equal(totals.retained, 0);
	assert_int_equal(totals.windows, 3);
	assert_int_equal(totals.gaps, 2);
	assert_int_equal(totals.pmis, 4);
	/* Trace is for its owner's eyes. */
	assert_int_equal(mode_of(""), 0700);
	assert_int_equal(mode_of("meta"), 0600);
	assert_int_equal(mode_of("cpu0.aux"), 0600);
	assert_false(exists("cpu0.data"));
	expect_in("meta", "auxtrace_recording 1\n");
	expect_in("meta", "\ncpu_model 94\n");
	expect_in("meta", "\nterms tsc\n");
	expect_in("meta", "cpu 0 begin 0 read ");
	expect_in("meta", " gaps_full 2 ");
	/* User code only: nothing of the kernel's is kept. */
	assert_false(exists("kcore"));
	assert_false(exists("kallsyms"));
}

/* All that a reader of the file relies on: each line, and each number where it belongs. */
static void meta_is_what_the_module_and_the_session_said(void **state)
{
	static const char expected[] =
		"auxtrace_recording 1\nabi 2\npmu 0\nrelease R\n"
		"cpu_family 6\ncpu_model 94\ncpu_stepping 3\n"
		"tsc_art_num 84\ntsc_art_den 2\nmax_nonturbo_ratio 32\n"
		"tsc_khz 2000000\ntime_shift 10\ntime_mult 512\ntime_zero 1000\n"
		"config 0x400\nterms tsc\nflags 0x2\naux_size 8192\nslots 1\n"
		"aux_write plain (O_DIRECT: Invalid argument)\ndata_size 4096\n"
		"trigger 1 hits 21 acted 22 held 23 idle 24 missed 25 on it\n"
		"cpu 3 begin 0 read 300 data_begin 0 data_read 40 records 1 produced 300 overwritten 0"
		" windows 1 window_begin 2 window_begin_tsc 3 window_end 4 window_end_tsc 5"
		" pauses_asked 7 pauses_done 6 resumes_asked 9 resumes_done 8 pmis 10 gaps 36"
		" gaps_full 11 gaps_error 12 gaps_offline 13 bad_tails 14 consumed 15 snapshots 16"
		" data_records 17 data_lost 18 data_overwritten 19 data_bad_tails 20\n";
	const struct auxtrace_trigger_options trigger = {
		.size = sizeof(trigger), .label = "it",
		.kind = AUXTRACE_TRIGGER_KPROBE, .action = AUXTRACE_ACTION_PAUSE, .address = 1,
	};
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "tsc", .flags = AUXTRACE_SETUP_USER,
		.aux_size = SIZE, .data_size = PAGE,
	};
	struct auxtrace_status_page *page;
	struct auxtrace_totals totals;
	struct auxtrace_recording *rec;
	char *meta, *release, *rest;

	(void)state;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 1);
	fake.state.out_hits = 21;
	fake.state.out_acted = 22;
	fake.state.out_held = 23;
	fake.state.out_idle = 24;
	fake.state.out_missed = 25;
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(3, 300);
	write_record(3, 1);
	page = fake.channel[3].status;
	page->windows = 1;
	page->window_begin = 2;
	page->window_begin_time = 3;
	page->window_end = 4;
	page->window_end_time = 5;
	page->pauses_done = 6;
	page->pauses_asked = 7;
	page->resumes_done = 8;
	page->resumes_asked = 9;
	page->pmis = 10;
	page->gaps_full = 11;
	page->gaps_error = 12;
	page->gaps_offline = 13;
	page->gaps = 11 + 12 + 13;
	page->bad_tails = 14;
	page->consumed = 15;
	page->snapshots = 16;
	page->data_records = 17;
	page->data_lost = 18;
	page->data_overwritten = 19;
	page->data_bad_tails = 20;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	meta = slurp("meta", NULL);
	/* The kernel's release is what it is here. */
	release = strstr(meta, "release ");
	assert_non_null(release);
	release += strlen("release ");
	rest = strchr(release, '\n');
	assert_non_null(rest);
	*release = 'R';
	memmove(release + 1, rest, strlen(rest) + 1);
	assert_string_equal(meta, expected);
	free(meta);
	assert_int_equal(totals.produced, 300);
	assert_int_equal(totals.read, 300);
	assert_int_equal(totals.windows, 1);
	assert_int_equal(totals.gaps, 36);
	assert_int_equal(totals.pmis, 10);
	assert_int_equal(totals.records, 1);
	assert_int_equal(totals.records_lost, 18);
	/* Only overwrite mode retains anything. */
	assert_int_equal(totals.retained, 0);
}

static void a_trigger_that_cannot_be_read_is_told(void **state)
{
	const struct auxtrace_trigger_options trigger = {
		.size = sizeof(trigger), .kind = AUXTRACE_TRIGGER_KPROBE,
		.action = AUXTRACE_ACTION_PAUSE, .address = 1,
	};
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 1);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 2);
	/* The state of the second is known from its end. */
	assert_int_equal(auxtrace_trigger_del(session, 2, NULL), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_READ;
	fake.fail.err = ENOENT;
	errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_int_equal(errno, ENOENT);
	assert_false(exists("meta"));
}

static void an_overwrite_recording_has_the_newest_bytes_and_says_where_they_begin(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;

	(void)state;
	set_up("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(1, 3 * SIZE + 123);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(1, 2 * SIZE + 123, 3 * SIZE + 123);
	assert_int_equal(totals.produced, totals.read + totals.overwritten);
	expect_in("meta", "cpu 1 begin 16507 read 8192 produced 24699 overwritten 16507");
}

static void an_overwrite_session_that_runs_cannot_be_finished(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.channel[1].status->running = 1;
	errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_int_equal(errno, EBUSY);
	/* No meta: nobody takes it for a whole recording. */
	assert_false(exists("meta"));
}

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

static void a_task_is_its_cr3_its_mappings_and_its_vdso(void **state)
{
	struct auxtrace_recording *rec;
	char name[32], vdso[32], line[64], exe[256] = "";
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
	expect_in(name, "libc.so.6");
	/* valgrind takes the vdso away from its programs. */
	if (getauxval(AT_SYSINFO_EHDR)) {
		snprintf(vdso, sizeof(vdso), "vdso.%d", getpid());
		free(slurp(vdso, &size));
		assert_true(size >= 4096);
	}
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	assert_false(exists(name));
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
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	snprintf(name, sizeof(name), "vdso.%d", child);
	assert_true(exists(name));
	snprintf(name, sizeof(name), "task.%d.1", child);
	assert_false(exists(name));
}

static void another_cr3_of_one_pid_is_another_file(void **state)
{
	struct auxtrace_recording *rec;
	char name[32];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (unsigned int i = 1; i <= 3; i++) {
		fake.cr3 = i << 12;
		assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	}
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", getpid());
	expect_in(name, "\ncr3 0x1000\n");
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	expect_in(name, "\ncr3 0x2000\n");
	snprintf(name, sizeof(name), "task.%d.2", getpid());
	expect_in(name, "\ncr3 0x3000\n");
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

	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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

/* The first value of a key in a file. */
static uint64_t number_in(const char *name, const char *key)
{
	char *text = slurp(name, NULL), *at = strstr(text, key);
	uint64_t value;

	assert_non_null(at);
	value = strtoull(at + strlen(key), NULL, 0);
	free(text);
	return value;
}

/* The value of a key in the caller's task file. */
static uint64_t value_of(const char *suffix, const char *key)
{
	char name[40];

	snprintf(name, sizeof(name), "task.%d%s", getpid(), suffix);
	return number_in(name, key);
}

/* With what CR3 is the caller recorded? It is asked for more than once. */
static unsigned int cr3_recorded(void (*on_task)(void))
{
	struct auxtrace_recording *rec;
	char name[32];

	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	tasks_asked = 0;
	fake.on_task = on_task;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.on_task = NULL;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	assert_false(exists(name));
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
	char name[32];

	(void)state;
	need_vdso();
	add_two_children(pid, NULL);
	snprintf(name, sizeof(name), "task.%d", pid[0]);
	expect_in(name, "\nend_tsc 0\n");
	snprintf(name, sizeof(name), "task.%d", pid[1]);
	assert_false(exists(name));
}

static void a_mapping_that_has_gone_is_kept(void **state)
{
	struct auxtrace_recording *rec;
	char name[32], path[128];
	FILE *f;
	void *p;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	snprintf(name, sizeof(name), "task.%d", getpid());
	expect_in(name, path);
}

static void an_exec_ends_what_was_before_and_an_exit_the_last(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	errno = 0;
	assert_int_equal(auxtrace_recording_end_task(rec, 0, 0), -1);
	assert_int_equal(errno, ENOENT);
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
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	errno = 0;
	assert_int_equal(auxtrace_recording_end_task(rec, 0, fork[3] + 1), -1);
	assert_int_equal(errno, ENOENT);
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
	char name[40];

	(void)state;
	need_vdso();
	tid = begin_two_threads(&threads, &pid);
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	snprintf(name, sizeof(name), "task.%d", pid);
	expect_in(name, "\nend_tsc 0\n");
	snprintf(name, sizeof(name), "task.%d.1", pid);
	assert_false(exists(name));
	snprintf(name, sizeof(name), "task.%d", tid);
	assert_false(exists(name));
}

static void a_process_without_a_main_thread_is_recorded(void **state)
{
	struct auxtrace_recording *rec;
	struct threads threads;
	char name[40];
	pid_t pid;

	(void)state;
	begin_two_threads(&threads, &pid);
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.cr3 = 0x1000;
	end_main_thread(&threads, pid);
	assert_int_equal(auxtrace_recording_add_task(rec, pid), 0);
	assert_string_equal(auxtrace_error(), "");
	end_two_threads(&threads, pid);
	/* Now it has ended. */
	fake.task_errno = ENXIO;
	errno = 0;
	assert_int_equal(auxtrace_recording_add_task(rec, pid), -1);
	assert_int_equal(errno, ENXIO);
	says("has no address space");
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", pid);
	expect_in(name, "\ncr3 0x1000\n");
	expect_in(name, "libc.so.6");
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
	char name[40];
	siginfo_t end;
	pid_t pid;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(0);
	assert_int_equal(waitid(P_PID, pid, &end, WEXITED | WNOWAIT), 0);
	fake.cr3 = 0x1000;
	fake.task_calls = 0;
	fake.on_task = ends_at_second_question;
	errno = 0;
	assert_int_equal(auxtrace_recording_add_task(rec, pid), -1);
	assert_int_equal(errno, ESRCH);
	fake.on_task = NULL;
	fake.task_errno = 0;
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d", pid);
	assert_false(exists(name));
}

/* An exec of another thread; perf has not reported it. */
static void an_exec_that_cannot_be_read_ends_what_was_before(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t thread;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	char name[40];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
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
	snprintf(name, sizeof(name), "task.%d", getpid());
	expect_in(name, "/bin/next");
}

/* The process has ended before its new address space can be read. */
static void after_an_exec_nothing_is_added_to_what_was_before(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t exec, late;
	char name[40];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	exec = __builtin_ia32_rdtsc();
	late = exec + 1000000000000;
	fake.task_errno = ESRCH;
	errno = 0;
	assert_int_equal(auxtrace_recording_exec_task(rec, getpid(), exec), -1);
	assert_int_equal(errno, ESRCH);
	fake.task_errno = 0;
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0, "/bin/next"), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(auxtrace_recording_end_task(rec, 0, late), -1);
	assert_int_equal(errno, ENOENT);
	/* Another process with its number and page-table root. */
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0, "/bin/next"), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nend_tsc "), exec);
	assert_true(value_of(".1", "\nbegin_tsc ") > exec);
	assert_int_equal(value_of(".1", "\nend_tsc "), 0);
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	expect_in(name, "/bin/next");
	snprintf(name, sizeof(name), "task.%d", getpid());
	expect_not_in(name, "/bin/next");
}

static void a_reported_mapping_goes_to_the_newest_address_space(void **state)
{
	struct auxtrace_recording *rec;
	char name[40];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	errno = 0;
	assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0x400, "/lib/gone.so"), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	fake.cr3 = 0x2000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	for (int i = 0; i < 2; i++)
		assert_int_equal(auxtrace_recording_add_mapping(rec, getpid(), 0x1000, 0x3000, 0x400,
								"/lib/gone.so"), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	expect_in(name, "\nmap 1000-3000 r-xp 00000400 00:00 0 /lib/gone.so\n");
}

static void what_is_no_process_is_refused(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.nr = AUXTRACE_IOC_TASK;
	fake.fail.err = ESRCH;
	errno = 0;
	assert_int_equal(auxtrace_recording_add_task(rec, 4711), -1);
	assert_int_equal(errno, ESRCH);
	/* All of /proc: those that went meanwhile are passed over ... */
	assert_int_equal(auxtrace_recording_add_all_tasks(rec), 0);
	/* ... but a refusal is one. */
	fake.fail.err = EACCES;
	errno = 0;
	assert_int_equal(auxtrace_recording_add_all_tasks(rec), -1);
	assert_int_equal(errno, EACCES);
	auxtrace_recording_abort(rec);
}

static void an_old_recording_is_replaced_and_other_files_are_not(void **state)
{
	struct auxtrace_recording *rec;
	char path[128];
	FILE *f;

	(void)state;
	set_up("0,1", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(exists("cpu1.aux"));
	auxtrace_close(session);
	fake_end(state);
	fake_new(state);
	fake.no_direct = true;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_false(exists("meta"));
	assert_false(exists("cpu1.aux"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(path, sizeof(path), "%s/letter.txt", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	errno = 0;
	assert_null(auxtrace_recording_create(session, dir));
	assert_int_equal(errno, ENOTEMPTY);
	says("letter.txt, which is not of a recording");
	/* Nothing was taken away before it was refused. */
	assert_true(exists("meta"));
	assert_true(exists("cpu0.aux"));
}

static void a_directory_that_cannot_be_made_is_told(void **state)
{
	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	errno = 0;
	assert_null(auxtrace_recording_create(session, "/nonexistent/dir"));
	assert_int_equal(errno, ENOENT);
	says("cannot make the directory /nonexistent/dir");
	assert_null(auxtrace_recording_create(session, "/etc/hostname"));
	assert_int_equal(errno, ENOTDIR);
}

static void an_aborted_recording_leaves_nothing(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	auxtrace_recording_abort(rec);
	assert_int_equal(access(dir, F_OK), -1);
	auxtrace_recording_abort(NULL);
}

static void save_is_all_in_one(void **state)
{
	char name[32];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	produce(0, 10);
	if (auxtrace_save(session, dir))
		fail_msg("%s", auxtrace_error());
	expect_aux(0, 0, 10);
	assert_true(exists("meta"));
	snprintf(name, sizeof(name), "task.%d", getpid());
	assert_true(exists(name));
}

static void a_full_disk_is_told(void **state)
{
	struct auxtrace_recording *rec;
	char path[128];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	/* cpu0.aux of the directory leads to a device that is always full. */
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	snprintf(path, sizeof(path), "%s/cpu0.aux", dir);
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[256] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "cpu0.aux")) {
			int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

			assert_return_code(dup2(full, fd), errno);
			close(full);
		}
	}
	produce(0, 100);
	errno = 0;
	assert_int_equal(auxtrace_recording_drain(rec), -1);
	assert_int_equal(errno, ENOSPC);
	snprintf(path, sizeof(path), "cannot write %s/cpu0.aux: No space left on device", dir);
	says(path);
	/* What could not be written is not given back. */
	assert_int_equal(fake.channel[0].user->aux_tail, 0);
	auxtrace_recording_abort(rec);
}

/* The file descriptor of the recording's file. */
static int descriptor_of(const char *name)
{
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[256] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, name))
			return fd;
	}
	fail_msg("%s is not open", name);
	return -1;
}

static void set_up_data(uint32_t flags, uint32_t slots);

/* The disk has room again at the end: what was lost between is told all the same. */
static void a_disk_that_was_full_for_a_while_is_told(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t n = 0;
	int fd, saved, full, err = 0;
	char message[160];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fd = descriptor_of("cpu0.data");
	saved = dup(fd);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_return_code(dup2(full, fd), errno);
	for (unsigned int i = 0; i < 8 && !err; i++) {
		for (unsigned int k = 0; k < 20; k++)
			write_record(0, ++n);
		errno = 0;
		err = auxtrace_recording_drain(rec) < 0 ? errno : 0;
	}
	assert_int_equal(err, ENOSPC);
	snprintf(message, sizeof(message), "cannot write %s/cpu0.data: No space left on device", dir);
	says(message);
	assert_return_code(dup2(saved, fd), errno);
	close(saved);
	close(full);
	errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_int_equal(errno, EIO);
	assert_false(exists("meta"));
}

/* A directory with meta is a whole recording: so one that could not be written is none. */
static void a_meta_that_is_not_whole_is_none(void **state)
{
	struct auxtrace_recording *rec;
	struct rlimit was, small;
	int ret, err;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){ .rlim_cur = 64, .rlim_max = was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	errno = 0;
	ret = auxtrace_recording_finish(rec, NULL);
	err = errno;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(ret, -1);
	assert_int_equal(err, EFBIG);
	says("cannot write meta");
	assert_false(exists("meta"));
}

/* ---- without a copy ----------------------------------------------------- */

/* Skips the test where the file system of the test's directory has no O_DIRECT. */
static void need_direct(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s.try", dir);
	fd = open(path, O_WRONLY | O_CREAT | O_DIRECT | O_CLOEXEC, 0600);
	unlink(path);
	if (fd < 0) {
		print_message("no O_DIRECT below %s\n", dir);
		skip();
	}
	close(fd);
	fake.no_direct = false;
}

static void write_a_full_trace_directly(const char *how)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t at = 0;

	set_up("0,2", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t tail = fake.channel[0].user->aux_tail;

		at += 100 + 31 * i;
		produce(0, at);
		produce(2, at / PAGE * PAGE);
		/* Whole pages of both, and no more. */
		assert_true(auxtrace_recording_drain(rec) >= 0);
		assert_int_equal(fake.channel[0].user->aux_tail, at / PAGE * PAGE);
		assert_int_equal(fake.channel[2].user->aux_tail, at / PAGE * PAGE);
		assert_true(fake.channel[0].user->aux_tail >= tail);
	}
	assert_true(at % PAGE);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(0, 0, at);
	expect_aux(2, 0, at / PAGE * PAGE);
	assert_int_equal(totals.read, totals.produced);
	expect_in("meta", how);
}

static void whole_pages_are_written_from_the_area_itself(void **state)
{
	(void)state;
	need_direct();
	write_a_full_trace_directly("\naux_write direct ");
}

/* Its writes are more than may be in flight at once. */
static void an_area_larger_than_all_writes_in_flight_is_written_whole(void **state)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 128ul << 20,
		.flags = AUXTRACE_SETUP_USER,
	};
	const uint64_t end = (65ul << 20) + 3 * PAGE;
	struct auxtrace_recording *rec;
	uint64_t *aux;
	char *data;
	size_t size;

	(void)state;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	aux = (uint64_t *)fake.channel[0].aux;
	for (uint64_t p = 0; p < end; p += PAGE)
		aux[p / sizeof(*aux)] = p + 1;
	fake.channel[0].status->produced = end;
	assert_int_equal(auxtrace_recording_drain(rec), end);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	data = slurp("cpu0.aux", &size);
	assert_int_equal(size, end);
	assert_memory_equal(data, aux, size);
	free(data);
}

static void without_io_uring_pwrite_does_it(void **state)
{
	(void)state;
	need_direct();
	fake.no_uring = true;
	write_a_full_trace_directly("\naux_write direct pwrite (io_uring: Function not implemented)\n");
}

static void a_write_that_was_short_is_completed(void **state)
{
	(void)state;
	need_direct();
	fake.uring_writes = 5;
	write_a_full_trace_directly("\naux_write direct ");
}

/* It is not used again: what it had taken is written once more, in order. */
static void a_ring_that_fails_is_replaced_by_pwrite(void **state)
{
	(void)state;
	need_direct();
	fake.uring_submits = 3;
	write_a_full_trace_directly("\naux_write direct pwrite (io_uring: it failed during the recording)\n");
	assert_int_equal(fake.uring_submits, 0);
}

static void a_file_system_without_o_direct_is_noted(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 100);
	assert_int_equal(auxtrace_recording_drain(rec), 100);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in("meta", "\naux_write plain (O_DIRECT: Invalid argument)\n");
	expect_aux(0, 0, 100);
}

/* It takes the flag at open and refuses the write. */
static void a_write_that_is_refused_is_made_plainly(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t at = 0;

	(void)state;
	need_direct();
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, at = PAGE + 7);
	assert_int_equal(auxtrace_recording_drain(rec), PAGE);
	fake.refuse_direct = true;
	produce(0, at += PAGE);
	assert_int_equal(auxtrace_recording_drain(rec), PAGE);
	produce(0, at += 1234);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(0, 0, at);
	expect_in("meta", "\naux_write plain (O_DIRECT: Invalid argument)\n");
}

/* The last page is written whole, then cut to what is in it. */
static void a_file_that_cannot_be_cut_is_told(void **state)
{
	struct auxtrace_recording *rec;
	char message[160];
	int sealed;

	(void)state;
	need_direct();
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_return_code(sealed, errno);
	assert_return_code(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), errno);
	assert_return_code(dup2(sealed, descriptor_of("cpu0.aux")), errno);
	close(sealed);
	produce(0, 100);
	errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_int_equal(errno, EPERM);
	snprintf(message, sizeof(message), "cannot cut %s/cpu0.aux: Operation not permitted", dir);
	says(message);
	assert_false(exists("meta"));
}

static void an_overwritten_area_that_begins_within_a_page_is_padded(void **state)
{
	static const uint64_t ends[] = { 3 * SIZE + 123, 3 * SIZE, 3 * SIZE - 1, 77, PAGE, PAGE + 1, 0 };

	need_direct();
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		uint64_t begin = ends[i] > SIZE ? ends[i] - SIZE : 0;
		struct auxtrace_recording *rec;
		struct auxtrace_totals totals;
		char text[64];

		set_up("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		produce(1, ends[i]);
		assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
		expect_aux_behind("", 1, begin, ends[i], begin % PAGE);
		assert_int_equal(totals.produced, totals.read + totals.overwritten);
		snprintf(text, sizeof(text), "cpu 1 begin %lu read %lu%s", begin, ends[i] - begin,
			 begin % PAGE ? " pad " : " produced");
		expect_in("meta", text);
		auxtrace_close(session);
		session = NULL;
		fake_end(state);
		fake_new(state);
	}
}

/* ---- records and snapshots ---------------------------------------------- */

static void set_up_data(uint32_t flags, uint32_t slots)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0,1", .config = "tsc", .flags = flags,
		.aux_size = (slots ?: 1) * SIZE, .data_size = (slots ?: 1) * PAGE, .slots = slots,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
}

/* The file has records up to @last, and how many. */
static uint64_t expect_records(const char *name, uint64_t last)
{
	const union auxtrace_record *record;
	uint64_t count = 0, n = 0;
	size_t size, at = 0;
	char *data = slurp(name, &size);

	while ((record = auxtrace_record_next(data, size, &at))) {
		assert_true(!n || record_number(record) == n + 1);
		n = record_number(record);
		count++;
	}
	assert_int_equal(at, size);
	assert_int_equal(n, last);
	free(data);
	return count;
}

static void records_are_drained_and_kept(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t n = 0;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_DATA_BACKWARD, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	while (n < 1000) {
		for (unsigned int i = 0; i < 10; i++)
			write_record(1, ++n);
		assert_true(auxtrace_recording_drain(rec) > 0);
		assert_int_equal(fake.channel[1].user->data_tail, fake.channel[1].status->data_head);
	}
	write_record(1, ++n);
	fake.channel[1].status->data_lost = 5;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_int_equal(expect_records("cpu1.data", n), n);
	assert_int_equal(expect_records("cpu0.data", 0), 0);
	assert_int_equal(totals.records, n);
	assert_int_equal(totals.records_lost, 5);
	expect_in("meta", " records 1001 ");
	expect_in("meta", " data_lost 5 ");
	expect_in("meta", "\ndata_size 4096\n");
}

static void an_overwritable_data_ring_is_copied_at_the_end(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (uint64_t n = 1; n <= 500; n++)
		write_record(0, n);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(expect_records("cpu0.data", 500) > 20);
}

static uint32_t next_slot;

static void take_slot(unsigned int cpu, struct auxtrace_cut *cut)
{
	switch_slot(cpu, next_slot, cut);
}

/* As produce(), into the present slot. */
static void produce_in_slot(unsigned int cpu, uint64_t count)
{
	struct fake_channel *ch = &fake.channel[cpu];

	for (uint64_t p = ch->status->produced, to = p + count; p < to; p++)
		ch->aux[ch->status->slot * SIZE + p % SIZE] = p * 31 + p / 256 + cpu;
	ch->status->produced += count;
}

/* A sample of CPU 1 that is in a slot, up to what was produced there. */
static void write_sample(uint32_t slot, uint64_t length)
{
	const struct auxtrace_record_sample record = {
		.header = { .type = AUXTRACE_RECORD_SAMPLE, .size = sizeof(record) + 16 },
		.sample_slot = slot, .aux_end = fake.channel[1].status->produced,
		.wanted = length, .length = length, .flags = AUXTRACE_SAMPLE_IN_SLOT,
	};
	const struct auxtrace_record_end tail = { .size = sizeof(record) + 16 };
	uint8_t bytes[sizeof(record) + 16];

	assert_int_equal(sizeof(tail), 16);
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), &tail, sizeof(tail));
	write_bytes(1, bytes, sizeof(bytes));
}

static void samples_in_slots_are_saved_and_their_slots_released(void **state)
{
	struct auxtrace_recording *rec;
	uint8_t *data;
	size_t size;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(1, SIZE + 100);
	write_sample(0, 5000);
	assert_true(auxtrace_recording_drain(rec) > 0);
	assert_int_equal(fake.release.flags, AUXTRACE_RELEASE_SAMPLE);
	assert_int_equal(fake.release.slot, 0);
	assert_int_equal(fake.release.cpu, 1);
	fake.channel[1].status->slot = 1;
	produce_in_slot(1, 60);
	write_sample(1, 50);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(fake.release.slot, 1);
	expect_in("meta", " sample_bytes 5050 ");
	assert_false(exists("cpu0.samples"));
	data = (uint8_t *)slurp("cpu1.samples", &size);
	assert_int_equal(size, 5050);
	for (uint64_t i = 0; i < size; i++) {
		uint64_t p = i < 5000 ? SIZE + 100 - 5000 + i : SIZE + 110 + (i - 5000);

		assert_int_equal(data[i], (uint8_t)(p * 31 + p / 256 + 1));
	}
	free(data);
}

static void a_disk_that_is_full_of_samples_is_told(void **state)
{
	/* What stdio keeps, and more than that. */
	static const uint64_t lengths[] = { 100, 5000 };

	for (int i = 0; i < 2; i++) {
		struct auxtrace_recording *rec;
		char message[160];
		int full;

		set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		produce_in_slot(1, SIZE);
		write_sample(0, 8);
		assert_true(auxtrace_recording_drain(rec) > 0);
		full = open("/dev/full", O_WRONLY | O_CLOEXEC);
		assert_return_code(dup2(full, descriptor_of("cpu1.samples")), errno);
		close(full);
		fake.release.slot = 77;
		write_sample(0, lengths[i]);
		errno = 0;
		assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
		assert_int_equal(errno, ENOSPC);
		snprintf(message, sizeof(message),
			 "cannot write %s/cpu1.samples: No space left on device", dir);
		says(message);
		assert_false(exists("meta"));
		/* A sample that could not be copied keeps its slot. */
		assert_int_equal(fake.release.slot, i ? 77 : 0);
		auxtrace_close(session);
		session = NULL;
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
	}
}

static void a_flight_recorder_writes_what_was_put_aside(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t n = 0, at[2] = { 0 };

	for (unsigned int direct = 0; direct < 2; direct++) {
		if (direct)
			need_direct();
		set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE |
			    AUXTRACE_SETUP_DATA_OVERWRITE, 2);
		fake.on_snapshot = take_slot;
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		n = at[0] = at[1] = 0;
		for (unsigned int i = 1; i <= 5; i++) {
			char name[64], text[64];
			uint64_t count[2] = { 1000 * i, SIZE + 77 };

			for (unsigned int cpu = 0; cpu < 2; cpu++) {
				produce_in_slot(cpu, count[cpu]);
				at[cpu] += count[cpu];
				fake.channel[cpu].status->windows = i;
				fake.channel[cpu].status->running = 1;
			}
			write_record(1, ++n);
			write_record(1, ++n);
			next_slot = i & 1;
			if (auxtrace_recording_snapshot(rec) != (int)i)
				fail_msg("%s", auxtrace_error());
			assert_int_equal(fake.snapshot.flags, AUXTRACE_SNAPSHOT_SLOT);
			assert_int_equal(fake.released, !next_slot);
			snprintf(name, sizeof(name), "snapshot.%04u/", i);
			expect_aux_behind(name, 0, at[0] - count[0], at[0], direct ? (at[0] - count[0]) % PAGE : 0);
			expect_aux_behind(name, 1, at[1] - SIZE, at[1], direct ? (at[1] - SIZE) % PAGE : 0);
			snprintf(name, sizeof(name), "snapshot.%04u/cpu1.data", i);
			assert_int_equal(expect_records(name, n), 2);
			snprintf(name, sizeof(name), "snapshot.%04u/meta", i);
			snprintf(text, sizeof(text), "\nsnapshot %u\n", i);
			expect_in(name, text);
			snprintf(text, sizeof(text), " produced %lu windows %u ", at[0], i);
			expect_in(name, text);
			snprintf(name, sizeof(name), "snapshot.%04u/task.%d", i, getpid());
			assert_true(exists(name));
		}
		fake.channel[0].status->running = fake.channel[1].status->running = 0;
		produce_in_slot(0, 5);
		fake.channel[0].status->overwritten = 0;
		fake.channel[1].status->overwritten = 5 * 77;
		assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
		expect_aux_behind("", 0, at[0], at[0] + 5, direct ? at[0] % PAGE : 0);
		assert_int_equal(totals.produced, totals.read + totals.overwritten + totals.retained);
		auxtrace_close(session);
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
		/* A new recording takes the place of the old one and its snapshots. */
		set_up("0", AUXTRACE_SETUP_USER);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		assert_false(exists("snapshot.0001"));
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		auxtrace_close(session);
		session = NULL;
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
	}
}

/* The process has its new page tables before perf reports the exec, and was read in between. */
static void an_address_space_that_is_read_within_its_exec_is_one(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t exec;
	char name[40];

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
	snprintf(name, sizeof(name), "snapshot.0001/task.%d", getpid());
	exec = number_in(name, "\nbegin_tsc ") + 1;
	assert_int_equal(auxtrace_recording_exec_task(rec, 0, exec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(value_of("", "\nbegin_tsc "), exec);
	assert_int_equal(value_of("", "\nend_tsc "), 0);
	snprintf(name, sizeof(name), "task.%d.1", getpid());
	assert_false(exists(name));
}

static struct auxtrace_recording *cut_recording;
static uint64_t cut_time;
static unsigned int cuts_told;

static void take_slot_now(unsigned int cpu, struct auxtrace_cut *cut)
{
	/* CPU 0 goes on until the last one has its cut. */
	take_slot(cpu, cut);
	cut->time = cut_time = __builtin_ia32_rdtsc();
	fake.release.slot = 77;
}

/*
 * Between the cut and what is read: an exec in the trace, and one after it, which is reported only when
 * all processes have been read.
 */
static void tell_execs(void *arg)
{
	assert_ptr_equal(arg, &cuts_told);
	assert_int_equal(fake.release.slot, 77);
	if (!cuts_told++) {
		fake.cr3 = 0x2000;
		assert_int_equal(auxtrace_recording_exec_task(cut_recording, 0, cut_time - 1), 0);
		fake.cr3 = 0x3000;
	} else {
		assert_int_equal(auxtrace_recording_exec_task(cut_recording, 0, cut_time + 1), 0);
	}
}

/* The trace has been written. */
static void exec_again(void)
{
	fake.cr3 = 0x4000;
}

static void a_snapshot_has_the_tasks_of_its_cut(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t first_cut;
	char task[40];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	fake.on_snapshot = take_slot_now;
	fake.on_release = exec_again;
	cut_recording = rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	cuts_told = 0;
	auxtrace_recording_on_cut(rec, tell_execs, &cuts_told);
	next_slot = 1;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_int_equal(cuts_told, 2);
	first_cut = cut_time;
	fake.on_release = NULL;
	auxtrace_recording_on_cut(rec, NULL, NULL);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	next_slot = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(cuts_told, 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);

	snprintf(task, sizeof(task), "snapshot.0001/task.%d", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x1000);
	assert_int_equal(number_in(task, "\nend_tsc "), first_cut - 1);
	snprintf(task, sizeof(task), "snapshot.0001/task.%d.1", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x2000);
	assert_int_equal(number_in(task, "\nbegin_tsc "), first_cut - 1);
	/* What began after the cut is in the next one. */
	snprintf(task, sizeof(task), "snapshot.0001/task.%d.2", getpid());
	assert_false(exists(task));
	snprintf(task, sizeof(task), "snapshot.0001/vdso.%d.2", getpid());
	assert_false(exists(task));
	snprintf(task, sizeof(task), "snapshot.0002/task.%d.2", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x3000);
	/* That was not reported: it may have been before the cut. */
	snprintf(task, sizeof(task), "snapshot.0001/task.%d.3", getpid());
	assert_false(exists(task));
	snprintf(task, sizeof(task), "snapshot.0002/task.%d.3", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x4000);
	for (int i = 1; i <= 3; i++) {
		snprintf(task, sizeof(task), "task.%d.%d", getpid(), i);
		assert_int_equal(number_in(task, "\ncr3 "), 0x1000 * (i + 1));
	}
}

/* CPUs are not paused for as long as it takes to read all processes. */
static void is_read_after_the_resume(void)
{
	assert_int_equal(fake.control_cpus[0], 1);
}

/* CPU 1 was paused, and its records, before the snapshot. */
static void without_slots_a_snapshot_pauses_and_resumes_who_ran(void **state)
{
	struct auxtrace_recording *rec;
	char task[40];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 100);
	fake.channel[1].status->inhibit = AUXTRACE_INHIBIT_USER;
	fake.channel[1].status->data_paused = 1;
	fake.on_task = is_read_after_the_resume;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	fake.on_task = NULL;
	snprintf(task, sizeof(task), "snapshot.0001/task.%d", getpid());
	assert_true(exists(task));
	assert_int_equal(fake.snapshot.flags, AUXTRACE_SNAPSHOT_PAUSE);
	assert_int_equal(fake.control_cpus[0], 1);
	assert_int_equal(fake.output_cpus[0], 1);
	assert_int_equal(fake.output.pause, 0);
	expect_aux_behind("snapshot.0001/", 0, 0, 100, 0);
	/* User code only. */
	assert_false(exists("kallsyms"));
	assert_false(exists("snapshot.0001/kallsyms"));
	/* Frozen by a trigger: it is for the user to end that. */
	fake.control_cpus[0] = 0;
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		fake.channel[cpu].status->inhibit = AUXTRACE_INHIBIT_FROZEN;
		fake.channel[cpu].status->data_paused = 2;
	}
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(fake.snapshot.flags, 0);
	assert_int_equal(fake.control_cpus[0], 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

static void a_snapshot_that_fails_leaves_no_directory_and_all_goes_on(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.nr = AUXTRACE_IOC_SNAPSHOT;
	fake.fail.err = ENOSPC;
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, ENOSPC);
	says("holds a snapshot");
	assert_false(exists("snapshot.0001"));
	fake.fail.err = 0;
	/* The slot is released also if it cannot be written. */
	fake.channel[0].status->running = 1;
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(fake.released, 0);
	assert_false(exists("snapshot.0001"));
	fake.channel[0].status->running = 0;
	/* It is written, but its slot is lost. */
	fake.fail.nr = AUXTRACE_IOC_RELEASE;
	fake.fail.err = EIO;
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, EIO);
	says("RELEASE failed");
	fake.fail.err = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
	assert_int_equal(access(dir, F_OK), -1);
}

static void take_wrong_cpu(unsigned int cpu, struct auxtrace_cut *cut)
{
	if (cpu)
		cut->cpu = 7;
}

static void expect_first_cut_written(void)
{
	expect_aux_behind("snapshot.0001/", 0, 0, 100, 0);
}

/*
 * Of CPU 1 the module returns no cut: what CPU 0 has is in the file nevertheless when its slot is
 * released, as the writer still has these pages.
 */
static void a_cut_of_another_cpu_fails_and_what_is_in_flight_is_written(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(0, 100);
	fake.on_snapshot = take_wrong_cpu;
	fake.on_release = expect_first_cut_written;
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, EBADE);
	says("a cut of CPU 7 in place of CPU 1");
	assert_int_equal(fake.released, 0);
	assert_false(exists("snapshot.0001"));
	fake.on_release = NULL;
	fake.on_snapshot = NULL;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
}

/* A flight recorder's life, with one snapshot. 0, or -1 with what is left put away. */
static int fly(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0,1", .config = "tsc", .aux_size = 2 * SIZE,
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE |
			 AUXTRACE_SETUP_DATA_OVERWRITE, .data_size = 2 * PAGE, .slots = 2,
	};
	struct auxtrace_recording *rec = NULL;
	struct auxtrace_totals totals;
	int ret = -1;

	session = auxtrace_open(NULL);
	if (!session || auxtrace_setup(session, &o))
		goto out;
	fake.on_snapshot = take_slot;
	next_slot = 1;
	rec = auxtrace_recording_create(session, dir);
	if (!rec)
		goto out;
	produce_in_slot(0, SIZE + 5);
	write_record(0, 1);
	if (auxtrace_recording_add_task(rec, getpid()))
		goto out;
	ret = auxtrace_recording_snapshot(rec);
	if (ret != 1) {
		assert_int_equal(ret, -1);
		goto out;
	}
	produce_in_slot(1, 7);
	/* It ends the recording, whatever it returns. */
	ret = auxtrace_recording_finish(rec, &totals);
	rec = NULL;
	assert_true(ret == 0 || ret == -1);
out:
	if (rec)
		auxtrace_recording_abort(rec);
	auxtrace_close(session);
	session = NULL;
	return ret;
}

/* Whatever allocation fails, that is told, and nothing stays open. */
static void each_allocation_that_fails_is_told(void **state)
{
	int failed = 0;

	/* The first ones each; of the many for all processes of this machine, some. */
	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		fake.fail_alloc = n;
		errno = 0;
		if (!fly())
			break;
		assert_int_equal(fake.fail_alloc, 0);
		assert_int_equal(errno, ENOMEM);
		says("memory");
		failed++;
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
	}
	/* There are no more than that. */
	assert_true(fake.fail_alloc > 0);
	assert_true(failed > 10);
}

/* Likewise for files that are written, and directories. */
static void each_file_that_cannot_be_opened_is_told(void **state)
{
	int failed = 0;

	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		int ret;

		fake.fail_open = n;
		errno = 0;
		ret = fly();
		if (fake.fail_open > 0) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -1);
		assert_int_equal(errno, EMFILE);
		says("open files");
		failed++;
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
	}
	assert_true(failed > 10);
}

/* But of cpuN.data, which are flushed before: two of the snapshot, two of the recording. */
static void a_disk_that_is_full_at_the_end_is_told(void **state)
{
	int failed = 0, untold = 0;

	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		int ret;

		fake.fail_close = n;
		errno = 0;
		ret = fly();
		if (fake.fail_close > 0) {
			assert_int_equal(ret, 0);
			break;
		}
		if (ret) {
			assert_int_equal(errno, ENOSPC);
			says("No space left on device");
			failed++;
		} else {
			untold++;
		}
		fake_end(state);
		fake_new(state);
		fake.no_direct = true;
	}
	assert_true(failed > 3);
	assert_true(untold <= 4);
}

static void a_full_trace_has_no_snapshots(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, EINVAL);
	says("overwrite mode");
	auxtrace_recording_abort(rec);
}

/* ---- the kernel's code -------------------------------------------------- */

#define TEXT	0xffffffff81000000ull
#define MODULES	0xffffffffa0000000ull

static char proc[80];

static void write_proc(const char *name, const char *text, size_t size)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", proc, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, size, f), size);
	fclose(f);
}

/* Each page of the fake kernel holds its own number. */
static uint32_t page_mark(uint64_t vaddr)
{
	return vaddr >> 12 & 0xffffffff;
}

static void mark_page(char *page, uint64_t vaddr)
{
	uint32_t mark = page_mark(vaddr);

	memcpy(page, &mark, sizeof(mark));
}

/* Pages of the modules' area with two modules, with BPF programs, and with trampolines. */
static const struct {
	unsigned int start, end;
} used[] = { { 1, 4 }, { 0x10, 0x15 }, { 0x18, 0x1c } };

/* A kcore with the text (4 pages), more behind it, and the modules' area. */
static void write_kcore(void)
{
	const Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_vaddr = MODULES, .p_offset = 0x2000, .p_filesz = 0x20000, .p_memsz = 0x20000 },
		{ .p_type = PT_NOTE, .p_vaddr = 0 },
		{ .p_type = PT_LOAD, .p_vaddr = TEXT, .p_offset = 0x22000, .p_filesz = 0x8000, .p_memsz = 0x8000 },
	};
	const Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_phoff = sizeof(eh), .e_phnum = 3,
		.e_phentsize = sizeof(ph[0]), .e_ehsize = sizeof(eh),
	};
	static char image[0x2a000];

	memset(image, 0, sizeof(image));
	memcpy(image, &eh, sizeof(eh));
	memcpy(image + sizeof(eh), ph, sizeof(ph));
	for (uint64_t at = 0; at < ph[2].p_filesz; at += PAGE)
		mark_page(image + ph[2].p_offset + at, TEXT + at);
	for (unsigned int i = 0; i < sizeof(used) / sizeof(*used); i++)
		for (uint64_t at = used[i].start * PAGE; at < used[i].end * PAGE; at += PAGE)
			mark_page(image + ph[0].p_offset + at, MODULES + at);
	/* BPF's memory without programs */
	memset(image + ph[0].p_offset + 0x15 * PAGE, 0xcc, 2 * PAGE);
	write_proc("kcore", image, sizeof(image));
}

static int begin_kernel(void **state)
{
	static const char kallsyms[] =
		"000000000001e000 d data_of_each_cpu\t[mod]\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81001000 t somewhere\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffff81005000 D data\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n"
		"ffffffffa0003000 T next_function\t[next]\n"
		"ffffffffa0010010 t bpf_prog_1234_x\t[bpf]\n"
		"ffffffffa0018000 t ftrace_trampoline\t[__builtin__ftrace]\n"
		"ffffc90000000000 t somewhere_else\t[__builtin__kprobes]\n";
	static const char modules[] =
		"mod 8192 0 - Live 0xffffffffa0001000 (OE)\n"
		"next 4096 1 mod, Live 0xffffffffa0003000\n"
		"hidden 4096 0 - Live 0x0000000000000000\n";

	if (begin(state))
		return -1;
	snprintf(proc, sizeof(proc), "%s.proc", dir);
	mkdir(proc, 0700);
	fake.proc = proc;
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	write_proc("modules", modules, sizeof(modules) - 1);
	write_kcore();
	return 0;
}

static int end_kernel(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", proc);
	return system(command) | end(state);
}

static struct auxtrace_recording *kernel_recording(void)
{
	struct auxtrace_recording *rec;

	set_up("0", AUXTRACE_SETUP_KERNEL);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	return rec;
}

static void expect_the_kernels_code(void)
{
	/* Text; both modules as one; BPF and ftrace code, of which kallsyms lists the first. */
	static const struct {
		uint64_t start, end;
	} expected[] = {
		{ TEXT, TEXT + 0x4000 },
		{ MODULES + 0x1000, MODULES + 0x4000 },
		{ MODULES + 0x10000, MODULES + 0x15000 },
		{ MODULES + 0x18000, MODULES + 0x1c000 },
	};
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	size_t size;
	char *elf;

	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", &size);
	eh = (const void *)elf;
	assert_memory_equal(eh->e_ident, "\177ELF\2\1\1", 7);
	assert_int_equal(eh->e_phnum, 4);
	ph = (const void *)(elf + eh->e_phoff);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(ph[i].p_type, PT_LOAD);
		assert_int_equal(ph[i].p_vaddr, expected[i].start);
		assert_int_equal(ph[i].p_filesz, expected[i].end - expected[i].start);
		assert_true(ph[i].p_offset + ph[i].p_filesz <= size);
		for (uint64_t at = 0; at < ph[i].p_filesz; at += PAGE)
			assert_int_equal(*(uint32_t *)(elf + ph[i].p_offset + at), page_mark(ph[i].p_vaddr + at));
	}
	free(elf);
}

static void kernel_code_is_recorded_page_for_page(void **state)
{
	(void)state;
	expect_the_kernels_code();
	expect_in("kallsyms", " bpf_prog_1234_x\t[bpf]\n");
	expect_in("modules", "next 4096 1 mod,");
	assert_true(exists("meta"));
}

/* Before Linux 6.4 holes of kcore have what was read before. */
static void holes_are_no_code_whatever_they_have(void **state)
{
	(void)state;
	fake.stale_holes = true;
	expect_the_kernels_code();
}

static void patch(uint64_t address, const char *bytes, size_t size)
{
	uint64_t offset = address < MODULES ? address - TEXT + 0x22000 : address - MODULES + 0x2000;
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, offset, SEEK_SET), 0);
	assert_int_equal(fwrite(bytes, 1, size, f), size);
	fclose(f);
}

/* Fails unless @name, a kcore of a recording, has these bytes at @address. */
static void expect_code(const char *name, uint64_t address, const void *bytes, size_t count)
{
	const Elf64_Phdr *ph;
	size_t size;
	char *elf = slurp(name, &size);
	bool found = false;

	ph = (const void *)(elf + sizeof(Elf64_Ehdr));
	for (unsigned int i = 0; i < ((const Elf64_Ehdr *)elf)->e_phnum; i++)
		if (address >= ph[i].p_vaddr && address < ph[i].p_vaddr + ph[i].p_filesz) {
			assert_false(found);
			assert_memory_equal(elf + ph[i].p_offset + (address - ph[i].p_vaddr), bytes, count);
			found = true;
		}
	assert_true(found);
	free(elf);
}

/* It is like the one before, and is no hole. */
static void two_equal_pages_are_both_code(void **state)
{
	uint32_t mark = page_mark(MODULES + 0x1000);

	(void)state;
	fake.stale_holes = true;
	patch(MODULES + 0x2000, (const char *)&mark, sizeof(mark));
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_code("kcore", MODULES + 0x2000, &mark, sizeof(mark));
}

static void expect_changes(const char *name, const char *expected)
{
	size_t size;
	char *text = slurp(name, &size);

	assert_int_equal(size, strlen(expected));
	assert_memory_equal(text, expected, size);
	free(text);
}

static void what_changes_in_the_kernels_code_is_noted(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	struct auxtrace_totals totals;

	(void)state;
	/* In one page: an instruction that shares bytes with the one before, and one of its own. */
	patch(TEXT + 0x1010, "\xe8\0\0\0\x12", 5);
	patch(TEXT + 0x1024, "\x90", 1);
	/* A run goes on after four equal bytes, not after five. */
	patch(TEXT + 0x1040, "\1\0\0\0\0\2", 6);
	patch(TEXT + 0x1060, "\1\0\0\0\0\0\2", 7);
	/* The last byte of a page and the first of the next; page 3 begins with its mark, 03. */
	patch(TEXT + 0x2fff, "\xcc\xcc", 2);
	patch(MODULES + 0x1ffe, "\xeb\xfe", 2);
	/* Data: not code. */
	patch(MODULES + 0x2100, "data", 4);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_changes("kcore.changes",
		       "patched 0xffffffff81001010 0000000000 e800000012\n"
		       "patched 0xffffffff81001024 00 90\n"
		       "patched 0xffffffff81001040 000000000000 010000000002\n"
		       "patched 0xffffffff81001060 00 01\n"
		       "patched 0xffffffff81001066 00 02\n"
		       "patched 0xffffffff81002fff 00 cc\n"
		       "patched 0xffffffff81003000 03 cc\n"
		       "patched 0xffffffffa0001ffe 0000 ebfe\n");
	assert_int_equal(totals.code_changes, 8);
}

/* It may have run before it went. */
static void code_that_is_gone_is_recorded_as_it_was(void **state)
{
	static const char nothing[PAGE];
	char program[128], freed[128];
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint32_t mark = page_mark(MODULES + 0x3000);

	(void)state;
	memset(program, 0x90, sizeof(program));
	memset(freed, 0xcc, sizeof(freed));
	patch(MODULES + 0x11040, program, sizeof(program));
	patch(MODULES + 0x12000, freed, 64);
	rec = kernel_recording();
	/* A module is unloaded. */
	patch(MODULES + 0x3000, nothing, PAGE);
	/* A program goes, and another one comes. */
	patch(MODULES + 0x11040, freed, sizeof(freed));
	patch(MODULES + 0x12000, program, 64);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_code("kcore", MODULES + 0x3000, &mark, sizeof(mark));
	expect_code("kcore", MODULES + 0x11040, program, sizeof(program));
	expect_code("kcore", MODULES + 0x12000, program, 64);
	/* To free a program leaves no byte of its units. */
	expect_in("kcore.changes", "patched 0xffffffffa0012000 cccc");
	assert_int_equal(totals.code_changes, 1);
}

/* A program that kallsyms does not list, in pages of its own, gives way to another one. */
static void an_unlisted_program_that_changes_is_noted(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	patch(MODULES + 0x8000, "\x90", 1);
	rec = kernel_recording();
	patch(MODULES + 0x8000, "\xc3", 1);
	/* That is data of the module whose page it is. */
	patch(MODULES + 0x2f00, "data", 4);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "patched 0xffffffffa0008000 90 c3\n");
}

/* It has pages already, and kallsyms lists it only when it is loaded. */
static void data_of_a_module_that_was_being_loaded_is_no_code(void **state)
{
	static const char loaded[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n"
		"ffffffffa0008800 d data_of_another\t[other]\n";
	struct auxtrace_recording *rec;

	(void)state;
	patch(MODULES + 0x8000, "\1", 1);
	rec = kernel_recording();
	patch(MODULES + 0x8000, "\2", 1);
	write_proc("kallsyms", loaded, sizeof(loaded) - 1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "");
}

static void int3_in_code_that_is_still_there_is_recorded(void **state)
{
	char int3[64];
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	memset(int3, 0xcc, sizeof(int3));
	/* Neither is a whole unit. */
	patch(MODULES + 0x11001, int3, 63);
	patch(MODULES + 0x11060, int3, 64);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code("kcore", MODULES + 0x11001, int3, 63);
	expect_code("kcore", MODULES + 0x11060, int3, 64);
}

/* A kcore of nothing but the text and the modules' area, at @start, with its last page in use. */
static void write_large_area(uint64_t text, uint64_t start, uint64_t size)
{
	const Elf64_Phdr ph[] = {
		{ .p_type = PT_LOAD, .p_vaddr = text, .p_offset = 0x1000, .p_memsz = 0x4000 },
		{ .p_type = PT_LOAD, .p_vaddr = start, .p_offset = 0x5000, .p_memsz = size },
	};
	const Elf64_Ehdr eh = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE, .e_machine = EM_X86_64, .e_phoff = sizeof(eh), .e_phnum = 2,
		.e_phentsize = sizeof(ph[0]), .e_ehsize = sizeof(eh),
	};
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "w");
	assert_non_null(f);
	fwrite(&eh, sizeof(eh), 1, f);
	fwrite(ph, sizeof(ph), 1, f);
	fseek(f, 0x5000 + size - 1, SEEK_SET);
	fwrite("\xc3", 1, 1, f);
	fclose(f);
}

#define AREA	0xffffffffc0000000ull
#define HOLE	0x1000000u

/* Is the last page of such an area recorded, if kallsyms has a symbol in its second page, or none? */
static bool last_page_is_recorded(void **state, uint64_t start, uint64_t size, bool symbol)
{
	static const char list[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffc0001000 t module_function\t[mod]\n";
	unsigned int segments;
	char *elf;

	write_proc("kallsyms", list, symbol ? sizeof(list) - 1 : 52);
	write_large_area(TEXT, start, size);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	elf = slurp("kcore", &(size_t){ 0 });
	segments = ((const Elf64_Ehdr *)elf)->e_phnum;
	free(elf);
	assert_in_range(segments, 1, 2);
	if (segments == 2)
		expect_code("kcore", start + size - 1, "\xc3", 1);
	assert_int_equal(end_kernel(state), 0);
	assert_int_equal(begin_kernel(state), 0);
	return segments == 2;
}

/* At random addresses the text may be where the area of other kernels begins. */
static void the_text_is_not_the_modules_area_wherever_it_is(void **state)
{
	static const char list[] =
		"ffffffffa0000000 T _stext\n"
		"ffffffffa0003ff0 T _etext\n";

	(void)state;
	write_proc("kallsyms", list, sizeof(list) - 1);
	write_large_area(0xffffffffa0000000, AREA, PAGE);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_code("kcore", AREA + PAGE - 1, "\xc3", 1);
	expect_code("kcore", 0xffffffffa0003fff, "\0", 1);
}

/* The area is a gigabyte: it is not read where nothing can be. */
static void beyond_a_large_hole_nothing_is_looked_for(void **state)
{
	assert_true(last_page_is_recorded(state, AREA, HOLE, false));
	assert_false(last_page_is_recorded(state, AREA, HOLE + PAGE, false));
	assert_true(last_page_is_recorded(state, AREA, HOLE + PAGE, true));
	assert_false(last_page_is_recorded(state, AREA, HOLE + 2 * PAGE, true));
	/* Those are no areas of modules. */
	assert_false(last_page_is_recorded(state, 0xffffffff7ffff000, PAGE, false));
	assert_false(last_page_is_recorded(state, 0xffffffffff600000, PAGE, false));
}

static void where_nothing_changes_nothing_is_noted(void **state)
{
	struct auxtrace_totals totals = { .code_changes = 1 };

	(void)state;
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), &totals), 0);
	expect_changes("kcore.changes", "");
	assert_int_equal(totals.code_changes, 0);
}

/* At its create the kernel's code cannot be read, or the trace is over. */
static void what_was_before_may_not_be_known(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;

	(void)state;
	fake.kcore_errno = EPERM;
	rec = kernel_recording();
	assert_string_equal(auxtrace_error(), "");
	fake.kcore_errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_true(exists("kcore"));
	assert_false(exists("kcore.changes"));
	assert_true(totals.code_changes == AUXTRACE_CHANGES_UNKNOWN);
	assert_int_equal(auxtrace_save(session, dir), 0);
	assert_true(exists("kcore"));
	assert_false(exists("kcore.changes"));
}

/* A module's data cannot be told from its code if no data has a symbol. */
static void without_symbols_of_data_only_the_text_is_compared(void **state)
{
	static const char functions[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffff81005000 D the_kernels_own_data\n"
		"ffffffffa0001000 t module_function\t[mod]\n";
	struct auxtrace_recording *rec;

	(void)state;
	write_proc("kallsyms", functions, sizeof(functions) - 1);
	rec = kernel_recording();
	patch(TEXT + 0x1024, "\x90", 1);
	patch(MODULES + 0x1ffe, "\xeb\xfe", 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "patched 0xffffffff81001024 00 90\n");
}

/* What was data before is not in the trace, whatever it is at the end. */
static void what_was_data_before_is_no_code_that_changed(void **state)
{
	static const char others[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0001000 d other_data\t[other]\n"
		"ffffffffa0002000 T other_function\t[other]\n";
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	write_proc("kallsyms", others, sizeof(others) - 1);
	patch(MODULES + 0x1100, "data", 4);
	patch(MODULES + 0x2100, "code", 4);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in("kcore.changes", "patched 0xffffffffa0001100 00000000 64617461\n");
	expect_not_in("kcore.changes", "0xffffffffa0002100");
}

/* Either the call fails, or it says that the changes are not known. */
static void each_allocation_for_the_kernels_code_may_fail(void **state)
{
	int unknown = 0, failed = 0;

	for (int n = 1; ; n++) {
		struct auxtrace_totals totals = { 0 };
		struct auxtrace_recording *rec;
		int err = 0;

		set_up("0", AUXTRACE_SETUP_KERNEL);
		fake.fail_alloc = n;
		rec = auxtrace_recording_create(session, dir);
		if (!rec || auxtrace_recording_finish(rec, &totals))
			err = errno;
		if (fake.fail_alloc > 0)
			break;
		if (err)
			assert_int_equal(err, ENOMEM);
		else
			assert_true(totals.code_changes == AUXTRACE_CHANGES_UNKNOWN);
		unknown += !err;
		failed += !!err;
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
	fake.fail_alloc = 0;
	assert_true(unknown > 5);
	assert_true(failed > 5);
}

/* Fails with @err and @text, but leaves a recording of all the rest. */
static void expect_kernel_failure(int err, const char *text)
{
	struct auxtrace_recording *rec = kernel_recording();

	produce(0, 10);
	errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_int_equal(errno, err);
	says(text);
	assert_true(exists("meta"));
	expect_aux(0, 0, 10);
}

static void what_fails_while_the_kernel_is_read_is_told(void **state)
{
	static const struct {
		int *fail, err;
	} cases[] = {
		{ &fake.fail_alloc, ENOMEM }, { &fake.fail_open, EMFILE }, { &fake.fail_close, ENOSPC },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n, ret = -1;

		for (n = 1; ret; n++) {
			struct auxtrace_recording *rec = kernel_recording();

			*cases[i].fail = n;
			errno = 0;
			ret = auxtrace_recording_finish(rec, NULL);
			assert_int_equal(*cases[i].fail > 0, !ret);
			/* Headers of kcore for which there is no memory are not read. */
			assert_true(!ret || errno == cases[i].err || errno == EIO);
			end_kernel(state);
			begin_kernel(state);
		}
		/* Several places of each. */
		assert_true(n > 3);
	}
}

/* All are 0, or one of the two that bound the text is missing. */
static void hidden_addresses_are_told(void **state)
{
	static const char *const hidden[] = {
		"0000000000000000 T _stext\n0000000000000000 T _etext\n",
		"ffffffff81003ff0 T _etext\n",
		"ffffffff81000000 T _stext\n",
		"ffffffff81000000 T _stext\nffffffff81000000 T _etext\n",
	};

	for (unsigned int i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		if (i) {
			assert_int_equal(end_kernel(state), 0);
			assert_int_equal(begin_kernel(state), 0);
		}
		write_proc("kallsyms", hidden[i], strlen(hidden[i]));
		expect_kernel_failure(EACCES, "CAP_SYSLOG");
	}
}

static void lines_that_are_no_symbol_are_passed_over(void **state)
{
	static const char kallsyms[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81002000\n"
		"ffffffff81002000 T\n"
		"ffffffff81003001 T _etext\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n";
	const Elf64_Phdr *ph;
	char *elf;

	(void)state;
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", NULL);
	ph = (const void *)(elf + sizeof(Elf64_Ehdr));
	assert_int_equal(ph->p_vaddr, TEXT);
	assert_int_equal(ph->p_memsz, 0x4000);
	free(elf);
}

/* The buffers for them are exactly as long. */
static void the_longest_names_of_symbols_and_modules_fit(void **state)
{
	static const char begin[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0002000 d ";
	char text[sizeof(begin) + 1024], name[600], module[100];

	(void)state;
	memset(name, 'n', sizeof(name));
	memset(module, 'm', sizeof(module));
	snprintf(text, sizeof(text), "%s%.511s\t[%.63s]\n", begin, name, module);
	write_proc("kallsyms", text, strlen(text));
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	expect_in("kallsyms", text);
}

static void a_file_of_proc_that_cannot_be_opened_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kallsyms", proc);
	assert_int_equal(unlink(path), 0);
	expect_kernel_failure(ENOENT, "cannot read /proc/kallsyms: No such file");
	assert_int_equal(end_kernel(state), 0);
	assert_int_equal(begin_kernel(state), 0);
	/* A kernel may lack modules, which is another errno. */
	snprintf(path, sizeof(path), "%s/modules", proc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("modules", path), 0);
	expect_kernel_failure(ELOOP, "cannot read /proc/modules: Too many levels");
}

/* The recording's directory gets the file descriptor 0. */
static void a_process_without_a_standard_input_records_the_kernel(void **state)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	struct auxtrace_recording *rec;

	(void)state;
	assert_return_code(input, errno);
	set_up("0", AUXTRACE_SETUP_KERNEL);
	/* Its ring would be 0. */
	fake.no_uring = true;
	for (int fails = 1; fails >= 0; fails--) {
		int ret, err;

		close(STDIN_FILENO);
		rec = auxtrace_recording_create(session, dir);
		fake.fail_open = fails;
		ret = rec ? auxtrace_recording_finish(rec, NULL) : 0;
		err = errno;
		assert_return_code(dup2(input, STDIN_FILENO), errno);
		assert_non_null(rec);
		assert_int_equal(ret, -fails);
		assert_int_equal(exists("kallsyms"), !fails);
		if (fails) {
			assert_int_equal(err, EMFILE);
			says("cannot write kallsyms");
		}
	}
	/* Then each file of the kernel's gets it, one after another. */
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	close(STDIN_FILENO);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_return_code(dup2(input, STDIN_FILENO), errno);
	close(input);
	assert_true(exists("modules"));
	assert_true(exists("kcore"));
}

static void a_kernel_without_kcore_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	assert_int_equal(unlink(path), 0);
	expect_kernel_failure(ENOENT, "cannot open /proc/kcore");
}

/* The kernel refuses a CAP_SYS_RAWIO that is missing and a lockdown with the same errno. */
static void a_kcore_that_lockdown_closes_is_told(void **state)
{
	static const struct { int err; const char *modes, *text; } cases[] = {
		{ EPERM, "none integrity [confidentiality]\n", "locked down in confidentiality mode" },
		{ EPERM, "none [integrity] confidentiality\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, "[none] integrity confidentiality\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, "", "it needs CAP_SYS_RAWIO" },
		{ EACCES, "none integrity [confidentiality]\n", "it needs CAP_SYS_RAWIO" },
		{ EPERM, NULL, "it needs CAP_SYS_RAWIO" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		if (i) {
			assert_int_equal(end_kernel(state), 0);
			assert_int_equal(begin_kernel(state), 0);
		}
		fake.kcore_errno = cases[i].err;
		if (cases[i].modes)
			write_proc("lockdown", cases[i].modes, strlen(cases[i].modes));
		expect_kernel_failure(cases[i].err, cases[i].text);
	}
}

static void a_kcore_that_is_no_elf_file_is_told(void **state)
{
	(void)state;
	write_proc("kcore", "nonsense", 8);
	expect_kernel_failure(EIO, "is not the ELF file it should be");
}

/* A read of /proc/kcore may return less than was asked for: small pieces, and all but one byte. */
static void kernel_code_that_is_read_in_pieces_is_whole(void **state)
{
	static const size_t pieces[] = { 1000, 4 * PAGE - 1 };
	static char text[4 * PAGE];

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = i * 31 + i / 256 + 1;
	for (unsigned int i = 0; i < 2; i++) {
		const Elf64_Ehdr *eh;
		const Elf64_Phdr *ph;
		char *elf;

		patch(TEXT, text, sizeof(text));
		fake.most_read = pieces[i];
		if (auxtrace_recording_finish(kernel_recording(), NULL))
			fail_msg("%s", auxtrace_error());
		elf = slurp("kcore", NULL);
		eh = (const void *)elf;
		ph = (const void *)(elf + eh->e_phoff);
		assert_int_equal(ph->p_vaddr, TEXT);
		assert_int_equal(ph->p_filesz, sizeof(text));
		assert_memory_equal(elf + ph->p_offset, text, sizeof(text));
		free(elf);
		assert_int_equal(end_kernel(state), 0);
		assert_int_equal(begin_kernel(state), 0);
	}
}

/* Of the text there is a part that begins and ends within a page, and of the modules' area a page. */
static void code_that_kcore_has_in_part_is_recorded_in_part(void **state)
{
	static const char kallsyms[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n";
	const Elf64_Phdr parts[] = {
		{ .p_type = PT_LOAD, .p_vaddr = MODULES + 0x2000, .p_offset = 0x4000, .p_memsz = PAGE },
		{ .p_type = PT_LOAD, .p_vaddr = TEXT + 1, .p_offset = 0x22001, .p_memsz = 0x2800 },
		{ .p_type = PT_NULL },
	};
	const Elf64_Ehdr *eh;
	const Elf64_Phdr *ph;
	char path[128], *elf;
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "r+");
	assert_non_null(f);
	assert_int_equal(fseek(f, sizeof(*eh), SEEK_SET), 0);
	assert_int_equal(fwrite(parts, sizeof(parts), 1, f), 1);
	fclose(f);
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	if (auxtrace_recording_finish(kernel_recording(), NULL))
		fail_msg("%s", auxtrace_error());
	elf = slurp("kcore", NULL);
	eh = (const void *)elf;
	ph = (const void *)(elf + eh->e_phoff);
	assert_int_equal(eh->e_phnum, 2);
	assert_int_equal(ph[1].p_vaddr, MODULES + 0x2000);
	assert_int_equal(ph[1].p_memsz, PAGE);
	assert_int_equal(ph->p_vaddr, TEXT + PAGE);
	assert_int_equal(ph->p_memsz, PAGE);
	assert_int_equal(*(uint32_t *)(elf + ph->p_offset), page_mark(TEXT + PAGE));
	free(elf);
}

/* A part of the text's first page, which is no page. */
static void a_kcore_without_a_page_of_the_text_is_told(void **state)
{
	const Elf64_Phdr part = {
		.p_type = PT_LOAD, .p_vaddr = TEXT + 1, .p_offset = 0x22001, .p_memsz = 0x800,
	};
	char path[128];
	FILE *f;

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	f = fopen(path, "r+");
	assert_non_null(f);
	/* The third header is the text's. */
	assert_int_equal(fseek(f, sizeof(Elf64_Ehdr) + 2 * sizeof(part), SEEK_SET), 0);
	assert_int_equal(fwrite(&part, sizeof(part), 1, f), 1);
	fclose(f);
	expect_kernel_failure(EIO, "/proc/kcore does not have the kernel's text");
}

static void a_kcore_that_ends_too_early_is_told(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/kcore", proc);
	/* The text is at 0x22000. */
	assert_int_equal(truncate(path, 0x23800), 0);
	expect_kernel_failure(EIO, "cannot read kernel code at 0xffffffff81001800 from /proc/kcore: it ends");
}

static void kernel_code_that_cannot_be_read_is_told(void **state)
{
	(void)state;
	fake.read_errno = EFAULT;
	expect_kernel_failure(EFAULT, "cannot read kernel code at 0xffffffff81000000 from /proc/kcore: Bad address");
}

static void a_kernel_without_modules_has_none(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/modules", proc);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), NULL), 0);
	assert_false(exists("modules"));
	assert_true(exists("kcore"));
}

/* Of when the first was taken: it may be patched before the recording ends. */
static void snapshots_keep_the_kernel_that_they_met(void **state)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 2 * SIZE, .slots = 2,
		.flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
	};
	struct auxtrace_recording *rec;
	char *snapshot, *again;
	size_t size, same;

	(void)state;
	session = auxtrace_open(NULL);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	/* There at once, for who reads it while the recording goes on. */
	snapshot = slurp("snapshot.0001/kcore", &size);
	expect_changes("snapshot.0001/kcore.changes", "");
	write_proc("modules", "", 0);
	patch(TEXT + 0x1010, "\xcc", 1);
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	again = slurp("snapshot.0002/kcore", &same);
	assert_int_equal(size, same);
	assert_memory_equal(again, snapshot, size);
	expect_code("kcore", TEXT + 0x1010, "\xcc", 1);
	expect_code("snapshot.0001/kcore", TEXT + 0x1010, "\0", 1);
	expect_in("snapshot.0001/modules", "mod 8192");
	expect_not_in("modules", "mod 8192");
	expect_changes("snapshot.0002/kcore.changes", "");
	expect_changes("kcore.changes", "patched 0xffffffff81001010 00 cc\n");
	assert_true(exists("snapshot.0002/kallsyms"));
	free(again);
	free(snapshot);
}

static struct auxtrace_recording *kernel_flight(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 2 * SIZE, .slots = 2,
		.flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
	};
	struct auxtrace_recording *rec;

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	return rec;
}

/* The changes up to a snapshot are not those up to the end. */
static void changes_that_are_not_known_at_the_end_are_not_those_of_a_snapshot(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_true(exists("kcore.changes"));
	fake.kcore_errno = EPERM;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_false(exists("kcore.changes"));
	assert_true(exists("snapshot.0001/kcore.changes"));
}

static void without_hard_links_a_snapshot_points_to_the_recordings_kernel(void **state)
{
	static const char *const names[] = { "kcore", "kcore.changes", "kallsyms", "modules" };
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	fake.link_errno = EPERM;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[128], to[64] = "", expected[64];

		snprintf(path, sizeof(path), "%s/snapshot.0001/%s", dir, names[i]);
		assert_true(readlink(path, to, sizeof(to) - 1) > 0);
		snprintf(expected, sizeof(expected), "../%s", names[i]);
		assert_string_equal(to, expected);
	}
	/* What the recording does not have is not pointed to. */
	fake.link_errno = ENOENT;
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_false(exists("snapshot.0002/kcore"));
	auxtrace_recording_abort(rec);
}

/* As if somebody else wrote there. */
static void take_the_place_of_kcore(void)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/snapshot.0001/kcore", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void a_snapshot_that_cannot_be_given_the_kernel_is_none(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	fake.on_task = take_the_place_of_kcore;
	errno = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), -1);
	assert_int_equal(errno, EEXIST);
	says("snapshot.0001/kcore: File exists");
	assert_false(exists("snapshot.0001"));
	auxtrace_recording_abort(rec);
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define k(f) cmocka_unit_test_setup_teardown(f, begin_kernel, end_kernel)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_full_trace_is_recorded_whole_across_many_wraps),
		t(meta_is_what_the_module_and_the_session_said),
		t(a_trigger_that_cannot_be_read_is_told),
		t(a_recording_of_bts_says_so),
		t(an_overwrite_recording_has_the_newest_bytes_and_says_where_they_begin),
		t(an_overwrite_session_that_runs_cannot_be_finished),
		t(a_task_is_its_cr3_its_mappings_and_its_vdso),
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
		t(an_exec_that_cannot_be_read_ends_what_was_before),
		t(an_exec_that_is_reported_late_takes_nothing_away),
		t(after_an_exec_nothing_is_added_to_what_was_before),
		t(a_reported_mapping_goes_to_the_newest_address_space),
		t(what_is_no_process_is_refused),
		t(an_old_recording_is_replaced_and_other_files_are_not),
		t(a_directory_that_cannot_be_made_is_told),
		t(an_aborted_recording_leaves_nothing),
		t(save_is_all_in_one),
		t(a_full_disk_is_told),
		t(a_disk_that_was_full_for_a_while_is_told),
		t(a_meta_that_is_not_whole_is_none),
		t(whole_pages_are_written_from_the_area_itself),
		t(an_area_larger_than_all_writes_in_flight_is_written_whole),
		t(without_io_uring_pwrite_does_it),
		t(a_ring_that_fails_is_replaced_by_pwrite),
		t(a_write_that_was_short_is_completed),
		t(a_file_system_without_o_direct_is_noted),
		t(a_write_that_is_refused_is_made_plainly),
		t(a_file_that_cannot_be_cut_is_told),
		t(an_overwritten_area_that_begins_within_a_page_is_padded),
		t(records_are_drained_and_kept),
		t(an_overwritable_data_ring_is_copied_at_the_end),
		t(samples_in_slots_are_saved_and_their_slots_released),
		t(a_disk_that_is_full_of_samples_is_told),
		t(a_flight_recorder_writes_what_was_put_aside),
		t(a_snapshot_has_the_tasks_of_its_cut),
		t(without_slots_a_snapshot_pauses_and_resumes_who_ran),
		t(a_snapshot_that_fails_leaves_no_directory_and_all_goes_on),
		t(a_cut_of_another_cpu_fails_and_what_is_in_flight_is_written),
		t(each_allocation_that_fails_is_told),
		t(each_file_that_cannot_be_opened_is_told),
		t(a_disk_that_is_full_at_the_end_is_told),
		t(a_full_trace_has_no_snapshots),
		k(kernel_code_is_recorded_page_for_page),
		k(holes_are_no_code_whatever_they_have),
		k(two_equal_pages_are_both_code),
		k(what_fails_while_the_kernel_is_read_is_told),
		k(hidden_addresses_are_told),
		k(lines_that_are_no_symbol_are_passed_over),
		k(the_longest_names_of_symbols_and_modules_fit),
		k(a_file_of_proc_that_cannot_be_opened_is_told),
		k(a_process_without_a_standard_input_records_the_kernel),
		k(a_kernel_without_kcore_is_told),
		k(a_kcore_that_lockdown_closes_is_told),
		k(a_kcore_that_is_no_elf_file_is_told),
		k(kernel_code_that_is_read_in_pieces_is_whole),
		k(code_that_kcore_has_in_part_is_recorded_in_part),
		k(a_kcore_without_a_page_of_the_text_is_told),
		k(a_kcore_that_ends_too_early_is_told),
		k(kernel_code_that_cannot_be_read_is_told),
		k(a_kernel_without_modules_has_none),
		k(snapshots_keep_the_kernel_that_they_met),
		k(changes_that_are_not_known_at_the_end_are_not_those_of_a_snapshot),
		k(without_hard_links_a_snapshot_points_to_the_recordings_kernel),
		k(a_snapshot_that_cannot_be_given_the_kernel_is_none),
		k(what_changes_in_the_kernels_code_is_noted),
		k(code_that_is_gone_is_recorded_as_it_was),
		k(an_unlisted_program_that_changes_is_noted),
		k(data_of_a_module_that_was_being_loaded_is_no_code),
		k(int3_in_code_that_is_still_there_is_recorded),
		k(the_text_is_not_the_modules_area_wherever_it_is),
		k(beyond_a_large_hole_nothing_is_looked_for),
		k(where_nothing_changes_nothing_is_noted),
		k(what_was_before_may_not_be_known),
		k(without_symbols_of_data_only_the_text_is_compared),
		k(what_was_data_before_is_no_code_that_changed),
		k(each_allocation_for_the_kernels_code_may_fail),
	};

	return cmocka_run_group_tests_name("userlib recording", tests, NULL, NULL);
}
