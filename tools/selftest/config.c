// SPDX-License-Identifier: GPL-2.0-only
/*
 * What Intel PT can be configured to trace. CPUID leaf 14H of this CPU says what there is, not the module: so a module that refuses
 * it is noticed.
 */
#include <cpuid.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "lib/first_line.h"
#include "lib/tool.h"
#include "packets.h"
#include "recorded.h"

/* Leaf 14H, subleaf 0, EBX (SDM volume 3, "Detection of Intel Processor Trace") */
#define HAS_CYC_AND_PSB	(1u << 1)
#define HAS_MTC		(1u << 3)
#define HAS_PTWRITE	(1u << 4)
#define HAS_POWER	(1u << 5)
#define HAS_EVENT	(1u << 7)
#define HAS_NOTNT	(1u << 8)

/* Of traced_work(), where a debugger steps through it, and where many bytes of trace are wanted */
#define STEPPED_WORK	1000
#define MUCH_WORK	30000

struct pt_leaf {
	uint32_t features, mtc_periods, cyc_thresholds, psb_periods;
};

static struct pt_leaf read_leaf(void)
{
	struct pt_leaf leaf = { 0 };
	unsigned int a, b, c, d;

	if (__get_cpuid_max(0, NULL) < 0x14)
		return leaf;
	__cpuid_count(0x14, 0, a, b, c, d);
	leaf.features = b;
	if (!a)
		return leaf;
	__cpuid_count(0x14, 1, a, b, c, d);
	if (leaf.features & HAS_MTC)
		leaf.mtc_periods = a >> 16;
	if (leaf.features & HAS_CYC_AND_PSB) {
		/* All CPUs with CYC packets can send each of them. */
		leaf.cyc_thresholds = (b & 0xffff) | 1;
		leaf.psb_periods = b >> 16;
	}
	return leaf;
}

/* PASSED: this CPU has that, and @leaf is what else it has. Else the check is skipped, and the reason said. */
static enum outcome has(const struct selftest *t, uint32_t feature, const char *what, struct pt_leaf *leaf)
{
	if (t->source->no_config)
		return check_skipped("%s", t->source->no_config);
	*leaf = read_leaf();
	if (feature & ~leaf->features)
		return check_skipped("the CPU has no %s (CPUID leaf 14H)", what);
	return PASSED;
}

/* The lowest and the highest bit of @values, which is not 0 */
static unsigned int shortest(uint32_t values)
{
	return (unsigned int)__builtin_ctz(values);
}

static unsigned int longest(uint32_t values)
{
	return 31 - (unsigned int)__builtin_clz(values);
}

/* ---- which configurations there are ------------------------------------------------ */

/* A session with @terms can be had if @there, and traces without an error of the hardware; else it is refused for lack of that. */
static enum outcome takes(const struct selftest *t, const char *terms, bool there)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .config = terms,
										.aux_size = 64u << 10 });
	struct auxtrace_status_page page;

	if (!s && !there && errno == EOPNOTSUPP)
		return PASSED;
	if (!s)
		return check_failed("%s, which the CPU %s: %s", terms, there ? "has" : "lacks", auxtrace_error());
	if (!there) {
		auxtrace_close(s);
		return check_failed("a session takes %s, which the CPU lacks", terms);
	}
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &page))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	if (page.gaps_error || page.inhibit & AUXTRACE_INHIBIT_HWERROR || !page.produced)
		return check_failed("with %s the hardware writes %" PRIu64 " bytes and reports %" PRIu64 " errors", terms,
				    (uint64_t)page.produced, (uint64_t)page.gaps_error);
	return PASSED;
}

static enum outcome takes_values(const struct selftest *t, const char *packet, const char *field, uint32_t values)
{
	enum outcome outcome = PASSED;
	char terms[64];

	/* Of each field 0 is what a session has without it. */
	for (unsigned int i = 1; i < 16 && outcome == PASSED; i++) {
		snprintf(terms, sizeof(terms), "%s%s=%u", packet, field, i);
		outcome = takes(t, terms, values >> i & 1);
	}
	return outcome;
}

static enum outcome configurations(const struct selftest *t)
{
	static const struct {
		const char *terms;
		uint32_t feature;
	} bits[] = {
		{ "tsc", 0 }, { "noretcomp", 0 }, { "pt,branch", 0 }, { "cyc", HAS_CYC_AND_PSB }, { "mtc", HAS_MTC },
		{ "ptw", HAS_PTWRITE }, { "ptw,fup_on_ptw", HAS_PTWRITE }, { "pwr_evt", HAS_POWER }, { "event", HAS_EVENT },
		{ "notnt", HAS_NOTNT },
	};
	struct pt_leaf leaf;
	enum outcome outcome = has(t, 0, "", &leaf);

	for (unsigned int i = 0; i < ARRAY_SIZE(bits) && outcome == PASSED; i++)
		outcome = takes(t, bits[i].terms, !(bits[i].feature & ~leaf.features));
	if (outcome == PASSED)
		outcome = takes_values(t, "mtc,", "mtc_period", leaf.mtc_periods);
	if (outcome == PASSED)
		outcome = takes_values(t, "cyc,", "cyc_thresh", leaf.cyc_thresholds);
	if (outcome == PASSED)
		outcome = takes_values(t, "", "psb_period", leaf.psb_periods);
	return outcome;
}

/* ---- what is in a trace then ------------------------------------------------------- */

static enum outcome count_file(const struct selftest *t, const char *name, struct packets *p)
{
	struct mapped aux;
	char path[4200];
	const char *why;
	int error;

	snprintf(path, sizeof(path), "%s/%s/cpu%u.aux", t->dir, name, t->cpu);
	error = map_file(path, false, &aux);
	if (error)
		return check_failed("%s: %s", path, strerror(-error));
	if (!aux.size)
		return check_failed("the hardware wrote nothing");
	why = packets_count(p, aux.data, aux.size);
	unmap_file(&aux);
	if (why)
		return check_failed("the packet behind %" PRIu64 " bytes: %s", p->bytes, why);
	return p->psbs ? PASSED : check_failed("there is no PSB in the trace");
}

static struct recorded record_with(const char *terms, void (*work)(unsigned long amount), unsigned long amount)
{
	return (struct recorded){
		.options = { .config = terms, .aux_size = 16u << 20, .data_size = 64u << 10 }, .work = work, .amount = amount,
	};
}

/* Record @work, which calls traced_work(STEPPED_WORK) once, with @terms. PASSED, with its packets, if its flow is as it was executed. */
static enum outcome stepped_with(const struct selftest *t, const char *name, const char *terms, void (*work)(unsigned long amount),
				 struct packets *p, struct collector *c)
{
	const struct recorded r = record_with(terms, work, STEPPED_WORK);
	enum outcome outcome;

	*c = (struct collector)WORK_COLLECTOR;
	outcome = recorded_as_stepped(t, &r, name, c);
	return outcome == PASSED ? count_file(t, name, p) : outcome;
}

/* The same where what was decoded is no matter */
static enum outcome stepped_packets(const struct selftest *t, const char *name, const char *terms, struct packets *p)
{
	struct collector c;
	enum outcome outcome = stepped_with(t, name, terms, traced_work, p, &c);

	collector_free(&c);
	return outcome;
}

/* The packets of much work. @decode: and all of it can be decoded */
static enum outcome packets_with(const struct selftest *t, const char *name, const char *terms, bool decode, struct packets *p)
{
	const struct recorded r = record_with(terms, traced_work, MUCH_WORK);
	struct collector c = WORK_COLLECTOR;
	enum outcome outcome = recorded(t, &r, name);

	if (outcome == PASSED && decode)
		outcome = recorded_decode(t, name, &c);
	collector_free(&c);
	return outcome == PASSED ? count_file(t, name, p) : outcome;
}

/* A PSB each 2^(11 + period) bytes, about (SDM, "IA32_RTIT_CTL MSR") */
static enum outcome psb_period(const struct selftest *t)
{
	struct packets often, seldom;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_CYC_AND_PSB, "period of PSB", &leaf);
	double bytes, wanted;
	char terms[32];

	if (outcome != PASSED)
		return outcome;
	if (!leaf.psb_periods)
		return check_skipped("the CPU has one period of PSB");
	wanted = 2048 << shortest(leaf.psb_periods);
	snprintf(terms, sizeof(terms), "tsc,psb_period=%u", shortest(leaf.psb_periods));
	outcome = packets_with(t, "psb-often", terms, true, &often);
	snprintf(terms, sizeof(terms), "tsc,psb_period=%u", longest(leaf.psb_periods));
	if (outcome == PASSED)
		outcome = packets_with(t, "psb-seldom", terms, true, &seldom);
	if (outcome != PASSED)
		return outcome;
	bytes = often.psbs > 1 ? (double)often.last_psb / (double)(often.psbs - 1) : (double)often.bytes;
	if (bytes < wanted / 2 || bytes > wanted * 2)
		return check_failed("with a period of %.0f bytes there are %" PRIu64 " PSBs in %" PRIu64 " bytes", wanted, often.psbs,
				    often.bytes);
	/* The longest is at least twice as long. Each window begins with a PSB, too. */
	if (leaf.psb_periods & (leaf.psb_periods - 1) && 4 * seldom.psbs > 3 * often.psbs)
		return check_failed("with the shortest period there are %" PRIu64 " PSBs, and with the longest %" PRIu64, often.psbs, seldom.psbs);
	if (often.cycs + often.mtcs + often.ptws)
		return check_failed("there are CYC, MTC or PTW packets that nobody asked for");
	check_figure("shortest period", bytes, "bytes");
	return PASSED;
}

static enum outcome mtc(const struct selftest *t)
{
	struct packets often, seldom;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_MTC, "MTC packets", &leaf);
	char terms[32];

	if (outcome != PASSED)
		return outcome;
	if (!leaf.mtc_periods)
		return check_failed("CPUID leaf 14H has MTC packets, and no period of theirs");
	snprintf(terms, sizeof(terms), "tsc,mtc,mtc_period=%u", shortest(leaf.mtc_periods));
	outcome = stepped_packets(t, "mtc-often", terms, &often);
	snprintf(terms, sizeof(terms), "tsc,mtc,mtc_period=%u", longest(leaf.mtc_periods));
	if (outcome == PASSED)
		outcome = stepped_packets(t, "mtc-seldom", terms, &seldom);
	if (outcome != PASSED)
		return outcome;
	if (!often.mtcs)
		return check_failed("there are no MTC packets in %" PRIu64 " bytes", often.bytes);
	if (leaf.mtc_periods & (leaf.mtc_periods - 1) && seldom.mtcs >= often.mtcs)
		return check_failed("with the shortest period there are %" PRIu64 " MTC packets, and with the longest %" PRIu64, often.mtcs,
				    seldom.mtcs);
	check_figure("shortest period", (double)often.mtcs, "packets");
	check_figure("longest period", (double)seldom.mtcs, "packets");
	return PASSED;
}

static enum outcome cyc(const struct selftest *t)
{
	struct packets all, few;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_CYC_AND_PSB, "CYC packets", &leaf);
	char terms[32];

	if (outcome != PASSED)
		return outcome;
	outcome = stepped_packets(t, "cyc-all", "tsc,cyc", &all);
	snprintf(terms, sizeof(terms), "tsc,cyc,cyc_thresh=%u", longest(leaf.cyc_thresholds));
	if (outcome == PASSED)
		outcome = stepped_packets(t, "cyc-few", terms, &few);
	if (outcome != PASSED)
		return outcome;
	if (!all.cycs)
		return check_failed("there are no CYC packets in %" PRIu64 " bytes", all.bytes);
	if (longest(leaf.cyc_thresholds) && few.cycs >= all.cycs)
		return check_failed("there are %" PRIu64 " CYC packets, and %" PRIu64 " with the highest threshold", all.cycs, few.cycs);
	check_figure("without a threshold", (double)all.cycs, "packets");
	check_figure("highest threshold", (double)few.cycs, "packets");
	return PASSED;
}

/* A return to where a call came from is a bit of a TNT packet, unless each is to have its TIP packet. */
static enum outcome no_compression(const struct selftest *t)
{
	struct packets compressed, whole;
	struct pt_leaf leaf;
	struct collector c;
	enum outcome outcome = has(t, 0, "", &leaf);
	uint64_t returns;

	if (outcome != PASSED)
		return outcome;
	outcome = stepped_packets(t, "compressed", "tsc", &compressed);
	if (outcome != PASSED)
		return outcome;
	outcome = stepped_with(t, "noretcomp", "tsc,noretcomp", traced_work, &whole, &c);
	returns = c.returns;
	collector_free(&c);
	if (outcome != PASSED)
		return outcome;
	if (whole.tips < returns || whole.tips - returns / 2 < compressed.tips)
		return check_failed("%" PRIu64 " returns have %" PRIu64 " TIP packets with those of indirect calls, and %" PRIu64
				    " where they may be compressed", returns, whole.tips, compressed.tips);
	check_figure("returns", (double)returns, "");
	return PASSED;
}

/* Broadwell cannot trace without branches (erratum BDM106), and has nothing else than branches to trace. */
static enum outcome no_branches(const struct selftest *t)
{
	struct auxtrace_session *s;
	struct packets p;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, 0, "", &leaf);

	if (outcome != PASSED)
		return outcome;
	s = traced_begin(t, (struct auxtrace_options){ .config = "pt,tsc" });
	if (!s && errno == EINVAL && !(leaf.features & (HAS_CYC_AND_PSB | HAS_MTC)))
		return check_skipped("%s", auxtrace_error());
	auxtrace_close(s);
	outcome = packets_with(t, "branch", "pt,tsc", false, &p);
	if (outcome == PASSED && p.tnts + p.tips)
		outcome = check_failed("%" PRIu64 " TNT and %" PRIu64 " TIP packets tell of branches", p.tnts, p.tips);
	return outcome;
}

static enum outcome no_conditions(const struct selftest *t)
{
	struct packets p;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_NOTNT, "trace without TNT packets", &leaf);

	if (outcome == PASSED)
		outcome = packets_with(t, "notnt", "tsc,notnt", false, &p);
	if (outcome == PASSED && (p.tnts || !p.tips))
		outcome = check_failed("there are %" PRIu64 " TNT and %" PRIu64 " TIP packets", p.tnts, p.tips);
	return outcome;
}

/* ---- instructions and events ------------------------------------------------------- */

#define WRITES	10u

static uint64_t written(unsigned int i)
{
	return (uint64_t)(i + 1) << 32 | i;
}

extern const char write_at[] __asm__("auxtrace_selftest_ptwrite");

/* PTWRITE of RAX, which old assemblers do not know; there is one copy of it. */
static void __attribute__((noinline, noclone)) write_to_trace(uint64_t value)
{
	__asm__ volatile("auxtrace_selftest_ptwrite: .byte 0xf3, 0x48, 0x0f, 0xae, 0xe0" :: "a"(value));
}

static void work_and_write(unsigned long branches)
{
	traced_work(branches);
	for (unsigned int i = 0; i < WRITES; i++)
		write_to_trace(written(i));
}

/* The operands are in the trace in their order; @fup: with the address of the instruction. */
static enum outcome judge_writes(const struct collector *c, const struct packets *p, bool fup)
{
	unsigned int n = 0;

	for (size_t i = 0; i < c->events; i++) {
		const struct cpu_event *e = &c->event[i];

		if (e->what != CPU_PTWRITE)
			continue;
		if (n == WRITES || e->payload != written(n))
			return check_failed("operand %u that is decoded is %#" PRIx64 ", and was %#" PRIx64, n + 1, (uint64_t)e->payload,
					    n < WRITES ? written(n) : 0);
		if (fup && (!e->known || e->ip != (uintptr_t)write_at))
			return check_failed("operand %u is from %#" PRIx64 ", and the PTWRITE instruction is at %#" PRIxPTR, n + 1,
					    (uint64_t)e->ip, (uintptr_t)write_at);
		n++;
	}
	if (n != WRITES || p->ptws != WRITES)
		return check_failed("of %u PTWRITE instructions %" PRIu64 " have a packet, and %u are decoded", WRITES, p->ptws, n);
	return PASSED;
}

static enum outcome writes_with(const struct selftest *t, const char *name, const char *terms, bool fup)
{
	struct collector c;
	struct packets p;
	enum outcome outcome = stepped_with(t, name, terms, work_and_write, &p, &c);

	if (outcome == PASSED)
		outcome = judge_writes(&c, &p, fup);
	collector_free(&c);
	return outcome;
}

static enum outcome ptwrite(const struct selftest *t)
{
	const struct recorded r = record_with("tsc", work_and_write, SOME_WORK);
	struct packets p;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_PTWRITE, "PTWRITE instruction", &leaf);

	if (outcome == PASSED)
		outcome = writes_with(t, "ptw-fup", "tsc,ptw,fup_on_ptw", true);
	if (outcome == PASSED)
		outcome = writes_with(t, "ptw", "tsc,ptw", false);
	if (outcome == PASSED)
		outcome = recorded(t, &r, "no-ptw");
	if (outcome == PASSED)
		outcome = count_file(t, "no-ptw", &p);
	if (outcome == PASSED && p.ptws)
		outcome = check_failed("%" PRIu64 " operands are in a trace that was not to have them", p.ptws);
	return outcome;
}

#define FAULTS		10u
#define PAGE_FAULT	14	/* vector */
#define INTERRUPT	1	/* CFE's type: exceptions, too */
#define CR2		0	/* EVD's type */

static char *touched;

/* Each touch of a new page is a page fault. */
static void touch_pages(unsigned long pages)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	for (unsigned long i = 0; i < pages; i++)
		((volatile char *)touched)[i * page] = 1;
}

static bool faults_at(const struct collector *c, uint64_t address, uint64_t page)
{
	for (size_t i = 0; i < c->events; i++) {
		const struct cpu_event *e = &c->event[i];

		if (e->what != CPU_CFE || e->type != INTERRUPT || e->vector != PAGE_FAULT)
			continue;
		for (unsigned int j = 0; j < e->nr_data; j++)
			if (e->data[j].type == CR2 && (e->data[j].value & ~(page - 1)) == address)
				return true;
	}
	return false;
}

static enum outcome event_trace(const struct selftest *t)
{
	const struct recorded r = record_with("tsc,event", touch_pages, FAULTS);
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	struct collector c = { 0 };
	unsigned int found = 0;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_EVENT, "event trace", &leaf);

	if (outcome != PASSED)
		return outcome;
	touched = mmap(NULL, FAULTS * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (touched == MAP_FAILED)
		return check_skipped("there is no memory: %s", strerror(errno));
	madvise(touched, FAULTS * page, MADV_NOHUGEPAGE);
	outcome = recorded(t, &r, "event");
	if (outcome == PASSED)
		outcome = recorded_decode(t, "event", &c);
	for (unsigned int i = 0; i < FAULTS; i++)
		found += faults_at(&c, (uintptr_t)touched + i * page, page);
	if (outcome == PASSED && found != FAULTS)
		outcome = check_failed("of %u page faults %u are in the trace, with their addresses, of %zu events", FAULTS, found, c.events);
	collector_free(&c);
	munmap(touched, FAULTS * page);
	return outcome;
}

/* ---- sleep ------------------------------------------------------------------------- */

#define SLEEPS		10
#define SLEEP_NS	10000000
#define SLEPT_TICKS	5	/* of 10 ms: if it is idle for this long, it sleeps */

/* The CPU's idle time in /proc/stat; -1: the kernel does not say. */
static long long idle_ticks(unsigned int cpu)
{
	FILE *f = fopen("/proc/stat", "re");
	char line[512], name[16];
	long long ticks = -1;

	snprintf(name, sizeof(name), "cpu%u ", cpu);
	while (f && ticks < 0 && fgets(line, sizeof(line), f))
		if (!strncmp(line, name, strlen(name)))
			sscanf(line, "%*s %*u %*u %*u %lld", &ticks);
	if (f)
		fclose(f);
	return ticks;
}

/* A kernel that was told to polls instead of sleeping. */
static bool idle_polls(void)
{
	char line[4096];

	first_line("/proc/cmdline", line, sizeof(line));
	return strstr(line, "idle=poll");
}

static enum outcome count_sleeps(const struct selftest *t, struct auxtrace_session *s, struct packets *p)
{
	const struct timespec sleep = { .tv_nsec = SLEEP_NS };
	struct auxtrace_spans spans;
	const char *why;

	for (unsigned int i = 0; i < SLEEPS; i++)
		nanosleep(&sleep, NULL);
	if (auxtrace_pause(s) || auxtrace_reader_peek(auxtrace_reader(s, t->cpu), &spans))
		return traced_failed(s, "reading the trace");
	/* It begins where the area begins, and does not fill it. */
	why = spans.count == 1 ? packets_count(p, spans.iov[0].iov_base, spans.iov[0].iov_len) : "the area is full";
	auxtrace_close(s);
	return why ? check_failed("the packet behind %" PRIu64 " bytes: %s", p->bytes, why) : PASSED;
}

/* Of what else the CPU runs meanwhile nothing is in the trace: it has no branches. */
static enum outcome power_events(const struct selftest *t)
{
	struct packets p = { 0 };
	struct auxtrace_session *s;
	struct pt_leaf leaf;
	enum outcome outcome = has(t, HAS_POWER, "power events", &leaf);
	long long idle;
	char cpu[16];

	if (outcome != PASSED)
		return outcome;
	snprintf(cpu, sizeof(cpu), "%u", t->cpu);
	s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER, .cpus = cpu,
						       .config = "pt,tsc,pwr_evt", .aux_size = 4u << 20 });
	if (!s && (errno == EACCES || errno == EPERM))
		return check_skipped("%s", auxtrace_error());
	if (!s)
		return traced_failed(NULL, "a session");
	idle = idle_ticks(t->cpu);
	outcome = count_sleeps(t, s, &p);
	if (outcome != PASSED)
		return outcome;
	check_figure("wakes", (double)p.pwrxs, "");
	if (p.pwrxs)
		return PASSED;
	if (idle < 0 || idle_ticks(t->cpu) - idle < SLEPT_TICKS || idle_polls())
		return check_skipped("the CPU did not sleep meanwhile");
	return check_failed("the CPU slept, and no power event is in the trace");
}

const struct check config_checks[] = {
	{ "config", "what CPUID says that Intel PT can trace can be traced, and nothing else", false, configurations },
	{ "psb", "PSB packets come as often as they are to, and the flow is decoded", false, psb_period },
	{ "mtc", "MTC packets come by the period that is asked for, and the flow is the same", false, mtc },
	{ "cyc", "CYC packets come by the threshold that is asked for, and the flow is the same", false, cyc },
	{ "noretcomp", "each return has its own packet if so asked, and the flow is the same", false, no_compression },
	{ "branch", "without branches none is in the trace", false, no_branches },
	{ "notnt", "without TNT packets conditional branches are not in the trace, and indirect ones are", false, no_conditions },
	{ "ptwrite", "operands of PTWRITE are in the trace with their address, and the flow is the same", false, ptwrite },
	{ "event", "page faults are in the trace, with the addresses that were touched", false, event_trace },
	{ "power", "sleeps of the CPU are in the trace", false, power_events },
	{ 0 },
};
