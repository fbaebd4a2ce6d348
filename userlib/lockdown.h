/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is the kernel locked down? For messages about what it refused; library and command include this. */
#ifndef AUXTRACE_LOCKDOWN_H
#define AUXTRACE_LOCKDOWN_H

#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statfs.h>

#define SECURITYFS		"/sys/kernel/security"
#define LOCKDOWN_FILE		SECURITYFS "/lockdown"
#define LOCKDOWN_INTEGRITY	"integrity"
#define LOCKDOWN_CONFIDENTIALITY "confidentiality"

/* The file has all modes in one line, the present one in brackets. False: it cannot be read. */
static inline bool lockdown_read(char *line, int size)
{
	FILE *f = fopen(LOCKDOWN_FILE, "re");
	bool is_read = f && fgets(line, size, f);

	if (f)
		fclose(f);
	return is_read;
}

/* LOCKDOWN_INTEGRITY or LOCKDOWN_CONFIDENTIALITY; NULL: neither, or that is not known. */
static inline const char *lockdown_mode(void)
{
	char line[128];

	if (!lockdown_read(line, sizeof(line)))
		return NULL;
	if (strstr(line, "[" LOCKDOWN_INTEGRITY "]"))
		return LOCKDOWN_INTEGRITY;
	return strstr(line, "[" LOCKDOWN_CONFIDENTIALITY "]") ? LOCKDOWN_CONFIDENTIALITY : NULL;
}

/*
 * Does NULL of lockdown_mode() mean that the kernel is not locked down? Without the file it does if securityfs is
 * mounted: that kernel was built without lockdown.
 */
static inline bool lockdown_is_known(void)
{
	struct statfs fs;
	char line[128];

	return lockdown_read(line, sizeof(line)) ||
	       (!statfs(SECURITYFS, &fs) && (unsigned long)fs.f_type == SECURITYFS_MAGIC);
}

/* Of the two modes, the one in which nobody may open /proc/kcore. */
static inline bool lockdown_closes_kcore(void)
{
	const char *mode = lockdown_mode();

	return mode && !strcmp(mode, LOCKDOWN_CONFIDENTIALITY);
}

#endif
