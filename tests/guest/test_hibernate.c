// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine hibernates and is restored, with a session started and a trigger armed: a gap, after
 * which tracing goes on. $AUXTRACE_SWAP is a disk for the image.
 *
 * $AUXTRACE_HIBERNATE is test_resume: the kernel restores its image itself. Or shutdown: it turns
 * the machine off. The next boot, which has AUXTRACE_HIBERNATE=restore, starts a session too, and
 * loads the image; then this program goes on where the first boot left it.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/swap.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "sleep.h"
#include "trace.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

static const char *mode(void)
{
	const char *text = getenv("AUXTRACE_HIBERNATE");

	return text ? text : "";
}

static const char *swap_disk(void)
{
	const char *path = getenv("AUXTRACE_SWAP");

	if (!path)
		fail_msg("$AUXTRACE_SWAP is not set");
	return path;
}

static void must_write(const char *path, const char *text)
{
	expect_call(path, 0, file_write(path, text), __FILE__, __LINE__);
}

/* Tells the kernel on which disk an image is. If there is one, this loads it and does not return. */
static void set_resume(void)
{
	char number[32];
	struct stat st;

	assert_int_equal(stat(swap_disk(), &st), 0);
	snprintf(number, sizeof(number), "%u:%u", major(st.st_rdev), minor(st.st_rdev));
	must_write("/sys/power/resume", number);
}

static void make_swap(void)
{
	char command[128];

	snprintf(command, sizeof(command), "mkswap %s > /dev/null", swap_disk());
	assert_int_equal(system(command), 0);
	assert_int_equal(swapon(swap_disk(), 0), 0);
}

static void tracing_goes_on_after_a_restore(void **state)
{
	struct session s;
	uint32_t id;
	int ret;

	make_swap();
	set_resume();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	id = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					   CALL_FUNCTION, 0));
	ok_start(s.fd);
	load_run(1000);
	must_write("/sys/power/disk", mode());
	ret = file_write("/sys/power/state", "disk");
	/* Before 6.4 the kernel cannot open its swap device again in the same boot. */
	if (ret == -EBUSY && !strcmp(mode(), "test_resume"))
		skip_test("this kernel restores an image only in another boot");
	expect_call("hibernate", 0, ret, __FILE__, __LINE__);

	slept_once(&s, -1);
	traces_until_trigger(&s, id);
	ok_stop(s.fd);
	check_accounting(&s);
	ok_start(s.fd);
	ok_stop(s.fd);
	assert_int_equal(swapoff(swap_disk()), 0);
}

/* The second boot: not a case, as the first boot's goes on behind set_resume(). */
static int restore(void)
{
	struct session s;

	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	assert_true(msr_tracing(first_cpu));
	set_resume();
	print_error("no image was restored\n");
	return 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tracing_goes_on_after_a_restore),
	};

	if (!strcmp(mode(), "restore"))
		return restore();
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
