// SPDX-License-Identifier: GPL-2.0-only
/*
 * module/hw/pmi.c on a machine without perf's driver: nobody else unmasks the LVT entry, which the
 * CPU masks whenever it delivers the interrupt. While a trace PMU is in use, no NMI leaves it masked.
 */

#include <string.h>
#include "cmocka_all.h"
#include "compat/compat.h"
#include "core/channel.h"
#include "core/trace_pmu.h"
#include <asm/nmi.h>
#include "hw/panic.h"
#include "hw/pmi.h"

unsigned int tsc_khz = 1000000;
int shim_nr_cpus = 1;
struct auxt_channel *auxt_attached[TRACE_PMUS];

static u64 now;
static u32 lvtpc;
static unsigned int apic_writes;
static bool asserted[TRACE_PMUS];
static unsigned int coming;	/* so many interrupts come, each as one is acknowledged */
static bool passed[TRACE_PMUS];	/* it has passed a mark, and perf has cleared the bit */
static unsigned int looks[2];	/* at the bit, and at the marks */
static unsigned int panic_stops;

/* In the order in which an NMI calls them, and that for unknown ones. */
static struct handler {
	unsigned int type;
	const char *name;
	nmi_handler_t call;
} handlers[3];
static unsigned int nr_handlers;
static unsigned int refused;	/* the how-many-th registration fails; 0: none */

void shim_point(void)
{
}

u64 rdtsc(void)
{
	return now;
}

u32 auxt_apic_read(u32 reg)
{
	assert_int_equal(reg, APIC_LVTPC);
	return lvtpc;
}

void auxt_apic_write(u32 reg, u32 value)
{
	assert_int_equal(reg, APIC_LVTPC);
	lvtpc = value;
	apic_writes++;
}

static bool has_apic;
static u32 pmu_version;
struct shim_cpu boot_cpu_data;

bool boot_cpu_has(unsigned int feature)
{
	assert_int_equal(feature, X86_FEATURE_APIC);
	return has_apic;
}

u32 cpuid_eax(u32 leaf)
{
	assert_int_equal(leaf, 0xa);
	return 0x07300800 | pmu_version;
}

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name)
{
	if (refused && !--refused)
		return -EBUSY;
	assert_true(nr_handlers < 3);
	/* Only one that is first comes before those of others. */
	assert_int_equal(flags, nr_handlers ? 0 : NMI_FLAG_FIRST);
	assert_int_equal(type, nr_handlers < 2 ? NMI_LOCAL : NMI_UNKNOWN);
	handlers[nr_handlers++] = (struct handler) { type, name, handler };
	return 0;
}

void unregister_nmi_handler(unsigned int type, const char *name)
{
	/* In reverse order. */
	assert_true(nr_handlers > 0);
	nr_handlers--;
	assert_int_equal(handlers[nr_handlers].type, type);
	assert_string_equal(handlers[nr_handlers].name, name);
}

atomic_t auxt_panic_seen;

void auxt_panic_stop(void)
{
	panic_stops++;
}

/* ---- trace PMUs with an interrupt each ---------------------------------------- */

static struct auxt_channel channels[TRACE_PMUS];

static bool acknowledge(struct auxt_channel *ch)
{
	bool was = asserted[ch - channels];

	looks[0]++;
	asserted[ch - channels] = coming > 0;
	coming -= coming > 0;
	return was;
}

bool auxt_channel_interrupt(struct auxt_channel *ch, bool was_asserted)
{
	bool was_passed = passed[ch - channels];

	if (was_asserted)
		return true;
	looks[1]++;
	passed[ch - channels] = false;
	return was_passed;
}

static const struct trace_pmu pmu = { .acknowledge = acknowledge };

/* ---- the CPU ----------------------------------------------------------------- */

/* An NMI by the LVT entry: the CPU masks it. Returns how many events the handlers claimed. */
static int deliver(void)
{
	int claimed;

	assert_int_equal(lvtpc, APIC_DM_NMI);
	lvtpc |= APIC_LVT_MASKED;
	claimed = handlers[0].call(NMI_LOCAL, NULL) + handlers[1].call(NMI_LOCAL, NULL);
	return claimed ?: handlers[2].call(NMI_UNKNOWN, NULL);
}

static void ms_pass(u64 ms)
{
	now += ms * tsc_khz;
}

static int begin(void **state)
{
	nr_handlers = refused = coming = panic_stops = 0;
	atomic_set(&auxt_panic_seen, 0);
	memset(asserted, 0, sizeof(asserted));
	memset(passed, 0, sizeof(passed));
	for (unsigned int i = 0; i < TRACE_PMUS; i++)
		channels[i].pmu = &pmu;
	lvtpc = APIC_LVT_MASKED;	/* as at reset */
	ms_pass(1000);
	assert_int_equal(auxt_pmi_init(), 0);
	assert_int_equal(nr_handlers, 3);
	auxt_pmi_route();
	assert_int_equal(lvtpc, APIC_DM_NMI);
	auxt_attached[0] = &channels[0];
	return 0;
}

static int end(void **state)
{
	memset(auxt_attached, 0, sizeof(auxt_attached));
	auxt_pmi_unroute(false);
	assert_int_equal(lvtpc, APIC_LVT_MASKED);
	auxt_pmi_exit();
	assert_int_equal(nr_handlers, 0);
	return 0;
}

static void a_handled_interrupt_comes_again(void **state)
{
	for (int i = 0; i < 3; i++) {
		asserted[0] = true;
		assert_true(deliver());
		assert_int_equal(lvtpc, APIC_DM_NMI);
	}
}

static void one_late_nmi_is_claimed_for_each(void **state)
{
	asserted[0] = true;
	assert_true(deliver());
	ms_pass(1);
	assert_true(deliver());
	assert_int_equal(lvtpc, APIC_DM_NMI);
	/* The next is unknown, but the one after it must be able to come. */
	assert_false(deliver());
	assert_int_equal(lvtpc, APIC_DM_NMI);
}

static void an_nmi_that_is_too_late_does_not_end_the_interrupts(void **state)
{
	asserted[0] = true;
	assert_true(deliver());
	ms_pass(11);
	assert_false(deliver());
	assert_int_equal(lvtpc, APIC_DM_NMI);
	/* At the bound it is still in time. */
	asserted[0] = true;
	assert_true(deliver());
	ms_pass(10);
	assert_true(deliver());
}

/* A number above one tells the kernel that another NMI may be latched. */
static void an_nmi_handles_all_that_came_of_each_trace_pmu(void **state)
{
	assert_int_equal(deliver(), 0);
	auxt_attached[1] = &channels[1];
	asserted[0] = asserted[1] = true;
	assert_int_equal(deliver(), 2);
	assert_false(asserted[0] || asserted[1]);
	asserted[0] = true;
	coming = 3;
	assert_int_equal(deliver(), 4);
	assert_int_equal(coming, 0);
	/* The first handler takes one of each: what comes meanwhile is the last one's. */
	asserted[0] = asserted[1] = true;
	coming = 1;
	assert_int_equal(handlers[0].call(NMI_LOCAL, NULL), 2);
	assert_int_equal(handlers[1].call(NMI_LOCAL, NULL), 1);
}

/* Each look is MSR accesses. Without a trace PMU that uses the interrupt there is none. */
static void an_nmi_of_others_costs_few_looks(void **state)
{
	memset(looks, 0, sizeof(looks));
	assert_int_equal(handlers[0].call(NMI_LOCAL, NULL), 0);
	assert_int_equal(looks[0], 1);
	assert_int_equal(looks[1], 0);
	assert_int_equal(handlers[1].call(NMI_LOCAL, NULL), 0);
	assert_int_equal(looks[0], 2);
	assert_int_equal(looks[1], 1);
	auxt_pmi_unroute(false);
	assert_int_equal(handlers[0].call(NMI_LOCAL, NULL) + handlers[1].call(NMI_LOCAL, NULL), 0);
	assert_int_equal(looks[0], 2);
	assert_int_equal(looks[1], 1);
	auxt_pmi_route();
}

/* perf's handler has acknowledged it, too. What comes after that is handled as well. */
static void an_interrupt_that_perf_has_dropped_is_found_by_its_mark(void **state)
{
	for (unsigned int n = 0; n < 3; n++) {
		lvtpc |= APIC_LVT_MASKED;
		assert_int_equal(handlers[0].call(NMI_LOCAL, NULL), 0);
		passed[0] = true;
		coming = n;
		assert_int_equal(handlers[1].call(NMI_LOCAL, NULL), 1 + n);
		assert_false(asserted[0]);
		assert_int_equal(lvtpc, APIC_DM_NMI);
		/* Its own NMI may follow. */
		assert_true(deliver());
	}
}

static void an_area_that_fills_at_once_does_not_keep_the_nmi(void **state)
{
	asserted[0] = true;
	coming = 1000;
	assert_in_range(deliver(), 2, 100);
	assert_true(asserted[0]);
	coming = 0;
}

static void when_the_kernel_crashes_the_first_handler_claims_the_nmi(void **state)
{
	atomic_set(&auxt_panic_seen, 1);
	asserted[0] = true;
	assert_int_equal(deliver(), 1);
	assert_int_equal(panic_stops, 1);
	/* The trace PMU is the crash's. */
	assert_true(asserted[0]);
	lvtpc = APIC_DM_NMI;
}

/* What the entry is before, while a trace PMU is in use, and after. */
static void an_entry_is_taken_if_it_is_free_and_given_back(void **state)
{
	static const u32 entries[][3] = {
		{ APIC_LVT_MASKED, APIC_DM_NMI, APIC_LVT_MASKED },
		{ 0, APIC_DM_NMI, 0 },
		{ APIC_DM_NMI, APIC_DM_NMI, APIC_DM_NMI },
		/* An interrupt that nobody has handled. */
		{ APIC_DM_NMI | APIC_LVT_MASKED, APIC_DM_NMI, APIC_DM_NMI },
		/* A vector, and an SMI. */
		{ 0xec, 0xec, 0xec },
		{ 0xec | APIC_LVT_MASKED, 0xec | APIC_LVT_MASKED, 0xec | APIC_LVT_MASKED },
		{ 0x200, 0x200, 0x200 },
	};

	auxt_pmi_unroute(false);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++) {
		lvtpc = entries[i][0];
		auxt_pmi_route();
		assert_int_equal(lvtpc, entries[i][1]);
		/* The second user, and the end of one, change nothing. */
		auxt_pmi_route();
		auxt_pmi_unroute(false);
		assert_int_equal(lvtpc, entries[i][1]);
		auxt_pmi_unroute(false);
		assert_int_equal(lvtpc, entries[i][2]);
	}
	/* Other code has taken it meanwhile. */
	lvtpc = 0;
	auxt_pmi_route();
	lvtpc = 0xec;
	auxt_pmi_unroute(false);
	assert_int_equal(lvtpc, 0xec);
	lvtpc = APIC_LVT_MASKED;
	auxt_pmi_route();
}

static void an_nmi_that_stop_left_pending_is_claimed_and_unmasked_for_perf(void **state)
{
	auxt_pmi_unroute(false);
	lvtpc = APIC_DM_NMI;
	auxt_pmi_route();
	auxt_attached[0] = NULL;
	auxt_pmi_unroute(true);
	assert_int_equal(deliver(), 1);
	assert_int_equal(lvtpc, APIC_DM_NMI);
	/* The next is perf's to unmask, or the machine's. */
	assert_int_equal(deliver(), 0);
	assert_int_equal(lvtpc, APIC_DM_NMI | APIC_LVT_MASKED);
	/* Nothing was pending. */
	lvtpc = APIC_DM_NMI;
	auxt_pmi_route();
	auxt_pmi_unroute(false);
	assert_int_equal(deliver(), 0);
	lvtpc = APIC_LVT_MASKED;
	auxt_pmi_route();
}

static void of_three_handlers_all_are_registered_or_none(void **state)
{
	auxt_pmi_exit();
	assert_int_equal(nr_handlers, 0);
	for (unsigned int n = 1; n <= 3; n++) {
		refused = n;
		assert_int_equal(auxt_pmi_init(), -EBUSY);
		assert_int_equal(nr_handlers, 0);
	}
	assert_int_equal(auxt_pmi_init(), 0);
}

static void an_entry_of_other_code_is_left_alone(void **state)
{
	lvtpc = 0xec | APIC_LVT_MASKED;
	assert_int_equal(handlers[2].call(NMI_UNKNOWN, NULL), NMI_DONE);
	assert_int_equal(lvtpc, 0xec | APIC_LVT_MASKED);
	lvtpc = APIC_DM_NMI;
}

/* In a virtual machine each write of the APIC may leave the guest. */
static void an_entry_that_is_not_masked_is_not_written(void **state)
{
	apic_writes = 0;
	lvtpc = APIC_DM_NMI;
	assert_int_equal(handlers[2].call(NMI_UNKNOWN, NULL), NMI_DONE);
	assert_int_equal(apic_writes, 0);
	lvtpc |= APIC_LVT_MASKED;
	assert_int_equal(handlers[2].call(NMI_UNKNOWN, NULL), NMI_DONE);
	assert_int_equal(apic_writes, 1);
	assert_int_equal(lvtpc, APIC_DM_NMI);
}

static void an_interrupt_needs_an_apic_and_a_pmu_of_that_version(void **state)
{
	for (unsigned int i = 0; i < 18; i++) {
		has_apic = i % 2;
		pmu_version = 1 + i / 2 % 3;
		boot_cpu_data.cpuid_level = 9 + i / 6;
		for (unsigned int least = 1; least <= 4; least++)
			assert_int_equal(auxt_pmi_exists(least), has_apic && pmu_version >= least &&
								 boot_cpu_data.cpuid_level >= 0xa);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_handled_interrupt_comes_again),
		T(one_late_nmi_is_claimed_for_each),
		T(an_nmi_that_is_too_late_does_not_end_the_interrupts),
		T(an_nmi_handles_all_that_came_of_each_trace_pmu),
		T(an_nmi_of_others_costs_few_looks),
		T(an_interrupt_that_perf_has_dropped_is_found_by_its_mark),
		T(an_area_that_fills_at_once_does_not_keep_the_nmi),
		T(when_the_kernel_crashes_the_first_handler_claims_the_nmi),
		T(an_entry_of_other_code_is_left_alone),
		T(an_entry_that_is_not_masked_is_not_written),
		T(an_entry_is_taken_if_it_is_free_and_given_back),
		T(an_nmi_that_stop_left_pending_is_claimed_and_unmasked_for_perf),
		T(of_three_handlers_all_are_registered_or_none),
		T(an_interrupt_needs_an_apic_and_a_pmu_of_that_version),
	};

	return cmocka_run_group_tests_name("pmi", tests, NULL, NULL);
}
