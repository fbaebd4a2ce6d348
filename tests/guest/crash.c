// SPDX-License-Identifier: GPL-2.0-only
/*
 * Crashes the kernel while a session traces. Before that, it leaves in CRASH_PLAN where in
 * physical memory the session's pages are, for test_crash.c.
 *   crash CPU HOW COMMAND [KERNEL INITRD]
 * CPU: that crashes. HOW: panic, or a file of a kernel module whose init function ends the kernel.
 * COMMAND: runs before the session starts, when the plan is written. KERNEL, INITRD: of the crash
 * kernel; loaded after COMMAND.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/kexec.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "crash.h"
#include "file.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "uapi.h"

static struct crash_plan plan;

static void die(const char *what)
{
	fprintf(stderr, "crash: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t physical(const void *addr)
{
	static int fd = -1;
	uint64_t entry;

	if (fd < 0)
		fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	/* The page must be there; a mapping of a device need not be filled before. */
	(void)*(const volatile char *)addr;
	if (pread(fd, &entry, sizeof(entry), (uintptr_t)addr / page_size * sizeof(entry)) !=
	    sizeof(entry) || !(entry >> 63) || !(entry & ((1ULL << 55) - 1)))
		die("pagemap");
	return (entry & ((1ULL << 55) - 1)) * page_size;
}

static volatile uint32_t landmarks;

static __attribute__((noinline)) void landmark(void)
{
	landmarks++;
}

/* An indirect call: Intel PT writes its target. */
static void (*const volatile to_landmark)(void) = landmark;

static void *call_landmark(void *arg)
{
	if (cpu_pin((intptr_t)arg))
		die("pin");
	for (;;) {
		for (int i = 0; i < 10; i++)
			to_landmark();
		load_run(20);
		usleep(1000);
	}
	return NULL;
}

static void plan_session(const struct session *s)
{
	FILE *f;

	plan.magic = CRASH_MAGIC;
	plan.pages = CRASH_PAGES;
	plan.landmark = (uintptr_t)landmark;
	plan.channels = s->count;
	plan.counted = 1;
	for (unsigned int i = 0; i < s->count; i++) {
		struct crash_channel *to = &plan.channel[i];

		to->cpu = s->channel[i].cpu;
		to->status = physical(s->channel[i].status);
		to->landmark_runs = 1;
		for (uint64_t page = 0; page < plan.pages; page++)
			to->aux[page] = physical(s->channel[i].aux + page * page_size);
		if (!emulator_bytes_plain(to->cpu, &to->bytes_before))
			plan.counted = 0;
	}
	f = fopen(CRASH_PLAN, "we");
	if (!f || fwrite(&plan, sizeof(plan), 1, f) != 1 || fclose(f))
		die(CRASH_PLAN);
}

static int must_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(path);
	return fd;
}

static void load_crash_kernel(const char *kernel, const char *initrd)
{
	char line[4096];
	ssize_t length = read(must_open("/proc/cmdline"), line, sizeof(line) - 32);

	if (length <= 0)
		die("/proc/cmdline");
	/* In place of the newline. */
	strcpy(line + length - 1, " nr_cpus=1");
	if (syscall(SYS_kexec_file_load, must_open(kernel), must_open(initrd), strlen(line) + 1, line,
		    KEXEC_FILE_ON_CRASH))
		die("kexec_file_load");
}

/*
 * Bytes of trace of a write(2) to a file of /proc, and of what the kernel then prints on its console.
 * The write changes nothing: it sets the log level that there is.
 */
static uint64_t bytes_of_a_line(void)
{
	uint64_t before, after, most = 0;
	char level[2];

	/* The first of several numbers; a sysrq sets one of a digit. */
	if (read(must_open("/proc/sys/kernel/printk"), level, 2) != 2 || level[1] != '\t')
		die("/proc/sys/kernel/printk");
	level[1] = '\0';
	for (int i = 0; i < 3; i++) {
		if (!emulator_bytes_plain(plan.crash_cpu, &before) ||
		    file_write("/proc/sysrq-trigger", level) ||
		    !emulator_bytes_plain(plan.crash_cpu, &after))
			die("/proc/sysrq-trigger");
		if (after - before > most)
			most = after - before;
	}
	return most;
}

static void insmod(const char *path)
{
	syscall(SYS_finit_module, must_open(path), "", 0);
	die("the module did not end the kernel");
}

int main(int argc, char *argv[])
{
	const char *how = argc > 2 ? argv[2] : "";
	struct crash_note *note;
	struct session s;
	pthread_t thread;

	if (argc != 4 && argc != 6) {
		fprintf(stderr, "usage: crash CPU panic|MODULE COMMAND [KERNEL INITRD]\n");
		return 2;
	}
	plan.crash_cpu = atoi(argv[1]);
	plan.early = !strcmp(how, "panic");
	note = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (note == MAP_FAILED)
		die("mmap");
	note->magic = CRASH_MAGIC;
	if (mlock(note, page_size))
		die("mlock");
	plan.note = physical(note);
	session_open(&s, all_cpus, quiet_level() | AUXTRACE_SETUP_OVERWRITE,
		     CRASH_PAGES * page_size);
	assert_true(s.count <= CRASH_CPUS);
	plan_session(&s);
	if (system(argv[3]))
		die(argv[3]);
	if (argc > 4)
		load_crash_kernel(argv[4], argv[5]);

	for (unsigned int i = 0; i < s.count; i++)
		if (s.channel[i].cpu != plan.crash_cpu &&
		    pthread_create(&thread, NULL, call_landmark, (void *)(intptr_t)s.channel[i].cpu))
			die("thread");
	if (cpu_pin(plan.crash_cpu))
		die("pin");
	ok_start(s.fd);
	usleep(50000);
	if (plan.early)
		note->line_bytes = bytes_of_a_line();
	for (int i = 0; i < 10; i++)
		to_landmark();
	note->tsc = read_tsc();
	if (plan.early)
		file_write("/proc/sysrq-trigger", "c");
	else
		insmod(how);
	die("the kernel did not crash");
}
