// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's code as it is in memory. The vmlinux file does not have it: the kernel
 * patches its code at run time (alternatives, jump labels, ftrace, static calls).
 *
 * Recorded are the kernel's text and what is in the modules' area, which kernel_area.c finds.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "kernel_code.h"
#include "recording.h"
#include "recording_dir.h"

struct proc_copy {		/* a file of /proc that is read, and copied to the recording */
	const char *name;
	FILE *in, *out;
};

/*
 * @dirfd: -1: no copy. Returns 0, or -1 with errno and the message. If the file is missing, that
 * is an error unless it is @optional: then copy->in is NULL.
 */
static int proc_open(struct proc_copy *copy, const char *path, int dirfd, bool optional)
{
	int err;

	copy->in = fopen(path, "re");
	if (!copy->in && optional && errno == ENOENT)
		return 0;
	if (!copy->in)
		return fail(errno, "cannot read %s: %s", path, strerror(errno));
	copy->name = strrchr(path, '/') + 1;
	copy->out = dirfd < 0 ? NULL : recording_file(dirfd, copy->name);
	if (dirfd < 0 || copy->out)
		return 0;
	err = errno;
	fclose(copy->in);
	errno = err;
	return -1;
}

static bool proc_line(struct proc_copy *copy, char *line, size_t size)
{
	if (!fgets(line, size, copy->in))
		return false;
	if (copy->out)
		fputs(line, copy->out);
	return true;
}

static int proc_close(struct proc_copy *copy)
{
	fclose(copy->in);
	return copy->out ? recording_file_close(copy->out, copy->name) : 0;
}

/* Where the text is, and the symbols of all else. */
static int read_kallsyms(int dirfd, struct kernel_code *code)
{
	struct proc_copy copy;
	char line[1024];
	int ret = 0;

	if (proc_open(&copy, "/proc/kallsyms", dirfd, false))
		return -1;
	while (!ret && proc_line(&copy, line, sizeof(line))) {
		char type, name[512], module[64] = "";
		uint64_t addr;

		if (sscanf(line, "%" SCNx64 " %c %511s [%63[^]]", &addr, &type, name, module) < 3)
			continue;
		if (!strcmp(name, "_stext"))
			code->stext = addr;
		else if (!strcmp(name, "_etext"))
			code->etext = addr;
		if (*module) {
			bool is_code = strchr("tTwW", type);

			code->lists_data |= !is_code;
			ret = kernel_code_add_symbol(code, addr, is_code);
		}
	}
	if (proc_close(&copy) || ret)
		return -1;
	if (!code->stext || code->etext <= code->stext)
		return fail(EACCES, "/proc/kallsyms hides its addresses: kernel code can be recorded with CAP_SYSLOG, or with kernel.kptr_restrict=0");
	return kernel_code_add_symbol(code, code->stext, true) ||
	       kernel_code_add_symbol(code, code->etext, false) ? -1 : 0;
}

/* Copy the list of modules. */
static int read_modules(int dirfd)
{
	struct proc_copy copy;
	char line[4096];

	/* A kernel without module support does not have this file. */
	if (proc_open(&copy, "/proc/modules", dirfd, true))
		return -1;
	if (!copy.in)
		return 0;
	while (proc_line(&copy, line, sizeof(line)))
		;
	return proc_close(&copy);
}

static int read_all(int dirfd, struct kernel_code *code)
{
	return read_kallsyms(dirfd, code) || kernel_code_read(code) ? -1 : 0;
}

struct kernel_code *kernel_read(void)
{
	struct kernel_code *code = calloc(1, sizeof(*code));

	if (!code) {
		fail(ENOMEM, "no memory for the kernel's code");
		return NULL;
	}
	if (!read_all(-1, code))
		return code;
	kernel_free(code);
	return NULL;
}

void kernel_free(struct kernel_code *code)
{
	if (code)
		kernel_code_free(code);
	free(code);
}

int kernel_record(int dirfd, const struct kernel_code *before, uint64_t *changes)
{
	struct kernel_code code = { 0 };
	int ret;

	/* If this fails, nothing of an earlier snapshot is left that says what has changed. */
	unlinkat(dirfd, "kcore.changes", 0);
	ret = read_all(dirfd, &code) || read_modules(dirfd) ? -1 : 0;
	if (!ret && before)
		ret = kernel_code_add_gone(&code, before);
	if (!ret)
		ret = kernel_code_write(&code, dirfd);
	if (!ret && before)
		ret = kernel_changes_write(before, &code, dirfd, changes);
	kernel_code_free(&code);
	return ret;
}
