// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "pmu.h"
#include "uapi.h"

bool under_bts(void)
{
	static int bts = -1;

	if (bts < 0) {
		const char *name = getenv("AUXTRACE_TEST_SOURCE");

		if (name && strcmp(name, "bts") && strcmp(name, "pt")) {
			print_error("AUXTRACE_TEST_SOURCE is '%s': neither pt nor bts\n", name);
			exit(2);
		}
		bts = name && !strcmp(name, "bts");
	}
	return bts;
}

bool bts_is_buffered(void)
{
	return at_bts_flags() & AUXTRACE_BTS_BUFFERED;
}

uint32_t quiet_level(void)
{
	if (under_bts() && bts_is_buffered())
		return AUXTRACE_SETUP_USER;
	return AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL;
}

bool pt_has_single_entry(void)
{
	static int single = -1;

	if (single < 0)
		single = !under_bts() && at_pt().flags & AUXTRACE_PT_SINGLE_ENTRY;
	return single;
}

void check_written(uint64_t produced, uint64_t written)
{
	if (pt_has_single_entry()) {
		assert_true(produced >= written);
		assert_true(produced - written <= 512 * (produced / 4096 + 1));
	} else {
		assert_int_equal(produced, written);
	}
}

void pt_required(const char *what)
{
	if (under_bts())
		skip_test("about Intel PT's %s", what);
}

void bts_required(void)
{
	if (!under_bts())
		skip_test("about BTS");
}
