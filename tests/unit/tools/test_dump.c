// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace dump: each packet, and what it makes of an error. */
#include "made.h"

#include <stdio.h>

#include "packets.h"

static void dump_shows_each_packet_and_counts_them(void **state)
{
	const struct result *r;
	char arguments[128];

	(void)state;
	psb(CR3, 0xabc, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!.!");
	suppressed(ppt_tip_pgd);
	plain(ppt_ovf);
	finish(BOTH, "windows 1");
	snprintf(arguments, sizeof(arguments), "dump %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"# cpu 0\n"
		"000000000000  psb\n"
		"000000000010  tsc      tsc=abc\n"
		"000000000018  pip      cr3=5000\n"
		"000000000020  mode     exec csl=1 csd=0\n"
		"000000000022  psbend\n"
		"000000000024  tip.pge  3:     000000401000\n"
		"00000000002b  tnt.8    !.!\n"
		"00000000002c  tip.pgd  (suppressed)\n"
		"00000000002d  ovf\n");
	snprintf(arguments, sizeof(arguments), "dump --summary %s/cpu0.aux", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "psb                   1             16\n");
	expect_part(r->out, "all                   9             47\n");
	expect_part(r->out, "bytes not decoded: 0\nerrors: 0\n");
}

static void dump_goes_on_behind_an_error_and_counts_what_it_left_out(void **state)
{
	const struct result *r;
	char arguments[128];
	uint64_t at;

	(void)state;
	tnt("!");
	psb(CR3, 1, 0);
	at = position();
	for (int i = 0; i < 8; i++)
		plain(ppt_pad);
	stream[at] = 0x02;
	stream[at + 1] = 0x0b;
	psb(CR3, 2, 0);
	finish(BOTH, "windows 1");
	snprintf(arguments, sizeof(arguments), "dump --summary %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->out, "bytes not decoded: 9\nerrors: 1\n");
	expect_part(r->out, "psb                   2 ");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(dump_shows_each_packet_and_counts_them),
		t(dump_goes_on_behind_an_error_and_counts_what_it_left_out),
	};

	return cmocka_run_group_tests_name("dump", tests, NULL, NULL);
}
