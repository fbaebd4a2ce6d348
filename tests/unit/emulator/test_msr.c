// SPDX-License-Identifier: GPL-2.0-only
/*
 * IA32_RTIT_*: each rule by which an access raises #GP, and the closest access that
 * does not. A refused write must change no register.
 */
#include <string.h>

#include "machine.h"

/*
 * CPUs that each lack one capability; the rest is as in the default profile. What leaf 14H.1 says of
 * that capability means nothing.
 */
static const struct ptm_profile no_cr3_filter = {
	.name = "no CR3 filter", .leaf14_0_ebx = 0xe, .leaf14_0_ecx = 7,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile no_psb_cyc = {
	.name = "no PSB and CYC", .leaf14_0_ebx = 0xd, .leaf14_0_ecx = 7,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile no_ip_filter = {
	.name = "no IP filter", .leaf14_0_ebx = 0xb, .leaf14_0_ecx = 7,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile no_mtc = {
	.name = "no MTC", .leaf14_0_ebx = 0x7, .leaf14_0_ecx = 7,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40, .clock_stride = 1,
};
static const struct ptm_profile no_single = {
	.name = "no single range", .leaf14_0_ebx = 0xf, .leaf14_0_ecx = 3,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile no_topa = {
	.name = "no ToPA", .leaf14_0_ebx = 0xf, .leaf14_0_ecx = 4,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile no_output = {
	.name = "no output to memory", .leaf14_0_ebx = 0xf, .leaf14_0_ecx = 0,
	.leaf14_1_eax = 0x02490002, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 40,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};
static const struct ptm_profile four_ranges = {
	.name = "four ranges, 46 bits", .leaf14_0_ebx = 0xf, .leaf14_0_ecx = 7,
	.leaf14_1_eax = 0x02490004, .leaf14_1_ebx = 0x003f1fff, .maxphyaddr = 46,
	.art_num = 84, .art_den = 2, .clock_stride = 1,
};

/* Filled in by main() from profile.c. */
static const struct ptm_profile *skylake, *broadwell;
#define SKL	(&skylake)
#define BDW	(&broadwell)
#define ONLY(p)	(&(const struct ptm_profile *){ &(p) })

enum access { WRITE, READ };
enum when { IDLE, TRACING };

#define ON	(OS | USER | BRANCH_EN)	/* the CTL bits of TRACING, without TraceEn */

struct rule {
	const char *name;
	const struct ptm_profile *const *profile;
	enum access access;
	enum when when;
	uint32_t msr;
	uint64_t value;
	bool faults;
};

#define GP(n, p, w, m, v)	{ n, p, WRITE, w, m, v, true }
#define OK(n, p, w, m, v)	{ n, p, WRITE, w, m, v, false }
#define GP_RD(n, p, m)		{ n, p, READ, IDLE, m, 0, true }
#define OK_RD(n, p, m)		{ n, p, READ, IDLE, m, 0, false }

static const struct rule rules[] = {
	OK("ctl_every_bit_of_the_cpu", SKL, IDLE, CTL, ON | TRACE_EN | CYC_EN | CR3_FILTER | TOPA |
	   MTC_EN | TSC_EN | DIS_RETC | MTC_FREQ(9) | CYC_THRESH(12) | PSB_FREQ(5) |
	   ADDR_CFG(0, 1) | ADDR_CFG(1, 2)),
	GP("ctl_bit_4_pwrevten_absent", SKL, IDLE, CTL, BIT(4)),
	GP("ctl_bit_5_fuponptw_absent", SKL, IDLE, CTL, BIT(5)),
	GP("ctl_bit_6_fabricen_absent", SKL, IDLE, CTL, BIT(6)),
	GP("ctl_bit_12_ptwen_absent", SKL, IDLE, CTL, BIT(12)),
	GP("ctl_bit_18_reserved", SKL, IDLE, CTL, BIT(18)),
	GP("ctl_bit_23_reserved", SKL, IDLE, CTL, BIT(23)),
	GP("ctl_bit_28_reserved", SKL, IDLE, CTL, BIT(28)),
	GP("ctl_bit_31_eventen_absent", SKL, IDLE, CTL, BIT(31)),
	GP("ctl_bit_48_reserved", SKL, IDLE, CTL, BIT(48)),
	GP("ctl_bit_55_distnt_absent", SKL, IDLE, CTL, BIT(55)),
	GP("ctl_bit_63_reserved", SKL, IDLE, CTL, BIT(63)),
	GP("ctl_cr3filter_absent", ONLY(no_cr3_filter), IDLE, CTL, CR3_FILTER),
	GP("ctl_cycen_absent", ONLY(no_psb_cyc), IDLE, CTL, CYC_EN),
	GP("ctl_cycthresh_absent", ONLY(no_psb_cyc), IDLE, CTL, CYC_THRESH(1)),
	GP("ctl_psbfreq_absent", ONLY(no_psb_cyc), IDLE, CTL, PSB_FREQ(1)),
	GP("ctl_mtcen_absent", ONLY(no_mtc), IDLE, CTL, MTC_EN),
	GP("ctl_mtcfreq_absent", ONLY(no_mtc), IDLE, CTL, MTC_FREQ(3)),
	GP("ctl_addr0_cfg_absent", ONLY(no_ip_filter), IDLE, CTL, ADDR_CFG(0, 1)),
	GP("ctl_addr2_cfg_absent", SKL, IDLE, CTL, ADDR_CFG(2, 1)),
	OK("ctl_addr3_cfg_present", ONLY(four_ranges), IDLE, CTL, ADDR_CFG(3, 2)),
	GP("ctl_addr0_cfg_3_reserved", SKL, IDLE, CTL, ADDR_CFG(0, 3)),
	GP("ctl_addr1_cfg_15_reserved", SKL, IDLE, CTL, ADDR_CFG(1, 15)),
	OK("ctl_mtcfreq_6_listed", SKL, IDLE, CTL, MTC_FREQ(6)),
	GP("ctl_mtcfreq_1_not_listed", SKL, IDLE, CTL, MTC_FREQ(1)),
	GP("ctl_mtcfreq_10_not_listed", SKL, IDLE, CTL, MTC_EN | MTC_FREQ(10)),
	OK("ctl_cycthresh_12_listed", SKL, IDLE, CTL, CYC_THRESH(12)),
	GP("ctl_cycthresh_13_not_listed", SKL, IDLE, CTL, CYC_THRESH(13)),
	OK("ctl_psbfreq_5_listed", SKL, IDLE, CTL, PSB_FREQ(5)),
	GP("ctl_psbfreq_6_not_listed", SKL, IDLE, CTL, PSB_FREQ(6)),
	GP("ctl_topa_absent", ONLY(no_topa), IDLE, CTL, TOPA),
	GP("ctl_traceen_without_topa_needs_single_range", ONLY(no_single), IDLE, CTL, ON | TRACE_EN),
	OK("ctl_traceen_with_topa_without_single_range", ONLY(no_single), IDLE, CTL,
	   ON | TRACE_EN | TOPA),
	OK("ctl_traceen_without_branchen", SKL, IDLE, CTL, OS | USER | TRACE_EN),
	GP("ctl_traceen_without_branchen_on_broadwell", BDW, IDLE, CTL, OS | USER | TRACE_EN | TOPA),
	OK("ctl_traceen_with_branchen_on_broadwell", BDW, IDLE, CTL, ON | TRACE_EN | TOPA),
	GP("ctl_addr0_cfg_absent_on_broadwell", BDW, IDLE, CTL, ADDR_CFG(0, 1)),

	OK("ctl_same_value_while_tracing", SKL, TRACING, CTL, ON | TRACE_EN),
	GP("ctl_more_bits_while_tracing", SKL, TRACING, CTL, ON | TRACE_EN | TSC_EN),
	GP("ctl_fewer_bits_while_tracing", SKL, TRACING, CTL, OS | BRANCH_EN | TRACE_EN),
	OK("ctl_traceen_cleared", SKL, TRACING, CTL, ON),
	OK("ctl_traceen_cleared_with_all_else", SKL, TRACING, CTL, 0),
	GP("ctl_traceen_cleared_with_a_reserved_bit", SKL, TRACING, CTL, ON | BIT(63)),

	OK("status_every_bit", SKL, IDLE, STATUS, 0x0001ffff00000037ULL),
	GP("status_bit_3_reserved", SKL, IDLE, STATUS, BIT(3)),
	GP("status_bit_6_reserved", SKL, IDLE, STATUS, BIT(6)),
	GP("status_bit_31_reserved", SKL, IDLE, STATUS, BIT(31)),
	GP("status_bit_49_reserved", SKL, IDLE, STATUS, BIT(49)),
	GP("status_bit_63_reserved", SKL, IDLE, STATUS, BIT(63)),
	GP("status_packetbytecnt_absent", ONLY(no_psb_cyc), IDLE, STATUS, BIT(32)),
	GP("status_while_tracing", SKL, TRACING, STATUS, 0),

	OK("output_base_128_aligned", SKL, IDLE, OUTPUT_BASE, 0x12345680),
	GP("output_base_bit_6_reserved", SKL, IDLE, OUTPUT_BASE, 0x40),
	GP("output_base_bit_0_reserved", SKL, IDLE, OUTPUT_BASE, 0x1),
	OK("output_base_below_maxphyaddr", SKL, IDLE, OUTPUT_BASE, BIT(39)),
	GP("output_base_at_maxphyaddr", SKL, IDLE, OUTPUT_BASE, BIT(40)),
	OK("output_base_below_46_bits", ONLY(four_ranges), IDLE, OUTPUT_BASE, BIT(45)),
	GP("output_base_at_46_bits", ONLY(four_ranges), IDLE, OUTPUT_BASE, BIT(46)),
	GP("output_base_while_tracing", SKL, TRACING, OUTPUT_BASE, OUT_AT),
	GP("output_base_absent", ONLY(no_output), IDLE, OUTPUT_BASE, 0),
	GP_RD("output_base_absent_read", ONLY(no_output), OUTPUT_BASE),
	OK("output_mask_any_value", SKL, IDLE, OUTPUT_MASK, ~0ULL),
	GP("output_mask_while_tracing", SKL, TRACING, OUTPUT_MASK, OUT_SIZE - 1),
	GP("output_mask_absent", ONLY(no_output), IDLE, OUTPUT_MASK, 0x7f),
	GP_RD("output_mask_absent_read", ONLY(no_output), OUTPUT_MASK),
	OK("output_mask_with_topa_alone", BDW, IDLE, OUTPUT_MASK, 0x7f),
	OK("output_mask_with_single_range_alone", ONLY(no_topa), IDLE, OUTPUT_MASK, 0x7f),

	OK("cr3_match_aligned", SKL, IDLE, CR3_MATCH, ~0x1fULL),
	GP("cr3_match_bit_4_reserved", SKL, IDLE, CR3_MATCH, 0x10),
	GP("cr3_match_bit_0_reserved", SKL, IDLE, CR3_MATCH, 0x1),
	GP("cr3_match_while_tracing", SKL, TRACING, CR3_MATCH, 0),
	GP("cr3_match_absent", ONLY(no_cr3_filter), IDLE, CR3_MATCH, 0),
	GP_RD("cr3_match_absent_read", ONLY(no_cr3_filter), CR3_MATCH),

	OK("addr0_a_canonical", SKL, IDLE, ADDR0_A, 0xffff800000000000ULL),
	GP("addr0_a_not_canonical", SKL, IDLE, ADDR0_A, 0x0000800000000000ULL),
	GP("addr1_b_not_canonical", SKL, IDLE, ADDR1_B, 0xffff7fffffffffffULL),
	GP("addr0_b_while_tracing", SKL, TRACING, ADDR0_B, 0),
	GP("addr2_a_absent", SKL, IDLE, ADDR1_B + 1, 0),
	GP_RD("addr2_a_absent_read", SKL, ADDR1_B + 1),
	OK("addr3_b_present", ONLY(four_ranges), IDLE, 0x587, 0),
	OK_RD("addr3_b_present_read", ONLY(four_ranges), 0x587),
	GP("addr0_a_absent", ONLY(no_ip_filter), IDLE, ADDR0_A, 0),
	GP_RD("addr0_a_absent_read", ONLY(no_ip_filter), ADDR0_A),
	GP_RD("addr0_a_absent_on_broadwell_read", BDW, ADDR0_A),
};
#define RULES	(sizeof(rules) / sizeof(rules[0]))

static const uint32_t registers[] = {
	OUTPUT_BASE, OUTPUT_MASK, CTL, STATUS, CR3_MATCH, ADDR0_A, ADDR0_B, ADDR1_A, ADDR1_B,
};
#define REGISTERS	(sizeof(registers) / sizeof(registers[0]))

static void snapshot(struct machine *m, uint64_t values[REGISTERS])
{
	for (unsigned int i = 0; i < REGISTERS; i++)
		if (!ptm_rdmsr(m->ptm, registers[i], &values[i]))
			values[i] = 0;
}

static void rule(void **state)
{
	const struct rule *r = *state;
	uint64_t before[REGISTERS], after[REGISTERS], faults;
	struct machine *m;

	/* A CPU without output MSRs cannot have the usual range. */
	m = machine_new(*r->profile == &no_output ? skylake : *r->profile);
	if (*r->profile == &no_output) {
		static const struct ptm_ops none;

		ptm_free(m->ptm);
		m->ptm = ptm_new(&no_output, &none, NULL);
		assert_non_null(m->ptm);
		ptm_synthetic_enable(m->ptm, true);
	}
	if (r->when == TRACING)
		start(m, ON);

	snapshot(m, before);
	faults = counter(m, PTM_N_FAULTS);
	if (r->access == READ) {
		assert_int_equal(rd_faults(m, r->msr), r->faults);
	} else {
		assert_int_equal(wr_faults(m, r->msr, r->value), r->faults);
	}
	assert_int_equal(counter(m, PTM_N_FAULTS), faults + r->faults);
	snapshot(m, after);
	if (r->faults)
		assert_memory_equal(before, after, sizeof(before));
	machine_free(m);
}

static void values_read_back(void **state)
{
	struct machine *m = *state;

	wr(m, OUTPUT_BASE, 0x123456780);
	wr(m, OUTPUT_MASK, 0x1234567800001000ULL);
	wr(m, CR3_MATCH, 0xabcdef0ULL << 5);
	wr(m, ADDR0_A, 1);
	wr(m, ADDR0_B, 2);
	wr(m, ADDR1_A, 3);
	wr(m, ADDR1_B, 0xffffffffffffffffULL);
	wr(m, CTL, ON | TSC_EN);
	wr(m, STATUS, 0x0001234500000030ULL);
	assert_int_equal(rd(m, OUTPUT_BASE), 0x123456780);
	assert_int_equal(rd(m, OUTPUT_MASK), 0x123456780000107fULL);	/* 6:0 read as ones */
	assert_int_equal(rd(m, CR3_MATCH), 0xabcdef0ULL << 5);
	assert_int_equal(rd(m, ADDR0_A), 1);
	assert_int_equal(rd(m, ADDR0_B), 2);
	assert_int_equal(rd(m, ADDR1_A), 3);
	assert_int_equal(rd(m, ADDR1_B), 0xffffffffffffffffULL);
	assert_int_equal(rd(m, CTL), ON | TSC_EN);
	assert_int_equal(rd(m, STATUS), 0x0001234500000030ULL);
}

static void status_enables_are_read_only_and_true(void **state)
{
	struct machine *m = *state;
	const uint64_t enables = S_FILTER_EN | S_CONTEXT_EN | S_TRIGGER_EN;

	wr(m, STATUS, enables);
	assert_int_equal(rd(m, STATUS), 0);

	wr(m, ADDR0_A, KERN);
	wr(m, ADDR0_B, KERN + 0xff);
	start(m, USER | BRANCH_EN | ADDR_CFG(0, 1));
	assert_int_equal(rd(m, STATUS) & 0x3f, S_TRIGGER_EN | S_FILTER_EN);
	far_to(m, PTM_FAR, &user_ctx, KERN, KERN + 0x100);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_TRIGGER_EN | S_CONTEXT_EN);
	assert_true(ptm_tracing(m->ptm));
	branch(m, PTM_JMP, KERN + 0x100, KERN + 0x105, KERN + 0xff);
	assert_int_equal(rd(m, STATUS) & 0x3f, enables);
	stop(m);
	assert_int_equal(rd(m, STATUS) & 0x3f, 0);
	assert_false(ptm_tracing(m->ptm));
	assert_false(ptm_enabled(m->ptm));
}

static void status_error_or_stopped_keeps_trigger_off(void **state)
{
	struct machine *m = *state;

	mark(m);
	for (uint64_t bit = S_ERROR; bit <= S_STOPPED; bit <<= 1) {
		wr(m, STATUS, bit);
		wr(m, CTL, ON | TRACE_EN);
		assert_true(ptm_enabled(m->ptm));
		assert_false(ptm_tracing(m->ptm));
		assert_int_equal(rd(m, STATUS), bit);
		stop(m);
	}
	EXPECT_NOTHING(m);
}

static void cold_reset_clears_all(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, 5);
	wr(m, CR3_MATCH, 0x20);
	start(m, ON);
	ptm_reset(m->ptm, false);
	for (unsigned int i = 0; i < REGISTERS; i++)
		assert_int_equal(rd(m, registers[i]), registers[i] == OUTPUT_MASK ? 0x7f : 0);
	assert_false(ptm_enabled(m->ptm));
}

static void warm_reset_clears_traceen_alone(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, 5);
	wr(m, CR3_MATCH, 0x20);
	start(m, ON);
	ptm_reset(m->ptm, true);
	assert_int_equal(rd(m, CTL), ON);
	assert_int_equal(rd(m, ADDR0_A), 5);
	assert_int_equal(rd(m, CR3_MATCH), 0x20);
	assert_int_equal(rd(m, OUTPUT_BASE), OUT_AT);
	assert_false(ptm_tracing(m->ptm));
}

static void warm_reset_without_preservation_clears_all(void **state)
{
	struct machine *m;

	m = machine_new(broadwell);
	wr(m, CR3_MATCH, 0x20);
	put64(m, TABLE_AT, OUT_AT);
	put64(m, TABLE_AT + 8, TABLE_AT | E_END);
	wr(m, OUTPUT_BASE, TABLE_AT);
	wr(m, OUTPUT_MASK, 0x7f);
	start(m, OS | BRANCH_EN | TOPA);
	stop(m);
	assert_true(rd(m, OUTPUT_MASK) >> 32);
	wr(m, STATUS, rd(m, STATUS) | S_ERROR | S_STOPPED);
	wr(m, CTL, OS | BRANCH_EN);
	wr(m, OUTPUT_MASK, 1ULL << 32 | 0xfff);
	ptm_reset(m->ptm, true);
	assert_int_equal(rd(m, CTL), 0);
	assert_int_equal(rd(m, STATUS), 0);
	assert_int_equal(rd(m, CR3_MATCH), 0);
	assert_int_equal(rd(m, OUTPUT_BASE), 0);
	assert_int_equal(rd(m, OUTPUT_MASK), 0x7f);
	machine_free(m);
}

static void wrmsrs_are_counted(void **state)
{
	struct machine *m = *state;
	uint64_t all = counter(m, PTM_N_WRMSR), ctl = counter(m, PTM_N_WRMSR_CTL);
	uint64_t status = counter(m, PTM_N_WRMSR_STATUS), base, mask;

	/* The WRMSRs of a RESUME and a PAUSE. */
	start(m, ON);
	assert_int_equal(counter(m, PTM_N_WRMSR), all + 2);
	assert_int_equal(counter(m, PTM_N_WRMSR_CTL), ctl + 1);
	assert_int_equal(counter(m, PTM_N_WRMSR_STATUS), status + 1);
	stop(m);
	assert_int_equal(counter(m, PTM_N_WRMSR), all + 3);
	assert_int_equal(counter(m, PTM_N_WRMSR_CTL), ctl + 2);
	base = counter(m, PTM_N_WRMSR_BASE);
	mask = counter(m, PTM_N_WRMSR_MASK);
	wr(m, OUTPUT_BASE, OUT_AT);
	assert_int_equal(counter(m, PTM_N_WRMSR_BASE), base + 1);
	assert_int_equal(counter(m, PTM_N_WRMSR_MASK), mask);
	wr(m, OUTPUT_MASK, OUT_SIZE - 1);
	assert_int_equal(counter(m, PTM_N_WRMSR_BASE), base + 1);
	assert_int_equal(counter(m, PTM_N_WRMSR_MASK), mask + 1);
	assert_int_equal(counter(m, PTM_N_WRMSR), all + 5);
	assert_true(wr_faults(m, CTL, BIT(63)));
	assert_int_equal(counter(m, PTM_N_WRMSR), all + 5);
}

static void cpuid_leaves(void **state)
{
	static const struct {
		uint32_t leaf, subleaf, regs[4];
	} leaves[] = {
		{ 0x14, 0, { 1, 0xf, 7, 0 } },
		{ 0x14, 1, { 0x02490002, 0x003f1fff, 0, 0 } },
		{ 0x14, 2, { 0, 0, 0, 0 } },
		{ 0x15, 0, { 2, 84, 0, 0 } },
		/* No LLC events, no branch misses. */
		{ 0x0a, 0, { 0x07300402, 0x58, 0, 0x603 } },
	};
	struct machine *m = *state;
	uint32_t r[4];

	for (unsigned int i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		memset(r, 0xff, sizeof(r));
		assert_true(ptm_cpuid(m->ptm, leaves[i].leaf, leaves[i].subleaf, r));
		assert_memory_equal(r, leaves[i].regs, sizeof(r));
	}
	assert_false(ptm_cpuid(m->ptm, 7, 0, r));
	assert_ptr_equal(ptm_profile_find("broadwell"), broadwell);
	assert_null(ptm_profile_find("none such"));
	assert_null(ptm_profile_at(99));
}

static void msrs_of_others_are_not_owned(void **state)
{
	static const uint32_t others[] = {
		0x10, 0xc0, 0xc5, 0xcd, 0xcf, 0x185, 0x18a, 0x1d8, 0x1da, 0x308, 0x30c, 0x344, 0x346,
		0x38c, 0x391, 0x4c0, 0x4c5, 0x55f, 0x562, 0x56f, 0x573, 0x57f, 0x588, 0x5ff, 0x601,
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(ptm_owns_msr(m->ptm, others[i]));
	for (unsigned int i = 0; i < REGISTERS; i++)
		assert_true(ptm_owns_msr(m->ptm, registers[i]));
}

/* Broadwell has no IP filter, and so no register for it. */
static void a_read_that_faults_has_the_value_0(void **state)
{
	struct machine *m = machine_new(broadwell);
	uint64_t value = 5;

	assert_false(ptm_rdmsr(m->ptm, ADDR0_A, &value));
	assert_int_equal(value, 0);
	machine_free(m);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest others[] = {
		T(values_read_back), T(status_enables_are_read_only_and_true),
		T(status_error_or_stopped_keeps_trigger_off), T(cold_reset_clears_all),
		T(warm_reset_clears_traceen_alone),
		cmocka_unit_test(warm_reset_without_preservation_clears_all),
		T(wrmsrs_are_counted), T(cpuid_leaves), T(msrs_of_others_are_not_owned),
		cmocka_unit_test(a_read_that_faults_has_the_value_0),
	};
	static struct CMUnitTest tests[RULES + sizeof(others) / sizeof(others[0])];

	skylake = ptm_profile_find("skylake");
	broadwell = ptm_profile_find("broadwell");
	for (unsigned int i = 0; i < RULES; i++) {
		tests[i] = (struct CMUnitTest){
			.name = rules[i].name,
			.test_func = rule,
			.initial_state = (void *)&rules[i],
		};
	}
	memcpy(tests + RULES, others, sizeof(others));

	return cmocka_run_group_tests_name("msr", tests, NULL, NULL);
}
