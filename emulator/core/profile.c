// SPDX-License-Identifier: GPL-2.0-or-later
/* Capability sets after generations of CPUs (SDM, CPUID leaves 14H and 15H). */
#include <string.h>

#include "ptm.h"

static const struct ptm_profile profiles[] = {
	{
		.name = "skylake",
		.leaf14_0_ebx = 0xf,	/* CR3 filter, PSB and CYC, IP filter, MTC */
		.leaf14_0_ecx = 0x7,	/* ToPA, many entries, single range; IPs, not LIPs */
		.leaf14_1_eax = 0x02490002,	/* MTC 0, 3, 6, 9; 2 ranges */
		.leaf14_1_ebx = 0x003f1fff,	/* PSB 2K to 64K; thresholds 0 to 12 */
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.art_num = 84,
		.art_den = 2,
		.clock_stride = 16,
	},
	{
		.name = "broadwell",
		.leaf14_0_ebx = 0x1,	/* CR3 filter */
		.leaf14_0_ecx = 0x1,	/* ToPA, one entry */
		.maxphyaddr = 40,
		.core_ratio = 0x20,
		.branch_en_required = true,	/* BDM106 */
		.clock_stride = 1,
	},
};

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
