// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the self-test reports when checks pass, fail, crash, exit, hang and are interrupted. The
 * checks are made here; those of the command need the hardware.
 */
#include "command.h"
#include "packets.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/selftest/environment.h"
#include "tools/selftest/packets.h"
#include "tools/selftest/selftest.h"
#include "tools/selftest/traced.h"
#include "tools/selftest/watch.h"

/* ---- what the command has elsewhere ------------------------------------------------ */

void environment_text(FILE *out)
{
	fputs("a machine\n\n", out);
}

void environment_json(FILE *out)
{
	fputs("\n  \"kernel\": \"6.1\",", out);
}

static int pinned_to = -1;

void traced_pin(int cpu)
{
	pinned_to = cpu;
}

static enum outcome environment(const struct selftest *t)
{
	return t->unusable ? check_failed("%s", t->unusable) : PASSED;
}

static enum outcome passes(const struct selftest *t)
{
	(void)t;
	check_figure("rounds", 3, "");
	check_figure("rate", 2.5, "MB/s");
	check_note("a note");
	return PASSED;
}

static enum outcome fails(const struct selftest *t)
{
	(void)t;
	return check_failed("%d is no \"%s\"", 3, "four");
}

static enum outcome crashes(const struct selftest *t)
{
	(void)t;
	raise(SIGKILL);
	return PASSED;
}

/* While the parent, which is told to end, is stopped: it finds both at once. */
static enum outcome crashes_meanwhile(const struct selftest *t)
{
	pid_t parent = getppid();

	(void)t;
	if (!fork()) {
		usleep(300000);
		kill(parent, SIGCONT);
		_exit(0);
	}
	kill(parent, SIGSTOP);
	kill(parent, SIGTERM);
	raise(SIGKILL);
	return PASSED;
}

static enum outcome is_pinned(const struct selftest *t)
{
	return pinned_to == (int)t->cpu ? PASSED : check_failed("to %d", pinned_to);
}

static enum outcome exits(const struct selftest *t)
{
	(void)t;
	_exit(3);
}

static enum outcome hangs(const struct selftest *t)
{
	(void)t;
	while (pause() < 0)
		;
	return PASSED;
}

/* As ^C of a person who waits for it */
static enum outcome is_interrupted(const struct selftest *t)
{
	kill(getppid(), SIGTERM);
	return hangs(t);
}

static enum outcome holds_out(const struct selftest *t)
{
	signal(SIGTERM, SIG_IGN);
	return is_interrupted(t);
}

static enum outcome has_no_reader(const struct selftest *t)
{
	signal(SIGPIPE, SIG_DFL);
	raise(SIGPIPE);
	return passes(t);
}

static enum outcome interrupts(const struct selftest *t)
{
	kill(getppid(), SIGHUP);
	return passes(t);
}

const struct check environment_checks[] = {
	{ "environment", "the machine", false, environment },
	{ 0 },
};
const struct check mode_checks[] = {
	{ "passes", "it passes", false, passes },
	{ "fails", "it fails", false, fails },
	{ "thorough", "it is long", true, passes },
	{ "crashes", "it crashes", false, crashes },
	{ "crashes-meanwhile", "it crashes", false, crashes_meanwhile },
	{ "is-pinned", "it is pinned", false, is_pinned },
	{ "exits", "it exits", false, exits },
	{ "hangs", "it hangs", false, hangs },
	{ "is-interrupted", "it is interrupted", false, is_interrupted },
	{ "holds-out", "it does not obey", false, holds_out },
	{ "has-no-reader", "nobody reads", false, has_no_reader },
	{ "interrupts", "it interrupts", false, interrupts },
	{ 0 },
};
const struct check scope_checks[] = { { 0 } }, ring_checks[] = { { 0 } },
		   trigger_checks[] = { { 0 } }, action_checks[] = { { 0 } },
		   flow_checks[] = { { 0 } }, config_checks[] = { { 0 } },
		   drain_checks[] = { { 0 } }, cost_checks[] = { { 0 } };

/* What a line begins with that has a reason */
#define AT "                       "

/* ---- a run ------------------------------------------------------------------------- */

static const struct source source = { .name = "pt" };
static struct selftest t;
static char *text, *json;

static int begin(void **state)
{
	(void)state;
	t = (struct selftest){ .source = &source, .limit = 30 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(text);
	free(json);
	text = json = NULL;
	return 0;
}

/*
 * Runs these checks, words with a blank between them. @text has what stdout got, @json the report.
 * Returns the signal.
 */
static int run(const char *names)
{
	char words[128], *name[8] = { 0 };
	int out = dup(STDOUT_FILENO), sig;
	FILE *said = tmpfile(), *report;
	struct stat st;
	size_t size;

	snprintf(words, sizeof(words), "%s", names);
	name[0] = strtok(words, " ");
	for (unsigned int i = 1; name[i - 1]; i++)
		name[i] = strtok(NULL, " ");
	selftest_choose(name);
	fflush(stdout);
	dup2(fileno(said), STDOUT_FILENO);
	watch_begin();
	selftest_text(stdout);
	sig = selftest_run(&t, false);
	selftest_sum(&t, stdout);
	fflush(stdout);
	watch_end();
	dup2(out, STDOUT_FILENO);
	close(out);
	assert_int_equal(fstat(fileno(said), &st), 0);
	text = calloc(1, st.st_size + 1);
	assert_int_equal(pread(fileno(said), text, st.st_size, 0), st.st_size);
	fclose(said);
	report = open_memstream(&json, &size);
	selftest_json(&t, report);
	fclose(report);
	print_message("%s", text);
	return sig;
}

/* The report has that of check @name behind its claim. */
static void expect_outcome(const char *name, const char *claim, const char *outcome)
{
	char part[128];

	snprintf(part, sizeof(part), "{ \"name\": \"%s\", \"claim\": \"%s\", \"outcome\": \"%s\", ",
		 name, claim, outcome);
	expect_part(json, part);
}

static void checks_pass_fail_and_are_skipped(void **state)
{
	(void)state;
	t.quick = true;
	assert_int_equal(run("environment passes thorough"), 0);
	assert_true(selftest_passed(&t));
	assert_string_equal(text, "a machine\n\n"
				  "ok      environment    the machine\n"
				  "ok      passes         it passes (rounds 3, rate 2.5 MB/s)\n"
				  "                       a note\n"
				  "skip    thorough       it is long\n"
				  "                       not in a quick run\n"
				  "2 passed, 0 failed, 1 skipped\n");
	expect_part(json, "{\n  \"kernel\": \"6.1\",\n  \"source\": \"pt\",\n  \"quick\": true,\n"
			  "  \"result\": \"passed\",\n  \"checks\": [\n");
	expect_outcome("passes", "it passes", "passed");
	expect_part(json, ", \"note\": \"a note\", "
			  "\"figures\": { \"rounds\": { \"value\": 3, \"unit\": \"\" }, "
			  "\"rate\": { \"value\": 2.5, \"unit\": \"MB/s\" } } }");
	expect_outcome("thorough", "it is long", "skipped");
	end(NULL);
	assert_int_equal(run("fails passes"), 0);
	assert_false(selftest_passed(&t));
	expect_part(text, "FAILED  fails          it fails\n" AT "3 is no \"four\"\nok      passes");
	expect_part(text, "\n1 passed, 1 failed, 0 skipped\n");
	expect_outcome("fails", "it fails", "failed");
	expect_part(json, "\"why\": \"3 is no \\u0022four\\u0022\" }");
	expect_part(json, "\"result\": \"failed\"");
}

static void where_there_is_no_session_nothing_is_tested(void **state)
{
	(void)state;
	t.unusable = "somebody has it";
	t.quick = true;
	assert_int_equal(run("environment passes thorough crashes"), 0);
	assert_false(selftest_passed(&t));
	expect_part(text, "FAILED  environment    the machine\n" AT "somebody has it\n");
	expect_part(text, "skip    passes         it passes\n" AT "somebody has it\n");
	expect_part(text, "skip    thorough       it is long\n" AT "somebody has it\n");
	expect_part(text, "\n0 passed, 1 failed, 3 skipped\n"
			  "auxtrace could not be tested here: somebody has it\n");
	expect_part(json, "\"result\": \"untested\",\n  \"why\": \"somebody has it\",");
	end(NULL);
	run("passes");
	assert_false(selftest_passed(&t));
	expect_part(text, "\n0 passed, 0 failed, 1 skipped\n"
			  "auxtrace could not be tested here: somebody has it\n");
}

static void behind_a_crash_the_others_are_run(void **state)
{
	(void)state;
	assert_int_equal(run("fails crashes passes exits"), 0);
	assert_false(selftest_passed(&t));
	expect_part(text, "CRASHED  crashes        it crashes\n" AT "signal 9 (Killed)\nok      passes");
	expect_part(text, "CRASHED  exits          it exits\n" AT "its process ended with exit status 3\n");
	expect_part(text, "\n1 passed, 1 failed, 0 skipped, 2 crashed\n");
	expect_outcome("fails", "it fails", "failed");
	expect_outcome("crashes", "it crashes", "crashed");
	expect_part(json, "\"why\": \"signal 9 (Killed)\"");
	expect_outcome("passes", "it passes", "passed");
	expect_outcome("exits", "it exits", "crashed");
	expect_part(json, "\"result\": \"failed\"");
}

static void a_crash_alone_is_a_failure(void **state)
{
	(void)state;
	assert_int_equal(run("passes crashes"), 0);
	assert_false(selftest_passed(&t));
	expect_part(json, "\"result\": \"failed\"");
}

static void a_check_that_hangs_is_the_last(void **state)
{
	(void)state;
	t.limit = 2;
	assert_int_equal(run("passes hangs fails"), 0);
	assert_false(selftest_passed(&t));
	expect_part(text, "HUNG    hangs          it hangs\n" AT "it did not end in 2 s\n");
	expect_part(text, "\n1 passed, 0 failed, 0 skipped, 1 hung, 1 not run\n");
	expect_outcome("passes", "it passes", "passed");
	expect_outcome("hangs", "it hangs", "hung");
	expect_outcome("fails", "it fails", "not run");
	expect_part(json, "\"why\": \"the run ended before it\"");
	expect_part(json, "\"result\": \"failed\"");
}

static void an_interrupt_leaves_a_report(void **state)
{
	(void)state;
	assert_int_equal(run("passes is-interrupted fails"), SIGTERM);
	assert_false(selftest_passed(&t));
	expect_part(text, "INTERRUPTED  is-interrupted it is interrupted\n" AT "signal 15 (Terminated)\n");
	expect_part(text, "\n1 passed, 0 failed, 0 skipped, 1 interrupted, 1 not run\n");
	expect_outcome("is-interrupted", "it is interrupted", "interrupted");
	expect_outcome("fails", "it fails", "not run");
	expect_part(json, "\"result\": \"incomplete\"");
}

static void a_signal_that_comes_with_a_crash_is_not_lost(void **state)
{
	(void)state;
	assert_int_equal(run("crashes-meanwhile passes"), SIGTERM);
	expect_outcome("passes", "it passes", "not run");
}

static void the_checks_are_pinned_and_their_parent_is_not(void **state)
{
	(void)state;
	t.cpu = 5;
	assert_int_equal(run("is-pinned"), 0);
	assert_true(selftest_passed(&t));
	assert_int_equal(pinned_to, -1);
}

static void what_does_not_obey_is_killed(void **state)
{
	(void)state;
	assert_int_equal(run("holds-out passes"), SIGTERM);
	expect_outcome("holds-out", "it does not obey", "interrupted");
	expect_outcome("passes", "it passes", "not run");
}

static void who_reads_the_text_may_go(void **state)
{
	(void)state;
	assert_int_equal(run("has-no-reader passes"), SIGPIPE);
	expect_outcome("has-no-reader", "nobody reads", "interrupted");
	expect_outcome("passes", "it passes", "not run");
}

static void an_ignored_signal_stays_ignored(void **state)
{
	(void)state;
	signal(SIGHUP, SIG_IGN);
	assert_int_equal(run("interrupts passes"), 0);
	signal(SIGHUP, SIG_DFL);
	assert_true(selftest_passed(&t));
}

/* ---- packets ------------------------------------------------------------------------ */

static void packets_are_counted_from_the_first_psb_on(void **state)
{
	const uint8_t before[] = { 0x00, 0x99 };
	struct packets p;
	uint64_t second;

	(void)state;
	raw(before, sizeof(before));
	psb(0, 1000, 0x401000);
	packet(&(struct pt_packet){ .type = ppt_cyc, .payload.cyc.value = 5 });
	tnt("!.!");
	ip_packet(ppt_tip, 0x401010);
	packet(&(struct pt_packet){ .type = ppt_mtc, .payload.mtc.ctc = 1 });
	packet(&(struct pt_packet){ .type = ppt_mtc, .payload.mtc.ctc = 2 });
	packet(&(struct pt_packet){ .type = ppt_ptw, .payload.ptw = { .payload = 7, .plc = 1 } });
	suppressed(ppt_tip_pgd);
	second = position();
	psb(0, 2000, 0);
	packet(&(struct pt_packet){ .type = ppt_pwrx, .payload.pwrx.last = 1 });
	assert_null(packets_count(&p, stream, position()));
	assert_int_equal(p.bytes, position() - sizeof(before));
	assert_int_equal(p.psbs, 2);
	assert_int_equal(p.last_psb, second - sizeof(before));
	assert_int_equal(p.tnts, 1);
	assert_int_equal(p.tips, 1);
	assert_int_equal(p.cycs, 1);
	assert_int_equal(p.mtcs, 2);
	assert_int_equal(p.ptws, 1);
	assert_int_equal(p.pwrxs, 1);
}

static void a_packet_that_is_none_is_told(void **state)
{
	const uint8_t none[] = { 0x02, 0xff, 0xff };
	struct packets p;

	(void)state;
	psb(0, 1000, 0x401000);
	tnt("!");
	raw(none, sizeof(none));
	assert_non_null(packets_count(&p, stream, position()));
	assert_int_equal(p.bytes, position() - sizeof(none));
	assert_int_equal(p.tnts, 1);
}

static void without_a_psb_there_are_no_packets(void **state)
{
	struct packets p;

	(void)state;
	tnt("!");
	assert_null(packets_count(&p, stream, position()));
	assert_int_equal(p.psbs + p.bytes + p.tnts, 0);
}

/* ---- the command ------------------------------------------------------------------- */

static void a_report_that_cannot_be_written_is_told_first(void **state)
{
	const struct result *r = run_auxtrace("selftest -o /nonexistent/x.json");

	(void)state;
	assert_int_equal(r->status, 1);
	assert_string_equal(r->err, "auxtrace: cannot write /nonexistent/x.json: "
				    "No such file or directory\n");
	assert_string_equal(r->out, "");
}

static void without_the_device_the_report_says_that_nothing_was_tested(void **state)
{
	const struct result *r;

	(void)state;
	if (!access("/dev/auxtrace", F_OK)) {
		print_message("there is a /dev/auxtrace here\n");
		skip();
	}
	r = run_auxtrace("selftest -o -");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "\"result\": \"untested\",\n  \"why\": \"there is no /dev/auxtrace");
	expect_part(r->out, "{ \"name\": \"environment\", ");
	assert_null(strstr(r->out, "\"outcome\": \"passed\""));
	r = run_auxtrace("--version >/dev/null; d=$(mktemp -d); "
			 "$AUXTRACE selftest -o $d/x full && echo passed; grep result $d/x; rm -r $d");
	assert_null(strstr(r->out, "passed\n"));
	expect_part(r->out, "\n0 passed, 0 failed, 1 skipped\n"
			    "auxtrace could not be tested here: there is no /dev/auxtrace");
	expect_part(r->out, "  \"result\": \"untested\",\n");
}

#define check(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define of_packets(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		check(checks_pass_fail_and_are_skipped),
		check(where_there_is_no_session_nothing_is_tested),
		check(behind_a_crash_the_others_are_run),
		check(a_crash_alone_is_a_failure),
		check(a_check_that_hangs_is_the_last),
		check(an_interrupt_leaves_a_report),
		check(a_signal_that_comes_with_a_crash_is_not_lost),
		check(the_checks_are_pinned_and_their_parent_is_not),
		check(what_does_not_obey_is_killed),
		check(who_reads_the_text_may_go),
		check(an_ignored_signal_stays_ignored),
		of_packets(packets_are_counted_from_the_first_psb_on),
		of_packets(a_packet_that_is_none_is_told),
		of_packets(without_a_psb_there_are_no_packets),
		cmocka_unit_test(a_report_that_cannot_be_written_is_told_first),
		cmocka_unit_test(without_the_device_the_report_says_that_nothing_was_tested),
	};

	return cmocka_run_group_tests_name("self-test", tests, NULL, NULL);
}
