// SPDX-License-Identifier: LGPL-2.1-or-later
#include "pt_events.h"

#include <stdlib.h>
#include <string.h>

#include "pt_packets.h"
#include "userlib/search.h"

/* SDM volume 3, "Packet Definitions" */
#define CFE_SIZE	4
#define EVD_SIZE	11
#define MODE_SIZE	2
#define EXSTOP_SIZE	2
#define HAS_IP		0x80	/* of CFE and EXSTOP: a FUP follows */
#define TYPE		0x1f	/* of CFE; EVD's has a bit more */
#define EVD_TYPE	0x3f
#define EXSTOP		0x62	/* behind 02 */
#define MODE_IF		0x04
#define MODE_CS		0x03	/* CS.D and CS.L */
#define MODE_LEAF	0xe0	/* 0: Exec */

struct search {
	struct pt_events *events;
	uint8_t *begin;		/* of the trace */
	uint64_t last_ip;
	uint64_t psb;		/* offset of the last one */
	bool in_psb;
	int cs, iflag;		/* of the last MODE.Exec; -1: not known */
	/* Packets that wait for the IP packet which they are bound to: */
	bool has_cfe, cfe_fup;
	uint8_t *cfe_exstop;	/* what stands for it in the trace, with @cfe_fup */
	struct cpu_event cfe;	/* or only the EVDs before it */
	uint64_t mode;		/* offset of a MODE.Exec; 0: there is none */
	bool exstop;		/* a real EXSTOP, with a FUP */
};

static void add(struct search *s, const struct pt_traced_event *event)
{
	struct pt_events *e = s->events;

	list_grow(e->event, e->count);
	e->event[e->count++] = *event;
}

static void forget(struct search *s)
{
	s->has_cfe = s->exstop = false;
	s->cfe.nr_data = 0;
	s->mode = 0;
}

static void restart(struct search *s)
{
	forget(s);
	s->in_psb = false;
	s->last_ip = 0;
	s->cs = -1;
}

/* ---- packets that are bound to an IP packet --------------------------------------- */

/* The FUP of the CFE that waits does not come: libipt would take the next one for it. */
static void drop_exstop(struct search *s)
{
	if (s->cfe_fup)
		memset(s->cfe_exstop, 0, EXSTOP_SIZE);
	s->cfe_fup = false;
}

/* The CFE that waits has no IP packet behind it. What is at @offset may be another window's. */
static void cfe_alone(struct search *s, uint64_t offset)
{
	if (!s->has_cfe)
		return;
	drop_exstop(s);
	add(s, &(struct pt_traced_event){ .offset = offset - 1, .event = s->cfe });
	s->has_cfe = false;
	s->cfe.nr_data = 0;
}

static void read_evd(struct search *s, uint8_t *at)
{
	struct cpu_event *e = &s->cfe;

	cfe_alone(s, at - s->begin);
	if (e->nr_data < ARRAY_SIZE(e->data)) {
		e->data[e->nr_data].type = at[2] & EVD_TYPE;
		memcpy(&e->data[e->nr_data++].value, at + 3, 8);
	}
	memset(at, 0, EVD_SIZE);
}

static void read_cfe(struct search *s, uint8_t *at)
{
	cfe_alone(s, at - s->begin);
	s->cfe.what = CPU_CFE;
	s->cfe.type = at[2] & TYPE;
	s->cfe.vector = at[3];
	s->cfe.known = false;
	s->cfe.ip = 0;
	s->cfe_fup = at[2] & HAS_IP;
	s->has_cfe = true;
	memset(at, 0, CFE_SIZE);
	if (s->cfe_fup) {
		at[0] = 0x02;
		at[1] = EXSTOP | HAS_IP;
		s->cfe_exstop = at;
	}
}

static void read_mode(struct search *s, const uint8_t *at)
{
	if (at[1] & MODE_LEAF)
		return;
	if (s->in_psb) {
		s->cs = at[1] & MODE_CS;
		s->iflag = !!(at[1] & MODE_IF);
	} else {
		s->mode = at - s->begin;
	}
}

/* The area was full behind a MODE.Exec, before its IP packet. From 2.1 on, libipt takes that for an error. */
static void drop_mode(struct search *s)
{
	if (s->mode)
		memset(s->begin + s->mode, 0, MODE_SIZE);
}

static void read_exstop(struct search *s, const uint8_t *at)
{
	if (at[1] & HAS_IP)
		s->exstop = true;
	else
		add(s, &(struct pt_traced_event){ .offset = at - s->begin, .exstop = true, .real = true });
}

/* ---- IP packets ------------------------------------------------------------------- */

/* MODE.Exec, which is bound to the packet at @offset. The flag that a trace begins with is no change. */
static void bind_mode(struct search *s, uint64_t offset, bool fup)
{
	uint8_t *at = s->begin + s->mode;
	int iflag = !!(at[1] & MODE_IF), cs = at[1] & MODE_CS;

	if (s->iflag >= 0 && iflag != s->iflag)
		add(s, &(struct pt_traced_event){
			.offset = offset,
			.exstop = fup,
			.event = { .what = CPU_IFLAG, .iflag = iflag, .known = fup, .ip = fup ? s->last_ip : 0 },
		});
	else if (fup)
		/* Said again. libipt's EXSTOP there is none to be told of. */
		add(s, &(struct pt_traced_event){
			.offset = offset, .exstop = true, .event = { .what = CPU_NOTHING, .known = true, .ip = s->last_ip } });
	/* If it says no more than the flag, the flow needs it no longer. */
	if (fup || cs == s->cs)
		memset(at, 0, MODE_SIZE);
	if (fup) {
		at[0] = 0x02;
		at[1] = EXSTOP | HAS_IP;
	}
	s->cs = cs;
	s->iflag = iflag;
	s->mode = 0;
}

static void bind_cfe(struct search *s, uint64_t offset, bool fup)
{
	if (!fup)
		drop_exstop(s);
	s->cfe.known = fup;
	s->cfe.ip = fup ? s->last_ip : 0;
	add(s, &(struct pt_traced_event){ .offset = offset, .exstop = s->cfe_fup, .event = s->cfe });
	s->has_cfe = false;
	s->cfe.nr_data = 0;
}

/* The IP packet that is first behind them is at @offset; its address is the last IP. */
static void read_ip(struct search *s, const struct pt_packet *p, uint64_t offset)
{
	bool fup = p->type == ppt_fup;

	if (!packets_update_ip(&s->last_ip, &p->payload.ip))
		fup = false;
	if (s->in_psb)
		return;
	if (s->exstop && fup)
		add(s, &(struct pt_traced_event){
			.offset = offset, .exstop = true, .real = true, .event = { .known = true, .ip = s->last_ip } });
	s->exstop = false;
	/* A branch's FUP may follow one of a CFE. */
	if (s->has_cfe)
		bind_cfe(s, offset, fup);
	if (s->mode)
		bind_mode(s, offset, fup);
}

static void read_packet(struct search *s, const struct pt_packet *p, uint64_t offset)
{
	switch (p->type) {
	case ppt_psb:
		s->psb = offset;
		cfe_alone(s, offset);
		drop_mode(s);
		forget(s);
		s->in_psb = true;
		s->last_ip = 0;
		/* Who begins to decode here knows no mode before the next MODE.Exec, even if it is the same. */
		s->cs = -1;
		break;
	case ppt_psbend:
		s->in_psb = false;
		break;
	case ppt_ovf:
		cfe_alone(s, offset);
		forget(s);
		s->in_psb = false;
		break;
	case ppt_fup:
	case ppt_tip:
	case ppt_tip_pge:
	case ppt_tip_pgd:
		read_ip(s, p, offset);
		break;
	case ppt_tnt_8:
	case ppt_tnt_64:
		cfe_alone(s, offset);
		break;
	default:
		break;
	}
}

/* ---- the trace -------------------------------------------------------------------- */

/*
 * Has the end of a full area cut the packet @at off? The PSB of the next window follows the rest of it. Returns the
 * size of that rest, which becomes PADs; 0: the packet is whole.
 */
static size_t cut_rest(uint8_t *at, size_t size, size_t left)
{
	for (size_t rest = 1; rest < size && rest <= left; rest++)
		if (packets_is_psb(at + rest, left - rest)) {
			memset(at, 0, rest);
			return rest;
		}
	return 0;
}

/* The size of the packet @at if it is of event trace, or like it; 0: it is another, or cut off. */
static size_t read_event_packet(struct search *s, uint8_t *at, size_t left)
{
	if (left >= MODE_SIZE && at[0] == 0x99) {
		if (cut_rest(at, MODE_SIZE, left))
			return 1;
		read_mode(s, at);
		return MODE_SIZE;
	}
	if (left < 2 || at[0] != 0x02)
		return 0;
	if (at[1] == 0x13 && left >= CFE_SIZE) {
		size_t rest = cut_rest(at, CFE_SIZE, left);

		if (!rest)
			read_cfe(s, at);
		return rest ?: CFE_SIZE;
	}
	if (at[1] == 0x53 && left >= EVD_SIZE) {
		size_t rest = cut_rest(at, EVD_SIZE, left);

		if (!rest)
			read_evd(s, at);
		return rest ?: EVD_SIZE;
	}
	if ((at[1] & ~HAS_IP) == EXSTOP) {
		read_exstop(s, at);
		return 2;
	}
	return 0;
}

void pt_events_find(struct pt_events *events, const struct pt_config *config)
{
	struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
	struct search s = { .events = events, .begin = config->begin, .iflag = -1 };
	uint64_t from = 0;
	int64_t psb;

	*events = (struct pt_events){ 0 };
	if (!decoder)
		out_of_memory();
	while ((psb = packets_next_psb(config, from)) >= 0) {
		uint64_t offset = psb;

		restart(&s);
		s.psb = psb;
		for (;;) {
			uint8_t *at = config->begin + offset;
			struct pt_packet packet;
			size_t size = 0;

			/* Most packets are of these: libipt's reader takes longer. */
			while (at < config->end && (!*at || (!(*at & 1) && *at != 0x02 && !s.has_cfe)))
				at++;
			offset = at - config->begin;
			size = read_event_packet(&s, at, config->end - at);
			if (!size) {
				pt_pkt_sync_set(decoder, offset);
				if (pt_pkt_next(decoder, &packet, sizeof(packet)) < 0) {
					cfe_alone(&s, offset);
					break;
				}
				read_packet(&s, &packet, offset);
				size = packet.size;
			}
			offset += size;
		}
		from = packets_resync(offset, s.psb);
	}
	cfe_alone(&s, config->end - config->begin);
	pt_pkt_free_decoder(decoder);
}

void pt_events_free(struct pt_events *events)
{
	free(events->event);
	*events = (struct pt_events){ 0 };
}

size_t pt_events_first(const struct pt_events *events, uint64_t offset)
{
	size_t i;

	find_first(i, events->count, events->event[i].offset >= offset);
	return i;
}
