// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "file.h"
#include "load.h"
#include "perf.h"
#include "trigger.h"
#include "waiter.h"

struct auxtrace_trigger trigger(uint32_t kind, uint32_t action)
{
	return (struct auxtrace_trigger){
		.size = sizeof(struct auxtrace_trigger), .kind = kind, .action = action,
	};
}

struct auxtrace_trigger trigger_syscall(uint32_t kind, uint32_t action, long number)
{
	struct auxtrace_trigger t = trigger(kind, action);

	t.number = number;
	return t;
}

struct auxtrace_trigger trigger_named(uint32_t kind, uint32_t action, const char *name,
				      uint64_t address)
{
	struct auxtrace_trigger t = trigger(kind, action);

	t.name = (uintptr_t)name;
	t.name_len = strlen(name);
	t.address = address;
	return t;
}

struct auxtrace_trigger trigger_perf(uint32_t action, const struct perf_event_attr *attr)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_PERF, action);

	t.attr = (uintptr_t)attr;
	t.attr_len = attr->size;
	return t;
}

struct auxtrace_trigger trigger_executed(uint32_t action, uint64_t address)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_BREAKPOINT, action);

	t.number = HW_BREAKPOINT_X | sizeof(long) << 8;
	t.address = address;
	return t;
}

struct auxtrace_trigger trigger_written(uint32_t action, const volatile void *address)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_BREAKPOINT, action);

	t.number = HW_BREAKPOINT_W | HW_BREAKPOINT_LEN_8 << 8;
	t.address = (uintptr_t)address;
	return t;
}

uint64_t function_address(const char *name)
{
	FILE *f = fopen("/proc/kallsyms", "re");
	uint64_t address = 0, at;
	char line[512], found[256];

	while (f && !address && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, found) == 2 && !strcmp(found, name))
			address = at;
	if (f)
		fclose(f);
	return address;
}

int at_trigger_add(int fd, struct auxtrace_trigger t, uint32_t *id)
{
	int ret = at_ioctl(fd, AUXTRACE_IOC_TRIGGER_ADD, &t);

	*id = t.out_id;
	return ret;
}

uint32_t trigger_add(const struct session *s, struct auxtrace_trigger t)
{
	ok_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_ADD, &t);
	assert_int_not_equal(t.out_id, 0);
	return t.out_id;
}

static int about(int fd, unsigned long nr, uint32_t id, uint32_t flags,
		 struct auxtrace_trigger_state *state)
{
	*state = (struct auxtrace_trigger_state){ .size = sizeof(*state), .flags = flags, .id = id };
	return at_ioctl(fd, nr, state);
}

int at_trigger_read(int fd, uint32_t id, uint32_t flags, struct auxtrace_trigger_state *state)
{
	return about(fd, AUXTRACE_IOC_TRIGGER_READ, id, flags, state);
}

int at_trigger_del(int fd, uint32_t id, struct auxtrace_trigger_state *state)
{
	return about(fd, AUXTRACE_IOC_TRIGGER_DEL, id, 0, state);
}

static void check_sum(const struct auxtrace_trigger_state *st)
{
	if (st->out_hits == st->out_acted + st->out_held + st->out_idle + st->out_missed)
		return;
	fail_msg("trigger %u: %llu hits, but %llu acted, %llu held, %llu idle, %llu missed", st->id,
		 st->out_hits, st->out_acted, st->out_held, st->out_idle, st->out_missed);
}

struct auxtrace_trigger_state trigger_read(const struct session *s, uint32_t id)
{
	struct auxtrace_trigger_state st;

	expect_call("TRIGGER_READ", 0, at_trigger_read(s->fd, id, 0, &st), __FILE__, __LINE__);
	check_sum(&st);
	return st;
}

struct auxtrace_trigger_state trigger_rearm(const struct session *s, uint32_t id)
{
	struct auxtrace_trigger_state st;

	expect_call("TRIGGER_READ with REARM", 0,
		    at_trigger_read(s->fd, id, AUXTRACE_TRIGGER_REARM, &st), __FILE__, __LINE__);
	check_sum(&st);
	return st;
}

struct auxtrace_trigger_state trigger_del(const struct session *s, uint32_t id)
{
	struct auxtrace_trigger_state st;

	expect_call("TRIGGER_DEL", 0, at_trigger_del(s->fd, id, &st), __FILE__, __LINE__);
	check_sum(&st);
	return st;
}

void trigger_counted(const struct session *s, uint32_t id, uint64_t acted, uint64_t held,
		     uint64_t idle, uint64_t missed)
{
	struct auxtrace_trigger_state st = trigger_read(s, id);

	if (st.out_acted == acted && st.out_held == held && st.out_idle == idle &&
	    st.out_missed == missed)
		return;
	fail_msg("trigger %u: %llu acted, %llu held, %llu idle, %llu missed; expected %llu, %llu, %llu, %llu",
		 id, st.out_acted, st.out_held, st.out_idle, st.out_missed,
		 (unsigned long long)acted, (unsigned long long)held, (unsigned long long)idle,
		 (unsigned long long)missed);
}

void trigger_wait_hits(const struct session *s, uint32_t id, uint64_t hits)
{
	wait_until(trigger_read(s, id).out_hits >= hits);
}

/* ---- events ------------------------------------------------------------------ */

void call_times(unsigned int n)
{
	struct utsname u;

	while (n--)
		syscall(CALL_NUMBER, &u);
}

/* The kernel emulates the NOP under a uprobe instead of running a copy of it elsewhere. */
__asm__(".pushsection .text\n"
	".globl probed_function, probed_function_end\n"
	".type probed_function, @function\n"
	"probed_function:\n"
	"	nop\n"
	"	movl $3, %eax\n"
	"1:	decl %eax\n"
	"	jnz 1b\n"
	"	ret\n"
	"probed_function_end:\n"
	".size probed_function, . - probed_function\n"
	".globl write_watched, after_write_watched\n"
	".type write_watched, @function\n"
	"write_watched:\n"
	"	movq $1, watched(%rip)\n"
	"after_write_watched:\n"
	"	nop\n"
	"	ret\n"
	".size write_watched, . - write_watched\n"
	".popsection\n");

volatile uint64_t watched;

uint64_t offset_in_program(const void *address)
{
	extern const char __executable_start[];

	return (const char *)address - __executable_start;
}

static bool complete_software(const struct session *s, struct auxtrace_trigger *t)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_PAGE_FAULTS,
		.sample_period = 1,
		.exclude_kernel = 1,
	};

	*t = trigger_perf(t->action, &attr);
	/* Only this process, and from here on only its new pages fault. */
	t->pid = getpid();
	return !mlockall(MCL_CURRENT);
}

static void fault(unsigned int n)
{
	size_t page = sysconf(_SC_PAGESIZE);
	volatile char *pages = mmap(NULL, n * page, PROT_READ | PROT_WRITE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (unsigned int i = 0; i < n && pages != MAP_FAILED; i++)
		pages[i * page] = 1;
	munmap((void *)pages, n * page);
}

/* Of user code: other processes on this CPU run fewer instructions. */
#define PERIOD	200000u

static bool complete_hardware(const struct session *s, struct auxtrace_trigger *t)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = PERIOD,
		.exclude_kernel = 1,
	};

	*t = trigger_perf(t->action, &attr);
	return perf_unthrottle();
}

/* Two instructions a round. */
static void retire(unsigned int n)
{
	uint64_t left = (uint64_t)n * (PERIOD / 2);

	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(left) : : "cc");
}

static bool complete_tracepoint(const struct session *s, struct auxtrace_trigger *t)
{
	static struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .sample_period = 1,
	};
	int64_t id = file_number("/sys/kernel/tracing/events/syscalls/sys_enter_newuname/id");

	if (id < 0)
		print_message("no tracefs here\n");
	attr.config = id;
	*t = trigger_perf(t->action, &attr);
	return id >= 0;
}

static bool complete_kprobe_pmu(const struct session *s, struct auxtrace_trigger *t)
{
	static struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1 };

	int64_t type = perf_pmu_type("kprobe");

	if (type < 0)
		print_message("no kprobe PMU here\n");
	attr.type = type;
	attr.kprobe_func = (uintptr_t)CALL_FUNCTION;
	*t = trigger_perf(t->action, &attr);
	return type >= 0;
}

static bool complete_call(const struct session *s, struct auxtrace_trigger *t)
{
	t->number = CALL_NUMBER;
	return true;
}

static bool complete_function(const struct session *s, struct auxtrace_trigger *t)
{
	*t = trigger_named(t->kind, t->action, CALL_FUNCTION, 0);
	return true;
}

static bool complete_probed(const struct session *s, struct auxtrace_trigger *t)
{
	*t = trigger_named(t->kind, t->action, PROGRAM, offset_in_program(probed_function));
	return true;
}

static void run_probed(unsigned int n)
{
	while (n--)
		probed_function();
}

static bool complete_breakpoint(const struct session *s, struct auxtrace_trigger *t)
{
	*t = trigger_written(t->action, &watched);
	return true;
}

static void write_times(unsigned int n)
{
	while (n--)
		write_watched();
}

#define BOUND_NS	1000000

static bool complete_latency(const struct session *s, struct auxtrace_trigger *t)
{
	t->a = trigger_add(s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					      AUXTRACE_ACTION_NONE, SYS_nanosleep));
	t->b = trigger_add(s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_EXIT,
					      AUXTRACE_ACTION_NONE, SYS_nanosleep));
	t->bound_ns = BOUND_NS;
	return true;
}

static void be_slow(unsigned int n)
{
	struct timespec ts = { .tv_nsec = BOUND_NS };

	while (n--)
		syscall(SYS_nanosleep, &ts, NULL);
}

static bool complete_timer(const struct session *s, struct auxtrace_trigger *t)
{
	t->bound_ns = BOUND_NS;
	return true;
}

const struct source sources[] = {
	{ "software", AUXTRACE_TRIGGER_PERF, complete_software, fault, 0 },
	/* The instructions around the loop count as well. */
	{ "hardware", AUXTRACE_TRIGGER_PERF, complete_hardware, retire, 1 },
	{ "tracepoint", AUXTRACE_TRIGGER_PERF, complete_tracepoint, call_times, 0 },
	{ "kprobe PMU", AUXTRACE_TRIGGER_PERF, complete_kprobe_pmu, call_times, 0 },
	{ "syscall enter", AUXTRACE_TRIGGER_SYSCALL_ENTER, complete_call, call_times, 0 },
	{ "syscall exit", AUXTRACE_TRIGGER_SYSCALL_EXIT, complete_call, call_times, 0 },
	{ "kprobe", AUXTRACE_TRIGGER_KPROBE, complete_function, call_times, 0 },
	{ "kretprobe", AUXTRACE_TRIGGER_KRETPROBE, complete_function, call_times, 0 },
	{ "uprobe", AUXTRACE_TRIGGER_UPROBE, complete_probed, run_probed, 0 },
	{ "uretprobe", AUXTRACE_TRIGGER_URETPROBE, complete_probed, run_probed, 0 },
	{ "breakpoint", AUXTRACE_TRIGGER_BREAKPOINT, complete_breakpoint, write_times, 0 },
	{ "latency", AUXTRACE_TRIGGER_LATENCY, complete_latency, be_slow, 0 },
	{ "timer", AUXTRACE_TRIGGER_TIMER, complete_timer, NULL, 0 },
};
const unsigned int nr_sources = sizeof(sources) / sizeof(sources[0]);

const struct source *source_named(const char *name)
{
	for (unsigned int i = 0; i < nr_sources; i++)
		if (!strcmp(sources[i].name, name))
			return &sources[i];
	fail_msg("no source '%s'", name);
	return NULL;
}
