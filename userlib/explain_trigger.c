// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Explains why a TRIGGER_ADD was refused: finds the member at fault, in the order of the
 * errors of struct auxtrace_trigger.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>

#include "internal.h"
#include "module/core/known.h"
#include "module/trigger/kinds.h"

#define MIN_TIMER_NS	10000

static const char *name_of(const struct auxtrace_trigger *t)
{
	return (const char *)(uintptr_t)t->name;
}

static const char *kind_name(const struct auxtrace_trigger *t)
{
	return t->kind < AUXT_NR_TRIGGER_KINDS ? auxt_trigger_kinds[t->kind].name : "?";
}

static uint32_t kind_uses(const struct auxtrace_trigger *t)
{
	return t->kind < AUXT_NR_TRIGGER_KINDS ? auxt_trigger_kinds[t->kind].uses : 0;
}

/* ---- members of the action ---------------------------------------------- */

/* The functions of this part return 0 if they find nothing wrong. */

static int explain_sample_size(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	uint64_t most = s->setup.aux_size / session_slots(s) / 2;
	/* Without slots the ring is in one part, of at least a page. As auxt_sample_space(). */
	uint64_t space = s->setup.data_size - sizeof(struct auxtrace_record_sample) -
			 sizeof(struct auxtrace_record_end) - sizeof(struct auxtrace_record_lost);

	if (space > AUXTRACE_SAMPLE_IN_RECORD)
		space = AUXTRACE_SAMPLE_IN_RECORD;
	if (!s->setup.data_size)
		return fail(EINVAL, "action: a SAMPLE needs a data ring to go to: set data_size of the session");
	if (!t->sample_size)
		return fail(EINVAL, "sample_size: a SAMPLE of 0 bytes");
	if (t->sample_size > space && session_slots(s) == 1)
		return fail(EINVAL, "sample_size: %" PRIu64 " bytes are more than a record can carry, %" PRIu64 ": larger samples need a session with slots",
			    (uint64_t)t->sample_size, space);
	if (t->sample_size > most)
		return fail(EINVAL, "sample_size: %" PRIu64 " bytes are more than half the AUX area%s, which is %" PRIu64,
			    (uint64_t)t->sample_size, session_slots(s) > 1 ? " of a slot" : "", most);
	if (t->sample_size > AUXTRACE_MAX_SAMPLE)
		return fail(EINVAL, "sample_size: %" PRIu64 " bytes are more than is copied in a hit, %u: a snapshot or a freeze keeps more",
			    (uint64_t)t->sample_size, AUXTRACE_MAX_SAMPLE);
	return 0;
}

/* A trigger without an action only starts or stops the clock of a latency trigger. */
static int explain_limits(const struct auxtrace_trigger *t, uint32_t uses)
{
	if (uses & USES_LIMITS)
		return 0;
	if (t->flags)
		return fail(EINVAL, "flags: a trigger with the action NONE never acts: they must be 0");
	if (t->after_hits || t->count || t->hold_off_ns)
		return fail(EINVAL, "%s: a trigger with the action NONE never acts: it must be 0",
			    t->after_hits ? "after_hits" : t->count ? "count" : "hold_off_ns");
	return 0;
}

static int explain_delay(const struct auxtrace_session *s, const struct auxtrace_trigger *t,
			 uint32_t uses)
{
	if (!(uses & USES_DELAY) && (t->delay_ns || t->delay_bytes))
		return fail(EINVAL, "%s: only PAUSE and FREEZE can be delayed",
			    t->delay_ns ? "delay_ns" : "delay_bytes");
	if (t->delay_ns && t->delay_bytes)
		return fail(EINVAL, "delay_ns and delay_bytes: one of them at most");
	if (t->delay_bytes && !(s->setup.flags & AUXTRACE_SETUP_OVERWRITE))
		return fail(EINVAL, "delay_bytes: only in overwrite mode; delay_ns works in any session");
	if (t->delay_ns > INT64_MAX)
		return fail(EINVAL, "delay_ns: %" PRIu64 " exceeds the maximum, %" PRId64,
			    (uint64_t)t->delay_ns, INT64_MAX);
	if (t->delay_bytes > INT64_MAX)
		return fail(EINVAL, "delay_bytes: %" PRIu64 " exceeds the maximum, %" PRId64,
			    (uint64_t)t->delay_bytes, INT64_MAX);
	return 0;
}

static int explain_action(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	uint32_t uses;

	if (t->action >= AUXT_NR_TRIGGER_ACTIONS)
		return fail(EINVAL, "action: there is no action %u; the last one is %zu", t->action,
			    AUXT_NR_TRIGGER_ACTIONS - 1);
	uses = auxt_trigger_actions[t->action].uses;
	if (explain_limits(t, uses))
		return -1;
	if (t->flags & AUXTRACE_TRIGGER_ALL_CPUS && !(uses & USES_ALL_CPUS))
		return fail(EINVAL, "flags: ALL_CPUS is for PAUSE and RESUME%s",
			    t->action == AUXTRACE_ACTION_FREEZE ? "; a FREEZE is of all CPUs anyway" : "");
	if (t->flags & AUXTRACE_TRIGGER_ONE_SHOT && t->count)
		return fail(EINVAL, "count: a ONE_SHOT trigger acts once: leave out one of them");
	if (explain_delay(s, t, uses))
		return -1;
	if (uses & USES_SAMPLE)
		return explain_sample_size(s, t);
	return !t->sample_size ? 0 :
	       fail(EINVAL, "sample_size: the action %s takes no sample: it must be 0",
		    auxtrace_action_name(t->action));
}

/* ---- members of the kind ------------------------------------------------ */

static int explain_breakpoint(const struct auxtrace_trigger *t)
{
	unsigned int type = t->number & 0xff, len = (uint64_t)t->number >> 8;

	if (type != HW_BREAKPOINT_W && type != HW_BREAKPOINT_RW && type != HW_BREAKPOINT_X)
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
	const char *path = name_of(t);
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

static int explain_latency(const struct auxtrace_trigger *t)
{
	if (!t->bound_ns)
		return fail(EINVAL, "bound_ns: a latency trigger needs a bound of more than 0");
	return fail(EINVAL, "a, b: %u and %u cannot be clocked: a clock runs between events, not between latencies",
		    t->a, t->b);
}

static int explain_timer(const struct auxtrace_trigger *t)
{
	if (t->bound_ns < MIN_TIMER_NS)
		return fail(EINVAL, "bound_ns: a period of %" PRIu64 " ns is too short: at least %u",
			    (uint64_t)t->bound_ns, MIN_TIMER_NS);
	return fail(EINVAL, "bound_ns: a period of %" PRIu64 " ns is too long", (uint64_t)t->bound_ns);
}

/* A kind that is not listed gets the general message at the end. */
static int explain_kind(const struct auxtrace_trigger *t)
{
	switch (t->kind) {
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		return fail(EINVAL, "number: this kernel has no system call %" PRId64 "; -1 is all of them",
			    (int64_t)t->number);
	case AUXTRACE_TRIGGER_LATENCY:
		return explain_latency(t);
	case AUXTRACE_TRIGGER_TIMER:
		return explain_timer(t);
	case AUXTRACE_TRIGGER_BREAKPOINT:
		return explain_breakpoint(t);
	case AUXTRACE_TRIGGER_PERF:
		return explain_perf(t);
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return explain_file(t);
	case AUXTRACE_TRIGGER_KPROBE:
	case AUXTRACE_TRIGGER_KRETPROBE:
		if (!t->name_len && !t->address)
			return fail(EINVAL, "name, address: a %s without both", kind_name(t));
		return fail(EINVAL, "name, address: the kernel does not take them for a %s", kind_name(t));
	}
	return fail(EINVAL, "the kernel does not take this %s trigger", kind_name(t));
}

/* ---- errnos ------------------------------------------------------------- */

static int explain_invalid(const struct auxtrace_session *s, const struct auxtrace_trigger *t)
{
	const char *unused;

	if (t->flags & ~AUXTRACE_TRIGGER_ALL)
		return fail(EINVAL, "flags: unknown ones: %#x", t->flags & ~AUXTRACE_TRIGGER_ALL);
	if (t->kind >= AUXT_NR_TRIGGER_KINDS)
		return fail(EINVAL, "kind: there is no kind %u; the last one is %zu", t->kind,
			    AUXT_NR_TRIGGER_KINDS - 1);
	unused = auxt_trigger_unused(t);
	if (unused)
		return fail(EINVAL, "%s: a %s trigger does not use it: it must be 0", unused, kind_name(t));
	if (explain_action(s, t))
		return -1;
	if (t->name_len >= 4096)
		return fail(EINVAL, "name: %u bytes are too many: at most 4095", t->name_len);
	return explain_kind(t);
}

static int explain_absent(const struct auxtrace_trigger *t)
{
	switch (t->kind) {
	case AUXTRACE_TRIGGER_KPROBE:
	case AUXTRACE_TRIGGER_KRETPROBE:
		if (t->name_len)
			return fail(ENOENT, "name: the kernel has no symbol %s that could be probed", name_of(t));
		return fail(ENOENT, "address: there is no kernel code at %#" PRIx64, (uint64_t)t->address);
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return fail(ENOENT, "name: there is no file %s", name_of(t));
	case AUXTRACE_TRIGGER_LATENCY:
		return fail(ENOENT, "a, b: the session has no triggers %u and %u, or the kernel does not report the exits of tasks",
			    t->a, t->b);
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		return fail(ENOENT, "kind: the kernel has no tracepoints of system calls");
	case AUXTRACE_TRIGGER_PERF:
		return fail(ENOENT, "attr: this kernel or CPU has no such event");
	}
	return fail(ENOENT, "this kernel or CPU has no such event");
}

/* What the kind needs, whichever part of it the caller lacks. */
static int explain_access(const struct auxtrace_trigger *t)
{
	switch (t->kind) {
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return fail(EACCES, "a %s trigger needs CAP_SYS_ADMIN, and the right to read %s and to search its directories",
			    kind_name(t), name_of(t));
	case AUXTRACE_TRIGGER_BREAKPOINT:
		return fail(EACCES, "a BREAKPOINT trigger needs CAP_PERFMON or CAP_SYS_ADMIN; at an address of the kernel it needs CAP_SYS_ADMIN");
	case AUXTRACE_TRIGGER_PERF:
		return fail(EACCES, "a PERF trigger needs CAP_PERFMON or CAP_SYS_ADMIN; perf may demand CAP_SYS_ADMIN, as of probes of programs");
	}
	return fail(EACCES, "triggers need CAP_PERFMON or CAP_SYS_ADMIN");
}

int explain_trigger(const struct auxtrace_session *s, const struct auxtrace_trigger *t, int err)
{
	switch (err) {
	case EINVAL:
		return explain_invalid(s, t);
	case ENOENT:
		return explain_absent(t);
	case EBADFD:
		return fail(err, "TRIGGER_ADD before setup");
	case EACCES:
		return explain_access(t);
	case EPERM:
		return fail(err, "the kernel is locked down: in confidentiality mode it takes no probe in the kernel");
	case ESRCH:
		return fail(err, "pid: there is no process %u", t->pid);
	case ENOSPC:
		return fail(err, t->kind == AUXTRACE_TRIGGER_BREAKPOINT ?
			    "address: no breakpoint register is left, or the session has %u triggers" :
			    "a session has at most %u triggers", AUXTRACE_MAX_TRIGGERS);
	case EOPNOTSUPP:
		if (kind_uses(t) & USES_NAME)
			return fail(err, "address: the kernel does not let %s+%#" PRIx64 " be probed: it is on its blacklist, or no instruction begins there",
				    t->name_len ? name_of(t) : "", (uint64_t)t->address);
		return fail(err, "attr: this CPU has no such event, or it cannot interrupt");
	case EBUSY:
		return fail(err, "attr: other events are pinned to all counters of a CPU that could count it");
	case E2BIG:
		return fail(err, "attr: it has members that this kernel does not know: it is made for a newer one");
	case ENODEV:
		return fail(err, "attr: no PMU here has such an event");
	}
	return fail(err, "TRIGGER_ADD of kind %s failed: %s", kind_name(t), strerror(err));
}
