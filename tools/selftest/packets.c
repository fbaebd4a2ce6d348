// SPDX-License-Identifier: GPL-2.0-only
#include <intel-pt.h>

#include "lib/tool.h"
#include "packets.h"

static void packets_add(struct packets *p, enum pt_packet_type type, uint64_t at)
{
	switch (type) {
	case ppt_psb:
		p->psbs++;
		p->last_psb = at;
		break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		p->tnts++;
		break;
	case ppt_tip:
		p->tips++;
		break;
	case ppt_cyc:
		p->cycs++;
		break;
	case ppt_mtc:
		p->mtcs++;
		break;
	case ppt_ptw:
		p->ptws++;
		break;
	case ppt_pwrx:
		p->pwrxs++;
		break;
	default:
		break;
	}
}

const char *packets_count(struct packets *p, const uint8_t *trace, size_t size)
{
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	struct pt_config config;
	uint64_t begin = 0, at = 0;
	int status;

	*p = (struct packets){ 0 };
	pt_config_init(&config);
	/* libipt's packet decoder only reads the bytes. */
	config.begin = (uint8_t *)trace;
	config.end = config.begin + size;
	decoder = pt_pkt_alloc_decoder(&config);
	if (!decoder)
		out_of_memory();
	status = pt_pkt_sync_forward(decoder);
	pt_pkt_get_offset(decoder, &begin);
	while (status >= 0) {
		pt_pkt_get_offset(decoder, &at);
		p->bytes = at - begin;
		status = pt_pkt_next(decoder, &packet, sizeof(packet));
		if (status >= 0)
			packets_add(p, packet.type, at - begin);
	}
	pt_pkt_free_decoder(decoder);
	return status == -pte_eos ? NULL : pt_errstr(pt_errcode(status));
}
