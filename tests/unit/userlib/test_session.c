// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"
#include "userlib/text.h"
#include "userlib/trace_pmu.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <auxtrace.h>

static const struct auxtrace_options good = {
	.size = sizeof(good),
	.cpus = "0,2",
	.config = "tsc,mtc,mtc_period=3",
	.aux_size = 16 * PAGE,
};

static struct auxtrace_session *opened(void)
{
	struct auxtrace_session *s = auxtrace_open(NULL);

	assert_non_null(s);
	return s;
}

static struct auxtrace_session *set_up(void)
{
	struct auxtrace_session *s = opened();

	assert_int_equal(auxtrace_setup(s, &good), 0);
	return s;
}

static void an_absent_device_says_that_the_module_is_not_loaded(void **state)
{
	(void)state;
	fake.open_errno = ENOENT;
	fails_null(ENOENT, auxtrace_open(NULL));
	says("the module is not loaded");
}

/* The kernel refuses a module that is not signed: the device is not there. */
static void an_absent_device_of_a_locked_down_kernel_says_so(void **state)
{
	static const char *const modes[] = {
		"[none] integrity confidentiality\n", "none [integrity] confidentiality\n",
		"none integrity [confidentiality]\n",
	};
	static const char *const says_mode[] = {
		NULL, "locked down (integrity mode)", "locked down (confidentiality mode)",
	};
	char dir[] = "/tmp/auxtrace-test.XXXXXX", path[64];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lockdown", dir);
	fake.proc = dir;
	fake.open_errno = ENOENT;
	for (int i = 0; i < 3; i++) {
		FILE *f = fopen(path, "w");

		assert_non_null(f);
		fputs(modes[i], f);
		assert_int_equal(fclose(f), 0);
		fails_null(ENOENT, auxtrace_open(NULL));
		says("the module is not loaded");
		if (says_mode[i])
			says(says_mode[i]);
		else
			assert_null(strstr(auxtrace_error(), "locked down"));
	}
	unlink(path);
	rmdir(dir);
}

static void a_forbidden_device_says_whose_it_is(void **state)
{
	static const int refusals[] = { EACCES, EPERM };

	(void)state;
	for (int i = 0; i < 2; i++) {
		fake.open_errno = refusals[i];
		fails_null(refusals[i], auxtrace_open(NULL));
		says("no permission to open /dev/auxtrace");
	}
}

static void what_is_no_device_is_refused(void **state)
{
	(void)state;
	fails_null(EISDIR, auxtrace_open("/tmp"));
	says("cannot open /tmp: Is a directory");
	fails_null(ENOTTY, auxtrace_open("/proc/self/comm"));
	says("not a character device");
	fails_null(ENOTTY, auxtrace_open("/dev/zero"));
	says("/dev/zero is not the auxtrace device");
	fails_null(ENOENT, auxtrace_open("/nonexistent"));
}

static void another_abi_version_is_refused_with_both_numbers(void **state)
{
	(void)state;
	fake.info.out_abi_version = 7;
	fails_null(EPROTO, auxtrace_open(NULL));
	says("ABI version 7, this library 2");
	/* The file is closed again. */
	assert_int_equal(fcntl(fake.fd, F_GETFD), -1);
}

static void a_device_that_refuses_info_is_not_opened(void **state)
{
	(void)state;
	fake.fail.nr = AUXTRACE_IOC_INFO;
	fake.fail.err = ENOMEM;
	fails_null(ENOMEM, auxtrace_open(NULL));
	says("INFO failed: Cannot allocate memory");
}

static void a_probe_without_the_right_to_it_says_so(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_info info;

	(void)state;
	assert_int_equal(auxtrace_info(s, AUXTRACE_INFO_PROBE, &info), 0);
	assert_int_equal(info.flags, AUXTRACE_INFO_PROBE);
	fake.fail.nr = AUXTRACE_IOC_INFO;
	fake.fail.err = EACCES;
	fails(EACCES, auxtrace_info(s, AUXTRACE_INFO_PROBE, &info));
	says("INFO with PROBE needs CAP_PERFMON or CAP_SYS_ADMIN");
	auxtrace_close(s);
}

static void a_status_that_cannot_be_told_says_why(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_status status;

	(void)state;
	fake.fail.nr = AUXTRACE_IOC_STATUS;
	fake.fail.err = ENOMEM;
	fails(ENOMEM, auxtrace_status(s, 0, &status));
	says("STATUS failed: Cannot allocate memory");
	auxtrace_close(s);
}

static void a_kernel_that_answers_nonsense_is_not_believed(void **state)
{
	(void)state;
	fake.info.out_page_size = 3000;
	fails_null(EBADE, auxtrace_open(NULL));
	says("a page size of 3000 bytes");
	fake.info.out_page_size = 0;
	fails_null(EBADE, auxtrace_open(NULL));
	says("a page size of 0 bytes");
	fake.info.out_page_size = PAGE;
	fake.fail.nr = AUXTRACE_IOC_INFO;
	fake.fail.ret = 3;
	fails_null(EBADE, auxtrace_open(NULL));
}

static void malformed_capabilities_are_not_believed(void **state)
{
	static const uint32_t sizes[] = { 0, 4, 7, 20, 8192 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		fake.caps.pt.cap.size = sizes[i];
		fails_null(EBADE, auxtrace_open(NULL));
		says("malformed capability");
	}
	fake.caps.pt.cap.size = sizeof(fake.caps.pt);
	/* The last one ends behind the end, or the end is in the middle of its header. */
	fake.info.out_caps_len = sizeof(fake.caps) - 8;
	assert_null(auxtrace_open(NULL));
	fake.info.out_caps_len = sizeof(fake.caps) - sizeof(fake.caps.x86) + 4;
	assert_null(auxtrace_open(NULL));
	fake.info.out_caps_len = 0;
	auxtrace_close(opened());
}

/* And the last one that fits ends where the room does. */
static void what_the_module_had_no_room_for_is_not_read(void **state)
{
	struct auxtrace_session *s;
	struct auxtrace_cap cap;

	(void)state;
	fake.many_caps = true;
	fake.info.out_caps_len = 1 << 20;
	s = opened();
	assert_int_equal(auxtrace_capability(s, 77, &cap, sizeof(cap)), 0);
	fails(ENOENT, auxtrace_capability(s, 78, &cap, sizeof(cap)));
	auxtrace_close(s);
}

/* The kernel writes those that fit whole, and zeroes behind them. */
static void more_capabilities_than_the_library_has_room_for_are_no_error(void **state)
{
	struct auxtrace_session *s;
	struct auxtrace_cap_x86 x86;
	struct auxtrace_cap none;

	(void)state;
	fake.info.out_caps_len = 1 << 20;
	s = opened();
	assert_int_equal(auxtrace_capability(s, AUXTRACE_CAP_X86, &x86, sizeof(x86)), 0);
	assert_int_equal(x86.model, 94);
	fails(ENOENT, auxtrace_capability(s, 77, &none, sizeof(none)));
	fails(ENOENT, auxtrace_capability(s, AUXTRACE_CAP_END, &none, sizeof(none)));
	auxtrace_close(s);
}

static void a_capability_is_found_by_its_tag_at_any_size(void **state)
{
	struct { struct auxtrace_cap_x86 known; uint64_t newer[2]; } longer;
	struct auxtrace_session *s = opened();
	struct auxtrace_cap_pmu pmu;
	struct auxtrace_cap shorter;

	(void)state;
	assert_int_equal(auxtrace_capability(s, AUXTRACE_CAP_PMU(1), &pmu, sizeof(pmu)), 0);
	assert_int_equal(pmu.pmu, 1);
	/* A caller that knows more members than the module finds them 0. */
	memset(&longer, 0xa5, sizeof(longer));
	assert_int_equal(auxtrace_capability(s, AUXTRACE_CAP_X86, &longer, sizeof(longer)), 0);
	assert_int_equal(longer.known.model, 94);
	assert_int_equal(longer.newer[0] | longer.newer[1], 0);
	/* One that knows fewer gets those. */
	assert_int_equal(auxtrace_capability(s, AUXTRACE_CAP_X86, &shorter, sizeof(shorter)), 0);
	assert_int_equal(shorter.tag, AUXTRACE_CAP_X86);
	memset(&pmu, 0xa5, sizeof(pmu));
	fails(ENOENT, auxtrace_capability(s, 0x7777, &pmu, sizeof(pmu)));
	says("no capability 0x7777");
	assert_int_equal(pmu.pmu | pmu.cap.tag, 0);
	auxtrace_close(s);
}

static void an_interrupted_call_is_made_again(void **state)
{
	struct auxtrace_session *s;

	(void)state;
	fake.eintr = 2;
	s = opened();
	assert_int_equal(fake.ioctls, 3);
	auxtrace_close(s);
}

/* As in a daemon that has closed its standard input. */
static void descriptor_0_is_as_good_as_another(void **state)
{
	int input = dup(0);
	struct auxtrace_session *s;

	(void)state;
	close(0);
	s = auxtrace_open(NULL);
	assert_non_null(s);
	assert_int_equal(auxtrace_fd(s), 0);
	auxtrace_close(s);
	assert_int_equal(fcntl(0, F_GETFD), -1);
	if (input >= 0) {
		assert_int_equal(dup2(input, 0), 0);
		close(input);
	}
}

static void closing_null_is_nothing(void **state)
{
	(void)state;
	auxtrace_close(NULL);
}

static void the_default_config_is_what_the_cpu_has_of_it(void **state)
{
	struct auxtrace_session *s = opened();

	(void)state;
	assert_int_equal(auxtrace_default_config(s), 1 << 9 | 1 << 10 | 3 << 14 | 3 << 24);
	auxtrace_close(s);
	fake.caps.pt.config &= ~(1ull << 9 | 0xfull << 14);
	fake.caps.pt.psb_periods = 1;
	s = opened();
	assert_int_equal(auxtrace_default_config(s), 1 << 10);
	auxtrace_close(s);
}

static void setup_hands_the_options_over_and_maps_all_regions(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	assert_null(auxtrace_setup_info(s));
	assert_null(auxtrace_cpus(s));
	o.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED;
	o.aux_watermark = PAGE;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.flags, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED);
	assert_int_equal(fake.setup.pmu, AUXTRACE_PMU_INTEL_PT);
	assert_int_equal(fake.setup.cpus_len, 1);
	assert_int_equal(fake.setup_cpus[0], 5);
	assert_int_equal(fake.setup.config, 1 << 9 | 1 << 10 | 3 << 14);
	assert_int_equal(fake.setup.aux_size, 16 * PAGE);
	assert_int_equal(fake.setup.aux_watermark, PAGE);
	assert_int_equal(fake.mmaps, 6);
	assert_int_equal(auxtrace_setup_info(s)->aux_size, 16 * PAGE);
	assert_int_equal(auxtrace_cpus_count(auxtrace_cpus(s)), 2);
	assert_non_null(auxtrace_reader(s, 2));
	fails_null(ENODEV, auxtrace_reader(s, 1));
	says("CPU 1 is not the session's");
	auxtrace_close(s);
	assert_int_equal(fake.unmaps, 6);
	assert_int_equal(fcntl(fake.fd, F_GETFD), -1);
}

static void neither_user_nor_kernel_means_both_and_zero_means_the_default(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = { .size = sizeof(o), .cpus = "1" };

	(void)state;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.flags, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL);
	assert_int_equal(fake.setup.aux_size, 4 << 20);
	assert_int_equal(fake.setup.config, auxtrace_default_config(s));
	auxtrace_close(s);
}

/* The fake says that CPUs @list are online; NULL: back to the real list. */
static void set_online(const char *list)
{
	static char dir[sizeof("/tmp/auxtrace-test.XXXXXX")], path[64];
	FILE *f;

	if (fake.proc) {
		unlink(path);
		rmdir(dir);
		fake.proc = NULL;
	}
	if (!list)
		return;
	strcpy(dir, "/tmp/auxtrace-test.XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/online", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", list);
	assert_int_equal(fclose(f), 0);
	fake.proc = dir;
}

static void all_cpus_that_are_online_are_traced_if_none_are_named(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	set_online("0-1,3");
	o.cpus = NULL;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.cpus_len, 1);
	assert_int_equal(fake.setup_cpus[0], 0xb);
	auxtrace_close(s);
	set_online(NULL);
}

static void options_of_another_size_are_refused(void **state)
{
	static const size_t sizes[] = { 0, offsetof(struct auxtrace_options, data_size) - 1,
		offsetof(struct auxtrace_options, data_size) + 8,
		offsetof(struct auxtrace_options, filters) - 8, sizeof(good) - 8, sizeof(good) - 1,
		sizeof(good) + 1 };
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		o.size = sizes[i];
		fails(EINVAL, auxtrace_setup(s, &o));
		says("set its size member");
	}
	o.size = sizeof(o);
	o.reserved = 1;
	fails(EINVAL, auxtrace_setup(s, &o));
	o.reserved = 0;
	o.reserved_filters = 1;
	fails(EINVAL, auxtrace_setup(s, &o));
	says("reserved must be 0");
	assert_int_equal(fake.setup.size, 0);
	auxtrace_close(s);
}

static void a_program_built_before_the_data_ring_is_served(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	o.size = offsetof(struct auxtrace_options, data_size);
	o.data_size = 4711;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.data_size, 0);
	assert_int_equal(fake.setup.aux_size, 16 * PAGE);
	auxtrace_close(s);
}

static void a_program_built_before_the_filters_is_served(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	o.size = offsetof(struct auxtrace_options, filters);
	o.data_size = PAGE;
	o.nr_filters = 4711;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.nr_filters, 0);
	assert_int_equal(fake.setup.filter_size, 0);
	assert_int_equal(fake.setup.data_size, PAGE);
	auxtrace_close(s);
}

static void filters_are_handed_over_and_copied(void **state)
{
	struct auxtrace_filter filter[] = {
		{ .action = AUXTRACE_FILTER_TRACE, .first = 0x1000, .last = 0x1fff },
		{ .action = AUXTRACE_FILTER_STOP, .first = 0xffffffff81000000, .last = 0xffffffff81000000 },
	};
	const struct auxtrace_filter same[] = { filter[0], filter[1] };
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;
	const struct auxtrace_setup *setup;

	(void)state;
	o.filters = filter;
	o.nr_filters = 2;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.nr_filters, 2);
	assert_int_equal(fake.setup.filter_size, sizeof(filter[0]));
	assert_int_equal(fake.setup.filters, (uintptr_t)filter);
	memset(filter, 0, sizeof(filter));
	setup = auxtrace_setup_info(s);
	assert_int_equal(setup->nr_filters, 2);
	assert_memory_equal((void *)(uintptr_t)setup->filters, same, sizeof(same));
	auxtrace_close(s);
}

#define FILTERS(...) do {							\
	static const struct auxtrace_filter list[] = { __VA_ARGS__ };		\
										\
	o.filters = list;							\
	o.nr_filters = sizeof(list) / sizeof(list[0]);				\
} while (0)
#define TRACE(from, to)	{ AUXTRACE_FILTER_TRACE, 0, from, to }
#define STOP(from, to)	{ AUXTRACE_FILTER_STOP, 0, from, to }

static void a_data_ring_and_slots_are_handed_over_and_mapped(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	o.data_size = 4 * PAGE;
	o.data_watermark = 512;
	o.records = AUXTRACE_WANT_WINDOW;
	o.slots = 4;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(fake.setup.data_size, 4 * PAGE);
	assert_int_equal(fake.setup.data_watermark, 512);
	assert_int_equal(fake.setup.records, AUXTRACE_WANT_WINDOW);
	assert_int_equal(fake.setup.slots, 4);
	assert_int_equal(fake.mmaps, 8);
	auxtrace_close(s);
	assert_int_equal(fake.unmaps, 8);
	fake_end(state);
	fake_new(state);
	s = opened();
	fake.fail_mmap = 4;
	fails(EAGAIN, auxtrace_setup(s, &o));
	says("data ring of CPU 0");
	auxtrace_close(s);
	assert_int_equal(fake.unmaps, 3);
}

static void bad_lists_and_terms_do_not_reach_the_device(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	(void)state;
	o.cpus = "0-";
	fails(EINVAL, auxtrace_setup(s, &o));
	o = good;
	o.config = "nonsense";
	fails(EINVAL, auxtrace_setup(s, &o));
	says("unknown config term");
	assert_int_equal(fake.setup.size, 0);
	/* And leave the session as it was. */
	assert_int_equal(auxtrace_setup(s, &good), 0);
	auxtrace_close(s);
}

/* The device refuses with @err; the sentence must say @text. */
static void refused(const struct auxtrace_options *o, int err, const char *text)
{
	struct auxtrace_session *s = opened();

	fake.fail.nr = AUXTRACE_IOC_SETUP;
	fake.fail.err = err;
	fails(err, auxtrace_setup(s, o));
	if (!strstr(auxtrace_error(), text))
		fail_msg("\"%s\" does not say \"%s\"", auxtrace_error(), text);
	assert_null(auxtrace_setup_info(s));
	fake.fail.err = 0;
	auxtrace_close(s);
}

#define refused_with(err, text, ...) do {		\
	struct auxtrace_options o = good;		\
	__VA_ARGS__;					\
	refused(&o, err, text);				\
} while (0)

static void a_refused_setup_is_explained(void **state)
{
	(void)state;
	refused_with(EINVAL, "there is no CPU 9: the highest possible one is 7", o.cpus = "0,9");
	refused_with(EINVAL, "5000 bytes is not possible: it must be a power of two", o.aux_size = 5000);
	refused_with(EINVAL, "at least 8192", o.aux_size = PAGE);
	refused_with(EINVAL, "a watermark of 100 bytes", o.aux_watermark = 100);
	refused_with(EINVAL, "less than the size, 65536", o.aux_watermark = 16 * PAGE);
	refused_with(EINVAL, "overwrite session has no watermark", o.aux_watermark = PAGE,
		     o.flags = AUXTRACE_SETUP_OVERWRITE);
	refused_with(EINVAL, "unknown flags 0x4000", o.flags = 0x4000);
	refused_with(EINVAL, "never full", o.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_FULL_AUTO);
	refused_with(EINVAL, "choose FULL_AUTO or FULL_STOP",
		     o.flags = AUXTRACE_SETUP_FULL_STOP | AUXTRACE_SETUP_FULL_AUTO);
	refused_with(EINVAL, "without a data ring: set data_size", o.flags = AUXTRACE_SETUP_DATA_BACKWARD);
	refused_with(EINVAL, "without a data ring", o.flags = AUXTRACE_SETUP_DATA_OVERWRITE);
	refused_with(EINVAL, "without a data ring", o.records = AUXTRACE_WANT_AUX);
	refused_with(EINVAL, "without a data ring", o.data_watermark = 8);
	refused_with(EINVAL, "a data ring of 5000 bytes is not possible", o.data_size = 5000);
	refused_with(EINVAL, "a data ring of 2048 bytes is not possible", o.data_size = 2048);
	refused_with(EINVAL, "an overwritable data ring has no watermark", o.data_size = PAGE,
		     o.data_watermark = 8, o.flags = AUXTRACE_SETUP_DATA_OVERWRITE);
	refused_with(EINVAL, "less than the data ring, 4096", o.data_size = PAGE, o.data_watermark = PAGE);
	refused_with(EINVAL, "unknown kinds of records 0x20", o.data_size = PAGE, o.records = 0x3f);
	refused_with(EINVAL, "2 slots need overwrite mode", o.slots = 2);
	refused_with(EINVAL, "3 slots are not possible", o.slots = 3, o.flags = AUXTRACE_SETUP_OVERWRITE);
	refused_with(EINVAL, "at most 64", o.slots = 128, o.flags = AUXTRACE_SETUP_OVERWRITE,
		     o.aux_size = 1024 * PAGE);
	refused_with(EINVAL, "16 slots of an AUX area of 65536 bytes are too small", o.slots = 16,
		     o.flags = AUXTRACE_SETUP_OVERWRITE);
	refused_with(EINVAL, "4 slots of a data ring of 8192 bytes are too small", o.slots = 4,
		     o.data_size = 2 * PAGE,
		     o.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE);
	refused_with(EINVAL, "mtc_period is set without mtc: add mtc", o.config = "mtc_period=3", o.cpus = "0");
	refused_with(EINVAL, "cyc_thresh is set without cyc", o.config = "cyc_thresh=1", o.cpus = "0");
	refused_with(EINVAL, "fup_on_ptw is set without ptw", o.config = "fup_on_ptw", o.cpus = "0");
	refused_with(EINVAL, "a CPU of the session cannot trace without branches", o.config = "pt",
		     o.cpus = "0");
	/* None of these needs another term. */
	refused_with(EINVAL, "a CPU of the session cannot trace without branches",
		     o.config = "cyc,mtc,tsc,noretcomp,ptw,psb_period=1", o.cpus = "0");
	refused_with(EOPNOTSUPP, "a CPU of the session lacks ptw", o.config = "tsc,ptw");
	refused_with(EOPNOTSUPP, "a CPU of the session lacks pwr_evt", o.config = "tsc,pwr_evt");
	refused_with(EOPNOTSUPP, "a CPU of the session lacks notnt", o.config = "tsc,notnt");
	refused_with(EOPNOTSUPP, "a CPU of the session lacks one or more of fup_on_ptw, ptw",
		     o.config = "ptw,fup_on_ptw");
	refused_with(EOPNOTSUPP, "mtc_period=4 (all have 0 3 6)", o.config = "mtc,mtc_period=4");
	refused_with(EOPNOTSUPP, "psb_period=9 (all have 0 1 2 3 4 5)", o.config = "psb_period=9");
	refused_with(EINVAL, "SETUP of BTS failed: Invalid argument", o.pmu = AUXTRACE_PMU_INTEL_BTS,
		     o.config = NULL, o.cpus = "0");
	refused_with(ENODEV, "there is no trace PMU number 3; Intel PT is 0, BTS is 1",
		     o.pmu = 3);
	refused_with(EACCES, "CAP_PERFMON or CAP_SYS_ADMIN", (void)0);
	refused_with(EEXIST, "open another one", (void)0);
	refused_with(EFAULT, "Bad address", (void)0);
	refused_with(EINVAL, "there is no CPU 8: the highest possible one is 7", o.cpus = "8");
	refused_with(EINVAL, "a size of 12288 bytes is not possible", o.aux_size = 3 * PAGE);
	refused_with(EINVAL, "a data ring of 12288 bytes is not possible", o.data_size = 3 * PAGE);
	refused_with(EINVAL, "branch is set without pt: add pt", o.config = "branch", o.cpus = "0");
	refused_with(EOPNOTSUPP, "cyc_thresh=9 (all have 0 1 2 3 4 5 6 7)", o.config = "cyc,cyc_thresh=9");
}

/* Nothing of these is at fault, so what is left is said. */
static void what_is_right_is_not_blamed(void **state)
{
#define blameless(...) refused_with(EINVAL, "cannot trace without branches", o.cpus = "0", __VA_ARGS__)
	(void)state;
	blameless(o.aux_size = 2 * PAGE);
	blameless(o.aux_watermark = 15 * PAGE);
	blameless(o.flags = AUXTRACE_SETUP_OVERWRITE);
	blameless(o.flags = AUXTRACE_SETUP_FULL_AUTO);
	blameless(o.flags = AUXTRACE_SETUP_FULL_STOP);
	blameless(o.data_size = PAGE, o.data_watermark = PAGE - 1, o.records = 0x1f,
		  o.flags = AUXTRACE_SETUP_DATA_BACKWARD);
	blameless(o.data_size = PAGE, o.flags = AUXTRACE_SETUP_DATA_OVERWRITE);
	blameless(o.slots = 1);
	blameless(o.slots = 8, o.data_size = PAGE, o.flags = AUXTRACE_SETUP_OVERWRITE);
	blameless(o.slots = 64, o.aux_size = 128 * PAGE, o.flags = AUXTRACE_SETUP_OVERWRITE);
	blameless(o.slots = 4, o.data_size = 4 * PAGE,
		  o.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE);
	blameless(o.config = "mtc,mtc_period=3,cyc,cyc_thresh=1,ptw,fup_on_ptw,pt,branch");
#undef blameless
}

static void a_cpu_that_the_kernel_has_not_is_told(void **state)
{
	(void)state;
	fake.info.out_nr_cpu_ids = 60000;
	refused_with(EINVAL, "there is no CPU 60000: the highest possible one is 59999", o.cpus = "0,60000");
	/* It is possible, but not present. */
	fake.info.out_nr_cpu_ids = 60001;
	refused_with(EINVAL, "there is no CPU 60000", o.cpus = "0,60000");
	assert_string_equal(auxtrace_error(), "there is no CPU 60000");
}

/* No term makes such a config, so the tables are asked directly. */
static void a_config_that_no_term_makes_is_told(void **state)
{
	const struct auxtrace_setup setup = { .config = 1ull << 40 | 1 << 10 };

	(void)state;
	fails(EINVAL, trace_pmu_pt.explain_config(&setup));
	says("config has bits outside the format: 0x10000000000");
	fails(EINVAL, trace_pmu_bts.explain_config(&setup));
	says("config is 0x10000000400: BTS has nothing to choose");
}

static void what_does_not_fit_a_text_is_left_out_as_a_whole(void **state)
{
	/* The blank, the dots and the 0 always fit. */
	const size_t most = sizeof(((struct text *)0)->buf) - 5;

	(void)state;
	for (size_t room = 3; room < 6; room++) {
		struct text t = { .len = 0 };

		text_add(&t, "%s", "");
		assert_int_equal(t.len, 0);
		while (t.len < most - room) {
			text_add(&t, "x");
			assert_int_equal(strlen(t.buf), t.len);
		}
		text_add(&t, "%d", 7777);
		assert_string_equal(t.buf + most - room, room < 4 ? " ..." : "7777");
		text_add(&t, "%s", "more");
		assert_string_equal(t.buf + most - room, room < 4 ? " ..." : "7777 ...");
		text_add(&t, "y");
		assert_string_equal(t.buf + most - room, room < 4 ? " ..." : "7777 ...");
		assert_int_equal(strlen(t.buf), t.len);
	}
}

static void a_refused_filter_is_explained(void **state)
{
	(void)state;
	refused_with(EINVAL, "filter 2 has the unknown action 3: there are AUXTRACE_FILTER_TRACE (1) and _STOP (2)",
		     FILTERS(TRACE(1, 2), { 3, 0, 1, 2 }));
	refused_with(EINVAL, "filter 1: reserved must be 0", FILTERS({ AUXTRACE_FILTER_STOP, 1, 1, 2 }));
	refused_with(EINVAL, "filter 1 ends at 0xfff, before it begins at 0x1000", FILTERS(TRACE(0x1000, 0xfff)));
	refused_with(EINVAL, "filters 1 (0x1000 to 0x1fff) and 2 (0x1fff to 0x2000) overlap",
		     FILTERS(TRACE(0x1000, 0x1fff), TRACE(0x1fff, 0x2000)));
	refused_with(EINVAL, "filters 2 (0x10 to 0x20) and 3 (0x5 to 0x10) overlap",
		     FILTERS(TRACE(1, 4), STOP(0x10, 0x20), STOP(5, 0x10)));
	refused_with(EINVAL, "filter 1: 0x1000000000000000 is not canonical", FILTERS(TRACE(1, 1ull << 60)));
	refused_with(EINVAL, "filter 1: 0x8000000000000000 is not canonical", FILTERS(STOP(1ull << 63, ~0ull)));
	/* These are right: something else is not. */
	refused_with(EINVAL, "mtc_period is set without mtc",
		     (o.config = "mtc_period=3", o.cpus = "0"); FILTERS(TRACE(0, ~0ull), STOP(5, 6)));
	refused_with(EOPNOTSUPP, "3 filters are more than a CPU of the session has ranges for: all have 2",
		     FILTERS(TRACE(1, 2), TRACE(3, 4), TRACE(5, 6)));
	refused_with(EOPNOTSUPP, "lacks something of config", FILTERS(TRACE(1, 2), TRACE(3, 4)));
	fake.caps.pt.nr_ranges = 0;
	refused_with(EOPNOTSUPP, "cannot filter by address (CPUID.(14H,0):EBX[2] is 0)", FILTERS(TRACE(1, 2)));
	refused_with(EOPNOTSUPP, "BTS records each branch wherever it is",
		     (o.pmu = AUXTRACE_PMU_INTEL_BTS, o.config = NULL); FILTERS(TRACE(1, 2)));
	refused_with(E2BIG, "this module has no filters: it is older", FILTERS(TRACE(1, 2)));
}

#define SPACE AUXTRACE_SETUP_ADDRESS_SPACE

static void a_refused_address_space_is_explained(void **state)
{
	(void)state;
	refused_with(EINVAL, "ADDRESS_SPACE contradicts a task scope", o.flags = SPACE | AUXTRACE_SETUP_PROCESS);
	refused_with(EINVAL, "ADDRESS_SPACE contradicts a task scope", o.flags = SPACE | AUXTRACE_SETUP_THREAD);
	refused_with(EINVAL, "whose descendants? ADDRESS_SPACE is one process",
		     o.flags = SPACE | AUXTRACE_SETUP_DESCENDANTS);
	refused_with(EINVAL, "mtc_period is set without mtc",
		     (o.flags = SPACE, o.tid = 7, o.config = "mtc_period=3", o.cpus = "0"));
	refused_with(ESRCH, "there is no thread 77", (o.flags = SPACE, o.tid = 77));
	refused_with(ENXIO, "thread 2 has no page tables of its own", (o.flags = SPACE, o.tid = 2));
	refused_with(EOPNOTSUPP, "page tables are isolated here", (o.flags = SPACE, o.tid = 77));
	refused_with(EOPNOTSUPP, "lacks something of config", o.flags = SPACE | AUXTRACE_SETUP_USER);
	refused_with(EOPNOTSUPP, "linear-address masking on (LAM)", o.flags = SPACE | AUXTRACE_SETUP_USER);
	refused_with(EOPNOTSUPP, "BTS compares no page tables",
		     (o.flags = SPACE, o.pmu = AUXTRACE_PMU_INTEL_BTS, o.config = NULL));
	fake.caps.pt.flags = 0;
	refused_with(EOPNOTSUPP, "does not compare CR3 (CPUID.(14H,0):EBX[0] is 0)", o.flags = SPACE);
}

static void a_period_of_zero_counts_when_its_packet_is_on(void **state)
{
	(void)state;
	fake.caps.pt.mtc_periods = 1 << 3;
	refused_with(EOPNOTSUPP, "mtc_period=0 (all have 3)", o.config = "mtc");
	fake.caps.pt.mtc_periods = 0;
	refused_with(EOPNOTSUPP, "mtc_period=0 (all have none)", o.config = "mtc");
	/* A period without a packet of its own is that of a CPU without a choice. */
	fake.caps.pt.psb_periods = 1 << 15;
	refused_with(EOPNOTSUPP, "lacks something of config 0x400", o.config = "tsc");
	refused_with(EOPNOTSUPP, "psb_period=1 (all have 15)", o.config = "psb_period=1");
}

/* A CPU that came online with less: INFO is of before. */
static void a_cpu_with_less_than_info_said_is_told(void **state)
{
	(void)state;
	refused_with(EOPNOTSUPP, "a CPU of the session lacks something of config 0x600; all have bits of 0xffffefcf",
		     o.config = "tsc,mtc");
}

static void a_cpu_that_is_offline_is_named(void **state)
{
	(void)state;
	fake.info.out_nr_cpu_ids = 50000;
	set_online("0-1,3");
	refused_with(ENODEV, "offline: CPU 2, 998; bring", o.cpus = "0,2-3,998");
	/* By the time one looks, it may be back. */
	refused_with(ENODEV, "offline: CPU (it is online again); bring it online", o.cpus = "0");
	/* There is no room for all of these. */
	refused_with(ENODEV, "offline: CPU 40000, 40001, 40002", o.cpus = "40000-40999");
	says(" ...; bring");
	assert_null(strstr(auxtrace_error(), "40999"));
	set_online(NULL);
	fake.proc = "/nowhere";
	refused_with(ENODEV, "a CPU of the session is offline", o.cpus = "0,2-3,998");
	fake.proc = NULL;
}

static void a_machine_without_pt_says_what_it_lacks(void **state)
{
	(void)state;
	fake.info.out_pmus = 0;
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].state = AUXTRACE_PMU_STATE_NO_CPUID;
	refused_with(ENODEV, "has no Intel PT", (void)0);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].state = AUXTRACE_PMU_STATE_NO_TOPA;
	refused_with(ENODEV, "no ToPA output", (void)0);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].state = AUXTRACE_PMU_STATE_NO_PMI;
	refused_with(ENODEV, "architectural PMU", (void)0);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].state = AUXTRACE_PMU_STATE_OK;
	refused_with(ENODEV, "this machine has no usable Intel PT", (void)0);
	/* A module that does not know it. */
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].cap.tag = AUXTRACE_CAP_PMU(77);
	refused_with(ENODEV, "has no Intel PT", (void)0);
}

static void bts_is_set_up_without_a_config(void **state)
{
	struct auxtrace_options o = good;
	struct auxtrace_session *s;

	(void)state;
	o.pmu = AUXTRACE_PMU_INTEL_BTS;
	for (int i = 0; i < 2; i++) {
		o.config = i ? "" : NULL;
		s = opened();
		assert_int_equal(auxtrace_setup(s, &o), 0);
		assert_int_equal(fake.setup.pmu, AUXTRACE_PMU_INTEL_BTS);
		assert_int_equal(fake.setup.config, 0);
		auxtrace_close(s);
		fake_end(state);
		fake_new(state);
	}
	s = opened();
	o.config = "tsc";
	fails(EINVAL, auxtrace_setup(s, &o));
	says("config \"tsc\": BTS has nothing to choose");
	auxtrace_close(s);
}

#define BY_BTS	(o.pmu = AUXTRACE_PMU_INTEL_BTS, o.config = NULL)

static void a_machine_without_bts_says_what_it_lacks(void **state)
{
	(void)state;
	fake.info.out_pmus = 1 << AUXTRACE_PMU_INTEL_PT;
	fake.caps.pmu[AUXTRACE_PMU_INTEL_BTS].state = AUXTRACE_PMU_STATE_NO_CPUID;
	refused_with(ENODEV, "CPUID.1:EDX[21], DS, or ECX[2], DTES64, is 0", BY_BTS);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_BTS].state = AUXTRACE_PMU_STATE_DISABLED;
	refused_with(ENODEV, "disabled by firmware or a hypervisor (IA32_MISC_ENABLE[11]",
		     BY_BTS);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_BTS].state = AUXTRACE_PMU_STATE_NO_PMI;
	refused_with(ENODEV, "architectural PMU", BY_BTS);
	fake.caps.pmu[AUXTRACE_PMU_INTEL_BTS].state = AUXTRACE_PMU_STATE_OK;
	refused_with(ENODEV, "this machine has no usable BTS; it has Intel PT (AUXTRACE_PMU_INTEL_PT)", BY_BTS);
	/* The other source is named. */
	fake.info.out_pmus = 1 << AUXTRACE_PMU_INTEL_BTS;
	fake.caps.pmu[AUXTRACE_PMU_INTEL_PT].state = AUXTRACE_PMU_STATE_NO_CPUID;
	refused_with(ENODEV, "it has BTS (AUXTRACE_PMU_INTEL_BTS)", (void)0);
	refused_with(EOPNOTSUPP, "DS-CPL, is 0): set both KERNEL and USER",
		     (BY_BTS, o.flags = AUXTRACE_SETUP_USER));
	refused_with(EINVAL, "a size of 5000 bytes", (BY_BTS, o.aux_size = 5000));
}

static void bts_that_cannot_start_says_who_holds_it(void **state)
{
	struct auxtrace_options o = good;
	struct auxtrace_session *s = opened();

	(void)state;
	o.pmu = AUXTRACE_PMU_INTEL_BTS;
	o.config = NULL;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	fake.fail.nr = AUXTRACE_IOC_START;
	fake.fail.err = EBUSY;
	fails(EBUSY, auxtrace_start(s));
	says("holds BTS, or what excludes it");
	says("intel_bts");
	says("last branch records");
	says("where the CPU cannot have both, Intel PT");
	fake.fail.err = EIO;
	fails(EIO, auxtrace_start(s));
	says("debug store is not where IA32_DS_AREA points to");
	auxtrace_close(s);
}

static void the_locked_memory_limit_is_told_with_what_is_needed(void **state)
{
	const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };
	struct rlimit old, low = { 64 << 10, 0 };

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	low.rlim_max = old.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &low), 0);
	/* Two CPUs with 64 KiB and two pages each. */
	refused_with(ENOMEM, "144 KiB of locked memory are needed (2 CPUs of 72 KiB), the limit is 64 KiB", (void)0);
	refused_with(ENOMEM, "164 KiB of locked memory are needed (2 CPUs of 82 KiB)", o.data_size = 10 << 10);
	fake.info.out_may |= AUXTRACE_MAY_LOCK;
	refused_with(ENOMEM, "the kernel has no memory for 2 channels of 73728 bytes", (void)0);
	fake.info.out_may &= ~AUXTRACE_MAY_LOCK;
	/* Not everybody may lift the limit. */
	if (!setrlimit(RLIMIT_MEMLOCK, &unlimited))
		refused_with(ENOMEM, "the kernel has no memory for 2 channels of 73728 bytes", (void)0);
	assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
}

static void what_a_user_without_a_capability_may_not_is_told(void **state)
{
	(void)state;
	fake.info.out_may = 0;
	refused_with(EACCES, "the number in /sys/module/auxtrace/parameters/unprivileged is 0", (void)0);
	fake.info.out_may = AUXTRACE_MAY_TRACE_OWN;
	refused_with(EACCES, "only user code of own processes can be traced: leave out KERNEL",
		     o.flags = AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_KERNEL);
	refused_with(EACCES, "not all that a CPU runs: choose THREAD or PROCESS", (void)0);
	refused_with(EACCES, "process 77 is another user's", o.flags = AUXTRACE_SETUP_PROCESS, o.tid = 77);
	refused_with(EUSERS, "as many sessions as the administrator allows", o.flags = AUXTRACE_SETUP_PROCESS);
}

/* What is not said is what the caller may have. */
static void defaults_are_what_the_caller_may_have(void **state)
{
	static const struct {
		uint32_t may, levels;
		uint64_t aux_size;
	} cases[] = {
		{ AUXTRACE_MAY_TRACE, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER, 4 << 20 },
		{ AUXTRACE_MAY_TRACE | AUXTRACE_MAY_TRACE_OWN,
		  AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER, 4 << 20 },
		/* SETUP would refuse the first. */
		{ 0, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER, 4 << 20 },
		{ AUXTRACE_MAY_TRACE_OWN, AUXTRACE_SETUP_USER, 128 << 10 },
		{ AUXTRACE_MAY_TRACE_OWN | AUXTRACE_MAY_LOCK, AUXTRACE_SETUP_USER, 4 << 20 },
	};
	struct rlimit old, low = { .rlim_cur = 512 << 10 };

	assert_int_equal(getrlimit(RLIMIT_MEMLOCK, &old), 0);
	low.rlim_max = old.rlim_max;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct auxtrace_options o = good;
		struct auxtrace_session *s;

		fake_end(state);
		fake_new(state);
		fake.info.out_may = cases[i].may;
		o.flags = AUXTRACE_SETUP_THREAD;
		o.aux_size = 0;
		o.data_size = 16 * PAGE;
		assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &low), 0);
		s = opened();
		assert_int_equal(auxtrace_setup(s, &o), 0);
		assert_int_equal(setrlimit(RLIMIT_MEMLOCK, &old), 0);
		assert_int_equal(fake.setup.flags, AUXTRACE_SETUP_THREAD | cases[i].levels);
		assert_int_equal(fake.setup.aux_size, cases[i].aux_size);
		auxtrace_close(s);
	}
}

static void a_start_without_the_right_to_it_says_who_may(void **state)
{
	struct auxtrace_session *s = opened();

	(void)state;
	assert_int_equal(auxtrace_setup(s, &good), 0);
	fake.fail.nr = AUXTRACE_IOC_START;
	fake.fail.err = EACCES;
	fails(EACCES, auxtrace_start(s));
	assert_non_null(strstr(auxtrace_error(), "by the user who did that"));
	auxtrace_close(s);
}

static void each_mapping_that_fails_is_told_and_nothing_leaks(void **state)
{
	static const char *const names[] = { "status page of CPU 0", "user page of CPU 0",
		"AUX area of CPU 0", "status page of CPU 2", "user page of CPU 2", "AUX area of CPU 2" };

	for (int i = 1; i <= 6; i++) {
		struct auxtrace_session *s;

		fake_end(state);
		fake_new(state);
		s = opened();
		fake.fail_mmap = i;
		fails(EAGAIN, auxtrace_setup(s, &good));
		says(names[i - 1]);
		auxtrace_close(s);
		assert_int_equal(fake.unmaps, i - 1);
	}
}

static void start_and_stop_tell_why_they_fail(void **state)
{
	static const struct {
		unsigned long nr;
		int err;
		const char *text;
	} cases[] = {
		{ AUXTRACE_IOC_START, EBUSY, "perf" },
		{ AUXTRACE_IOC_START, EALREADY, "started already" },
		{ AUXTRACE_IOC_START, EBADFD, "START before setup" },
		{ AUXTRACE_IOC_START, ENODEV, "offline" },
		{ AUXTRACE_IOC_START, EIO, "START failed: Input/output error" },
		{ AUXTRACE_IOC_STOP, EALREADY, "stopped already" },
		{ AUXTRACE_IOC_STOP, EBADFD, "STOP before setup" },
		{ AUXTRACE_IOC_STOP, ENOMEM, "STOP failed: Cannot allocate memory" },
	};
	struct auxtrace_session *s = set_up();

	(void)state;
	assert_int_equal(auxtrace_start(s), 0);
	assert_int_equal(auxtrace_stop(s), 0);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fake.fail.nr = cases[i].nr;
		fake.fail.err = cases[i].err;
		fails(cases[i].err, cases[i].nr == AUXTRACE_IOC_START ? auxtrace_start(s) : auxtrace_stop(s));
		says(cases[i].text);
	}
	auxtrace_close(s);
}

static void pause_and_resume_ask_all_or_some_and_bring_answers(void **state)
{
	struct auxtrace_session *s = set_up();
	struct auxtrace_cpus *two = auxtrace_cpus_parse("2"), *other = auxtrace_cpus_parse("0-1");
	struct auxtrace_effect effects[2] = { 0 };
	struct auxtrace_options o = good;

	assert_int_equal(auxtrace_pause(s), 0);
	assert_int_equal(fake.control.cpus | fake.control.cpus_len, 0);
	assert_int_equal(fake.control.effects | fake.control.effects_len | fake.control.effect_size, 0);
	assert_int_equal(auxtrace_resume(s), 0);
	assert_int_equal(auxtrace_resume_cpus(s, NULL, effects, 2), 2);
	assert_int_equal(effects[0].cpu, 0);
	assert_int_equal(effects[1].position, 102);
	memset(effects, 0, sizeof(effects));
	assert_int_equal(auxtrace_pause_cpus(s, NULL, effects, 1), 2);
	assert_int_equal(effects[1].position, 0);
	assert_int_equal(auxtrace_pause_cpus(s, two, effects, 2), 1);
	assert_int_equal(effects[0].cpu, 2);
	assert_int_equal(fake.control_cpus[0], 4);
	fails(EINVAL, auxtrace_pause_cpus(s, other, NULL, 0));
	says("PAUSE of CPU 1, which is not the session's");
	fake.fail.nr = AUXTRACE_IOC_RESUME;
	fake.fail.err = EBADFD;
	fails(EBADFD, auxtrace_resume(s));
	says("RESUME of a session that is not started");
	fake.fail.nr = AUXTRACE_IOC_PAUSE;
	fails(EBADFD, auxtrace_pause(s));
	says("PAUSE of a session that is not started");
	fake.fail.nr = AUXTRACE_IOC_RESUME;
	/* It is not the CPUs, whichever they are. */
	fake.fail.err = ENOMEM;
	fails(ENOMEM, auxtrace_resume_cpus(s, other, NULL, 0));
	says("RESUME failed: Cannot allocate memory");
	/* For what no CPU is to blame: none was named, or all are the session's. */
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_resume(s));
	says("RESUME failed: Invalid argument");
	fails(EINVAL, auxtrace_resume_cpus(s, two, NULL, 0));
	says("RESUME failed: Invalid argument");
	auxtrace_close(s);
	/* Before the setup a session has no CPUs. */
	s = opened();
	fails(EINVAL, auxtrace_resume_cpus(s, two, NULL, 0));
	says("RESUME failed: Invalid argument");
	auxtrace_close(s);
	fake_end(state);
	fake_new(state);
	s = opened();
	o.cpus = "2";
	assert_int_equal(auxtrace_setup(s, &o), 0);
	fails(EINVAL, auxtrace_resume_cpus(s, other, NULL, 0));
	says("RESUME of CPU 0, which is not the session's");
	auxtrace_cpus_free(two);
	auxtrace_cpus_free(other);
	auxtrace_close(s);
}

static struct auxtrace_session *with_data(uint32_t flags, uint32_t slots)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_options o = good;

	o.flags = flags;
	o.data_size = 4 * PAGE;
	o.slots = slots;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	return s;
}

static void output_is_paused_on_all_or_some(void **state)
{
	struct auxtrace_session *s = with_data(0, 0);
	struct auxtrace_cpus *two = auxtrace_cpus_parse("2"), *other = auxtrace_cpus_parse("1-2");

	assert_int_equal(auxtrace_pause_output(s, NULL, true), 0);
	assert_int_equal(fake.output.cpus | fake.output.cpus_len, 0);
	assert_int_equal(fake.output.pause, 1);
	assert_int_equal(auxtrace_pause_output(s, two, false), 0);
	assert_int_equal(fake.output_cpus[0], 4);
	assert_int_equal(fake.output.pause, 0);
	fails(EINVAL, auxtrace_pause_output(s, other, true));
	says("PAUSE_OUTPUT of CPU 1, which is not the session's");
	fake.fail.nr = AUXTRACE_IOC_PAUSE_OUTPUT;
	fake.fail.err = EBADFD;
	fails(EBADFD, auxtrace_pause_output(s, NULL, true));
	says("before setup");
	fake.fail.err = ENOMEM;
	fails(ENOMEM, auxtrace_pause_output(s, NULL, true));
	says("PAUSE_OUTPUT failed: Cannot allocate memory");
	fails(ENOMEM, auxtrace_pause_output(s, other, true));
	says("PAUSE_OUTPUT failed: Cannot allocate memory");
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_pause_output(s, two, true));
	says("PAUSE_OUTPUT failed: Invalid argument");
	fake.fail.err = 0;
	auxtrace_close(s);
	fake_end(state);
	fake_new(state);
	s = set_up();
	fails(EINVAL, auxtrace_pause_output(s, NULL, true));
	says("no data ring");
	fake.fail.nr = AUXTRACE_IOC_PAUSE_OUTPUT;
	fake.fail.err = ENOMEM;
	fails(ENOMEM, auxtrace_pause_output(s, NULL, true));
	says("PAUSE_OUTPUT failed: Cannot allocate memory");
	auxtrace_close(s);
	auxtrace_cpus_free(two);
	auxtrace_cpus_free(other);
}

static void a_snapshot_brings_cuts_and_its_slot_is_released(void **state)
{
	struct auxtrace_session *s = with_data(AUXTRACE_SETUP_OVERWRITE, 4);
	struct auxtrace_cut cuts[2] = { 0 };
	uint32_t slot = 99;

	(void)state;
	fake.channel[0].status->slot = fake.channel[2].status->slot = 3;
	fake.channel[2].status->produced = 500;
	assert_int_equal(auxtrace_snapshot(s, AUXTRACE_SNAPSHOT_SLOT, cuts, 2, &slot), 2);
	assert_int_equal(fake.snapshot.flags, AUXTRACE_SNAPSHOT_SLOT);
	assert_int_equal(slot, 3);
	assert_int_equal(cuts[1].cpu, 2);
	assert_int_equal(cuts[1].aux_end, 500);
	assert_int_equal(auxtrace_snapshot(s, 0, NULL, 7, NULL), 2);
	assert_int_equal(fake.snapshot.cuts | fake.snapshot.cuts_len | fake.snapshot.cut_size, 0);
	assert_int_equal(auxtrace_release(s, 3), 0);
	assert_int_equal(fake.released, 3);
	auxtrace_close(s);
}

static void a_refused_snapshot_or_release_is_explained(void **state)
{
	static const struct {
		uint32_t slots, flags;
		int err;
		const char *text;
	} cases[] = {
		{ 4, 0x8, EINVAL, "unknown flags 0x8" },
		{ 4, AUXTRACE_SNAPSHOT_PAUSE | AUXTRACE_SNAPSHOT_SLOT, EINVAL, "not both" },
		{ 0, AUXTRACE_SNAPSHOT_SLOT, EINVAL, "has no slots to continue in" },
		{ 4, AUXTRACE_SNAPSHOT_SLOT, EBADFD, "not started" },
		{ 4, AUXTRACE_SNAPSHOT_SLOT, ENOSPC, "each of the 4 slots but the current one holds a snapshot or a sample" },
		{ 4, 0, ENOMEM, "SNAPSHOT failed: Cannot allocate memory" },
		/* None of the reasons that are known. */
		{ 2, AUXTRACE_SNAPSHOT_SLOT, EINVAL, "SNAPSHOT failed: Invalid argument" },
		{ 0, AUXTRACE_SNAPSHOT_PAUSE, EINVAL, "SNAPSHOT failed: Invalid argument" },
	};
	struct auxtrace_session *s;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		s = with_data(AUXTRACE_SETUP_OVERWRITE, cases[i].slots);
		fake.fail.nr = AUXTRACE_IOC_SNAPSHOT;
		fake.fail.err = cases[i].err;
		fails(cases[i].err, auxtrace_snapshot(s, cases[i].flags, NULL, 0, NULL));
		says(cases[i].text);
		auxtrace_close(s);
		fake_end(state);
		fake_new(state);
	}
	s = opened();
	fake.fail.nr = AUXTRACE_IOC_SNAPSHOT;
	fake.fail.err = EBADFD;
	fails(EBADFD, auxtrace_snapshot(s, 0, NULL, 0, NULL));
	says("before setup");
	fake.fail.nr = AUXTRACE_IOC_RELEASE;
	fails(EBADFD, auxtrace_release(s, 0));
	says("RELEASE before setup");
	fails(EBADFD, auxtrace_release_sample(s, 0, 0));
	says("RELEASE before setup");
	auxtrace_close(s);
	s = with_data(AUXTRACE_SETUP_OVERWRITE, 4);
	fake.fail.err = EINVAL;
	fails(EINVAL, auxtrace_release(s, 2));
	says("slot 2, which holds no snapshot");
	fails(EINVAL, auxtrace_release(s, 4));
	says("slot 4: the session has 4");
	fails(EINVAL, auxtrace_release(s, 3));
	says("slot 3, which holds no snapshot");
	fails(EINVAL, auxtrace_release_sample(s, 1, 2));
	says("RELEASE of slot 2, which holds no sample of CPU 1");
	fake.fail.err = ENOMEM;
	fails(ENOMEM, auxtrace_release(s, 2));
	says("RELEASE failed: Cannot allocate memory");
	fails(ENOMEM, auxtrace_release(s, 4));
	says("RELEASE failed: Cannot allocate memory");
	fails(ENOMEM, auxtrace_release_sample(s, 1, 2));
	says("RELEASE failed: Cannot allocate memory");
	auxtrace_close(s);
}

static void a_task_that_cannot_be_told_says_why(void **state)
{
	struct auxtrace_session *s = opened();
	struct auxtrace_task task;

	(void)state;
	assert_int_equal(auxtrace_task(s, 0, &task), 0);
	assert_int_equal(task.out_context, 0x1000);
	fake.fail.nr = AUXTRACE_IOC_TASK;
	fake.fail.err = ESRCH;
	fails(ESRCH, auxtrace_task(s, 4711, &task));
	says("no process 4711");
	fake.fail.err = ENXIO;
	fails(ENXIO, auxtrace_task(s, 2, &task));
	says("kernel thread");
	fake.fail.err = EACCES;
	fails(EACCES, auxtrace_task(s, 3, &task));
	says("process 3 can be read with CAP_PERFMON or CAP_SYS_ADMIN");
	fake.fail.err = EIO;
	fails(EIO, auxtrace_task(s, 3, &task));
	says("TASK of process 3 failed: Input/output error");
	auxtrace_close(s);
}

/* The optional members are start_error and write_meta. */
static void the_table_of_a_trace_pmu_is_complete(void **state)
{
	uint32_t i;

	(void)state;
	for (i = 0; trace_pmus[i]; i++) {
		const struct trace_pmu *pmu = trace_pmus[i];

		assert_int_equal(pmu->pmu, i);
		assert_ptr_equal(trace_pmu_of(i), pmu);
		assert_true(pmu->name && pmu->macro && pmu->busy);
		assert_true(pmu->parse_config && pmu->absent && pmu->explain_config &&
			    pmu->explain_unsupported);
	}
	assert_null(trace_pmu_of(i));
	assert_null(trace_pmu_of(UINT32_MAX));
}

static void readers_and_recordings_need_a_setup(void **state)
{
	struct auxtrace_session *s = opened();

	(void)state;
	fails_null(EBADFD, auxtrace_reader(s, 0));
	fails_null(EBADFD, auxtrace_recording_create(s, "/tmp/none"));
	auxtrace_close(s);
}

#define t(f) cmocka_unit_test_setup_teardown(f, fake_new, fake_end)

static pid_t dies_on_task;

static void end_on_task(void)
{
	if (dies_on_task)
		fake_child_end(dies_on_task);
	dies_on_task = 0;
}

static void a_process_is_found_by_its_pidfd(void **state)
{
	int pidfd, file;
	pid_t pid = fake_child(&pidfd);
	struct auxtrace_session *s = opened();
	struct auxtrace_task task;

	(void)state;
	assert_int_equal(auxtrace_task_pidfd(s, pidfd, &task), 0);
	assert_int_equal(task.pid, pid);
	assert_int_equal(task.out_context, 0x1000);
	/* If it ends during the call, the answer may be about another. */
	dies_on_task = pid;
	fake.on_task = end_on_task;
	fails(ESRCH, auxtrace_task_pidfd(s, pidfd, &task));
	says("has ended");
	fake.on_task = NULL;
	/* Once it is reaped, its number may be another's: the device is not even asked. */
	file = fake.ioctls;
	fails(ESRCH, auxtrace_task_pidfd(s, pidfd, &task));
	assert_int_equal(fake.ioctls, file);
	close(pidfd);
	fails(EBADF, auxtrace_task_pidfd(s, pidfd, &task));
	says("cannot open /proc/self/fdinfo/");
	file = open("/dev/null", O_RDONLY | O_CLOEXEC);
	fails(EBADF, auxtrace_task_pidfd(s, file, &task));
	says("no pidfd");
	close(file);
	/* The numbers in a /proc of another PID namespace name other processes. */
	pid = fake_child(&pidfd);
	file = fake.ioctls;
	fake.proc_self = "1";
	fails(EBADF, auxtrace_task_pidfd(s, pidfd, &task));
	says("not mounted for this PID namespace");
	fake.proc_self = "";
	fails(EBADF, auxtrace_task_pidfd(s, pidfd, &task));
	assert_int_equal(fake.ioctls, file);
	fake.proc_self = NULL;
	assert_int_equal(auxtrace_task_pidfd(s, pidfd, &task), 0);
	fake_child_end(pid);
	close(pidfd);
	auxtrace_close(s);
}

static int dies_on_setup;

static void end_on_setup(void)
{
	fake_child_end(dies_on_setup);
}

static const struct auxtrace_options by_pidfd = {
	.size = sizeof(by_pidfd), .cpus = "0",
	.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_PIDFD,
};

static void a_session_is_of_the_process_of_a_pidfd(void **state)
{
	struct auxtrace_options o = by_pidfd;
	int pidfd;
	pid_t pid = fake_child(&pidfd);
	struct auxtrace_session *s = opened();

	(void)state;
	o.tid = pidfd;
	assert_int_equal(auxtrace_setup(s, &o), 0);
	assert_int_equal(auxtrace_setup_info(s)->tid, pid);
	assert_int_equal(auxtrace_setup_info(s)->flags, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PROCESS);
	fake_child_end(pid);
	close(pidfd);
	auxtrace_close(s);
}

/* The number may be another process's by then. */
static void a_session_is_not_of_a_process_that_ends_meanwhile(void **state)
{
	struct auxtrace_options o = by_pidfd;
	struct auxtrace_session *s;
	unsigned int asked;
	int pidfd;

	(void)state;
	/* Before there is a session: where pidfds are unknown it skips the test. */
	dies_on_setup = fake_child(&pidfd);
	s = opened();
	o.tid = pidfd;
	fake.on_setup = end_on_setup;
	fails(ESRCH, auxtrace_setup(s, &o));
	says("has ended");
	fake.on_setup = NULL;
	auxtrace_close(s);
	/* The device is not asked for one that has ended before, nor for what is no pidfd. */
	s = opened();
	asked = fake.ioctls;
	fails(ESRCH, auxtrace_setup(s, &o));
	close(pidfd);
	fails(EBADF, auxtrace_setup(s, &o));
	assert_int_equal(fake.ioctls, asked);
	auxtrace_close(s);
}

static int closes_on_task;

static void close_on_task(void)
{
	close(closes_on_task);
}

/* What /proc says of a pidfd is @text; the device is asked for process @pid, unless that is 0. */
static void pidfd_says(const char *text, pid_t pid, int err, const char *message)
{
	char path[] = "/tmp/auxtrace-fdinfo.XXXXXX";
	struct auxtrace_session *s = opened();
	struct auxtrace_task task;

	closes_on_task = mkstemp(path);
	assert_return_code(closes_on_task, errno);
	assert_int_equal(write(closes_on_task, text, strlen(text)), strlen(text));
	fake.fdinfo = path;
	fake.task_pid = 0;
	fails(err, auxtrace_task_pidfd(s, closes_on_task, &task));
	says(message);
	assert_int_equal(fake.task_pid, pid);
	if (fake.on_task != close_on_task)
		close(closes_on_task);
	unlink(path);
	auxtrace_close(s);
}

static void a_process_without_a_number_here_is_told(void **state)
{
	(void)state;
	pidfd_says("pos:\t0\nPid:\t0\nNSpid:\t0\n", 0, ESRCH, "is not in this PID namespace");
	pidfd_says("pos:\t0\nPid:\t-1\nNSpid:\t-1\n", 0, ESRCH, "has ended");
	/* It has one, but the module has no answer, or the pidfd is closed during the call. */
	fake.task_errno = ENXIO;
	pidfd_says("pos:\t0\nPid:\t1\n", 1, ENXIO, "process 1 has no address space");
	fake.task_errno = 0;
	fake.on_task = close_on_task;
	pidfd_says("pos:\t0\nPid:\t1\n", 1, EBADF, "is no file descriptor");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(an_absent_device_says_that_the_module_is_not_loaded),
		t(an_absent_device_of_a_locked_down_kernel_says_so),
		t(a_forbidden_device_says_whose_it_is),
		t(what_is_no_device_is_refused),
		t(another_abi_version_is_refused_with_both_numbers),
		t(a_device_that_refuses_info_is_not_opened),
		t(a_probe_without_the_right_to_it_says_so),
		t(a_status_that_cannot_be_told_says_why),
		t(a_kernel_that_answers_nonsense_is_not_believed),
		t(malformed_capabilities_are_not_believed),
		t(what_the_module_had_no_room_for_is_not_read),
		t(more_capabilities_than_the_library_has_room_for_are_no_error),
		t(a_capability_is_found_by_its_tag_at_any_size),
		t(an_interrupted_call_is_made_again),
		t(descriptor_0_is_as_good_as_another), t(closing_null_is_nothing),
		t(the_default_config_is_what_the_cpu_has_of_it),
		t(setup_hands_the_options_over_and_maps_all_regions),
		t(neither_user_nor_kernel_means_both_and_zero_means_the_default),
		t(all_cpus_that_are_online_are_traced_if_none_are_named),
		t(options_of_another_size_are_refused),
		t(a_program_built_before_the_data_ring_is_served),
		t(a_program_built_before_the_filters_is_served),
		t(filters_are_handed_over_and_copied),
		t(a_refused_filter_is_explained),
		t(a_refused_address_space_is_explained),
		t(a_data_ring_and_slots_are_handed_over_and_mapped),
		t(bad_lists_and_terms_do_not_reach_the_device),
		t(a_refused_setup_is_explained),
		t(what_is_right_is_not_blamed),
		t(a_cpu_that_the_kernel_has_not_is_told),
		t(a_config_that_no_term_makes_is_told),
		t(what_does_not_fit_a_text_is_left_out_as_a_whole),
		t(a_period_of_zero_counts_when_its_packet_is_on),
		t(a_cpu_with_less_than_info_said_is_told),
		t(a_cpu_that_is_offline_is_named),
		t(a_machine_without_pt_says_what_it_lacks),
		t(bts_is_set_up_without_a_config),
		t(a_machine_without_bts_says_what_it_lacks),
		t(bts_that_cannot_start_says_who_holds_it),
		t(the_locked_memory_limit_is_told_with_what_is_needed),
		t(what_a_user_without_a_capability_may_not_is_told),
		t(defaults_are_what_the_caller_may_have),
		t(a_start_without_the_right_to_it_says_who_may),
		t(each_mapping_that_fails_is_told_and_nothing_leaks),
		t(start_and_stop_tell_why_they_fail),
		t(pause_and_resume_ask_all_or_some_and_bring_answers),
		t(output_is_paused_on_all_or_some),
		t(a_snapshot_brings_cuts_and_its_slot_is_released),
		t(a_process_is_found_by_its_pidfd),
		t(a_session_is_of_the_process_of_a_pidfd),
		t(a_session_is_not_of_a_process_that_ends_meanwhile),
		t(a_process_without_a_number_here_is_told),
		t(a_refused_snapshot_or_release_is_explained),
		t(a_task_that_cannot_be_told_says_why),
		t(the_table_of_a_trace_pmu_is_complete),
		t(readers_and_recordings_need_a_setup),
	};

	return cmocka_run_group_tests_name("userlib session", tests, NULL, NULL);
}
