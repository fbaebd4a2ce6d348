// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"

#include <errno.h>
#include <string.h>

#include <auxtrace.h>

/* Bits of perf's intel_pt format, from /sys/bus/event_source/devices/intel_pt/format. */
static void terms_are_the_bits_of_perf_s_format(void **state)
{
	static const struct {
		const char *terms;
		uint64_t config;
	} cases[] = {
		{ "", 0 },
		{ "pt", 1ull << 0 },
		{ "cyc", 1ull << 1 },
		{ "pwr_evt", 1ull << 4 },
		{ "fup_on_ptw", 1ull << 5 },
		{ "mtc", 1ull << 9 },
		{ "tsc", 1ull << 10 },
		{ "noretcomp", 1ull << 11 },
		{ "ptw", 1ull << 12 },
		{ "branch", 1ull << 13 },
		{ "mtc_period=15", 15ull << 14 },
		{ "cyc_thresh=15", 15ull << 19 },
		{ "psb_period=15", 15ull << 24 },
		{ "event", 1ull << 31 },
		{ "notnt", 1ull << 55 },
		{ "tsc,mtc,mtc_period=3,psb_period=3", 0x300c600 },
		{ "tsc=1,mtc=0", 1ull << 10 },
		{ "tsc,tsc=0", 0 },
		{ "mtc_period=3,mtc_period=0x6", 6ull << 14 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t config = ~0ull;

		/* An earlier ERANGE must not make the next term fail. */
		errno = ERANGE;
		assert_int_equal(auxtrace_config_parse(cases[i].terms, &config), 0);
		assert_int_equal(config, cases[i].config);
	}
}

static void a_wrong_term_leaves_the_config_alone_and_is_named(void **state)
{
	static const struct {
		const char *terms, *says;
		int err;
	} cases[] = {
		{ "tcs", "unknown config term \"tcs\"; the terms are pt, cyc,", EINVAL },
		{ "tsc,x=1", "unknown config term \"x\"", EINVAL },
		{ "mtc_period", "needs a value: mtc_period=0 to mtc_period=15", EINVAL },
		{ "mtc_period=", "not a value", EINVAL },
		{ "mtc_period=three", "not a value", EINVAL },
		{ "mtc_period=-1", "not a value", EINVAL },
		{ "mtc_period=3x,tsc", "\"3x\" is not a value for mtc_period", EINVAL },
		{ "mtc_period=3=4", "\"3=4\" is not a value", EINVAL },
		{ "mtc_period=16", "at most 15", ERANGE },
		{ "tsc=2", "at most 1", ERANGE },
		{ "psb_period=99999999999999999999", "out of range", ERANGE },
		{ "tsc,", "missing after the last comma", EINVAL },
		{ ",tsc", "unknown config term \"\"", EINVAL },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t config = 42;

		fails(cases[i].err, auxtrace_config_parse(cases[i].terms, &config));
		says(cases[i].says);
		assert_int_equal(config, 42);
	}
}

static void formatting_is_the_inverse_of_parsing(void **state)
{
	char buf[256];
	uint64_t back;

	(void)state;
	for (uint64_t seed = 1, i = 0; i < 1000; i++) {
		uint64_t config;

		seed = seed * 6364136223846793005ull + 1442695040888963407ull;
		config = seed >> 20 & (1 | 2 | 1 << 5 | 0x1full << 9 | 0xfull << 14 |
				       0xfull << 19 | 0xfull << 24);
		auxtrace_config_format(config, buf, sizeof(buf));
		assert_int_equal(auxtrace_config_parse(buf, &back), 0);
		assert_int_equal(back, config);
	}
}

static void formatting_says_how_much_room_it_needs(void **state)
{
	char buf[4];

	(void)state;
	assert_int_equal(auxtrace_config_format(1 << 9 | 1 << 10, buf, sizeof(buf)), 7);
	assert_string_equal(buf, "mtc");
	assert_int_equal(auxtrace_config_format(1ull << 40, NULL, 0), strlen("0x10000000000"));
}

static void bits_without_a_term_are_formatted_as_a_number(void **state)
{
	static const struct {
		uint64_t config;
		const char *text;
	} cases[] = {
		{ 1ull << 40 | 1 << 2, "0x10000000004" },
		{ 1ull << 40 | 1 << 10 | 3 << 14, "tsc,mtc_period=3,0x10000000000" },
	};
	char buf[256];

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_int_equal(auxtrace_config_format(cases[i].config, buf, sizeof(buf)),
				 strlen(cases[i].text));
		assert_string_equal(buf, cases[i].text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(terms_are_the_bits_of_perf_s_format),
		cmocka_unit_test(a_wrong_term_leaves_the_config_alone_and_is_named),
		cmocka_unit_test(formatting_is_the_inverse_of_parsing),
		cmocka_unit_test(formatting_says_how_much_room_it_needs),
		cmocka_unit_test(bits_without_a_term_are_formatted_as_a_number),
	};

	return cmocka_run_group_tests_name("userlib config", tests, NULL, NULL);
}
