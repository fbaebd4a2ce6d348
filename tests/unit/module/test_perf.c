// SPDX-License-Identifier: GPL-2.0-only
/* Triggers that are perf events: module/trigger/perf.c, with perf simulated. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include "cmocka_all.h"
#include "trigger/hit.h"
#include "trigger/trigger.h"

#define NR_CPUS	4

/* ---- the kernel ---------------------------------------------------------- */

int shim_nr_cpus = NR_CPUS;
static int errno_of_cpu[NR_CPUS];		/* of creating a counter there */
static struct perf_event *event_of_cpu[NR_CPUS];
static unsigned int nr_created, nr_released, nr_hits;
static struct pmu pmu;
static int new_state;				/* of a counter, when it has been created */

void shim_point(void)
{
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t handler,
						    void *context)
{
	struct perf_event *event;

	if (errno_of_cpu[cpu])
		return ERR_PTR(-errno_of_cpu[cpu]);
	event = calloc(1, sizeof(*event));
	assert_non_null(event);
	*event = (struct perf_event) {
		.attr = *attr, .pmu = &pmu, .state = new_state,
		.attach_state = PERF_ATTACH_CONTEXT, .overflow_handler = handler,
		.overflow_handler_context = context, .cpu = cpu,
	};
	assert_null(event_of_cpu[cpu]);
	event_of_cpu[cpu] = event;
	nr_created++;
	return event;
}

int perf_event_release_kernel(struct perf_event *event)
{
	assert_ptr_equal(event_of_cpu[event->cpu], event);
	event_of_cpu[event->cpu] = NULL;
	free(event);
	nr_released++;
	return 0;
}

/*
 * When PEBS interrupts: at each event, or when its buffer is nearly full, which the handler
 * learns of once. intel_pmu_hw_config() in arch/x86/events/intel/core.c, alike in Linux 5.10,
 * 6.1, 6.12 and 7: it needs a frequency, or wakeups that are counted in events.
 */
static bool pebs_interrupts_at_each_event(const struct perf_event_attr *attr)
{
	return attr->freq || (!attr->watermark && attr->wakeup_events > 0);
}

/* ---- the module ---------------------------------------------------------- */

static struct trigger_counts counts;
static struct auxt_trigger trigger;

void auxt_trigger_hit(struct auxt_trigger *t, u64 value)
{
	assert_ptr_equal(t, &trigger);
	assert_int_equal(value, 0);
	nr_hits++;
}

/* ---- tests --------------------------------------------------------------- */

static int begin(void **state)
{
	/* What a test that failed has left. */
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
		free(event_of_cpu[cpu]);
		event_of_cpu[cpu] = NULL;
	}
	memset(errno_of_cpu, 0, sizeof(errno_of_cpu));
	memset(&counts, 0, sizeof(counts));
	trigger = (struct auxt_trigger) { .counts = &counts };
	nr_created = nr_released = nr_hits = 0;
	pmu.name = "cpu";
	new_state = PERF_EVENT_STATE_ACTIVE;
	return 0;
}

static int attach_sized(const void *attr, u32 size)
{
	const struct auxtrace_trigger arg = {
		.kind = AUXTRACE_TRIGGER_PERF, .attr = (uintptr_t)attr, .attr_len = size,
	};

	return auxt_trigger_perf.attach(&trigger, &arg);
}

static int attach(const struct perf_event_attr *attr)
{
	return attach_sized(attr, sizeof(*attr));
}

static int attach_breakpoint(void)
{
	const struct auxtrace_trigger arg = {
		.kind = AUXTRACE_TRIGGER_BREAKPOINT, .address = 4096,
		.number = HW_BREAKPOINT_RW | HW_BREAKPOINT_LEN_8 << 8,
	};

	return auxt_trigger_breakpoint.attach(&trigger, &arg);
}

static void detach(void)
{
	unsigned int before = shim_grace_periods;

	auxt_trigger_perf.detach(&trigger);
	/* An overflow handler on another CPU has ended by then. */
	assert_int_equal(shim_grace_periods, before + 1);
	assert_int_equal(nr_created, nr_released);
}

static const struct perf_event_attr instructions = {
	.type = PERF_TYPE_HARDWARE, .size = sizeof(instructions),
	.config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 1000,
};

static void a_precise_counter_interrupts_at_each_event(void **state)
{
	for (unsigned int precise = 0; precise <= 3; precise++) {
		/* What the caller says about samples changes nothing. */
		for (unsigned int samples = 0; samples < 4; samples++) {
			struct perf_event_attr attr = instructions;

			attr.precise_ip = precise;
			attr.sample_type = samples & 1 ? PERF_SAMPLE_IP | PERF_SAMPLE_TID : 0;
			attr.watermark = samples >> 1;
			attr.wakeup_watermark = samples & 2 ? 4096 : 0;
			assert_int_equal(attach(&attr), 0);
			assert_int_equal(nr_created - nr_released, NR_CPUS);
			for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++) {
				assert_int_equal(event_of_cpu[cpu]->attr.precise_ip, precise);
				assert_true(pebs_interrupts_at_each_event(&event_of_cpu[cpu]->attr));
			}
			detach();
		}
	}
}

static void a_frequency_remains_one(void **state)
{
	struct perf_event_attr attr = instructions;

	attr.freq = 1;
	attr.precise_ip = 2;
	assert_int_equal(attach(&attr), 0);
	assert_int_equal(event_of_cpu[0]->attr.freq, 1);
	assert_int_equal(event_of_cpu[0]->attr.sample_freq, 1000);
	assert_true(pebs_interrupts_at_each_event(&event_of_cpu[0]->attr));
	detach();
}

static void overflow(unsigned int cpu)
{
	struct perf_event *event = event_of_cpu[cpu];

	event->overflow_handler(event, NULL, NULL);
}

/* perf tells its handler so for the last time before it turns the counter off. */
static void each_time_that_perf_throttles_is_a_miss(void **state)
{
	assert_int_equal(attach(&instructions), 0);
	event_of_cpu[1]->hw.interrupts = 5;
	overflow(1);
	assert_int_equal(nr_hits, 1);
	assert_int_equal(counts.missed, 0);
	event_of_cpu[1]->hw.interrupts = ~0ull;
	overflow(1);
	assert_int_equal(nr_hits, 2);
	assert_int_equal(counts.missed, 1);
	event_of_cpu[1]->hw.interrupts = 0;
	overflow(1);
	assert_int_equal(nr_hits, 3);
	assert_int_equal(counts.missed, 1);
	detach();
}

static void a_cpu_whose_pmu_lacks_the_event_has_no_counter(void **state)
{
	errno_of_cpu[0] = errno_of_cpu[2] = ENOENT;
	assert_int_equal(attach(&instructions), 0);
	assert_null(event_of_cpu[0]);
	assert_non_null(event_of_cpu[1]);
	assert_null(event_of_cpu[2]);
	assert_non_null(event_of_cpu[3]);
	/* Nor does it get one when a CPU comes back online. */
	auxt_trigger_perf.renew(&trigger);
	assert_int_equal(nr_created, 2);
	detach();
}

static void an_event_of_no_cpu_is_refused(void **state)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		errno_of_cpu[cpu] = ENOENT;
	assert_int_equal(attach(&instructions), -ENOENT);
	/* A CPU that is offline does not make it possible. */
	errno_of_cpu[NR_CPUS - 1] = ENODEV;
	assert_int_equal(attach(&instructions), -ENOENT);
	assert_int_equal(nr_created, 0);
}

static void a_cpu_that_is_offline_gets_its_counter_later(void **state)
{
	for (unsigned int cpu = 0; cpu < NR_CPUS; cpu++)
		errno_of_cpu[cpu] = ENODEV;
	assert_int_equal(attach(&instructions), 0);
	assert_int_equal(nr_created, 0);
	errno_of_cpu[2] = 0;
	auxt_trigger_perf.renew(&trigger);
	assert_int_equal(nr_created, 1);
	assert_non_null(event_of_cpu[2]);
	detach();
}

static void any_other_error_leaves_nothing(void **state)
{
	errno_of_cpu[0] = ENOENT;
	errno_of_cpu[3] = EBUSY;
	assert_int_equal(attach(&instructions), -EBUSY);
	assert_int_equal(nr_created, 2);
	assert_int_equal(nr_released, 2);
}

/* Of a breakpoint EPERM is a lack of privilege, of other events the kernel's lockdown. */
static void a_locked_down_kernel_is_told_from_a_lack_of_privilege(void **state)
{
	errno_of_cpu[1] = EPERM;
	assert_int_equal(attach(&instructions), -EPERM);
	assert_int_equal(attach_breakpoint(), -EACCES);
	assert_int_equal(nr_created, nr_released);
}

/* The others ask for samples, or for what perf_event_open(2) would have checked. */
static void only_what_is_counted_is_taken_from_the_caller(void **state)
{
	struct perf_event_attr attr, expected;

	memset(&attr, 0xff, sizeof(attr));
	attr.type = 1;
	attr.config = 2;
	attr.config1 = 3;
	attr.config2 = 4;
	attr.bp_type = 5;
	attr.sample_period = 6;
	attr.disabled = 0;
	attr.inherit = 0;
	expected = (struct perf_event_attr) {
		.type = 1, .size = sizeof(expected), .config = 2, .config1 = 3, .config2 = 4,
		.bp_type = 5, .sample_period = 6, .freq = 1, .precise_ip = 3, .exclude_user = 1,
		.exclude_kernel = 1, .exclude_hv = 1, .exclude_idle = 1, .exclude_host = 1,
		.exclude_guest = 1, .pinned = 1, .wakeup_events = 1,
	};
	assert_int_equal(attach(&attr), 0);
	assert_memory_equal(&event_of_cpu[0]->attr, &expected, sizeof(expected));
	detach();
}

static void an_event_that_would_not_count_is_refused(void **state)
{
	static const struct {
		u64 period;
		bool disabled, inherit;
		u32 size;
		int err;
	} cases[] = {
		{ 1, false, false, PERF_ATTR_SIZE_VER0, 0 },
		{ 1, false, false, 4096, 0 },
		{ 1, false, false, PERF_ATTR_SIZE_VER0 - 1, -EINVAL },
		{ 1, false, false, 4097, -E2BIG },
		{ 0, false, false, PERF_ATTR_SIZE_VER0, -EINVAL },
		{ 1ull << 63, false, false, PERF_ATTR_SIZE_VER0, -EINVAL },
		{ (1ull << 63) - 1, false, false, PERF_ATTR_SIZE_VER0, 0 },
		{ 1, true, false, PERF_ATTR_SIZE_VER0, -EINVAL },
		{ 1, false, true, PERF_ATTR_SIZE_VER0, -EINVAL },
	};
	union {
		struct perf_event_attr attr;
		char bytes[4097];
	} arg;

	memset(&arg, 0, sizeof(arg));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		arg.attr = instructions;
		arg.attr.sample_period = cases[i].period;
		arg.attr.disabled = cases[i].disabled;
		arg.attr.inherit = cases[i].inherit;
		assert_int_equal(attach_sized(&arg, cases[i].size), cases[i].err);
		if (!cases[i].err)
			detach();
	}
	/* What a newer perf counts by. */
	arg.attr = instructions;
	arg.bytes[sizeof(arg.attr)] = 1;
	assert_int_equal(attach_sized(&arg, sizeof(arg.attr) + 1), -E2BIG);
}

static void a_breakpoint_hits_at_each_access_from_the_begin(void **state)
{
	const struct auxtrace_trigger negative = {
		.kind = AUXTRACE_TRIGGER_BREAKPOINT, .address = 4096, .number = -1,
	};
	/* What perf makes of it is perf's. */
	const struct auxtrace_trigger zero = {
		.kind = AUXTRACE_TRIGGER_BREAKPOINT, .address = 4096, .number = 0,
	};
	const struct perf_event_attr *attr;

	assert_int_equal(attach_breakpoint(), 0);
	attr = &event_of_cpu[0]->attr;
	assert_int_equal(attr->type, PERF_TYPE_BREAKPOINT);
	assert_int_equal(attr->bp_type, HW_BREAKPOINT_RW);
	assert_int_equal(attr->bp_len, HW_BREAKPOINT_LEN_8);
	assert_int_equal(attr->bp_addr, 4096);
	assert_int_equal(attr->sample_period, 1);
	assert_false(attr->disabled);
	detach();
	assert_int_equal(auxt_trigger_breakpoint.attach(&trigger, &negative), -EINVAL);
	assert_int_equal(auxt_trigger_breakpoint.attach(&trigger, &zero), 0);
	assert_int_equal(event_of_cpu[0]->attr.bp_type, 0);
	detach();
}

static void a_counter_without_hardware_is_released(void **state)
{
	new_state = PERF_EVENT_STATE_INACTIVE - 1;
	assert_int_equal(attach(&instructions), -EBUSY);
	assert_int_equal(nr_created, 1);
	assert_int_equal(nr_released, 1);
	/* It has hardware, but perf does not count now. */
	new_state = PERF_EVENT_STATE_INACTIVE;
	assert_int_equal(attach(&instructions), 0);
	detach();
}

/* A name that user memory held may be another by then. */
static void a_cpu_that_comes_back_gets_its_counter_unless_it_was_named(void **state)
{
	static const struct {
		const char *pmu;
		u64 config1;
		bool again;
	} cases[] = {
		{ "cpu", 1, true }, { NULL, 1, true }, { "kprobe", 0, true }, { "uprobe", 0, true },
		{ "kprobe", 1, false }, { "uprobe", 1, false },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct perf_event_attr attr = instructions;

		attr.config1 = cases[i].config1;
		pmu.name = cases[i].pmu;
		assert_int_equal(attach(&attr), 0);
		auxt_trigger_perf.renew(&trigger);
		assert_int_equal(nr_created - nr_released, NR_CPUS);
		assert_int_equal(nr_released, 0);
		/* The CPU has gone, and perf has let go of its counter. */
		event_of_cpu[1]->attach_state = 0;
		auxt_trigger_perf.renew(&trigger);
		assert_int_equal(nr_released, 1);
		assert_int_equal(!!event_of_cpu[1], cases[i].again);
		detach();
		nr_created = nr_released = 0;
	}
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, begin)
	const struct CMUnitTest tests[] = {
		T(a_precise_counter_interrupts_at_each_event),
		T(a_frequency_remains_one),
		T(each_time_that_perf_throttles_is_a_miss),
		T(a_cpu_whose_pmu_lacks_the_event_has_no_counter),
		T(an_event_of_no_cpu_is_refused),
		T(a_cpu_that_is_offline_gets_its_counter_later),
		T(any_other_error_leaves_nothing),
		T(a_locked_down_kernel_is_told_from_a_lack_of_privilege),
		T(only_what_is_counted_is_taken_from_the_caller),
		T(an_event_that_would_not_count_is_refused),
		T(a_breakpoint_hits_at_each_access_from_the_begin),
		T(a_counter_without_hardware_is_released),
		T(a_cpu_that_comes_back_gets_its_counter_unless_it_was_named),
	};

	return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
