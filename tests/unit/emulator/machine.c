// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

const struct ptm_context kernel_ctx = { .cr3 = 0x1000, .cpl = 0, .cs_l = true };
const struct ptm_context user_ctx = { .cr3 = 0x1000, .cpl = 3, .cs_l = true };
const struct ptm_context user32_ctx = { .cr3 = 0x1000, .cpl = 3, .cs_d = true };
const struct ptm_context smm_ctx = { .cr3 = 0x1000, .cpl = 0, .cs_l = true, .smm = true };

static bool in_ram(uint64_t addr, unsigned int len)
{
	return addr < RAM_SIZE && len <= RAM_SIZE - addr;
}

static bool phys_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
	struct machine *m = opaque;

	if (!in_ram(addr, len))
		return false;
	memcpy(buf, m->ram + addr, len);
	return true;
}

static bool phys_write(void *opaque, uint64_t addr, const void *buf, unsigned int len)
{
	struct machine *m = opaque;

	if (!in_ram(addr, len))
		return false;
	memcpy(m->ram + addr, buf, len);
	m->writes++;

	if (m->tee_n + len > m->tee_room) {
		m->tee_room = 2 * m->tee_room + len;
		m->tee = realloc(m->tee, m->tee_room);
		assert_non_null(m->tee);
	}
	memcpy(m->tee + m->tee_n, buf, len);
	m->tee_n += len;
	return true;
}

static bool touches(uint64_t page, uint64_t at, unsigned int len)
{
	return page && at + len > page && at < page + 4096;
}

static bool mapped(const struct machine *m, uint64_t addr, unsigned int len)
{
	uint64_t at = addr - LINEAR;

	return addr >= LINEAR && in_ram(at, len) && !touches(m->hole, at, len);
}

static bool virt_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
	struct machine *m = opaque;

	if (!mapped(m, addr, len))
		return false;
	memcpy(buf, m->ram + (addr - LINEAR), len);
	return true;
}

static bool virt_write(void *opaque, uint64_t addr, const void *buf, unsigned int len)
{
	struct machine *m = opaque;

	if (!mapped(m, addr, len) || touches(m->read_only, addr - LINEAR, len))
		return false;
	memcpy(m->ram + (addr - LINEAR), buf, len);
	return true;
}

static uint64_t instructions(void *opaque)
{
	struct machine *m = opaque;

	return m->instructions;
}

static uint64_t tsc(void *opaque)
{
	struct machine *m = opaque;

	m->tsc += m->tsc_step;
	return m->tsc;
}

static void pmi(void *opaque)
{
	struct machine *m = opaque;

	m->pmis++;
	m->tee_at_pmi = m->tee_n;
}

static const struct ptm_ops ops = {
	.phys_read = phys_read,
	.phys_write = phys_write,
	.virt_read = virt_read,
	.virt_write = virt_write,
	.instructions = instructions,
	.tsc = tsc,
	.pmi = pmi,
};

struct machine *machine_new(const struct ptm_profile *profile)
{
	struct machine *m = calloc(1, sizeof(*m));

	assert_non_null(m);
	m->ram = calloc(1, RAM_SIZE);
	assert_non_null(m->ram);
	m->ptm = ptm_new(profile, &ops, m);
	assert_non_null(m->ptm);
	ptm_synthetic_enable(m->ptm, true);
	single_range(m, OUT_AT, OUT_SIZE);
	return m;
}

void machine_free(struct machine *m)
{
	ptm_free(m->ptm);
	free(m->ram);
	free(m->tee);
	free(m);
}

int machine_setup(void **state)
{
	*state = machine_new(ptm_profile_at(0));
	return 0;
}

int machine_teardown(void **state)
{
	machine_free(*state);
	return 0;
}

bool wr_faults(struct machine *m, uint32_t msr, uint64_t value)
{
	return !ptm_wrmsr(m->ptm, msr, value, &kernel_ctx, KERN, KERN + 2);
}

bool rd_faults(struct machine *m, uint32_t msr)
{
	uint64_t value;

	return !ptm_rdmsr(m->ptm, msr, &value);
}

void wr(struct machine *m, uint32_t msr, uint64_t value)
{
	assert_false(wr_faults(m, msr, value));
}

uint64_t rd(struct machine *m, uint32_t msr)
{
	uint64_t value = 0;

	assert_true(ptm_rdmsr(m->ptm, msr, &value));
	return value;
}

void single_range(struct machine *m, uint64_t base, uint64_t size)
{
	wr(m, OUTPUT_BASE, base);
	wr(m, OUTPUT_MASK, size - 1);
}

void start_at(struct machine *m, uint64_t ctl, const struct ptm_context *ctx, uint64_t nlip)
{
	wr(m, STATUS, 0);
	assert_true(ptm_wrmsr(m->ptm, CTL, ctl | TRACE_EN, ctx, nlip - 2, nlip));
}

void start(struct machine *m, uint64_t ctl)
{
	start_at(m, ctl, &kernel_ctx, KERN + 2);
}

void stop(struct machine *m)
{
	wr(m, CTL, 0);
}

void branch(struct machine *m, enum ptm_branch_kind kind, uint64_t from, uint64_t next,
	    uint64_t to)
{
	ptm_branch(m->ptm, kind, NULL, from, next, to);
}

void far_to(struct machine *m, enum ptm_branch_kind kind, const struct ptm_context *ctx,
	    uint64_t from, uint64_t to)
{
	ptm_branch(m->ptm, kind, ctx, from, from + 2, to);
}

void put64(struct machine *m, uint64_t at, uint64_t value)
{
	assert_true(in_ram(at, 8));
	for (int i = 0; i < 8; i++)
		m->ram[at + i] = value >> (8 * i);
}

uint64_t get64(const struct machine *m, uint64_t at)
{
	uint64_t value = 0;

	assert_true(in_ram(at, 8));
	for (int i = 7; i >= 0; i--)
		value = value << 8 | m->ram[at + i];
	return value;
}

uint64_t counter(struct machine *m, enum ptm_counter which)
{
	return rd(m, MSR_PTM_COUNTER + which);
}

void mark(struct machine *m)
{
	rd(m, OUTPUT_MASK);	/* reading it writes the staged bytes to memory */
	m->mark = m->tee_n;
}

static const char *const names[] = {
	[ppt_pad] = "PAD", [ppt_psb] = "PSB", [ppt_psbend] = "PSBEND", [ppt_fup] = "FUP",
	[ppt_tip] = "TIP", [ppt_tip_pge] = "PGE", [ppt_tip_pgd] = "PGD", [ppt_tnt_8] = "TNT",
	[ppt_mode] = "MODE", [ppt_pip] = "PIP", [ppt_cbr] = "CBR", [ppt_tsc] = "TSC",
	[ppt_tma] = "TMA", [ppt_mtc] = "MTC", [ppt_cyc] = "CYC", [ppt_stop] = "STOP",
	[ppt_ovf] = "OVF", [ppt_ptw] = "PTW",
};

static void show(const char *title, const uint8_t *bytes, size_t n)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;

	print_error("%s (%zu bytes):", title, n);
	pt_config_init(&config);
	/* The packet decoder only reads the bytes. */
	config.begin = (uint8_t *)bytes;
	config.end = config.begin + n;
	decoder = n ? pt_pkt_alloc_decoder(&config) : NULL;
	if (decoder && pt_pkt_sync_set(decoder, 0) >= 0) {
		while (pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0) {
			const char *name = packet.type < sizeof(names) / sizeof(names[0]) ?
					   names[packet.type] : NULL;

			print_error(" %s", name ? name : "?");
			if (packet.type >= ppt_fup && packet.type <= ppt_tip_pgd)
				print_error("(%d:%llx)", packet.payload.ip.ipc,
					    (unsigned long long)packet.payload.ip.ip);
		}
	}
	pt_pkt_free_decoder(decoder);
	print_error("\n   bytes:");
	for (size_t i = 0; i < n && i < 96; i++)
		print_error(" %02x", bytes[i]);
	print_error("\n");
}

void expect_bytes(struct machine *m, const uint8_t *bytes, size_t n)
{
	size_t got_n;

	rd(m, OUTPUT_MASK);
	got_n = m->tee_n - m->mark;
	if (got_n != n || (n && memcmp(m->tee + m->mark, bytes, n))) {
		show("model   ", m->tee + m->mark, got_n);
		show("expected", bytes, n);
		fail_msg("the model's packets are not the expected ones");
	}
}

void expect(struct machine *m, const struct pt_packet *packets, size_t n)
{
	struct pt_encoder *encoder;
	struct pt_config config;
	uint8_t want[4096];
	uint64_t want_n = 0;

	pt_config_init(&config);
	config.begin = want;
	config.end = want + sizeof(want);
	encoder = pt_alloc_encoder(&config);
	assert_non_null(encoder);
	for (size_t i = 0; i < n; i++)
		assert_true(pt_enc_next(encoder, &packets[i]) > 0);
	assert_int_equal(pt_enc_get_offset(encoder, &want_n), 0);
	pt_free_encoder(encoder);
	expect_bytes(m, want, want_n);
}
