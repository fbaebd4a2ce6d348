// SPDX-License-Identifier: GPL-2.0-only
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/first_line.h"
#include "lib/tool.h"
#include "perf_events.h"

#define PMUS		"/sys/bus/event_source/devices"
#define HARDWARE_PERIOD	1000000
#define CLOCK_PERIOD	1000000	/* ns */

#define HW(name, config)	{ name, PERF_TYPE_HARDWARE, PERF_COUNT_HW_ ## config, HARDWARE_PERIOD }
#define SW(name, config)	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ ## config, 1 }
#define TIME(name, config)	{ name, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ ## config, CLOCK_PERIOD }

static const struct counter {
	const char *name;
	unsigned int type, config;
	unsigned long period;
} counters[] = {
	HW("cycles", CPU_CYCLES), HW("cpu-cycles", CPU_CYCLES),
	HW("instructions", INSTRUCTIONS),
	HW("cache-references", CACHE_REFERENCES), HW("cache-misses", CACHE_MISSES),
	HW("branches", BRANCH_INSTRUCTIONS), HW("branch-instructions", BRANCH_INSTRUCTIONS),
	HW("branch-misses", BRANCH_MISSES),
	HW("bus-cycles", BUS_CYCLES), HW("ref-cycles", REF_CPU_CYCLES),
	HW("stalled-cycles-frontend", STALLED_CYCLES_FRONTEND),
	HW("stalled-cycles-backend", STALLED_CYCLES_BACKEND),
	TIME("cpu-clock", CPU_CLOCK), TIME("task-clock", TASK_CLOCK),
	SW("page-faults", PAGE_FAULTS), SW("faults", PAGE_FAULTS),
	SW("minor-faults", PAGE_FAULTS_MIN), SW("major-faults", PAGE_FAULTS_MAJ),
	SW("context-switches", CONTEXT_SWITCHES), SW("cs", CONTEXT_SWITCHES),
	SW("cpu-migrations", CPU_MIGRATIONS), SW("migrations", CPU_MIGRATIONS),
	SW("alignment-faults", ALIGNMENT_FAULTS), SW("emulation-faults", EMULATION_FAULTS),
};

/* Put @value into the bits that @format names, for example "config:0-7,32-35". */
static bool set_bits(const char *text, const char *format, unsigned long value,
		     struct perf_event_attr *attr)
{
	static const char *const words[] = { "config", "config1", "config2" };
	size_t len = strcspn(format, ":");
	__u64 *targets[3], *target = NULL;

	targets[0] = &attr->config;
	targets[1] = (__u64 *)&attr->config1;
	targets[2] = (__u64 *)&attr->config2;
	for (unsigned int i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i]) == len && !strncmp(words[i], format, len))
			target = targets[i];
	if (!target)
		return false;
	for (format += len; *format == ':' || *format == ',';) {
		char *end;
		unsigned int low = strtoul(format + 1, &end, 10), high = low;
		unsigned int width;

		if (*end == '-')
			high = strtoul(end + 1, &end, 10);
		if (high < low || high > 63)
			return false;
		width = high - low + 1;
		*target |= (width < 64 ? value & ((1ul << width) - 1) : value) << low;
		value = width < 64 ? value >> width : 0;
		format = end;
	}
	if (value)
		die(EXIT_USAGE, "--on %s: a value does not fit the bits of its term", text);
	return true;
}

static void parse_terms(const char *text, const char *pmu, const char *terms, size_t len,
			struct perf_event_attr *attr);

static void parse_term(const char *text, const char *pmu, const char *term,
		       struct perf_event_attr *attr)
{
	size_t name = strcspn(term, "=");
	char path[512], line[256], *end;
	unsigned long value = 1;

	if (term[name]) {
		value = strtoul(term + name + 1, &end, 0);
		if (end == term + name + 1 || *end)
			die(EXIT_USAGE, "--on %s: \"%s\" has no number", text, term);
	}
	if (name == 6 && !strncmp(term, "period", 6) && term[name]) {
		if (!value)
			die(EXIT_USAGE, "--on %s: a period of 0 never ends", text);
		attr->sample_period = value;
	} else if (!pmu) {
		die(EXIT_USAGE, "--on %s: \"%s\": a counter of perf's own names has the term period=N only",
		    text, term);
	} else if (name == 6 && !strncmp(term, "config", 6)) {
		attr->config = value;
	} else if (name == 7 && !strncmp(term, "config1", 7)) {
		attr->config1 = value;
	} else if (name == 7 && !strncmp(term, "config2", 7)) {
		attr->config2 = value;
	} else {
		snprintf(path, sizeof(path), PMUS "/%.64s/format/%.*s", pmu, (int)(name < 64 ? name : 64), term);
		if (first_line(path, line, sizeof(line)) && set_bits(text, line, value, attr))
			return;
		snprintf(path, sizeof(path), PMUS "/%.64s/events/%.*s", pmu, (int)(name < 64 ? name : 64), term);
		if (term[name] || !first_line(path, line, sizeof(line)))
			die(EXIT_USAGE, "--on %s: the PMU %s has neither a term nor an event \"%.*s\": see " PMUS "/%s",
			    text, pmu, (int)name, term, pmu);
		parse_terms(text, pmu, line, strlen(line), attr);
	}
}

static void parse_terms(const char *text, const char *pmu, const char *terms, size_t len,
			struct perf_event_attr *attr)
{
	char copy[256], *save, *term;

	if (len >= sizeof(copy))
		die(EXIT_USAGE, "--on %s: too many terms", text);
	memcpy(copy, terms, len);
	copy[len] = 0;
	for (term = strtok_r(copy, ",", &save); term; term = strtok_r(NULL, ",", &save))
		parse_term(text, pmu, term, attr);
}

/* perf's modifiers: count at these privilege levels only. */
static void parse_levels(const char *text, const char *levels, struct perf_event_attr *attr)
{
	if (*levels == ':')
		levels++;
	if (!*levels)
		return;
	attr->exclude_user = attr->exclude_kernel = attr->exclude_hv = 1;
	for (; *levels; levels++)
		switch (*levels) {
		case 'u':
			attr->exclude_user = 0;
			break;
		case 'k':
			attr->exclude_kernel = 0;
			break;
		case 'h':
			attr->exclude_hv = 0;
			break;
		default:
			die(EXIT_USAGE, "--on %s: '%c' is no level: u is for user code, k for the kernel, h for a hypervisor",
			    text, *levels);
		}
}

static bool find_counter(const char *name, struct perf_event_attr *attr)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(counters); i++)
		if (!strcmp(counters[i].name, name)) {
			attr->type = counters[i].type;
			attr->config = counters[i].config;
			attr->sample_period = counters[i].period;
			return true;
		}
	return false;
}

static bool find_raw(const char *name, struct perf_event_attr *attr)
{
	size_t len = strlen(name);

	if (*name != 'r' || len < 2 || len > 17 || strspn(name + 1, "0123456789abcdefABCDEF") != len - 1)
		return false;
	attr->type = PERF_TYPE_RAW;
	attr->config = strtoul(name + 1, NULL, 16);
	attr->sample_period = HARDWARE_PERIOD;
	return true;
}

static bool find_pmu(const char *name, struct perf_event_attr *attr)
{
	char path[256], line[32];

	if (!*name || strchr(name, '.'))
		return false;
	snprintf(path, sizeof(path), PMUS "/%.64s/type", name);
	if (!first_line(path, line, sizeof(line)))
		return false;
	attr->type = strtoul(line, NULL, 10);
	attr->sample_period = HARDWARE_PERIOD;
	return true;
}

bool perf_event_parse(const char *text, struct perf_event_attr *attr)
{
	size_t len = strcspn(text, "/:");
	const char *rest = text + len, *end;
	const char *pmu = NULL;
	char name[64];

	memset(attr, 0, sizeof(*attr));
	attr->size = sizeof(*attr);
	if (len >= sizeof(name))
		return false;
	memcpy(name, text, len);
	name[len] = 0;
	if (!find_counter(name, attr) && !find_raw(name, attr)) {
		if (*rest != '/' || !find_pmu(name, attr))
			return false;
		pmu = name;
	}
	if (*rest == '/') {
		end = strchr(rest + 1, '/');
		if (!end)
			die(EXIT_USAGE, "--on %s: the terms end with a slash: %s/period=100000/", text, name);
		parse_terms(text, pmu, rest + 1, end - rest - 1, attr);
		rest = end + 1;
	}
	parse_levels(text, rest, attr);
	return true;
}

void perf_event_suggest(struct suggestions *n)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(counters); i++)
		suggest_offer(n, counters[i].name);
}

void perf_event_each(void (*fn)(const char *name, const char *kind, unsigned long period,
				  void *context), void *context)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(counters); i++)
		fn(counters[i].name, counters[i].type == PERF_TYPE_HARDWARE ? "hardware" : "software",
		     counters[i].period, context);
}

int perf_event_try(const char *name)
{
	struct perf_event_attr attr = { .size = sizeof(attr) };
	int fd;

	if (!find_counter(name, &attr))
		return ENOENT;
	attr.disabled = 1;
	fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}
