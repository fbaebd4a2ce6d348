// SPDX-License-Identifier: LGPL-2.1-or-later
/* Sets of CPUs. */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define CPU_LIMIT	65536u
#define ONLINE		"/sys/devices/system/cpu/online"

/* Read the CPU number at *@p and advance *@p past it. 0, or -1 with errno and the message. */
static int parse_cpu(const char *list, const char **p, unsigned int *cpu)
{
	unsigned long n;
	char *end;

	if (!isdigit((unsigned char)**p))
		return fail(EINVAL, "\"%s\" is not a list of CPUs: a number is missing at \"%s\"; a list looks like 0-3,5",
			    list, *p);
	errno = 0;
	n = strtoul(*p, &end, 10);
	if (errno || n >= CPU_LIMIT)
		return fail(ERANGE, "CPU %.*s in \"%s\" is too large: the largest possible number is %u",
			    (int)(end - *p), *p, list, CPU_LIMIT - 1);
	*p = end;
	*cpu = n;
	return 0;
}

static int parse_list(const char *list, uint8_t *mask, unsigned int *highest)
{
	const char *p = list;
	unsigned int first, last;

	*highest = 0;
	for (;;) {
		if (parse_cpu(list, &p, &first))
			return -1;
		last = first;
		if (*p == '-') {
			p++;
			if (parse_cpu(list, &p, &last))
				return -1;
		}
		if (last < first)
			return fail(EINVAL, "the range %u-%u in \"%s\" goes backwards: write %u-%u",
				    first, last, list, last, first);
		for (unsigned int c = first; c <= last; c++)
			mask[c / 8] |= 1u << c % 8;
		if (last > *highest)
			*highest = last;
		if (!*p)
			return 0;
		if (*p != ',')
			return fail(EINVAL, "\"%s\" is not a list of CPUs: '%c' is neither - nor a comma; a list looks like 0-3,5",
				    list, *p);
		p++;
	}
}

AUXTRACE_API struct auxtrace_cpus *auxtrace_cpus_parse(const char *list)
{
	uint8_t mask[CPU_LIMIT / 8] = { 0 };
	struct auxtrace_cpus *cpus;
	unsigned int highest;

	if (!strcmp(list, "all") || !strcmp(list, "online"))
		return auxtrace_cpus_online();
	if (parse_list(list, mask, &highest))
		return NULL;
	cpus = malloc(sizeof(*cpus) + highest / 8 + 1);
	if (!cpus) {
		fail(ENOMEM, "no memory for a set of CPUs");
		return NULL;
	}
	cpus->len = highest / 8 + 1;
	memcpy(cpus->mask, mask, cpus->len);
	return cpus;
}

AUXTRACE_API struct auxtrace_cpus *auxtrace_cpus_online(void)
{
	FILE *f = fopen(ONLINE, "re");
	char list[4096];
	char *got;

	if (!f) {
		fail(errno, "cannot open " ONLINE ": %s; is sysfs mounted?", strerror(errno));
		return NULL;
	}
	got = fgets(list, sizeof(list), f);
	fclose(f);
	if (!got) {
		fail(EIO, ONLINE " is empty");
		return NULL;
	}
	list[strcspn(list, "\n")] = 0;
	return auxtrace_cpus_parse(list);
}

AUXTRACE_API void auxtrace_cpus_free(struct auxtrace_cpus *cpus)
{
	free(cpus);
}

AUXTRACE_API bool auxtrace_cpus_has(const struct auxtrace_cpus *cpus, unsigned int cpu)
{
	return cpu / 8 < cpus->len && cpus->mask[cpu / 8] >> cpu % 8 & 1;
}

AUXTRACE_API unsigned int auxtrace_cpus_count(const struct auxtrace_cpus *cpus)
{
	unsigned int count = 0;

	for (size_t i = 0; i < cpus->len; i++)
		count += __builtin_popcount(cpus->mask[i]);
	return count;
}

AUXTRACE_API int auxtrace_cpus_next(const struct auxtrace_cpus *cpus, unsigned int from)
{
	for (unsigned int c = from; c < 8 * cpus->len; c++)
		if (auxtrace_cpus_has(cpus, c))
			return c;
	return -1;
}
