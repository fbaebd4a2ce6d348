// SPDX-License-Identifier: GPL-2.0-only
#include <intel-pt.h>
#include <string.h>

#include "trace.h"
#include "uapi.h"

/* SDM, "IP Compression": the bits that a packet leaves out are those of the last IP. */
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

struct state {
	uint64_t offset;	/* of the packet */
	uint64_t last_ip;
	bool in_psb;		/* between PSB and PSBEND */
};

static void note_packet(struct walk *w, const struct pt_packet *packet, struct state *state)
{
	uint64_t *last_ip = &state->last_ip;

	switch (packet->type) {
	case ppt_psb:
		w->starts++;
		w->begins_window |= w->count == 0;
		*last_ip = 0;
		state->in_psb = true;
		break;
	case ppt_psbend:
		state->in_psb = false;
		break;
	case ppt_ovf:
		w->overflows++;
		break;
	case ppt_fup:
		update_ip(last_ip, &packet->payload.ip);
		if (!state->in_psb)
			w->last_user = *last_ip;
		break;
	case ppt_tip:
		update_ip(last_ip, &packet->payload.ip);
		if (w->want_ip && *last_ip == w->want_ip) {
			w->ip_hits++;
			w->last_hit = state->offset;
		}
		break;
	case ppt_tip_pgd:
		update_ip(last_ip, &packet->payload.ip);
		break;
	case ppt_tip_pge:
		update_ip(last_ip, &packet->payload.ip);
		if (!w->first_user)
			w->first_user = *last_ip;
		if (*last_ip >> 63)
			w->into_kernel++;
		else
			w->into_user++;
		break;
	case ppt_pip:
		if (w->cr3_mask &&
		    !((packet->payload.pip.cr3 ^ w->want_cr3) & w->cr3_mask))
			w->cr3_hits++;
		break;
	default:
		break;
	}
	w->count++;
}

void packets_walk(struct walk *w, const void *data, size_t len, bool sync)
{
	struct pt_packet_decoder *decoder;
	struct state state = { 0 };
	struct pt_config config;
	struct pt_packet packet;
	int status;

	pt_config_init(&config);
	config.begin = (uint8_t *)data;
	config.end = (uint8_t *)data + len;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		fail_msg("libipt: no packet decoder");

	status = sync ? pt_pkt_sync_forward(decoder) : pt_pkt_sync_set(decoder, 0);
	while (status >= 0) {
		pt_pkt_get_offset(decoder, &state.offset);
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status >= 0)
			note_packet(w, &packet, &state);
	}
	pt_pkt_free_decoder(decoder);
	w->end = state.offset;
	if (status != -pte_eos)
		w->error = pt_errstr(pt_errcode(status));
}
