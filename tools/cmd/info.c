// SPDX-License-Identifier: GPL-2.0
/*
 * auxtrace info: what this CPU, kernel and caller may use, and if not, why not.
 *
 * Each finding is a name, a verdict and a sentence, and is printed as a line or
 * as JSON. Only findings that stand in the way of tracing decide the verdict.
 */
#include <cpuid.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/capability.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <auxtrace.h>

#include "lib/tool.h"

enum verdict { YES, NO, NOTE };	/* NO stands in the way of tracing, but see @source */

struct finding {
	const char *name;
	enum verdict verdict;
	unsigned int source;	/* 1 + AUXTRACE_PMU_*: of this one only; 0: of all */
	char text[400];
};

static struct finding findings[32];
static unsigned int count;

/* What is found from now on concerns this source. */
static unsigned int source;

static void __attribute__((format(printf, 3, 4)))
found(const char *name, enum verdict verdict, const char *format, ...)
{
	struct finding *f = &findings[count++];
	va_list ap;

	f->name = name;
	f->verdict = verdict;
	f->source = source;
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
}

/* What CPUID says without any driver's help. */
static void find_cpu(void)
{
	unsigned int a, b, c, d, max = __get_cpuid_max(0, NULL);
	char vendor[13] = "";

	__cpuid(0, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (max < 0x14 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b >> 25 & 1)) {
		found("cpu", NO, "%s without Intel PT: CPUID.7.0:EBX[25] is 0 (most virtual machines hide it)", vendor);
		return;
	}
	__cpuid_count(0x14, 0, a, b, c, d);
	found("cpu", YES, "%s with Intel PT:%s%s%s%s%s%s%s%s", vendor,
	      b & 1 ? " CR3 filter," : "", b & 2 ? " CYC and PSB period," : "",
	      b & 4 ? " IP filter and TraceStop," : "", b & 8 ? " MTC," : "",
	      b & 16 ? " PTWRITE," : "", b & 32 ? " power events," : "",
	      c & 1 ? c & 2 ? " multi-entry ToPA," : " single-entry ToPA," : " no ToPA,",
	      c & 4 ? " single-range output" : " no single-range output");
	if ((c & 3) != 3)
		found("topa", NO, "the CPU has no multi-entry ToPA output (CPUID.14H.0:ECX[1:0]), which auxtrace needs");
}

static void find_bts_cpu(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(d >> 21 & 1) || !(c >> 2 & 1))
		found("cpu: bts", NO, "without BTS in 64-bit format: CPUID.1:EDX[21] (DS) or ECX[2] (DTES64) is 0 (most virtual machines hide it)");
	else
		found("cpu: bts", YES, "with BTS; %s", c >> 4 & 1 ? "it can record kernel or user code alone (DS-CPL)" :
		      "kernel and user code together only (no DS-CPL)");
}

static void find_kernel(void)
{
	static const char *const pmus[] = { "intel_pt", "intel_bts" };
	struct utsname uts;
	char path[64];

	if (!uname(&uts))
		found("kernel", NOTE, "%s", uts.release);
	for (unsigned int i = 0; i < ARRAY_SIZE(pmus); i++) {
		snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s", pmus[i]);
		if (!access(path, F_OK))
			found("perf", NOTE, "the kernel's own %s PMU is there; it and auxtrace exclude each other while one traces",
			      pmus[i]);
		else
			found("perf", NOTE, "the kernel has no %s PMU of its own", pmus[i]);
	}
}

static bool has_cap(cap_t caps, cap_value_t cap)
{
	cap_flag_value_t value = CAP_CLEAR;

	return caps && !cap_get_flag(caps, cap, CAP_EFFECTIVE, &value) && value == CAP_SET;
}

/* Tracing as such stands in the way; without the rest it goes on, with less. */
static void find_caps(void)
{
	cap_t caps = cap_get_proc();
	struct rlimit limit;

	if (has_cap(caps, CAP_PERFMON) || has_cap(caps, CAP_SYS_ADMIN))
		found("capability", YES, "tracing is allowed: effective %s",
		      has_cap(caps, CAP_PERFMON) ? "CAP_PERFMON" : "CAP_SYS_ADMIN");
	else
		found("capability", NO, "missing: CAP_PERFMON or CAP_SYS_ADMIN (effective set), to trace");
	if (has_cap(caps, CAP_SYS_RAWIO) && has_cap(caps, CAP_SYSLOG))
		found("kernel code", YES, "can be recorded: CAP_SYS_RAWIO for /proc/kcore, CAP_SYSLOG for its addresses");
	else
		found("kernel code", NOTE, "cannot be recorded: missing%s%s; kernel flow can be traced, but not decoded",
		      has_cap(caps, CAP_SYS_RAWIO) ? "" : " CAP_SYS_RAWIO (/proc/kcore)",
		      has_cap(caps, CAP_SYSLOG) ? "" : " CAP_SYSLOG (addresses in /proc/kallsyms)");
	if (has_cap(caps, CAP_IPC_LOCK))
		found("locked memory", YES, "no limit: effective CAP_IPC_LOCK");
	else if (getrlimit(RLIMIT_MEMLOCK, &limit) || limit.rlim_cur == RLIM_INFINITY)
		found("locked memory", YES, "no limit");
	else
		found("locked memory", NOTE, "all AUX areas together, %" PRIu64 " KiB at most (ulimit -l); CAP_IPC_LOCK lifts that",
		      (uint64_t)limit.rlim_cur >> 10);
	if (caps)
		cap_free(caps);
}

static void list_values(char *text, size_t size, uint32_t mask)
{
	size_t len = 0;

	*text = 0;
	for (unsigned int i = 0; i < 16 && len < size; i++)
		if (mask >> i & 1)
			len += snprintf(text + len, size - len, "%s%u", len ? " " : "", i);
	if (!mask)
		snprintf(text, size, "none");
}

static void find_features(const struct auxtrace_info *info)
{
	char terms[256], values[64];
	uint64_t flags = info->out_pt_config;

	/* The multi-bit fields are told by their values. */
	flags &= ~(0xfULL << 14 | 0xfULL << 19 | 0xfULL << 24);
	auxtrace_config_format(flags, terms, sizeof(terms));
	found("config terms", NOTE, "%s", terms);
	list_values(values, sizeof(values), info->out_pt_mtc_periods);
	found("mtc_period", NOTE, "%s", values);
	list_values(values, sizeof(values), info->out_pt_cyc_thresholds);
	found("cyc_thresh", NOTE, "%s", values);
	list_values(values, sizeof(values), info->out_pt_psb_periods);
	found("psb_period", NOTE, "%s", values);
	found("address ranges", NOTE, "%u", info->out_pt_nr_ranges);
	if (info->out_tsc_art_num)
		found("time", NOTE, "TSC %" PRIu64 " kHz = ART * %u / %u; %s", (uint64_t)info->out_tsc_khz,
		      info->out_tsc_art_num, info->out_tsc_art_den,
		      info->out_time_mult ? "the kernel's clock follows it" : "the kernel's clock is another one");
	else
		found("time", NOTE, "TSC %" PRIu64 " kHz; CPUID.15H does not say how it follows the crystal, so MTC packets give no time",
		      (uint64_t)info->out_tsc_khz);
}

static void find_pt(const struct auxtrace_info *info)
{
	switch (info->out_pt) {
	case AUXTRACE_PT_OK:
		found("pt", YES, "free on every online CPU");
		break;
	case AUXTRACE_PT_NO_CPUID:
		found("pt", NO, "the module sees no Intel PT on this CPU");
		break;
	case AUXTRACE_PT_NO_TOPA:
		found("pt", NO, "the module needs multi-entry ToPA output, which this CPU lacks");
		break;
	case AUXTRACE_PT_NO_PMI:
		found("pt", NO, "the kernel has no architectural PMU to route the trace interrupt");
		break;
	case AUXTRACE_PT_BUSY:
		if (!(info->out_may & AUXTRACE_MAY_TRACE)) {
			found("pt", NOTE, "whether it is free can be tried with CAP_PERFMON or CAP_SYS_ADMIN only");
			break;
		}
		found("pt", NO, "perf or firmware holds it, or what excludes it, on a CPU now: end perf record -e intel_pt//, where the CPU cannot have both BTS or perf record -b, or another session");
		break;
	default:
		found("pt", NO, "the module gives reason %u, which this command does not know: it is older than the module",
		      info->out_pt);
	}
	if (info->out_pmus >> AUXTRACE_PMU_INTEL_PT & 1)
		find_features(info);
}

static void find_bts(const struct auxtrace_info *info)
{
	switch (info->out_bts) {
	case AUXTRACE_BTS_OK:
		found("bts", YES, "free on every online CPU%s", info->out_bts_flags & AUXTRACE_BTS_BUFFERED ?
		      "; through the kernel's buffer of 64 KiB, because page tables are isolated" : "");
		break;
	case AUXTRACE_BTS_NO_CPUID:
		found("bts", NO, "the module sees no BTS in 64-bit format on this CPU");
		break;
	case AUXTRACE_BTS_DISABLED:
		found("bts", NO, "firmware or a hypervisor has disabled it (IA32_MISC_ENABLE[11])");
		break;
	case AUXTRACE_BTS_NO_PMI:
		found("bts", NO, "the kernel has no architectural PMU to route its interrupt");
		break;
	case AUXTRACE_BTS_BUSY:
		if (!(info->out_may & AUXTRACE_MAY_TRACE)) {
			found("bts", NOTE, "whether it is free can be tried with CAP_PERFMON or CAP_SYS_ADMIN only");
			break;
		}
		found("bts", NO, "perf holds it, or what excludes it, on a CPU now: end perf record -e intel_bts// or -b, where the CPU cannot have both -e intel_pt//, or another session");
		break;
	default:
		found("bts", NO, "the module gives reason %u, which this command does not know: it is older than the module",
		      info->out_bts);
	}
}

static void find_device(void)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;

	if (!session) {
		const char *loaded = access("/sys/module/auxtrace", F_OK) ? "" :
				     " (the module is loaded, all the same)";

		found("device", NO, "%s%s", auxtrace_error(), loaded);
		return;
	}
	found("device", YES, AUXTRACE_DEVICE ", ABI version %u", AUXTRACE_ABI_VERSION);
	if (auxtrace_info(session, AUXTRACE_INFO_PROBE, &info)) {
		found("device", NO, "%s", auxtrace_error());
		auxtrace_close(session);
		return;
	}
	source = 1 + AUXTRACE_PMU_INTEL_PT;
	find_pt(&info);
	source = 1 + AUXTRACE_PMU_INTEL_BTS;
	find_bts(&info);
	auxtrace_close(session);
}

static bool is_usable(unsigned int of)
{
	for (unsigned int i = 0; i < count; i++)
		if (findings[i].source == of && findings[i].verdict == NO)
			return false;
	return true;
}

static void print_json_string(const char *s)
{
	putchar('"');
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			putchar('\\');
		if ((unsigned char)*s < ' ')
			printf("\\u%04x", *s);
		else
			putchar(*s);
	}
	putchar('"');
}

static void print_json(bool usable)
{
	static const char *const verdicts[] = { "yes", "no", "note" };

	printf("{\n  \"usable\": %s,\n  \"findings\": [\n", usable ? "true" : "false");
	for (unsigned int i = 0; i < count; i++) {
		printf("    { \"name\": ");
		print_json_string(findings[i].name);
		printf(", \"verdict\": \"%s\", \"text\": ", verdicts[findings[i].verdict]);
		print_json_string(findings[i].text);
		printf(" }%s\n", i + 1 < count ? "," : "");
	}
	puts("  ]\n}");
}

static void print_text(bool usable)
{
	static const char *const marks[] = { "yes", "NO ", "   " };

	for (unsigned int i = 0; i < count; i++)
		printf("%s  %-15s %s\n", marks[findings[i].verdict], findings[i].name, findings[i].text);
	if (!usable)
		puts("\nauxtrace cannot trace here: see each NO above.");
	else if (!is_usable(1 + AUXTRACE_PMU_INTEL_PT))
		puts("\nauxtrace can trace here, with --source bts only.");
	else
		puts("\nauxtrace can trace here.");
}

static void usage(FILE *f)
{
	fputs("usage: auxtrace info [--json]\n\n"
	      "Say what this CPU, kernel and caller may use, and if not, why not.\n\n"
	      "  -j, --json  as a JSON object: usable, findings (name, verdict, text)\n"
	      "  -h, --help  this text\n\n"
	      "Exit status: 0 auxtrace can trace here; 1 it cannot; 2 wrong usage.\n", f);
}

int cmd_info(int argc, char **argv)
{
	static const struct option options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	bool json = false, usable;
	int c;

	while ((c = getopt_long(argc, argv, "jh", options, NULL)) != -1) {
		switch (c) {
		case 'j':
			json = true;
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			usage(stderr);
			return EXIT_USAGE;
		}
	}
	if (optind < argc)
		die(EXIT_USAGE, "info takes no argument: \"%s\" is too much", argv[optind]);
	source = 1 + AUXTRACE_PMU_INTEL_PT;
	find_cpu();
	source = 1 + AUXTRACE_PMU_INTEL_BTS;
	find_bts_cpu();
	source = 0;
	find_kernel();
	find_caps();
	find_device();
	usable = is_usable(0) && (is_usable(1 + AUXTRACE_PMU_INTEL_PT) || is_usable(1 + AUXTRACE_PMU_INTEL_BTS));
	if (json)
		print_json(usable);
	else
		print_text(usable);
	return usable ? 0 : 1;
}
