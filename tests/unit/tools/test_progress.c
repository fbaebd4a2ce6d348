// SPDX-License-Identifier: GPL-2.0-only
/* A decode that lasts: it says how far it is on a terminal, and ^C ends it early with what has been decoded. */
#include "made.h"

#include <ctype.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "command.h"
#include "packets.h"

/* The whole trace is so much work for the fastest command, by as many threads as it likes. */
#define WORK_SECONDS	5.0
#define FEW_COPIES	4
#define MOST_COPIES	200

/* Two CPUs, on which main calls f again and again, both the same: @copies times a MiB. The time goes on. */
static void write_copies(unsigned int copies)
{
	FILE *f = file("cpu0.aux");
	uint64_t size = 0, time = 9000;
	char line[128], first[128];

	for (unsigned int i = 0; i < copies; i++) {
		begin_trace();
		while (position() < sizeof(stream) - 4096) {
			psb(CR3, time += 1000, 0);
			for (unsigned int k = 0; k < 100; k++) {
				ip_packet(ppt_tip_pge, MAIN);
				tnt("!!");
				suppressed(ppt_tip_pgd);
			}
		}
		assert_int_equal(fwrite(stream, 1, position(), f), position());
		size += position();
	}
	assert_int_equal(fclose(f), 0);
	snprintf(first, sizeof(first), "%s", program_path("cpu0.aux"));
	unlink(program_path("cpu1.aux"));
	assert_int_equal(link(first, program_path("cpu1.aux")), 0);
	snprintf(line, sizeof(line), "cpu 0 read %" PRIu64 " produced %" PRIu64 " windows 1", size, size);
	write_made_meta(MACHINE, AUXTRACE_SETUP_USER, line);
	snprintf(line, sizeof(line), "cpu 1 read %" PRIu64 " produced %" PRIu64 " windows 1\n", size, size);
	append("meta", line);
}

static double child_seconds(void)
{
	struct rusage usage;

	getrusage(RUSAGE_CHILDREN, &usage);
	return usage.ru_utime.tv_sec + usage.ru_utime.tv_usec / 1e6 + usage.ru_stime.tv_sec + usage.ru_stime.tv_usec / 1e6;
}

static uint64_t all_instructions;	/* of the trace */

/* Machines, sanitizers and valgrind differ by hundreds. So a short trace says how much a long one is; the load does not matter. */
static int long_begin(void **state)
{
	const struct result *r;
	double before, few;
	const char *sum;
	unsigned int copies;
	char command[128];

	if (packets_begin(state))
		return -1;
	write_copies(FEW_COPIES);
	before = child_seconds();
	snprintf(command, sizeof(command), "script --errors %s", dir);
	r = run_auxtrace(command);
	if (r->status)
		return -1;
	few = child_seconds() - before;
	sum = strstr(r->err, " instructions in ");
	while (sum && sum > r->err && isdigit((unsigned char)sum[-1]))
		sum--;
	all_instructions = sum ? strtoull(sum, NULL, 10) : 0;
	copies = few * MOST_COPIES > FEW_COPIES * WORK_SECONDS ? FEW_COPIES * WORK_SECONDS / few + 1 : MOST_COPIES;
	print_message("%u MiB take %.2f s, so %u do for %.1f s\n", FEW_COPIES, few, copies, WORK_SECONDS);
	write_copies(copies);
	all_instructions = all_instructions / FEW_COPIES * copies;
	return 0;
}

/* ---- the command on a terminal ------------------------------------------------------ */

struct child {
	pid_t pid;
	int terminal;		/* its stderr */
	char said[65536];	/* there */
	size_t size;
};

/* The shell that runs this test in the background has SIGINT ignored. */
static void (*on_interrupt)(int) = SIG_DFL;

/* In the recording's directory. stderr is the terminal, unless @redirections, which are the shell's, say otherwise. */
static void start(struct child *c, const char *arguments, const char *redirections)
{
	char command[1024];
	int slave;

	*c = (struct child){ 0 };
	/* Not openpty(): its header has a CR3 of its own. */
	c->terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	/* A root in which packages are built may have none. */
	if (c->terminal < 0 || grantpt(c->terminal) || unlockpt(c->terminal) || access(ptsname(c->terminal), R_OK | W_OK)) {
		print_message("no terminal here\n");
		skip();
	}
	slave = open(ptsname(c->terminal), O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(slave >= 0);
	snprintf(command, sizeof(command), "cd %s && exec %s %s . %s", dir, getenv("AUXTRACE"), arguments, redirections);
	c->pid = fork();
	assert_true(c->pid >= 0);
	if (!c->pid) {
		signal(SIGINT, on_interrupt);
		dup2(slave, STDERR_FILENO);
		execl("/bin/sh", "sh", "-c", command, NULL);
		_exit(127);
	}
	close(slave);
}

/* Reads what it says, up to @text; NULL: up to its end. */
static void read_to(struct child *c, const char *text)
{
	ssize_t got;

	while (!text || !strstr(c->said, text)) {
		got = read(c->terminal, c->said + c->size, sizeof(c->said) - 1 - c->size);
		/* EIO: nobody has the other side any more. */
		if (got <= 0)
			break;
		c->size += got;
		c->said[c->size] = 0;
	}
	if (text)
		expect_part(c->said, text);
}

static int end(struct child *c)
{
	int status;

	read_to(c, NULL);
	assert_int_equal(waitpid(c->pid, &status, 0), c->pid);
	close(c->terminal);
	return status;
}

static void interrupt(struct child *c)
{
	int status;

	kill(c->pid, SIGINT);
	status = end(c);
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGINT);
}

/* The number that comes behind the last @text with one; -1: there is none. */
static int said(const struct child *c, const char *text)
{
	const char *at = c->said, *next;
	int found = -1;

	while ((next = strstr(at, text))) {
		at = next + strlen(text);
		if (isdigit((unsigned char)*at))
			found = atoi(at);
	}
	return found;
}

/* Waits for the percentage that it shows next. */
static int next_percentage(struct child *c)
{
	c->size = 0;
	c->said[0] = 0;
	read_to(c, " of trace are decoded");
	return said(c, "auxtrace: ");
}

/* The begin of a file of the recording; "": there is none. */
static char *file_text(const char *name)
{
	static char text[4096];
	FILE *f = fopen(program_path(name), "r");
	size_t size;

	text[0] = 0;
	if (!f)
		return text;
	size = fread(text, 1, sizeof(text) - 1, f);
	text[size] = 0;
	fclose(f);
	return text;
}

/*
 * Interrupts when @least percent or more are shown. What threads have decoded ahead is shown as well, so that more than 50
 * percent are not the second CPU's alone: both have as much trace.
 */
static void interrupted_with(const char *arguments, int least, const char *shows)
{
	int shown, stopped, instructions, share;
	struct child c;

	start(&c, arguments, "> out");
	while ((shown = next_percentage(&c)) < least)
		;
	interrupt(&c);
	stopped = said(&c, "interrupted: ");
	instructions = said(&c, "auxtrace: ");
	print_message("%s: %d %% shown, %d %% when it stopped, %d instructions\n", arguments, shown, stopped, instructions);
	assert_in_range(stopped, least > 50 ? least - 50 : shown, 99);
	/* All of the trace has the same code. */
	share = instructions * 100.0 / all_instructions;
	assert_in_range(stopped, share > 2 ? share - 2 : 0, share + 2);
	expect_part(c.said, " instructions in ");
	expect_part(c.said, "decode errors: 0");
	expect_part(file_text("out"), shows);
}

static void an_interrupt_shows_what_was_decoded(void **state)
{
	(void)state;
	/* Before the first percent the decoder looks for the windows. */
	interrupted_with("report", 1, " main");
	interrupted_with("report --jobs 2", 55, " main");
	interrupted_with("script --errors", 1, "");
	interrupted_with("script --errors --jobs 2", 55, "");
	interrupted_with("export -f folded -o -", 1, "main;f ");
}

static void a_shown_percentage_grows(void **state)
{
	struct child c;
	int first, later = -1;

	(void)state;
	start(&c, "report", "> out");
	first = next_percentage(&c);
	for (unsigned int i = 0; i < 40 && later <= first; i++)
		later = next_percentage(&c);
	interrupt(&c);
	assert_in_range(first, 0, 99);
	assert_in_range(later, first + 1, 100);
}

/* It does not say how far it is, on the terminal or in the file "err". */
static void is_silent(const char *arguments, const char *redirections)
{
	struct child c;

	unlink(program_path("err"));
	start(&c, arguments, redirections);
	usleep(2000000);
	kill(c.pid, SIGINT);
	end(&c);
	assert_null(strstr(c.said, " of trace are decoded"));
	assert_null(strstr(file_text("err"), " of trace are decoded"));
}

static void it_does_not_disturb_what_shows_something_else(void **state)
{
	(void)state;
	is_silent("report", "> out 2> err");
	/* What reads the pipe may write to the terminal. */
	is_silent("script", "| sleep 3");
	is_silent("script --errors", ">&2 2> err");
}

static void who_ignores_interrupts_has_the_whole(void **state)
{
	struct child c;
	int status;

	(void)state;
	on_interrupt = SIG_IGN;
	start(&c, "script --errors --cpu 0", "> out");
	on_interrupt = SIG_DFL;
	next_percentage(&c);
	kill(c.pid, SIGINT);
	status = end(&c);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_null(strstr(c.said, "interrupted"));
	expect_part(c.said, "decode errors: 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_interrupt_shows_what_was_decoded),
		cmocka_unit_test(a_shown_percentage_grows),
		cmocka_unit_test(it_does_not_disturb_what_shows_something_else),
		cmocka_unit_test(who_ignores_interrupts_has_the_whole),
	};

	return cmocka_run_group_tests(tests, long_begin, packets_end);
}
