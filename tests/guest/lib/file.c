// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

int64_t file_number(const char *path)
{
	FILE *f = fopen(path, "re");
	int64_t number = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%" SCNd64, &number) != 1)
		number = -1;
	fclose(f);
	return number;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}
