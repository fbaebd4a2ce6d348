// SPDX-License-Identifier: GPL-2.0-only
/* The model's report. */
#include <stdlib.h>
#include <string.h>

#include "machine.h"

#define ON	(OS | USER | BRANCH_EN)

static char *report(struct machine *m)
{
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	assert_non_null(to);
	ptm_report(m->ptm, to);
	assert_int_equal(fclose(to), 0);
	return text;
}

/* True if the report has @line as a whole line. */
static void assert_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, line, n) && at[n] == '\n')
			return;
	}
	fail_msg("no line '%s' in:\n%s", line, text);
}

static unsigned int lines(const char *text, const char *prefix)
{
	unsigned int n = 0;

	for (const char *at = text; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		n += !strncmp(at, prefix, strlen(prefix));
	}
	return n;
}

static void every_counter_has_a_line(void **state)
{
	struct machine *m = *state;
	char *text;

	start(m, ON);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	stop(m);
	text = report(m);
	assert_int_equal(lines(text, "counter "), PTM_COUNTERS);
	assert_line(text, "counter PSB 1");
	assert_line(text, "counter TIP 1");
	assert_line(text, "counter PGD 1");
	assert_line(text, "counter BTS_UNMAPPED 0");
	free(text);
}

static void accesses_are_counted_by_register(void **state)
{
	struct machine *m = *state;
	char *text;

	ptm_reset(m->ptm, false);
	wr(m, 0x187, 0);		/* IA32_PERFEVTSEL1 */
	rd(m, 0x187);
	rd(m, 0x187);
	assert_true(wr_faults(m, 0x187, BIT(32)));
	wr(m, ADDR1_B, 0);
	rd(m, 0x600);
	rd(m, MSR_PTM_ID);
	text = report(m);
	assert_line(text, "msr PERFEVTSEL1 0x187 reads 2 writes 1 faults 1");
	assert_line(text, "msr RTIT_ADDR3 0x583 reads 0 writes 1 faults 0");
	assert_line(text, "msr DS_AREA 0x600 reads 1 writes 0 faults 0");
	assert_int_equal(lines(text, "msr "), 3);
	free(text);
}

static void the_log_tells_when_what_was_accessed(void **state)
{
	struct machine *m = *state;
	char *text;

	ptm_reset(m->ptm, false);
	m->instructions = 1000;
	wr(m, 0x186, 0x5300c0);
	m->instructions = 1010;
	wr(m, 0x0c1, -5);
	m->instructions = 1015;
	ptm_retire(m->ptm, 5, 0);
	m->instructions = 1020;
	rd(m, 0x38e);
	m->instructions = 1030;
	assert_true(wr_faults(m, 0x38e, 0));
	text = report(m);
	assert_non_null(strstr(text, "\nlog-lost 0\n"
			       "log 1000 wrmsr PERFEVTSEL0 0x186 0x5300c0\n"
			       "log 1010 wrmsr PMC0 0xc1 0xfffffffffffffffb\n"
			       "log 1015 pmi\n"
			       "log 1020 rdmsr GLOBAL_STATUS 0x38e 0x1\n"
			       "log 1030 wrmsr GLOBAL_STATUS 0x38e #GP\n"));
	free(text);
}

static void a_full_log_keeps_the_latest_and_counts_the_rest(void **state)
{
	struct machine *m = *state;
	char *text;

	ptm_reset(m->ptm, false);
	for (m->instructions = 1; m->instructions <= 1027; m->instructions++)
		rd(m, 0x38f);
	text = report(m);
	assert_line(text, "log-lost 3");
	assert_int_equal(lines(text, "log "), 1024);
	assert_int_equal(lines(text, "log 3 "), 0);
	assert_non_null(strstr(text, "log-lost 3\nlog 4 rdmsr GLOBAL_CTRL 0x38f 0xf\nlog 5 "));
	assert_line(text, "log 1027 rdmsr GLOBAL_CTRL 0x38f 0xf");
	free(text);
}

/* Of the host that runs the CPU, nobody knows how many it has retired. */
static void without_a_count_of_instructions_all_is_logged_at_0(void **state)
{
	static const struct ptm_ops none;
	struct machine m = { .ptm = ptm_new(ptm_profile_at(0), &none, NULL) };
	char *text;

	assert_non_null(m.ptm);
	rd(&m, 0x38f);
	text = report(&m);
	assert_line(text, "log 0 rdmsr GLOBAL_CTRL 0x38f 0xf");
	free(text);
	ptm_free(m.ptm);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(every_counter_has_a_line), T(accesses_are_counted_by_register),
		T(the_log_tells_when_what_was_accessed),
		T(a_full_log_keeps_the_latest_and_counts_the_rest),
		cmocka_unit_test(without_a_count_of_instructions_all_is_logged_at_0),
	};

	return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}
