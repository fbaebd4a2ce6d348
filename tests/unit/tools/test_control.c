// SPDX-License-Identifier: GPL-2.0-only
/* How the command is driven from outside: FIFOs, inherited files, a socket. */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "record/control.h"

static char dir[64], path[96], acks[96];
static enum control_command asked[16];
static unsigned int count;
static struct control *control;

static int begin(void **state)
{
	(void)state;
	snprintf(dir, sizeof(dir), "%s/auxtrace-test.XXXXXX", getenv("TMPDIR") ?: "/tmp");
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/ctl", dir);
	snprintf(acks, sizeof(acks), "%s/ack", dir);
	count = 0;
	return 0;
}

static int end(void **state)
{
	char command[128];

	(void)state;
	control_close(control);
	control = NULL;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

static enum control_answer act(void *context, enum control_command command, char *text, size_t size)
{
	assert_ptr_equal(context, dir);
	assert_true(count < 16);
	asked[count++] = command;
	switch (command) {
	case CONTROL_STATUS:
		snprintf(text, size, "status running=2\n");
		return CONTROL_ACK;
	case CONTROL_SNAPSHOT:
		snprintf(text, size, "a full trace has none");
		return CONTROL_ERROR;
	case CONTROL_STOP:
		return CONTROL_LATER;
	default:
		return CONTROL_ACK;
	}
}

/* Serve until nobody asks any more; @wanted: somebody does now. */
static void serve(bool wanted)
{
	struct pollfd fd = { .fd = control_fd(control), .events = POLLIN };

	assert_int_equal(poll(&fd, 1, wanted ? 5000 : 0), wanted);
	control_serve(control, act, dir);
}

static void expect_text(int fd, const char *text)
{
	char buf[512] = "";
	struct pollfd p = { .fd = fd, .events = POLLIN };
	ssize_t n = 0;

	if (poll(&p, 1, *text ? 5000 : 0) > 0)
		n = read(fd, buf, sizeof(buf) - 1);
	assert_true(n >= 0);
	assert_string_equal(buf, text);
}

static void send_text(int fd, const char *text)
{
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
}

static void commands_by_fifo_are_carried_out_and_acknowledged(void **state)
{
	char spec[256];
	int in, out;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		count = 0;
		unlink(path);
		unlink(acks);
		assert_int_equal(mkfifo(path, 0600), 0);
		assert_int_equal(mkfifo(acks, 0600), 0);
		/* With perf's prefix, and without. */
		snprintf(spec, sizeof(spec), "%s%s,%s", i ? "" : "fifo:", path, acks);
		control = control_open(spec);
		in = open(path, O_RDWR);
		out = open(acks, O_RDWR | O_NONBLOCK);
		assert_true(in >= 0 && out >= 0);
		serve(false);
		send_text(in, "pause\n");
		serve(true);
		expect_text(out, "ack\n");
		send_text(in, "resume\r\n\n  ");
		serve(true);
		expect_text(out, "ack\n");
		/* In pieces, and several at once. */
		send_text(in, "\npi");
		serve(true);
		expect_text(out, "");
		send_text(in, "ng\nenable\ndisable \n");
		serve(true);
		expect_text(out, "ack\nack\nack\n");
		send_text(in, "status\n");
		serve(true);
		expect_text(out, "status running=2\nack\n");
		send_text(in, "snapshot\n");
		serve(true);
		expect_text(out, "error: a full trace has none\n");
		const enum control_command expected[] = {
			CONTROL_PAUSE, CONTROL_RESUME, CONTROL_PING, CONTROL_RESUME, CONTROL_PAUSE,
			CONTROL_STATUS, CONTROL_SNAPSHOT,
		};
		assert_int_equal(count, 7);
		assert_memory_equal(asked, expected, sizeof(expected));
		/* Who writes may come and go. */
		close(in);
		serve(false);
		in = open(path, O_WRONLY);
		send_text(in, "stop\n");
		serve(true);
		expect_text(out, "");
		control_finish(control, i ? "the disk is full" : NULL);
		expect_text(out, i ? "error: the disk is full\n" : "ack\n");
		close(in);
		close(out);
		control_close(control);
		control = NULL;
		assert_int_equal(access(path, F_OK), 0);
	}
}

static void what_is_no_command_is_told_with_what_is(void **state)
{
	char spec[256], longer[400];
	int in, out;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(mkfifo(acks, 0600), 0);
	snprintf(spec, sizeof(spec), "fifo:%s,%s", path, acks);
	control = control_open(spec);
	in = open(path, O_RDWR);
	out = open(acks, O_RDWR | O_NONBLOCK);
	send_text(in, "Pause\n");
	serve(true);
	expect_text(out, "error: unknown command \"Pause\"; the commands are pause, resume, snapshot, stop, status, ping (and enable, disable as perf has them)\n");
	memset(longer, 'x', sizeof(longer));
	longer[398] = '\n';
	longer[399] = 0;
	send_text(in, longer);
	serve(true);
	expect_text(out, "error: a command has at most 200 bytes\n");
	send_text(in, "ping\n");
	serve(true);
	expect_text(out, "ack\n");
	assert_int_equal(count, 1);
	close(in);
	close(out);
}

static void a_fifo_without_another_answers_nothing(void **state)
{
	int in;

	(void)state;
	assert_int_equal(mkfifo(path, 0600), 0);
	control = control_open(path);
	in = open(path, O_RDWR);
	send_text(in, "pause\nbogus\n");
	serve(true);
	assert_int_equal(count, 1);
	close(in);
}

static int connected(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	return fd;
}

static void a_socket_serves_several(void **state)
{
	struct stat st;
	int one, two;

	(void)state;
	control = control_open(path);
	assert_int_equal(stat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 0777, 0600);
	one = connected();
	two = connected();
	send_text(one, "pause\n");
	send_text(two, "snapshot\n");
	serve(true);
	expect_text(one, "ack\n");
	expect_text(two, "error: a full trace has none\n");
	/* One that does not wait for its answer does no harm. */
	send_text(one, "ping\n");
	close(one);
	serve(true);
	send_text(two, "stop\n");
	shutdown(two, SHUT_WR);
	serve(true);
	serve(false);
	expect_text(two, "");
	control_finish(control, NULL);
	expect_text(two, "ack\n");
	control_close(control);
	control = NULL;
	assert_int_equal(access(path, F_OK), -1);
	close(two);
}

static void a_socket_that_was_left_behind_is_replaced_and_no_other_file(void **state)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct result *r;
	char arguments[256];
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	strcpy(address.sun_path, path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	snprintf(arguments, sizeof(arguments), "record -o %s/out --control %s true", dir, path);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 125);
	expect_part(r->err, "another process listens at ");
	close(fd);
	control = control_open(path);
	close(connected());
	snprintf(arguments, sizeof(arguments), "record -o %s/out --control /etc/hostname true", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 125);
	expect_part(r->err, "/etc/hostname is neither a FIFO nor a socket");
}

static void inherited_files_serve_too(void **state)
{
	int in[2], out[2];
	char spec[64];

	(void)state;
	assert_int_equal(pipe(in), 0);
	assert_int_equal(pipe2(out, O_NONBLOCK), 0);
	snprintf(spec, sizeof(spec), "fd:%d,%d", in[0], out[1]);
	control = control_open(spec);
	/* The command that is recorded does not get them. */
	assert_true(fcntl(in[0], F_GETFD) & FD_CLOEXEC);
	assert_true(fcntl(out[1], F_GETFD) & FD_CLOEXEC);
	send_text(in[1], "ping\n");
	serve(true);
	expect_text(out[0], "ack\n");
	/* The other end goes. */
	close(in[1]);
	serve(true);
	serve(false);
	close(out[0]);
}

static void a_wrong_control_says_what_is_right(void **state)
{
	static const struct {
		const char *spec, *says;
		int status;
	} cases[] = {
		{ "\"\"", "it takes fifo:CTL[,ACK]", 2 },
		{ "fifo:", "a path is missing", 2 },
		{ "fifo:/tmp/x,", "a path is missing", 2 },
		{ "fifo:/nonexistent/ctl", "make it with mkfifo", 125 },
		{ "fifo:/dev/null", "/dev/null is no FIFO", 125 },
		{ "fd:x", "a file descriptor is a number", 2 },
		{ "fd:0,y", "a file descriptor is a number", 2 },
		{ "fd:0,1,2", "\",2\" is too much", 2 },
		{ "fd:99", "there is no file descriptor 99", 125 },
		{ "/nonexistent/socket", "cannot make the socket /nonexistent/socket", 125 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char arguments[256];
		const struct result *r;

		snprintf(arguments, sizeof(arguments), "record -o %s/out --control %s true", dir, cases[i].spec);
		r = run_auxtrace(arguments);
		expect_part(r->err, cases[i].says);
		assert_int_equal(r->status, cases[i].status);
	}
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(commands_by_fifo_are_carried_out_and_acknowledged),
		t(what_is_no_command_is_told_with_what_is),
		t(a_fifo_without_another_answers_nothing),
		t(a_socket_serves_several),
		t(a_socket_that_was_left_behind_is_replaced_and_no_other_file),
		t(inherited_files_serve_too),
		t(a_wrong_control_says_what_is_right),
	};

	signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests_name("command control", tests, NULL, NULL);
}
