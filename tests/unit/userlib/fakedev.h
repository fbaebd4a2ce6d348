/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A /dev/auxtrace without a kernel: open(2), ioctl(2), mmap(2) and what writes files
 * of the code under test come here by the linker's --wrap. The test plays the module: it
 * sets what is answered and writes the status pages and AUX areas itself.
 */
#ifndef FAKEDEV_H
#define FAKEDEV_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>
#include <cmocka.h>

#include <linux/auxtrace.h>

#define FAKE_CPUS	8
#define PAGE		4096u

struct fake_channel {
	bool used;
	struct auxtrace_status_page *status;
	struct auxtrace_user_page *user;
	uint8_t *aux;
	uint8_t *data;
	int fd[4];		/* memory of each region */
};

struct fakedev {
	int fd;			/* of the last open; -1: never opened */
	int open_errno;		/* fail with it, unless 0 */
	const char *really;	/* opened in place of the device; default /dev/null */
	struct auxtrace_info info;
	/* The capabilities, in the order in which INFO returns them. */
	struct {
		struct auxtrace_cap_pmu pmu[2];		/* by AUXTRACE_PMU_* */
		struct auxtrace_cap_intel_bts bts;
		struct auxtrace_cap_intel_pt pt;
		struct auxtrace_cap_x86 x86;
	} caps;
	struct { unsigned long nr; int err; int ret; } fail; /* one ioctl that fails or returns ret */
	unsigned int eintr;	/* so many ioctls fail with EINTR first */
	int fail_mmap;		/* the how-many-th mmap fails with EAGAIN; 0: none */
	int fail_alloc;		/* the how-many-th allocation fails; 0: none */
	int fail_close;		/* the how-many-th fclose after writing finds the disk full; 0: none */
	int fail_open;		/* the how-many-th openat fails with EMFILE; 0: none */
	int fail_readdir;	/* the how-many-th readdir fails with EIO; 0: none */
	const char *descriptor_0;	/* openat of this name closes 0 first, and so gets it; NULL: none */
	unsigned int mmaps, unmaps, ioctls;
	struct auxtrace_setup setup;
	uint8_t setup_cpus[64];
	struct auxtrace_control control;
	uint8_t control_cpus[64];
	struct auxtrace_output output;
	uint8_t output_cpus[64];
	struct auxtrace_snapshot snapshot;
	uint32_t released;	/* slot of the last RELEASE */
	/* What SNAPSHOT finds on a CPU, and does to it. */
	bool many_caps;		/* INFO fills all the room for capabilities with unknown ones */
	void (*on_write)(void);	/* before each pwrite(2); NULL: nothing */
	void (*on_snapshot)(unsigned int cpu, struct auxtrace_cut *cut);
	struct auxtrace_trigger trigger;	/* the last that was added */
	unsigned int triggers;	/* so many were added: the last one's id */
	struct auxtrace_trigger_state state;	/* what READ and DEL answer; id 0: as asked */
	uint32_t deleted, rearmed;	/* ids of the last DEL, and READ with REARM */
	struct auxtrace_release release;	/* the last one */
	uint64_t cr3;		/* what TASK answers */
	int task_errno;		/* TASK fails with it; 0: it does not */
	unsigned int task_calls;
	pid_t task_pid;		/* what the last TASK asked for, before on_task is called */
	const char *pid_namespace;	/* what /proc/self/ns/pid is; NULL: the initial one */
	void (*on_setup)(void);
	void (*on_release)(void);
	void (*on_status)(void);
	void (*on_task)(void);
	void (*on_trigger)(void);
	void (*on_trigger_read)(void);
	bool no_direct;		/* the file system knows no O_DIRECT */
	bool refuse_direct;	/* it does, but no write is right for it */
	int link_errno;		/* linkat(2) fails with it; 0: it does not */
	bool no_uring;
	int uring_writes;	/* so many writes of more than a page by io_uring are short first */
	int uring_submits;	/* the how-many-th submission fails; 0: none */
	int uring_errno;	/* with which errno; 0: EIO */
	int write_errno;	/* one pwrite(2) fails with it; 0: none */
	bool write_nothing;	/* pwrite(2) writes nothing */
	time_t clock_step;	/* each clock_gettime(2) is so many seconds later; 0: the real clock */
	void (*on_clock)(void);	/* before each of these; NULL: nothing */
	const char *proc;	/* kcore, kallsyms and modules of /proc, and lockdown and online of /sys, are below it; NULL: the real ones */
	const long *securityfs;	/* the type of the file system that statfs(2) finds on /sys/kernel/security; NULL: it finds none */
	size_t most_read;	/* pread(2) reads no more than that at once; 0: all */
	bool stale_holes;	/* a page of zeros reads as the page that was read before */
	int read_errno;		/* of a page or more it reads nothing, with that errno; 0: it does */
	int kcore_errno;	/* /proc/kcore cannot be opened, with that errno; 0: it can */
	const char *fdinfo;	/* opened in place of /proc/self/fdinfo/N; NULL: the real one */
	int fail_read;		/* the how-many-th read of a page or more fails with EIO; 0: none */
	const char *process;	/* maps, mem, comm and exe of every process are below it; NULL: the real ones */
	bool no_stream;		/* fdopen(3) finds no memory */
	bool no_listing;	/* nor does fdopendir(3) */
	int rmdir_errno;	/* unlinkat(2) of a directory fails with it; 0: it does not */
	const char *proc_self;	/* what /proc/self points to; "": there is none; NULL: what it is */
	struct fake_channel channel[FAKE_CPUS];
};

extern struct fakedev fake;

/* setup and teardown of a test */
int fake_new(void **state);
int fake_end(void **state);

/*
 * A child that waits, and its pidfd unless NULL; its end. Without pidfd_open(2), fake_child()
 * skips the test, so a test with a pidfd calls it before it opens anything.
 */
pid_t fake_child(int *pidfd);
void fake_child_end(pid_t pid);

#endif
