// SPDX-License-Identifier: GPL-2.0-only
/* What the command says to people who ask wrongly, or on the wrong machine. */
#include "command.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void help_goes_to_stdout_and_is_no_error(void **state)
{
	static const char *const asked[] = {
		"--help", "help", "info --help", "list --help", "record --help", "dump --help", "script --help",
		"export --help", "record -h", "around --help", "selftest --help",
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		const struct result *r = run_auxtrace(asked[i]);

		assert_int_equal(r->status, 0);
		expect_part(r->out, "usage: auxtrace");
		assert_string_equal(r->err, "");
	}
}

static void help_with_a_command_shows_its_page(void **state)
{
	const struct result *r;

	(void)state;
	/* A man that prints what it is asked for */
	r = run_auxtrace("--version >/dev/null; d=$(mktemp -d); printf '#!/bin/sh\necho page \"$@\"\n' >$d/man; "
			 "chmod 755 $d/man; PATH=$d:$PATH $AUXTRACE help why-slow; rm -r $d");
	assert_string_equal(r->out, "page 1 auxtrace-why-slow\n");
	r = run_auxtrace("--version >/dev/null; PATH=/nonexistent $AUXTRACE help script");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "usage: auxtrace script");
	expect_part(r->err, "cannot run man, which would show the page auxtrace-script(1): No such file");
}

static void the_version_is_told(void **state)
{
	const struct result *r = run_auxtrace("--version");

	(void)state;
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out, "auxtrace test\n");
}

static void wrong_usage_is_status_2_and_says_what_is_right(void **state)
{
	static const struct {
		const char *arguments, *says;
	} cases[] = {
		{ "", "usage: auxtrace" },
		{ "recrod", "unknown command \"recrod\"; the commands are info, list, record, dump, script, report, why-slow, last, around, export, selftest" },
		{ "help recrod", "unknown command \"recrod\"; the commands are info, list," },
		{ "help record script", "one command at a time: \"script\" is too much" },
		{ "info now", "\"now\" is too much" },
		{ "info --bogus", "usage: auxtrace info" },
		{ "record", "Name a command, or -p PID" },
		{ "record --bogus true", "usage: auxtrace record" },
		{ "record -m 4X true", "a number with or without K, M or G" },
		{ "record -m -4 true", "a number with or without" },
		{ "record -m 99999999999G true", "a number with or without" },
		{ "record --duration -1", "more than 0" },
		{ "record --duration soon", "it takes seconds" },
		{ "record --full=never true", "it takes wait, auto or stop" },
		{ "record -a -p 1 true", "-a, -p and -t exclude each other" },
		{ "record -p 1 -t 1", "-a, -p and -t exclude each other" },
		{ "record -p 0", "it takes a number from 1" },
		{ "record -t self true", "--tid self: it takes a number from 1" },
		{ "record --slots 0 true", "it takes a number from 1 to 64" },
		{ "record --slots 4 true", "it needs --overwrite or --snapshot" },
		{ "record --disk 1G true", "--disk bounds what snapshots take: it needs --snapshot" },
		{ "record -S --disk much true", "a number with or without K, M or G" },
		{ "record --data-size 64X true", "a number with or without K, M or G" },
		{ "record --switches --data-size 0 true", "they go to the data ring, of which --data-size 0 makes none" },
		{ "record --on syscall:newunam:enter=pause true", "there is no system call newunam; near it are newuname" },
		{ "record --on syscall:uname=pause true", "syscall:NAME:enter or syscall:NAME:exit" },
		{ "record --on kprobe:f+x=pause true", "\"+x\" is no offset" },
		{ "record --on kretprobe:f+4=pause true", "leave out the offset" },
		{ "record --on kprobe:f true", "what is to be done?" },
		{ "record --on kprobe:f=resum true", "no action \"resum\"; near it is resume" },
		{ "record --on kprobe:f=sample true", "how much is to be sampled?" },
		{ "record --on kprobe:f=sample=4Q true", "a number with or without K, M or G" },
		{ "record --on kprobe:f=pause=4 true", "only sample has a size" },
		{ "record --on kprobe:f=pause,cuont=3 true", "no option \"cuont\"; near it is count" },
		{ "record --on kprobe:f=pause,count true", "count takes a value" },
		{ "record --on kprobe:f=pause,one-shot=1 true", "one-shot takes no value" },
		{ "record --on kprobe:f=pause,count=0 true", "it takes a number from 1" },
		{ "record --on kprobe:f=pause,one-shot,count=2 true", "one-shot is count=1 already" },
		{ "record --on kprobe:f=freeze,all-cpus true", "of all CPUs anyway" },
		{ "record --on kprobe:f=resume,delay=1ms true", "only pause and freeze can be delayed" },
		{ "record --on kprobe:f=pause,hold-off=3 true", "hold-off=10ms would be one" },
		{ "record --on kprobe:f=pause,pid=3,pid=command true", "one process only" },
		{ "record --on uprobe:/bin/sh=pause true", "uprobe:/path/of/program:FUNCTION" },
		{ "record --on uprobe:/no/such:f=pause true", "No such file" },
		{ "record --on mem:0x1000/3=pause true", "1, 2, 4 or 8 bytes" },
		{ "record --on mem:here=pause true", "is no address" },
		{ "record --on mem:0x1000:r=pause true", ":w, :rw and :x" },
		{ "record --on timer:10=pause true", "timer:10ms would be one" },
		{ "record --on instructons=pause true", "near it is instructions" },
		{ "record --on instructions/period=0/=pause true", "a period of 0" },
		{ "record --on instructions/period=10=pause true", "the terms end with a slash" },
		{ "record --on cycles:q=pause true", "'q' is no level" },
		{ "record --on kprob:f=pause true", "near it are kprobe" },
		{ "record --on 'latency:cs..faults=freeze' true", "a latency is latency:EVENT..EVENT>TIME" },
		{ "record --on 'latency:cs..faults>0ms=freeze' true", "is no bound: 2ms would be one" },
		{ "record --on 'latency:cs..fault>1ms=freeze' true", "near it are faults" },
		{ "record --filter '' true", "of which code?" },
		{ "record --filter 'fliter main' true", "\"fliter\" is no action: filter START or tracestop START" },
		{ "record --filter 'start main' true", "Intel PT has no \"start\" at an address" },
		{ "record --filter 'stop 0x10/1' true", "Intel PT has no \"stop\" at an address" },
		{ "record --filter filter true", "a function or an address is missing in \"filter\"" },
		{ "record --filter 'filter @ /bin/sh' true", "a function or an address is missing" },
		{ "record --filter 'filter main @' true", "the file behind @ is missing" },
		{ "record --filter 'filter main / @ /bin/sh' true", "the end behind / is missing" },
		{ "record --filter 'filter main @ /no/such' true", "/no/such: No such file or directory (a path" },
		{ "record --filter 'filter main @ /etc/passwd' true", "/etc/passwd is no program" },
		{ "record --filter 'filter main @ /' true", "cannot read /: " },
		{ "record --filter 'filter cmd_recrod @ '$AUXTRACE true", "has no function cmd_recrod; near it are cmd_record" },
		{ "record --filter 'filter usage @ '$AUXTRACE true", "functions usage: say which one, usage#1 at 0x" },
		{ "record --filter 'filter usage#99 @ '$AUXTRACE true", "functions usage" },
		{ "record --filter 'filter usage#x @ '$AUXTRACE true", "\"#x\" is no number" },
		{ "record --filter 'filter cmd_record / 0 @ '$AUXTRACE true", "a range of no bytes" },
		{ "record --filter 'filter cmd_record / 99999999 @ '$AUXTRACE true", "bytes behind the code of" },
		{ "record --filter 'filter 0x10000000/1 @ '$AUXTRACE true", "has no code at the offset 0x10000000" },
		{ "record --filter 'filter * / 4 @ '$AUXTRACE true", "leave out the end" },
		{ "record --filter 'filter *' true", "all of what?" },
		{ "record --filter 'filter 0x1000' true", "how long is the range? Write 0x1000/SIZE" },
		{ "record --filter 'filter 0xfffffffffffffff0/0x20' true", "0x20 bytes go beyond the last address" },
		{ "record -u --filter 'filter 0xffffffff81000000/8' true", "code of the kernel, of which -u traces nothing" },
		{ "record -k --filter 'filter cmd_record @ '$AUXTRACE true", "code of a program, of which -k traces nothing" },
		{ "record --source bts --filter 'filter 0x1000/8' true", "the hardware compares no addresses and no page tables; use --source pt" },
		{ "record --cr3 0 true", "--cr3 0: it takes a number from 1" },
		{ "record --no-ptrace -p 5", "--no-ptrace: only a COMMAND is followed by ptrace" },
		{ "record --no-ptrace --ptrace -p 5", "--ptrace: only a COMMAND is followed by ptrace" },
		{ "record --cr3 5 -p 5", "--cr3 excludes -a, -p and -t" },
		{ "record --cr3 5 -a true", "--cr3 excludes -a, -p and -t" },
		{ "record --cr3 5 --source bts true", "--cr3: BTS records each branch" },
		{ "record --start-paused --on cs=pause true", "no --on resumes" },
		{ "record --source lbr true", "it takes pt or bts" },
		{ "record --source bts -e tsc true", "--config tsc: its terms are of Intel PT's packets" },
		{ "record --source", "usage: auxtrace record" },
		{ "dump --source ptx", "it takes pt or bts" },
		{ "list a b", "\"b\" is too much" },
		{ "list --complete", "--complete: the word is missing" },
		{ "script --samples -w 1", "several windows" },
		{ "dump --cpu x", "it takes a number from 0 to 65535" },
		{ "dump a b", "\"b\" is too much" },
		{ "script --window 0", "it takes a number from 1" },
		{ "script --insn --lines", "--lines shows the source lines of calls: it goes with --calls" },
		{ "selftest everything", "selftest has no check \"everything\"; the checks are environment, pause-resume," },
		{ "selftest -C -1", "--cpu -1: it takes a number from 0" },
		{ "selftest --source lbr", "--source lbr" },
		{ "around", "around: the EVENT is missing, for example kprobe:" },
		{ "around kprobe:f", "around: the COMMAND is missing, behind --" },
		{ "around kprobe:f --before 2 -- true", "--before 2: it takes a time, such as 2ms" },
		{ "around kprobe:f --after soon -- true", "--after soon: it takes a time" },
		{ "script a b", "\"b\" is too much" },
		{ "export", "--format names it; auxtrace export --help lists the formats" },
		{ "export --format perf", "-o OUT names it" },
		{ "export --format ctf -o x", "--format ctf: it takes perf" },
		{ "export --format perf -o x a b", "\"b\" is too much" },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct result *r = run_auxtrace(cases[i].arguments);

		if (r->status != 2)
			fail_msg("auxtrace %s: status %d, %s", cases[i].arguments, r->status, r->err);
		expect_part(r->err, cases[i].says);
		assert_string_equal(r->out, "");
	}
}

static void a_shell_learns_how_an_event_goes_on(void **state)
{
	static const struct {
		const char *word, *next;
	} cases[] = {
		{ "kretprob", "kretprobe:\n" },
		{ "latency", "latency:\n" },
		{ "syscall:una", "syscall:uname:\n" },
		{ "syscall:uname:", "syscall:uname:enter\nsyscall:uname:exit\n" },
		{ "syscall:uname:x", "" },
	};
	const struct result *r;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arguments[64];

		snprintf(arguments, sizeof(arguments), "list --complete %s", cases[i].word);
		r = run_auxtrace(arguments);
		assert_int_equal(r->status, !*cases[i].next);
		assert_string_equal(r->out, cases[i].next);
		assert_string_equal(r->err, "");
	}
	r = run_auxtrace("list --complete ''");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "kprobe:\n");
	expect_part(r->out, "uprobe:\n");
}

static void what_is_no_recording_is_told(void **state)
{
	const struct result *r;

	(void)state;
	r = run_auxtrace("script /nonexistent");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "/nonexistent is not a complete recording");
	r = run_auxtrace("dump /nonexistent");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "cannot read /nonexistent: No such file");
	r = run_auxtrace("dump --cpu 1 /etc/hostname");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "--cpu is for a recording");
	r = run_auxtrace("dump --records /etc/hostname");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "--records is for a recording");
}

static void record_needs_the_device(void **state)
{
	const struct result *r;

	(void)state;
	if (!access("/dev/auxtrace", F_OK)) {
		print_message("there is a /dev/auxtrace here\n");
		skip();
	}
	r = run_auxtrace("record -o /tmp/auxtrace-never -- true");
	assert_int_equal(r->status, 125);
	expect_part(r->err, "the module is not loaded");
	assert_int_equal(access("/tmp/auxtrace-never", F_OK), -1);
}

/* By what mount(8) reads, not by what the command asks. */
static bool has_securityfs(void)
{
	FILE *f = fopen("/proc/self/mounts", "re");
	char line[4096];
	bool found = false;

	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, " /sys/kernel/security securityfs ") != NULL;
	fclose(f);
	return found;
}

static void info_names_each_thing_that_is_missing(void **state)
{
	const struct result *r;

	(void)state;
	if (!access("/dev/auxtrace", F_OK)) {
		print_message("there is a /dev/auxtrace here\n");
		skip();
	}
	r = run_auxtrace("info");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "NO   device          there is no /dev/auxtrace: the module is not loaded");
	expect_part(r->out, "  kernel  ");
	assert_int_equal(strstr(r->out, "  lockdown        unknown, as no securityfs is mounted") == NULL, has_securityfs());
	expect_part(r->out, "auxtrace cannot trace here: see each NO above.");
	r = run_auxtrace("info --json");
	assert_int_equal(r->status, 1);
	expect_part(r->out, "\"usable\": false");
	expect_part(r->out, "{ \"name\": \"device\", \"verdict\": \"no\", \"text\": \"there is no /dev/auxtrace");
}

static void info_reads_the_effective_capabilities(void **state)
{
	const struct result *r;

	(void)state;
	if (geteuid()) {
		print_message("only root can give capabilities away\n");
		skip();
	}
	/* An empty bounding set leaves a program that root runs without any. */
	r = run_auxtrace("--version >/dev/null; setpriv --bounding-set=-all --inh-caps=-all $AUXTRACE info");
	expect_part(r->out, "missing: CAP_PERFMON or CAP_SYS_ADMIN");
	expect_part(r->out, "missing CAP_SYS_RAWIO (/proc/kcore) CAP_SYSLOG");
	r = run_auxtrace("info");
	expect_part(r->out, "tracing is allowed: effective CAP_");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(help_goes_to_stdout_and_is_no_error),
		cmocka_unit_test(help_with_a_command_shows_its_page),
		cmocka_unit_test(the_version_is_told),
		cmocka_unit_test(wrong_usage_is_status_2_and_says_what_is_right),
		cmocka_unit_test(a_shell_learns_how_an_event_goes_on),
		cmocka_unit_test(what_is_no_recording_is_told),
		cmocka_unit_test(record_needs_the_device),
		cmocka_unit_test(info_names_each_thing_that_is_missing),
		cmocka_unit_test(info_reads_the_effective_capabilities),
	};

	return cmocka_run_group_tests_name("command", tests, NULL, NULL);
}
