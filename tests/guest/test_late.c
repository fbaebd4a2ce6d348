// SPDX-License-Identifier: GPL-2.0-only
/*
 * A trace interrupt whose NMI comes after STOP: no session handles it. For some milliseconds the
 * module takes an NMI that nobody else claims for it. Later, an unknown NMI may be the machine's
 * own, and the kernel must report it.
 */
#include <errno.h>
#include <unistd.h>

#include "cpu.h"
#include "klog.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "uapi.h"
#include "worker.h"

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define AUX_SIZE (64 << 10)

#define MAX_TRIES	20
/* The kernel reports at most ten unknown NMIs in five seconds; a try may cause one. */
#define TRY_US		600000
#define FORGET_S	6
#define ROUNDS		200
/* The emulator keeps an interrupt back until a smaller number is written. */
#define NEVER		UINT32_MAX

/* An interrupt that came after STOP: between which times, and whether the kernel knew it. */
struct late {
	uint64_t least, most;	/* in TSC, since STOP turned the hardware off */
	unsigned int unknown;
};

/* When the emulator was told to let the interrupt come: just before and after. */
static uint64_t told, came;

static int let_it_come(void)
{
	int ret;

	told = read_tsc();
	ret = msr_write(first_cpu, MSR_PTM_KNOB + PTM_KNOB_PMI_SKID, 0);
	came = read_tsc();
	return ret;
}

/* Of another CPU: the rest of STOP may take longer than the module's bound. */
static int let_it_come_when_off(struct worker *w)
{
	struct auxtrace_status_page st;

	do
		if (!channel_status_plain(w->session.channel, &st))
			return -EPROTO;
	while (st.running);
	return let_it_come();
}

/*
 * The session's trace raises an interrupt, whose NMI comes @wait_us after STOP has returned; 0: as
 * soon as the hardware is off.
 */
static struct late interrupt_after_stop(uint32_t flags, unsigned int wait_us)
{
	uint64_t asked = emulator_count(first_cpu, PTM_N_PMI), nmis, off;
	unsigned int unknown = klog_count(KLOG_UNKNOWN_NMI);
	struct session s;
	struct late late;

	session_open(&s, one_cpu, flags, AUX_SIZE);
	assert_int_equal(cpu_pin(first_cpu), 0);
	emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, NEVER);
	nmis = cpu_nmis(first_cpu);
	ok_start(s.fd);
	while (emulator_count(first_cpu, PTM_N_PMI) == asked)
		load_run(ROUNDS);
	if (!wait_us)
		worker_start(&s, last_cpu, let_it_come_when_off, 1);
	ok_stop(s.fd);
	if (wait_us) {
		assert_int_equal(cpu_nmis(first_cpu), nmis);
		usleep(wait_us);
		assert_int_equal(let_it_come(), 0);
	}
	workers_join();
	off = channel_status(s.channel).window_end_time;
	late = (struct late){ .least = told - off, .most = came - off };
	assert_int_equal(channel_status(s.channel).pmis, 0);
	assert_int_equal(cpu_nmis(first_cpu), nmis + 1);
	late.unknown = klog_count(KLOG_UNKNOWN_NMI) - unknown;
	session_close(&s);
	return late;
}

static const uint32_t levels[] = { BOTH | OVER, AUXTRACE_SETUP_USER | OVER };

static void within_the_bound_it_is_no_unknown_nmi(void **state)
{
	emulator_required();
	for (unsigned int i = 0; i < 2; i++) {
		struct late late = interrupt_after_stop(levels[i], 0);

		/* The host may stop this CPU in between. */
		for (unsigned int n = 1; late.most >= nmi_late_bound() && n < MAX_TRIES; n++) {
			usleep(TRY_US);
			late = interrupt_after_stop(levels[i], 0);
		}
		if (late.most >= nmi_late_bound())
			skip_test("another CPU notices only after %u ms that the hardware is off", NMI_LATE_MS);
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
		struct late late = interrupt_after_stop(levels[i], 2 * NMI_LATE_MS * 1000);

		assert_true(late.least > nmi_late_bound());
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
