// SPDX-License-Identifier: GPL-2.0-or-later
/* Encodes each packet (SDM, Intel PT, "Packet Definitions"). */
#include <string.h>

#include "state.h"

static void put_le(uint8_t *to, uint64_t value, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++)
		to[i] = value >> (8 * i);
}

/* Counts packets that enter the stream, not those that an overflow drops. */
static void emit(struct ptm *p, enum ptm_counter kind, const uint8_t *packet, unsigned int n)
{
	if (p->trigger_en && !p->overflow)
		p->count[kind]++;
	ptm_output(p, packet, n);
}

void ptm_tnt_packet(struct ptm *p, uint8_t bits, unsigned int n)
{
	/* Bit 0 is the header, bit 1 the newest branch; the stop bit is above the oldest. */
	uint8_t byte = (1U << n | bits) << 1;

	emit(p, PTM_N_TNT, &byte, 1);
}

/* "IP Compression": the low two bits of IPBytes count 16-bit units. */
static void put_ip(struct ptm *p, enum ptm_counter kind, uint8_t opcode, uint64_t ip)
{
	uint8_t packet[9];
	uint64_t differs = ip ^ p->last_ip;
	unsigned int code, bytes;

	if (p->ip_full)
		differs = ~0ULL;

	if (!(differs >> 16)) {
		code = 1;
		bytes = 2;
	} else if (!(differs >> 32)) {
		code = 2;
		bytes = 4;
	} else if ((uint64_t)((int64_t)(ip << 16) >> 16) == ip) {
		code = 3;	/* 48 bits, sign-extended */
		bytes = 6;
	} else {
		code = 6;
		bytes = 8;
	}

	packet[0] = opcode | code << 5;
	put_le(packet + 1, ip, bytes);
	p->last_ip = ip;
	p->ip_full = false;
	emit(p, kind, packet, bytes + 1);
}

void ptm_tip(struct ptm *p, uint64_t ip)
{
	put_ip(p, PTM_N_TIP, 0x0d, ip);
}

void ptm_pge(struct ptm *p, uint64_t ip)
{
	put_ip(p, PTM_N_PGE, 0x11, ip);
}

void ptm_pgd(struct ptm *p, uint64_t ip)
{
	put_ip(p, PTM_N_PGD, 0x01, ip);
}

/* IPBytes 0: the IP is suppressed; LastIP is unchanged. */
void ptm_pgd_no_ip(struct ptm *p)
{
	static const uint8_t packet[] = { 0x01 };

	emit(p, PTM_N_PGD, packet, sizeof(packet));
}

void ptm_fup(struct ptm *p, uint64_t ip)
{
	put_ip(p, PTM_N_FUP, 0x1d, ip);
}

void ptm_pip(struct ptm *p)
{
	uint8_t packet[8] = { 0x02, 0x43 };

	/* Bit 0 is NR; it is never set, as the CPU has no VMX. */
	put_le(packet + 2, p->ctx.cr3 >> 5 << 1, 6);
	p->psb_forced |= p->overflow;
	emit(p, PTM_N_PIP, packet, sizeof(packet));
}

/* IF is there only with EventEn. */
static int mode_of(const struct ptm *p)
{
	const struct ptm_context *ctx = &p->ctx;

	return (ctx->cs_l ? 1 : ctx->cs_d ? 2 : 0) |
	       (ctx->iflag && (p->ctl & CTL_EVENT_EN) ? MODE_IF : 0);
}

void ptm_mode_exec(struct ptm *p)
{
	uint8_t packet[2] = { 0x99, mode_of(p) };

	p->mode_sent = packet[1];
	p->psb_forced |= p->overflow;
	emit(p, PTM_N_MODE, packet, sizeof(packet));
}

bool ptm_mode_changed(const struct ptm *p)
{
	return p->mode_sent != mode_of(p);
}

void ptm_mode_exec_if_changed(struct ptm *p)
{
	if (ptm_mode_changed(p))
		ptm_mode_exec(p);
}

void ptm_psb(struct ptm *p)
{
	uint8_t packet[16];

	for (unsigned int i = 0; i < sizeof(packet); i += 2) {
		packet[i] = 0x02;
		packet[i + 1] = 0x82;
	}
	p->psb_forced |= p->overflow;
	emit(p, PTM_N_PSB, packet, sizeof(packet));
}

void ptm_psbend(struct ptm *p)
{
	static const uint8_t packet[] = { 0x02, 0x23 };

	ptm_output(p, packet, sizeof(packet));
}

void ptm_ovf(struct ptm *p)
{
	static const uint8_t packet[] = { 0x02, 0xf3 };

	emit(p, PTM_N_OVF, packet, sizeof(packet));
}

void ptm_stop(struct ptm *p)
{
	static const uint8_t packet[] = { 0x02, 0x83 };

	emit(p, PTM_N_STOP, packet, sizeof(packet));
}

void ptm_tsc(struct ptm *p, uint64_t tsc)
{
	uint8_t packet[8] = { 0x19 };

	put_le(packet + 1, tsc, 7);
	emit(p, PTM_N_TSC, packet, sizeof(packet));
}

void ptm_tma(struct ptm *p, uint16_t ctc, uint16_t fast)
{
	uint8_t packet[7] = { 0x02, 0x73 };

	put_le(packet + 2, ctc, 2);
	put_le(packet + 5, fast & 0x1ff, 2);
	emit(p, PTM_N_TMA, packet, sizeof(packet));
}

void ptm_mtc(struct ptm *p, uint8_t ctc)
{
	uint8_t packet[2] = { 0x59, ctc };

	emit(p, PTM_N_MTC, packet, sizeof(packet));
}

void ptm_cbr(struct ptm *p)
{
	uint8_t packet[4] = { 0x02, 0x03, p->profile->core_ratio, 0 };

	emit(p, PTM_N_CBR, packet, sizeof(packet));
}

/* Five bits in the first byte, seven in each further one; Exp is set if another follows. */
void ptm_cyc(struct ptm *p, uint64_t cycles)
{
	uint8_t packet[10];
	unsigned int n = 0;

	packet[n++] = (cycles & 0x1f) << 3 | (cycles >> 5 ? 0x04 : 0) | 0x03;
	cycles >>= 5;
	while (cycles) {
		packet[n++] = (cycles & 0x7f) << 1 | (cycles >> 7 ? 0x01 : 0);
		cycles >>= 7;
	}
	emit(p, PTM_N_CYC, packet, n);
}

void ptm_ptw(struct ptm *p, uint64_t value, bool is64, bool fup)
{
	unsigned int bytes = is64 ? 8 : 4;
	uint8_t packet[10] = { 0x02, fup << 7 | is64 << 5 | 0x12 };

	put_le(packet + 2, value, bytes);
	emit(p, PTM_N_PTW, packet, bytes + 2);
}

/* Eight bits of the hints and two of the extensions; the other bits are reserved. */
void ptm_mwait_packet(struct ptm *p, uint32_t hints, uint32_t extensions)
{
	uint8_t packet[10] = { 0x02, 0xc2, [2] = hints, [6] = extensions & 3 };

	emit(p, PTM_N_MWAIT, packet, sizeof(packet));
}

/* Bit 7 of the first payload byte would mean an entry that no software asked for. */
void ptm_pwre(struct ptm *p, uint8_t state)
{
	uint8_t packet[4] = { 0x02, 0x22, [3] = state };

	emit(p, PTM_N_PWRE, packet, sizeof(packet));
}

void ptm_exstop(struct ptm *p, bool fup)
{
	uint8_t packet[2] = { 0x02, fup << 7 | 0x62 };

	emit(p, PTM_N_EXSTOP, packet, sizeof(packet));
}

/* The core never sleeps deeper than its only thread, so both of its C-states are @state's. */
void ptm_pwrx(struct ptm *p, uint8_t state)
{
	uint8_t core = state >> 4;
	uint8_t packet[7] = { 0x02, 0xa2, [2] = core << 4 | core, [3] = WAKE_INTERRUPT };

	emit(p, PTM_N_PWRX, packet, sizeof(packet));
}

void ptm_cfe(struct ptm *p, uint8_t type, uint8_t vector, bool fup)
{
	uint8_t packet[4] = { 0x02, 0x13, fup << 7 | type, vector };

	emit(p, PTM_N_CFE, packet, sizeof(packet));
}

void ptm_evd(struct ptm *p, uint8_t type, uint64_t value)
{
	uint8_t packet[11] = { 0x02, 0x53, type };

	put_le(packet + 3, value, 8);
	emit(p, PTM_N_EVD, packet, sizeof(packet));
}
