// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The kernel's code as it is in memory. The vmlinux file does not have it: the kernel
 * patches its code at run time (alternatives, jump labels, ftrace, static calls).
 *
 * Recorded are the kernel's text and what is in the modules' area, which kernel_area.c finds.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "kernel_code.h"
#include "recording.h"
#include "recording_dir.h"

struct proc_copy {		/* a file of /proc that is read, and copied to the recording */
	const char *path, *name;
	FILE *in, *out;
	char *line;
	size_t room;
	int err;		/* of the read that failed */
};

/*
 * @dirfd: -1: no copy. Returns 0, or -1 with errno and the message. If the file is missing, that
 * is an error unless it is @optional: then copy->in is NULL.
 */
static int proc_open(struct proc_copy *copy, const char *path, int dirfd, bool optional)
{
	int err;

	*copy = (struct proc_copy){ .path = path, .in = fopen(path, "re") };
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

/* The next line, up to the next call; NULL: there is none. */
static const char *proc_line(struct proc_copy *copy)
{
	ssize_t size = getline(&copy->line, &copy->room, copy->in);

	if (size < 0) {
		copy->err = feof(copy->in) ? 0 : errno;
		return NULL;
	}
	if (copy->out)
		fwrite(copy->line, 1, size, copy->out);
	return copy->line;
}

static int proc_close(struct proc_copy *copy)
{
	int ret = copy->out ? recording_file_close(copy->out, copy->name) : 0;

	free(copy->line);
	fclose(copy->in);
	return copy->err ? fail(copy->err, "cannot read %s: %s", copy->path, strerror(copy->err)) : ret;
}

/*
 * Add what the line @line of /proc/kallsyms says, if it is of use: "ADDRESS TYPE NAME", and for a symbol of a module a tab
 * and "[MODULE]". Other lines' addresses are not read: there are some 200,000, and strtoull() takes longer than all
 * else here. Returns 0, or -1 if there is no memory.
 */
static int take_symbol(struct kernel_code *code, const char *line)
{
	const char *type = strchr(line, ' ');
	bool of_module, is_code;
	uint64_t address, *text = NULL;
	char *end;

	if (!type || !type[1] || type[2] != ' ')
		return 0;
	of_module = strstr(type + 3, "\t[");
	if (!of_module && !strcmp(type + 3, "_stext\n"))
		text = &code->stext;
	else if (!of_module && !strcmp(type + 3, "_etext\n"))
		text = &code->etext;
	if (!of_module && !text)
		return 0;
	address = strtoull(line, &end, 16);
	if (end != type)
		return 0;
	if (text) {
		*text = address;
		return 0;
	}
	is_code = strchr("tTwW", type[1]);
	code->lists_data |= !is_code;
	return kernel_code_add_symbol(code, address, is_code);
}

/* Where the text is, and the symbols of all else. */
static int read_kallsyms(int dirfd, struct kernel_code *code)
{
	struct proc_copy copy;
	const char *line;
	int ret = 0;

	if (proc_open(&copy, "/proc/kallsyms", dirfd, false))
		return -1;
	while (!ret && (line = proc_line(&copy)))
		ret = take_symbol(code, line);
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

	/* A kernel without module support does not have this file. */
	if (proc_open(&copy, "/proc/modules", dirfd, true))
		return -1;
	if (!copy.in)
		return 0;
	while (proc_line(&copy))
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
