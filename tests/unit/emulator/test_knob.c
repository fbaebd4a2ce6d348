// SPDX-License-Identifier: GPL-2.0-only
/* The knobs: what each does, their MSRs, and how they are set at start. */
#include <string.h>

#include "machine.h"

#define ON		(OS | USER | BRANCH_EN)
#define EVTSEL0		0x186
#define PMC0		0x0c1
#define INSTRUCTIONS	0x5300c0	/* USR, OS, INT, EN */

#define KNOB(k)		(MSR_PTM_KNOB + PTM_KNOB_##k)

static void set(struct machine *m, const char *assignment)
{
	char why[512];

	if (!ptm_knob_set(m->ptm, assignment, why, sizeof(why)))
		fail_msg("'%s' refused: %s", assignment, why);
}

static void jump(struct machine *m)
{
	branch(m, PTM_JMP, KERN, KERN + 2, KERN);
}

/* A counter that overflows with the next instruction. */
static void overflow(struct machine *m)
{
	wr(m, EVTSEL0, INSTRUCTIONS);
	wr(m, PMC0, -1);
	ptm_retire(m->ptm, 1, 0);
}

static void a_pmi_skids_by_branches(void **state)
{
	struct machine *m = *state;

	wr(m, KNOB(PMI_SKID), 3);
	overflow(m);
	assert_int_equal(rd(m, GLOBAL_STATUS), 1);	/* the status is not late */
	assert_int_equal(counter(m, PTM_N_PMI), 1);
	assert_true(ptm_near_wanted(m->ptm));
	assert_true(ptm_far_wanted(m->ptm));
	jump(m);
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 0x40);
	assert_int_equal(m->pmis, 0);
	branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
	assert_int_equal(m->pmis, 1);
	jump(m);
	assert_int_equal(m->pmis, 1);
	assert_false(ptm_near_wanted(m->ptm));
}

/* A smaller number brings one forward, a larger one leaves it. */
static void a_pmi_that_waits_is_brought_forward(void **state)
{
	struct machine *m = *state;

	for (unsigned int skid = 0; skid < 3; skid++) {
		m->pmis = 0;
		wr(m, KNOB(PMI_SKID), 1000);
		overflow(m);
		wr(m, KNOB(PMI_SKID), 2000);
		jump(m);
		assert_int_equal(m->pmis, 0);
		wr(m, KNOB(PMI_SKID), skid);
		for (unsigned int n = 1; n < skid; n++)
			jump(m);
		assert_int_equal(m->pmis, 0);
		jump(m);
		assert_int_equal(m->pmis, 1);
	}
	wr(m, KNOB(PMI_SKID), 0);
	jump(m);
	assert_int_equal(m->pmis, 1);
}

static void a_topa_pmi_skids_too(void **state)
{
	struct machine *m = *state;

	put64(m, TABLE_AT, OUT_AT | E_INT);
	put64(m, TABLE_AT + 8, OUT_AT + 4096);
	put64(m, TABLE_AT + 16, TABLE_AT | E_END);
	wr(m, OUTPUT_BASE, TABLE_AT);
	wr(m, OUTPUT_MASK, 4090ULL << 32 | 0x7f);
	wr(m, KNOB(PMI_SKID), 1);
	start(m, ON | TOPA);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
	assert_int_equal(m->pmis, 0);
	jump(m);
	assert_int_equal(m->pmis, 1);
}

static void two_pmis_that_wait_are_one(void **state)
{
	struct machine *m = *state;

	wr(m, KNOB(PMI_SKID), 2);
	overflow(m);
	jump(m);
	overflow(m);
	jump(m);
	assert_int_equal(m->pmis, 1);
	jump(m);
	jump(m);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(counter(m, PTM_N_PMI), 2);
}

static void a_withheld_pmi_is_counted_and_gone(void **state)
{
	struct machine *m = *state;

	wr(m, KNOB(PMI_WITHHOLD), 1);
	overflow(m);
	assert_int_equal(m->pmis, 0);
	assert_int_equal(counter(m, PTM_N_PMI), 1);
	assert_int_equal(counter(m, PTM_N_PMI_WITHHELD), 1);
	wr(m, KNOB(PMI_WITHHOLD), 0);
	jump(m);
	assert_int_equal(m->pmis, 0);
	overflow(m);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(counter(m, PTM_N_PMI_WITHHELD), 1);
}

/* Two regions; the second's entry changes while the first fills. */
static uint64_t second_region_after_edit(struct machine *m, uint64_t cached)
{
	const uint64_t third = OUT_AT + 0x8000;

	put64(m, TABLE_AT, OUT_AT);
	put64(m, TABLE_AT + 8, OUT_AT + 4096);
	put64(m, TABLE_AT + 16, TABLE_AT | E_END);
	memset(m->ram + OUT_AT, 0, 0x9000);
	wr(m, KNOB(TOPA_CACHE), cached);
	wr(m, OUTPUT_BASE, TABLE_AT);
	wr(m, OUTPUT_MASK, 0x7f);
	start(m, ON | TOPA);
	put64(m, TABLE_AT + 8, third);
	for (unsigned int i = 0; i < 2000; i++)
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	stop(m);
	assert_true((get64(m, third) != 0) != (get64(m, OUT_AT + 4096) != 0));
	return get64(m, third) ? third : OUT_AT + 4096;
}

static void cached_topa_entries_are_not_seen_to_change(void **state)
{
	struct machine *m = *state;

	assert_int_equal(second_region_after_edit(m, 0), OUT_AT + 0x8000);
	assert_int_equal(second_region_after_edit(m, 1), OUT_AT + 4096);
	/* Clearing TraceEn in between makes the change visible. */
	put64(m, TABLE_AT + 8, OUT_AT + 0x6000);
	wr(m, OUTPUT_BASE, TABLE_AT);
	wr(m, OUTPUT_MASK, 1ULL << 7);
	start(m, ON | TOPA);
	stop(m);
	assert_int_not_equal(get64(m, OUT_AT + 0x6000), 0);
}

static void the_nth_write_fails(void **state)
{
	struct machine *m = *state;

	wr(m, KNOB(WRITE_FAIL), 3);
	start(m, ON);
	rd(m, OUTPUT_MASK);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	rd(m, OUTPUT_MASK);
	assert_int_equal(rd(m, KNOB(WRITE_FAIL)), 1);
	assert_int_equal(rd(m, STATUS) & S_ERROR, 0);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	rd(m, OUTPUT_MASK);
	assert_int_equal(rd(m, STATUS) & (S_ERROR | S_TRIGGER_EN), S_ERROR);
	assert_int_equal(counter(m, PTM_N_ERRORS), 1);
	assert_int_equal(counter(m, PTM_N_LOST), 3);
	assert_int_equal(counter(m, PTM_N_BYTES), m->tee_n);
	assert_int_equal(rd(m, KNOB(WRITE_FAIL)), 0);
	stop(m);
	start(m, ON);
	stop(m);
	assert_int_equal(counter(m, PTM_N_ERRORS), 1);
}

#define DEBUGCTL	0x1d9

static void the_nth_wrmsr_faults_and_changes_nothing(void **state)
{
	struct machine *m = *state;
	uint64_t faults;

	single_range(m, OUT_AT, 4096);
	faults = counter(m, PTM_N_FAULTS);
	wr(m, KNOB(WRMSR_FAULT), 3);
	wr(m, OUTPUT_BASE, OUT_AT);
	wr(m, EVTSEL0, 0);			/* not of tracing: does not count */
	wr(m, GLOBAL_OVF_CTRL, 1);		/* a counter's */
	wr(m, GLOBAL_OVF_CTRL, BIT(55));
	assert_true(wr_faults(m, CTL, ON | TRACE_EN));
	assert_int_equal(rd(m, CTL) & TRACE_EN, 0);
	assert_int_equal(rd(m, KNOB(WRMSR_FAULT)), 0);
	assert_int_equal(counter(m, PTM_N_FAULTS), faults + 1);
	wr(m, CTL, ON | TRACE_EN);
	/* The one that would turn tracing off: it stays on. */
	wr(m, KNOB(WRMSR_FAULT), 1);
	assert_true(wr_faults(m, CTL, 0));
	assert_int_equal(rd(m, CTL), ON | TRACE_EN);
	wr(m, CTL, 0);
	wr(m, KNOB(WRMSR_FAULT), 2);
	wr(m, DEBUGCTL, BIT(6));
	assert_true(wr_faults(m, DEBUGCTL, 0));
	assert_int_equal(rd(m, DEBUGCTL), BIT(6));
	wr(m, KNOB(WRMSR_FAULT), 1);
	assert_true(wr_faults(m, GLOBAL_OVF_CTRL, BIT(55)));
	wr(m, DEBUGCTL, 0);
}

static void from_the_nth_wrmsr_on_all_fault(void **state)
{
	struct machine *m = *state;

	single_range(m, OUT_AT, 4096);
	wr(m, KNOB(WRMSR_REFUSE), 2);
	wr(m, CTL, ON | TRACE_EN);
	for (unsigned int i = 0; i < 3; i++) {
		assert_true(wr_faults(m, CTL, 0));
		assert_true(wr_faults(m, DEBUGCTL, 0));
		/* What the kernel's own PMU driver writes goes on working. */
		wr(m, GLOBAL_OVF_CTRL, BIT(55));
		assert_int_equal(rd(m, KNOB(WRMSR_REFUSE)), 1);
	}
	assert_int_equal(rd(m, CTL), ON | TRACE_EN);
	wr(m, KNOB(WRMSR_REFUSE), 0);
	wr(m, CTL, 0);
	wr(m, DEBUGCTL, 0);
}

static void msrs_refuse_what_is_out_of_range(void **state)
{
	static const struct {
		uint32_t msr;
		uint64_t good, bad;
	} cases[] = {
		{ KNOB(DROP), 1, 0 }, { KNOB(DROP), UINT32_MAX, BIT(32) },
		{ KNOB(PMI_SKID), 0, BIT(32) }, { KNOB(PMI_SKID), UINT32_MAX, ~0ULL },
		{ KNOB(PMI_WITHHOLD), 1, 2 }, { KNOB(TOPA_CACHE), 1, 2 },
		{ KNOB(WRITE_FAIL), UINT32_MAX, BIT(32) },
		{ KNOB(WRMSR_FAULT), UINT32_MAX, BIT(32) }, { KNOB(WRMSR_REFUSE), UINT32_MAX, BIT(32) },
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr(m, cases[i].msr, cases[i].good);
		assert_true(wr_faults(m, cases[i].msr, cases[i].bad));
		assert_int_equal(rd(m, cases[i].msr), cases[i].good);
	}
}

static void set_at_start_they_outlive_every_reset(void **state)
{
	static const uint64_t want[] = { 77, 8, 1, 1, 12345, 678, 910 };
	struct machine *m = *state;

	set(m, "drop=77");
	set(m, "pmi-skid=8");
	set(m, "pmi-withhold=on");
	set(m, "topa-cache=on");
	set(m, "write-fail=12345");
	set(m, "wrmsr-fault=678");
	set(m, "wrmsr-refuse=910");
	for (unsigned int k = 0; k < PTM_KNOBS; k++)
		assert_int_equal(rd(m, MSR_PTM_KNOB + k), want[k]);
	wr(m, KNOB(PMI_SKID), 9);
	ptm_reset(m->ptm, true);
	assert_int_equal(rd(m, KNOB(PMI_SKID)), 9);	/* INIT keeps it */
	ptm_reset(m->ptm, false);
	for (unsigned int k = 0; k < PTM_KNOBS; k++)
		assert_int_equal(rd(m, MSR_PTM_KNOB + k), want[k]);
	set(m, "pmi-skid=0");
	assert_int_equal(rd(m, KNOB(PMI_SKID)), 0);
	set(m, "pmi-withhold=off");
	assert_int_equal(rd(m, KNOB(PMI_WITHHOLD)), 0);
}

static void a_drop_set_at_start_takes_the_first_packets(void **state)
{
	struct machine *m = *state;

	set(m, "drop=1");
	mark(m);
	start(m, USER | BRANCH_EN);
	far_to(m, PTM_FAR, &user_ctx, KERN, KERN + 0x20);
	EXPECT(m, P_OVF, P_FUP(KERN + 0x20), P_PSB, P_CBR(CBR_RATIO), P_MODE64, P_FUP(KERN + 0x20),
	       P_PSBEND);
}

static void what_cannot_be_set_is_refused_by_name(void **state)
{
	static const char all[] = "drop=N with N from 1 to 4294967295, "
				  "pmi-skid=N with N from 0 to 4294967295, pmi-withhold=on|off, "
				  "topa-cache=on|off, write-fail=N with N from 0 to 4294967295, "
				  "wrmsr-fault=N with N from 0 to 4294967295, "
				  "wrmsr-refuse=N with N from 0 to 4294967295";
	static const struct {
		const char *text, *names, *offers;
	} cases[] = {
		{ "", "no knob ''", all }, { "skid=1", "no knob 'skid'", all },
		{ "pmi-ski=1", "no knob 'pmi-ski'", all }, { "=1", "no knob ''", all },
		{ "pmi-skids=1", "no knob 'pmi-skids'", all },
		{ "pmi-skid", "'' is no value of knob pmi-skid", "from 0 to 4294967295" },
		{ "pmi-skid=", "'' is no value of knob pmi-skid", "from 0 to 4294967295" },
		{ "pmi-skid=-1", "'-1'", "from 0 to 4294967295" },
		{ "pmi-skid= 1", "' 1'", "from 0 to 4294967295" },
		{ "pmi-skid=1x", "'1x'", "from 0 to 4294967295" },
		{ "pmi-skid=4294967296", "'4294967296'", "from 0 to 4294967295" },
		{ "pmi-skid=99999999999999999999999", "'99999999999999999999999'",
		  "from 0 to 4294967295" },
		{ "drop=0", "'0' is no value of knob drop", "drop=N with N from 1 to" },
		{ "topa-cache=1", "'1' is no value of knob topa-cache", "topa-cache=on|off" },
		{ "topa-cache=one", "'one'", "topa-cache=on|off" },
		{ "pmi-withhold", "'' is no value", "pmi-withhold=on|off" },
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char why[512] = "", little[9];

		if (ptm_knob_set(m->ptm, cases[i].text, why, sizeof(why)))
			fail_msg("'%s' accepted", cases[i].text);
		if (!strstr(why, cases[i].names) || !strstr(why, cases[i].offers))
			fail_msg("'%s': %s", cases[i].text, why);
		assert_false(ptm_knob_set(m->ptm, cases[i].text, little, sizeof(little)));
		assert_int_equal(strlen(little), sizeof(little) - 1);
		for (unsigned int k = 0; k < PTM_KNOBS; k++)
			assert_int_equal(rd(m, MSR_PTM_KNOB + k), 0);
	}
}

static void a_short_buffer_gets_what_fits(void **state)
{
	static const char *const texts[] = { "skid=1", "pmi-skid=x", "topa-cache=x" };
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		char whole[512], why[512];
		size_t len;

		assert_false(ptm_knob_set(m->ptm, texts[i], whole, sizeof(whole)));
		len = strlen(whole);
		for (size_t size = 1; size < len + 3; size++) {
			memset(why, 'x', sizeof(why));
			assert_false(ptm_knob_set(m->ptm, texts[i], why, size));
			assert_int_equal(strlen(why), size <= len ? size - 1 : len);
			assert_memory_equal(why, whole, strlen(why));
			assert_int_equal(why[size], 'x');
		}
	}
}

static void a_drop_waits_for_an_enable_that_succeeds(void **state)
{
	struct machine *m = *state;

	wr(m, KNOB(DROP), 100);
	wr(m, OUTPUT_BASE, OUT_AT + 0x800);
	wr(m, OUTPUT_MASK, 0xfff);
	start(m, OS | BRANCH_EN);
	assert_int_equal(rd(m, STATUS) & S_ERROR, S_ERROR);
	stop(m);
	assert_int_equal(rd(m, KNOB(DROP)), 100);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(a_pmi_skids_by_branches), T(a_pmi_that_waits_is_brought_forward),
		T(a_topa_pmi_skids_too), T(two_pmis_that_wait_are_one),
		T(a_withheld_pmi_is_counted_and_gone),
		T(cached_topa_entries_are_not_seen_to_change), T(the_nth_write_fails),
		T(the_nth_wrmsr_faults_and_changes_nothing), T(from_the_nth_wrmsr_on_all_fault),
		T(msrs_refuse_what_is_out_of_range), T(set_at_start_they_outlive_every_reset),
		T(a_drop_set_at_start_takes_the_first_packets),
		T(a_drop_waits_for_an_enable_that_succeeds),
		T(what_cannot_be_set_is_refused_by_name), T(a_short_buffer_gets_what_fits),
	};

	return cmocka_run_group_tests_name("knob", tests, NULL, NULL);
}
