// SPDX-License-Identifier: LGPL-2.1-or-later
/* The flow of one CPU from Intel PT packets, which libipt reads. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <auxtrace.h>

#include "flow_event.h"
#include "pt_events.h"
#include "pt_packets.h"
#include "pt_walk.h"

#define CONFIG_MTC		(1ull << 9)
#define CONFIG_EVENT		(1ull << 31)
#define CONFIG_NOTNT		(1ull << 55)
#define CONFIG_MTC_PERIOD(c)	((c) >> 14 & 0xf)

/* Where decode_run() goes on. */
struct pt_decoding {
	struct pt_walk *walk;	/* NULL: there is nothing to decode */
	struct windows all, one;
	struct pt_events events;	/* of the trace from here on: */
	const uint8_t *events_from;
	size_t next_event;	/* those before it have been told */
	bool synced;		/* the decoder has been synchronized once */
	bool running;		/* decode_run() has not reached an error or the end yet */
	uint64_t last, at;	/* offsets of the last two synchronizations */
	int status;		/* the decoder's */
	uint64_t ip;		/* of the last instruction */
	bool no_task;		/* the code there is of no task that is known */
	unsigned int count;	/* instructions since the synchronization */
	bool stopped;		/* the last thing was that the hardware was turned off */
	/* What was decoded, and comes behind a change of the thread: */
	enum { HOLDS_NOTHING, HOLDS_SYNC, HOLDS_EVENT, HOLDS_INSN } holds;
	size_t run;		/* the thread to come, of f->runs */
	struct pt_event event;
	struct walked walked;
	struct code_block block; /* of @walked */
};

/*
 * On CPUs with the erratum SKL014 libipt must know the ranges: a TIP.PGD may have no address. Their
 * fields are those of IA32_RTIT_CTL: 1 traces the range, 2 stops there.
 */
static void set_filters(struct pt_conf_addr_filter *to, const struct meta *meta)
{
	uint64_t *const addr[META_FILTERS][2] = {
		{ &to->addr0_a, &to->addr0_b }, { &to->addr1_a, &to->addr1_b },
		{ &to->addr2_a, &to->addr2_b }, { &to->addr3_a, &to->addr3_b },
	};

	for (unsigned int i = 0; i < meta->nr_filters; i++) {
		const struct meta_filter *f = &meta->filter[i];

		to->config.addr_cfg |= (uint64_t)(f->stop ? 2 : 1) << 4 * i;
		*addr[i][0] = f->first;
		*addr[i][1] = f->last;
	}
}

static bool traces_all_code(const struct meta *meta)
{
	for (unsigned int i = 0; i < meta->nr_filters; i++)
		if (!meta->filter[i].stop)
			return false;
	return meta->flags & AUXTRACE_SETUP_KERNEL && !(meta->flags & AUXTRACE_SETUP_ADDRESS_SPACE);
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
	set_filters(&f->config.addr_filter, meta);
}

/*
 * Instructions that may follow each other without a packet. Real code has a branch with a
 * packet long before. A flow that went wrong may be in an endless loop of direct jumps,
 * such as a retpoline's trap.
 */
#define MAX_WITHOUT_PACKET	(1u << 17)

/* About as many instructions go to the view in one callback. MAX_WITHOUT_PACKET is a multiple. */
#define MAX_WALKED		(1u << 12)

static struct pt_walk *walk_of(const struct flow *f)
{
	const struct pt_decoding *d = f->decoding;

	return d->walk;
}

/* ---- events to the view --------------------------------------------------- */

static void emit_decoder_error(struct flow *f, uint64_t ip, const char *message)
{
	uint64_t offset = 0;

	pt_walk_offset(walk_of(f), &offset);
	flow_emit_error(f, offset, ip, message);
}

/* Has the decoder read a packet since the last call? */
static bool makes_progress(struct flow *f)
{
	uint64_t offset = 0;

	pt_walk_offset(walk_of(f), &offset);
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
		f->sum->windows++;
		f->view->window(f->view, f, w->window[f->next_window].seq);
	}
}

/* ---- event trace ------------------------------------------------------------ */

static uint64_t event_offset(const struct flow *f, uint64_t offset)
{
	const struct pt_decoding *d = f->decoding;

	return f->config.begin - d->events_from + offset;
}

static void emit_next_event(struct flow *f, uint64_t tsc)
{
	struct pt_decoding *d = f->decoding;
	struct pt_traced_event *e = &d->events.event[d->next_event++];

	if (e->real || e->event.what == CPU_NOTHING || !f->view->cpu_event)
		return;
	e->event.tsc = tsc;
	f->view->cpu_event(f->view, f, &e->event);
}

/*
 * Those that branches tell, by now. The others wait for libipt's event at their address. If an overflow or damage has
 * taken that away, they are told when it cannot come any more.
 */
static void emit_passed_events(struct flow *f)
{
	struct pt_decoding *d = f->decoding;
	uint64_t happened, passed;

	if (d->next_event == d->events.count)
		return;
	happened = event_offset(f, pt_walk_happened(d->walk));
	passed = event_offset(f, pt_walk_passed(d->walk));
	while (d->next_event < d->events.count) {
		const struct pt_traced_event *e = &d->events.event[d->next_event];

		if (e->offset >= happened || (e->event.known && e->offset >= passed))
			return;
		emit_next_event(f, f->tsc);
	}
}

/*
 * libipt tells of what happens at an address. Emit the event that happens there, after those that it has passed.
 * Returns false if libipt tells of nothing else.
 */
static bool emit_events_at(struct flow *f, const struct pt_event *ev)
{
	struct pt_decoding *d = f->decoding;
	uint64_t ip = 0, offset = 0;
	bool exstop = ev->type == ptev_exstop, known = !ev->ip_suppressed;
	size_t i;

	if (exstop)
		ip = ev->variant.exstop.ip;
	else if (ev->type == ptev_async_branch)
		ip = ev->variant.async_branch.from;
	else if (ev->type == ptev_async_disabled)
		ip = ev->variant.async_disabled.at;
	else
		return true;
	/* Without an address these two are still at one. */
	known |= !exstop;
	pt_walk_offset(d->walk, &offset);
	offset = event_offset(f, offset);
	for (i = d->next_event; i < d->events.count && d->events.event[i].offset < offset; i++) {
		const struct pt_traced_event *e = &d->events.event[i];
		bool real = e->real;

		if (e->exstop != exstop || e->event.known != known || (known && e->event.ip != ip))
			continue;
		while (d->next_event <= i)
			emit_next_event(f, ev->has_tsc ? ev->tsc : 0);
		return real || !exstop;
	}
	return true;
}

/* The flow continues at the PSB at @offset, or behind the packet that ends there. */
static void jump_to(struct flow *f, uint64_t offset)
{
	struct pt_decoding *d = f->decoding;
	const struct windows *w = f->windows_of_cpu;
	size_t first = pt_events_first(&d->events, event_offset(f, offset));

	/* Those of code that could not be decoded are left out. */
	if (first > d->next_event)
		d->next_event = first;
	f->enables = windows_enables(w, offset);
	/* A window that begins with this PSB may have no TIP.PGE. */
	for (; f->next_window < w->count && w->window[f->next_window].begin <= offset; f->next_window++) {
		f->sum->windows++;
		f->view->window(f->view, f, w->window[f->next_window].seq);
	}
}

static void update_state(struct flow *f)
{
	uint64_t tsc;

	f->cr3 = pt_walk_cr3(walk_of(f));
	f->tsc = pt_walk_time(walk_of(f), &tsc) < 0 ? 0 : tsc;
}

static void emit_cpu_event(struct flow *f, const struct pt_event *ev)
{
	struct cpu_event e = { .known = !ev->ip_suppressed, .tsc = ev->has_tsc ? ev->tsc : 0 };

	switch (ev->type) {
	case ptev_mwait:
		e.what = CPU_MWAIT;
		e.ip = ev->variant.mwait.ip;
		e.hints = ev->variant.mwait.hints;
		e.extensions = ev->variant.mwait.ext;
		break;
	case ptev_pwre:
		e.what = CPU_PWRE;
		e.hw = ev->variant.pwre.hw;
		e.state = ev->variant.pwre.state;
		e.sub_state = ev->variant.pwre.sub_state;
		break;
	case ptev_exstop:
		e.what = CPU_EXSTOP;
		e.ip = ev->variant.exstop.ip;
		break;
	case ptev_ptwrite:
		e.what = CPU_PTWRITE;
		e.ip = ev->variant.ptwrite.ip;
		e.payload = ev->variant.ptwrite.payload;
		break;
	default:
		e.what = CPU_PWRX;
		e.last = ev->variant.pwrx.last;
		e.deepest = ev->variant.pwrx.deepest;
		e.reason = ev->variant.pwrx.interrupt | ev->variant.pwrx.store << 2 |
			   ev->variant.pwrx.autonomous << 3;
		break;
	}
	f->view->cpu_event(f->view, f, &e);
}

/* The decoder has read packets up to here. */
static void note_passed(struct flow *f)
{
	pt_walk_offset(walk_of(f), &f->passed);
	if (!f->samples)
		flow_passed(f, f->config.begin - f->aux.data + f->passed);
}

static void handle_event(struct flow *f, const struct pt_event *ev)
{
	bool known = !ev->ip_suppressed;

	if (ev->status_update)
		note_passed(f);
	if (!emit_events_at(f, ev))
		return;
	switch (ev->type) {
	case ptev_enabled:
		/* From 2.1 on, libipt also has it, and ptev_disabled, where a PSB says which of them is so. */
		if (!ev->status_update) {
			f->enables++;
			emit_windows(f);
		}
		flow_emit_enable(f, ev->variant.enabled.ip, ev->variant.enabled.resumed);
		break;
	case ptev_disabled:
		flow_emit_disable(f, ev->variant.disabled.ip, known);
		break;
	case ptev_async_disabled:
		f->reached = ev->variant.async_disabled.at;
		flow_emit_disable(f, ev->variant.async_disabled.ip, known);
		break;
	case ptev_async_branch:
		f->view->async(f->view, f, ev->variant.async_branch.from,
			       ev->variant.async_branch.to, known);
		break;
	case ptev_stop:
		/* TraceStop. Without a TIP.PGD before it, the flow ends here. */
		flow_emit_disable(f, 0, false);
		break;
	case ptev_overflow:
		f->sum->overflows++;
		flow_emit_disable(f, 0, false);
		f->view->overflow(f->view, f, ev->variant.overflow.ip, known);
		break;
	case ptev_mwait:
	case ptev_pwre:
	case ptev_exstop:
	case ptev_pwrx:
	case ptev_ptwrite:
		if (f->view->cpu_event)
			emit_cpu_event(f, ev);
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
	if (pt_walk_offset(walk_of(f), &offset))
		return -pte_nosync;
	if (!packets_find_return(&f->config, offset, f->cr3, &point)) {
		if (point.overflow) {
			f->sum->overflows++;
			f->view->overflow(f->view, f, 0, false);
		}
		return -pte_nosync;
	}
	if (!point.tsc)
		point.tsc = f->tsc;
	psb = packets_write_psb(&f->config, &point);
	if (psb < 0)
		return -pte_nosync;
	status = pt_walk_sync(walk_of(f), psb);
	if (status < 0)
		return -pte_nosync;
	f->spliced = true;
	((struct pt_decoding *)f->decoding)->stopped = false;
	note_passed(f);
	jump_to(f, point.offset);
	return status;
}

/* ---- threads ------------------------------------------------------------ */

/*
 * How much later than the decoder's time an instruction can be: that is the time of the last packet
 * that has one. A record of a switch that is later still is not of this instruction.
 */
#define MAX_LATE_NS	100000

/* Hold what was decoded if thread number @run comes first. Returns whether it does. */
static bool hold_for(struct flow *f, size_t run, int what)
{
	struct pt_decoding *d = f->decoding;

	if (run == f->run)
		return false;
	d->run = run;
	d->holds = what;
	/* It may have begun before the window. */
	f->turn_tsc = run < f->runs.count && f->runs.run[run].tsc > f->tsc ? f->runs.run[run].tsc : f->tsc;
	return true;
}

static uint64_t max_late(const struct flow *f)
{
	return MAX_LATE_NS * f->meta->tsc_khz / 1000000;
}

/*
 * The thread at the current time, where control appears from somewhere else. The kernel's switch
 * to it may be still ahead only if the record of that was written just now.
 */
static size_t run_now(struct flow *f)
{
	size_t run = runs_at(&f->runs, f->tsc);

	f->switched = run < f->runs.count &&
		      (!f->runs.run[run].tsc || f->tsc - f->runs.run[run].tsc > max_late(f));
	return run;
}

/*
 * The hardware goes on in the kernel within a window. It was off for a moment, in which the module took a tail or moved
 * marks, so the CPU has run no other thread. The record of a switch may be written already, though: the
 * probe of the switch can be what it interrupted.
 */
static bool goes_on(const struct flow *f, const struct pt_event *ev)
{
	const struct windows *w = f->windows_of_cpu;
	const struct pt_decoding *d = f->decoding;

	if (!d->stopped || !w->exact || !flow_thread(f) || !traces_all_code(f->meta) ||
	    !code_is_kernel(ev->variant.enabled.ip))
		return false;
	/* As emit_windows() will. */
	return f->next_window == w->count || w->window[f->next_window].enables > f->enables;
}

/* The kernel switches to another thread at this instruction. */
static size_t run_after_switch(struct flow *f)
{
	size_t run = runs_after_switch(&f->runs, f->run, f->switched, f->tsc, f->tsc + max_late(f));

	f->switched = true;
	return run;
}

/* ---- runs of the decoder -------------------------------------------------- */

/* The instructions of @w run. */
static void emit_walked(struct flow *f, const struct walked *w)
{
	const struct code_block *b = w->block;
	const struct pt_insn last = block_last_insn(b);

	flow_emit_enable(f, w->ip, false);
	f->sum->instructions += w->before + w->count;
	if (w->before && !f->view->no_code)
		f->view->blocks(f->view, f, w->ip, w->before + w->count, &last);
	else
		flow_emit_block(f, b, w->count);
}

/* Emit what was held, and the change of the thread before it. */
static void release(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	if (d->holds == HOLDS_NOTHING)
		return;
	flow_emit_run(f, d->run);
	d->stopped = false;
	if (d->holds == HOLDS_EVENT)
		handle_event(f, &d->event);
	else if (d->holds == HOLDS_INSN)
		emit_walked(f, &d->walked);
	d->holds = HOLDS_NOTHING;
}

/* Take all events that are pending. Returns true if a change of the thread comes first. */
static bool take_events(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	while (d->status >= 0 && d->status & pts_event_pending) {
		d->status = pt_walk_event(d->walk, &d->event);
		if (d->status < 0)
			break;
		update_state(f);
		/* With a status update, the flow went on to a PSB. */
		if (d->event.type == ptev_enabled && !(d->event.status_update && f->open) &&
		    !goes_on(f, &d->event) && hold_for(f, run_now(f), HOLDS_EVENT))
			return true;
		handle_event(f, &d->event);
		emit_passed_events(f);
		if (d->event.status_update)
			continue;
		d->stopped = d->event.type == ptev_disabled || d->event.type == ptev_async_disabled ||
			     (d->stopped && d->event.type != ptev_overflow && d->event.type != ptev_enabled);
	}
	return false;
}

/* Code has run. Returns true if a change of the thread comes before it. */
static bool take_walked(struct flow *f, const struct walked *w)
{
	struct pt_decoding *d = f->decoding;

	/* That instruction is a block of its own. */
	if (w->ip == f->switch_ip) {
		update_state(f);
		if (hold_for(f, run_after_switch(f), HOLDS_INSN)) {
			d->block = *w->block;
			d->walked = *w;
			d->walked.block = &d->block;
			return true;
		}
	}
	emit_walked(f, w);
	return false;
}

/* The code at @ip cannot be read. */
static void note_unread(struct flow *f, enum code_result why)
{
	struct pt_decoding *d = f->decoding;

	d->no_task = why == CODE_NO_TASK || why == CODE_PROBES;
	f->in_probes = why == CODE_PROBES;
}

/* The address of the last instruction of @w */
static uint64_t last_of(const struct walked *w)
{
	uint64_t ip = w->ip;

	if (w->count == w->block->count)
		return block_last(w->block);
	for (unsigned int i = 0; i + 1 < w->count; i++)
		ip += w->block->size[i];
	return ip;
}

/* Does the flow go on with @count more instructions though there was no packet for long? */
static bool is_endless(struct flow *f, unsigned int count)
{
	struct pt_decoding *d = f->decoding;
	unsigned int before = d->count;

	d->count += count;
	return before / MAX_WITHOUT_PACKET != d->count / MAX_WITHOUT_PACKET && !makes_progress(f);
}

/* Walk as far as the view lets, but not beyond where is_endless() looks. */
static int walk(struct flow *f, struct walked *w)
{
	struct pt_decoding *d = f->decoding;
	enum walk_reach reach = f->view->no_code ? WALK_ALL : f->view->blocks ? WALK_FUNCTION : WALK_BLOCK;
	int status;

	status = pt_walk_next(d->walk, f->tsc, reach, MAX_WALKED - d->count % MAX_WALKED, w);
	d->ip = w->count ? last_of(w) : w->ip;
	return status;
}

/*
 * Decode up to a change of the thread, an error or the end. Returns 0 for a change of the
 * thread, else the libipt error.
 */
static int decode_run(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	release(f);
	for (;;) {
		struct walked w = { .ip = d->ip };
		uint64_t tsc;

		if (take_events(f))
			return 0;
		if (d->status < 0)
			break;
		if (d->status & pts_eos || *f->stop)
			return -pte_eos;
		/* Packets may have told a time since the last event. */
		if (pt_walk_time(d->walk, &tsc) >= 0)
			f->tsc = tsc;
		d->no_task = f->in_probes = false;
		d->status = walk(f, &w);
		if (w.count) {
			if (is_endless(f, w.before + w.count)) {
				/* The same whether the view lets it walk over several blocks or not. */
				f->sum->instructions += w.before;
				emit_decoder_error(f, d->ip, "the flow goes on and on without a packet");
				return -pte_nosync;
			}
			if (take_walked(f, &w))
				return 0;
			emit_passed_events(f);
		} else if (d->status == -pte_nomap) {
			note_unread(f, w.why);
		}
		if (d->status == -pte_nomap && d->no_task) {
			update_state(f);
			d->status = skip_unknown(f, d->ip);
			if (d->status == -pte_nosync)
				return d->status;
			update_state(f);
		} else if (d->status == -pte_retstack_empty && f->spliced) {
			/* A return to a frame from before the skipped code. */
			flow_emit_skip(f, d->ip);
			return -pte_nosync;
		}
	}
	if (d->status != -pte_eos)
		emit_decoder_error(f, d->ip, pt_errstr(pt_errcode(d->status)));
	return d->status;
}

/*
 * Synchronize, also after an error: at a PSB that the decoder has read ahead but the flow
 * had not reached, or else at the next PSB, which is at @at then. libipt is not asked where it
 * synchronized: from 2.1 on it names a PSB that it has already read ahead.
 */
static int synchronize(struct flow *f, uint64_t *at)
{
	const struct pt_decoding *d = f->decoding;
	uint64_t offset = 0;
	int64_t psb;
	int status;

	if (!pt_walk_offset(walk_of(f), &offset)) {
		psb = packets_last_psb(&f->config, offset);
		if (psb >= 0 && (uint64_t)psb >= f->passed) {
			status = pt_walk_sync(walk_of(f), psb);
			if (status >= 0)
				goto synced;
		}
	}
	psb = packets_next_psb(&f->config, d->synced ? packets_resync(offset, d->last) : 0);
	if (psb < 0)
		return psb;
	status = pt_walk_sync(walk_of(f), psb);
synced:
	*at = psb;
	f->spliced = false;
	note_passed(f);
	return status;
}

/* Begin a run of the decoder. Returns false at the end of the trace. */
static bool begin_run(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	for (;;) {
		int status = synchronize(f, &d->at);

		if (status == -pte_eos)
			return false;
		if (d->synced && d->at <= d->last) {
			/* Never synchronize twice at the same place. */
			emit_decoder_error(f, 0, "the decoder makes no progress");
			return false;
		}
		if (!d->synced)
			f->sum->unsynced += d->at > f->cpu->pad ? d->at - f->cpu->pad : 0;
		d->synced = true;
		d->last = d->at;
		jump_to(f, d->at);
		if (status >= 0) {
			d->running = true;
			d->stopped = false;
			d->status = status;
			d->ip = 0;
			d->count = 0;
			update_state(f);
			makes_progress(f);
			return true;
		}
		emit_decoder_error(f, 0, pt_errstr(pt_errcode(status)));
	}
}

/* Decode up to a change of the thread. Returns false at the end of the trace. */
static bool decode(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	while (!*f->stop && (d->running || begin_run(f))) {
		int status;

		/* A PSB in the middle of a run of the flow says nothing new of the thread. */
		if (!d->count && d->holds == HOLDS_NOTHING && !f->open && hold_for(f, run_now(f), HOLDS_SYNC))
			return true;
		status = decode_run(f);
		if (!status)
			return true;
		d->running = false;
		if (status == -pte_eos)
			break;
	}
	if (!d->synced && !*f->stop)
		f->sum->unsynced += f->config.end - f->config.begin - f->cpu->pad;
	/* The trace ends here, even if the flow has no disable event. */
	flow_emit_disable(f, 0, false);
	return false;
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

static void find_events(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	d->events_from = f->config.begin;
	if (f->meta->config & CONFIG_EVENT)
		pt_events_find(&d->events, &f->config);
}

static void open_decoder(struct flow *f, const struct windows *windows)
{
	struct pt_decoding *d = f->decoding;

	d->walk = pt_walk_open(&f->config, f->blocks);
	if (!d->walk)
		out_of_memory();
	f->windows_of_cpu = windows;
	f->next_window = 0;
	f->passed = 0;
}

static void close_decoder(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	if (d && d->walk)
		pt_walk_close(d->walk);
	if (d)
		d->walk = NULL;
	f->windows_of_cpu = NULL;
}

static void begin_area(struct flow *f)
{
	struct pt_decoding *d = f->decoding;
	const struct meta_cpu *cpu = f->cpu;

	/* The file ends before the first byte of the trace. */
	if (!f->aux.size || f->aux.size < cpu->pad)
		return;
	make_config(f, &f->aux);
	find_events(f);
	windows_find(&d->all, &f->config, cpu, &f->records, traces_all_code(f->meta));
	if (!d->all.exact)
		say("cpu %u: %zu window starts in the trace, the kernel counted %" PRIu64 ": the window numbers are not known%s",
		    cpu->cpu, d->all.count, cpu->windows,
		    traces_all_code(f->meta) ? "" : " (in a trace of some code only, window starts look like other packets)");
	if (f->window)
		select_window(f, &d->all, f->window, &d->one);
	if (f->window && !d->one.count)
		return;
	f->sum->bytes += f->config.end - f->config.begin - (f->window ? 0 : cpu->pad);
	f->view->cpu(f->view, cpu->cpu);
	open_decoder(f, f->window ? &d->one : &d->all);
}

static void decode_sample(struct flow *f, size_t nr, const struct auxtrace_record_sample *sample,
			  const uint8_t *bytes)
{
	const struct windows none = { 0 };
	struct mapped aux = { .size = sample->length };
	struct pt_decoding d = { 0 };

	f->view->sample(f->view, f, nr, sample);
	if (!bytes || !sample->length) {
		f->sum->unsampled += !bytes;
		return;
	}
	f->sum->samples++;
	f->sum->bytes += sample->length;
	f->open = false;
	/* A copy: skip_unknown() writes synchronization points into it. */
	aux.data = xrealloc(NULL, sample->length);
	memcpy(aux.data, bytes, sample->length);
	f->decoding = &d;
	make_config(f, &aux);
	find_events(f);
	open_decoder(f, &none);
	while (decode(f))
		;
	close_decoder(f);
	pt_events_free(&d.events);
	f->decoding = NULL;
	free(aux.data);
}

static void decode_samples(struct flow *f)
{
	/* A sample has no padding before its first byte. */
	const struct meta_cpu *cpu = f->cpu;
	struct meta_cpu own = *cpu;

	own.pad = 0;
	f->cpu = &own;
	if (f->records.nr_samples)
		f->view->cpu(f->view, cpu->cpu);
	for (size_t i = 0; i < f->records.nr_samples && !*f->stop; i++)
		decode_sample(f, i + 1, &f->records.sample[i]->sample, f->records.bytes[i]);
	f->cpu = cpu;
}

static void pt_begin(struct flow *f)
{
	if (f->samples)
		return;
	f->decoding = xcalloc(1, sizeof(struct pt_decoding));
	begin_area(f);
}

static bool pt_step(struct flow *f)
{
	if (f->samples)
		decode_samples(f);
	return f->decoding && walk_of(f) && decode(f);
}

static void pt_end(struct flow *f)
{
	struct pt_decoding *d = f->decoding;

	close_decoder(f);
	if (!d)
		return;
	windows_free(&d->all);
	windows_free(&d->one);
	pt_events_free(&d->events);
	free(d);
	f->decoding = NULL;
}

static bool pt_check(const char *dir, const struct meta *meta)
{
	if (meta->config & CONFIG_NOTNT)
		return wrong("%s was recorded without TNT packets (--config notnt): which way branches went is not in the trace, so its flow cannot be decoded; auxtrace dump shows its packets, and perf what auxtrace export writes",
			     dir);
	return true;
}

const struct flow_decoder pt_decoder = { .check = pt_check, .begin = pt_begin, .step = pt_step, .end = pt_end };
