// SPDX-License-Identifier: GPL-2.0-or-later
/* Capability sets modelled on CPU generations (SDM, CPUID leaves 14H and 15H). */
#include <string.h>

#include "state.h"

static const struct ptm_profile profiles[] = {
	{
		.name = "skylake",
		.leaf14_0_ebx = CAP_CR3_FILTER | CAP_PSB_CYC | CAP_IP_FILTER | CAP_MTC,
		.leaf14_0_ecx = OUT_TOPA | OUT_TOPA_MULTI | OUT_SINGLE,	/* IPs, not LIPs */
		.leaf14_1_eax = 0x02490002,	/* MTC 0, 3, 6, 9; 2 ranges */
		.leaf14_1_ebx = 0x003f1fff,	/* PSB 2K to 64K; thresholds 0 to 12 */
		.features = PTM_F_BTS | PTM_F_DS_CPL,
		.perf_capabilities = PTM_FW_WRITE,
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.art_num = 84,
		.art_den = 2,
		.clock_stride = 16,
	},
	{
		.name = "broadwell",
		.leaf14_0_ebx = CAP_CR3_FILTER,
		.leaf14_0_ecx = OUT_TOPA,	/* single-entry tables */
		.features = PTM_F_BTS | PTM_F_DS_CPL,
		.perf_capabilities = PTM_FW_WRITE,
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.branch_en_required = true,	/* BDM106 */
		.clock_stride = 1,
	},
	{
		.name = "icelake",
		.leaf14_0_ebx = CAP_CR3_FILTER | CAP_PSB_CYC | CAP_IP_FILTER | CAP_MTC | CAP_PTWRITE,
		.leaf14_0_ecx = OUT_TOPA | OUT_TOPA_MULTI | OUT_SINGLE,
		.leaf14_1_eax = 0x02490004,	/* 4 ranges */
		.leaf14_1_ebx = 0x003f1fff,
		.features = PTM_F_BTS | PTM_F_DS_CPL,
		.perf_capabilities = PTM_FW_WRITE,
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.art_num = 84,
		.art_den = 2,
		.clock_stride = 16,
	},
	{
		.name = "gracemont",
		.leaf14_0_ebx = CAP_CR3_FILTER | CAP_PSB_CYC | CAP_IP_FILTER | CAP_MTC |
				CAP_PTWRITE | CAP_POWER | CAP_EVENT | CAP_DIS_TNT,
		.leaf14_0_ecx = OUT_TOPA | OUT_TOPA_MULTI | OUT_SINGLE,
		.leaf14_1_eax = 0x02490002,
		.leaf14_1_ebx = 0x003f1fff,
		.features = PTM_F_BTS | PTM_F_DS_CPL,
		.perf_capabilities = PTM_FW_WRITE,
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.art_num = 84,
		.art_den = 2,
		.clock_stride = 16,
	},
};

/* The capabilities that can be switched off, with the bits of each field that go with them. */
static const struct capability {
	const char *name;
	uint32_t ebx, ecx, ranges_mtc, cyc_psb, features;
	uint64_t perf;
} capabilities[] = {
	{ "cr3-filter", .ebx = CAP_CR3_FILTER },
	{ "psb-cyc", .ebx = CAP_PSB_CYC, .cyc_psb = ~0U },
	{ "ip-filter", .ebx = CAP_IP_FILTER, .ranges_mtc = 7 },
	{ "mtc", .ebx = CAP_MTC, .ranges_mtc = 0xffff0000 },
	{ "ptwrite", .ebx = CAP_PTWRITE },
	{ "power", .ebx = CAP_POWER },
	{ "event", .ebx = CAP_EVENT },
	{ "tnt-disable", .ebx = CAP_DIS_TNT },
	{ "topa", .ecx = OUT_TOPA },
	{ "topa-multi", .ecx = OUT_TOPA_MULTI },
	{ "single-range", .ecx = OUT_SINGLE },
	{ "bts", .features = PTM_F_BTS },
	{ "ds-cpl", .features = PTM_F_DS_CPL },
	{ "fw-write", .perf = PTM_FW_WRITE },
};
#define CAPABILITIES	(sizeof(capabilities) / sizeof(capabilities[0]))

const struct ptm_profile *ptm_profile_at(unsigned int index)
{
	return index < sizeof(profiles) / sizeof(profiles[0]) ? &profiles[index] : NULL;
}

const struct ptm_profile *ptm_profile_find(const char *name)
{
	for (unsigned int i = 0; ptm_profile_at(i); i++)
		if (!strcmp(profiles[i].name, name))
			return &profiles[i];
	return NULL;
}

static bool has(const struct ptm_profile *c, const struct capability *cap)
{
	return (c->leaf14_0_ebx & cap->ebx) || (c->leaf14_0_ecx & cap->ecx) ||
	       (c->features & cap->features) || (c->perf_capabilities & cap->perf);
}

static void remove_capability(struct ptm_profile *c, const struct capability *cap)
{
	c->leaf14_0_ebx &= ~cap->ebx;
	c->leaf14_0_ecx &= ~cap->ecx;
	c->leaf14_1_eax &= ~cap->ranges_mtc;
	c->leaf14_1_ebx &= ~cap->cyc_psb;
	c->features &= ~cap->features;
	c->perf_capabilities &= ~cap->perf;
}

/* Returns false always, for the caller to return. */
static bool no_such_profile(char *why, size_t size, const char *text, size_t len)
{
	size_t n = snprintf(why, size, "no profile '%.*s'; known are:", (int)len, text);

	for (unsigned int i = 0; ptm_profile_at(i) && n < size; i++)
		n += snprintf(why + n, size - n, "%s %s", i ? "," : "", profiles[i].name);
	return false;
}

static bool no_such_capability(char *why, size_t size, const struct ptm_profile *c,
			       const char *text, size_t len)
{
	size_t n = snprintf(why, size, "cannot switch off '%.*s' of %s; accepted are:",
			    (int)len, text, c->name);
	const char *separator = "";

	for (unsigned int i = 0; i < CAPABILITIES && n < size; i++) {
		if (!has(c, &capabilities[i]))
			continue;
		n += snprintf(why + n, size - n, "%s -%s", separator, capabilities[i].name);
		separator = ",";
	}
	return false;
}

/* False for combinations of capabilities that no CPU has. */
static bool possible(const struct ptm_profile *c, char *why, size_t size)
{
	if ((c->leaf14_0_ecx & OUT_TOPA_MULTI) && !(c->leaf14_0_ecx & OUT_TOPA)) {
		snprintf(why, size, "topa-multi cannot be without topa: with -topa add -topa-multi");
		return false;
	}
	if (!(c->leaf14_0_ecx & (OUT_TOPA | OUT_SINGLE))) {
		snprintf(why, size, "the trace needs an output: keep topa or single-range");
		return false;
	}
	if ((c->features & PTM_F_DS_CPL) && !(c->features & PTM_F_BTS)) {
		snprintf(why, size, "ds-cpl cannot be without bts: with -bts add -ds-cpl");
		return false;
	}
	return true;
}

static const struct capability *find_capability(const char *text, size_t len)
{
	for (unsigned int i = 0; i < CAPABILITIES; i++)
		if (strlen(capabilities[i].name) == len && !memcmp(capabilities[i].name, text, len))
			return &capabilities[i];
	return NULL;
}

bool ptm_profile_parse(const char *text, struct ptm_profile *out, char *why, size_t why_size)
{
	size_t len = strcspn(text, ":,");
	const struct ptm_profile *base = NULL;

	for (unsigned int i = 0; ptm_profile_at(i); i++)
		if (strlen(profiles[i].name) == len && !memcmp(profiles[i].name, text, len))
			base = &profiles[i];
	if (!base)
		return no_such_profile(why, why_size, text, len);

	*out = *base;
	for (text += len; *text; text += len) {
		const struct capability *cap = NULL;

		len = strcspn(++text, ":,");
		if (*text == '-')
			cap = find_capability(text + 1, len - 1);
		if (!cap || !has(base, cap))
			return no_such_capability(why, why_size, base, text, len);
		remove_capability(out, cap);
	}
	return possible(out, why, why_size);
}
