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
#include "tools/selftest/invariants.h"
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

/* The check that runs notes it. */
static const char *breaks;

const char *traced_broken(void)
{
	const char *what = breaks;

	breaks = NULL;
	return what;
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

static enum outcome breaks_and_passes(const struct selftest *t)
{
	breaks = "the status page: not this";
	return passes(t);
}

static enum outcome breaks_and_fails(const struct selftest *t)
{
	breaks = "the status page: not this";
	return fails(t);
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
	{ "breaks", "it breaks an invariant", false, breaks_and_passes },
	{ "breaks-fails", "it fails as well", false, breaks_and_fails },
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
const struct check session_checks[] = { { 0 } }, scope_checks[] = { { 0 } }, ring_checks[] = { { 0 } },
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

static void a_check_that_breaks_an_invariant_fails(void **state)
{
	(void)state;
	assert_int_equal(run("breaks passes breaks-fails passes"), 0);
	assert_false(selftest_passed(&t));
	expect_part(text, "FAILED  breaks         it breaks an invariant (rounds 3, rate 2.5 MB/s)\n" AT "the status page: not this\n"
			  "ok      passes");
	expect_part(text, "FAILED  breaks-fails   it fails as well\n" AT "3 is no \"four\"\nok      passes");
	expect_outcome("breaks", "it breaks an invariant", "failed");
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

/* ---- invariants --------------------------------------------------------------------- */

#define KIB	1024u

static const struct auxtrace_setup full_trace = { .aux_size = 64 * KIB, .data_size = 16 * KIB };
static const struct auxtrace_setup overwrite = { .flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, .aux_size = 64 * KIB,
						 .data_size = 16 * KIB, .slots = 2 };

/* A page of a paused session in full-trace mode */
static struct auxtrace_status_page full_page(void)
{
	return (struct auxtrace_status_page){
		.slots = 1, .aux_size = 64 * KIB, .data_size = 16 * KIB, .inhibit = AUXTRACE_INHIBIT_USER, .produced = 100 * KIB, .windows = 5,
		.window_begin = 90 * KIB, .window_end = 100 * KIB, .consumed = 50 * KIB, .pauses_asked = 4, .pauses_done = 3,
		.resumes_asked = 4, .resumes_done = 2, .gaps = 6, .gaps_full = 1, .gaps_error = 2, .gaps_offline = 3,
		.data_reserved = 4096, .data_head = 4096, .data_consumed = 1024, .data_records = 40, .samples = 2, .samples_cut = 1,
	};
}

/* A page of one in overwrite mode, whose slot 0 is retained */
static struct auxtrace_status_page overwrite_page(void)
{
	return (struct auxtrace_status_page){
		.slots = 2, .slot = 1, .aux_size = 64 * KIB, .data_size = 16 * KIB, .running = 1, .produced = 100 * KIB, .windows = 2,
		.window_begin = 40 * KIB, .window_end = 40 * KIB, .consumed = 32 * KIB, .overwritten = 36 * KIB, .snapshots = 1,
		.slot_begin = 40 * KIB, .data_reserved = 1ull << 56 | 20 * KIB, .data_head = 20 * KIB, .data_consumed = 8 * KIB,
		.data_slot_begin = 10 * KIB, .data_overwritten = 4 * KIB,
	};
}

static void a_page_that_adds_up_breaks_nothing(void **state)
{
	struct auxtrace_status_page page = full_page();

	(void)state;
	assert_null(invariants_of_page(&full_trace, &page, false));
	page = overwrite_page();
	assert_null(invariants_of_page(&overwrite, &page, false));
	page.gaps = page.gaps_full = 1;
	assert_null(invariants_of_page(&overwrite, &page, true));
}

/* The member, when it is one more or another number, breaks an invariant that has the words. */
#define breaks_page(setup, good, member, value, words) \
	do { \
		struct auxtrace_status_page page = good; \
		const char *what; \
		page.member = (value); \
		what = invariants_of_page(setup, &page, false); \
		assert_non_null(what); \
		expect_part(what, words); \
	} while (0)

static void each_member_that_does_not_add_up_is_named(void **state)
{
	(void)state;
	breaks_page(&full_trace, full_page(), running, 1, "page->running == !page->inhibit");
	breaks_page(&full_trace, full_page(), gaps, 7, "page->gaps_full + page->gaps_error + page->gaps_offline");
	breaks_page(&full_trace, full_page(), pauses_done, 5, "page->pauses_done <= page->pauses_asked");
	breaks_page(&full_trace, full_page(), resumes_done, 5, "page->resumes_done <= page->resumes_asked");
	breaks_page(&full_trace, full_page(), windows, 1, "page->pauses_done <= page->windows");
	breaks_page(&full_trace, full_page(), aux_size, 32 * KIB, "page->aux_size == setup->aux_size");
	breaks_page(&full_trace, full_page(), slots, 2, "page->slots == ");
	breaks_page(&full_trace, full_page(), slot, 1, "page->slot < page->slots");
	breaks_page(&full_trace, full_page(), consumed, 101 * KIB, "page->consumed <= page->produced");
	breaks_page(&full_trace, full_page(), consumed, 30 * KIB, "unread(setup, page) <= ");
	breaks_page(&full_trace, full_page(), overwritten, 1, "page->produced == page->consumed + ");
	breaks_page(&full_trace, full_page(), window_begin, 101 * KIB, "page->window_begin <= page->produced");
	breaks_page(&full_trace, full_page(), window_end, 101 * KIB, "page->window_end <= page->produced");
	breaks_page(&full_trace, full_page(), slot_begin, 1, "page->slot_begin == 0");
	breaks_page(&full_trace, full_page(), data_size, 0, "page->data_size == setup->data_size");
	breaks_page(&full_trace, full_page(), data_reserved, 4104, "AUXTRACE_DATA_POSITION(page->data_reserved) == page->data_head");
	breaks_page(&full_trace, full_page(), data_reserved, 1ull << 56 | 4096, "AUXTRACE_DATA_SLOT(page->data_reserved) == 0");
	breaks_page(&full_trace, full_page(), data_consumed, 4104, "page->data_consumed <= page->data_head");
	breaks_page(&full_trace, full_page(), data_overwritten, 8, "page->data_head == page->data_consumed + ");
	breaks_page(&full_trace, full_page(), data_paused, 4, "page->data_paused <= 3");
	breaks_page(&full_trace, full_page(), samples_cut, 3, "page->samples_cut <= page->samples");
	breaks_page(&overwrite, overwrite_page(), overwritten, 35 * KIB, "page->produced == page->consumed + ");
	breaks_page(&overwrite, overwrite_page(), slot_begin, 30 * KIB, "page->consumed <= page->slot_begin");
	breaks_page(&overwrite, overwrite_page(), slot_begin, 101 * KIB, "page->slot_begin <= page->produced");
	breaks_page(&overwrite, overwrite_page(), bad_tails, 1, "page->bad_tails == 0");
	breaks_page(&overwrite, overwrite_page(), data_bad_tails, 1, "page->data_bad_tails == 0");
	breaks_page(&overwrite, overwrite_page(), data_reserved, 20 * KIB, "AUXTRACE_DATA_SLOT(page->data_reserved) == page->slot");
	breaks_page(&overwrite, overwrite_page(), data_slot_begin, 21 * KIB, "page->data_slot_begin <= page->data_head");
	breaks_page(&overwrite, overwrite_page(), data_overwritten, 0, "page->data_head == page->data_consumed + ");
}

/* Gaps for lack of space, where there always is some; half a branch; records where there is no ring */
static void a_page_breaks_what_its_setup_demands(void **state)
{
	const struct auxtrace_setup bts = { .pmu = AUXTRACE_PMU_INTEL_BTS, .aux_size = 64 * KIB }, no_ring = { .aux_size = 64 * KIB };
	struct auxtrace_status_page page = overwrite_page();

	(void)state;
	page.gaps = page.gaps_full = 1;
	expect_part(invariants_of_page(&overwrite, &page, false), "page->gaps_full == 0");
	page = (struct auxtrace_status_page){ .slots = 1, .aux_size = 64 * KIB, .running = 1, .produced = 48, .windows = 1 };
	assert_null(invariants_of_page(&bts, &page, false));
	page.produced = 49;
	assert_null(invariants_of_page(&no_ring, &page, false));
	expect_part(invariants_of_page(&bts, &page, false), "page->produced % unit == 0");
	page.data_lost = 1;
	expect_part(invariants_of_page(&no_ring, &page, false), "page->data_lost == 0");
}

static void hits_are_the_sum_of_their_kinds(void **state)
{
	struct auxtrace_trigger_state counts = { .out_hits = 10, .out_acted = 1, .out_held = 2, .out_idle = 3, .out_missed = 4 };

	(void)state;
	assert_null(invariants_of_trigger(&counts));
	counts.out_missed = 3;
	expect_part(invariants_of_trigger(&counts), "state->out_hits == ");
}

static void a_status_is_the_sum_of_its_pages(void **state)
{
	const struct auxtrace_status_page pages[2] = { full_page(), overwrite_page() };
	struct auxtrace_status status = {
		.out_nr_channels = 2, .out_nr_running = 1, .out_produced = 200 * KIB, .out_consumed = 82 * KIB, .out_overwritten = 36 * KIB,
		.out_windows = 7, .out_gaps = 6, .out_data_produced = 24 * KIB, .out_data_consumed = 9 * KIB, .out_data_overwritten = 4 * KIB,
	};
	struct auxtrace_status good = status;

	(void)state;
	assert_null(invariants_of_status(&status, pages, 2));
	expect_part(invariants_of_status(&status, pages, 1), "status->out_nr_channels == n");
#define breaks_status(member) \
	do { \
		status = good; \
		status.member++; \
		expect_part(invariants_of_status(&status, pages, 2), "status->" #member " == "); \
	} while (0)
	breaks_status(out_nr_running);
	breaks_status(out_produced);
	breaks_status(out_consumed);
	breaks_status(out_overwritten);
	breaks_status(out_windows);
	breaks_status(out_gaps);
	breaks_status(out_pmis);
	breaks_status(out_data_produced);
	breaks_status(out_data_consumed);
	breaks_status(out_data_overwritten);
	breaks_status(out_data_lost);
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
		check(a_check_that_breaks_an_invariant_fails),
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
		cmocka_unit_test(a_page_that_adds_up_breaks_nothing),
		cmocka_unit_test(each_member_that_does_not_add_up_is_named),
		cmocka_unit_test(a_page_breaks_what_its_setup_demands),
		cmocka_unit_test(hits_are_the_sum_of_their_kinds),
		cmocka_unit_test(a_status_is_the_sum_of_its_pages),
		of_packets(packets_are_counted_from_the_first_psb_on),
		of_packets(a_packet_that_is_none_is_told),
		of_packets(without_a_psb_there_are_no_packets),
		cmocka_unit_test(a_report_that_cannot_be_written_is_told_first),
		cmocka_unit_test(without_the_device_the_report_says_that_nothing_was_tested),
	};

	return cmocka_run_group_tests_name("self-test", tests, NULL, NULL);
}
