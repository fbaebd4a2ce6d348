// SPDX-License-Identifier: GPL-2.0
/*
 * A trace interrupt whose NMI comes after STOP: no session handles it. For some milliseconds the
 * module takes an NMI that nobody else claims for it. Later, an unknown NMI may be the machine's
 * own, and the kernel must report it.
 */
#include <unistd.h>

#include "cpu.h"
#include "klog.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "uapi.h"

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define AUX_SIZE (64 << 10)

/* The module's bound, PMI_LATE_MS. */
#define BOUND_MS	10
#define MAX_TRIES	100
/* The kernel reports at most ten unknown NMIs in five seconds; a try may cause one. */
#define TRY_US		600000
#define FORGET_S	6
/* NMIs are counted, and the time is read, once in so many rounds of the load. */
#define ROUNDS		200

/* An interrupt that came after STOP: between which times, and whether the kernel knew it. */
struct late {
	uint64_t least, most;	/* in TSC, since STOP turned the hardware off */
	unsigned int unknown;
};

/* The least time that the rest of STOP took, after the hardware was off. */
static uint64_t fastest_stop = UINT64_MAX;

/*
 * The session's trace raises an interrupt, whose NMI comes @skid branches later. False: it came
 * before STOP.
 */
static bool interrupt_after_stop(uint32_t flags, uint64_t skid, struct late *late)
{
	uint64_t asked = emulator_count(first_cpu, PTM_N_PMI), nmis, off;
	unsigned int unknown = klog_count(KLOG_UNKNOWN_NMI);
	uint64_t last = 0, now = 0;
	struct session s;

	session_open(&s, one_cpu, flags, AUX_SIZE);
	assert_int_equal(cpu_pin(first_cpu), 0);
	emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, skid);
	nmis = cpu_nmis(first_cpu);
	ok_start(s.fd);
	while (emulator_count(first_cpu, PTM_N_PMI) == asked)
		load_run(ROUNDS);
	ok_stop(s.fd);
	now = read_tsc();
	off = channel_status(s.channel).window_end_time;
	if (now - off < fastest_stop)
		fastest_stop = now - off;
	if (channel_status(s.channel).pmis || cpu_nmis(first_cpu) != nmis) {
		emulator_knobs_reset();
		session_close(&s);
		return false;
	}
	do {
		last = now;
		load_run(ROUNDS);
		now = read_tsc();
	} while (cpu_nmis(first_cpu) == nmis);
	emulator_knobs_reset();
	*late = (struct late){
		.least = last - off,
		.most = now - off,
		.unknown = klog_count(KLOG_UNKNOWN_NMI) - unknown,
	};
	session_close(&s);
	return true;
}

static const uint32_t levels[] = { BOTH | OVER, AUXTRACE_SETUP_USER | OVER };

static uint64_t bound(void)
{
	return BOUND_MS * at_info().out_clock_hz / 1000;
}

static void within_the_bound_it_is_no_unknown_nmi(void **state)
{
	emulator_required();
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t skid = 5000;
		struct late late;
		bool done = false;

		for (unsigned int n = 0; !done && n < MAX_TRIES; n++) {
			/* STOP itself takes branches, on some kernels more than on others. */
			if (!interrupt_after_stop(levels[i], skid, &late)) {
				skid += skid / 4;
				continue;
			}
			done = late.most < bound();
			if (!done) {
				skid -= skid / 8;
				usleep(TRY_US);
			}
		}
		if (!done && fastest_stop > bound() / 2)
			skip_test("STOP itself takes %llu us here", (unsigned long long)
				  fastest_stop * 1000000 / at_info().out_clock_hz);
		if (!done)
			fail_msg("no interrupt came within %u ms after STOP", BOUND_MS);
		print_message("%llu us after the hardware was off\n",
			      (unsigned long long)late.most * 1000000 / at_info().out_clock_hz);
		assert_int_equal(late.unknown, 0);
	}
}

static void beyond_the_bound_an_nmi_is_reported(void **state)
{
	emulator_required();
	sleep(FORGET_S);
	for (unsigned int i = 0; i < 2; i++) {
		uint64_t skid = 1000000;
		struct late late;

		while (!interrupt_after_stop(levels[i], skid, &late) || late.least <= bound()) {
			usleep(TRY_US);
			skid *= 2;
			assert_true(skid < 1000000000);
		}
		print_message("%llu ms after the hardware was off\n",
			      (unsigned long long)late.least * 1000 / at_info().out_clock_hz);
		assert_int_equal(late.unknown, 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(within_the_bound_it_is_no_unknown_nmi),
		vm_test(beyond_the_bound_an_nmi_is_reported),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
