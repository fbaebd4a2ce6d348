// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Explains why a SETUP was refused. Its errno says what kind of refusal it is; the
 * functions below look for the reason among those that <linux/auxtrace.h> gives for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"
#include "module/core/known.h"
#include "trace_pmu.h"
#include "text.h"

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* Is it an address of the 48 bits that four levels of page tables translate? */
static bool is_canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

/* Returns 0 if the members of the data ring are right. */
static int explain_data(const struct auxtrace_setup *setup, uint64_t page)
{
	bool overwrite = setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE;

	if (!setup->data_size) {
		if (setup->flags & (AUXTRACE_SETUP_DATA_BACKWARD | AUXTRACE_SETUP_DATA_OVERWRITE) ||
		    setup->data_watermark || setup->records)
			return fail(EINVAL, "data ring options without a data ring: set data_size");
		return 0;
	}
	if (setup->data_size < page || !is_power_of_two(setup->data_size))
		return fail(EINVAL, "a data ring of %" PRIu64 " bytes is not possible: it must be a power of two and at least %" PRIu64,
			    (uint64_t)setup->data_size, page);
	if (setup->data_watermark && overwrite)
		return fail(EINVAL, "an overwritable data ring has no watermark: data_watermark must be 0");
	if (setup->data_watermark >= setup->data_size)
		return fail(EINVAL, "a data_watermark of %" PRIu64 " bytes is not possible: it must be less than the data ring, %" PRIu64,
			    (uint64_t)setup->data_watermark, (uint64_t)setup->data_size);
	if (setup->records & ~AUXTRACE_WANT_ALL)
		return fail(EINVAL, "unknown kinds of records %#x: the known ones are %#x",
			    setup->records & ~AUXTRACE_WANT_ALL, AUXTRACE_WANT_ALL);
	return 0;
}

static int explain_slots(const struct auxtrace_setup *setup, uint64_t page)
{
	if (setup->slots <= 1)
		return 0;
	if (!(setup->flags & AUXTRACE_SETUP_OVERWRITE))
		return fail(EINVAL, "%u slots need overwrite mode: a full trace is consumed in place",
			    setup->slots);
	if (!is_power_of_two(setup->slots) || setup->slots > AUXTRACE_MAX_SLOTS)
		return fail(EINVAL, "%u slots are not possible: their number must be a power of two and at most %u",
			    setup->slots, AUXTRACE_MAX_SLOTS);
	if (setup->aux_size / setup->slots < 2 * page)
		return fail(EINVAL, "%u slots of an AUX area of %" PRIu64 " bytes are too small: each must have at least %" PRIu64,
			    setup->slots, (uint64_t)setup->aux_size, 2 * page);
	if (setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE && setup->data_size / setup->slots < page)
		return fail(EINVAL, "%u slots of a data ring of %" PRIu64 " bytes are too small: each must have at least %" PRIu64,
			    setup->slots, (uint64_t)setup->data_size, page);
	return 0;
}

static int explain_full(const struct auxtrace_setup *setup)
{
	uint32_t full = setup->flags & (AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP);

	if (!full)
		return 0;
	if (setup->flags & AUXTRACE_SETUP_OVERWRITE)
		return fail(EINVAL, "an overwrite session is never full: leave out FULL_AUTO and FULL_STOP");
	if (full & (full - 1))
		return fail(EINVAL, "a full area either goes on by itself or stays stopped: choose FULL_AUTO or FULL_STOP");
	return 0;
}

static int explain_scope(const struct auxtrace_setup *setup)
{
	uint32_t scope = setup->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS);

	if (setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE) {
		if (scope)
			return fail(EINVAL, "ADDRESS_SPACE contradicts a task scope, which follows its threads whatever page tables they use: choose one");
		if (setup->flags & AUXTRACE_SETUP_DESCENDANTS)
			return fail(EINVAL, "whose descendants? ADDRESS_SPACE is one process: DESCENDANTS needs THREAD or PROCESS");
		return 0;
	}
	if (scope & (scope - 1))
		return fail(EINVAL, "the scope is a thread or a process: choose THREAD or PROCESS");
	if (scope)
		return 0;
	if (setup->flags & AUXTRACE_SETUP_DESCENDANTS)
		return fail(EINVAL, "whose descendants? DESCENDANTS needs THREAD or PROCESS");
	if (setup->tid)
		return fail(EINVAL, "trace thread %u, or all threads of its process? tid needs THREAD or PROCESS (or ADDRESS_SPACE)",
			    setup->tid);
	return 0;
}

static bool filters_overlap(const struct auxtrace_filter *a, const struct auxtrace_filter *b)
{
	return a->action == b->action && a->first <= b->last && b->first <= a->last;
}

static int explain_filters(const struct auxtrace_setup *setup)
{
	const struct auxtrace_filter *filters = (const void *)(uintptr_t)setup->filters;

	for (unsigned int i = 0; i < setup->nr_filters; i++) {
		const struct auxtrace_filter *f = &filters[i];

		if (f->action != AUXTRACE_FILTER_TRACE && f->action != AUXTRACE_FILTER_STOP)
			return fail(EINVAL, "filter %u has the unknown action %u: there are AUXTRACE_FILTER_TRACE (%u) and _STOP (%u)",
				    i + 1, f->action, AUXTRACE_FILTER_TRACE, AUXTRACE_FILTER_STOP);
		if (f->reserved)
			return fail(EINVAL, "filter %u: reserved must be 0", i + 1);
		if (f->first > f->last)
			return fail(EINVAL, "filter %u ends at %#" PRIx64 ", before it begins at %#" PRIx64,
				    i + 1, (uint64_t)f->last, (uint64_t)f->first);
		for (unsigned int k = 0; k < i; k++)
			if (filters_overlap(&filters[k], f))
				return fail(EINVAL, "filters %u (%#" PRIx64 " to %#" PRIx64 ") and %u (%#" PRIx64 " to %#" PRIx64 ") overlap: make one of them, or take the common part out of one",
					    k + 1, (uint64_t)filters[k].first, (uint64_t)filters[k].last,
					    i + 1, (uint64_t)f->first, (uint64_t)f->last);
	}
	for (unsigned int i = 0; i < setup->nr_filters; i++) {
		const struct auxtrace_filter *f = &filters[i];

		/* With five levels of page tables more addresses are right: only the kernel knows. */
		if (!is_canonical(f->first) || !is_canonical(f->last))
			return fail(EINVAL, "filter %u: %#" PRIx64 " is not canonical, no code can be there", i + 1,
				    (uint64_t)(is_canonical(f->first) ? f->last : f->first));
	}
	return 0;
}

static int explain_invalid(const struct auxtrace_info *info, const struct auxtrace_setup *setup,
			   const struct auxtrace_cpus *cpus)
{
	uint64_t page = info->out_page_size;

	if (setup->flags & ~AUXTRACE_SETUP_ALL)
		return fail(EINVAL, "unknown flags %#x", setup->flags & ~AUXTRACE_SETUP_ALL);
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if ((unsigned int)c >= info->out_nr_cpu_ids)
			return fail(EINVAL, "there is no CPU %d: the highest possible one is %u", c,
				    info->out_nr_cpu_ids - 1);
	if (setup->aux_size < 2 * page || !is_power_of_two(setup->aux_size))
		return fail(EINVAL, "a size of %" PRIu64 " bytes is not possible: it must be a power of two and at least %" PRIu64,
			    (uint64_t)setup->aux_size, 2 * page);
	if (setup->aux_watermark && setup->flags & AUXTRACE_SETUP_OVERWRITE)
		return fail(EINVAL, "an overwrite session has no watermark: it must be 0");
	if (setup->aux_watermark % page || setup->aux_watermark >= setup->aux_size)
		return fail(EINVAL, "a watermark of %" PRIu64 " bytes is not possible: it must be a multiple of %" PRIu64 " and less than the size, %" PRIu64,
			    (uint64_t)setup->aux_watermark, page, (uint64_t)setup->aux_size);
	if (explain_full(setup) || explain_data(setup, page) || explain_slots(setup, page) ||
	    explain_scope(setup) || explain_filters(setup))
		return -1;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", c);
		if (access(path, F_OK))
			return fail(EINVAL, "there is no CPU %d", c);
	}
	return trace_pmu_of(setup->pmu)->explain_config(setup);
}

/* A PMU that this machine does not have: why, and which others it has. */
static int explain_absent(const struct auxtrace_session *s, const struct trace_pmu *absent)
{
	struct text others = { .len = 0 };

	for (unsigned int i = 0; trace_pmus[i]; i++)
		if (trace_pmus[i] != absent && trace_pmu_is_present(trace_pmus[i], &s->info))
			text_add(&others, "%s%s (%s)", others.len ? ", " : "; it has ",
				 trace_pmus[i]->name, trace_pmus[i]->macro);
	return fail(ENODEV, "%s%s", absent->absent(capability_pmu_state(s, absent->pmu)), others.buf);
}

static int explain_unknown(uint32_t pmu)
{
	struct text known = { .len = 0 };

	for (unsigned int i = 0; trace_pmus[i]; i++)
		text_add(&known, "%s%s is %u", i ? ", " : "", trace_pmus[i]->name, trace_pmus[i]->pmu);
	return fail(ENODEV, "there is no trace PMU number %u; %s", pmu, known.buf);
}

static int explain_nodev(const struct auxtrace_session *s, const struct auxtrace_setup *setup,
			 const struct auxtrace_cpus *cpus)
{
	const struct trace_pmu *pmu = trace_pmu_of(setup->pmu);
	struct auxtrace_cpus *online;
	struct text offline = { .len = 0 };

	if (!pmu)
		return explain_unknown(setup->pmu);
	if (!trace_pmu_is_present(pmu, &s->info))
		return explain_absent(s, pmu);
	online = auxtrace_cpus_online();
	if (!online)
		return fail(ENODEV, "a CPU of the session is offline");
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if (!auxtrace_cpus_has(online, c))
			text_add(&offline, "%s%d", offline.len ? ", " : "", c);
	auxtrace_cpus_free(online);
	return fail(ENODEV, "offline: CPU %s; bring it online or leave it out",
		    offline.len ? offline.buf : "(it is online again)");
}

static int explain_nomem(const struct auxtrace_info *info, const struct auxtrace_setup *setup,
			 const struct auxtrace_cpus *cpus)
{
	uint64_t each = setup->aux_size + setup->data_size + 2ULL * info->out_page_size;
	uint64_t need = each * auxtrace_cpus_count(cpus);
	struct rlimit limit;

	if (info->out_may & AUXTRACE_MAY_LOCK || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return fail(ENOMEM, "the kernel has no memory for %u channels of %" PRIu64 " bytes, or the memory cgroup's limit is less",
			    auxtrace_cpus_count(cpus), each);
	return fail(ENOMEM, "%" PRIu64 " KiB of locked memory are needed (%u CPUs of %" PRIu64 " KiB), the limit is %" PRIu64 " KiB for all that this user locks: raise it (ulimit -l), take less, or have CAP_IPC_LOCK",
		    need >> 10, auxtrace_cpus_count(cpus), each >> 10, (uint64_t)limit.rlim_cur >> 10);
}

#define PARAMETER "/sys/module/auxtrace/parameters/unprivileged"

/* Without a capability. The kernel allows what <linux/auxtrace.h> lists; what of that is not so? */
static int explain_access(const struct auxtrace_info *info, const struct auxtrace_setup *setup)
{
	static const char only[] = "without CAP_PERFMON and CAP_SYS_ADMIN only user code of own processes can be traced";

	if (info->out_may & AUXTRACE_MAY_TRACE || !(info->out_may & AUXTRACE_MAY_TRACE_OWN))
		return fail(EACCES, "tracing needs CAP_PERFMON or CAP_SYS_ADMIN. The administrator can allow users to trace their own processes: the number in " PARAMETER " is 0");
	if (setup->flags & AUXTRACE_SETUP_KERNEL)
		return fail(EACCES, "%s: leave out KERNEL", only);
	if (!(setup->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS)))
		return fail(EACCES, "%s, not all that a CPU runs: choose THREAD or PROCESS", only);
	return fail(EACCES, "%s: process %u is another user's, has more rights than the caller, runs a program that the caller cannot read, or has forbidden to be debugged (PR_SET_DUMPABLE)",
		    only, setup->tid);
}

int explain_setup(const struct auxtrace_session *session, const struct auxtrace_setup *setup,
		  const struct auxtrace_cpus *cpus, int err)
{
	const struct auxtrace_info *info = &session->info;

	switch (err) {
	case EINVAL:
		return explain_invalid(info, setup, cpus);
	case EOPNOTSUPP:
		return trace_pmu_of(setup->pmu)->explain_unsupported(session, setup);
	case ENODEV:
		return explain_nodev(session, setup, cpus);
	case ENOMEM:
		return explain_nomem(info, setup, cpus);
	case EACCES:
		return explain_access(info, setup);
	case EUSERS:
		return fail(err, "users without CAP_PERFMON and CAP_SYS_ADMIN have as many sessions as the administrator allows: the number in " PARAMETER);
	case ESRCH:
		return fail(err, "there is no thread %u (any more)", setup->tid);
	case ENXIO:
		if (setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE)
			return fail(err, "thread %u has no page tables of its own: it is a kernel thread, or has exited", setup->tid);
		return fail(err, "thread %u is a kernel thread and runs no user code: trace the kernel, too",
			    setup->tid);
	case E2BIG:
		return fail(err, "this module has no %s: it is older than the library",
			    setup->nr_filters ? "filters" : "task scope");
	case EEXIST:
		return fail(err, "this file is a session already: open another one");
	}
	return fail(err, "SETUP failed: %s", strerror(err));
}
