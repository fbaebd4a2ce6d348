// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

#define DEFAULT_AUX_SIZE	(4u << 20)
#define DEFAULT_CONFIG		"tsc,mtc,mtc_period=3,psb_period=3"

int device_ioctl(int fd, unsigned long nr, void *arg)
{
	int ret;

	do
		ret = ioctl(fd, nr, arg);
	while (ret == -1 && errno == EINTR);
	if (ret > 0) {
		/* No ioctl of this device returns more than 0. */
		errno = EBADE;
		return -1;
	}
	return ret;
}

static int open_device(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		switch (errno) {
		case ENOENT:
			return fail(ENOENT, "there is no %s: the module is not loaded (modprobe auxtrace, or dkms install it first)",
				    path);
		case EACCES:
		case EPERM:
			return fail(errno, "no permission to open %s: it is root's, or its group's by a udev rule",
				    path);
		}
		return fail(errno, "cannot open %s: %s", path, strerror(errno));
	}
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode)) {
		close(fd);
		return fail(ENOTTY, "%s is not a character device", path);
	}
	return fd;
}

static int handshake(struct auxtrace_session *s, const char *path)
{
	if (auxtrace_info(s, 0, &s->info)) {
		if (errno == ENOTTY)
			return fail(ENOTTY, "%s is not the auxtrace device", path);
		return -1;
	}
	if (s->info.out_abi_version != AUXTRACE_ABI_VERSION)
		return fail(EPROTO, "the module speaks ABI version %u, this library %u: take both from one release",
			    s->info.out_abi_version, AUXTRACE_ABI_VERSION);
	return 0;
}

AUXTRACE_API struct auxtrace_session *auxtrace_open(const char *path)
{
	struct auxtrace_session *s = calloc(1, sizeof(*s));

	if (!s) {
		fail(ENOMEM, "no memory for a session");
		return NULL;
	}
	if (!path)
		path = AUXTRACE_DEVICE;
	s->fd = open_device(path);
	if (s->fd < 0 || handshake(s, path)) {
		int err = errno;

		auxtrace_close(s);
		errno = err;
		return NULL;
	}
	return s;
}

static void unmap(const void *p, size_t size)
{
	if (p)
		munmap((void *)p, size);
}

AUXTRACE_API void auxtrace_close(struct auxtrace_session *s)
{
	if (!s)
		return;
	for (unsigned int i = 0; i < s->nr_readers; i++) {
		struct auxtrace_reader *r = &s->readers[i];

		unmap(r->status, s->info.out_page_size);
		unmap(r->user, s->info.out_page_size);
		unmap(r->aux, s->setup.aux_size);
		unmap(r->data, s->setup.data_size);
		free(r->record);
	}
	free(s->readers);
	free_triggers(s);
	auxtrace_cpus_free(s->cpus);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

AUXTRACE_API int auxtrace_fd(const struct auxtrace_session *s)
{
	return s->fd;
}

AUXTRACE_API int auxtrace_info(struct auxtrace_session *s, uint32_t flags,
			       struct auxtrace_info *info)
{
	memset(info, 0, sizeof(*info));
	info->size = sizeof(*info);
	info->flags = flags;
	if (device_ioctl(s->fd, AUXTRACE_IOC_INFO, info))
		return fail(errno, "INFO failed: %s", strerror(errno));
	if (!info->out_page_size || info->out_page_size & (info->out_page_size - 1))
		return fail(EBADE, "the module says that a page has %u bytes", info->out_page_size);
	return 0;
}

AUXTRACE_API uint64_t auxtrace_default_config(const struct auxtrace_session *s)
{
	uint64_t config = 0;

	auxtrace_config_parse(DEFAULT_CONFIG, &config);
	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];
		uint64_t value = (config & CONFIG_TERM_MASK(t)) >> t->shift;

		if (!value)
			continue;
		if (CONFIG_TERM_MASK(t) & ~s->info.out_pt_config ||
		    (t->values && !(t->values(&s->info) >> value & 1)))
			config &= ~CONFIG_TERM_MASK(t);
	}
	return config;
}

static const void *map_region(const struct auxtrace_session *s, unsigned int cpu,
			      unsigned int region, size_t size, int prot)
{
	static const char *const names[] = { "status page", "user page", "AUX area", "data ring" };
	void *p = mmap(NULL, size, prot, MAP_SHARED, s->fd, AUXTRACE_MMAP_OFFSET(cpu, region));

	if (p != MAP_FAILED)
		return p;
	fail(errno, "cannot map the %s of CPU %u: %s", names[region], cpu, strerror(errno));
	return NULL;
}

static int map_channels(struct auxtrace_session *s)
{
	size_t page = s->info.out_page_size;

	s->readers = calloc(auxtrace_cpus_count(s->cpus), sizeof(*s->readers));
	if (!s->readers)
		return fail(ENOMEM, "no memory for %u readers", auxtrace_cpus_count(s->cpus));
	for (int c = auxtrace_cpus_next(s->cpus, 0); c >= 0; c = auxtrace_cpus_next(s->cpus, c + 1)) {
		struct auxtrace_reader *r = &s->readers[s->nr_readers++];

		r->session = s;
		r->cpu = c;
		r->status = map_region(s, c, AUXTRACE_REGION_STATUS, page, PROT_READ);
		if (!r->status)
			return -1;
		r->user = (void *)map_region(s, c, AUXTRACE_REGION_USER, page, PROT_READ | PROT_WRITE);
		if (!r->user)
			return -1;
		r->aux = map_region(s, c, AUXTRACE_REGION_AUX, s->setup.aux_size, PROT_READ);
		if (!r->aux)
			return -1;
		if (!s->setup.data_size)
			continue;
		r->data = map_region(s, c, AUXTRACE_REGION_DATA, s->setup.data_size, PROT_READ);
		if (!r->data)
			return -1;
	}
	return 0;
}

static int options_to_uapi(const struct auxtrace_session *s, const struct auxtrace_options *o,
			   const struct auxtrace_cpus *cpus, struct auxtrace_setup *setup)
{
	memset(setup, 0, sizeof(*setup));
	setup->size = sizeof(*setup);
	setup->flags = o->flags;
	if (!(o->flags & (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)))
		setup->flags |= AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER;
	setup->pmu = o->pmu;
	setup->cpus = (uintptr_t)cpus->mask;
	setup->cpus_len = cpus->len;
	if (o->pmu == AUXTRACE_PMU_INTEL_BTS) {
		if (o->config && *o->config)
			return fail(EINVAL, "config \"%s\": BTS has nothing to choose, each of its records is a branch with its addresses: leave config out",
				    o->config);
	} else if (!o->config) {
		setup->config = auxtrace_default_config(s);
	} else if (auxtrace_config_parse(o->config, (uint64_t *)&setup->config)) {
		return -1;
	}
	setup->aux_size = o->aux_size ?: DEFAULT_AUX_SIZE;
	setup->aux_watermark = o->aux_watermark;
	setup->data_size = o->data_size;
	setup->data_watermark = o->data_watermark;
	setup->records = o->records;
	setup->slots = o->slots;
	return 0;
}

/* The caller may have been built when the struct ended before data_size. */
static int take_options(const struct auxtrace_options *given, struct auxtrace_options *o)
{
	if (given->size != sizeof(*o) && given->size != offsetof(struct auxtrace_options, data_size))
		return fail(EINVAL, "struct auxtrace_options has %zu bytes here, the caller says %zu: set its size member",
			    sizeof(*o), given->size);
	memset(o, 0, sizeof(*o));
	memcpy(o, given, given->size);
	return 0;
}

AUXTRACE_API int auxtrace_setup(struct auxtrace_session *s, const struct auxtrace_options *given)
{
	struct auxtrace_options options, *o = &options;
	struct auxtrace_setup setup;
	struct auxtrace_cpus *cpus;
	int err;

	if (take_options(given, o))
		return -1;
	if (o->reserved)
		return fail(EINVAL, "struct auxtrace_options: reserved must be 0");
	cpus = o->cpus ? auxtrace_cpus_parse(o->cpus) : auxtrace_cpus_online();
	if (!cpus)
		return -1;
	if (options_to_uapi(s, o, cpus, &setup)) {
		err = errno;
		goto free_cpus;
	}
	if (device_ioctl(s->fd, AUXTRACE_IOC_SETUP, &setup)) {
		err = errno;
		explain_setup(s, &setup, cpus, err);
		goto free_cpus;
	}
	s->setup = setup;
	s->cpus = cpus;
	return map_channels(s);

free_cpus:
	auxtrace_cpus_free(cpus);
	errno = err;
	return -1;
}

AUXTRACE_API const struct auxtrace_setup *auxtrace_setup_info(const struct auxtrace_session *s)
{
	return s->setup.size ? &s->setup : NULL;
}

AUXTRACE_API const struct auxtrace_cpus *auxtrace_cpus(const struct auxtrace_session *s)
{
	return s->cpus;
}

static bool is_bts(const struct auxtrace_session *s)
{
	return s->setup.pmu == AUXTRACE_PMU_INTEL_BTS;
}

static int explain_busy(const struct auxtrace_session *s)
{
	if (is_bts(s))
		return fail(EBUSY, "somebody else holds BTS, or what excludes it, on a CPU of the session: perf as a rule (perf record -e intel_bts//, or by last branch records as with -b), or, where the CPU cannot have both, Intel PT (perf record -e intel_pt//, a session of auxtrace); end it and START again");
	return fail(EBUSY, "somebody else holds Intel PT on a CPU of the session: perf as a rule (perf record -e intel_pt//), or firmware, or, where the CPU cannot have both, BTS or last branch records (perf record -b); end it and START again");
}

static int start_or_stop(struct auxtrace_session *s, unsigned long nr, const char *name)
{
	struct auxtrace_start arg = { .size = sizeof(arg) };

	if (!device_ioctl(s->fd, nr, &arg))
		return 0;
	switch (errno) {
	case EBUSY:
		return explain_busy(s);
	case EIO:
		if (is_bts(s))
			return fail(EIO, "perf's debug store is not where IA32_DS_AREA points to on a CPU of the session: somebody has moved it, so that BTS would write elsewhere");
		break;
	case ENODEV:
		return fail(ENODEV, "a CPU of the session is offline");
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

/* An EINVAL for a set of CPUs: which one is not the session's? 0 if that is not why. */
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
		   struct auxtrace_effect *effects, unsigned int room)
{
	const char *name = nr == AUXTRACE_IOC_PAUSE ? "PAUSE" : "RESUME";
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus = cpus ? (uintptr_t)cpus->mask : 0,
		.cpus_len = cpus ? cpus->len : 0,
		.effects = (uintptr_t)effects,
		.effects_len = effects ? room : 0,
	};

	if (!device_ioctl(s->fd, nr, &arg))
		return arg.out_count;
	if (errno == EBADFD)
		return fail(EBADFD, "%s of a session that is not started", name);
	if (errno == EINVAL && explain_cpus(s, cpus, name))
		return -1;
	return fail(errno, "%s failed: %s", name, strerror(errno));
}

AUXTRACE_API int auxtrace_pause_cpus(struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
				     struct auxtrace_effect *effects, unsigned int room)
{
	return control(s, AUXTRACE_IOC_PAUSE, cpus, effects, room);
}

AUXTRACE_API int auxtrace_resume_cpus(struct auxtrace_session *s, const struct auxtrace_cpus *cpus,
				      struct auxtrace_effect *effects, unsigned int room)
{
	return control(s, AUXTRACE_IOC_RESUME, cpus, effects, room);
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
		return fail(EBADFD, s->setup.size ? "SNAPSHOT that pauses or changes the slot, of a session that is not started" :
			    "SNAPSHOT before setup");
	case ENOSPC:
		return fail(ENOSPC, "each of the %u slots but the present one holds a snapshot: release one, or set up more slots",
			    session_slots(s));
	case EINVAL:
		if (flags & ~AUXTRACE_SNAPSHOT_ALL)
			return fail(EINVAL, "SNAPSHOT: unknown flags %#x", flags & ~AUXTRACE_SNAPSHOT_ALL);
		if (flags == AUXTRACE_SNAPSHOT_ALL)
			return fail(EINVAL, "SNAPSHOT either stays paused or goes on in another slot, not both");
		if (flags & AUXTRACE_SNAPSHOT_SLOT && session_slots(s) == 1)
			return fail(EINVAL, "SNAPSHOT: the session has no slots to go on in: set up an overwrite session with slots of 2 or more");
	}
	return fail(errno, "SNAPSHOT failed: %s", strerror(errno));
}

AUXTRACE_API int auxtrace_snapshot(struct auxtrace_session *s, uint32_t flags,
				   struct auxtrace_cut *cuts, unsigned int room, uint32_t *slot)
{
	struct auxtrace_snapshot arg = {
		.size = sizeof(arg),
		.flags = flags,
		.cuts = (uintptr_t)cuts,
		.cuts_len = cuts ? room : 0,
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
		return fail(EACCES, "the address space of process %d may be asked for with CAP_PERFMON or CAP_SYS_ADMIN", pid);
	}
	return fail(errno, "TASK of process %d failed: %s", pid, strerror(errno));
}
