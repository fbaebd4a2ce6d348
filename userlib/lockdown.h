/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Is the kernel locked down? For messages about what it refused; library and command include this. */
#ifndef AUXTRACE_LOCKDOWN_H
#define AUXTRACE_LOCKDOWN_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define LOCKDOWN_FILE		"/sys/kernel/security/lockdown"
#define LOCKDOWN_INTEGRITY	"integrity"
#define LOCKDOWN_CONFIDENTIALITY "confidentiality"

/*
 * LOCKDOWN_INTEGRITY or LOCKDOWN_CONFIDENTIALITY; NULL: neither, or the kernel does not say. The file
 * has all modes in one line, the present one in brackets.
 */
static inline const char *lockdown_mode(void)
{
	FILE *f = fopen(LOCKDOWN_FILE, "re");
	const char *mode = NULL;
	char line[128];

	if (!f)
		return NULL;
	if (fgets(line, sizeof(line), f)) {
		if (strstr(line, "[" LOCKDOWN_INTEGRITY "]"))
			mode = LOCKDOWN_INTEGRITY;
		else if (strstr(line, "[" LOCKDOWN_CONFIDENTIALITY "]"))
			mode = LOCKDOWN_CONFIDENTIALITY;
	}
	fclose(f);
	return mode;
}

/* Of the two modes, the one in which nobody may open /proc/kcore. */
static inline bool lockdown_closes_kcore(void)
{
	const char *mode = lockdown_mode();

	return mode && !strcmp(mode, LOCKDOWN_CONFIDENTIALITY);
}

#endif
