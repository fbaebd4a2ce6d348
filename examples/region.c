// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that records itself. It starts a paused session, resumes it for one region
 * of interest, and saves the recording for `auxtrace script`.
 *
 *	cc -o region region.c $(pkg-config --cflags --libs auxtrace)
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <auxtrace.h>

static unsigned long volatile sum;

static unsigned long __attribute__((noinline)) fibonacci(unsigned int n)
{
	unsigned long below;

	if (n < 2)
		return n;
	below = fibonacci(n - 1);
	return below + fibonacci(n - 2);
}

static void __attribute__((noinline)) write_report(const char *path)
{
	static const char text[] = "what the kernel does for one line of text\n";
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		return;
	if (write(fd, text, strlen(text)) < 0)
		perror(path);
	close(fd);
}

static void __attribute__((noinline)) region_of_interest(void)
{
	sum = fibonacci(4);
	write_report("/tmp/report");
}

static int fail(const char *what)
{
	fprintf(stderr, "region: %s: %s\n", what, auxtrace_error());
	return 1;
}

int main(int argc, char **argv)
{
	struct auxtrace_options options = {
		.size = sizeof(options),
		/* This thread, in the program and, if the caller may trace that, in the kernel */
		.flags = AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PAUSED,
	};
	struct auxtrace_session *session = auxtrace_open(NULL);

	if (!session || auxtrace_setup(session, &options) || auxtrace_start(session))
		return fail("start");

	region_of_interest();		/* not recorded: the session is paused */
	if (auxtrace_resume(session))
		return fail("resume");
	region_of_interest();		/* recorded */
	if (auxtrace_pause(session))
		return fail("pause");

	if (auxtrace_stop(session) || auxtrace_save(session, argc > 1 ? argv[1] : "recording"))
		return fail("save");
	auxtrace_close(session);
	return 0;
}
