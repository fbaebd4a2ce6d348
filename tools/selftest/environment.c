// SPDX-License-Identifier: GPL-2.0-only
/* The machine: what it is, and what auxtrace info says of it. */
#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "environment.h"
#include "lib/findings.h"
#include "lib/first_line.h"
#include "lib/json.h"
#include "lib/tool.h"
#include "machine/machine.h"
#include "selftest.h"
#include "traced.h"
#include "userlib/lockdown.h"

/*
 * One word of the report, which stays: a member of the JSON object, and the value as it is in both forms. A number is one there, not a
 * string.
 */
struct fact {
	const char *name;
	void (*find)(char *value, size_t size);
	bool number;
};

/* Grows when a member changes its meaning or goes, not when there are more. Reports before had no number. */
#define FORMAT	1

/* The tested CPU. What follows is asked on it. */
static unsigned int tested;

static void find_format(char *value, size_t size)
{
	snprintf(value, size, "%d", FORMAT);
}

static void find_command(char *value, size_t size)
{
	snprintf(value, size, "%s", AUXTRACE_VERSION);
}

static void find_module_version(char *value, size_t size)
{
	if (!first_line("/sys/module/auxtrace/version", value, size))
		snprintf(value, size, "none");
}

static void find_kernel(char *value, size_t size)
{
	struct utsname uts;

	if (!uname(&uts))
		snprintf(value, size, "%s", uts.release);
}

static void find_tested_cpu(char *value, size_t size)
{
	snprintf(value, size, "%u", tested);
}

/* Leaf 1AH: of which kind a core of a hybrid CPU is */
static void find_core_type(char *value, size_t size)
{
	unsigned int a = 0, b, c, d;

	if (__get_cpuid_max(0, NULL) >= 0x1a)
		__cpuid_count(0x1a, 0, a, b, c, d);
	if (!a)
		snprintf(value, size, "none");
	else if (a >> 24 == 0x20)
		snprintf(value, size, "atom");
	else if (a >> 24 == 0x40)
		snprintf(value, size, "core");
	else
		snprintf(value, size, "%#x", a >> 24);
}

/* What the kernel was told that changes how it traces, sleeps, maps itself or runs on the CPU. Words that begin so */
static const char *const telling[] = {
	"clearcpuid=", "clocksource=", "cpuidle.", "idle=", "intel_idle.", "intel_pstate=", "isolcpus=", "kpti", "kvm-intel.", "kvm_intel.",
	"lockdown=", "maxcpus=", "mitigations=", "nmi_watchdog=", "nohz_full=", "nokaslr", "nopcid", "nopti", "nosmt", "nowatchdog", "nr_cpus=",
	"preempt=", "processor.max_cstate=", "pti=", "spec_", "spectre_", "threadirqs", "tsc=",
};

static void find_options(char *value, size_t size)
{
	char line[4096] = "", *rest = line, *word;
	size_t len = 0;

	first_line("/proc/cmdline", line, sizeof(line));
	while ((word = strsep(&rest, " ")))
		for (unsigned int i = 0; i < ARRAY_SIZE(telling) && len < size; i++)
			if (!strncmp(word, telling[i], strlen(telling[i]))) {
				len += (size_t)snprintf(value + len, size - len, "%s%s", len ? " " : "", word);
				break;
			}
	if (!len)
		snprintf(value, size, "none");
}

static void find_hypervisor(char *value, size_t size)
{
	unsigned int a, c, words[3];

	if (!__get_cpuid(1, &a, &words[0], &c, &words[2]) || !(c >> 31)) {
		snprintf(value, size, "none");
		return;
	}
	__cpuid(0x40000000, a, words[0], words[1], words[2]);
	snprintf(value, size, "%.12s", (const char *)words);
	if (!value[0])
		snprintf(value, size, "unnamed");
}

static void find_lockdown(char *value, size_t size)
{
	const char *mode = lockdown_mode();

	snprintf(value, size, "%s", mode ? mode : lockdown_is_known() ? "none" : "unknown");
}

/* Leaf 14H as it is: what a decoder's or a driver's author looks for. */
static void find_leaf(char *value, size_t size)
{
	unsigned int a, b, c, d, leaves = 0;
	size_t len = 0;

	snprintf(value, size, "none");
	if (__get_cpuid_max(0, NULL) < 0x14)
		return;
	for (unsigned int i = 0; i <= leaves && i < 4 && len < size; i++) {
		__cpuid_count(0x14, i, a, b, c, d);
		if (!i)
			leaves = a;
		len += (size_t)snprintf(value + len, size - len, "%s%08x %08x %08x %08x", i ? ", " : "", a, b, c, d);
	}
}

static const struct fact facts[] = {
	{ "format", find_format, true },
	{ "auxtrace", find_command, false },
	{ "module", find_module_version, false },
	{ "kernel", find_kernel, false },
	{ "kernel_options", find_options, false },
	{ "hypervisor", find_hypervisor, false },
	{ "lockdown", find_lockdown, false },
	{ "tested_cpu", find_tested_cpu, true },
	{ "core_type", find_core_type, false },
	{ "cpuid_14h", find_leaf, false },
};

/* Of the CPU: the key in /proc/cpuinfo, and the member's name */
static const char *const cpu[][2] = {
	{ "vendor_id", "vendor" }, { "model name", "name" }, { "cpu family", "family" },
	{ "model\t", "model" }, { "stepping", "stepping" }, { "microcode", "microcode" },
};

/* What was found, in the order of the tables. A kernel's command line has 2048 characters. */
static char values[ARRAY_SIZE(facts)][2100], cpu_values[ARRAY_SIZE(cpu)][256];

/* The line begins with @key, and has something behind its colon: that. Else NULL. */
static const char *value_of(const char *line, const char *key)
{
	const char *colon = strchr(line, ':');

	return strncmp(line, key, strlen(key)) || !colon || colon[1] == '\n' ? NULL : colon + 2;
}

/* The lines of /proc/cpuinfo between that which names the tested CPU and the next that names one */
static void read_cpuinfo(void)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];
	bool here = false;

	while (f && fgets(line, sizeof(line), f)) {
		const char *value = value_of(line, "processor");

		if (value)
			here = strtoul(value, NULL, 10) == tested;
		for (unsigned int i = 0; i < ARRAY_SIZE(cpu) && here; i++) {
			value = value_of(line, cpu[i][0]);
			if (value && !cpu_values[i][0])
				snprintf(cpu_values[i], sizeof(cpu_values[i]), "%.*s", (int)strcspn(value, "\n"), value);
		}
	}
	if (f)
		fclose(f);
}

void environment_find(const struct selftest *t)
{
	memset(values, 0, sizeof(values));
	memset(cpu_values, 0, sizeof(cpu_values));
	tested = t->cpu;
	for (unsigned int i = 0; i < ARRAY_SIZE(facts); i++)
		facts[i].find(values[i], sizeof(values[i]));
	read_cpuinfo();
}

void environment_text(FILE *out)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(facts); i++)
		fprintf(out, "     %-15s %s\n", facts[i].name, values[i]);
	for (unsigned int i = 0; i < ARRAY_SIZE(cpu); i++)
		fprintf(out, "     cpu %-11s %s\n", cpu[i][1], cpu_values[i]);
	findings_text(out);
	putc('\n', out);
}

void environment_json(FILE *out)
{
	for (unsigned int i = 0; i < ARRAY_SIZE(facts); i++) {
		fprintf(out, "\n  \"%s\": ", facts[i].name);
		if (facts[i].number)
			fputs(values[i], out);
		else
			json_string(out, values[i]);
		putc(',', out);
	}
	fputs("\n  \"cpu\": {", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(cpu); i++) {
		fprintf(out, "%s\"%s\": ", i ? ", " : " ", cpu[i][1]);
		json_string(out, cpu_values[i]);
	}
	fprintf(out, " },\n  \"usable\": %s,\n  \"findings\": ", machine_usable() ? "true" : "false");
	findings_json(out);
	putc(',', out);
}

const char *environment_no_session(const struct selftest *t)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;
	static char why[400];

	why[0] = '\0';
	if (!session || auxtrace_info(session, 0, &info))
		snprintf(why, sizeof(why), "%s", auxtrace_error());
	else if (!source_is_present(t->source, &info))
		snprintf(why, sizeof(why), "sessions cannot use --source %s here", t->source->name);
	auxtrace_close(session);
	if (why[0])
		return why;
	session = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });
	/* Other errors are for the checks to find. */
	if (!session && traced_refused(errno))
		snprintf(why, sizeof(why), "no session on CPU %u: %s", t->cpu, auxtrace_error());
	auxtrace_close(session);
	return why[0] ? why : NULL;
}

static enum outcome environment(const struct selftest *t)
{
	const struct finding *f;

	for (unsigned int i = 0; (f = finding_at(i)); i++)
		if (f->verdict == NO && (!f->source || f->source == t->source))
			return check_failed("%s: %s", f->name, f->text);
	/* Others may have the hardware in a way that the module's probe does not see. */
	return t->unusable ? check_failed("%s", t->unusable) : PASSED;
}

const struct check environment_checks[] = {
	{ "environment", "this CPU, kernel and caller have what tracing takes", false, environment },
	{ 0 },
};
