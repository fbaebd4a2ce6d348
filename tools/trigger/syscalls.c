// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "lib/tool.h"
#include "syscalls.h"

/* Names that the kernel's tracepoints have and the header does not. */
#define KERNEL_NAMES \
	{ "newuname", __NR_uname }, { "newstat", __NR_stat }, { "newfstat", __NR_fstat }, \
	{ "newlstat", __NR_lstat }, { "sendfile64", __NR_sendfile }, { "umount", __NR_umount2 }

#include <asm/unistd_64.h>

static const struct {
	const char *name;
	long number;
} syscalls[] = {
/* sources.mk makes this file from <asm/unistd_64.h>: lines { "read", __NR_read }, */
#include "syscall_names.h"
	KERNEL_NAMES
};

long syscall_number(const char *name)
{
	char *end;
	long number;

	if (!strcmp(name, "*"))
		return -1;
	if (isdigit((unsigned char)*name)) {
		number = strtol(name, &end, 0);
		return *end ? -2 : number;
	}
	for (unsigned int i = 0; i < ARRAY_SIZE(syscalls); i++)
		if (!strcmp(syscalls[i].name, name))
			return syscalls[i].number;
	return -2;
}

const char *syscall_shown(const char *name)
{
	long number = isdigit((unsigned char)*name) ? -2 : syscall_number(name);

	/* The header's names come before the kernel's. */
	for (unsigned int i = 0; number >= 0 && i < ARRAY_SIZE(syscalls); i++)
		if (syscalls[i].number == number)
			return syscalls[i].name;
	return name;
}

/* A system call's exit also shows errors that the kernel keeps to itself: it calls again, or changes them to EINTR. */
static const char *const errors[] = {
/* sources.mk makes this file from <errno.h>: lines [2] = "ENOENT", */
#include "errno_names.h"
	[512] = "ERESTARTSYS", [513] = "ERESTARTNOINTR", [514] = "ERESTARTNOHAND", [515] = "ENOIOCTLCMD",
	[516] = "ERESTART_RESTARTBLOCK",
};

const char *syscall_error(int64_t result)
{
	return result < 0 && result > -(int64_t)ARRAY_SIZE(errors) ? errors[-result] : NULL;
}

void syscall_suggest(struct suggestions *n)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(syscalls); i++)
		suggest_offer(n, syscalls[i].name);
}

void syscall_each(void (*fn)(const char *name, long number, void *context), void *context)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(syscalls); i++)
		fn(syscalls[i].name, syscalls[i].number, context);
}
