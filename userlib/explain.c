// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Why a SETUP was refused. The device says by its errno what kind of refusal it
 * is; here the reason is looked for among those that the contract gives for it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "internal.h"

struct text {
	char buf[512];
	size_t len;
};

static void __attribute__((format(printf, 2, 3))) add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, format, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
	if (t->len >= sizeof(t->buf))
		t->len = sizeof(t->buf) - 1;
}

static uint64_t value_of(const struct config_term *term, uint64_t config)
{
	return (config & CONFIG_TERM_MASK(term)) >> term->shift;
}

/*
 * Does the CPU have the value? A period counts as soon as its packet is on, 0
 * too; psb_period=0 is what a CPU does that cannot choose.
 */
static bool has_value(const struct config_term *term, const struct auxtrace_info *info,
		      uint64_t config)
{
	uint64_t value = value_of(term, config);

	if (!value && !(term->values && term->needs && config & term->needs))
		return true;
	if (value && CONFIG_TERM_MASK(term) & ~info->out_pt_config)
		return false;
	return !term->values || term->values(info) >> value & 1;
}

static int explain_unsupported(const struct auxtrace_info *info, const struct auxtrace_setup *setup)
{
	struct text what = { .len = 0 };
	uint64_t config = setup->config;

	if (setup->pmu == AUXTRACE_PMU_INTEL_BTS)
		return fail(EOPNOTSUPP, "flags: BTS of this CPU records kernel and user code together only (CPUID.1:ECX[4], DS-CPL, is 0): set both KERNEL and USER");
	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];

		if (has_value(t, info, config))
			continue;
		add(&what, "%s%s", what.len ? ", " : "", t->name);
		if (!t->values)
			continue;
		add(&what, "=%" PRIu64 " (it has", value_of(t, config));
		for (unsigned int v = 0; v < 16; v++)
			if (t->values(info) >> v & 1)
				add(&what, " %u", v);
		add(&what, "%s)", t->values(info) ? "" : " none");
	}
	if (what.len)
		return fail(EOPNOTSUPP, "this CPU lacks %s", what.buf);
	return fail(EOPNOTSUPP, "this CPU lacks something of config %#" PRIx64 "; it may have bits of %#" PRIx64,
		    config, (uint64_t)info->out_pt_config);
}

static int explain_config(uint64_t config)
{
	uint64_t outside = config;

	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];

		outside &= ~CONFIG_TERM_MASK(t);
		if (value_of(t, config) && t->needs && !(config & t->needs))
			return fail(EINVAL, "%s is set without %s: add %s", t->name, t->needs_name,
				    t->needs_name);
	}
	if (outside)
		return fail(EINVAL, "config has bits outside the format: %#" PRIx64, outside);
	return fail(EINVAL, "this CPU cannot trace without branches (erratum BDM106): add branch");
}

static int explain_bts_config(uint64_t config)
{
	if (config)
		return fail(EINVAL, "config is %#" PRIx64 ": BTS has nothing to choose, it must be 0", config);
	return fail(EINVAL, "SETUP of BTS failed: %s", strerror(EINVAL));
}

static bool is_power_of_two(uint64_t n)
{
	return n && !(n & (n - 1));
}

/* 0: nothing is wrong with these. */
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
		return fail(EINVAL, "unknown kinds of records %#x: AUXTRACE_WANT_ALL is %#x",
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
	if (explain_full(setup) || explain_data(setup, page) || explain_slots(setup, page))
		return -1;
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1)) {
		char path[64];

		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", c);
		if (access(path, F_OK))
			return fail(EINVAL, "there is no CPU %d", c);
	}
	if (setup->pmu == AUXTRACE_PMU_INTEL_BTS)
		return explain_bts_config(setup->config);
	return explain_config(setup->config);
}

static int explain_no_pt(const struct auxtrace_info *info)
{
	const char *bts = info->out_pmus >> AUXTRACE_PMU_INTEL_BTS & 1 ?
			  "; it has BTS (AUXTRACE_PMU_INTEL_BTS)" : "";

	switch (info->out_pt) {
	case AUXTRACE_PT_NO_CPUID:
		return fail(ENODEV, "this CPU has no Intel PT (CPUID.7.0:EBX[25] is 0)%s", bts);
	case AUXTRACE_PT_NO_TOPA:
		return fail(ENODEV, "Intel PT of this CPU has no multi-entry ToPA output%s", bts);
	case AUXTRACE_PT_NO_PMI:
		return fail(ENODEV, "Intel PT needs an architectural PMU for its interrupt; this CPU has none%s", bts);
	}
	return fail(ENODEV, "this machine has no usable Intel PT%s", bts);
}

static int explain_no_bts(const struct auxtrace_info *info)
{
	switch (info->out_bts) {
	case AUXTRACE_BTS_NO_CPUID:
		return fail(ENODEV, "this CPU has no BTS in 64-bit format (CPUID.1:EDX[21], DS, or ECX[2], DTES64, is 0)");
	case AUXTRACE_BTS_DISABLED:
		return fail(ENODEV, "BTS is disabled by firmware or a hypervisor (IA32_MISC_ENABLE[11] is 1)");
	case AUXTRACE_BTS_NO_PMI:
		return fail(ENODEV, "BTS needs an architectural PMU for its interrupt; the kernel has none here");
	}
	return fail(ENODEV, "this machine has no usable BTS");
}

static int explain_nodev(const struct auxtrace_info *info, const struct auxtrace_setup *setup,
			 const struct auxtrace_cpus *cpus)
{
	struct auxtrace_cpus *online;
	struct text off = { .len = 0 };

	if (setup->pmu >= 32 || !(info->out_pmus >> setup->pmu & 1)) {
		if (setup->pmu == AUXTRACE_PMU_INTEL_PT)
			return explain_no_pt(info);
		if (setup->pmu == AUXTRACE_PMU_INTEL_BTS)
			return explain_no_bts(info);
		return fail(ENODEV, "there is no trace PMU number %u; Intel PT is %u, BTS %u", setup->pmu,
			    AUXTRACE_PMU_INTEL_PT, AUXTRACE_PMU_INTEL_BTS);
	}
	online = auxtrace_cpus_online();
	if (!online)
		return fail(ENODEV, "a CPU of the session is offline");
	for (int c = auxtrace_cpus_next(cpus, 0); c >= 0; c = auxtrace_cpus_next(cpus, c + 1))
		if (!auxtrace_cpus_has(online, c))
			add(&off, "%s%d", off.len ? ", " : "", c);
	auxtrace_cpus_free(online);
	return fail(ENODEV, "offline: CPU %s; bring it online or leave it out",
		    off.len ? off.buf : "(it is back by now)");
}

static int explain_nomem(const struct auxtrace_info *info, const struct auxtrace_setup *setup,
			 const struct auxtrace_cpus *cpus)
{
	uint64_t each = setup->aux_size + setup->data_size + 2ULL * info->out_page_size;
	uint64_t need = each * auxtrace_cpus_count(cpus);
	struct rlimit limit;

	if (info->out_may & AUXTRACE_MAY_LOCK || getrlimit(RLIMIT_MEMLOCK, &limit) ||
	    limit.rlim_cur == RLIM_INFINITY)
		return fail(ENOMEM, "the kernel has no memory for %u channels of %" PRIu64 " bytes",
			    auxtrace_cpus_count(cpus), each);
	return fail(ENOMEM, "%" PRIu64 " KiB of locked memory are needed (%u CPUs of %" PRIu64 " KiB), the limit is %" PRIu64 " KiB with what is locked already: raise it (ulimit -l), take less, or have CAP_IPC_LOCK",
		    need >> 10, auxtrace_cpus_count(cpus), each >> 10, (uint64_t)limit.rlim_cur >> 10);
}

int explain_setup(const struct auxtrace_session *session, const struct auxtrace_setup *setup,
		  const struct auxtrace_cpus *cpus, int err)
{
	const struct auxtrace_info *info = &session->info;

	switch (err) {
	case EINVAL:
		return explain_invalid(info, setup, cpus);
	case EOPNOTSUPP:
		return explain_unsupported(info, setup);
	case ENODEV:
		return explain_nodev(info, setup, cpus);
	case ENOMEM:
		return explain_nomem(info, setup, cpus);
	case EACCES:
		return fail(err, "tracing needs CAP_PERFMON or CAP_SYS_ADMIN");
	case EEXIST:
		return fail(err, "this file is a session already: open another one");
	}
	return fail(err, "SETUP failed: %s", strerror(err));
}
