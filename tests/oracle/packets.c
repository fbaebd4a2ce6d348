// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdlib.h>

#include "packets.h"

static const struct kind {
	const char *name;
	enum pt_packet_type type;
} kinds[PACKET_KINDS] = {
	{ "psb", ppt_psb }, { "tnt", ppt_tnt_8 }, { "tip", ppt_tip },
	{ "pge", ppt_tip_pge }, { "pgd", ppt_tip_pgd }, { "fup", ppt_fup },
	{ "pip", ppt_pip }, { "tsc", ppt_tsc }, { "mtc", ppt_mtc }, { "cyc", ppt_cyc },
	{ "ptw", ppt_ptw }, { "ovf", ppt_ovf }, { "stop", ppt_stop },
};

/* The last state of CTC >> freq, from the packets of one queue. */
struct clock {
	bool known;
	uint64_t tsc, period;
	bool in_psb, unreported;	/* inside PSB+; no MTC before it reported the current period */
};

void packets_begin(struct packets *p)
{
	*p = (struct packets) { .cyc_least = UINT64_MAX };
}

/*
 * TSC and TMA report the same moment, and no MTC before them has a later period. MTCs
 * of a wrong frequency, or lost ones, lead to another period than the TSC's.
 */
static void see_tma(struct packets *p, struct clock *c, const struct ctc *ctc,
		    const struct pt_packet_tma *tma)
{
	uint64_t ticks = (unsigned __int128)c->tsc * ctc->art / ctc->tsc;
	/* TSC ticks since that tick of the CTC. */
	uint64_t fast = ((unsigned __int128)c->tsc * ctc->art % ctc->tsc) / ctc->art;

	p->off_clock += tma->ctc != (ticks & 0xffff) || tma->fc != fast;
	p->off_clock += c->known && ticks >> ctc->freq < c->period;
	c->unreported = ticks >> ctc->freq != c->period;
	c->period = ticks >> ctc->freq;
	c->known = true;
}

/* Eight bits of the period, sent when it begins, so never the same period twice. */
static void see_mtc(struct packets *p, struct clock *c, const struct pt_packet_mtc *mtc)
{
	uint8_t later = mtc->ctc - c->period;

	if (!c->known)
		return;
	p->off_clock += !later;
	c->period += later;
}

static void see(struct packets *p, struct clock *c, const struct ctc *ctc,
		const struct pt_packet *packet)
{
	for (unsigned int k = 0; k < PACKET_KINDS; k++)
		p->count[k] += packet->type == kinds[k].type;

	switch (packet->type) {
	case ppt_tnt_8:
	case ppt_tnt_64:
		p->tnt_bits += packet->payload.tnt.bit_size;
		break;
	case ppt_cyc:
		if (packet->payload.cyc.value < p->cyc_least)
			p->cyc_least = packet->payload.cyc.value;
		break;
	case ppt_psb:
		c->in_psb = true;
		break;
	case ppt_fup:
		/* A FUP means that branches were traced up to this PSB+: it is not at a start. */
		p->off_clock += c->in_psb && c->unreported;
		break;
	case ppt_psbend:
		c->in_psb = false;
		break;
	case ppt_tsc:
		c->tsc = packet->payload.tsc.tsc;
		break;
	case ppt_tma:
		if (ctc->tsc)
			see_tma(p, c, ctc, &packet->payload.tma);
		break;
	case ppt_mtc:
		if (ctc->tsc)
			see_mtc(p, c, &packet->payload.mtc);
		break;
	default:
		break;
	}
}

static void see_distance(struct packets *p, uint64_t from, uint64_t to)
{
	if (to - from > p->psb_farthest)
		p->psb_farthest = to - from;
}

void packets_add(struct packets *p, const struct pt_config *config, const struct ctc *ctc)
{
	struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
	uint64_t size = config->end - config->begin, psb = 0, at = 0;
	struct clock clock = { 0 };
	struct pt_packet packet;

	if (!decoder) {
		fprintf(stderr, "ptcount: libipt: no packet decoder\n");
		exit(2);
	}
	while (pt_pkt_sync_forward(decoder) >= 0) {
		while (pt_pkt_get_offset(decoder, &at) >= 0 &&
		       pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0) {
			if (packet.type == ppt_psb) {
				see_distance(p, psb, at);
				psb = at;
			}
			see(p, &clock, ctc, &packet);
		}
	}
	see_distance(p, psb, size);
	p->bytes += size;
	pt_pkt_free_decoder(decoder);
}

void packets_print(const struct packets *p, FILE *out)
{
	fprintf(out, "packets");
	for (unsigned int k = 0; k < PACKET_KINDS; k++)
		fprintf(out, " %s %" PRIu64, kinds[k].name, p->count[k]);
	fprintf(out, " bytes %" PRIu64 " tnt-bits %" PRIu64 " psb-farthest %" PRIu64
		" cyc-least %" PRIu64 " off-clock %" PRIu64 "\n", p->bytes, p->tnt_bits,
		p->psb_farthest, p->cyc_least == UINT64_MAX ? 0 : p->cyc_least, p->off_clock);
}
