// SPDX-License-Identifier: GPL-2.0-only
/* Capabilities: each bit of CPUID leaf 14H decides about its part of a configuration. */

#include <errno.h>
#include "cmocka_all.h"
#include "core/filters.h"
#include "hw/pt_caps.h"

#define MTC_PERIOD(n)	((u64)(n) << 14)
#define CYC_THRESH(n)	((u64)(n) << 19)
#define PSB_PERIOD(n)	((u64)(n) << 24)

#define SKYLAKE	6, 0x5e
#define BROADWELL 6, 0x3d

/* Leaf 14H of a Skylake (SDM; MTC 0, 3, 6, 9; thresholds 0-12; PSB periods 0-5). */
static const struct pt_cpuid skylake_leaf[2] = {
	{ .eax = 1, .ebx = 0xf, .ecx = 0x7 },
	{ .eax = 0x02490002, .ebx = 0x003f1fff },
};

static struct pt_caps skylake(void)
{
	struct pt_caps caps;

	pt_caps_decode(&caps, skylake_leaf, SKYLAKE);
	return caps;
}

/* A CPU with nothing but the obligatory. */
static struct pt_caps bare(void)
{
	static const struct pt_cpuid leaf[2] = { { .ecx = 0x3 } };
	struct pt_caps caps;

	pt_caps_decode(&caps, leaf, SKYLAKE);
	return caps;
}

static void leaf_14_is_read_bit_by_bit(void **state)
{
	static const struct pt_cpuid all_ranges[2] = { { .eax = 1, .ebx = 4 }, { .eax = 0x7 } };
	static const struct pt_cpuid no_filter[2] = { { .eax = 1, .ebx = 0xb }, { .eax = 0x7 } };
	struct pt_caps caps = skylake();

	assert_true(caps.psb_cyc);
	assert_true(caps.mtc);
	assert_false(caps.ptwrite);
	assert_true(caps.cr3_filter);
	assert_true(caps.topa);
	assert_true(caps.topa_multi);
	assert_int_equal(caps.nr_ranges, 2);
	pt_caps_decode(&caps, all_ranges, SKYLAKE);
	assert_int_equal(caps.nr_ranges, AUXT_MAX_FILTERS);
	assert_false(caps.cr3_filter);
	pt_caps_decode(&caps, no_filter, SKYLAKE);
	assert_int_equal(caps.nr_ranges, 0);
	caps = skylake();
	assert_int_equal(caps.mtc_periods, 0x249);
	assert_int_equal(caps.cyc_thresholds, 0x1fff);
	assert_int_equal(caps.psb_periods, 0x3f);
	assert_false(caps.branch_required);
}

/* perf's lbr_pt_coexist: Goldmont, and all from Tremont and Ice Lake on. */
static void pt_and_lbr_exclude_each_other_on_big_cores_before_ice_lake(void **state)
{
	static const u32 exclusive[] = {
		0x3d, 0x47, 0x4f, 0x56,				/* Broadwell */
		0x4e, 0x5e, 0x55, 0x8e, 0x9e, 0xa5, 0xa6, 0x66,	/* Skylake to Cannon Lake */
	};
	struct pt_caps caps;

	for (u32 model = 0; model < 256; model++) {
		bool is = false;

		for (size_t i = 0; i < sizeof(exclusive) / sizeof(*exclusive); i++)
			is |= model == exclusive[i];
		pt_caps_decode(&caps, skylake_leaf, 6, model);
		assert_int_equal(caps.excludes_lbr, is);
		pt_caps_decode(&caps, skylake_leaf, 15, model);
		assert_false(caps.excludes_lbr);
	}
}

static void each_bit_of_leaf_14_is_one_capability(void **state)
{
	for (u32 bit = 0; bit < 32; bit++) {
		const struct pt_cpuid in_ebx[2] = { { .ebx = 1u << bit } };
		const struct pt_cpuid in_ecx[2] = { { .ecx = 1u << bit } };
		struct pt_caps caps;

		pt_caps_decode(&caps, in_ebx, SKYLAKE);
		assert_int_equal(caps.psb_cyc, bit == 1);
		assert_int_equal(caps.mtc, bit == 3);
		assert_int_equal(caps.ptwrite, bit == 4);
		assert_int_equal(caps.power_events, bit == 5);
		assert_int_equal(caps.event_trace, bit == 7);
		assert_int_equal(caps.tnt_disable, bit == 8);
		assert_false(caps.topa || caps.topa_multi);
		pt_caps_decode(&caps, in_ecx, SKYLAKE);
		assert_int_equal(caps.topa, bit == 0);
		assert_int_equal(caps.topa_multi, bit == 1);
		assert_false(caps.psb_cyc || caps.mtc || caps.ptwrite || caps.power_events ||
			     caps.event_trace || caps.tnt_disable);
	}
}

/* Display family and model of SDM volume 4, table 2-1. */
static void broadwells_are_these(void **state)
{
	for (u32 model = 0; model < 256; model++) {
		bool is = model == 0x3d || model == 0x47 || model == 0x4f || model == 0x56;
		struct pt_caps caps;

		pt_caps_decode(&caps, skylake_leaf, 6, model);
		assert_int_equal(caps.branch_required, is);
		pt_caps_decode(&caps, skylake_leaf, 15, model);
		assert_false(caps.branch_required);
	}
}

static void periods_without_their_packet_do_not_count(void **state)
{
	struct pt_cpuid leaf[2] = { skylake_leaf[0], skylake_leaf[1] };
	struct pt_caps caps;

	leaf[0].ebx = 0;
	pt_caps_decode(&caps, leaf, SKYLAKE);
	assert_int_equal(caps.mtc_periods, 0);
	assert_int_equal(caps.cyc_thresholds, 0);
	assert_int_equal(caps.psb_periods, 0);
	assert_int_equal(pt_caps_config(&caps), PT_CONFIG_PT | PT_CONFIG_TSC |
			 PT_CONFIG_NORETCOMP | PT_CONFIG_BRANCH);
}

static void what_every_cpu_can_is_accepted_everywhere(void **state)
{
	static const u64 good[] = {
		0, PT_CONFIG_TSC, PT_CONFIG_NORETCOMP, PT_CONFIG_PT, PT_CONFIG_PT | PT_CONFIG_BRANCH,
	};
	struct pt_caps caps = bare();

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_int_equal(pt_caps_check(&caps, good[i]), 0);
}

static void caps_of_two_cpus_are_what_both_have(void **state)
{
	static const struct pt_cpuid other_leaf[2] = {
		{ .eax = 1, .ebx = 0x1f, .ecx = 0x3 },
		{ .eax = 0x02080004, .ebx = 0x000f0fff },
	};
	const struct pt_caps mine = skylake(), nothing = { };
	struct pt_caps other, both, none = skylake();

	pt_caps_decode(&other, other_leaf, BROADWELL);
	/* In either order. */
	for (int i = 0; i < 2; i++) {
		both = i ? other : mine;
		pt_caps_intersect(&both, i ? &mine : &other);
		assert_true(both.psb_cyc && both.mtc && both.topa && both.topa_multi);
		assert_false(both.ptwrite);
		assert_int_equal(both.nr_ranges, 2);
		assert_int_equal(both.mtc_periods, 0x208);
		assert_int_equal(both.cyc_thresholds, 0xfff);
		assert_int_equal(both.psb_periods, 0xf);
		assert_true(both.branch_required);
	}
	/* A capability that is with one of them only is not with both. */
	none.ptwrite = true;
	none.power_events = true;
	none.event_trace = true;
	none.tnt_disable = true;
	/* What one CPU cannot have at once, a session on both cannot. */
	assert_true(none.excludes_lbr);
	pt_caps_intersect(&none, &nothing);
	assert_true(none.excludes_lbr);
	none.excludes_lbr = false;
	assert_memory_equal(&none, &nothing, sizeof(none));
	pt_caps_intersect(&none, &mine);
	assert_true(none.excludes_lbr);
}

static void without_topa_output_nothing_is_supported(void **state)
{
	struct pt_caps caps = skylake();

	/* Tables of one entry will do. */
	caps.topa_multi = false;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_TSC), 0);
	caps.topa = false;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_TSC), -EOPNOTSUPP);
	caps = (struct pt_caps) { };
	assert_int_equal(pt_caps_check(&caps, 0), -EOPNOTSUPP);
	/* What no CPU supports stays invalid. */
	assert_int_equal(pt_caps_check(&caps, 1ull << 60), -EINVAL);
}

static void bits_outside_the_format_are_invalid(void **state)
{
	struct pt_caps caps = skylake();

	for (int bit = 0; bit < 64; bit++)
		if (!(PT_CONFIG_FORMAT >> bit & 1))
			assert_int_equal(pt_caps_check(&caps, 1ull << bit), -EINVAL);
}

static void a_part_without_the_packet_it_belongs_to_is_invalid(void **state)
{
	struct pt_caps caps = skylake();

	caps.ptwrite = true;
	assert_int_equal(pt_caps_check(&caps, MTC_PERIOD(3)), -EINVAL);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_BRANCH), -EINVAL);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_BRANCH | PT_CONFIG_PT), 0);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_MTC | MTC_PERIOD(3)), 0);
	assert_int_equal(pt_caps_check(&caps, CYC_THRESH(1)), -EINVAL);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC | CYC_THRESH(1)), 0);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_FUP_ON_PTW), -EINVAL);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_FUP_ON_PTW | PT_CONFIG_PTW), 0);
	assert_int_equal(pt_caps_check(&caps, PSB_PERIOD(5)), 0);
}

static void what_the_cpu_lacks_is_not_supported(void **state)
{
	struct pt_caps caps = bare();

	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_MTC), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PTW), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PWR_EVT), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_EVENT), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_NOTNT), -EOPNOTSUPP);
	caps.tnt_disable = true;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_NOTNT), 0);
	caps.event_trace = true;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_EVENT), 0);
	caps.power_events = true;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PWR_EVT), 0);
	assert_int_equal(pt_caps_check(&caps, PSB_PERIOD(1)), -EOPNOTSUPP);
}

static void each_period_has_a_map_of_its_own(void **state)
{
	struct pt_caps caps = skylake();

	for (u32 n = 0; n < 16; n++) {
		assert_int_equal(pt_caps_check(&caps, PT_CONFIG_MTC | MTC_PERIOD(n)),
				 0x249 >> n & 1 ? 0 : -EOPNOTSUPP);
		assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC | CYC_THRESH(n)),
				 0x1fff >> n & 1 ? 0 : -EOPNOTSUPP);
		assert_int_equal(pt_caps_check(&caps, PSB_PERIOD(n)),
				 0x3f >> n & 1 ? 0 : -EOPNOTSUPP);
	}
}

static void cyc_threshold_0_needs_no_bit(void **state)
{
	struct pt_cpuid leaf[2] = { skylake_leaf[0], skylake_leaf[1] };
	struct pt_caps caps;

	leaf[1].ebx = 0x003f0002;
	pt_caps_decode(&caps, leaf, SKYLAKE);
	assert_int_equal(caps.cyc_thresholds, 3);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC), 0);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC | CYC_THRESH(1)), 0);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_CYC | CYC_THRESH(2)), -EOPNOTSUPP);
}

static void mtc_period_0_needs_its_bit_too(void **state)
{
	struct pt_caps caps = skylake();

	caps.mtc_periods = 0x8;
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_MTC), -EOPNOTSUPP);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_MTC | MTC_PERIOD(3)), 0);
}

static void a_broadwell_must_trace_branches(void **state)
{
	static const u32 models[] = { 0x3d, 0x47, 0x4f, 0x56 };
	struct pt_caps caps;

	for (size_t i = 0; i < sizeof(models) / sizeof(*models); i++) {
		pt_caps_decode(&caps, skylake_leaf, 6, models[i]);
		assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PT), -EINVAL);
		assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PT | PT_CONFIG_BRANCH), 0);
		assert_int_equal(pt_caps_check(&caps, 0), 0);
	}
	pt_caps_decode(&caps, skylake_leaf, 15, 0x3d);
	assert_int_equal(pt_caps_check(&caps, PT_CONFIG_PT), 0);
}

static void branches_are_traced_unless_pt_says_no(void **state)
{
	assert_int_equal(pt_caps_ctl(0), PT_CONFIG_BRANCH);
	assert_int_equal(pt_caps_ctl(PT_CONFIG_PT | PT_CONFIG_BRANCH), PT_CONFIG_BRANCH);
	/* Bit 0 of the register is TraceEn: it must never come from a configuration. */
	assert_int_equal(pt_caps_ctl(PT_CONFIG_PT), 0);
	assert_int_equal(pt_caps_ctl(PT_CONFIG_PT | PT_CONFIG_TSC | PSB_PERIOD(3)),
			 PT_CONFIG_TSC | PSB_PERIOD(3));
}

#define TABLE		0x1234000ull
#define LAM_U57		(1ull << 61)

/* What the CPU compares with CR3 while a process runs what is traced, for each kind of kernel. */
static void cr3_is_that_of_the_code_that_is_traced(void **state)
{
	const u32 kernel = AUXTRACE_SETUP_KERNEL, user = AUXTRACE_SETUP_USER;

	for (int pcid = 0; pcid < 2; pcid++) {
		assert_int_equal(auxt_filters_cr3(TABLE, 0, kernel | user, false, pcid), TABLE);
		assert_int_equal(auxt_filters_cr3(TABLE, 0, user, false, pcid), TABLE);
		assert_int_equal(auxt_filters_cr3(TABLE, 0, kernel, true, pcid), TABLE);
		assert_int_equal(auxt_filters_cr3(TABLE, 0, user, true, pcid),
				 TABLE | 0x1000 | (pcid ? 0x800 : 0));
		/* No one value. */
		assert_int_equal(auxt_filters_cr3(TABLE, 0, kernel | user, true, pcid), 0);
	}
}

static void no_cr3_is_known_for_a_process_with_masked_addresses(void **state)
{
	const u32 kernel = AUXTRACE_SETUP_KERNEL, user = AUXTRACE_SETUP_USER;

	for (int how = 0; how < 4; how++) {
		assert_int_equal(auxt_filters_cr3(TABLE, LAM_U57, kernel, how & 1, how & 2), 0);
		assert_int_equal(auxt_filters_cr3(TABLE, LAM_U57, user, how & 1, how & 2), 0);
		assert_int_equal(auxt_filters_cr3(TABLE, LAM_U57, kernel | user, how & 1, how & 2), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leaf_14_is_read_bit_by_bit),
		cmocka_unit_test(pt_and_lbr_exclude_each_other_on_big_cores_before_ice_lake),
		cmocka_unit_test(each_bit_of_leaf_14_is_one_capability),
		cmocka_unit_test(broadwells_are_these),
		cmocka_unit_test(periods_without_their_packet_do_not_count),
		cmocka_unit_test(what_every_cpu_can_is_accepted_everywhere),
		cmocka_unit_test(caps_of_two_cpus_are_what_both_have),
		cmocka_unit_test(without_topa_output_nothing_is_supported),
		cmocka_unit_test(bits_outside_the_format_are_invalid),
		cmocka_unit_test(a_part_without_the_packet_it_belongs_to_is_invalid),
		cmocka_unit_test(what_the_cpu_lacks_is_not_supported),
		cmocka_unit_test(each_period_has_a_map_of_its_own),
		cmocka_unit_test(cyc_threshold_0_needs_no_bit),
		cmocka_unit_test(mtc_period_0_needs_its_bit_too),
		cmocka_unit_test(a_broadwell_must_trace_branches),
		cmocka_unit_test(branches_are_traced_unless_pt_says_no),
		cmocka_unit_test(cr3_is_that_of_the_code_that_is_traced),
		cmocka_unit_test(no_cr3_is_known_for_a_process_with_masked_addresses),
	};

	return cmocka_run_group_tests_name("pt_caps", tests, NULL, NULL);
}
