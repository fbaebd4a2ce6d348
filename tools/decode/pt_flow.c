// SPDX-License-Identifier: GPL-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <auxtrace.h>

#include "flow_event.h"
#include "pt_flow.h"
#include "pt_packets.h"

#define CONFIG_MTC		(1ull << 9)
#define CONFIG_MTC_PERIOD(c)	((c) >> 14 & 0xf)

static int read_memory(uint8_t *buf, size_t size, const struct pt_asid *asid, uint64_t ip,
		       void *context)
{
	struct flow *f = context;
	size_t got;

	switch (code_read(f->code, asid->cr3, f->tsc, ip, buf, size, &got)) {
	case CODE_OK:
		return got;
	case CODE_PROBES:
		f->in_probes = true;
		f->no_task = true;
		break;
	case CODE_NO_TASK:
		f->no_task = true;
		break;
	case CODE_NO_MAPPING:
		break;
	}
	return -pte_nomap;
}

static void make_config(struct flow *f, const struct mapped *aux)
{
	const struct meta *meta = f->meta;

	pt_config_init(&f->config);
	f->config.begin = aux->data;
	f->config.end = aux->data + aux->size;
	f->config.cpu = (struct pt_cpu){
		.vendor = pcv_intel,
		.family = meta->cpu_family,
		.model = meta->cpu_model,
		.stepping = meta->cpu_stepping,
	};
	/* Fails if libipt does not know the CPU: then no errata are applied. */
	pt_cpu_errata(&f->config.errata, &f->config.cpu);
	f->config.cpuid_0x15_eax = meta->tsc_art_den;
	f->config.cpuid_0x15_ebx = meta->tsc_art_num;
	f->config.mtc_freq = meta->config & CONFIG_MTC ? CONFIG_MTC_PERIOD(meta->config) : 0;
	f->config.nom_freq = meta->max_nonturbo_ratio;
}

/*
 * Instructions that may follow each other without a packet. Real code has a branch with a
 * packet long before. A flow that went wrong may be in an endless loop of direct jumps,
 * such as a retpoline's trap.
 */
#define MAX_WITHOUT_PACKET	(1u << 17)

/* ---- events to the view --------------------------------------------------- */

static void emit_decoder_error(struct flow *f, uint64_t ip, const char *message)
{
	uint64_t offset = 0;

	pt_insn_get_offset(f->decoder, &offset);
	flow_emit_error(f, offset, ip, message);
}

/* Has the decoder read a packet since the last call? */
static bool makes_progress(struct flow *f)
{
	uint64_t offset = 0;

	pt_insn_get_offset(f->decoder, &offset);
	if (f->last_offset == offset)
		return false;
	f->last_offset = offset;
	return true;
}

/*
 * Begin windows. The decoder reads ahead, so its position does not tell which window the
 * flow is in. Enable events do: they and the TIP.PGE packets correspond one to one.
 */
static void emit_windows(struct flow *f)
{
	const struct windows *w = f->windows_of_cpu;

	for (; f->next_window < w->count; f->next_window++) {
		if (w->window[f->next_window].enables >= f->enables)
			break;
		f->windows++;
		f->view->window(f->view, f, w->window[f->next_window].seq);
	}
}

/* The flow continues at the PSB at @offset, or behind the packet that ends there. */
static void jump_to(struct flow *f, uint64_t offset)
{
	const struct windows *w = f->windows_of_cpu;

	f->enables = windows_enables(w, offset);
	/* A window that begins with this PSB may have no TIP.PGE. */
	for (; f->next_window < w->count && w->window[f->next_window].begin <= offset; f->next_window++) {
		f->windows++;
		f->view->window(f->view, f, w->window[f->next_window].seq);
	}
}

static void update_state(struct flow *f)
{
	struct pt_asid asid;
	uint64_t tsc;

	pt_asid_init(&asid);
	f->cr3 = pt_insn_asid(f->decoder, &asid, sizeof(asid)) < 0 ? CODE_NO_CR3 : asid.cr3;
	f->tsc = pt_insn_time(f->decoder, &tsc, NULL, NULL) < 0 ? 0 : tsc;
}

static void handle_event(struct flow *f, const struct pt_event *ev)
{
	bool known = !ev->ip_suppressed;

	if (ev->status_update)
		pt_insn_get_offset(f->decoder, &f->passed);
	switch (ev->type) {
	case ptev_enabled:
		f->enables++;
		emit_windows(f);
		flow_emit_enable(f, ev->variant.enabled.ip, ev->variant.enabled.resumed);
		break;
	case ptev_disabled:
		flow_emit_disable(f, ev->variant.disabled.ip, known);
		break;
	case ptev_async_disabled:
		flow_emit_disable(f, ev->variant.async_disabled.ip, known);
		break;
	case ptev_async_branch:
		f->view->async(f->view, f, ev->variant.async_branch.from,
			       ev->variant.async_branch.to, known);
		break;
	case ptev_overflow:
		f->overflows++;
		flow_emit_disable(f, 0, false);
		f->view->overflow(f->view, f, ev->variant.overflow.ip, known);
		break;
	default:
		/* Other events do not change the flow. CR3 is read when code is. */
		break;
	}
}

/* ---- decoding ----------------------------------------------------------- */

/*
 * The decoder cannot read the code at @ip, of a task that is not in the recording.
 * Continue where control returns from that code. Returns the decoder's status there, or
 * -pte_nosync: synchronize at the next PSB.
 */
static int skip_unknown(struct flow *f, uint64_t ip)
{
	struct return_point point;
	uint64_t offset;
	int64_t psb;
	int status;

	flow_emit_skip(f, ip);
	if (pt_insn_get_offset(f->decoder, &offset))
		return -pte_nosync;
	if (!packets_find_return(&f->config, offset, f->cr3, &point)) {
		if (point.overflow) {
			f->overflows++;
			f->view->overflow(f->view, f, 0, false);
		}
		return -pte_nosync;
	}
	if (!point.tsc)
		point.tsc = f->tsc;
	psb = packets_write_psb(&f->config, &point);
	if (psb < 0)
		return -pte_nosync;
	status = pt_insn_sync_set(f->decoder, psb);
	if (status < 0)
		return -pte_nosync;
	f->spliced = true;
	pt_insn_get_offset(f->decoder, &f->passed);
	jump_to(f, point.offset);
	return status;
}

/* Decode from a synchronization point to an error or the end. Returns the libipt error. */
static int decode_run(struct flow *f, int status)
{
	unsigned int count = 0;
	uint64_t ip = 0;

	update_state(f);
	makes_progress(f);
	for (;;) {
		struct pt_insn insn;

		while (status >= 0 && status & pts_event_pending) {
			struct pt_event ev;

			status = pt_insn_event(f->decoder, &ev, sizeof(ev));
			if (status < 0)
				break;
			update_state(f);
			handle_event(f, &ev);
		}
		if (status < 0)
			break;
		if (status & pts_eos)
			return -pte_eos;
		insn.iclass = ptic_error;
		insn.ip = ip;
		f->no_task = f->in_probes = false;
		status = pt_insn_next(f->decoder, &insn, sizeof(insn));
		ip = insn.ip;
		if (insn.iclass != ptic_error) {
			flow_emit_enable(f, insn.ip, false);
			f->instructions++;
			if (!(++count % MAX_WITHOUT_PACKET) && !makes_progress(f)) {
				emit_decoder_error(f, ip, "the flow goes on and on without a packet");
				return -pte_nosync;
			}
			f->view->insn(f->view, f, &insn);
		}
		if (status == -pte_nomap && f->no_task) {
			update_state(f);
			status = skip_unknown(f, ip);
			if (status == -pte_nosync)
				return status;
			update_state(f);
		} else if (status == -pte_retstack_empty && f->spliced) {
			/* A return to a frame from before the skipped code. */
			flow_emit_skip(f, ip);
			return -pte_nosync;
		}
	}
	if (status != -pte_eos)
		emit_decoder_error(f, ip, pt_errstr(pt_errcode(status)));
	return status;
}

/*
 * Synchronize, also after an error: at a PSB that the decoder has read ahead but the flow
 * had not reached, or else at the next PSB.
 */
static int synchronize(struct flow *f)
{
	uint64_t offset;
	int64_t psb;
	int status;

	if (!pt_insn_get_offset(f->decoder, &offset)) {
		psb = packets_last_psb(&f->config, offset);
		if (psb >= 0 && (uint64_t)psb >= f->passed) {
			status = pt_insn_sync_set(f->decoder, psb);
			if (status >= 0)
				goto synced;
		}
	}
	status = pt_insn_sync_forward(f->decoder);
synced:
	f->spliced = false;
	pt_insn_get_offset(f->decoder, &f->passed);
	return status;
}

static void decode(struct flow *f)
{
	uint64_t last = 0, at = 0;
	bool synced = false;

	for (;;) {
		int status = synchronize(f);

		if (status == -pte_eos)
			break;
		pt_insn_get_sync_offset(f->decoder, &at);
		if (synced && at <= last) {
			/* Never synchronize twice at the same place. */
			emit_decoder_error(f, 0, "the decoder makes no progress");
			break;
		}
		if (!synced)
			f->unsynced += at > f->cpu->pad ? at - f->cpu->pad : 0;
		synced = true;
		last = at;
		jump_to(f, at);
		if (status < 0) {
			emit_decoder_error(f, 0, pt_errstr(pt_errcode(status)));
			continue;
		}
		status = decode_run(f, status);
		if (status == -pte_eos)
			break;
		pt_insn_get_sync_offset(f->decoder, &last);
	}
	if (!synced)
		f->unsynced += f->config.end - f->config.begin - f->cpu->pad;
	/* The trace ends here, even if the flow has no disable event. */
	flow_emit_disable(f, 0, false);
}

/* Limit the decoder to window @seq, and @one to that window. */
static void select_window(struct flow *f, const struct windows *all, uint64_t seq,
			  struct windows *one)
{
	for (size_t i = 0; i < all->count; i++) {
		uint64_t begin = all->window[i].begin;

		if (all->window[i].seq != seq)
			continue;
		one->count = 1;
		one->window = xcalloc(1, sizeof(*one->window));
		one->window->seq = seq;
		if (i + 1 < all->count)
			f->config.end = f->config.begin + all->window[i + 1].begin;
		f->config.begin += begin;
		return;
	}
}

void pt_decode(struct flow *f, const char *dir, const struct meta_cpu *cpu, uint64_t window)
{
	struct windows all, one = { 0 };
	struct pt_image *image;
	struct mapped aux;
	char path[4200];
	int err;

	f->cpu = cpu;
	f->open = false;
	f->passed = 0;
	snprintf(path, sizeof(path), "%s/cpu%u.aux", dir, cpu->cpu);
	/* Writable: skip_unknown() writes synchronization points into this private mapping. */
	err = map_file(path, true, &aux);
	if (err)
		die(1, "cannot read %s: %s", path, strerror(-err));
	if (aux.size != cpu->pad + cpu->read)
		say("%s has %zu bytes, meta says %" PRIu64 ": the recording is damaged", path, aux.size,
		    cpu->pad + cpu->read);
	/* The file ends before the first byte of the trace. */
	if (!aux.size || aux.size < cpu->pad) {
		unmap_file(&aux);
		return;
	}
	make_config(f, &aux);
	records_read(&f->records, dir, cpu);
	windows_find(&all, &f->config, cpu, &f->records, f->meta->flags & AUXTRACE_SETUP_KERNEL);
	if (!all.exact)
		say("cpu %u: %zu window starts in the trace, the kernel counted %" PRIu64 ": the window numbers are not known%s",
		    cpu->cpu, all.count, cpu->windows,
		    f->meta->flags & AUXTRACE_SETUP_KERNEL ? "" : " (in a trace of user code only, window starts look like other packets)");
	if (window)
		select_window(f, &all, window, &one);
	if (!window || one.count) {
		f->bytes += f->config.end - f->config.begin - (window ? 0 : cpu->pad);
		f->view->cpu(f->view, cpu->cpu);
		f->decoder = pt_insn_alloc_decoder(&f->config);
		if (!f->decoder)
			die(1, "out of memory");
		image = pt_insn_get_image(f->decoder);
		pt_image_set_callback(image, read_memory, f);
		f->windows_of_cpu = window ? &one : &all;
		f->next_window = 0;
		decode(f);
		pt_insn_free_decoder(f->decoder);
		f->decoder = NULL;
	}
	windows_free(&all);
	windows_free(&one);
	records_free(&f->records);
	unmap_file(&aux);
}

static void decode_sample(struct flow *f, size_t nr, const struct auxtrace_record_sample *sample,
			  const uint8_t *bytes)
{
	const struct windows none = { 0 };
	struct mapped aux = { .size = sample->length };
	struct pt_image *image;

	f->view->sample(f->view, f, nr, sample);
	if (!bytes || !sample->length) {
		f->unsampled += !bytes;
		return;
	}
	f->samples++;
	f->bytes += sample->length;
	f->open = false;
	f->passed = 0;
	/* A copy: skip_unknown() writes synchronization points into it. */
	aux.data = xrealloc(NULL, sample->length);
	memcpy(aux.data, bytes, sample->length);
	make_config(f, &aux);
	f->decoder = pt_insn_alloc_decoder(&f->config);
	if (!f->decoder)
		die(1, "out of memory");
	image = pt_insn_get_image(f->decoder);
	pt_image_set_callback(image, read_memory, f);
	f->windows_of_cpu = &none;
	f->next_window = 0;
	decode(f);
	pt_insn_free_decoder(f->decoder);
	f->decoder = NULL;
	f->windows_of_cpu = NULL;
	free(aux.data);
}

void pt_decode_samples(struct flow *f, const char *dir, const struct meta_cpu *cpu)
{
	/* A sample has no padding before its first byte. */
	struct meta_cpu own = *cpu;

	own.pad = 0;
	records_read(&f->records, dir, cpu);
	f->cpu = &own;
	if (f->records.nr_samples)
		f->view->cpu(f->view, cpu->cpu);
	for (size_t i = 0; i < f->records.nr_samples; i++)
		decode_sample(f, i + 1, &f->records.sample[i]->sample, f->records.bytes[i]);
	records_free(&f->records);
	f->cpu = NULL;
}
