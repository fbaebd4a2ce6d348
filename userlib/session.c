// SPDX-License-Identifier: LGPL-2.1-or-later
/* A session: open, setup with all mappings, close. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"
#include "trace_pmu.h"

#define DEFAULT_AUX_SIZE	(4u << 20)

static int handshake(struct auxtrace_session *s, const char *path)
{
	if (auxtrace_info(s, 0, &s->info)) {
		if (errno == ENOTTY)
			return fail(ENOTTY, "%s is not the auxtrace device", path);
		return -1;
	}
	if (s->info.out_abi_version != AUXTRACE_ABI_VERSION)
		return fail(EPROTO, "the module has ABI version %u, this library %u: install both from one release",
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
	s->fd = device_open(path);
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
	free(s->filters);
	triggers_free(s);
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
	info->caps = (uintptr_t)s->caps;
	info->caps_len = sizeof(s->caps);
	s->caps_len = 0;
	if (device_ioctl(s->fd, AUXTRACE_IOC_INFO, info)) {
		if (errno == EACCES)
			return fail(EACCES, "INFO with PROBE needs CAP_PERFMON or CAP_SYS_ADMIN");
		return fail(errno, "INFO failed: %s", strerror(errno));
	}
	/* Another version may differ in all that follows. */
	if (info->out_abi_version != AUXTRACE_ABI_VERSION)
		return 0;
	if (!info->out_page_size || info->out_page_size & (info->out_page_size - 1))
		return fail(EBADE, "the module reports a page size of %u bytes", info->out_page_size);
	s->caps_len = info->out_caps_len;
	/* If there are more, AUXTRACE_CAP_END is behind the last one that fitted. */
	if (s->caps_len > sizeof(s->caps))
		s->caps_len = sizeof(s->caps);
	return capabilities_check(s);
}

AUXTRACE_API uint64_t auxtrace_default_config(const struct auxtrace_session *s)
{
	struct auxtrace_cap_intel_pt pt;

	capability_get(s, AUXTRACE_CAP_INTEL_PT, &pt, sizeof(pt));
	return config_default(&pt);
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

/*
 * The size of an area that is not given. A user without privilege gets what the limit of locked memory
 * leaves, with some pages for what the kernel needs beside: 8 MiB are a usual limit for all CPUs.
 */
static uint64_t default_aux_size(const struct auxtrace_session *s, const struct auxtrace_options *o,
				 const struct auxtrace_cpus *cpus)
{
	uint64_t size = DEFAULT_AUX_SIZE, page = s->info.out_page_size, least = 2 * page;
	struct rlimit limit;

	if (o->slots > 1)
		least *= o->slots;
	if (!session_is_own_only(s) || s->info.out_may & AUXTRACE_MAY_LOCK ||
	    getrlimit(RLIMIT_MEMLOCK, &limit))
		return size;
	while (size > least && (size + o->data_size + 16 * page) * auxtrace_cpus_count(cpus) > limit.rlim_cur)
		size /= 2;
	return size;
}

static int options_to_uapi(const struct auxtrace_session *s, const struct auxtrace_options *o,
			   const struct auxtrace_cpus *cpus, struct auxtrace_setup *setup)
{
	const struct trace_pmu *pmu = trace_pmu_of(o->pmu);
	uint64_t config;

	memset(setup, 0, sizeof(*setup));
	setup->size = sizeof(*setup);
	setup->flags = o->flags;
	if (!(o->flags & (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)))
		setup->flags |= AUXTRACE_SETUP_USER |
				(session_is_own_only(s) ? 0 : AUXTRACE_SETUP_KERNEL);
	setup->pmu = o->pmu;
	setup->cpus = (uintptr_t)cpus->mask;
	setup->cpus_len = cpus->len;
	if (!pmu)
		return explain_setup(s, setup, cpus, ENODEV);
	if (pmu->parse_config(s, o->config, &config))
		return -1;
	setup->config = config;
	setup->aux_size = o->aux_size ?: default_aux_size(s, o, cpus);
	setup->aux_watermark = o->aux_watermark;
	setup->data_size = o->data_size;
	setup->data_watermark = o->data_watermark;
	setup->records = o->records;
	setup->slots = o->slots;
	setup->tid = o->tid;
	setup->filters = (uintptr_t)o->filters;
	setup->nr_filters = o->nr_filters;
	setup->filter_size = o->nr_filters ? sizeof(*o->filters) : 0;
	return 0;
}

/* A caller that was built against an older header has a struct that ends earlier. */
static int take_options(const struct auxtrace_options *given, struct auxtrace_options *o)
{
	if (given->size != sizeof(*o) && given->size != offsetof(struct auxtrace_options, data_size) &&
	    given->size != offsetof(struct auxtrace_options, filters))
		return fail(EINVAL, "struct auxtrace_options has %zu bytes here, the caller says %zu: set its size member",
			    sizeof(*o), given->size);
	memset(o, 0, sizeof(*o));
	memcpy(o, given, given->size);
	return 0;
}

/* The caller's filters may be gone when the recording names them. */
static int keep_filters(struct auxtrace_session *s, const struct auxtrace_options *o)
{
	size_t size = o->nr_filters * sizeof(*o->filters);

	if (!size)
		return 0;
	s->filters = malloc(size);
	if (!s->filters)
		return fail(ENOMEM, "no memory for %u filters", o->nr_filters);
	memcpy(s->filters, o->filters, size);
	s->setup.filters = (uintptr_t)s->filters;
	return 0;
}

/* If @o names a process by a pidfd, name it by its number. *@pidfd: that, or -1. */
static int take_pidfd(struct auxtrace_options *o, int *pidfd)
{
	int number;

	*pidfd = -1;
	if (!(o->flags & AUXTRACE_SETUP_PIDFD))
		return 0;
	number = pidfd_number(o->tid);
	if (number < 0)
		return -1;
	*pidfd = o->tid;
	o->tid = number;
	o->flags &= ~AUXTRACE_SETUP_PIDFD;
	return 0;
}

AUXTRACE_API int auxtrace_setup(struct auxtrace_session *s, const struct auxtrace_options *given)
{
	struct auxtrace_options options, *o = &options;
	struct auxtrace_setup setup;
	struct auxtrace_cpus *cpus;
	int err, pidfd;

	if (take_options(given, o))
		return -1;
	if (o->reserved || o->reserved_filters)
		return fail(EINVAL, "struct auxtrace_options: reserved must be 0");
	if (take_pidfd(o, &pidfd))
		return -1;
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
		/* Then it may have been about another process, which has the number now. */
		if (pidfd >= 0 && pidfd_is_alive(pidfd))
			err = errno;
		goto free_cpus;
	}
	s->setup = setup;
	s->cpus = cpus;
	/* Else the number may be another process's by now. */
	if (pidfd >= 0 && pidfd_is_alive(pidfd))
		return -1;
	if (keep_filters(s, o))
		return -1;
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
