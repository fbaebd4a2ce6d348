// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <auxtrace.h>

#include "lib/findings.h"
#include "machine.h"
#include "module_load.h"
#include "source/source.h"
#include "userlib/lockdown.h"

static void find_kernel(void)
{
	struct utsname uts;
	char path[64];

	if (!uname(&uts))
		finding_add(NULL, "kernel", NOTE, "%s", uts.release);
	/* Where it is known, the findings that it changes tell it. */
	if (!lockdown_is_known())
		finding_add(NULL, "lockdown", NOTE, "unknown, as no securityfs is mounted on " SECURITYFS ": a kernel that is locked down takes only modules signed by a key that it trusts, and may close /proc/kcore");
	for (unsigned int i = 0; sources[i]; i++) {
		const char *pmu = sources[i]->perf_pmu;

		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", pmu);
		if (!access(path, F_OK))
			finding_add(NULL, "perf", NOTE, "the kernel has its own %s PMU; while one of it and auxtrace traces, the other cannot",
				    pmu);
		else
			finding_add(NULL, "perf", NOTE, "the kernel has no %s PMU of its own", pmu);
	}
}

static bool has_cap(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return caps && !cap_get_flag(caps, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

#define PARAMETER "/sys/module/auxtrace/parameters/unprivileged"

/* What the device says of a caller without the capability to trace; without the device, that it is missing. */
static void find_own_only(const struct auxtrace_info *info)
{
	if (info && info->out_may & AUXTRACE_MAY_TRACE_OWN)
		finding_add(NULL, "capability", YES, "user code of own processes can be traced: the administrator allows it without CAP_PERFMON and CAP_SYS_ADMIN; not the kernel, not other processes, and no --on");
	else
		finding_add(NULL, "capability", NO, "missing: CAP_PERFMON or CAP_SYS_ADMIN (effective set), to trace. The administrator can allow users to trace their own processes, by a number in " PARAMETER);
}

/* Without the first capability tracing is limited or impossible; without the others it is limited. */
static void find_caps(const struct auxtrace_info *info)
{
	cap_t caps = cap_get_proc();
	struct rlimit limit;

	if (has_cap(caps, CAP_PERFMON) || has_cap(caps, CAP_SYS_ADMIN))
		finding_add(NULL, "capability", YES, "tracing is allowed: effective %s",
		      has_cap(caps, CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
	else
		find_own_only(info);
	if (lockdown_closes_kcore())
		finding_add(NULL, "kernel code", NOTE, "cannot be recorded: the kernel is locked down in confidentiality mode, which closes /proc/kcore; kernel flow can be traced, but not decoded");
	else if (has_cap(caps, CAP_SYS_RAWIO) && has_cap(caps, CAP_SYSLOG))
		finding_add(NULL, "kernel code", YES, "can be recorded: CAP_SYS_RAWIO for /proc/kcore, CAP_SYSLOG for its addresses");
	else
		finding_add(NULL, "kernel code", NOTE, "cannot be recorded: missing%s%s; kernel flow can be traced, but not decoded",
		      has_cap(caps, CAP_SYS_RAWIO) ? "" : " CAP_SYS_RAWIO (/proc/kcore)",
		      has_cap(caps, CAP_SYSLOG) ? "" : " CAP_SYSLOG (addresses in /proc/kallsyms)");
	if (has_cap(caps, CAP_IPC_LOCK))
		finding_add(NULL, "locked memory", YES, "no limit: effective CAP_IPC_LOCK");
	else if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		finding_add(NULL, "locked memory", YES, "no limit");
	else
		finding_add(NULL, "locked memory", NOTE, "all AUX areas together, %" PRIu64 " KiB at most (ulimit -l); CAP_IPC_LOCK lifts that",
		      (uint64_t)limit.rlim_cur >> 10);
	if (caps)
		cap_free(caps);
}

/* What a session takes from perf beyond its own CPUs. */
static void find_excluded(const struct source *source, uint32_t excludes)
{
	char all[128] = "";

	if (excludes & AUXTRACE_EXCLUDES_TASK_EVENTS)
		strcat(all, ", events of its PMU that follow a task");
	if (excludes & AUXTRACE_EXCLUDES_LBR)
		strcat(all, ", last branch records (perf record -b)");
	if (excludes & AUXTRACE_EXCLUDES_PT_BTS)
		strcat(all, ", the other one of Intel PT and BTS");
	if (!all[0])
		return;
	finding_add(source, source->name, NOTE, "while a session is started, on whatever CPUs, perf gets EBUSY on the whole machine for %s; while perf uses any of these, no session starts", all + strlen(", "));
}

static void find_source(const struct auxtrace_session *session, const struct source *source,
			const struct auxtrace_info *info)
{
	struct auxtrace_cap_pmu cap;

	if (auxtrace_capability(session, AUXTRACE_CAP_PMU(source->pmu), &cap, sizeof(cap))) {
		finding_add(source, source->name, NO, "the module does not know it: it is older than this command");
		return;
	}
	source->find_state(session, info, cap.state);
	find_excluded(source, cap.excludes);
}

static void find_device(void)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;

	if (!session) {
		bool loaded = !access("/sys/module/auxtrace", F_OK);

		find_caps(NULL);
		finding_add(NULL, "device", NO, "%s%s", auxtrace_error(), loaded ? " (although the module is loaded)" : "");
		if (!loaded)
			find_module();
		return;
	}
	find_caps(auxtrace_info(session, 0, &info) ? NULL : &info);
	finding_add(NULL, "device", YES, AUXTRACE_DEVICE ", ABI version %u", AUXTRACE_ABI_VERSION);
	if (auxtrace_info(session, AUXTRACE_INFO_PROBE, &info) &&
	    (errno != EACCES || auxtrace_info(session, 0, &info))) {
		finding_add(NULL, "device", NO, "%s", auxtrace_error());
		auxtrace_close(session);
		return;
	}
	for (unsigned int i = 0; sources[i]; i++)
		find_source(session, sources[i], &info);
	auxtrace_close(session);
}

/* Can sessions use any of the sources? */
static bool usable_source(void)
{
	for (unsigned int i = 0; sources[i]; i++)
		if (findings_allow(sources[i]))
			return true;
	return false;
}

void machine_find(void)
{
	for (unsigned int i = 0; sources[i]; i++)
		sources[i]->find_cpu();
	find_kernel();
	find_device();
}

bool machine_usable(void)
{
	return findings_allow(NULL) && usable_source();
}
