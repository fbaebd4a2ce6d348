// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Why a TRIGGER_ADD was refused: the member at fault is looked for in the order of
 * the contract (struct auxtrace_trigger).
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"

#define MIN_TIMER_NS	10000

static const struct kind {
	const char *name;
	bool attr, number, address, text, bound, others;
} kinds[] = {
	[AUXTRACE_TRIGGER_PERF] = { .name = "PERF", .attr = true },
	[AUXTRACE_TRIGGER_SYSCALL_ENTER] = { .name = "SYSCALL_ENTER", .number = true },
	[AUXTRACE_TRIGGER_SYSCALL_EXIT] = { .name = "SYSCALL_EXIT", .number = true },
	[AUXTRACE_TRIGGER_KPROBE] = { .name = "KPROBE", .text = true, .address = true },
	[AUXTRACE_TRIGGER_KRETPROBE] = { .name = "KRETPROBE", .text = true, .address = true },
	[AUXTRACE_TRIGGER_UPROBE] = { .name = "UPROBE", .text = true, .address = true },
	[AUXTRACE_TRIGGER_URETPROBE] = { .name = "URETPROBE", .text = true, .address = true },
	[AUXTRACE_TRIGGER_BREAKPOINT] = { .name = "BREAKPOINT", .number = true, .address = true },
	[AUXTRACE_TRIGGER_LATENCY] = { .name = "LATENCY", .bound = true, .others = true },
	[AUXTRACE_TRIGGER_TIMER] = { .name = "TIMER", .bound = true },
};

/* Members that only some kinds use. 0: nothing is wrong with these. */
static int explain_unused(const struct auxtrace_trigger *t, const struct kind *k)
{
	const struct {
		const char *name;
		bool used, given;
	} members[] = {
		{ "attr", k->attr, t->attr || t->attr_len },
		{ "number", k->number, t->number },
		{ "address", k->address, t->address },
		{ "name", k->text, t->name || t->name_len },
		{ "bound_ns", k->bound, t->bound_ns },
		{ "a and b", k->others, t->a || t->b },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(members); i++)
		if (members[i].given && !members[i].used)
			return fail(EINVAL, "%s: a %s trigger does not use it: it must be 0",
				    members[i].name, k->name);
	return 0;
}

static int explain_sample(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	uint64_t most = s->setup.aux_size / session_slots(s) / 2;
	/* Without slots, the ring is in one part, of a page at least. As auxt_sample_room(). */
	uint64_t room = s->setup.data_size - sizeof(struct auxtrace_record_sample) -
			sizeof(struct auxtrace_record_end) - sizeof(struct auxtrace_record_lost);

	if (room > AUXTRACE_SAMPLE_IN_RECORD)
		room = AUXTRACE_SAMPLE_IN_RECORD;
	if (t->action != AUXTRACE_ACTION_SAMPLE)
		return !t->sample_size ? 0 :
		       fail(EINVAL, "sample_size: the action %s takes no sample: it must be 0",
			    auxtrace_action_name(t->action));
	if (!s->setup.data_size)
		return fail(EINVAL, "action: a SAMPLE needs a data ring to go to: set data_size of the session");
	if (!t->sample_size)
		return fail(EINVAL, "sample_size: a SAMPLE of 0 bytes");
	if (t->sample_size > room && session_slots(s) == 1)
		return fail(EINVAL, "sample_size: %" PRIu64 " bytes are more than a record can carry, %" PRIu64 ": larger samples need a session with slots",
			    (uint64_t)t->sample_size, room);
	if (t->sample_size > most)
		return fail(EINVAL, "sample_size: %" PRIu64 " bytes are more than half the AUX area%s, which are %" PRIu64,
			    (uint64_t)t->sample_size, session_slots(s) > 1 ? " of a slot" : "", most);
	return 0;
}

/* A trigger without an action is there for others' clocks. */
static int explain_none(const struct auxtrace_trigger *t)
{
	if (t->action != AUXTRACE_ACTION_NONE)
		return 0;
	if (t->flags)
		return fail(EINVAL, "flags: a trigger with the action NONE never acts: they must be 0");
	if (t->after_hits || t->count || t->hold_off_ns)
		return fail(EINVAL, "%s: a trigger with the action NONE never acts: it must be 0",
			    t->after_hits ? "after_hits" : t->count ? "count" : "hold_off_ns");
	return 0;
}

static int explain_action(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	bool stops = t->action == AUXTRACE_ACTION_PAUSE || t->action == AUXTRACE_ACTION_FREEZE;
	bool moves = t->action == AUXTRACE_ACTION_PAUSE || t->action == AUXTRACE_ACTION_RESUME;

	if (t->action > AUXTRACE_ACTION_FREEZE)
		return fail(EINVAL, "action: there is no action %u; the last one is FREEZE, %u", t->action,
			    AUXTRACE_ACTION_FREEZE);
	if (t->flags & AUXTRACE_TRIGGER_ALL_CPUS && !moves)
		return fail(EINVAL, "flags: ALL_CPUS is for PAUSE and RESUME%s",
			    t->action == AUXTRACE_ACTION_FREEZE ? "; a FREEZE is of all CPUs anyway" : "");
	if (t->flags & AUXTRACE_TRIGGER_ONE_SHOT && t->count)
		return fail(EINVAL, "count: a ONE_SHOT trigger acts once: leave out one of them");
	if (!stops && t->delay_ns)
		return fail(EINVAL, "delay_ns: only PAUSE and FREEZE can be delayed");
	if (!stops && t->delay_bytes)
		return fail(EINVAL, "delay_bytes: only PAUSE and FREEZE can be delayed");
	if (t->delay_ns && t->delay_bytes)
		return fail(EINVAL, "delay_ns and delay_bytes: one of them at most");
	if (t->delay_bytes && !(s->setup.flags & AUXTRACE_SETUP_OVERWRITE))
		return fail(EINVAL, "delay_bytes: only in overwrite mode; delay_ns goes everywhere");
	if (t->delay_ns > INT64_MAX)
		return fail(EINVAL, "delay_ns: %" PRIu64 " ns are more than time has", (uint64_t)t->delay_ns);
	if (t->delay_bytes > INT64_MAX)
		return fail(EINVAL, "delay_bytes: %" PRIu64 " are more than there are positions",
			    (uint64_t)t->delay_bytes);
	return explain_sample(s, t);
}

static int explain_breakpoint(const struct auxtrace_trigger *t)
{
	unsigned int type = t->number & 0xff, len = (uint64_t)t->number >> 8;

	if (!type || type & ~(HW_BREAKPOINT_RW | HW_BREAKPOINT_X) ||
	    (type & HW_BREAKPOINT_X && type != HW_BREAKPOINT_X))
		return fail(EINVAL, "number: breakpoints are for writes, reads and writes, or execution, not %#x", type);
	if (type == HW_BREAKPOINT_X && len != sizeof(long))
		return fail(EINVAL, "number: an execution breakpoint has the length %zu, not %u", sizeof(long), len);
	if (len != 1 && len != 2 && len != 4 && len != 8)
		return fail(EINVAL, "number: a breakpoint watches 1, 2, 4 or 8 bytes, not %u", len);
	if (type != HW_BREAKPOINT_X && t->address % len)
		return fail(EINVAL, "address: %#" PRIx64 " is no multiple of the %u bytes to watch",
			    (uint64_t)t->address, len);
	return fail(EINVAL, "address: the kernel takes no such breakpoint at %#" PRIx64, (uint64_t)t->address);
}

static int explain_perf(const struct auxtrace_trigger *t)
{
	const struct perf_event_attr *attr = (const void *)(uintptr_t)t->attr;

	if (!attr || t->attr_len < PERF_ATTR_SIZE_VER0)
		return fail(EINVAL, "attr_len: a perf_event_attr has at least %u bytes", PERF_ATTR_SIZE_VER0);
	if (!attr->sample_period)
		return fail(EINVAL, "attr: sample_period is 0: it would never overflow");
	if (attr->disabled || attr->inherit)
		return fail(EINVAL, "attr: disabled and inherit must be 0");
	return fail(EINVAL, "attr: perf does not take type %u, config %#llx with this period and these flags",
		    attr->type, (unsigned long long)attr->config);
}

static int explain_file(const struct auxtrace_trigger *t)
{
	const char *path = (const char *)(uintptr_t)t->name;
	struct stat st;

	if (!t->name_len)
		return fail(EINVAL, "name: the path of a program or library is missing");
	if (stat(path, &st))
		return fail(EINVAL, "name: %s: %s", path, strerror(errno));
	if (!S_ISREG(st.st_mode))
		return fail(EINVAL, "name: %s is no file with a program", path);
	if (t->address >= (uint64_t)st.st_size)
		return fail(EINVAL, "address: %s has %lld bytes, none at offset %#" PRIx64, path,
			    (long long)st.st_size, (uint64_t)t->address);
	return fail(EINVAL, "address: no probe is possible at offset %#" PRIx64 " of %s",
		    (uint64_t)t->address, path);
}

static int explain_invalid(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	const struct kind *k;

	if (t->flags & ~AUXTRACE_TRIGGER_ALL)
		return fail(EINVAL, "flags: unknown ones: %#x", t->flags & ~AUXTRACE_TRIGGER_ALL);
	if (t->kind >= ARRAY_SIZE(kinds))
		return fail(EINVAL, "kind: there is no kind %u; the last one is TIMER, %u", t->kind,
			    AUXTRACE_TRIGGER_TIMER);
	k = &kinds[t->kind];
	if (explain_unused(t, k) || explain_none(t) || explain_action(s, t))
		return -1;
	if (t->name_len >= 4096)
		return fail(EINVAL, "name: %u bytes are too many: at most 4095", t->name_len);
	switch (t->kind) {
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		return fail(EINVAL, "number: this kernel has no system call %" PRId64 "; -1 is all of them",
			    (int64_t)t->number);
	case AUXTRACE_TRIGGER_LATENCY:
		if (t->bound_ns)
			return fail(EINVAL, "a, b: %u and %u cannot be clocked: a clock runs between events, not between latencies",
				    t->a, t->b);
		return fail(EINVAL, "bound_ns: a latency trigger needs a bound of more than 0");
	case AUXTRACE_TRIGGER_TIMER:
		if (t->bound_ns < MIN_TIMER_NS)
			return fail(EINVAL, "bound_ns: a period of %" PRIu64 " ns is too short: at least %u",
				    (uint64_t)t->bound_ns, MIN_TIMER_NS);
		return fail(EINVAL, "bound_ns: a period of %" PRIu64 " ns is too long", (uint64_t)t->bound_ns);
	case AUXTRACE_TRIGGER_BREAKPOINT:
		return explain_breakpoint(t);
	case AUXTRACE_TRIGGER_PERF:
		return explain_perf(t);
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return explain_file(t);
	}
	if (!t->name_len && !t->address)
		return fail(EINVAL, "name, address: a %s without both", k->name);
	return fail(EINVAL, "name, address: the kernel does not take them for a %s", k->name);
}

static int explain_absent(const struct auxtrace_trigger *t)
{
	const char *name = (const char *)(uintptr_t)t->name;

	switch (t->kind) {
	case AUXTRACE_TRIGGER_KPROBE:
	case AUXTRACE_TRIGGER_KRETPROBE:
		if (t->name_len)
			return fail(ENOENT, "name: the kernel has no symbol %s that could be probed", name);
		return fail(ENOENT, "address: there is no kernel code at %#" PRIx64, (uint64_t)t->address);
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return fail(ENOENT, "name: there is no file %s", name);
	case AUXTRACE_TRIGGER_LATENCY:
		return fail(ENOENT, "a, b: the session has no triggers %u and %u, or the kernel does not tell of exits",
			    t->a, t->b);
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		return fail(ENOENT, "kind: the kernel has no tracepoints of system calls");
	}
	return fail(ENOENT, "attr: this kernel or CPU has no such event");
}

int explain_trigger(const struct auxtrace_session *s, const struct auxtrace_trigger *t, int err)
{
	const char *name = (const char *)(uintptr_t)t->name;
	const char *kind = t->kind < ARRAY_SIZE(kinds) ? kinds[t->kind].name : "?";

	switch (err) {
	case EINVAL:
		return explain_invalid(s, t);
	case ENOENT:
		return explain_absent(t);
	case EBADFD:
		return fail(err, "TRIGGER_ADD before setup");
	case EACCES:
	case EPERM:
		return fail(err, "triggers need CAP_PERFMON or CAP_SYS_ADMIN");
	case ESRCH:
		return fail(err, "pid: there is no process %u", t->pid);
	case ENOSPC:
		return fail(err, t->kind == AUXTRACE_TRIGGER_BREAKPOINT ?
			    "address: no breakpoint register is left, or the session has %u triggers" :
			    "a session has at most %u triggers", AUXTRACE_MAX_TRIGGERS);
	case EOPNOTSUPP:
		if (kinds[t->kind < ARRAY_SIZE(kinds) ? t->kind : 0].text)
			return fail(err, "address: the kernel does not let %s+%#" PRIx64 " be probed: it is on its blacklist, or no instruction begins there",
				    t->name_len ? name : "", (uint64_t)t->address);
		return fail(err, "attr: this CPU has no such event, or it cannot interrupt");
	case EBUSY:
		return fail(err, "attr: all counters of a CPU that could count it are pinned by others");
	case E2BIG:
		return fail(err, "attr: it says what this kernel does not know: it is made for a newer one");
	case ENODEV:
		return fail(err, "attr: no PMU here has such an event");
	}
	return fail(err, "TRIGGER_ADD of kind %s failed: %s", kind, strerror(err));
}
