// SPDX-License-Identifier: GPL-2.0-only
#include "event_trace.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* SDM volume 3, "Packet Definitions" */
#define EXT		0x02
#define EXT_CFE		0x13
#define EXT_EVD		0x53
#define EXT_EXSTOP_IP	0xe2
#define EXSTOP_SIZE	2
#define CFE_SIZE	4
#define CFE_TYPE	0x1f
#define CFE_IP		0x80
#define EVD_SIZE	11
#define EVD_TYPE	0x3f
#define MODE_LEAF	0xe0	/* 0: Exec */
#define MODE_IF		0x04

void event_packets_init(struct event_packets *list)
{
	*list = (struct event_packets){ .iflag = -1 };
}

void event_packets_add(struct event_packets *list, const struct event_packet *packet)
{
	if (list->n == list->room) {
		list->room = 2 * list->room + 64;
		list->at = realloc(list->at, list->room * sizeof(*list->at));
		assert_non_null(list->at);
	}
	list->at[list->n++] = *packet;
}

void event_packets_iflag(struct event_packets *list, bool iflag)
{
	if (list->iflag == iflag)
		return;
	list->iflag = iflag;
	event_packets_add(list, &(struct event_packet){ .what = EVENT_IFLAG, .value = iflag });
}

void event_packets_free(struct event_packets *list)
{
	free(list->at);
}

struct taker {
	struct event_packets *list;
	bool in_psb;
	uint8_t *mode;		/* a MODE.Exec, until its IP packet comes */
	uint8_t *exstop;	/* what stands for a CFE, until its FUP comes */
};

static void put_exstop(uint8_t *at)
{
	at[0] = EXT;
	at[1] = EXT_EXSTOP_IP;
}

static size_t take_cfe(struct taker *t, uint8_t *at)
{
	event_packets_add(t->list, &(struct event_packet){
		.what = EVENT_CFE, .type = at[2] & CFE_TYPE, .ip = at[2] & CFE_IP, .value = at[3] });
	t->exstop = at[2] & CFE_IP ? at : NULL;
	memset(at, 0, CFE_SIZE);
	if (t->exstop)
		put_exstop(at);
	return CFE_SIZE;
}

static size_t take_evd(struct taker *t, uint8_t *at)
{
	struct event_packet evd = { .what = EVENT_EVD, .type = at[2] & EVD_TYPE };

	memcpy(&evd.value, at + 3, sizeof(evd.value));
	event_packets_add(t->list, &evd);
	memset(at, 0, EVD_SIZE);
	return EVD_SIZE;
}

/* An overflow has dropped what these wait for. */
static void overflow(struct taker *t)
{
	if (t->exstop)
		memset(t->exstop, 0, EXSTOP_SIZE);
	t->exstop = t->mode = NULL;
}

static void pass(struct taker *t, uint8_t *at, enum pt_packet_type type)
{
	switch (type) {
	case ppt_psb:
		/* A CFE and its FUP are one group. */
		assert_null(t->exstop);
		t->mode = NULL;
		t->in_psb = true;
		break;
	case ppt_psbend:
		t->in_psb = false;
		break;
	case ppt_ovf:
		overflow(t);
		t->in_psb = false;
		break;
	case ppt_mode:
		if (at[1] & MODE_LEAF)
			break;
		event_packets_iflag(t->list, at[1] & MODE_IF);
		t->mode = t->in_psb ? NULL : at;
		break;
	case ppt_fup:
		if (t->mode)
			put_exstop(t->mode);
		t->mode = t->exstop = NULL;
		break;
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		t->mode = NULL;
		break;
	default:
		break;
	}
}

void event_packets_take(struct event_packets *list, uint8_t *stream, size_t len)
{
	struct taker t = { .list = list };
	struct pt_packet_decoder *decoder;
	struct pt_config config;
	size_t at = 0;

	pt_config_init(&config);
	config.begin = stream;
	config.end = stream + len;
	decoder = pt_pkt_alloc_decoder(&config);
	assert_non_null(decoder);
	while (at < len) {
		uint8_t *bytes = stream + at;
		size_t left = len - at;
		struct pt_packet packet;

		if (left >= CFE_SIZE && bytes[0] == EXT && bytes[1] == EXT_CFE) {
			at += take_cfe(&t, bytes);
		} else if (left >= EVD_SIZE && bytes[0] == EXT && bytes[1] == EXT_EVD) {
			at += take_evd(&t, bytes);
		} else {
			int size = pt_pkt_sync_set(decoder, at);

			if (size >= 0)
				size = pt_pkt_next(decoder, &packet, sizeof(packet));
			if (size <= 0)
				fail_msg("%s at byte %zu of %zu", pt_errstr(pt_errcode(size)), at, len);
			pass(&t, bytes, packet.type);
			at += size;
		}
	}
	pt_pkt_free_decoder(decoder);
}
