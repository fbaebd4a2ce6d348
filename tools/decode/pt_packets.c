// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "code_image.h"
#include "lib/tool.h"
#include "pt_packets.h"
#include "records.h"
#include "userlib/search.h"

/* ---- IPs ---------------------------------------------------------------- */

/* SDM volume 3, "IP Compression": payloads replace the low bits of the last IP. */
bool packets_update_ip(uint64_t *last, const struct pt_packet_ip *ip)
{
	switch (ip->ipc) {
	case pt_ipc_suppressed:
		return false;
	case pt_ipc_update_16:
		*last = (*last & ~0xffffull) | ip->ip;
		break;
	case pt_ipc_update_32:
		*last = (*last & ~0xffffffffull) | ip->ip;
		break;
	case pt_ipc_update_48:
		*last = (*last & ~0xffffffffffffull) | ip->ip;
		break;
	case pt_ipc_sext_48:
		*last = (uint64_t)((int64_t)(ip->ip << 16) >> 16);
		break;
	case pt_ipc_full:
		*last = ip->ip;
		break;
	}
	return true;
}

/* ---- PSBs --------------------------------------------------------------- */

static const uint8_t whole_psb[PSB_SIZE] = { 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82, 2, 0x82 };

bool packets_is_psb(const uint8_t *at, size_t left)
{
	return left >= PSB_SIZE && !memcmp(at, whole_psb, PSB_SIZE);
}

static bool continues_psb(const uint8_t *at, const uint8_t *end)
{
	return end - at >= 2 && at[0] == 0x02 && at[1] == 0x82;
}

int64_t packets_next_psb(const struct pt_config *config, uint64_t offset)
{
	const uint8_t *at = memmem(config->begin + offset, config->end - config->begin - offset, whole_psb, PSB_SIZE);

	if (!at)
		return -pte_eos;
	/* Before it, the end of a full area may have cut another PSB. */
	while (continues_psb(at + PSB_SIZE, config->end))
		at += 2;
	return at - config->begin;
}

uint64_t packets_resync(uint64_t offset, uint64_t psb)
{
	uint64_t from = offset < PSB_SIZE ? 0 : offset - (PSB_SIZE - 1);

	return from > psb ? from : psb + 1;
}

int64_t packets_last_psb(const struct pt_config *config, uint64_t offset)
{
	struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
	uint64_t psb = 0;
	int status;

	if (!decoder)
		out_of_memory();
	status = pt_pkt_sync_set(decoder, offset);
	if (status >= 0)
		status = pt_pkt_sync_backward(decoder);
	if (status >= 0)
		status = pt_pkt_get_offset(decoder, &psb);
	pt_pkt_free_decoder(decoder);
	return status < 0 ? status : (int64_t)psb;
}

/* ---- windows ------------------------------------------------------------ */

static void add_window(struct windows *w, uint64_t begin)
{
	list_grow(w->window, w->count);
	w->window[w->count++] = (struct window){ .begin = begin, .enables = w->nr_enables };
}

static void add_enable(struct windows *w, uint64_t offset)
{
	list_grow(w->enable, w->nr_enables);
	w->enable[w->nr_enables++] = offset;
}

size_t windows_enables(const struct windows *w, uint64_t offset)
{
	size_t i;

	find_first(i, w->nr_enables, w->enable[i] >= offset);
	return i;
}

/* Are packets enabled (PacketEn)? track_enable() follows it from packet to packet. */
struct enable {
	bool on, in_psb, fup_in_psb, after_ovf;
};

static void track_enable(struct enable *e, const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_psb:
		e->in_psb = true;
		e->fup_in_psb = false;
		break;
	case ppt_psbend:
		/* PSB+ has a FUP if and only if packets are enabled. */
		e->on = e->fup_in_psb;
		e->in_psb = false;
		break;
	case ppt_tip_pge:
		e->on = true;
		e->after_ovf = false;
		break;
	case ppt_tip_pgd:
		e->on = false;
		break;
	case ppt_ovf:
		/* A FUP follows if packets are enabled, otherwise a TIP.PGE. */
		e->on = false;
		e->in_psb = false;
		e->after_ovf = true;
		break;
	case ppt_fup:
		if (e->in_psb)
			e->fup_in_psb = true;
		else if (e->after_ovf)
			e->on = true;
		e->after_ovf = false;
		break;
	case ppt_exstop:
		/* Its FUP, or that of an event (pt_events.c), is not the overflow's. */
		e->after_ovf &= !p->payload.exstop.ip;
		break;
	default:
		break;
	}
}

/*
 * Number windows without records. The status page has the position of the newest window;
 * the others follow by counting back, if nothing else can look like a window's begin.
 */
static void number_windows(struct windows *w, const struct meta_cpu *cpu, bool all_code)
{
	size_t newest = w->count;

	for (size_t i = 0; i < w->count; i++)
		if (cpu->origin + w->window[i].begin == cpu->window_begin)
			newest = i;
	/* A snapshot does not have that position, but its last window is the newest. */
	if (cpu->window_begin == UINT64_MAX && all_code && w->count)
		newest = w->count - 1;
	/* The only window, whose begin was overwritten. */
	if (w->count == 1 && cpu->window_begin < cpu->begin)
		newest = 0;
	if (cpu->begin)
		w->exact = newest + 1 == w->count && w->count <= cpu->windows &&
			   (all_code || w->count == 1);
	else
		w->exact = w->count == cpu->windows;
	if (w->exact)
		for (size_t i = 0; i < w->count; i++)
			w->window[i].seq = cpu->windows - (w->count - 1 - i);
	else if (newest < w->count)
		w->window[newest].seq = cpu->windows;
}

/*
 * Number windows by WINDOW records, and drop PSBs within a window. Returns false, without a
 * change, if records are missing.
 */
static bool number_by_records(struct windows *w, const struct meta_cpu *cpu, const struct records *r)
{
	const struct auxtrace_record_window *newest;
	uint64_t *seq;
	size_t kept = 0;

	if (!r->nr_windows || r->lost)
		return false;
	newest = r->window[r->nr_windows - 1];
	seq = xcalloc(w->count, sizeof(*seq));
	for (size_t i = 0; i < w->count; i++) {
		uint64_t position = cpu->origin + w->window[i].begin;
		const struct auxtrace_record_window *found = records_within(r, position);

		/* The begin of the first window may be overwritten; later ones are complete. */
		if (found && (found->begin == position || (!i && found->begin < cpu->begin)))
			seq[i] = found->window;
		else if (!found && position >= newest->end_position && cpu->windows == newest->window + 1)
			/* The window that was open at the end; it has one begin. */
			seq[i] = i && seq[i - 1] > newest->window ? 0 : cpu->windows;
		else if (!found)
			break;
		kept = i + 1;
	}
	if (kept < w->count) {
		free(seq);
		return false;
	}
	kept = 0;
	for (size_t i = 0; i < w->count; i++) {
		if (!seq[i])
			continue;
		w->window[kept] = w->window[i];
		w->window[kept++].seq = seq[i];
	}
	w->count = kept;
	w->exact = true;
	free(seq);
	return true;
}

/* The size of a packet at @at that has nothing to do with windows: most have not. 0: it may have, or is cut off. */
static size_t size_of_other(const uint8_t *at, size_t left)
{
	static const uint8_t tip_size[8] = { 1, 3, 5, 7, 7, 0, 9, 0 };	/* 0: there is no such packet */
	size_t size = 0;

	if (!(*at & 1))			/* PAD, short TNT; 02 begins another */
		size = *at != 0x02;
	else if ((*at & 0x1f) == 0x0d)	/* TIP */
		size = tip_size[*at >> 5];
	else if (*at == 0x59)		/* MTC */
		size = 2;
	else if (*at == 0x19)		/* TSC */
		size = 8;
	return size <= left ? size : 0;
}

/* The offset of the next packet from @offset on that may have to do with windows. */
static uint64_t skip_others(const struct pt_config *config, uint64_t offset)
{
	const uint8_t *at = config->begin + offset;
	size_t size;

	while (at < config->end && (size = size_of_other(at, config->end - at)))
		at += size;
	return at - config->begin;
}

struct search {
	struct windows *windows;
	const struct pt_config *config;
	const struct meta_cpu *cpu;
	const struct records *records;
	struct enable enable;
	uint64_t psb;		/* the last one that was read */
};

static void note_psb(struct search *s, uint64_t offset)
{
	uint64_t position = s->cpu->origin + offset;

	s->psb = offset;
	if (!s->windows->count || !s->enable.on || position == s->cpu->window_begin || records_begin(s->records, position))
		add_window(s->windows, offset);
}

/* Read packets from the PSB at @offset on. Returns the offset of what is no packet. */
static uint64_t read_packets(struct search *s, struct pt_packet_decoder *decoder, uint64_t offset)
{
	struct pt_packet packet;

	for (;;) {
		offset = skip_others(s->config, offset);
		pt_pkt_sync_set(decoder, offset);
		if (pt_pkt_next(decoder, &packet, sizeof(packet)) < 0)
			return offset;
		if (packet.type == ppt_psb) {
			uint64_t last = packets_next_psb(s->config, offset);

			if (last == offset || last - offset >= PSB_SIZE)
				note_psb(s, offset);
			if (last != offset) {
				/* The end of a full area cut what follows this PSB, or the PSB itself. The last one begins a window. */
				s->enable.on = false;
				offset = last;
				continue;
			}
		}
		if (packet.type == ppt_tip_pge)
			add_enable(s->windows, offset);
		track_enable(&s->enable, &packet);
		offset += packet.size;
	}
}

void windows_find(struct windows *w, const struct pt_config *config, const struct meta_cpu *cpu,
		  const struct records *records, bool all_code)
{
	struct pt_packet_decoder *decoder = pt_pkt_alloc_decoder(config);
	struct search s = { .windows = w, .config = config, .cpu = cpu, .records = records };
	uint64_t from = 0, end = 0;
	int64_t psb;

	*w = (struct windows){ 0 };
	if (!decoder)
		out_of_memory();
	while ((psb = packets_next_psb(config, from)) >= 0) {
		/*
		 * After a decode error it is unknown whether packets were enabled. But if there is at most a packet between,
		 * the end of a full area cut that, and this PSB begins a window.
		 */
		s.enable = (struct enable){ .on = (uint64_t)psb >= end + PSB_SIZE };
		s.psb = psb;
		end = read_packets(&s, decoder, psb);
		from = packets_resync(end, s.psb);
	}
	pt_pkt_free_decoder(decoder);
	if (!number_by_records(w, cpu, records))
		number_windows(w, cpu, all_code);
}

void windows_free(struct windows *w)
{
	free(w->window);
	free(w->enable);
	*w = (struct windows){ 0 };
}

/* ---- return points ------------------------------------------------------ */

/* Where control is, according to the packets. */
enum place { UNKNOWN, USER, KERNEL, OFF };

struct walk {
	enum place place;
	uint64_t last_ip;
	bool in_psb;
	struct return_point point;
};

enum step {
	NO_STEP,
	ENTERS_USER,		/* user code begins to run */
	BACK,			/* it ends: entry to the kernel, or packets are enabled again there */
	BACK_IN_USER,		/* packets are enabled again in user code */
	LOST,			/* OVF */
};

static enum step arrive(struct walk *w, bool enables)
{
	enum place before = w->place;

	w->place = code_is_kernel(w->last_ip) ? KERNEL : USER;
	if (w->place == USER)
		return enables ? BACK_IN_USER : before == USER ? NO_STEP : ENTERS_USER;
	return before == USER || enables ? BACK : NO_STEP;
}

static enum step walk_packet(struct walk *w, const struct pt_packet *p)
{
	switch (p->type) {
	case ppt_psb:
		w->in_psb = true;
		w->last_ip = 0;
		return NO_STEP;
	case ppt_psbend:
		w->in_psb = false;
		return NO_STEP;
	case ppt_ovf:
		w->in_psb = false;
		w->place = UNKNOWN;
		return LOST;
	case ppt_pip:
		w->point.cr3 = p->payload.pip.cr3;
		return NO_STEP;
	case ppt_tsc:
		w->point.tsc = p->payload.tsc.tsc;
		return NO_STEP;
	case ppt_fup:
		/* In PSB+ and after OVF a FUP is where control is; otherwise it is a source. */
		if (!packets_update_ip(&w->last_ip, &p->payload.ip) ||
		    !(w->in_psb || w->place == UNKNOWN))
			return NO_STEP;
		return arrive(w, false);
	case ppt_tip_pgd:
		packets_update_ip(&w->last_ip, &p->payload.ip);
		w->place = OFF;
		return NO_STEP;
	case ppt_tip:
	case ppt_tip_pge:
		if (!packets_update_ip(&w->last_ip, &p->payload.ip))
			return NO_STEP;
		return arrive(w, p->type == ppt_tip_pge);
	default:
		return NO_STEP;
	}
}

/*
 * The decoder reads one packet with flow information ahead. So it may have read the packet
 * that ends the unknown code, but none of a later run of user code. It is therefore in
 * the last run of user code that begins at or before its offset, and the first return
 * after that begin is the one to find.
 */
bool packets_find_return(const struct pt_config *config, uint64_t offset, uint64_t cr3,
			 struct return_point *point)
{
	struct walk w = { .point = { .cr3 = cr3 } };
	int64_t psb = packets_last_psb(config, offset);
	struct pt_packet_decoder *decoder;
	struct pt_packet packet;
	bool found = false;
	uint64_t at = 0;

	*point = w.point;
	if (psb < 0)
		return false;
	decoder = pt_pkt_alloc_decoder(config);
	if (!decoder)
		out_of_memory();
	pt_pkt_sync_set(decoder, psb);
	while (!(found && at >= offset) && pt_pkt_next(decoder, &packet, sizeof(packet)) >= 0) {
		enum step step = walk_packet(&w, &packet);

		pt_pkt_get_offset(decoder, &at);
		if (at <= offset && (step == ENTERS_USER || step == BACK_IN_USER)) {
			found = false;
			point->overflow = false;
		} else if (!found && !point->overflow && (step == BACK || step == BACK_IN_USER)) {
			found = true;
			*point = w.point;
			point->offset = at;
			point->ip = w.last_ip;
		} else if (!found && step == LOST) {
			point->overflow = true;
		}
		if (point->overflow && at > offset)
			break;
	}
	pt_pkt_free_decoder(decoder);
	return found;
}

int64_t packets_write_psb(const struct pt_config *config, const struct return_point *point)
{
	struct pt_packet packets[6], *p = packets;
	uint8_t buf[64] = { 0 };
	struct pt_encoder *encoder;
	struct pt_config local = *config;
	uint64_t size = 0;
	int status = 0;

	memset(packets, 0, sizeof(packets));
	p++->type = ppt_psb;
	if (point->tsc) {
		p->type = ppt_tsc;
		p++->payload.tsc.tsc = point->tsc;
	}
	if (point->cr3 != CODE_NO_CR3) {
		p->type = ppt_pip;
		p++->payload.pip.cr3 = point->cr3;
	}
	p->type = ppt_mode;
	p->payload.mode.leaf = pt_mol_exec;
	p++->payload.mode.bits.exec = pt_set_exec_mode(ptem_64bit);
	p->type = ppt_fup;
	p->payload.ip.ipc = pt_ipc_sext_48;
	p++->payload.ip.ip = point->ip & 0xffffffffffffull;
	p++->type = ppt_psbend;

	local.begin = buf;
	local.end = buf + sizeof(buf);
	encoder = pt_alloc_encoder(&local);
	if (!encoder)
		return -pte_nomem;
	for (struct pt_packet *q = packets; q < p && status >= 0; q++)
		status = pt_enc_next(encoder, q);
	pt_enc_get_offset(encoder, &size);
	pt_free_encoder(encoder);
	if (status < 0)
		return status;
	if (size > point->offset)
		return -pte_nomem;
	memcpy(config->begin + point->offset - size, buf, size);
	return point->offset - size;
}
