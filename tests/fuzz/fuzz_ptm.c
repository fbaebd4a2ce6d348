// SPDX-License-Identifier: GPL-2.0-only
/*
 * libFuzzer target for the whole model: a guest that writes any MSR, any ToPA
 * table and any DS area, and branches to any address. The sanitizers check the
 * model's memory accesses; check() and window_end() check the invariants:
 *   - a WRMSR that faults changes no register;
 *   - while the model traces or records, it wants branches reported;
 *   - each requested PMI was delivered or withheld, or is pending;
 *   - the model writes below MAXPHYADDR only, and counts each byte written;
 *   - the bytes of a window, unless an error or STOP cut it, are whole packets
 *     to libipt's packet decoder.
 */
#include <intel-pt.h>
#include <stdlib.h>
#include <string.h>

#include "ptm.h"
#include "registers.h"
#include "synthetic.h"

#define RAM_SIZE	0x10000U	/* at physical 0, and at LINEAR */
#define LINEAR		0xffff888000000000ULL
#define WINDOW_MAX	(1U << 20)
#define MAX_STEPS	4096

#define RTIT_ERROR	(1ULL << 4)
#define RTIT_STOPPED	(1ULL << 5)

struct input {
	const uint8_t *at;
	size_t left;
};

struct world {
	struct input in;
	struct ptm_profile profile;
	struct ptm *ptm;
	struct ptm_context ctx;
	uint64_t ip, tsc, instructions, written, pmis;
	uint8_t ram[RAM_SIZE];
	uint8_t window[WINDOW_MAX];
	size_t window_n;
};

static void must(bool holds)
{
	if (!holds)
		abort();
}

static uint8_t byte(struct input *in)
{
	if (!in->left)
		return 0;
	in->left--;
	return *in->at++;
}

static uint64_t word(struct input *in, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | byte(in);
	return v;
}

/* The machine */

static bool in_ram(uint64_t addr, unsigned int len)
{
	return addr < RAM_SIZE && len <= RAM_SIZE - addr;
}

static bool phys_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
	struct world *w = opaque;

	if (!in_ram(addr, len))
		return false;
	memcpy(buf, w->ram + addr, len);
	return true;
}

static bool phys_write(void *opaque, uint64_t addr, const void *buf, unsigned int len)
{
	struct world *w = opaque;

	must(len && !((addr + len - 1) >> w->profile.maxphyaddr));
	if (!in_ram(addr, len))
		return false;
	memcpy(w->ram + addr, buf, len);
	w->written += len;
	if (w->window_n + len <= WINDOW_MAX)
		memcpy(w->window + w->window_n, buf, len);
	w->window_n += len;
	return true;
}

static bool virt_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
	struct world *w = opaque;

	if (!in_ram(addr - LINEAR, len))
		return false;
	memcpy(buf, w->ram + (addr - LINEAR), len);
	return true;
}

static bool virt_write(void *opaque, uint64_t addr, const void *buf, unsigned int len)
{
	struct world *w = opaque;

	if (!in_ram(addr - LINEAR, len))
		return false;
	memcpy(w->ram + (addr - LINEAR), buf, len);
	return true;
}

static uint64_t tsc(void *opaque)
{
	struct world *w = opaque;

	return ++w->tsc;
}

static uint64_t instructions(void *opaque)
{
	struct world *w = opaque;

	return w->instructions;
}

static void pmi(void *opaque)
{
	struct world *w = opaque;

	w->pmis++;
}

static const struct ptm_ops ops = {
	.phys_read = phys_read,
	.phys_write = phys_write,
	.virt_read = virt_read,
	.virt_write = virt_write,
	.tsc = tsc,
	.instructions = instructions,
	.pmi = pmi,
};

/* The invariants */

static uint64_t counted(struct world *w, enum ptm_counter which)
{
	uint64_t v = 0;

	must(ptm_rdmsr(w->ptm, MSR_PTM_COUNTER + which, &v));
	return v;
}

static void check(struct world *w)
{
	if (ptm_tracing(w->ptm)) {
		must(ptm_enabled(w->ptm));
		must(ptm_near_wanted(w->ptm));
	}
	if (ptm_bts_active(w->ptm))
		must(ptm_near_wanted(w->ptm));
	if (ptm_near_wanted(w->ptm) || ptm_enabled(w->ptm) || ptm_counting(w->ptm))
		must(ptm_far_wanted(w->ptm));
	must(ptm_retire_horizon(w->ptm) > 0);
	must(ptm_counting(w->ptm) == (ptm_retire_horizon(w->ptm) != UINT64_MAX));
	must(counted(w, PTM_N_BYTES) == w->written);
	must(counted(w, PTM_N_PMI) >= counted(w, PTM_N_PMI_WITHHELD) + w->pmis);
}

/* libipt before 2.1 knows neither CFE nor EVD. */
static int event_packet(struct pt_packet_unknown *packet, const struct pt_config *config,
			const uint8_t *pos, void *context)
{
	(void)packet;
	(void)context;
	if (config->end - pos < 2)
		return -pte_eos;
	must(pos[0] == 0x02 && (pos[1] == 0x13 || pos[1] == 0x53));
	return pos[1] == 0x13 ? 4 : 11;
}

/* TraceEn has been cleared. */
static void window_end(struct world *w)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	uint64_t status = 0;
	int error;

	must(ptm_rdmsr(w->ptm, MSR_RTIT_STATUS, &status));
	if (!w->window_n || w->window_n > WINDOW_MAX || (status & (RTIT_ERROR | RTIT_STOPPED)))
		return;

	pt_config_init(&config);
	config.begin = w->window;
	config.end = w->window + w->window_n;
	config.decode.callback = event_packet;
	decoder = pt_pkt_alloc_decoder(&config);
	must(decoder);
	must(pt_pkt_sync_set(decoder, 0) >= 0);
	do
		error = pt_pkt_next(decoder, &packet, sizeof(packet));
	while (error > 0);
	must(error == -pte_eos);
	pt_pkt_free_decoder(decoder);
}

static void registers(struct world *w, uint64_t values[MSR_SLOTS])
{
	const struct msr_bank *bank;
	uint64_t ignored;

	/* Reading this one writes the staged bytes, and a full region may raise a PMI. */
	ptm_rdmsr(w->ptm, MSR_RTIT_OUTPUT_MASK, &ignored);
	for (unsigned int i = 0; (bank = msr_bank_at(i)); i++) {
		for (unsigned int k = 0; k < bank->n; k++) {
			values[bank->slot + k] = 0;
			ptm_rdmsr(w->ptm, bank->first + k, &values[bank->slot + k]);
		}
	}
}

/* The guest */

static uint32_t any_msr(struct input *in)
{
	unsigned int pick = byte(in);
	const struct msr_bank *bank;

	if (pick >= 0xf0)
		return word(in, 2);
	if (pick >= 0xe0)
		return MSR_PTM_ID + (pick & 0xf);
	for (unsigned int i = 0; (bank = msr_bank_at(i)); i++) {
		if (pick < bank->n)
			return bank->first + pick;
		pick -= bank->n;
	}
	/* The remaining picks favour CTL and the output, which matter most. */
	return pick & 1 ? MSR_RTIT_CTL : MSR_RTIT_OUTPUT_MASK;
}

/* Bits, small numbers, addresses of RAM, and sometimes any value. */
static uint64_t any_value(struct input *in)
{
	switch (byte(in) % 8) {
	case 0:
		return byte(in);
	case 1:
		return 1ULL << (byte(in) & 63);
	case 2:
		return LINEAR + word(in, 2);
	case 3:
		return (uint64_t)word(in, 2) << 32 | word(in, 2);
	case 4:
		return word(in, 2) & ~0xfffULL;
	case 5:
		return -(uint64_t)byte(in);
	case 6:
		return word(in, 4);
	default:
		return word(in, 8);
	}
}

static uint64_t any_ip(struct world *w)
{
	switch (byte(&w->in) % 4) {
	case 0:
		return w->ip + (int8_t)byte(&w->in);
	case 1:
		return 0xffffffff81000000ULL + word(&w->in, 2);
	case 2:
		return 0x400000 + word(&w->in, 3);
	default:
		return word(&w->in, 8);
	}
}

static void any_context(struct world *w)
{
	uint8_t bits = byte(&w->in);

	w->ctx.cpl = bits & 3;
	w->ctx.cs_l = bits & 4;
	w->ctx.cs_d = bits & 8;
	w->ctx.smm = (bits & 0x70) == 0x70;
	if (bits & 0x80)
		w->ctx.cr3 = (uint64_t)byte(&w->in) << 12;
}

static void wrmsr(struct world *w, uint32_t msr, uint64_t value)
{
	uint64_t before[MSR_SLOTS] = { 0 }, after[MSR_SLOTS] = { 0 };
	bool was = ptm_enabled(w->ptm);

	if (msr - MSR_PTM_COUNTER < PTM_COUNTERS)
		return;		/* check() needs the counters */
	registers(w, before);
	if (!ptm_owns_msr(w->ptm, msr)) {
		uint64_t ignored;

		must(!ptm_rdmsr(w->ptm, msr, &ignored));
	}
	if (!was)
		w->window_n = 0;
	w->ctx.cpl = 0;
	if (!ptm_wrmsr(w->ptm, msr, value, &w->ctx, w->ip, w->ip + 2)) {
		registers(w, after);
		must(!memcmp(before, after, sizeof(before)));
	}
	if (was && !ptm_enabled(w->ptm))
		window_end(w);
}

static void flow(struct world *w, enum ptm_branch_kind kind)
{
	uint64_t to = any_ip(w);

	if (kind >= PTM_FAR) {
		any_context(w);
		if (!ptm_far_wanted(w->ptm))
			return;
	} else if (!ptm_near_wanted(w->ptm)) {
		return;
	}
	ptm_branch(w->ptm, kind, &w->ctx, w->ip, w->ip + 2, to);
	w->ip = to;
}

/* Enough branches of one kind to fill a region or reach a PSB. */
static void loop(struct world *w)
{
	enum ptm_branch_kind kind = byte(&w->in) % PTM_FAR;
	unsigned int n = 16U << (byte(&w->in) & 7);

	for (unsigned int i = 0; i < n && ptm_near_wanted(w->ptm); i++) {
		ptm_branch(w->ptm, kind, NULL, w->ip, w->ip + 2, w->ip ^ 0x20000);
		w->ip ^= 0x20000;
	}
}

static void retire(struct world *w)
{
	uint64_t n = byte(&w->in) & 1 ? ptm_retire_horizon(w->ptm) : word(&w->in, 2);
	unsigned int cpl = byte(&w->in) & 3;

	if (n == UINT64_MAX)
		n = 1;
	w->instructions += n;
	ptm_retire(w->ptm, n, cpl);
}

static void put64(struct world *w, unsigned int at, uint64_t v)
{
	for (unsigned int i = 0; i < 8; i++)
		w->ram[at + i] = v >> (8 * i);
}

/* The following need several matching values, which random input would hardly produce. */

/* A circular table with up to 8 entries: 4K regions of RAM. */
static void lay_topa(struct world *w)
{
	unsigned int table = 0x1000, n = 1 + (byte(&w->in) & 7);

	for (unsigned int i = 0; i < n; i++) {
		uint8_t flags = byte(&w->in);

		put64(w, table + 8 * i, 0x2000 + 0x1000 * (flags >> 5) +
		      (flags & 0x10 ? word(&w->in, 2) : flags & 4));
	}
	put64(w, table + 8 * n, table | 1);
	wrmsr(w, MSR_RTIT_OUTPUT_BASE, table);
	wrmsr(w, MSR_RTIT_OUTPUT_MASK, word(&w->in, 2) << 32 | 0x7f);
	wrmsr(w, MSR_RTIT_CTL, 0x210d | word(&w->in, 4) << 9);	/* with ToPA */
}

static void lay_ds(struct world *w)
{
	unsigned int area = 0x800, records = byte(&w->in) & 31, threshold = byte(&w->in) & 31;
	uint64_t buffer = LINEAR + 0xc000 + word(&w->in, 2) % 0x5000;

	put64(w, area, buffer);
	put64(w, area + 8, buffer + 24 * (byte(&w->in) & 3));
	put64(w, area + 16, buffer + 24 * records + 1);
	put64(w, area + 24, buffer + 24 * threshold);
	wrmsr(w, MSR_DS_AREA, LINEAR + area);
	wrmsr(w, MSR_DEBUGCTL, 0xc0 | (word(&w->in, 2) & 0x1f00));
}

/* Counters that count, close to their overflow. */
static void arm_counter(struct world *w)
{
	static const uint16_t event[] = { 0xc0, 0x3c, 0x13c, 0xc4 };
	uint8_t which = byte(&w->in), left = byte(&w->in);

	wrmsr(w, MSR_PERFEVTSEL + (which & 3),
	      event[which >> 2 & 3] | (which & 0x10 ? 0x530000 : 0x430000));
	wrmsr(w, MSR_PMC + (which & 3), -(uint64_t)left);
	wrmsr(w, MSR_FIXED_CTR_CTRL, word(&w->in, 2) & 0xbbb);
	wrmsr(w, MSR_FIXED_CTR + which % 3, (1ULL << 48) - 1 - left);
	wrmsr(w, MSR_GLOBAL_CTRL, 0x70000000fULL);
}

static void knob(struct world *w)
{
	static const char *const names[] = {
		"drop=", "pmi-skid=", "pmi-withhold=o", "topa-cache=o", "write-fail=", "",
	};
	char text[40], why[64];
	size_t at, n;

	strcpy(text, names[byte(&w->in) % 6]);
	at = strlen(text);
	n = at + byte(&w->in) % (sizeof(text) - at);
	while (at < n)
		text[at++] = byte(&w->in);
	text[n] = 0;
	if (!ptm_knob_set(w->ptm, text, why, sizeof(why)))
		must(memchr(why, 0, sizeof(why)));
}

/* The CPU need not sleep when it wakes, nor wake before it sleeps again. */
static void sleep_and_wake(struct world *w, uint8_t how)
{
	struct ptm_mwait mwait = { any_value(&w->in), how };

	if (how & 1)
		ptm_sleep(w->ptm, how & 2 ? &mwait : NULL, w->ip);
	w->tsc += word(&w->in, 2);
	if (how & 4)
		ptm_wake(w->ptm, w->ip + 1);
}

/* A delivery of an interrupt, or the instruction that changes RFLAGS.IF. */
static void interrupt(struct world *w, uint8_t how)
{
	struct ptm_interrupt interrupt = {
		.vector = byte(&w->in), .page_fault = how & 1, .cr2 = any_value(&w->in),
	};

	w->ctx.iflag = how & 2;
	if (how & 4) {
		if (ptm_near_wanted(w->ptm))
			ptm_iflag(w->ptm, w->ctx.iflag, w->ip);
	} else if (ptm_far_wanted(w->ptm)) {
		ptm_interrupt(w->ptm, &interrupt, &w->ctx, w->ip, w->ip ^ 0x20000);
		w->ip ^= 0x20000;
	}
}

static void step(struct world *w)
{
	uint8_t op = byte(&w->in), how = byte(&w->in);
	uint64_t value;
	uint32_t msr;

	switch (op % 22) {
	case 0:
	case 1:
		msr = any_msr(&w->in);
		wrmsr(w, msr, any_value(&w->in));
		break;
	case 2:
		wrmsr(w, MSR_RTIT_CTL, word(&w->in, 5) | 0x2005);	/* TraceEn, OS, BranchEn */
		break;
	case 3:
		wrmsr(w, MSR_RTIT_CTL, 0);
		break;
	case 4:
		wrmsr(w, MSR_RTIT_STATUS, byte(&w->in) & 0x30);
		break;
	case 5:
		ptm_rdmsr(w->ptm, any_msr(&w->in), &value);
		break;
	case 6:	/* a ToPA entry or a field of the DS area */
		value = any_value(&w->in);
		memcpy(&w->ram[byte(&w->in) * 8], &value, sizeof(value));
		break;
	case 7:
		ptm_rdpmc(w->ptm, any_value(&w->in), &value);
		break;
	case 8:
		w->ctx.cr3 = (uint64_t)byte(&w->in) << 12;
		if (ptm_far_wanted(w->ptm))
			ptm_cr3_write(w->ptm, &w->ctx, w->ip);
		break;
	case 9:
		ptm_ptwrite(w->ptm, any_value(&w->in), how & 1, w->ip, w->ip + 5);
		break;
	case 10:
		retire(w);
		break;
	case 11:
		w->tsc += word(&w->in, 2);
		break;
	case 12:
		loop(w);
		break;
	case 13:
		if (how & 7) {
			knob(w);
		} else {
			bool cold = how & 8;

			ptm_reset(w->ptm, !cold);
			w->ctx = (struct ptm_context){ 0 };
			w->window_n = 0;
			if (cold) {
				w->written = 0;
				w->pmis = 0;
			}
		}
		break;
	case 14:
		lay_topa(w);
		break;
	case 15:
		lay_ds(w);
		break;
	case 16:
		arm_counter(w);
		break;
	case 17:
		sleep_and_wake(w, how);
		break;
	case 18:
		interrupt(w, how);
		break;
	default:
		flow(w, how % (PTM_EVENT + 1));
		break;
	}
	check(w);
}

static bool profile(struct world *w)
{
	static const char *const names[] = {
		"gracemont", "skylake", "broadwell", "icelake:-topa:-topa-multi",
		"icelake:-topa-multi", "icelake:-single-range", "icelake:-psb-cyc",
		"icelake:-mtc:-ip-filter", "skylake:-cr3-filter:-fw-write", "skylake:-bts:-ds-cpl",
	};
	uint8_t pick = byte(&w->in);
	char text[40], why[80];
	size_t n;

	if (pick < 0xf0) {
		must(ptm_profile_parse(names[pick % (sizeof(names) / sizeof(names[0]))],
				       &w->profile, why, sizeof(why)));
		return true;
	}

	n = byte(&w->in) % sizeof(text);
	for (size_t i = 0; i < n; i++)
		text[i] = byte(&w->in);
	text[n] = 0;
	return ptm_profile_parse(text, &w->profile, why, sizeof(why));
}

static void report(struct world *w)
{
	FILE *to = fopen("/dev/null", "w");

	must(to);
	ptm_report(w->ptm, to);
	fclose(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct world world;
	struct world *w = &world;

	memset(w, 0, offsetof(struct world, window));
	w->window_n = 0;
	w->in = (struct input){ data, size };
	w->ip = 0xffffffff81000000ULL;
	w->ctx.cs_l = true;
	if (!profile(w))
		return 0;
	w->ptm = ptm_new(&w->profile, &ops, w);
	must(w->ptm);
	ptm_synthetic_enable(w->ptm, true);
	for (unsigned int i = 0; w->in.left && i < MAX_STEPS; i++)
		step(w);
	wrmsr(w, MSR_RTIT_CTL, 0);
	check(w);
	report(w);
	ptm_free(w->ptm);
	return 0;
}
