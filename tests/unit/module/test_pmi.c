// SPDX-License-Identifier: GPL-2.0
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
static nmi_handler_t local[2], unknown;
static int locals;
static bool asserted;

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
}

u32 cpuid_eax(u32 leaf)
{
	return 4;
}

int register_nmi_handler(unsigned int type, nmi_handler_t handler, unsigned long flags,
			 const char *name)
{
	if (type == NMI_UNKNOWN)
		unknown = handler;
	else
		local[locals++] = handler;
	return 0;
}

void unregister_nmi_handler(unsigned int type, const char *name)
{
}

bool auxt_panicking(void)
{
	return false;
}

void auxt_panic_stop(void)
{
}

/* ---- a trace PMU with one interrupt ------------------------------------------ */

static bool acknowledge(struct auxt_channel *ch)
{
	bool was = asserted;

	asserted = false;
	return was;
}

bool auxt_channel_interrupt(struct auxt_channel *ch, bool was_asserted)
{
	return was_asserted;
}

static const struct trace_pmu pmu = { .acknowledge = acknowledge };
static struct auxt_channel channel = { .pmu = &pmu };

/* ---- the CPU ----------------------------------------------------------------- */

/* An NMI by the LVT entry: the CPU masks it. Returns whether a handler claimed the NMI. */
static bool deliver(void)
{
	int claimed = 0;

	assert_int_equal(lvtpc & APIC_LVT_MASKED, 0);
	lvtpc |= APIC_LVT_MASKED;
	for (int i = 0; i < locals; i++)
		claimed += local[i](NMI_LOCAL, NULL);
	return claimed || unknown(NMI_UNKNOWN, NULL);
}

static void ms_pass(u64 ms)
{
	now += ms * tsc_khz;
}

static int begin(void **state)
{
	locals = 0;
	lvtpc = APIC_LVT_MASKED;	/* as at reset */
	asserted = false;
	ms_pass(1000);
	assert_int_equal(auxt_pmi_init(), 0);
	assert_int_equal(locals, 2);
	auxt_pmi_route();
	assert_int_equal(lvtpc, APIC_DM_NMI);
	auxt_attached[0] = &channel;
	return 0;
}

static int end(void **state)
{
	auxt_attached[0] = NULL;
	auxt_pmi_unroute(false);
	assert_int_equal(lvtpc, APIC_LVT_MASKED);
	return 0;
}

static void a_handled_interrupt_comes_again(void **state)
{
	for (int i = 0; i < 3; i++) {
		asserted = true;
		assert_true(deliver());
		assert_int_equal(lvtpc, APIC_DM_NMI);
	}
}

static void one_late_nmi_is_claimed_for_each(void **state)
{
	asserted = true;
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
	asserted = true;
	assert_true(deliver());
	ms_pass(1000);
	assert_false(deliver());
	assert_int_equal(lvtpc, APIC_DM_NMI);
}

static void an_entry_of_other_code_is_left_alone(void **state)
{
	lvtpc = 0xec | APIC_LVT_MASKED;
	assert_int_equal(unknown(NMI_UNKNOWN, NULL), NMI_DONE);
	assert_int_equal(lvtpc, 0xec | APIC_LVT_MASKED);
	lvtpc = APIC_DM_NMI;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
	const struct CMUnitTest tests[] = {
		T(a_handled_interrupt_comes_again),
		T(one_late_nmi_is_claimed_for_each),
		T(an_nmi_that_is_too_late_does_not_end_the_interrupts),
		T(an_entry_of_other_code_is_left_alone),
	};

	return cmocka_run_group_tests_name("pmi", tests, NULL, NULL);
}
