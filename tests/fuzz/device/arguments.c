// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "arguments.h"
#include "module/core/known.h"

#define PAGE		4096U
#define ALL_CPUS	0xfU
#define AREA_MAX	(1U << 20)

/*
 * An emulated CPU of a busy machine, whose kernel checks itself, takes a millisecond for an
 * interrupt: with a shorter period it would do nothing else.
 */
#define TIMER_NS	8000000ULL

#define COUNT(a)	(sizeof(a) / sizeof((a)[0]))

volatile uint64_t watched;

__attribute__((noinline)) void probed(void)
{
	__asm__ volatile("nop; nop");
}

static struct {
	int64_t pt, bts, kprobe, tracepoint;
	uint64_t probed;	/* its offset in /proc/self/exe */
} machine;

static int64_t number_in(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t n = -1;

	if (f && fscanf(f, "%ld", &n) != 1)
		n = -1;
	if (f)
		fclose(f);
	return n;
}

void arguments_init(void)
{
	extern const char __executable_start[];

	machine.pt = number_in("/sys/bus/event_source/devices/intel_pt/type");
	machine.bts = number_in("/sys/bus/event_source/devices/intel_bts/type");
	machine.kprobe = number_in("/sys/bus/event_source/devices/kprobe/type");
	machine.tracepoint =
		number_in("/sys/kernel/tracing/events/syscalls/sys_enter_newuname/id");
	machine.probed = (const char *)probed - __executable_start;
}

static uint64_t pointer(const void *to)
{
	return (uintptr_t)to;
}

/* A CPU set of 8 bytes; none if @mask is 0. */
static uint32_t cpu_set(struct scratch *s, uint8_t mask, __u64 *cpus)
{
	s->cpus[0] = mask & ALL_CPUS;
	s->cpus[1] = 0;
	*cpus = pointer(s->cpus);
	return mask & ALL_CPUS ? sizeof(s->cpus[0]) : 0;
}

static void setup(const uint8_t *p, struct scratch *s)
{
	static const uint32_t full[] = { 0, AUXTRACE_SETUP_FULL_AUTO, AUXTRACE_SETUP_FULL_STOP, 0 };
	static const uint32_t scopes[] = { 0, AUXTRACE_SETUP_THREAD, AUXTRACE_SETUP_PROCESS,
					   AUXTRACE_SETUP_ADDRESS_SPACE };
	struct auxtrace_setup *a = &s->arg.setup;

	a->size = sizeof(*a);
	a->flags = p[0] & 3 ? p[0] & 3 : 3;	/* KERNEL, USER */
	a->flags |= p[0] & 4 ? AUXTRACE_SETUP_OVERWRITE : full[p[0] >> 4 & 3];
	if (!(p[0] & 0xc8))
		a->flags |= AUXTRACE_SETUP_PAUSED;
	if (!(p[1] & 0xc))
		a->flags |= AUXTRACE_SETUP_TRIGGER_PAUSED;
	a->pmu = (p[2] & 7) == 7;		/* BTS: one in eight, as it fills areas fast */
	a->cpus_len = cpu_set(s, p[3] & ALL_CPUS ? p[3] : ALL_CPUS, &a->cpus);
	a->aux_size = 2 * PAGE << (p[4] & 7);
	if (!(a->flags & AUXTRACE_SETUP_OVERWRITE))
		a->aux_watermark = p[6] * (uint64_t)PAGE % a->aux_size;
	if (p[1] & 1) {
		a->data_size = PAGE << (p[5] & 7);
		a->records = p[8] & AUXTRACE_WANT_ALL;
		a->flags |= p[1] & 2 ? AUXTRACE_SETUP_DATA_BACKWARD : 0;
		if (p[1] & 0x10)
			a->flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
		else
			a->data_watermark = p[7] * 64ULL % a->data_size;
	}
	if (p[0] & 4 && p[1] & 0x20)
		a->slots = 1U << (p[2] >> 4 & 3);
	if (p[12] & 3) {
		a->flags |= scopes[p[12] & 3];
		a->flags |= p[12] & 4 ? AUXTRACE_SETUP_DESCENDANTS : 0;
		/* The caller; or init, kernel threads, any number. */
		a->tid = p[12] & 0x30 ? 0 : p[13];
	}
	if (p[12] & 0xc0) {
		a->nr_filters = p[12] >> 6;
		a->filters = pointer(s->filters);
		a->filter_size = sizeof(s->filters[0]);
		for (unsigned int i = 0; i < a->nr_filters; i++) {
			/* Of user code, or of the kernel. */
			uint64_t half = p[13] >> i & 1 ? 0xffffffff81000000 : 0x400000;

			s->filters[i].action = 1 + (p[13] >> (4 + i) & 1);
			s->filters[i].first = half + i * 0x100000;
			s->filters[i].last = s->filters[i].first + (p[13] & 8 ? 0x1fffff : 0xfffff);
		}
	}
	if (a->pmu == AUXTRACE_PMU_INTEL_PT) {
		a->config = (uint64_t)(p[9] & 3) << 10;			/* tsc, noretcomp */
		a->config |= p[9] & 4 ? 1ULL << 1 : 0;			/* cyc */
		a->config |= p[9] & 8 ? 1ULL << 9 : 0;			/* mtc */
		a->config |= p[9] & 16 ? 1ULL << 12 : 0;		/* ptw */
		a->config |= p[9] & 32 ? 1ULL | 1ULL << 13 : 0;		/* pt, branch */
		a->config |= p[9] & 64 ? (uint64_t)(p[10] & 15) << 14 : 0;
		a->config |= p[9] & 128 ? (uint64_t)(p[10] >> 4) << 19 : 0;
		a->config |= (uint64_t)(p[11] & 3) << 24;
		a->config |= p[11] & 4 ? 1ULL << 4 : 0;			/* pwr_evt */
		a->config |= p[11] & 8 ? 1ULL << 55 : 0;		/* notnt */
		a->config |= p[11] & 16 ? 1ULL << 31 : 0;		/* event */
	}
}

static void attr(const uint8_t *p, struct scratch *s)
{
	struct perf_event_attr *a = &s->attr;

	memset(a, 0, sizeof(*a));
	a->size = sizeof(*a);
	a->sample_period = 1;
	switch (p[3] & 7) {
	case 0:
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_PAGE_FAULTS;
		break;
	case 1:
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_CONTEXT_SWITCHES;
		break;
	case 2:
		a->type = PERF_TYPE_SOFTWARE;
		a->config = PERF_COUNT_SW_CPU_CLOCK;
		a->sample_period = 1000000;
		break;
	case 3:
		a->type = PERF_TYPE_TRACEPOINT;
		a->config = machine.tracepoint;
		break;
	case 4:
		a->type = machine.kprobe;
		a->config1 = pointer(s->name);	/* kprobe_func */
		a->config2 = p[9] & 3;
		break;
	case 5:
		a->type = p[9] & 1 ? machine.pt : machine.bts;
		break;
	default:
		/* Not often: each is an NMI. */
		a->type = PERF_TYPE_HARDWARE;
		a->config = p[9] & 1 ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_CPU_CYCLES;
		a->sample_period = 100000ULL << (p[8] & 7);
		a->exclude_kernel = p[9] >> 1 & 1;
		a->exclude_user = p[9] >> 2 & 1;
		if (!(p[9] & 0xf8)) {
			a->freq = 1;
			a->sample_period = 100;
		}
	}
}

static void trigger(const uint8_t *p, struct scratch *s)
{
	static const char *const symbols[] = {
		"__x64_sys_newuname", "__x64_sys_sched_yield", "do_nanosleep", "handle_mm_fault",
		"vfs_read", "auxt_settle", "no_such_symbol", "",
	};
	static const char *const files[] = { "/proc/self/exe", "/proc/self/exe", "/bin/sh", "/no" };
	static const long numbers[] = { SYS_uname, SYS_sched_yield, SYS_nanosleep, -1 };
	static const uint32_t breakpoints[] = {
		HW_BREAKPOINT_W | HW_BREAKPOINT_LEN_8 << 8,
		HW_BREAKPOINT_RW | HW_BREAKPOINT_LEN_4 << 8,
		HW_BREAKPOINT_X | HW_BREAKPOINT_LEN_8 << 8,
		HW_BREAKPOINT_W | HW_BREAKPOINT_LEN_1 << 8,
	};
	struct auxtrace_trigger *a = &s->arg.trigger;
	bool uses_limits, may_delay;

	a->size = sizeof(*a);
	a->kind = p[0] % (AUXTRACE_TRIGGER_TIMER + 1);
	a->action = p[1] % (AUXTRACE_ACTION_FREEZE + 1);
	if (!(p[2] & 6))
		a->pid = p[2] & 1 ? 1 : getpid();
	strcpy(s->name, symbols[p[3] >> 3 & 7]);
	switch (a->kind) {
	case AUXTRACE_TRIGGER_PERF:
		attr(p, s);
		a->attr = pointer(&s->attr);
		a->attr_len = sizeof(s->attr);
		break;
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		a->number = numbers[p[3] & 3];
		break;
	case AUXTRACE_TRIGGER_KPROBE:
	case AUXTRACE_TRIGGER_KRETPROBE:
		a->address = p[9] & 0x80 ? p[9] & 15 : 0;
		a->name = pointer(s->name);
		a->name_len = strlen(s->name);
		break;
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		strcpy(s->name, files[p[3] & 3]);
		a->name = pointer(s->name);
		a->name_len = strlen(s->name);
		a->address = machine.probed + (p[9] & 0x80 ? p[9] & 15 : 0);
		break;
	case AUXTRACE_TRIGGER_BREAKPOINT:
		a->number = breakpoints[p[3] & 3];
		a->address = (p[3] & 3) == 2 ? pointer(probed) : pointer((void *)&watched);
		break;
	case AUXTRACE_TRIGGER_LATENCY:
		a->a = 1 + p[7] % 8;
		a->b = 1 + p[8] % 8;
		a->bound_ns = p[9] * 1000ULL;
		break;
	default:
		a->bound_ns = TIMER_NS << (p[8] & 3);
	}
	uses_limits = a->action != AUXTRACE_ACTION_NONE;
	may_delay = a->action == AUXTRACE_ACTION_PAUSE || a->action == AUXTRACE_ACTION_FREEZE;
	if (uses_limits) {
		a->after_hits = p[4] & 1 ? p[5] & 15 : 0;
		a->count = p[4] & 2 ? 1 + (p[5] >> 4) : 0;
		a->flags = (p[4] & 6) == 4 ? AUXTRACE_TRIGGER_ONE_SHOT : 0;
		a->hold_off_ns = p[4] & 8 ? p[5] * 4096ULL : 0;
	}
	if (a->action == AUXTRACE_ACTION_PAUSE || a->action == AUXTRACE_ACTION_RESUME)
		a->flags |= p[4] & 0x10 ? AUXTRACE_TRIGGER_ALL_CPUS : 0;
	if (may_delay && p[4] & 0x20)
		a->delay_ns = p[5] * 4096ULL;
	else if (may_delay && p[4] & 0x40)
		a->delay_bytes = p[5] * 256ULL;
	if (a->action == AUXTRACE_ACTION_SAMPLE)
		a->sample_size = 64ULL << (p[6] & 15);
}

/* A well-formed argument; returns the ioctl's number. */
static unsigned long well_formed(const struct record *r, struct scratch *s)
{
	const uint8_t *p = r->p;

	memset(&s->arg, 0, sizeof(s->arg));
	switch (r->op) {
	case OP_INFO:
		s->arg.info.size = sizeof(s->arg.info);
		s->arg.info.flags = p[0] & AUXTRACE_INFO_ALL;
		s->arg.info.caps = pointer(s->caps);
		s->arg.info.caps_len = p[1] * 2U;
		return AUXTRACE_IOC_INFO;
	case OP_SETUP:
		setup(p, s);
		return AUXTRACE_IOC_SETUP;
	case OP_START:
	case OP_STOP:
		s->arg.start.size = sizeof(s->arg.start);
		return r->op == OP_START ? AUXTRACE_IOC_START : AUXTRACE_IOC_STOP;
	case OP_PAUSE:
	case OP_RESUME:
		s->arg.control.size = sizeof(s->arg.control);
		s->arg.control.cpus_len = cpu_set(s, p[0], &s->arg.control.cpus);
		s->arg.control.effects_len = p[1] & 7;
		s->arg.control.effects = pointer(s->effects);
		s->arg.control.effect_size = sizeof(s->effects[0]);
		return r->op == OP_PAUSE ? AUXTRACE_IOC_PAUSE : AUXTRACE_IOC_RESUME;
	case OP_STATUS:
		s->arg.status.size = sizeof(s->arg.status);
		s->arg.status.flags = p[0] & AUXTRACE_STATUS_ALL;
		return AUXTRACE_IOC_STATUS;
	case OP_TASK:
		s->arg.task.size = sizeof(s->arg.task);
		/* The caller, init, a kernel thread, or any number. */
		s->arg.task.pid = p[0] & 4 ? p[1] << 8 | p[2] : p[0] & 3;
		return AUXTRACE_IOC_TASK;
	case OP_OUTPUT:
		s->arg.output.size = sizeof(s->arg.output);
		s->arg.output.cpus_len = cpu_set(s, p[0], &s->arg.output.cpus);
		s->arg.output.pause = p[1] & 1;
		return AUXTRACE_IOC_PAUSE_OUTPUT;
	case OP_SNAPSHOT:
		s->arg.snapshot.size = sizeof(s->arg.snapshot);
		s->arg.snapshot.flags = p[0] % 3;
		s->arg.snapshot.cuts_len = p[1] & 7;
		s->arg.snapshot.cuts = pointer(s->cuts);
		s->arg.snapshot.cut_size = sizeof(s->cuts[0]);
		return AUXTRACE_IOC_SNAPSHOT;
	case OP_RELEASE:
		s->arg.release.size = sizeof(s->arg.release);
		s->arg.release.flags = p[0] & AUXTRACE_RELEASE_ALL;
		s->arg.release.slot = p[1] & 7;
		s->arg.release.cpu = p[0] & AUXTRACE_RELEASE_ALL ? record_cpu(r) : 0;
		return AUXTRACE_IOC_RELEASE;
	case OP_ADD:
		trigger(p, s);
		return AUXTRACE_IOC_TRIGGER_ADD;
	case OP_DEL:
	case OP_READ:
		s->arg.state.size = sizeof(s->arg.state);
		s->arg.state.id = 1 + p[0] % 8;
		if (r->op == OP_READ)
			s->arg.state.flags = p[1] & AUXTRACE_TRIGGER_REARM;
		return r->op == OP_DEL ? AUXTRACE_IOC_TRIGGER_DEL : AUXTRACE_IOC_TRIGGER_READ;
	default:
		memcpy(s->arg.word, p, sizeof(r->p));
		return _IOC(p[1] & 3, AUXTRACE_IOC_MAGIC ^ (p[1] >> 4), p[0], p[2]);
	}
}

/* Values that tend to be limits. */
static uint64_t odd_value(uint8_t pick)
{
	static const uint64_t values[] = {
		0, 1, 7, 8, 4095, 4096, 4097, 0x7fffffff, 0x80000000, 0xffffffff, 0x100000000,
		1ULL << 44, 1ULL << 62, 1ULL << 63, (1ULL << 63) - 1, ~0ULL, ~7ULL, 0xdead000000000000,
		0xffff888000000000, 0xffffffff81000000, 0xfffffe0000000000, 0x7ffffffff000, 12, 0x18,
	};

	return pick < 128 ? values[pick % COUNT(values)] : pick;
}

unsigned long arguments_make(const struct record *r, struct scratch *s, void *edge, void **where)
{
	unsigned long number = well_formed(r, s);
	uint32_t size = s->arg.word[0];
	const uint8_t *p = &r->p[10];

	*where = &s->arg;
	if (!(r->who & WHO_BROKEN))
		return number;
	switch (p[0] % 8) {
	case 0:		/* of a caller that knows less, or more */
		*(uint32_t *)s->arg.word = p[1] + (p[2] & 1 ? size : 0);
		break;
	case 1:		/* more than the kernel knows, at the end of the memory or not zero */
		*(uint32_t *)s->arg.word = size + 8 * (1 + (p[1] & 3));
		s->arg.word[size / 8 + (p[1] & 3)] = p[2] & 1;
		break;
	case 2:
		*(uint32_t *)s->arg.word = odd_value(p[1]);
		break;
	case 3:		/* cut by the end of the memory */
		*where = (char *)edge - p[1];
		memcpy(*where, &s->arg, p[1]);
		break;
	case 4:
		*where = (void *)odd_value(p[1]);
		break;
	case 5:		/* a member of 8 bytes */
		s->arg.word[1 + p[1] % 16] = odd_value(p[2]);
		break;
	case 6:		/* one of 4 */
		((uint32_t *)s->arg.word)[1 + p[1] % 32] ^= 1U << (p[2] & 31);
		break;
	default:	/* what it points to is cut by the end of the memory */
		s->arg.word[2 + p[1] % 6] = pointer((char *)edge - (p[2] & 63));
	}
	/* No area that takes seconds to allocate: the kernel's allocator is not the subject. */
	if (r->op == OP_SETUP && *where == (void *)&s->arg &&
	    ((s->arg.setup.aux_size > AREA_MAX && s->arg.setup.aux_size < 1ULL << 40) ||
	     (s->arg.setup.data_size > AREA_MAX && s->arg.setup.data_size < 1ULL << 40)))
		s->arg.setup.flags |= 1U << 31;
	/* Nor a timer whose interrupts leave the emulated CPU no time. */
	if (r->op == OP_ADD && *where == (void *)&s->arg &&
	    s->arg.trigger.kind == AUXTRACE_TRIGGER_TIMER && s->arg.trigger.bound_ns >= 10000 &&
	    s->arg.trigger.bound_ns < TIMER_NS)
		s->arg.trigger.bound_ns = 9999;
	return number;
}

int arguments_may_fail(enum operation op, int err)
{
	switch (err) {
	case 0:
	case EFAULT:
	case E2BIG:
	case EINVAL:
	case EBADFD:
	case EACCES:
	case ENODEV:
	case EBUSY:
	case ENOMEM:
	case EINTR:
	case EBADF:	/* another thread has closed the file */
		return 1;
	case ENOTTY:
		return op == OP_UNKNOWN;
	case EEXIST:
		return op == OP_SETUP;
	case EOPNOTSUPP:
		return op == OP_SETUP || op == OP_START || op == OP_ADD;
	case EPERM:
		return op == OP_ADD;
	case EALREADY:
		return op == OP_START || op == OP_STOP;
	case EIO:
		return op == OP_START;
	case ESRCH:
		return op == OP_SETUP || op == OP_TASK || op == OP_ADD;
	case ENXIO:
		return op == OP_SETUP || op == OP_TASK;
	case ENOSPC:
		return op == OP_SNAPSHOT || op == OP_ADD;
	case ENOENT:
		return op == OP_ADD || op == OP_DEL || op == OP_READ;
	default:
		return 0;
	}
}
