// SPDX-License-Identifier: GPL-2.0-only
/* Each kind of trigger: its events are counted, and the first one acts. */
#include <errno.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/tool.h"
#include "traced.h"
#include "trigger/tracepoints.h"

/* What each check does so often, and its trigger counts. */
#define EVENTS	10
/* Instructions between the interrupts of their counter */
#define PERIOD	100000u

static void make_syscalls(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		syscall(SYS_getppid);
}

static volatile uint64_t watched __attribute__((aligned(8)));

static void make_stores(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		watched = i;
}

static void make_page_faults(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *pages = mmap(NULL, EVENTS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	madvise(pages, EVENTS * page, MADV_NOHUGEPAGE);
	for (unsigned int i = 0; i < EVENTS; i++)
		((volatile char *)pages)[i * page] = 1;
	munmap(pages, EVENTS * page);
}

static void run_instructions(void)
{
	traced_work(PERIOD);
}

static void let_time_pass(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		traced_work(1000);
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000000 + now.tv_nsec - begin.tv_nsec < 100000000);
}

/* The function that the probes of programs are set on */
static void __attribute__((noinline, noclone)) probed(void)
{
	__asm__ volatile("" ::: "memory");
}

static void call_probed(void)
{
	for (unsigned int i = 0; i < EVENTS; i++)
		probed();
}

/* Where @address is in the file of this program, as uprobes have it; 0 if /proc does not say. */
static uint64_t file_offset(const void *address)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	uint64_t at = (uintptr_t)address, found = 0;
	char line[4200];

	while (maps && fgets(line, sizeof(line), maps)) {
		uint64_t begin, end, offset;

		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64, &begin, &end, &offset) == 3 && begin <= at && at < end)
			found = at - begin + offset;
	}
	if (maps)
		fclose(maps);
	return found;
}

struct expected {
	void (*events)(void);
	uint64_t least, most;	/* hits */
};

/* Is it no fault that such a trigger cannot be added? This user may not, or the CPU has no such event or none to spare. */
static bool may_be_refused(uint32_t kind, int error)
{
	if (error == EACCES || error == EPERM)
		return true;
	return (kind == AUXTRACE_TRIGGER_PERF || kind == AUXTRACE_TRIGGER_BREAKPOINT) &&
	       (error == ENOENT || error == EOPNOTSUPP || error == EBUSY);
}

static enum outcome add_failed(struct auxtrace_session *s, uint32_t kind)
{
	enum outcome outcome;

	if (!may_be_refused(kind, errno))
		return traced_failed(s, "adding the trigger");
	outcome = check_skipped("adding the trigger: %s", auxtrace_error());
	auxtrace_close(s);
	return outcome;
}

/* The trigger @options, added to @s, hits as often as it should, and @reason turns the hardware off. */
static enum outcome judge(const struct selftest *t, struct auxtrace_session *s, int id, const struct expected *e,
			  uint32_t reason)
{
	struct auxtrace_trigger_state state;
	struct auxtrace_status_page page;

	e->events();
	if (!traced_status(s, t, &page) || !traced_trigger(s, id, 0, &state))
		return traced_failed(s, "reading the trigger");
	if (state.out_hits < e->least || state.out_hits > e->most) {
		auxtrace_close(s);
		return check_failed("%" PRIu64 " hits of %" PRIu64 " events, %" PRIu64 " missed", (uint64_t)state.out_hits,
				    e->least, (uint64_t)state.out_missed);
	}
	if (state.out_acted < 1 || !(page.inhibit & reason) || page.running) {
		auxtrace_close(s);
		return check_failed("%" PRIu64 " hits did not stop the trace: %" PRIu64 " acted, reasons to be off %#x",
				    (uint64_t)state.out_hits, (uint64_t)state.out_acted, page.inhibit);
	}
	auxtrace_close(s);
	check_figure("hits", (double)state.out_hits, "");
	return PASSED;
}

static struct auxtrace_session *flight_recorder(const struct selftest *t)
{
	return traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .aux_size = 64u << 10 });
}

static enum outcome one_trigger(const struct selftest *t, struct auxtrace_trigger_options options, struct expected expected)
{
	struct auxtrace_session *s = flight_recorder(t);
	uint32_t reason = options.action == AUXTRACE_ACTION_FREEZE ? AUXTRACE_INHIBIT_FROZEN : AUXTRACE_INHIBIT_TRIGGER;
	int id;

	if (!s)
		return traced_failed(NULL, "a session");
	options.size = sizeof(options);
	options.pid = getpid();
	id = auxtrace_trigger_add(s, &options);
	if (id < 0)
		return add_failed(s, options.kind);
	return judge(t, s, id, &expected, reason);
}

static enum outcome syscall_enter(const struct selftest *t)
{
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER, .number = SYS_getppid,
			   .action = AUXTRACE_ACTION_PAUSE }, (struct expected){ make_syscalls, EVENTS, EVENTS });
}

static enum outcome syscall_exit(const struct selftest *t)
{
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = AUXTRACE_TRIGGER_SYSCALL_EXIT, .number = SYS_getppid,
			   .action = AUXTRACE_ACTION_FREEZE }, (struct expected){ make_syscalls, EVENTS, EVENTS });
}

static enum outcome kernel_probe(const struct selftest *t, uint32_t kind)
{
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = kind, .name = "__x64_sys_getppid",
			   .action = AUXTRACE_ACTION_PAUSE }, (struct expected){ make_syscalls, EVENTS, EVENTS });
}

static enum outcome kprobe(const struct selftest *t)
{
	return kernel_probe(t, AUXTRACE_TRIGGER_KPROBE);
}

static enum outcome kretprobe(const struct selftest *t)
{
	return kernel_probe(t, AUXTRACE_TRIGGER_KRETPROBE);
}

static enum outcome program_probe(const struct selftest *t, uint32_t kind)
{
	uint64_t offset = file_offset((const void *)probed);
	char path[4096];
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (!offset || len <= 0)
		return check_skipped("/proc does not say where this program's file is");
	path[len] = '\0';
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = kind, .name = path, .address = offset,
			   .action = AUXTRACE_ACTION_PAUSE }, (struct expected){ call_probed, EVENTS, EVENTS });
}

static enum outcome uprobe(const struct selftest *t)
{
	return program_probe(t, AUXTRACE_TRIGGER_UPROBE);
}

static enum outcome uretprobe(const struct selftest *t)
{
	return program_probe(t, AUXTRACE_TRIGGER_URETPROBE);
}

static enum outcome breakpoint(const struct selftest *t)
{
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = AUXTRACE_TRIGGER_BREAKPOINT,
			   .address = (uintptr_t)&watched, .number = HW_BREAKPOINT_W | HW_BREAKPOINT_LEN_8 << 8,
			   .action = AUXTRACE_ACTION_PAUSE }, (struct expected){ make_stores, EVENTS, EVENTS });
}

static enum outcome perf_event(const struct selftest *t, struct perf_event_attr attr, struct expected expected)
{
	attr.size = sizeof(attr);
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = AUXTRACE_TRIGGER_PERF, .attr = &attr,
			   .attr_len = sizeof(attr), .action = AUXTRACE_ACTION_PAUSE }, expected);
}

static enum outcome counter(const struct selftest *t)
{
	return perf_event(t, (struct perf_event_attr){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1 },
			  (struct expected){ make_page_faults, EVENTS, UINT64_MAX });
}

/* What perf counts while instructions run that a trigger is to count, without a trace; 0: errno says why it cannot. */
static uint64_t count_events(struct perf_event_attr attr)
{
	uint64_t count = 0;
	int fd;

	attr.size = sizeof(attr);
	attr.sample_period = 0;
	fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return 0;
	run_instructions();
	if (read(fd, &count, sizeof(count)) != sizeof(count))
		count = 0;
	close(fd);
	return count;
}

/* The counter's interrupt and that of the trace are the same NMI. The kernel may throttle so many interrupts, not half of them. */
static enum outcome instructions(const struct selftest *t)
{
	const struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = PERIOD,
					      .exclude_kernel = 1, .exclude_hv = 1 };
	uint64_t count = count_events(attr);

	if (count < 2 * PERIOD)
		return check_skipped("perf counts %" PRIu64 " instructions of this process: %s", count, strerror(errno));
	return perf_event(t, attr, (struct expected){ run_instructions, count / PERIOD / 2, UINT64_MAX });
}

static enum outcome tracepoint(const struct selftest *t)
{
	long id = tracepoint_id("syscalls", "sys_enter_getppid");

	if (id == -ENODEV)
		return check_skipped("tracefs is not mounted, or not for this user");
	if (id < 0)
		return check_skipped("the tracepoint of getppid(2): %s", strerror((int)-id));
	return perf_event(t, (struct perf_event_attr){ .type = PERF_TYPE_TRACEPOINT, .config = (uint64_t)id, .sample_period = 1 },
			  (struct expected){ make_syscalls, EVENTS, EVENTS });
}

static enum outcome timer(const struct selftest *t)
{
	return one_trigger(t, (struct auxtrace_trigger_options){ .kind = AUXTRACE_TRIGGER_TIMER, .bound_ns = 1000000,
			   .action = AUXTRACE_ACTION_PAUSE }, (struct expected){ let_time_pass, EVENTS, UINT64_MAX });
}

static enum outcome latency(const struct selftest *t)
{
	struct auxtrace_trigger_options begin = { .size = sizeof(begin), .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
						  .number = SYS_getppid };
	struct auxtrace_trigger_options end = { .size = sizeof(end), .kind = AUXTRACE_TRIGGER_SYSCALL_EXIT,
						.number = SYS_getppid };
	struct auxtrace_trigger_options slow = { .size = sizeof(slow), .kind = AUXTRACE_TRIGGER_LATENCY, .bound_ns = 1,
						 .action = AUXTRACE_ACTION_FREEZE };
	struct auxtrace_session *s = flight_recorder(t);
	int a, b, id;

	if (!s)
		return traced_failed(NULL, "a session");
	begin.pid = end.pid = getpid();
	a = auxtrace_trigger_add(s, &begin);
	b = auxtrace_trigger_add(s, &end);
	if (a < 0 || b < 0)
		return add_failed(s, begin.kind);
	slow.a = (uint32_t)a;
	slow.b = (uint32_t)b;
	id = auxtrace_trigger_add(s, &slow);
	if (id < 0)
		return add_failed(s, slow.kind);
	return judge(t, s, id, &(struct expected){ make_syscalls, EVENTS, EVENTS }, AUXTRACE_INHIBIT_FROZEN);
}

const struct check trigger_checks[] = {
	{ "syscall-enter", "a system call's entry pauses the trace", false, syscall_enter },
	{ "syscall-exit", "a system call's exit freezes the trace", false, syscall_exit },
	{ "latency", "a system call that takes longer than a bound freezes the trace", false, latency },
	{ "breakpoint", "a store to a watched variable pauses the trace", false, breakpoint },
	{ "counter", "the overflow of a perf event pauses the trace", false, counter },
	{ "instructions", "the overflow of a hardware counter pauses the trace", false, instructions },
	{ "tracepoint", "a tracepoint pauses the trace", true, tracepoint },
	{ "timer", "a timer pauses the trace", false, timer },
	{ "uprobe", "a call of a program's function pauses the trace", true, uprobe },
	{ "uretprobe", "the return of a program's function pauses the trace", true, uretprobe },
	{ "kprobe", "a call of a kernel function pauses the trace", true, kprobe },
	{ "kretprobe", "the return of a kernel function pauses the trace", true, kretprobe },
	{ 0 },
};
