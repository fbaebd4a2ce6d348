// SPDX-License-Identifier: GPL-2.0-only
/* Profiles by name, with capabilities switched off, and the refusal of wrong ones. */
#include <string.h>

#include "machine.h"

static void parse(const char *text, struct ptm_profile *out)
{
	char why[512];

	if (!ptm_profile_parse(text, out, why, sizeof(why)))
		fail_msg("'%s' refused: %s", text, why);
}

static void a_plain_name_is_that_profile(void **state)
{
	struct ptm_profile got;

	for (unsigned int i = 0; ptm_profile_at(i); i++) {
		parse(ptm_profile_at(i)->name, &got);
		assert_memory_equal(&got, ptm_profile_at(i), sizeof(got));
		/* Its clock is read. */
		assert_true(got.clock_stride > 0);
	}
	assert_string_equal(ptm_profile_at(0)->name, "skylake");
	assert_non_null(ptm_profile_find("broadwell"));
	assert_non_null(ptm_profile_find("icelake"));
	assert_non_null(ptm_profile_find("gracemont"));
}

static void each_profile_has_the_address_bits_and_clocks_of_its_cpu(void **state)
{
	static const struct {
		const char *name;
		unsigned int maxphyaddr, core_ratio, art_num, art_den, clock_stride;
	} cpus[] = {
		{ "skylake", 40, 32, 84, 2, 16 },
		{ "broadwell", 40, 32, 0, 0, 1 },	/* no MTC, so no ART */
		{ "icelake", 40, 32, 84, 2, 16 },
		{ "gracemont", 40, 32, 84, 2, 16 },
	};

	for (unsigned int i = 0; i < sizeof(cpus) / sizeof(cpus[0]); i++) {
		const struct ptm_profile *profile = ptm_profile_find(cpus[i].name);

		assert_non_null(profile);
		assert_int_equal(profile->maxphyaddr, cpus[i].maxphyaddr);
		assert_int_equal(profile->core_ratio, cpus[i].core_ratio);
		assert_int_equal(profile->art_num, cpus[i].art_num);
		assert_int_equal(profile->art_den, cpus[i].art_den);
		assert_int_equal(profile->clock_stride, cpus[i].clock_stride);
	}
}

/* What each capability shows to the guest, with and without it. */
static void each_capability_is_switched_off_alone(void **state)
{
	static const struct {
		const char *text;
		uint32_t ebx, ecx;		/* of CPUID.(14H,0), all that icelake has */
		uint32_t eax1, ebx1;		/* of CPUID.(14H,1) */
		uint32_t features;
		uint64_t perf;
	} cases[] = {
		{ "icelake", 0x1f, 7, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-cr3-filter", 0x1e, 7, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-psb-cyc", 0x1d, 7, 0x02490004, 0, 3, BIT(13) },
		{ "icelake:-ip-filter", 0x1b, 7, 0x02490000, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-mtc", 0x17, 7, 4, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-ptwrite", 0x0f, 7, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-topa:-topa-multi", 0x1f, 4, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-topa-multi", 0x1f, 5, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-single-range", 0x1f, 3, 0x02490004, 0x003f1fff, 3, BIT(13) },
		{ "icelake:-bts,-ds-cpl", 0x1f, 7, 0x02490004, 0x003f1fff, 0, BIT(13) },
		{ "icelake,-ds-cpl", 0x1f, 7, 0x02490004, 0x003f1fff, PTM_F_BTS, BIT(13) },
		{ "icelake,-fw-write", 0x1f, 7, 0x02490004, 0x003f1fff, 3, 0 },
		{ "gracemont", 0x1bf, 7, 0x02490002, 0x003f1fff, 3, BIT(13) },
		{ "gracemont:-tnt-disable", 0xbf, 7, 0x02490002, 0x003f1fff, 3, BIT(13) },
		{ "gracemont:-event", 0x13f, 7, 0x02490002, 0x003f1fff, 3, BIT(13) },
		{ "gracemont:-power", 0x19f, 7, 0x02490002, 0x003f1fff, 3, BIT(13) },
		{ "broadwell:-cr3-filter", 0, 1, 0, 0, 3, BIT(13) },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ptm_profile profile;
		struct machine *m;
		uint32_t r[4];

		parse(cases[i].text, &profile);
		m = machine_new(&profile);
		assert_true(ptm_cpuid(m->ptm, 0x14, 0, r));
		assert_int_equal(r[0], (cases[i].eax1 | cases[i].ebx1) != 0);
		assert_int_equal(r[1], cases[i].ebx);
		assert_int_equal(r[2], cases[i].ecx);
		assert_true(ptm_cpuid(m->ptm, 0x14, 1, r));
		assert_int_equal(r[0], cases[i].eax1);
		assert_int_equal(r[1], cases[i].ebx1);
		assert_int_equal(profile.features, cases[i].features);
		assert_int_equal(rd(m, 0x345), cases[i].perf);
		machine_free(m);
	}
}

static void what_cannot_be_is_refused_by_name(void **state)
{
	static const char caps[] = "-cr3-filter, -psb-cyc, -ip-filter, -mtc, -topa, -topa-multi, "
				   "-single-range, -bts, -ds-cpl, -fw-write";
	static const struct {
		const char *text, *names, *offers;
	} cases[] = {
		{ "", "no profile ''", "skylake, broadwell, icelake, gracemont" },
		{ "haswell", "no profile 'haswell'", "skylake, broadwell, icelake, gracemont" },
		{ "sky", "no profile 'sky'", "skylake, broadwell, icelake, gracemont" },
		{ "skylakes:-mtc", "no profile 'skylakes'", "skylake, broadwell, icelake, gracemont" },
		{ "skylake:mtc", "'mtc'", caps },
		{ "skylake:+mtc", "'+mtc'", caps },
		{ "skylake:-", "'-'", caps },
		{ "skylake:", "''", caps },
		{ "skylake:-mt", "'-mt'", caps },
		{ "skylake:-mtcs", "'-mtcs'", caps },
		{ "skylake:-mtc:-lbr", "'-lbr'", caps },
		{ "skylake:-ptwrite", "cannot switch off '-ptwrite' of skylake", caps },
		{ "broadwell:-mtc", "cannot switch off '-mtc' of broadwell",
		  "-cr3-filter, -topa, -bts, -ds-cpl, -fw-write" },
		{ "skylake:-topa", "-topa ", "add -topa-multi" },
		{ "skylake:-topa:-topa-multi:-single-range", "output", "keep topa or single-range" },
		{ "broadwell:-topa", "output", "keep topa or single-range" },
		{ "skylake:-bts", "-bts ", "add -ds-cpl" },
	};

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ptm_profile out;
		char why[512] = "";

		if (ptm_profile_parse(cases[i].text, &out, why, sizeof(why)))
			fail_msg("'%s' accepted", cases[i].text);
		if (!strstr(why, cases[i].names) || !strstr(why, cases[i].offers))
			fail_msg("'%s': %s", cases[i].text, why);
	}
}

static void a_short_buffer_gets_what_fits(void **state)
{
	static const char *const texts[] = { "none", "skylake:none", "skylake:-topa" };

	for (unsigned int i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct ptm_profile out;
		char whole[512], why[512];
		size_t len;

		assert_false(ptm_profile_parse(texts[i], &out, whole, sizeof(whole)));
		len = strlen(whole);
		for (size_t size = 1; size < len + 3; size++) {
			memset(why, 'x', sizeof(why));
			assert_false(ptm_profile_parse(texts[i], &out, why, size));
			assert_int_equal(strlen(why), size <= len ? size - 1 : len);
			assert_memory_equal(why, whole, strlen(why));
			assert_int_equal(why[size], 'x');
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plain_name_is_that_profile),
		cmocka_unit_test(each_profile_has_the_address_bits_and_clocks_of_its_cpu),
		cmocka_unit_test(each_capability_is_switched_off_alone),
		cmocka_unit_test(what_cannot_be_is_refused_by_name),
		cmocka_unit_test(a_short_buffer_gets_what_fits),
	};

	return cmocka_run_group_tests_name("profile", tests, NULL, NULL);
}
