// SPDX-License-Identifier: GPL-2.0
/*
 * Intel PT's registers: module/hw/pt.c on a simulated CPU, where each WRMSR may fault, and where
 * other code turns tracing on. While the hardware can write to a session's pages, the channel is
 * attached or stuck; after it, the registers are as before.
 */

#include <string.h>
#include "cmocka_all.h"
#include "compat/compat.h"
#include "core/channel.h"
#include "hw/pmi.h"
#include "hw/pt.h"
#include "hw/pt_tables.h"

#define SIZE		(4 * AUXT_REGION_SIZE)
#define TABLE		0x123000ull
#define WAS_BASE	0x777000ull
#define WAS_MASK	0x1230000007full

int shim_nr_cpus = 1;

void shim_point(void)
{
}

u64 rdtsc(void)
{
	return 1;
}

/* ---- the CPU: SDM, "Intel Processor Trace", configuration MSRs -------------- */

static struct {
	u64 base, mask, ctl, status, global_status;
	unsigned int fault;	/* the write that faults: 1 is the next; 0: none */
	unsigned int refuse;	/* likewise, and all later ones */
	unsigned int writes;
} cpu;

static u64 *reg(u32 msr)
{
	switch (msr) {
	case MSR_IA32_RTIT_OUTPUT_BASE:
		return &cpu.base;
	case MSR_IA32_RTIT_OUTPUT_MASK:
		return &cpu.mask;
	case MSR_IA32_RTIT_CTL:
		return &cpu.ctl;
	case MSR_IA32_RTIT_STATUS:
		return &cpu.status;
	default:
		assert_int_equal(msr, MSR_CORE_PERF_GLOBAL_STATUS);
		return &cpu.global_status;
	}
}

u64 auxt_rdmsr(u32 msr)
{
	return *reg(msr);
}

int auxt_rdmsr_safe(u32 msr, u64 *value)
{
	*value = *reg(msr);
	return 0;
}

int auxt_wrmsr(u32 msr, u64 value)
{
	cpu.writes++;
	if (cpu.fault && !--cpu.fault)
		return -EIO;
	if (cpu.refuse == 1)
		return -EIO;
	if (cpu.refuse)
		cpu.refuse--;
	if (msr == MSR_CORE_PERF_GLOBAL_OVF_CTRL) {
		cpu.global_status &= ~value;
		return 0;
	}
	/* While TraceEn is set, only a write that clears it may change anything. */
	if (cpu.ctl & RTIT_CTL_TRACEEN &&
	    (msr != MSR_IA32_RTIT_CTL || (value & RTIT_CTL_TRACEEN && value != cpu.ctl)))
		return -EIO;
	*reg(msr) = value;
	return 0;
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	/* A Skylake. */
	*eax = subleaf ? 0x02490002 : 1;
	*ebx = subleaf ? 0x003f1fff : 0xf;
	*ecx = subleaf ? 0 : 7;
	*edx = 0;
}

static bool tracing(void)
{
	return cpu.ctl & RTIT_CTL_TRACEEN;
}

/* ---- the rest of the module -------------------------------------------------- */

static u64 table[512];
static u64 *tables[] = { table };
static u64 phys[] = { TABLE };
static struct auxt_topa topa;
static int routed, kept_tables;

struct auxt_topa *auxt_pt_tables_new(struct auxt_channel *ch)
{
	memset(table, 0, sizeof(table));
	topa = (struct auxt_topa) { .tables = tables, .phys = phys, .nr_tables = 1,
				    .nr_regions = SIZE / AUXT_REGION_SIZE };
	ch->aux.cycle = SIZE;
	return &topa;
}

void auxt_pt_tables_free(struct auxt_topa *freed, unsigned int slots, bool keep_tables)
{
	kept_tables = keep_tables;
}

unsigned long auxt_pt_tables_pages(const struct auxtrace_setup *setup)
{
	return 1;
}

bool auxt_pmi_exists(unsigned int version)
{
	return true;
}

void auxt_pmi_route(void)
{
	routed++;
}

void auxt_pmi_unroute(bool pmi_pending)
{
	routed--;
}

/* ---- tests ------------------------------------------------------------------- */

static struct auxt_channel channel;

static int begin(void **state)
{
	memset(&cpu, 0, sizeof(cpu));
	cpu.base = WAS_BASE;
	cpu.mask = WAS_MASK;
	routed = 0;
	auxt_pt_detect();
	memset(&channel, 0, sizeof(channel));
	channel.now.slots = 1;
	auxt_position_init(&channel.aux, SIZE, SIZE, SIZE / 2, false);
	assert_int_equal(auxt_pt.setup(&channel, AUXTRACE_SETUP_USER, 0), 0);
	auxt_position_plan(&channel.aux);
	return 0;
}

static int end(void **state)
{
	if (channel.hw)
		auxt_pt.cleanup(&channel);
	return 0;
}

static void as_before(void)
{
	assert_false(tracing());
	assert_int_equal(cpu.base, WAS_BASE);
	assert_int_equal(cpu.mask, WAS_MASK);
	assert_int_equal(routed, 0);
	assert_false(channel.stuck);
}

/* A session with a pause. Returns what went wrong: -errno of claim, TRACE_* or 0. */
static int live(void)
{
	int err = auxt_pt.claim(&channel), wrong = 0;

	if (err)
		return err;
	for (int i = 0; i < 2 && !wrong; i++) {
		if (auxt_pt.start(&channel, true))
			wrong = TRACE_ERROR;
		else
			wrong = auxt_pt.stop(&channel);
		/* Off, whatever was wrong, unless the CPU goes on refusing. */
		if (cpu.refuse != 1)
			assert_false(tracing());
	}
	cpu.global_status = MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI;
	auxt_pt.release(&channel);
	return wrong;
}

static void a_session_restores_the_registers(void **state)
{
	assert_int_equal(live(), 0);
	as_before();
	assert_int_equal(cpu.global_status, 0);
}

static void each_write_may_fault_once(void **state)
{
	unsigned int writes, refused = 0, shown = 0;

	live();
	writes = cpu.writes;
	for (unsigned int n = 1; n <= writes; n++) {
		int wrong;

		cpu.fault = n;
		wrong = live();
		assert_int_equal(cpu.fault, 0);
		refused += wrong == -EIO;
		shown += wrong == TRACE_ERROR;
		as_before();
		/* The next session works. */
		assert_int_equal(live(), 0);
		as_before();
	}
	/* Two pointers; STATUS and CTL of two starts. */
	assert_int_equal(refused, 2);
	assert_int_equal(shown, 4);
}

static void what_a_refusing_cpu_may_still_write_is_kept(void **state)
{
	unsigned int writes, stuck = 0;

	live();
	writes = cpu.writes;
	for (unsigned int n = 1; n <= writes; n++) {
		cpu.refuse = n;
		live();
		/* Our tables are in the registers, or nothing is wrong. */
		if (tracing() || cpu.base != WAS_BASE || cpu.mask != WAS_MASK)
			assert_true(channel.stuck);
		else
			assert_int_equal(routed, 0);
		stuck += channel.stuck;
		if (tracing())
			assert_int_equal(auxt_pt.claim(&channel), -EBUSY);
		/* It does not give in yet. */
		if (channel.stuck)
			assert_int_equal(auxt_pt.recover(), -EIO);
		/* It gives in: what a later START does, after which perf may have the CPU. */
		cpu.refuse = 0;
		assert_int_equal(auxt_pt.recover(), 0);
		channel.stuck = false;
		as_before();
		/* Nothing is left to restore: what perf writes stays. */
		cpu.base = ~WAS_BASE;
		assert_int_equal(auxt_pt.recover(), 0);
		assert_int_equal(cpu.base, ~WAS_BASE);
		cpu.base = WAS_BASE;
		assert_int_equal(live(), 0);
		as_before();
	}
	assert_true(stuck > 0);
}

static void tables_of_stuck_hardware_are_kept(void **state)
{
	for (int stuck = 0; stuck < 2; stuck++) {
		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		cpu.refuse = stuck;
		auxt_pt.stop(&channel);
		auxt_pt.release(&channel);
		auxt_pt.cleanup(&channel);
		assert_int_equal(kept_tables, stuck);
		cpu.refuse = 0;
		begin(state);
	}
}

/* As KVM, whose write of the register is older than our stop. */
static void others_turn_it_on(void)
{
	u64 on;

	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	on = cpu.ctl;
	assert_int_equal(auxt_pt.stop(&channel), 0);
	assert_int_equal(auxt_wrmsr(MSR_IA32_RTIT_CTL, on), 0);
}

static void release_turns_off_what_others_turned_on(void **state)
{
	others_turn_it_on();
	auxt_pt.release(&channel);
	as_before();
}

static void a_start_finds_what_others_turned_on(void **state)
{
	others_turn_it_on();
	assert_int_equal(auxt_pt.start(&channel, true), -EIO);
	assert_false(tracing());
	auxt_pt.release(&channel);
	as_before();
}

static void a_cpu_that_has_less_than_the_session_asks_refuses_the_claim(void **state)
{
	auxt_pt.cleanup(&channel);
	assert_int_equal(auxt_pt.setup(&channel, AUXTRACE_SETUP_USER, PT_CONFIG_PTW), 0);
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_session_restores_the_registers),
		T(each_write_may_fault_once),
		T(what_a_refusing_cpu_may_still_write_is_kept),
		T(tables_of_stuck_hardware_are_kept),
		T(release_turns_off_what_others_turned_on),
		T(a_start_finds_what_others_turned_on),
		T(a_cpu_that_has_less_than_the_session_asks_refuses_the_claim),
	};

	return cmocka_run_group_tests_name("pt", tests, NULL, NULL);
}
