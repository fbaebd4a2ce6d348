// SPDX-License-Identifier: GPL-2.0-only
/*
 * A hybrid machine: its first CPU and its last have different Intel PT. One of them, whose number
 * is in $AUXTRACE_RICH_CPU, has PTWRITE and more address ranges. tests/host/hybrid.sh boots it.
 */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)
#define PTWRITE		(CONFIG_PTW | CONFIG_FUP_ON_PTW)
#define POOR_RANGES	2
#define RICH_RANGES	4

static int rich, poor;

static int read_machine(void **state)
{
	const char *text = getenv("AUXTRACE_RICH_CPU");

	if (access("/dev/auxtrace", F_OK) || !text) {
		print_message("SKIP: no /dev/auxtrace or no $AUXTRACE_RICH_CPU\n");
		exit(77);
	}
	if (at_group_setup(state) || cpus_count(all_cpus) != 2)
		return -1;
	rich = atoi(text);
	poor = rich == first_cpu ? last_cpu : first_cpu;
	return 0;
}

static void prepare(struct session *s, uint64_t cpus, uint64_t config)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	s->setup.config = config;
}

static void refused(uint64_t cpus, uint64_t config)
{
	struct session s;

	prepare(&s, cpus, config);
	s.fd = at_open();
	fail_setup(EOPNOTSUPP, s.fd, &s.setup);
	at_close(s.fd);
}

/* The session traces on each of its CPUs, without an error. */
static void accepted(uint64_t cpus, uint64_t config)
{
	struct session s;

	prepare(&s, cpus, config);
	session_setup(&s);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(cpu_pin(s.channel[i].cpu), 0);
		load_run(1000);
	}
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.gaps, 0);
		assert_true(st.produced > 1000);
		channel_check_window(&s.channel[i], st.window_begin, st.window_end, "of its CPU");
	}
	check_accounting(&s);
	session_close(&s);
	cpu_unpin();
}

static void info_has_what_all_cpus_have(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();

	assert_true(at_info().out_pmus & 1u << AUXTRACE_PMU_INTEL_PT);
	assert_int_equal(pt.config & PTWRITE, 0);
	assert_int_equal(pt.config, CONFIG_FORMAT & ~(PTWRITE | CONFIG_PWR_EVT | CONFIG_EVENT | CONFIG_NOTNT));
	assert_int_equal(pt.nr_ranges, POOR_RANGES);
}

static void setup_asks_the_cpus_of_the_session(void **state)
{
	accepted(all_cpus, CONFIG_TSC);
	accepted(1ULL << rich, CONFIG_TSC | PTWRITE);
	refused(1ULL << poor, CONFIG_TSC | PTWRITE);
	refused(all_cpus, CONFIG_TSC | PTWRITE);
}

/* The last CPU leaves: what the first has is what all have. */
static void info_follows_the_cpus_that_are_online(void **state)
{
	hotplug_required();
	last_cpu_offline();
	assert_int_equal(at_pt().nr_ranges, rich == first_cpu ? RICH_RANGES : POOR_RANGES);
	assert_int_equal(!(at_pt().config & PTWRITE), rich != first_cpu);
	last_cpu_online();
	info_has_what_all_cpus_have(state);
	setup_asks_the_cpus_of_the_session(state);
}

/* A session that the last CPU's return reaches goes on there as before. */
static void a_session_goes_on_when_its_cpu_returns(void **state)
{
	struct session s;

	hotplug_required();
	prepare(&s, 1ULL << last_cpu, CONFIG_TSC | (rich == last_cpu ? PTWRITE : 0));
	session_setup(&s);
	ok_start(s.fd);
	last_cpu_offline();
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	last_cpu_online();
	assert_int_equal(channel_status(s.channel).inhibit, 0);
	ok_stop(s.fd);
	assert_int_equal(channel_status(s.channel).gaps, 1);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(info_has_what_all_cpus_have),
		vm_test(setup_asks_the_cpus_of_the_session),
		vm_test(info_follows_the_cpus_that_are_online),
		vm_test(a_session_goes_on_when_its_cpu_returns),
	};

	return cmocka_run_group_tests(tests, read_machine, NULL);
}
