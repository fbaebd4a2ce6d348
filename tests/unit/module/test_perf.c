// SPDX-License-Identifier: GPL-2.0
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

void shim_point(void)
{
}

struct perf_event *perf_event_create_kernel_counter(struct perf_event_attr *attr, int cpu,
						    struct task_struct *task,
						    perf_overflow_handler_t handler,
						    void *context)
{
	static const struct pmu pmu = { "cpu" };
	struct perf_event *event;

	if (errno_of_cpu[cpu])
		return ERR_PTR(-errno_of_cpu[cpu]);
	event = calloc(1, sizeof(*event));
	assert_non_null(event);
	*event = (struct perf_event) {
		.attr = *attr, .pmu = &pmu, .state = PERF_EVENT_STATE_ACTIVE,
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
	return 0;
}

static int attach(const struct perf_event_attr *attr)
{
	const struct auxtrace_trigger arg = {
		.kind = AUXTRACE_TRIGGER_PERF, .attr = (uintptr_t)attr, .attr_len = sizeof(*attr),
	};

	return auxt_trigger_perf.attach(&trigger, &arg);
}

static int attach_breakpoint(void)
{
	const struct auxtrace_trigger arg = {
		.kind = AUXTRACE_TRIGGER_BREAKPOINT, .address = 4096,
		.number = HW_BREAKPOINT_W | HW_BREAKPOINT_LEN_8 << 8,
	};

	return auxt_trigger_breakpoint.attach(&trigger, &arg);
}

static void detach(void)
{
	auxt_trigger_perf.detach(&trigger);
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
	};

	return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
