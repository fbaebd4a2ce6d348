// SPDX-License-Identifier: GPL-2.0-only
/* The machine: what it is, and what auxtrace info says of it. */
#include <cpuid.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "environment.h"
#include "lib/findings.h"
#include "lib/json.h"
#include "lib/tool.h"
#include "machine/machine.h"
#include "selftest.h"
#include "traced.h"
#include "userlib/lockdown.h"

/* One word of the report, which stays: a member of the JSON object, and the value as it is in both forms. */
struct fact {
	const char *name;
	void (*find)(char *value, size_t size);
};

static void first_line(const char *path, char *value, size_t size)
{
	FILE *f = fopen(path, "re");

	if (f && fgets(value, (int)size, f))
		value[strcspn(value, "\n")] = '\0';
	if (f)
		fclose(f);
}

static void find_command(char *value, size_t size)
{
	snprintf(value, size, "%s", AUXTRACE_VERSION);
}

static void find_module_version(char *value, size_t size)
{
	snprintf(value, size, "none");
	first_line("/sys/module/auxtrace/version", value, size);
}

static void find_kernel(char *value, size_t size)
{
	struct utsname uts;

	if (!uname(&uts))
		snprintf(value, size, "%s", uts.release);
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
	{ "auxtrace", find_command },
	{ "module", find_module_version },
	{ "kernel", find_kernel },
	{ "hypervisor", find_hypervisor },
	{ "lockdown", find_lockdown },
	{ "cpuid_14h", find_leaf },
};

/* Of the CPU: the key in /proc/cpuinfo, and the member's name */
static const char *const cpu[][2] = {
	{ "vendor_id", "vendor" }, { "model name", "name" }, { "cpu family", "family" },
	{ "model\t", "model" }, { "stepping", "stepping" }, { "microcode", "microcode" },
};

/* The line of /proc/cpuinfo that begins with @key, behind its colon; "" if there is none. */
static void cpu_line(const char *key, char *value, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	char line[512];

	value[0] = '\0';
	while (f && fgets(line, sizeof(line), f)) {
		const char *colon = strchr(line, ':');

		if (strncmp(line, key, strlen(key)) || !colon || colon[1] == '\n')
			continue;
		snprintf(value, size, "%.*s", (int)strcspn(colon + 2, "\n"), colon + 2);
		break;
	}
	if (f)
		fclose(f);
}

static const char *value_of(const struct fact *fact)
{
	static char value[256];

	value[0] = '\0';
	fact->find(value, sizeof(value));
	return value;
}

void environment_text(FILE *out)
{
	char value[256];

	for (unsigned int i = 0; i < ARRAY_SIZE(facts); i++)
		fprintf(out, "     %-15s %s\n", facts[i].name, value_of(&facts[i]));
	for (unsigned int i = 0; i < ARRAY_SIZE(cpu); i++) {
		cpu_line(cpu[i][0], value, sizeof(value));
		fprintf(out, "     cpu %-11s %s\n", cpu[i][1], value);
	}
	findings_text(out);
	putc('\n', out);
}

void environment_json(FILE *out)
{
	char value[256];

	for (unsigned int i = 0; i < ARRAY_SIZE(facts); i++) {
		fprintf(out, "\n  \"%s\": ", facts[i].name);
		json_string(out, value_of(&facts[i]));
		putc(',', out);
	}
	fputs("\n  \"cpu\": {", out);
	for (unsigned int i = 0; i < ARRAY_SIZE(cpu); i++) {
		cpu_line(cpu[i][0], value, sizeof(value));
		fprintf(out, "%s\"%s\": ", i ? ", " : " ", cpu[i][1]);
		json_string(out, value);
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
