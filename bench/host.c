// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "die.h"
#include "host.h"

#define LINE	"/dev/ttyS2"

void host_log(bool on)
{
	const char *request = on ? "log-on\n" : "log-off\n";
	int fd = open(LINE, O_RDWR | O_CLOEXEC);
	char answer[16] = "";
	size_t n = 0;

	if (fd < 0)
		die(LINE);
	if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		die("the host");
	while (n < sizeof(answer) - 1 && !strchr(answer, '\n')) {
		ssize_t got = read(fd, answer + n, sizeof(answer) - 1 - n);

		if (got <= 0)
			die("the host");
		n += got;
	}
	if (strcmp(answer, "ok\n"))
		errx(1, "the host answers '%s' to %s", answer, request);
	close(fd);
}
