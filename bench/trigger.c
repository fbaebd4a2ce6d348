// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures triggers at a system call, ours and perf's (aux-action and aux-sample, as
 * `perf record` sets them up), the cost of triggers to other system calls, and requests
 * by ioctl. Needs a VM with --exec-log: the host's log is on during the calls, and
 * bench/calls reads the figures from it. Prints a line for each call of getppid, getuid or
 * ioctl, in the order of the log, with the WRMSRs of IA32_RTIT_* that the model counted
 * during the call:
 *
 *	call WHO WHAT WRMSRS
 */
#include <elf.h>
#include <inttypes.h>
#include <link.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "host.h"
#include "load.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define HIT		SYS_getppid	/* the triggers' system call */
#define OTHER		SYS_getuid	/* a system call without a trigger */
#define CALLS		5
#define MAX_CALLS	512

#define AUX_SIZE	(1u << 20)
#define DATA_SIZE	(64u << 10)
#define SAMPLE_SIZE	4096

/* ---- calls in the log ---------------------------------------------------- */

static struct call {
	const char *who, *what;
	uint64_t wrmsrs;
} calls[MAX_CALLS];
static unsigned int nr_calls;

static void call(const char *who, const char *what, void (*op)(void *arg), void *arg)
{
	struct call *c = &calls[nr_calls];
	uint64_t before;

	if (++nr_calls > MAX_CALLS)
		errx(1, "more than %u calls", MAX_CALLS);
	before = wrmsrs();
	op(arg);
	*c = (struct call) { .who = who, .what = what, .wrmsrs = wrmsrs() - before };
}

static void system_call(void *arg)
{
	syscall(*(long *)arg);
}

static void in_log(const char *who, const char *what, long number)
{
	/* Take the page faults of the first call outside the log. */
	syscall(number);
	wrmsrs();
	host_log(true);
	for (int i = 0; i < CALLS; i++)
		call(who, what, system_call, &number);
	host_log(false);
}

/* The same for two requests that undo each other. */
static void requests_in_log(const char *who, void (*pause)(void *arg), void (*resume)(void *arg),
			    void *arg)
{
	pause(arg);
	resume(arg);
	wrmsrs();
	host_log(true);
	for (int i = 0; i < CALLS; i++) {
		call(who, "ioctl-pause", pause, arg);
		call(who, "ioctl-resume", resume, arg);
	}
	host_log(false);
}

static void say(void)
{
	for (unsigned int i = 0; i < nr_calls; i++)
		printf("call %s %s %" PRIu64 "\n", calls[i].who, calls[i].what, calls[i].wrmsrs);
}

/* ---- triggers that hit --------------------------------------------------- */

/* @records: AUXTRACE_WANT_*; 0: no data ring */
static void ours_begin(struct ours *ours, uint32_t records, uint32_t flags)
{
	struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE | flags,
		.aux_size = AUX_SIZE,
		.data_size = records ? DATA_SIZE : 0,
		.data_watermark = records ? DATA_SIZE - 1 : 0,
		.records = records,
	};

	ours_open(ours, &source_pt, 1, &setup);
}

static void ours_at(const struct ours *ours, uint32_t kind, uint32_t action)
{
	struct auxtrace_trigger trigger = {
		.kind = kind,
		.action = action,
		.number = HIT,
		.sample_size = action == AUXTRACE_ACTION_SAMPLE ? SAMPLE_SIZE : 0,
	};

	ours_trigger(ours, &trigger);
}

/* The first hit, outside the log, acts; those in the log find the action done. */
static void of_ours_again(const char *who, const char *what, uint32_t records, uint32_t action)
{
	struct ours ours;

	ours_begin(&ours, records, 0);
	ours_at(&ours, AUXTRACE_TRIGGER_SYSCALL_EXIT, action);
	in_log(who, what, HIT);
	ours_close(&ours);
}

static void of_ours(const char *who, uint32_t records)
{
	struct ours ours;

	ours_begin(&ours, records, AUXTRACE_SETUP_TRIGGER_PAUSED);
	ours_at(&ours, AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_RESUME);
	ours_at(&ours, AUXTRACE_TRIGGER_SYSCALL_EXIT, AUXTRACE_ACTION_PAUSE);
	in_log(who, "pair", HIT);
	ours_close(&ours);

	of_ours_again(who, "pause-again", records, AUXTRACE_ACTION_PAUSE);
	of_ours_again(who, "resume-again", records, AUXTRACE_ACTION_RESUME);
	of_ours_again(who, "freeze-again", records, AUXTRACE_ACTION_FREEZE);
}

/*
 * The same by a probe on the call's own function: other system calls take nothing then. A PAUSE that
 * finds the action done, and a RESUME and a PAUSE that act.
 */
static void by_kprobe(void)
{
	static const char function[] = "__x64_sys_getppid";
	struct auxtrace_trigger trigger = {
		.kind = AUXTRACE_TRIGGER_KPROBE,
		.action = AUXTRACE_ACTION_PAUSE,
		.name = (uintptr_t)function,
		.name_len = sizeof(function) - 1,
	};
	struct ours ours;

	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	ours_trigger(&ours, &trigger);
	in_log("ours", "kprobe-again", HIT);
	ours_close(&ours);

	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, AUXTRACE_SETUP_TRIGGER_PAUSED);
	trigger.action = AUXTRACE_ACTION_RESUME;
	ours_trigger(&ours, &trigger);
	trigger.kind = AUXTRACE_TRIGGER_KRETPROBE;
	trigger.action = AUXTRACE_ACTION_PAUSE;
	ours_trigger(&ours, &trigger);
	in_log("ours", "kprobe-pair", HIT);
	ours_close(&ours);

	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	ours_at(&ours, AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_PAUSE);
	in_log("ours", "enter-again", HIT);
	ours_close(&ours);
}

static void sample_of_ours(void)
{
	struct ours ours;

	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	ours_at(&ours, AUXTRACE_TRIGGER_SYSCALL_EXIT, AUXTRACE_ACTION_SAMPLE);
	for (int i = 0; i < SAMPLE_SIZE / 100; i++)
		load();
	in_log("ours", "sample", HIT);
	if (ours.status->samples_cut || ours.status->samples != CALLS + 1)
		errx(1, "%" PRIu64 " samples, %" PRIu64 " cut", (uint64_t)ours.status->samples,
		     (uint64_t)ours.status->samples_cut);
	ours_close(&ours);
}

/* Opens a group as `perf record` with an overwritable AUX area does. */
static void theirs_begin(struct theirs *theirs, uint32_t action)
{
	struct theirs_setup setup = {
		.attr = { .exclude_hv = 1 },
		.source = &source_pt,
		.pid = -1,
		.nr = 1,
		.data_size = DATA_SIZE,
		.aux_size = AUX_SIZE,
		.aux_overwrite = true,
	};

	theirs_set_aux_action(&setup.attr, action);
	theirs_open(theirs, &setup);
	/* perf admits no members to a group that is enabled. */
	theirs_disable(theirs);
}

static int theirs_at(const struct theirs *theirs, const char *name, uint32_t action, bool records,
		     bool sample)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.config = theirs_tracepoint(name),
		.sample_period = 1,
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD |
			       PERF_SAMPLE_RAW,
		.watermark = 1,
		.wakeup_watermark = DATA_SIZE,
	};

	if (sample) {
		attr.sample_type |= PERF_SAMPLE_AUX;
		attr.aux_sample_size = SAMPLE_SIZE;
	}
	theirs_set_aux_action(&attr, action);
	return theirs_join(theirs, &attr, records);
}

static void of_theirs(const char *who, bool records)
{
	struct theirs theirs;
	int resume, pause;

	theirs_begin(&theirs, AUX_START_PAUSED);
	resume = theirs_at(&theirs, "syscalls/sys_enter_getppid", AUX_RESUME, records, false);
	pause = theirs_at(&theirs, "syscalls/sys_exit_getppid", AUX_PAUSE, records, false);
	theirs_enable(&theirs);
	in_log(who, "pair", HIT);
	close(resume);
	in_log(who, "pause-again", HIT);
	close(pause);
	theirs_close(&theirs);

	theirs_begin(&theirs, 0);
	resume = theirs_at(&theirs, "syscalls/sys_exit_getppid", AUX_RESUME, records, false);
	theirs_enable(&theirs);
	in_log(who, "resume-again", HIT);
	close(resume);
	theirs_close(&theirs);
}

static void sample_of_theirs(void)
{
	struct perf_event_mmap_page *page;
	struct theirs theirs;
	uint64_t bytes;
	int sample;

	theirs_begin(&theirs, 0);
	sample = theirs_at(&theirs, "syscalls/sys_exit_getppid", 0, true, true);
	theirs_enable(&theirs);
	page = theirs.event[0].page;
	for (int i = 0; i < SAMPLE_SIZE / 100; i++)
		load();
	bytes = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	in_log("perf", "sample", HIT);
	bytes = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE) - bytes;
	if (bytes < (CALLS + 1) * SAMPLE_SIZE)
		errx(1, "%u samples of perf's have but %" PRIu64 " bytes", CALLS + 1, bytes);
	close(sample);
	theirs_close(&theirs);
}

/* ---- triggers that do not ------------------------------------------------ */

static volatile uint64_t watched;

static uint64_t offset_in_program(uintptr_t address)
{
	const Elf64_Phdr *header = (const Elf64_Phdr *)getauxval(AT_PHDR);

	for (unsigned long i = getauxval(AT_PHNUM); i--; header++)
		if (header->p_type == PT_LOAD && address - header->p_vaddr < header->p_filesz)
			return address - header->p_vaddr + header->p_offset;
	errx(1, "no segment has %#" PRIxPTR, address);
}

static void beside_ours(const char *what, struct auxtrace_trigger *trigger)
{
	struct ours ours;

	trigger->action = AUXTRACE_ACTION_PAUSE;
	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	ours_trigger(&ours, trigger);
	in_log("ours", what, OTHER);
	ours_close(&ours);
}

static void beside_ours_all(void)
{
	static const char function[] = "__x64_sys_getppid", program[] = "/proc/self/exe";
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT,
		.size = sizeof(attr),
		.config = theirs_tracepoint("sched/sched_process_exec"),
		.sample_period = 1,
	};
	struct auxtrace_trigger trigger;

	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
		.number = HIT,
	};
	beside_ours("beside-enter", &trigger);
	trigger.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	beside_ours("beside-exit", &trigger);
	trigger.number = OTHER;
	trigger.pid = 1;
	beside_ours("beside-pid", &trigger);
	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_KPROBE,
		.name = (uintptr_t)function,
		.name_len = sizeof(function) - 1,
	};
	beside_ours("beside-kprobe", &trigger);
	trigger.kind = AUXTRACE_TRIGGER_KRETPROBE;
	beside_ours("beside-kretprobe", &trigger);
	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_UPROBE,
		.name = (uintptr_t)program,
		.name_len = sizeof(program) - 1,
		.address = offset_in_program((uintptr_t)load),
	};
	beside_ours("beside-uprobe", &trigger);
	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_BREAKPOINT,
		.number = HW_BREAKPOINT_W | sizeof(watched) << 8,
		.address = (uintptr_t)&watched,
	};
	beside_ours("beside-breakpoint", &trigger);
	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_PERF,
		.attr = (uintptr_t)&attr,
		.attr_len = sizeof(attr),
	};
	beside_ours("beside-tracepoint", &trigger);
	trigger = (struct auxtrace_trigger) {
		.kind = AUXTRACE_TRIGGER_TIMER,
		.bound_ns = 1000000000,
	};
	beside_ours("beside-timer", &trigger);
}

static void beside_theirs(const char *what, const char *name)
{
	struct theirs theirs;
	int event;

	theirs_begin(&theirs, 0);
	event = theirs_at(&theirs, name, AUX_PAUSE, true, false);
	theirs_enable(&theirs);
	in_log("perf", what, OTHER);
	close(event);
	theirs_close(&theirs);
}

/* ---- requests ------------------------------------------------------------ */

static void requests_of_ours(void)
{
	struct ours ours;

	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	requests_in_log("ours", ours_pause, ours_resume, &ours);
	ours_close(&ours);
}

static void requests_of_theirs(void)
{
	struct theirs theirs;

	theirs_begin(&theirs, 0);
	theirs_enable(&theirs);
	requests_in_log("perf", theirs_disable, theirs_enable, &theirs);
	theirs_close(&theirs);
}

void measure_trigger(void)
{
	struct ours ours;

	counters_start(1);
	costs_begin(1);
	in_log("nobody", "bare", OTHER);
	in_log("nobody", "bare-hit", HIT);
	requests_of_ours();
	requests_of_theirs();
	of_ours("ours", AUXTRACE_WANT_DEFAULT);
	of_ours("ours-event", AUXTRACE_WANT_TRIGGER);
	of_ours("ours-bare", 0);
	of_theirs("perf", true);
	of_theirs("perf-bare", false);
	by_kprobe();
	sample_of_ours();
	sample_of_theirs();
	ours_begin(&ours, AUXTRACE_WANT_DEFAULT, 0);
	in_log("ours", "beside-none", OTHER);
	ours_close(&ours);
	beside_ours_all();
	beside_theirs("beside-enter", "syscalls/sys_enter_getppid");
	beside_theirs("beside-exit", "syscalls/sys_exit_getppid");
	say();
}
