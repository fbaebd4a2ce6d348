// SPDX-License-Identifier: GPL-2.0-only
/* Triggers: what goes to the device, what is said of what it refuses, what recordings keep. */
#include "failure.h"

#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <auxtrace.h>
#include "module/trigger/kinds.h"

static struct auxtrace_session *set_up_area(uint32_t flags, uint64_t aux_size, uint64_t data_size,
					    uint32_t slots)
{
	struct auxtrace_session *s = auxtrace_open(NULL);
	const struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .flags = flags, .aux_size = aux_size,
		.data_size = data_size, .slots = slots,
	};

	assert_non_null(s);
	assert_int_equal(auxtrace_setup(s, &o), 0);
	return s;
}

static struct auxtrace_session *set_up(uint32_t flags, uint64_t data_size, uint32_t slots)
{
	return set_up_area(flags, 256 * PAGE, data_size, slots);
}

static const struct auxtrace_trigger_options probe = {
	.size = sizeof(probe), .kind = AUXTRACE_TRIGGER_KPROBE,
	.action = AUXTRACE_ACTION_RESUME, .name = "vfs_read", .label = "kprobe:vfs_read=resume",
};

static void all_members_get_to_the_device(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	struct perf_event_attr attr = { .sample_period = 1 };
	const struct auxtrace_trigger_options o = {
		.size = sizeof(o), .kind = 5, .action = 3, .flags = 2, .pid = 11, .attr = &attr,
		.attr_len = sizeof(attr), .number = -1, .address = 12, .name = "name", .a = 13,
		.b = 14, .bound_ns = 15, .after_hits = 16, .count = 17, .hold_off_ns = 18,
		.delay_ns = 19, .delay_bytes = 20, .sample_size = 21,
	};
	const struct auxtrace_trigger *t = &fake.trigger;

	(void)state;
	assert_int_equal(auxtrace_trigger_add(s, &o), 1);
	assert_int_equal(t->kind, 5);
	assert_int_equal(t->action, 3);
	assert_int_equal(t->flags, 2);
	assert_int_equal(t->pid, 11);
	assert_ptr_equal((void *)(uintptr_t)t->attr, &attr);
	assert_int_equal(t->attr_len, sizeof(attr));
	assert_int_equal(t->number, -1);
	assert_int_equal(t->address, 12);
	assert_memory_equal((void *)(uintptr_t)t->name, "name", 4);
	assert_int_equal(t->name_len, 4);
	assert_int_equal(t->a, 13);
	assert_int_equal(t->b, 14);
	assert_int_equal(t->bound_ns, 15);
	assert_int_equal(t->after_hits, 16);
	assert_int_equal(t->count, 17);
	assert_int_equal(t->hold_off_ns, 18);
	assert_int_equal(t->delay_ns, 19);
	assert_int_equal(t->delay_bytes, 20);
	assert_int_equal(t->sample_size, 21);
	assert_int_equal(auxtrace_trigger_add(s, &probe), 2);
	auxtrace_close(s);
}

static void a_wrong_struct_never_gets_there(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	struct auxtrace_trigger_options o = probe;

	(void)state;
	o.size--;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("set its size member");
	o = probe;
	o.reserved = 1;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("reserved must be 0");
	o = probe;
	o.pid = -5;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("pid -5 is no process");
	o = probe;
	o.label = "a\nb";
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("no newline");
	assert_int_equal(fake.triggers, 0);
	auxtrace_close(s);
}

static void without_memory_no_trigger_is_added(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);

	(void)state;
	fake.fail_alloc = 1;
	fails(ENOMEM, auxtrace_trigger_add(s, &probe));
	says("no memory for a trigger");
	assert_int_equal(fake.triggers, 0);
	auxtrace_close(s);
}

static void counts_are_read_and_the_last_ones_come_with_the_delete(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	struct auxtrace_trigger_state st;

	(void)state;
	assert_int_equal(auxtrace_trigger_add(s, &probe), 1);
	fake.state = (struct auxtrace_trigger_state){ .out_hits = 7, .out_acted = 4, .out_held = 3 };
	assert_int_equal(auxtrace_trigger_read(s, 1, AUXTRACE_TRIGGER_REARM, &st), 0);
	assert_int_equal(st.out_hits, 7);
	assert_int_equal(fake.rearmed, 1);
	assert_int_equal(auxtrace_trigger_read(s, 1, 0, NULL), 0);
	fails(ENOENT, auxtrace_trigger_read(s, 2, 0, &st));
	says("no trigger 2");
	fails(ENOENT, auxtrace_trigger_del(s, 9, NULL));
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_DEL;
	fake.fail.err = EBUSY;
	fails(EBUSY, auxtrace_trigger_del(s, 1, NULL));
	says("starts or stops the clock of a latency trigger");
	fake.fail.err = 0;
	assert_int_equal(auxtrace_trigger_del(s, 1, &st), 0);
	assert_int_equal(st.out_acted, 4);
	assert_int_equal(fake.deleted, 1);
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_READ;
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_trigger_read(s, 1, 8, NULL));
	says("unknown flags 0x8");
	fake.fail.err = EBADFD;
	fails(EBADFD, auxtrace_trigger_read(s, 1, 0, NULL));
	says("TRIGGER_READ before setup");
	fake.fail.err = EIO;
	fails(EIO, auxtrace_trigger_read(s, 1, 0, NULL));
	says("TRIGGER_READ of trigger 1 failed: Input/output error");
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_DEL;
	fake.fail.err = EBADFD;
	fails(EBADFD, auxtrace_trigger_del(s, 1, NULL));
	says("TRIGGER_DEL before setup");
	auxtrace_close(s);
}

/* A process may inherit the file. Its library does not know the triggers of the other. */
static void a_trigger_that_was_added_elsewhere_can_be_deleted(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	struct auxtrace_trigger_state st;

	(void)state;
	assert_int_equal(auxtrace_trigger_add(s, &probe), 1);
	fake.triggers++;
	fake.state.out_hits = 7;
	assert_int_equal(auxtrace_trigger_del(s, 2, &st), 0);
	assert_int_equal(fake.deleted, 2);
	assert_int_equal(st.out_hits, 7);
	auxtrace_close(s);
}

#define TRIGGER(...) { .size = sizeof(struct auxtrace_trigger_options), __VA_ARGS__ }
#define PAUSES .action = AUXTRACE_ACTION_PAUSE
#define RESUMES .action = AUXTRACE_ACTION_RESUME
#define SAMPLES .action = AUXTRACE_ACTION_SAMPLE
#define KIND(k) .kind = AUXTRACE_TRIGGER_ ## k
#define NO_PERIOD "bound_ns: a period of 0 ns is too short"

/* Each kind against each member that it does not use, by the table that the module has. */
static void a_member_of_other_kinds_is_named(void **state)
{
	static const struct perf_event_attr attr;
	static const struct {
		uint32_t uses;
		const char *name;
		struct auxtrace_trigger_options o;
	} members[] = {
		{ USES_ATTR, "attr", TRIGGER(PAUSES, .attr = &attr, .attr_len = sizeof(attr)) },
		{ USES_NUMBER, "number", TRIGGER(PAUSES, .number = 1) },
		{ USES_ADDRESS, "address", TRIGGER(PAUSES, .address = 1) },
		{ USES_NAME, "name", TRIGGER(PAUSES, .name = "x") },
		{ USES_BOUND, "bound_ns", TRIGGER(PAUSES, .bound_ns = 1) },
		{ USES_OTHERS, "a and b", TRIGGER(PAUSES, .a = 1) },
	};
	struct auxtrace_session *s = set_up(0, PAGE, 0);

	(void)state;
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	fake.fail.err = EINVAL;
	for (uint32_t kind = 0; kind < AUXT_NR_TRIGGER_KINDS; kind++)
		for (unsigned int i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
			struct auxtrace_trigger_options o = members[i].o;
			char text[100];

			if (auxt_trigger_kinds[kind].uses & members[i].uses)
				continue;
			o.kind = kind;
			fails(EINVAL, auxtrace_trigger_add(s, &o));
			snprintf(text, sizeof(text), "%s: a %s trigger does not use it", members[i].name,
				 auxt_trigger_kinds[kind].name);
			says(text);
		}
	auxtrace_close(s);
}

static void a_refusal_names_the_member_at_fault(void **state)
{
	static const struct perf_event_attr no_period, bad = { .type = 99, .sample_period = 1 },
		disabled = { .sample_period = 1, .disabled = 1 },
		inherited = { .sample_period = 1, .inherit = 1 };
	static const struct auxtrace_trigger_options of_all =
		TRIGGER(KIND(TIMER), SAMPLES, .sample_size = 64, .flags = AUXTRACE_TRIGGER_ALL_CPUS);
	static char long_name[4097];
	static const struct {
		int err;
		const char *says;
		struct auxtrace_trigger_options o;
	} cases[] = {
		{ EINVAL, "flags: unknown ones: 0x10", TRIGGER(PAUSES, .flags = 0x10) },
		{ EINVAL, "kind: there is no kind 77", TRIGGER(PAUSES, .kind = 77) },
		{ EINVAL, "action: there is no action 9", TRIGGER(KIND(TIMER), .action = 9) },
		{ EINVAL, "name: a TIMER trigger does not use it", TRIGGER(PAUSES, KIND(TIMER), .name = "x") },
		{ EINVAL, "number: a KPROBE", TRIGGER(PAUSES, KIND(KPROBE), .name = "f", .number = 1) },
		{ EINVAL, "attr: a KPROBE", TRIGGER(PAUSES, KIND(KPROBE), .name = "f", .attr = &bad) },
		{ EINVAL, "bound_ns: a KPROBE", TRIGGER(PAUSES, KIND(KPROBE), .name = "f", .bound_ns = 1) },
		{ EINVAL, "a and b: a TIMER", TRIGGER(PAUSES, KIND(TIMER), .b = 1) },
		{ EINVAL, "after_hits: a trigger with the action NONE", TRIGGER(KIND(TIMER), .after_hits = 1) },
		{ EINVAL, "flags: ALL_CPUS is for PAUSE and RESUME; a FREEZE is of all",
		  TRIGGER(KIND(TIMER), .action = AUXTRACE_ACTION_FREEZE, .flags = AUXTRACE_TRIGGER_ALL_CPUS) },
		{ EINVAL, "count: a ONE_SHOT", TRIGGER(KIND(TIMER), PAUSES, .count = 2, .flags = AUXTRACE_TRIGGER_ONE_SHOT) },
		{ EINVAL, "delay_ns: only PAUSE and FREEZE",
		  TRIGGER(KIND(TIMER), .action = AUXTRACE_ACTION_RESUME, .delay_ns = 1) },
		{ EINVAL, "one of them at most", TRIGGER(KIND(TIMER), PAUSES, .delay_ns = 1, .delay_bytes = 1) },
		{ EINVAL, "delay_bytes: only in overwrite mode", TRIGGER(KIND(TIMER), PAUSES, .delay_bytes = 1) },
		{ EINVAL, "sample_size: the action pause takes no sample", TRIGGER(KIND(TIMER), PAUSES, .sample_size = 1) },
		{ EINVAL, "sample_size: a SAMPLE of 0", TRIGGER(KIND(TIMER), SAMPLES) },
		{ EINVAL, "larger samples need a session with slots", TRIGGER(KIND(TIMER), SAMPLES, .sample_size = 65536) },
		{ EINVAL, "delay_ns: 9223372036854775808 exceeds the maximum, 9223372036854775807",
		  TRIGGER(KIND(TIMER), PAUSES, .delay_ns = 1ull << 63) },
		{ EINVAL, "number: this kernel has no system call 9999",
		  TRIGGER(KIND(SYSCALL_ENTER), PAUSES, .number = 9999) },
		{ EINVAL, "bound_ns: a latency trigger needs", TRIGGER(KIND(LATENCY), PAUSES, .a = 1, .b = 1) },
		{ EINVAL, "a, b: 1 and 2 cannot be clocked", TRIGGER(KIND(LATENCY), PAUSES, .a = 1, .b = 2, .bound_ns = 1) },
		{ EINVAL, "bound_ns: a period of 9 ns is too short: at least 10000", TRIGGER(KIND(TIMER), PAUSES, .bound_ns = 9) },
		{ EINVAL, "attr_len", TRIGGER(KIND(PERF), PAUSES) },
		{ EINVAL, "sample_period is 0", TRIGGER(KIND(PERF), PAUSES, .attr = &no_period, .attr_len = sizeof(no_period)) },
		{ EINVAL, "attr: disabled and inherit must be 0",
		  TRIGGER(KIND(PERF), PAUSES, .attr = &disabled, .attr_len = sizeof(disabled)) },
		{ EINVAL, "attr: disabled and inherit must be 0",
		  TRIGGER(KIND(PERF), PAUSES, .attr = &inherited, .attr_len = sizeof(inherited)) },
		{ EINVAL, "does not take type 99", TRIGGER(KIND(PERF), PAUSES, .attr = &bad, .attr_len = sizeof(bad)) },
		{ EINVAL, "number: breakpoints are for", TRIGGER(KIND(BREAKPOINT), PAUSES) },
		{ EINVAL, "number: a breakpoint watches 1, 2, 4 or 8",
		  TRIGGER(KIND(BREAKPOINT), PAUSES, .number = HW_BREAKPOINT_W | 3 << 8) },
		{ EINVAL, "address: 0x1001 is no multiple of the 4",
		  TRIGGER(KIND(BREAKPOINT), PAUSES, .number = HW_BREAKPOINT_W | 4 << 8, .address = 0x1001) },
		{ EINVAL, "address: the kernel takes no such breakpoint at 0x1000",
		  TRIGGER(KIND(BREAKPOINT), PAUSES, .number = HW_BREAKPOINT_W | 4 << 8, .address = 0x1000) },
		{ EINVAL, "has the length 8, not 4",
		  TRIGGER(KIND(BREAKPOINT), PAUSES, .number = HW_BREAKPOINT_X | 4 << 8) },
		{ EINVAL, "name: 4096 bytes are too many: at most 4095",
		  TRIGGER(KIND(KPROBE), PAUSES, .name = long_name) },
		{ EINVAL, "name: the path", TRIGGER(KIND(UPROBE), PAUSES) },
		{ EINVAL, "is no file with a program", TRIGGER(KIND(UPROBE), PAUSES, .name = "/") },
		{ EINVAL, "address: /etc/passwd has", TRIGGER(KIND(UPROBE), PAUSES, .name = "/etc/passwd", .address = 1 << 30) },
		{ EINVAL, "a KPROBE without both", TRIGGER(KIND(KPROBE), PAUSES) },
		{ ENOENT, "no symbol nope", TRIGGER(KIND(KPROBE), PAUSES, .name = "nope") },
		{ ENOENT, "address: there is no kernel code at 0x10",
		  TRIGGER(KIND(KPROBE), PAUSES, .address = 0x10) },
		{ ENOENT, "kind: the kernel has no tracepoints of system calls", TRIGGER(KIND(SYSCALL_EXIT), PAUSES) },
		{ ENOENT, "attr: this kernel or CPU has no such event", TRIGGER(KIND(PERF), PAUSES) },
		{ ENOENT, "this kernel or CPU has no such event", TRIGGER(KIND(TIMER), PAUSES) },
		{ ENOENT, "no file /nope", TRIGGER(KIND(UPROBE), PAUSES, .name = "/nope") },
		{ ENOENT, "no triggers 3 and 4", TRIGGER(KIND(LATENCY), PAUSES, .a = 3, .b = 4, .bound_ns = 1) },
		{ EOPNOTSUPP, "does not let nope+0x3 be probed", TRIGGER(KIND(KPROBE), PAUSES, .name = "nope", .address = 3) },
		{ EOPNOTSUPP, "attr: this CPU has no such event, or it cannot interrupt", TRIGGER(KIND(PERF), PAUSES) },
		{ E2BIG, "attr: it has members that this kernel does not know", TRIGGER(KIND(PERF), PAUSES) },
		{ ENODEV, "attr: no PMU here has such an event", TRIGGER(KIND(PERF), PAUSES) },
		{ EIO, "TRIGGER_ADD of kind TIMER failed: Input/output error", TRIGGER(KIND(TIMER), PAUSES) },
		{ ESRCH, "no process 12", TRIGGER(KIND(TIMER), PAUSES, .pid = 12) },
		{ EACCES, "CAP_PERFMON", TRIGGER(KIND(TIMER), PAUSES) },
		{ EACCES, "perf may demand CAP_SYS_ADMIN",
		  TRIGGER(KIND(PERF), PAUSES, .attr = &bad, .attr_len = sizeof(bad)) },
		{ EACCES, "needs CAP_SYS_ADMIN, and the right to read /etc/shadow", TRIGGER(KIND(UPROBE), PAUSES, .name = "/etc/shadow") },
		{ EACCES, "of the kernel it needs CAP_SYS_ADMIN", TRIGGER(KIND(BREAKPOINT), PAUSES) },
		{ EPERM, "the kernel is locked down", TRIGGER(PAUSES, KIND(KPROBE), .name = "f") },
		{ ENOSPC, "at most 64 triggers", TRIGGER(KIND(TIMER), PAUSES) },
		{ ENOSPC, "no breakpoint register", TRIGGER(KIND(BREAKPOINT), PAUSES) },
		{ EBUSY, "pinned to all counters", TRIGGER(KIND(PERF), PAUSES) },
		{ EBADFD, "before setup", TRIGGER(KIND(TIMER), PAUSES) },
		{ EINVAL, "kind: there is no kind 10; the last one is 9", TRIGGER(PAUSES, .kind = 10) },
		{ EINVAL, "action: there is no action 5; the last one is 4",
		  TRIGGER(KIND(TIMER), .action = 5) },
		{ EINVAL, "flags: a trigger with the action NONE",
		  TRIGGER(KIND(TIMER), .flags = AUXTRACE_TRIGGER_ONE_SHOT) },
		{ EINVAL, "count: a trigger with the action NONE", TRIGGER(KIND(TIMER), .count = 1) },
		{ EINVAL, "hold_off_ns: a trigger with the action NONE",
		  TRIGGER(KIND(TIMER), .hold_off_ns = 1) },
		{ EINVAL, "delay_ns: only PAUSE and FREEZE", TRIGGER(KIND(TIMER), .delay_ns = 1) },
		{ EINVAL, "delay_bytes: only PAUSE and FREEZE",
		  TRIGGER(KIND(TIMER), RESUMES, .delay_bytes = 1) },
		/* With nothing else wrong, it is the period. */
		{ EINVAL, NO_PERIOD, TRIGGER(KIND(TIMER)) },
		{ EINVAL, NO_PERIOD,
		  TRIGGER(KIND(TIMER), PAUSES, .flags = AUXTRACE_TRIGGER_ALL_CPUS | AUXTRACE_TRIGGER_ONE_SHOT) },
		{ EINVAL, NO_PERIOD,
		  TRIGGER(KIND(TIMER), PAUSES, .after_hits = 1, .count = 2, .hold_off_ns = 1) },
		{ EINVAL, NO_PERIOD, TRIGGER(KIND(TIMER), PAUSES, .delay_ns = INT64_MAX) },
		{ EINVAL, NO_PERIOD, TRIGGER(KIND(TIMER), RESUMES, .flags = AUXTRACE_TRIGGER_ALL_CPUS) },
		{ EINVAL, NO_PERIOD,
		  TRIGGER(KIND(TIMER), .action = AUXTRACE_ACTION_FREEZE, .delay_ns = 1) },
		{ EINVAL, "a period of 9999 ns is too short",
		  TRIGGER(KIND(TIMER), PAUSES, .bound_ns = 9999) },
		{ EINVAL, "bound_ns: a period of 10000 ns is too long",
		  TRIGGER(KIND(TIMER), PAUSES, .bound_ns = 10000) },
		{ EINVAL, "number: this kernel has no system call 9999",
		  TRIGGER(KIND(SYSCALL_EXIT), PAUSES, .number = 9999) },
		{ EINVAL, "attr_len: a perf_event_attr has at least 64",
		  TRIGGER(KIND(PERF), PAUSES, .attr_len = 64) },
		{ EINVAL, "attr_len: a perf_event_attr has at least 64",
		  TRIGGER(KIND(PERF), PAUSES, .attr = &no_period, .attr_len = 63) },
		{ EINVAL, "sample_period is 0",
		  TRIGGER(KIND(PERF), PAUSES, .attr = &no_period, .attr_len = 64) },
		{ EINVAL, "name, address: the kernel does not take them for a KPROBE",
		  TRIGGER(KIND(KPROBE), PAUSES, .name = long_name + 1) },
		{ EINVAL, "name, address: the kernel does not take them for a KRETPROBE",
		  TRIGGER(KIND(KRETPROBE), PAUSES, .address = 1) },
		{ EINVAL, "a KRETPROBE without both", TRIGGER(KIND(KRETPROBE), PAUSES) },
		{ EINVAL, "name: the path", TRIGGER(KIND(URETPROBE), PAUSES) },
		{ EINVAL, "name: /nope: No such file or directory",
		  TRIGGER(KIND(UPROBE), PAUSES, .name = "/nope") },
		{ ENOENT, "no symbol nope", TRIGGER(KIND(KRETPROBE), PAUSES, .name = "nope") },
		{ ENOENT, "no file /nope", TRIGGER(KIND(URETPROBE), PAUSES, .name = "/nope") },
		{ ENOENT, "kind: the kernel has no tracepoints of system calls",
		  TRIGGER(KIND(SYSCALL_ENTER), PAUSES) },
		{ EOPNOTSUPP, "does not let +0x3 be probed", TRIGGER(KIND(KPROBE), PAUSES, .address = 3) },
		/* A kind that the library does not know, and the module does. */
		{ EOPNOTSUPP, "attr: this CPU has no such event", TRIGGER(PAUSES, .kind = 10) },
		{ EIO, "TRIGGER_ADD of kind ? failed: Input/output error", TRIGGER(PAUSES, .kind = 10) },
		{ EACCES, "a URETPROBE trigger needs CAP_SYS_ADMIN",
		  TRIGGER(KIND(URETPROBE), PAUSES, .name = "/etc/shadow") },
	};
	struct auxtrace_session *s = set_up(0, PAGE, 0);

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.fail.err = cases[i].err;
		fails(cases[i].err, auxtrace_trigger_add(s, &cases[i].o));
		says(cases[i].says);
	}
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_trigger_add(s, &of_all));
	assert_string_equal(auxtrace_error(), "flags: ALL_CPUS is for PAUSE and RESUME");
	auxtrace_close(s);
}

static void a_delay_in_bytes_has_a_maximum(void **state)
{
	struct auxtrace_trigger_options o = TRIGGER(KIND(TIMER), PAUSES, .delay_bytes = 1ull << 63);
	struct auxtrace_session *s = set_up(AUXTRACE_SETUP_OVERWRITE, PAGE, 0);

	(void)state;
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("delay_bytes: 9223372036854775808 exceeds the maximum, 9223372036854775807");
	o.delay_bytes--;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says(NO_PERIOD);
	auxtrace_close(s);
}

static void a_sample_needs_a_ring(void **state)
{
	struct auxtrace_trigger_options o = TRIGGER(KIND(TIMER), SAMPLES, .sample_size = 64);
	struct auxtrace_session *s = set_up(0, 0, 0);

	(void)state;
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("set data_size of the session");
	auxtrace_close(s);
}

/* The size is right, so the message blames the period. */
static void a_sample_has_a_maximum(void **state)
{
	static const struct {
		uint32_t flags, slots;
		uint64_t aux_size, data_size, most;
		const char *says;
	} cases[] = {
		/* A small ring carries less than a record could. */
		{ 0, 0, 256 * PAGE, PAGE, 3984,
		  "sample_size: 3985 bytes are more than a record can carry, 3984: larger samples need" },
		{ AUXTRACE_SETUP_OVERWRITE, 1, 256 * PAGE, 64 * PAGE, 61440,
		  "sample_size: 61441 bytes are more than a record can carry, 61440: larger samples need" },
		{ 0, 0, 2 * PAGE, 4 * PAGE, PAGE, "4097 bytes are more than half the AUX area, which is 4096" },
		{ AUXTRACE_SETUP_OVERWRITE, 4, 256 * PAGE, PAGE, 32 * PAGE,
		  "131073 bytes are more than half the AUX area of a slot, which is 131072" },
		/* Half a slot would do, but the copy would take too long. */
		{ AUXTRACE_SETUP_OVERWRITE, 2, 8 * AUXTRACE_MAX_SAMPLE, PAGE, AUXTRACE_MAX_SAMPLE,
		  "sample_size: 2097153 bytes are more than is copied in a hit, 2097152: a snapshot" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct auxtrace_session *s = set_up_area(cases[i].flags, cases[i].aux_size,
							 cases[i].data_size, cases[i].slots);
		struct auxtrace_trigger_options o = TRIGGER(KIND(TIMER), SAMPLES,
							    .sample_size = cases[i].most);

		fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
		fake.fail.err = EINVAL;
		fails(EINVAL, auxtrace_trigger_add(s, &o));
		says(NO_PERIOD);
		o.sample_size++;
		fails(EINVAL, auxtrace_trigger_add(s, &o));
		says(cases[i].says);
		auxtrace_close(s);
		fake_end(state);
		fake_new(state);
	}
}

/* Where type, length and address are possible, the message names the address only. */
static void a_breakpoint_has_a_type_a_length_and_an_address_to_them(void **state)
{
	static const struct {
		uint64_t number, address;
		const char *says;
	} cases[] = {
		{ 8 << 8, 0, "or execution, not 0" },
		{ HW_BREAKPOINT_R | 8 << 8, 0, "or execution, not 0x1" },
		{ HW_BREAKPOINT_X | HW_BREAKPOINT_R | 8 << 8, 0, "or execution, not 0x5" },
		{ HW_BREAKPOINT_X | HW_BREAKPOINT_W | 8 << 8, 0, "or execution, not 0x6" },
		{ 8 | 8 << 8, 0, "or execution, not 0x8" },
		{ HW_BREAKPOINT_W | 0x80 | 8 << 8, 0, "or execution, not 0x82" },
		{ HW_BREAKPOINT_X | 8 << 8, 0x1001, "takes no such breakpoint at 0x1001" },
		{ HW_BREAKPOINT_X | 7 << 8, 0, "has the length 8, not 7" },
		{ HW_BREAKPOINT_X | 16 << 8, 0, "has the length 8, not 16" },
		{ HW_BREAKPOINT_W, 0, "1, 2, 4 or 8 bytes, not 0" },
		{ HW_BREAKPOINT_W | 1 << 8, 0x1001, "takes no such breakpoint at 0x1001" },
		{ HW_BREAKPOINT_RW | 2 << 8, 0x1002, "takes no such breakpoint at 0x1002" },
		{ HW_BREAKPOINT_RW | 2 << 8, 0x1003, "0x1003 is no multiple of the 2 bytes" },
		{ HW_BREAKPOINT_W | 5 << 8, 0, "1, 2, 4 or 8 bytes, not 5" },
		{ HW_BREAKPOINT_W | 8 << 8, 0x1008, "takes no such breakpoint at 0x1008" },
		{ HW_BREAKPOINT_W | 8 << 8, 0x1004, "0x1004 is no multiple of the 8 bytes" },
		{ HW_BREAKPOINT_W | 16 << 8, 0, "1, 2, 4 or 8 bytes, not 16" },
	};
	struct auxtrace_session *s = set_up(0, PAGE, 0);

	(void)state;
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	fake.fail.err = EINVAL;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct auxtrace_trigger_options o = TRIGGER(KIND(BREAKPOINT), PAUSES,
			.number = cases[i].number, .address = cases[i].address);

		fails(EINVAL, auxtrace_trigger_add(s, &o));
		says(cases[i].says);
	}
	auxtrace_close(s);
}

static void an_offset_behind_the_end_of_a_program_is_told(void **state)
{
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	char path[] = "/tmp/auxtrace-program.XXXXXX";
	struct auxtrace_trigger_options o = TRIGGER(KIND(URETPROBE), PAUSES, .name = path, .address = 9);
	int fd = mkstemp(path);

	(void)state;
	assert_return_code(fd, errno);
	assert_int_equal(ftruncate(fd, 10), 0);
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_ADD;
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("address: no probe is possible at offset 0x9 of /tmp/auxtrace-program.");
	o.address++;
	fails(EINVAL, auxtrace_trigger_add(s, &o));
	says("has 10 bytes, none at offset 0xa");
	close(fd);
	unlink(path);
	auxtrace_close(s);
}

static pid_t dies_on_trigger;

static void end_on_trigger(void)
{
	fake_child_end(dies_on_trigger);
}

static void a_trigger_takes_a_pidfd_for_its_process(void **state)
{
	int pidfd;
	pid_t pid = fake_child(&pidfd);
	struct auxtrace_session *s = set_up(0, PAGE, 0);
	struct auxtrace_trigger_options o = probe;

	(void)state;
	o.flags = AUXTRACE_TRIGGER_PIDFD | AUXTRACE_TRIGGER_ALL_CPUS;
	o.pid = pidfd;
	assert_int_equal(auxtrace_trigger_add(s, &o), 1);
	assert_int_equal(fake.trigger.pid, pid);
	assert_int_equal(fake.trigger.flags, AUXTRACE_TRIGGER_ALL_CPUS);
	/* If the process ends meanwhile, the trigger may be another's. */
	dies_on_trigger = pid;
	fake.on_trigger = end_on_trigger;
	fails(ESRCH, auxtrace_trigger_add(s, &o));
	says("has ended");
	assert_int_equal(fake.deleted, 2);
	fake.on_trigger = NULL;
	fails(ESRCH, auxtrace_trigger_add(s, &o));
	close(pidfd);
	fails(EBADF, auxtrace_trigger_add(s, &o));
	assert_int_equal(fake.triggers, 2);
	auxtrace_close(s);
}

/* ---- records ------------------------------------------------------------ */

static uint64_t buffer[64];

static size_t put_sample(uint64_t length, uint32_t flags, size_t room)
{
	struct auxtrace_record_sample *s = (void *)buffer;
	size_t size = sizeof(*s) + room + sizeof(struct auxtrace_record_end);
	struct auxtrace_record_end *end = (void *)((char *)buffer + size - sizeof(*end));

	memset(buffer, 0, sizeof(buffer));
	s->header.type = AUXTRACE_RECORD_SAMPLE;
	s->header.size = size;
	s->length = length;
	s->flags = flags;
	s->data_offset = flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(*s);
	end->size = size;
	return size;
}

static void a_sample_that_says_more_than_it_has_is_no_record(void **state)
{
	const union auxtrace_record *record;
	size_t at = 0, size;

	(void)state;
	size = put_sample(13, 0, 16);
	record = auxtrace_record_next(buffer, size, &at);
	assert_non_null(record);
	assert_ptr_equal(auxtrace_sample_data(record), (char *)buffer + sizeof(record->sample));
	at = 0;
	size = put_sample(17, 0, 16);
	assert_null(auxtrace_record_next(buffer, size, &at));
	size = put_sample(UINT64_MAX, 0, 16);
	assert_null(auxtrace_record_next(buffer, size, &at));
	/* A longer record of a later version has them further on. */
	size = put_sample(8, 0, 16);
	record = (void *)buffer;
	((struct auxtrace_record_sample *)buffer)->data_offset += 8;
	assert_ptr_equal(auxtrace_record_next(buffer, size, &at), record);
	assert_ptr_equal(auxtrace_sample_data(record), (char *)buffer + sizeof(record->sample) + 8);
	/* They are neither before the known members, nor behind or across the end. */
	for (unsigned int i = 0; i < 4; i++) {
		const uint32_t bad[] = { 0, sizeof(record->sample) - 8, sizeof(record->sample) + 24,
					 UINT32_MAX - 7 };

		at = 0;
		size = put_sample(16, 0, 16);
		((struct auxtrace_record_sample *)buffer)->data_offset = bad[i];
		assert_null(auxtrace_record_next(buffer, size, &at));
	}
	/* In a slot the bytes are elsewhere. */
	size = put_sample(70000, AUXTRACE_SAMPLE_IN_SLOT, 0);
	record = auxtrace_record_next(buffer, size, &at);
	assert_non_null(record);
	assert_null(auxtrace_sample_data(record));
}

static void a_sample_in_a_slot_is_found_there(void **state)
{
	struct auxtrace_session *s = set_up(AUXTRACE_SETUP_OVERWRITE, PAGE, 4);
	struct auxtrace_reader *r = auxtrace_reader(s, 0);
	union auxtrace_record *record = (void *)buffer;
	struct auxtrace_spans spans;

	(void)state;
	put_sample(70000, AUXTRACE_SAMPLE_IN_SLOT, 0);
	record->sample.sample_slot = 2;
	record->sample.aux_end = 64 * PAGE + 1000;	/* goes over the slot's end */
	assert_int_equal(auxtrace_reader_peek_sample(r, record, &spans), 0);
	assert_int_equal(spans.len, 70000);
	assert_int_equal(spans.count, 2);
	assert_int_equal(spans.iov[1].iov_len, 1000);
	/* The second part is at the slot's begin. */
	fake.channel[0].aux[2 * 64 * PAGE] = 0x5a;
	assert_int_equal(*(uint8_t *)spans.iov[1].iov_base, 0x5a);
	record->sample.sample_slot = 4;
	fails(EINVAL, auxtrace_reader_peek_sample(r, record, &spans));
	says("slot 4");
	record->sample.sample_slot = 2;
	record->sample.length = 64 * PAGE + 1;
	fails(EINVAL, auxtrace_reader_peek_sample(r, record, &spans));
	put_sample(8, 0, 8);
	fails(EINVAL, auxtrace_reader_peek_sample(r, record, &spans));
	says("no sample in a slot");
	assert_int_equal(auxtrace_release_sample(s, 0, 2), 0);
	assert_int_equal(fake.release.flags, AUXTRACE_RELEASE_SAMPLE);
	assert_int_equal(fake.release.slot, 2);
	fake.fail.nr = AUXTRACE_IOC_RELEASE;
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_release_sample(s, 0, 2));
	says("holds no sample of CPU 0");
	auxtrace_close(s);
}

static void names_are_known(void **state)
{
	(void)state;
	assert_string_equal(auxtrace_action_name(AUXTRACE_ACTION_FREEZE), "freeze");
	assert_string_equal(auxtrace_action_name(99), "?");
	assert_string_equal(auxtrace_cause_name(AUXTRACE_CAUSE_TRIGGER), "trigger");
}

/* ---- recordings --------------------------------------------------------- */

static char *slurp(const char *dir, const char *name, size_t *len)
{
	static char text[1 << 20];
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	assert_non_null(f);
	*len = fread(text, 1, sizeof(text) - 1, f);
	text[*len] = 0;
	fclose(f);
	return text;
}

static void a_recording_keeps_triggers_and_samples(void **state)
{
	struct auxtrace_trigger_options timer = TRIGGER(KIND(TIMER), SAMPLES, .sample_size = 64, .bound_ns = 1 << 20);
	struct auxtrace_session *s = set_up(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, PAGE, 4);
	struct auxtrace_status_page *page = fake.channel[0].status;
	char dir[] = "/tmp/auxtrace-trigger.XXXXXX", command[64], *text;
	struct auxtrace_recording *rec;
	size_t len, size;

	(void)state;
	assert_int_equal(auxtrace_trigger_add(s, &probe), 1);
	assert_int_equal(auxtrace_trigger_add(s, &timer), 2);
	assert_non_null(mkdtemp(dir));
	rec = auxtrace_recording_create(s, dir);
	assert_non_null(rec);
	fake.state.out_hits = fake.state.out_acted = 3;
	assert_int_equal(auxtrace_trigger_del(s, 1, NULL), 0);
	fake.state.out_hits = fake.state.out_idle = 5;
	fake.state.out_acted = 0;
	/* A sample in slot 3. */
	size = put_sample(5000, AUXTRACE_SAMPLE_IN_SLOT, 0);
	((struct auxtrace_record_sample *)buffer)->sample_slot = 3;
	((struct auxtrace_record_sample *)buffer)->aux_end = 5000;
	memset(fake.channel[0].aux + 3 * 64 * PAGE, 'x', 5000);
	memcpy(fake.channel[0].data, buffer, size);
	page->data_head = page->data_reserved = size;
	assert_int_equal(auxtrace_recording_drain(rec), size);
	assert_int_equal(fake.release.slot, 3);
	assert_int_equal(fake.release.flags, AUXTRACE_RELEASE_SAMPLE);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	text = slurp(dir, "meta", &len);
	assert_non_null(strstr(text, "\ntrigger 1 hits 3 acted 3 held 0 idle 0 missed 0 on kprobe:vfs_read=resume\n"
			       "trigger 2 hits 5 acted 0 held 0 idle 5 missed 0\ncpu 0 "));
	assert_non_null(strstr(text, " sample_bytes 5000"));
	text = slurp(dir, "cpu0.samples", &len);
	assert_int_equal(len, 5000);
	assert_int_equal(strspn(text, "x"), 5000);
	auxtrace_close(s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

static void stop_within_an_update(void)
{
	fake.channel[0].status->seq |= 1;
}

static void without_its_counts_a_recording_has_no_meta(void **state)
{
	struct auxtrace_session *s = set_up(AUXTRACE_SETUP_USER, 0, 0);
	char dir[] = "/tmp/auxtrace-trigger.XXXXXX", command[64], path[64];
	struct auxtrace_recording *rec;

	(void)state;
	assert_int_equal(auxtrace_trigger_add(s, &probe), 1);
	assert_non_null(mkdtemp(dir));
	rec = auxtrace_recording_create(s, dir);
	assert_non_null(rec);
	/* The counts of triggers are the last that is read before those of the CPUs. */
	fake.on_trigger_read = stop_within_an_update;
	fake.clock_step = 10;
	fails(EAGAIN, auxtrace_recording_finish(rec, NULL));
	says("the status page of CPU 0 stays inconsistent");
	snprintf(path, sizeof(path), "%s/meta", dir);
	assert_int_equal(access(path, F_OK), -1);
	auxtrace_close(s);
	snprintf(command, sizeof(command), "rm -r %s", dir);
	assert_int_equal(system(command), 0);
}

#define TEST(t) cmocka_unit_test_setup_teardown(t, fake_new, fake_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_members_get_to_the_device),
		TEST(a_wrong_struct_never_gets_there),
		TEST(without_memory_no_trigger_is_added),
		TEST(counts_are_read_and_the_last_ones_come_with_the_delete),
		TEST(a_trigger_that_was_added_elsewhere_can_be_deleted),
		TEST(a_member_of_other_kinds_is_named),
		TEST(a_refusal_names_the_member_at_fault),
		TEST(a_delay_in_bytes_has_a_maximum),
		TEST(a_sample_needs_a_ring),
		TEST(a_sample_has_a_maximum),
		TEST(a_breakpoint_has_a_type_a_length_and_an_address_to_them),
		TEST(an_offset_behind_the_end_of_a_program_is_told),
		TEST(a_trigger_takes_a_pidfd_for_its_process),
		TEST(a_sample_that_says_more_than_it_has_is_no_record),
		TEST(a_sample_in_a_slot_is_found_there),
		TEST(names_are_known),
		TEST(a_recording_keeps_triggers_and_samples),
		TEST(without_its_counts_a_recording_has_no_meta),
	};

	return cmocka_run_group_tests_name("trigger", tests, NULL, NULL);
}
