// SPDX-License-Identifier: GPL-2.0-only
/*
 * BTS beside perf: users of hardware that excludes BTS get EBUSY, on either side, as with
 * perf's own BTS; other users are not disturbed.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "klog.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define AUX_SIZE (64 << 10)

static void open_on(struct session *s, uint32_t flags)
{
	session_open(s, one_cpu, flags, AUX_SIZE);
	assert_int_equal(cpu_pin(first_cpu), 0);
}

/* A descriptor, which teardown closes, or a negative errno. */
static int event(const struct perf_event_attr *attr)
{
	int fd = perf_open_event(attr, -1, first_cpu);

	if (fd >= 0)
		at_remember(fd);
	return fd;
}

/* ---- exclusion ------------------------------------------------------------------- */

/* perf's answer to @attr while its own intel_bts is in use: a session must cause the same. */
static int perfs_rule(const struct perf_event_attr *attr)
{
	int bts = perf_open(-1, first_cpu), fd;

	assert_true(bts >= 0);
	fd = event(attr);
	if (fd >= 0)
		at_close(fd);
	at_close(bts);
	return fd < 0 ? fd : 0;
}

static int event_and_close(const struct perf_event_attr *attr)
{
	int fd = event(attr);

	if (fd >= 0)
		at_close(fd);
	return fd < 0 ? fd : 0;
}

static void excludes(const struct perf_event_attr *attr, const char *what)
{
	int alone = event_and_close(attr), rule, fd;
	struct session s;

	if (alone) {
		print_message("no %s here: %s\n", what, strerrorname_np(-alone));
		return;
	}
	rule = perfs_rule(attr);
	print_message("%s beside perf's BTS: %s\n", what, rule ? strerrorname_np(-rule) : "success");
	open_on(&s, BOTH | OVER);
	ok_start(s.fd);
	assert_int_equal(event_and_close(attr), rule);
	ok_pause(&s, 0, NULL);
	assert_int_equal(event_and_close(attr), rule);
	ok_stop(s.fd);
	fd = event(attr);
	assert_true(fd >= 0);
	if (rule)
		fail_start(-rule, s.fd);
	else
		ok_start(s.fd);
	at_close(fd);
	if (!rule)
		ok_stop(s.fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	session_close(&s);
}

static void perf_and_a_session_exclude_each_other_as_perf_and_perf_do(void **state)
{
	struct perf_event_attr pt = { .size = sizeof(pt), .disabled = 1 };
	int64_t type = perf_pmu_type("intel_pt");

	perf_required();
	excludes(&perf_each_branch, "branches with period 1");
	excludes(&perf_last_branches, "LBR");
	pt.type = type;
	if (type >= 0)
		excludes(&pt, "intel_pt");
}

/*
 * Both sessions trace the same CPU and interrupt it through the same APIC line; each must get
 * all of its trace. @other: a session of PT in overwrite mode.
 */
static void both_trace_at_once(struct session *bts, const struct session *other)
{
	const uint64_t offset = AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_STATUS);
	const struct auxtrace_status_page *pt = mmap(NULL, page_size, PROT_READ, MAP_SHARED,
						     other->fd, offset);
	uint64_t records = emulator_count(first_cpu, PTM_N_BTS);
	uint64_t bytes = emulator_count(first_cpu, PTM_N_BYTES);
	uint64_t was = pt->produced, is = channel_status(bts->channel).produced;

	assert_ptr_not_equal(pt, MAP_FAILED);
	ok_start(bts->fd);
	ok_start(other->fd);
	for (int i = 0; i < 20; i++) {
		load_run(20000);
		ok_pause(i & 1 ? bts : other, 0, NULL);
		load_run(200);
		ok_resume(i & 1 ? bts : other, 0, NULL);
	}
	ok_stop(other->fd);
	load_run(1000);
	ok_stop(bts->fd);
	assert_true(pt->pmis > 0);
	assert_true(channel_status(bts->channel).pmis > 0);
	assert_int_equal(pt->gaps + channel_status(bts->channel).gaps, 0);
	assert_int_equal(pt->produced - was, emulator_count(first_cpu, PTM_N_BYTES) - bytes);
	records = emulator_count(first_cpu, PTM_N_BTS) - records;
	assert_int_equal(channel_status(bts->channel).produced - is,
			 records * sizeof(struct auxtrace_branch));
	munmap((void *)pt, page_size);
}

/* Sessions of PT and BTS follow perf's rule among themselves. */
static void sessions_of_both_pmus_exclude_each_other_as_perfs_do(void **state)
{
	struct perf_event_attr pt = { .size = sizeof(pt), .disabled = 1 };
	int64_t type = perf_pmu_type("intel_pt");
	struct session bts, other;
	int rule;

	perf_required();
	emulator_required();
	if (type < 0 || !(at_info().out_pmus & 1u << AUXTRACE_PMU_INTEL_PT))
		skip_test("no intel_pt");
	pt.type = type;
	rule = perfs_rule(&pt);
	open_on(&bts, BOTH | OVER);
	session_prepare(&other, one_cpu, BOTH | OVER, AUX_SIZE / 4);
	other.setup.pmu = AUXTRACE_PMU_INTEL_PT;
	other.setup.config = CONFIG_TSC;
	/* Not by session_setup(), which is for sessions of the trace PMU under test. */
	other.fd = at_open();
	ok_setup(other.fd, &other.setup);
	for (int i = 0; i < 2; i++) {
		ok_start(bts.fd);
		expect_call("START of PT beside BTS", -rule, at_start(other.fd), __FILE__, __LINE__);
		if (!rule)
			ok_stop(other.fd);
		ok_stop(bts.fd);
		ok_start(other.fd);
		expect_call("START of BTS beside PT", -rule, at_start(bts.fd), __FILE__, __LINE__);
		if (!rule)
			ok_stop(bts.fd);
		ok_stop(other.fd);
	}
	print_message("%s\n", rule ? "they exclude each other" : "both trace at once");
	if (!rule)
		both_trace_at_once(&bts, &other);
	check_accounting(&bts);
}

/* Under page-table isolation perf has no intel_bts, but may hold the old interface's event. */
static void under_isolation_lbr_is_excluded(void **state)
{
	struct session s;
	int fd;

	if (!bts_is_buffered())
		skip_test("page tables are not isolated");
	fd = event(&perf_each_branch);
	if (fd < 0)
		skip_test("no event of each branch: %s", strerrorname_np(-fd));
	/* perf uses the debug store's BTS only while such an event runs. */
	open_on(&s, BOTH | OVER);
	ok_start(s.fd);
	assert_true(msr_tracing(first_cpu));
	ok_stop(s.fd);
	at_close(fd);
	check_accounting(&s);
}

/* ---- no disturbance --------------------------------------------------------------- */

#define PERIOD		100003u
#define RING_PAGES	64
#define RUN_INSNS	4000000u

struct sampler {
	int fd;
	struct perf_event_mmap_page *ring;
};

struct sampled {
	uint64_t count;			/* the counter's value */
	unsigned int samples, lost, throttled, others;
};

static void sampler_open(struct sampler *p, uint64_t config, uint32_t precise)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = config,
		.sample_period = PERIOD,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.precise_ip = precise,
		.disabled = 1,
	};

	p->fd = event(&attr);
	if (p->fd < 0)
		skip_test("perf counts no such event here: %s", strerrorname_np(-p->fd));
	p->ring = mmap(NULL, (1 + RING_PAGES) * page_size, PROT_READ | PROT_WRITE,
		       MAP_SHARED, p->fd, 0);
	assert_ptr_not_equal(p->ring, MAP_FAILED);
}

static struct sampled sampler_take(struct sampler *p)
{
	size_t size = RING_PAGES * page_size;
	uint64_t head = __atomic_load_n(&p->ring->data_head, __ATOMIC_ACQUIRE);
	const uint8_t *data = (const uint8_t *)p->ring + page_size;
	struct sampled got = { 0 };

	assert_true(head < size);
	for (uint64_t at = 0; at < head; ) {
		const struct perf_event_header *h = (const void *)(data + at);

		if (h->type == PERF_RECORD_SAMPLE)
			got.samples++;
		else if (h->type == PERF_RECORD_LOST)
			got.lost++;
		else if (h->type == PERF_RECORD_THROTTLE)
			got.throttled++;
		else
			got.others++;
		assert_true(h->size);
		at += h->size;
	}
	assert_int_equal(read(p->fd, &got.count, sizeof(got.count)), sizeof(got.count));
	munmap(p->ring, (1 + RING_PAGES) * page_size);
	at_close(p->fd);
	return got;
}

/* @rounds branches and twice as many instructions of user code. */
static void run(uint64_t rounds)
{
	__asm__ volatile("1: dec %0\n\tjnz 1b" : "+r"(rounds) : : "cc");
}

static struct sampled sample_run(uint64_t config, uint32_t precise)
{
	struct sampler p;

	assert_int_equal(cpu_pin(first_cpu), 0);
	sampler_open(&p, config, precise);
	assert_int_equal(ioctl(p.fd, PERF_EVENT_IOC_ENABLE, 0), 0);
	run(RUN_INSNS / 2);
	assert_int_equal(ioctl(p.fd, PERF_EVENT_IOC_DISABLE, 0), 0);
	return sampler_take(&p);
}

/* One sample for each period of the counter: none missing, none too many. */
static void expect_all_samples(const struct sampled *got, const char *what)
{
	print_message("%s: %llu counted, %u samples\n", what, (unsigned long long)got->count,
		      got->samples);
	if (got->throttled)
		fail_msg("%s: throttled %u times", what, got->throttled);
	assert_int_equal(got->lost, 0);
	assert_int_equal(got->samples, got->count / PERIOD);
	assert_true(got->samples >= RUN_INSNS / PERIOD);
}

static void sampling_by_counters_is_not_disturbed(void **state)
{
	static const uint64_t events[] = { PERF_COUNT_HW_INSTRUCTIONS, PERF_COUNT_HW_CPU_CYCLES };
	static const uint32_t flags[] = { BOTH | OVER, AUXTRACE_SETUP_USER | OVER, BOTH };

	/* Before any session: while the rate is set, perf measures its interrupts. */
	assert_true(perf_unthrottle());
	for (int e = 0; e < 2; e++) {
		struct sampled alone = sample_run(events[e], 0);

		expect_all_samples(&alone, "alone");
		for (int i = 0; i < 3; i++) {
			struct auxtrace_status_page st;
			struct sampled beside;
			struct session s;

			session_prepare(&s, one_cpu, flags[i], AUX_SIZE);
			s.setup.flags |= flags[i] & OVER ? 0 : AUXTRACE_SETUP_FULL_AUTO;
			session_setup(&s);
			ok_start(s.fd);
			beside = sample_run(events[e], 0);
			ok_stop(s.fd);
			expect_all_samples(&beside, "beside a session");
			st = channel_status(s.channel);
			assert_true(st.pmis > 0);
			/* Both interrupted through the same APIC line. */
			assert_true(st.produced > AUX_SIZE / 2);
			check_accounting(&s);
			session_close(&s);
		}
	}
}

/* PEBS is the other user of the debug store; skipped if the CPU lacks it. */
static void precise_sampling_is_not_disturbed(void **state)
{
	struct sampled beside;
	struct session s;

	assert_true(perf_unthrottle());
	sample_run(PERF_COUNT_HW_INSTRUCTIONS, 1);
	open_on(&s, BOTH | OVER);
	ok_start(s.fd);
	beside = sample_run(PERF_COUNT_HW_INSTRUCTIONS, 1);
	ok_stop(s.fd);
	expect_all_samples(&beside, "precise, beside a session");
	session_close(&s);
}

/* The kernel must recognize each NMI, also if it is late or a PAUSE came before it. */
static void no_interrupt_is_an_unknown_nmi(void **state)
{
	static const uint32_t flags[] = { BOTH | OVER, AUXTRACE_SETUP_USER | OVER };
	unsigned int before = klog_count(KLOG_UNKNOWN_NMI), slow = 0;

	emulator_required();
	assert_true(perf_sample(first_cpu, 50021) >= 0);
	for (int i = 0; i < 2; i++) {
		struct session s;

		session_open(&s, one_cpu, flags[i], 4 << 12);
		assert_int_equal(cpu_pin(first_cpu), 0);
		ok_start(s.fd);
		for (unsigned int n = 0; n < 300; n++) {
			uint64_t begun = read_tsc();

			emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, n * 7 % 97);
			/* Up to more than the 64 KiB buffer holds. */
			load_run(500 + n % 50 * 400);
			ok_pause(&s, 0, NULL);
			ok_resume(&s, 0, NULL);
			slow += read_tsc() - begun >= nmi_late_bound() / 2;
		}
		ok_stop(s.fd);
		emulator_knobs_reset();
		print_message("%llu bytes, %llu interrupts\n", channel_status(s.channel).produced,
			      channel_status(s.channel).pmis);
		assert_true(channel_status(s.channel).pmis > 0);
		session_close(&s);
	}
	/*
	 * The host may stop the CPU so long that an NMI comes too late. It then does so in a round, or
	 * in two that follow each other.
	 */
	print_message("%u of 600 rounds took half of %u ms\n", slow, NMI_LATE_MS);
	assert_in_range(klog_count(KLOG_UNKNOWN_NMI), before, before + slow);
}

#define WATCHDOG	"/proc/sys/kernel/nmi_watchdog"

static void set_watchdog(bool on)
{
	file_write(WATCHDOG, on ? "1" : "0");
}

/* The watchdog's counter uses the debug store, too: on, off, and changed while tracing. */
static void the_nmi_watchdog_may_come_and_go(void **state)
{
	int64_t was = file_number(WATCHDOG);
	struct session s;

	if (was < 0)
		skip_test("no NMI watchdog");
	open_on(&s, BOTH | OVER);
	for (int on = 0; on < 2; on++) {
		uint64_t before;

		set_watchdog(on);
		ok_start(s.fd);
		before = channel_status(s.channel).produced;
		load_run(5000);
		set_watchdog(!on);
		load_run(5000);
		set_watchdog(on);
		load_run(5000);
		ok_stop(s.fd);
		assert_true(channel_status(s.channel).produced > before + AUX_SIZE / 4);
		assert_int_equal(channel_status(s.channel).gaps, 0);
	}
	set_watchdog(was);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(perf_and_a_session_exclude_each_other_as_perf_and_perf_do),
		vm_test(sessions_of_both_pmus_exclude_each_other_as_perfs_do),
		vm_test(under_isolation_lbr_is_excluded),
		vm_test(sampling_by_counters_is_not_disturbed),
		vm_test(precise_sampling_is_not_disturbed),
		vm_test(no_interrupt_is_an_unknown_nmi),
		vm_test(the_nmi_watchdog_may_come_and_go),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
