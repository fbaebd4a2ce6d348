// SPDX-License-Identifier: LGPL-2.1-or-later
/* The ioctls of a session after SETUP: one call each, with messages for its errors. */
#include <errno.h>
#include <string.h>

#include "internal.h"
#include "module/core/known.h"
#include "trace_pmu.h"

static int start_or_stop(struct auxtrace_session *s, unsigned long nr, const char *name)
{
	const struct trace_pmu *pmu = trace_pmu_of(s->setup.pmu);
	struct auxtrace_start arg = { .size = sizeof(arg) };

	if (!device_ioctl(s->fd, nr, &arg))
		return 0;
	switch (errno) {
	case EBUSY:
		return fail(EBUSY, "%s", pmu->busy);
	case EIO:
		if (pmu->start_error)
			return fail(EIO, "%s", pmu->start_error);
		break;
	case ENODEV:
		return fail(ENODEV, "a CPU of the session is offline");
	case EACCES:
		return fail(EACCES, "%s needs CAP_PERFMON or CAP_SYS_ADMIN. A session that was set up without them can be started by the user who did that, while the administrator allows it",
			    name);
	case EBADFD:
		return fail(EBADFD, "%s before setup", name);
	case EALREADY:
		return fail(EALREADY, "the session is %s already",
			    nr == AUXTRACE_IOC_START ? "started" : "stopped");
	}
	return fail(errno, "%s failed: %s", name, strerror(errno));
}

AUXTRACE_API int auxtrace_start(struct auxtrace_session *s)
{
	return start_or_stop(s, AUXTRACE_IOC_START, "START");
}

AUXTRACE_API int auxtrace_stop(struct auxtrace_session *s)
{
	return start_or_stop(s, AUXTRACE_IOC_STOP, "STOP");
}

/* Name a CPU of @cpus that the session does not have. Returns 0 if there is none. */
static int explain_cpus(const struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
			const char *name)
{
	if (!cpus || !s->cpus)
		return 0;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if (!auxtrace_cpus_has(s->cpus, c))
			return fail(EINVAL, "%s of CPU %d, which is not the session's", name, c);
	return 0;
}

static int control(struct auxtrace_session *s, unsigned long nr, const struct auxtrace_cpus *cpus,
		   struct auxtrace_effect *effects, unsigned int max_effects)
{
	const char *name = nr == AUXTRACE_IOC_PAUSE ? "PAUSE" : "RESUME";
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus = cpus ? (uintptr_t)cpus->mask : 0,
		.cpus_len = cpus ? cpus->len : 0,
		.effects = (uintptr_t)effects,
		.effects_len = effects ? max_effects : 0,
		.effect_size = effects ? sizeof(*effects) : 0,
	};

	if (!device_ioctl(s->fd, nr, &arg))
		return auxtrace_cpus_count(cpus ?: s->cpus);
	if (errno == EBADFD)
		return fail(EBADFD, "%s of a session that is not started", name);
	if (errno == EINVAL && explain_cpus(s, cpus, name))
		return -1;
	return fail(errno, "%s failed: %s", name, strerror(errno));
}

AUXTRACE_API int auxtrace_pause_cpus(struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
				     struct auxtrace_effect *effects, unsigned int max_effects)
{
	return control(s, AUXTRACE_IOC_PAUSE, cpus, effects, max_effects);
}

AUXTRACE_API int auxtrace_resume_cpus(struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
				      struct auxtrace_effect *effects, unsigned int max_effects)
{
	return control(s, AUXTRACE_IOC_RESUME, cpus, effects, max_effects);
}

AUXTRACE_API int auxtrace_pause(struct auxtrace_session *s)
{
	return control(s, AUXTRACE_IOC_PAUSE, NULL, NULL, 0) < 0 ? -1 : 0;
}

AUXTRACE_API int auxtrace_resume(struct auxtrace_session *s)
{
	return control(s, AUXTRACE_IOC_RESUME, NULL, NULL, 0) < 0 ? -1 : 0;
}

AUXTRACE_API int auxtrace_pause_output(struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
				       bool pause)
{
	struct auxtrace_output arg = {
		.size = sizeof(arg),
		.cpus = cpus ? (uintptr_t)cpus->mask : 0,
		.cpus_len = cpus ? cpus->len : 0,
		.pause = pause,
	};

	if (!device_ioctl(s->fd, AUXTRACE_IOC_PAUSE_OUTPUT, &arg))
		return 0;
	if (errno == EBADFD)
		return fail(EBADFD, "PAUSE_OUTPUT before setup");
	if (errno == EINVAL && !s->setup.data_size)
		return fail(EINVAL, "the session has no data ring whose output could be paused: set data_size");
	if (errno == EINVAL && explain_cpus(s, cpus, "PAUSE_OUTPUT"))
		return -1;
	return fail(errno, "PAUSE_OUTPUT failed: %s", strerror(errno));
}

static int explain_snapshot(const struct auxtrace_session *s, uint32_t flags)
{
	switch (errno) {
	case EBADFD:
		return fail(EBADFD, s->setup.size ? "SNAPSHOT with PAUSE or SLOT of a session that is not started" :
			    "SNAPSHOT before setup");
	case ENOSPC:
		return fail(ENOSPC, "each of the %u slots but the current one holds a snapshot or a sample: release one, or set up more slots",
			    session_slots(s));
	case EINVAL:
		if (flags & ~AUXTRACE_SNAPSHOT_ALL)
			return fail(EINVAL, "SNAPSHOT: unknown flags %#x", flags & ~AUXTRACE_SNAPSHOT_ALL);
		if (flags == AUXTRACE_SNAPSHOT_ALL)
			return fail(EINVAL, "SNAPSHOT either stays paused (PAUSE) or continues in another slot (SLOT), not both");
		if (flags & AUXTRACE_SNAPSHOT_SLOT && session_slots(s) == 1)
			return fail(EINVAL, "SNAPSHOT: the session has no slots to continue in: set up an overwrite session with slots of 2 or more");
	}
	return fail(errno, "SNAPSHOT failed: %s", strerror(errno));
}

AUXTRACE_API int auxtrace_snapshot(struct auxtrace_session *s, uint32_t flags,
				   struct auxtrace_cut *cuts, unsigned int max_cuts, uint32_t *slot)
{
	struct auxtrace_snapshot arg = {
		.size = sizeof(arg),
		.flags = flags,
		.cuts = (uintptr_t)cuts,
		.cuts_len = cuts ? max_cuts : 0,
		.cut_size = cuts ? sizeof(*cuts) : 0,
	};

	if (device_ioctl(s->fd, AUXTRACE_IOC_SNAPSHOT, &arg))
		return explain_snapshot(s, flags);
	if (slot)
		*slot = arg.out_slot;
	return arg.out_count;
}

AUXTRACE_API int auxtrace_release(struct auxtrace_session *s, uint32_t slot)
{
	struct auxtrace_release arg = { .size = sizeof(arg), .slot = slot };

	if (!device_ioctl(s->fd, AUXTRACE_IOC_RELEASE, &arg))
		return 0;
	if (errno == EBADFD)
		return fail(EBADFD, "RELEASE before setup");
	if (errno == EINVAL && slot >= session_slots(s))
		return fail(EINVAL, "RELEASE of slot %u: the session has %u", slot, session_slots(s));
	if (errno == EINVAL)
		return fail(EINVAL, "RELEASE of slot %u, which holds no snapshot", slot);
	return fail(errno, "RELEASE failed: %s", strerror(errno));
}

AUXTRACE_API int auxtrace_release_sample(struct auxtrace_session *s, unsigned int cpu, uint32_t slot)
{
	struct auxtrace_release arg = {
		.size = sizeof(arg),
		.flags = AUXTRACE_RELEASE_SAMPLE,
		.slot = slot,
		.cpu = cpu,
	};

	if (!device_ioctl(s->fd, AUXTRACE_IOC_RELEASE, &arg))
		return 0;
	if (errno == EBADFD)
		return fail(EBADFD, "RELEASE before setup");
	if (errno == EINVAL)
		return fail(EINVAL, "RELEASE of slot %u, which holds no sample of CPU %u", slot, cpu);
	return fail(errno, "RELEASE failed: %s", strerror(errno));
}

AUXTRACE_API int auxtrace_status(struct auxtrace_session *s, uint32_t flags,
				 struct auxtrace_status *status)
{
	memset(status, 0, sizeof(*status));
	status->size = sizeof(*status);
	status->flags = flags;
	if (device_ioctl(s->fd, AUXTRACE_IOC_STATUS, status))
		return fail(errno, "STATUS failed: %s", strerror(errno));
	return 0;
}

AUXTRACE_API int auxtrace_task(struct auxtrace_session *s, pid_t pid, struct auxtrace_task *task)
{
	memset(task, 0, sizeof(*task));
	task->size = sizeof(*task);
	task->pid = pid;
	if (!device_ioctl(s->fd, AUXTRACE_IOC_TASK, task))
		return 0;
	switch (errno) {
	case ESRCH:
		return fail(ESRCH, "there is no process %d", pid);
	case ENXIO:
		return fail(ENXIO, "process %d has no address space: a kernel thread, or it has exited", pid);
	case EACCES:
		return fail(EACCES, "the address space of process %d can be read with CAP_PERFMON or CAP_SYS_ADMIN", pid);
	}
	return fail(errno, "TASK of process %d failed: %s", pid, strerror(errno));
}
