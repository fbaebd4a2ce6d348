// SPDX-License-Identifier: GPL-2.0
#include <intel-pt.h>
#include <string.h>

#include "packets.h"
#include "uapi.h"

/* IP compression (SDM, "IP Compression"): what a packet leaves out is of the last IP. */
static void update_ip(uint64_t *last, const struct pt_packet_ip *ip)
{
	switch (ip->ipc) {
	case pt_ipc_update_16:
		*last = (*last & ~0xffffULL) | (ip->ip & 0xffff);
		break;
	case pt_ipc_update_32:
		*last = (*last & ~0xffffffffULL) | (ip->ip & 0xffffffff);
		break;
	case pt_ipc_update_48:
		*last = (*last & ~0xffffffffffffULL) | (ip->ip & 0xffffffffffff);
		break;
	case pt_ipc_sext_48:
		*last = (uint64_t)((int64_t)(ip->ip << 16) >> 16);
		break;
	case pt_ipc_full:
		*last = ip->ip;
		break;
	case pt_ipc_suppressed:
		break;
	}
}

struct walk {
	uint64_t last_ip;
	bool in_psb;		/* between PSB and PSBEND */
};

static void note_packet(struct packets *p, const struct pt_packet *packet, struct walk *walk)
{
	uint64_t *last_ip = &walk->last_ip;

	switch (packet->type) {
	case ppt_psb:
		p->psbs++;
		p->begins_with_psb |= p->count == 0;
		*last_ip = 0;
		walk->in_psb = true;
		break;
	case ppt_psbend:
		walk->in_psb = false;
		break;
	case ppt_ovf:
		p->overflows++;
		break;
	case ppt_fup:
		update_ip(last_ip, &packet->payload.ip);
		if (!walk->in_psb)
			p->last_fup = *last_ip;
		break;
	case ppt_tip:
	case ppt_tip_pgd:
		update_ip(last_ip, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		update_ip(last_ip, &packet->payload.ip);
		if (!p->first_enable)
			p->first_enable = *last_ip;
		if (*last_ip >> 63)
			p->enables_kernel++;
		else
			p->enables_user++;
		break;
	case ppt_pip:
		if (p->cr3_mask &&
		    !((packet->payload.pip.cr3 ^ p->want_cr3) & p->cr3_mask))
			p->cr3_hits++;
		break;
	default:
		break;
	}
	p->count++;
}

void packets_walk(struct packets *p, const void *data, size_t len, bool sync)
{
	uint64_t want_cr3 = p->want_cr3, cr3_mask = p->cr3_mask;
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	struct pt_packet packet;
	struct walk walk = { 0 };
	uint64_t offset = 0;

	memset(p, 0, sizeof(*p));
	p->want_cr3 = want_cr3;
	p->cr3_mask = cr3_mask;
	if (!len)
		return;

	pt_config_init(&config);
	config.begin = (uint8_t *)data;
	config.end = (uint8_t *)data + len;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		fail_msg("libipt: no packet decoder");

	p->error = sync ? pt_pkt_sync_forward(decoder) : pt_pkt_sync_set(decoder, 0);
	while (p->error >= 0) {
		pt_pkt_get_offset(decoder, &offset);
		p->error = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (p->error >= 0)
			note_packet(p, &packet, &walk);
	}
	pt_pkt_free_decoder(decoder);
	p->end = offset;
	if (p->error == -pte_eos)
		p->error = 0;
}

void packets_check_window(struct packets *p, const void *data, size_t len, const char *what)
{
	packets_walk(p, data, len, false);
	if (p->error)
		fail_msg("%s: byte %zu of %zu: %s", what, p->end, len,
			 pt_errstr(pt_errcode(p->error)));
	if (p->end != len)
		fail_msg("%s: the packet at byte %zu of %zu is cut off", what, p->end, len);
	if (!p->begins_with_psb)
		fail_msg("%s: %zu bytes do not begin with PSB", what, len);
}
