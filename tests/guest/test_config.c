// SPDX-License-Identifier: GPL-2.0-only
/* Which values of SETUP's config are accepted: bits, periods, what the CPU lacks. */
#include <errno.h>

#include "pmu.h"
#include "setup.h"

/* Fields of several bits */
#define PERIODS	(CONFIG_MTC_PERIOD(15) | CONFIG_CYC_THRESH(15) | CONFIG_PSB_PERIOD(15))

static void setup_with_a_config_bit_outside_the_format_gives_EINVAL(void **state)
{
	struct session s;

	pt_required("config");
	for (int bit = 0; bit < 64; bit++) {
		if (CONFIG_FORMAT >> bit & 1)
			continue;
		setup_prepare(&s);
		s.setup.config |= 1ULL << bit;
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_a_period_without_its_packet_gives_EINVAL(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();
	struct session s;

	pt_required("config");
	for (int n = 1; n < 16; n++) {
		setup_prepare(&s);
		s.setup.config |= CONFIG_MTC_PERIOD(n);
		if (pt.config & CONFIG_MTC && pt.mtc_periods >> n & 1)
			setup_refuses(EINVAL, &s);
		setup_prepare(&s);
		s.setup.config |= CONFIG_CYC_THRESH(n);
		if (pt.config & CONFIG_CYC && pt.cyc_thresholds >> n & 1)
			setup_refuses(EINVAL, &s);
	}
}

static void setup_with_fup_on_ptw_without_ptw_gives_EINVAL(void **state)
{
	struct session s;

	pt_required("config");
	if (!(at_pt().config & CONFIG_PTW))
		skip_test("this CPU has no PTWRITE packets");
	setup_prepare(&s);
	s.setup.config |= CONFIG_FUP_ON_PTW;
	setup_refuses(EINVAL, &s);
	s.setup.config |= CONFIG_PTW;
	setup_ok(&s);
}

static void setup_with_branch_and_without_pt_gives_EINVAL(void **state)
{
	struct session s;

	pt_required("config");
	setup_prepare(&s);
	s.setup.config = CONFIG_BRANCH | CONFIG_TSC;
	setup_refuses(EINVAL, &s);
	s.setup.config |= CONFIG_PT;
	setup_ok(&s);
}

/* Errata BDM106 and its like: Broadwell cannot trace without branches. */
static bool branches_required(void)
{
	struct auxtrace_cap_x86 cpu;

	at_capability(at_open(), 0, AUXTRACE_CAP_X86, &cpu, sizeof(cpu));
	switch (cpu.family << 8 | cpu.model) {
	case 0x63d:
	case 0x647:
	case 0x64f:
	case 0x656:
		return true;
	}
	return false;
}

static void setup_without_branches_is_refused_only_where_the_cpu_cannot(void **state)
{
	struct session s;

	pt_required("config");
	setup_prepare(&s);
	s.setup.config = CONFIG_PT | CONFIG_TSC;
	if (branches_required())
		setup_refuses(EINVAL, &s);
	else
		setup_ok(&s);
	s.setup.config |= CONFIG_BRANCH;
	setup_ok(&s);
}

static void setup_accepts_each_config_bit_that_info_offers(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();
	struct session s;

	pt_required("config");
	for (int bit = 0; bit < 64; bit++) {
		uint64_t flag = 1ULL << bit;

		if (!(pt.config & flag) || (PERIODS & flag))
			continue;
		setup_prepare(&s);
		s.setup.config = flag;
		if (flag == CONFIG_FUP_ON_PTW)
			s.setup.config |= CONFIG_PTW;
		if (flag == CONFIG_PT || flag == CONFIG_BRANCH)
			s.setup.config = CONFIG_PT | CONFIG_BRANCH;
		setup_ok(&s);
	}
	for (int n = 1; n < 16; n++) {
		setup_prepare(&s);
		if (pt.mtc_periods >> n & 1)
			s.setup.config |= CONFIG_MTC | CONFIG_MTC_PERIOD(n);
		if (pt.cyc_thresholds >> n & 1)
			s.setup.config |= CONFIG_CYC | CONFIG_CYC_THRESH(n);
		if (pt.psb_periods >> n & 1)
			s.setup.config |= CONFIG_PSB_PERIOD(n);
		setup_ok(&s);
	}
}

static void setup_with_a_config_bit_that_the_cpu_lacks_gives_EOPNOTSUPP(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();
	unsigned int tried = 0;
	struct session s;

	pt_required("config");
	for (int bit = 0; bit < 64; bit++) {
		uint64_t flag = 1ULL << bit;

		if (!(CONFIG_FORMAT & flag) || (PERIODS & flag) || (pt.config & flag))
			continue;
		setup_prepare(&s);
		s.setup.config |= flag;
		if (flag == CONFIG_FUP_ON_PTW)
			s.setup.config |= CONFIG_PTW;
		setup_refuses(EOPNOTSUPP, &s);
		tried++;
	}
	if (!tried)
		skip_test("this CPU has every bit");
}

static void setup_with_a_period_that_the_cpu_lacks_gives_EOPNOTSUPP(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();
	unsigned int tried = 0;
	struct session s;

	pt_required("config");
	for (int n = 1; n < 16; n++) {
		if (pt.config & CONFIG_MTC && !(pt.mtc_periods >> n & 1)) {
			setup_prepare(&s);
			s.setup.config |= CONFIG_MTC | CONFIG_MTC_PERIOD(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
		if (pt.config & CONFIG_CYC && !(pt.cyc_thresholds >> n & 1)) {
			setup_prepare(&s);
			s.setup.config |= CONFIG_CYC | CONFIG_CYC_THRESH(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
		if (!(pt.psb_periods >> n & 1)) {
			setup_prepare(&s);
			s.setup.config |= CONFIG_PSB_PERIOD(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
	}
	if (!tried)
		skip_test("this CPU has every period");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_with_a_config_bit_outside_the_format_gives_EINVAL),
		vm_test(setup_with_a_period_without_its_packet_gives_EINVAL),
		vm_test(setup_with_fup_on_ptw_without_ptw_gives_EINVAL),
		vm_test(setup_with_branch_and_without_pt_gives_EINVAL),
		vm_test(setup_without_branches_is_refused_only_where_the_cpu_cannot),
		vm_test(setup_accepts_each_config_bit_that_info_offers),
		vm_test(setup_with_a_config_bit_that_the_cpu_lacks_gives_EOPNOTSUPP),
		vm_test(setup_with_a_period_that_the_cpu_lacks_gives_EOPNOTSUPP),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
