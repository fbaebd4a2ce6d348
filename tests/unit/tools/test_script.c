// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace script beside what it decodes: what is refused, a damaged recording, the terminal. */
#include "made.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "packets.h"

/* The traced program is another user's. */
static void names_do_not_command_the_terminal(void **state)
{
	char from[256], to[256];
	const struct result *r;

	(void)state;
	write_program_with_lines("	.globl \"m\033[2J\"\n"
			       "	.type \"m\033[2J\", @function\n"
			       "# 7 \"a\\033[2J.s\"\n"
			       "\"m\033[2J\": syscall\n");
	strcpy(from, program_path("lines"));
	strcpy(to, program_path("b\033[2J"));
	assert_int_equal(rename(from, to), 0);
	write_task("100", CR3, 0, to, BASE);
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	suppressed(ppt_tip_pgd);
	finish(AUXTRACE_SETUP_USER, "windows 1");
	r = script("--lines");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " u  m?[2J (b?[2J)  <trace begins>\n");
	expect_part(r->out, " u    a?[2J.s:7\n");
	assert_null(strchr(r->out, '\033'));
	assert_int_equal(unlink(to), 0);
	r = script("--lines");
	expect_part(r->err, "b?[2J: No such file or directory; --symfs");
	assert_null(strchr(r->err, '\033'));
}

static void a_time_before_a_freeze_needs_a_freeze(void **state)
{
	const struct result *r;

	(void)state;
	psb(CR3, 1000, 0);
	finish(BOTH, "windows 1");
	r = script("--time freeze-1ms,");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "--time: no event froze this recording");
}

/* A package is built where there may be no devpts. */
static bool have_terminals(void)
{
	int fd = posix_openpt(O_RDWR | O_NOCTTY);
	bool have = fd >= 0 && !grantpt(fd) && !unlockpt(fd) && ptsname(fd) && !access(ptsname(fd), R_OK | W_OK);

	if (fd >= 0)
		close(fd);
	return have;
}

/* What `auxtrace script @options` prints to a terminal, where the variables @set are set. */
static const char *on_terminal(const char *set, const char *options)
{
	static char text[4096];
	char command[1024];
	size_t n;
	FILE *f;

	snprintf(command, sizeof(command), "TERM=xterm %s script -qec \"$AUXTRACE script %s %s\" /dev/null", set, dir, options);
	f = popen(command, "re");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = 0;
	assert_int_equal(pclose(f), 0);
	return text;
}

static void a_terminal_gets_colours_and_a_pager(void **state)
{
	const char *shown;

	(void)state;
	if (!have_terminals()) {
		print_message("there are no pseudo terminals here\n");
		skip();
	}
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
	shown = on_terminal("", "--no-pager");
	expect_part(shown, "\033[1m  0 window 1\033[0m\r\n");
	expect_part(shown, "main (prog)  <trace begins>\r\n");
	expect_part(shown, "\033[35mentry\033[0m  <system call>\r\n");
	assert_null(strchr(on_terminal("NO_COLOR=1", "--no-pager"), '\033'));
	assert_null(strchr(on_terminal("TERM=dumb", "--no-pager"), '\033'));
	assert_null(strchr(on_terminal("", "--no-pager --color never"), '\033'));
	assert_null(strchr(script("")->out, '\033'));
	expect_part(script("--color=always")->out, "\033[35mentry\033[0m");
	expect_part(script("--color=sometimes")->err, "--color sometimes: it takes auto, always or never");
	/* The pager gets the summary, too, and the command waits for it. */
	shown = on_terminal("AUXTRACE_PAGER='sed s/^/+/; sleep 1; echo end'", "");
	expect_part(shown, "+\033[1m  0 window 1");
	expect_part(shown, "\n+auxtrace: ");
	assert_string_equal(strstr(shown, "end"), "end\r\n");
	expect_part(on_terminal("PAGER='sed s/^/-/'", ""), "-\033[1m  0 window 1");
	expect_part(on_terminal("PAGER=cat", ""), "\033[1m  0 window 1");
	/* Who leaves it early ends the command, by SIGPIPE if that has more to say. */
	assert_string_equal(on_terminal("PAGER='head -c 3' NO_COLOR=1", "--insn || true"), "# c");
}

static void a_recording_that_is_damaged_is_told(void **state)
{
	const struct result *r;
	FILE *f;

	(void)state;
	window_packets(1000);
	finish(BOTH, "windows 1");
	f = file("cpu0.aux");
	fwrite(stream, 1, position() - 3, f);
	fclose(f);
	r = script("--insn");
	expect_part(r->err, "the recording is damaged");
	/* Nothing but a part of the padding is left. */
	finish(BOTH, "windows 1 begin 4096 pad 4096");
	f = file("cpu0.aux");
	fwrite(stream, 1, 10, f);
	fclose(f);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->err, "the recording is damaged");
	expect_part(r->err, " windows, 0 bytes;");
	f = file("meta");
	fputs("auxtrace_recording 9\ncpu 0 read 0\n", f);
	fclose(f);
	r = script("--insn");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "a recording of format 9; this version reads format 1");
}

static void a_cpu_that_is_not_there_is_told(void **state)
{
	const struct result *r;

	(void)state;
	window_packets(1000);
	finish(BOTH, "windows 1");
	r = script("--cpu 4");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "CPU 4 is not in ");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(names_do_not_command_the_terminal),
		t(a_time_before_a_freeze_needs_a_freeze),
		t(a_terminal_gets_colours_and_a_pager),
		t(a_recording_that_is_damaged_is_told),
		t(a_cpu_that_is_not_there_is_told),
	};

	return cmocka_run_group_tests_name("script", tests, NULL, NULL);
}
