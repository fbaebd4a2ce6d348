// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "lib/tool.h"
#include "pt_walk.h"

#define RETURNS		64	/* addresses that a CPU keeps, by which it compresses returns */
#define NEAR		256	/* instructions between a branch and an abort that it may have led to */

struct pt_walk {
	const struct pt_config *config;
	struct pt_query_decoder *query;
	struct code_blocks *blocks;
	int status;		/* the query decoder's */
	bool enabled;		/* packets are: @ip is known */
	uint64_t ip, cr3;
	uint64_t space;		/* code_space() of user code, where the walk went over several blocks last */
	enum pt_exec_mode mode;
	bool ahead;		/* @event was read. It may happen further on */
	struct pt_event event;
	uint64_t before;	/* the decoder's offset when it had not been read */
	uint64_t before_last;	/* the same of the event before it */
	bool waits;		/* the last instruction of @held has run, but an event of it comes first */
	struct code_block held;
	bool took_paging, took_vmcs, took_ptwrite; /* that instruction's events */
	uint64_t resume;	/* where the code goes on that was left when packets were disabled; 0: not known */
	uint64_t back[RETURNS];	/* a ring: the newest is at @top - 1 */
	unsigned int top, depth;
};

struct pt_walk *pt_walk_open(const struct pt_config *config, struct code_blocks *blocks)
{
	struct pt_walk *w = xcalloc(1, sizeof(*w));

	w->config = config;
	w->blocks = blocks;
	w->cr3 = CODE_NO_CR3;
	w->query = pt_qry_alloc_decoder(config);
	if (!w->query) {
		free(w);
		return NULL;
	}
	return w;
}

void pt_walk_close(struct pt_walk *w)
{
	pt_qry_free_decoder(w->query);
	free(w);
}

int pt_walk_offset(const struct pt_walk *w, uint64_t *offset)
{
	return pt_qry_get_offset(w->query, offset);
}

int pt_walk_time(const struct pt_walk *w, uint64_t *tsc)
{
	return pt_qry_time(w->query, tsc, NULL, NULL);
}

uint64_t pt_walk_happened(const struct pt_walk *w)
{
	uint64_t offset = 0;

	if (w->ahead)
		return w->before;
	pt_qry_get_offset(w->query, &offset);
	return offset;
}

uint64_t pt_walk_passed(const struct pt_walk *w)
{
	return w->before_last;
}

uint64_t pt_walk_cr3(const struct pt_walk *w)
{
	return w->cr3;
}

static int status_of(const struct pt_walk *w, int flags)
{
	if (!w->enabled)
		flags |= pts_ip_suppressed;
	/* The trace has not ended before its last event. */
	if (w->status & pts_eos && !w->ahead)
		flags |= pts_eos;
	return flags;
}

/* ---- instructions ----------------------------------------------------------- */

static bool is_far(const struct code_block *b)
{
	return b->iclass == ptic_far_call || b->iclass == ptic_far_return || b->iclass == ptic_far_jump;
}

static bool changes_cr3(const struct code_block *b)
{
	return is_far(b) || b->special == INSN_MOVES_TO_CR3;
}

/* Does control always go to the target of the block's last instruction? */
static bool goes_directly(const struct code_block *b)
{
	return b->direct && (b->iclass == ptic_call || b->iclass == ptic_jump);
}

static void push(struct pt_walk *w, uint64_t ip)
{
	w->back[w->top++ % RETURNS] = ip;
	if (w->depth < RETURNS)
		w->depth++;
}

static int pop(struct pt_walk *w)
{
	if (!w->depth)
		return -pte_retstack_empty;
	w->depth--;
	w->ip = w->back[--w->top % RETURNS];
	return 0;
}

static int take_branch(struct pt_walk *w, const struct code_block *b)
{
	int taken, status;

	/* Meanwhile libipt looks which of them it is. */
	code_blocks_prefetch(w->blocks, w->space, b->target);
	code_blocks_prefetch(w->blocks, w->space, block_end(b));
	status = pt_qry_cond_branch(w->query, &taken);
	if (status < 0)
		return status;
	w->status = status;
	if (taken)
		w->ip = b->target;
	return 0;
}

static int take_target(struct pt_walk *w)
{
	int status = pt_qry_indirect_branch(w->query, &w->ip);

	if (status < 0)
		return status;
	w->status = status;
	return status & pts_ip_suppressed ? -pte_noip : 0;
}

/* A return whose address the CPU had kept is compressed: to a conditional branch that is taken. */
static int take_return(struct pt_walk *w)
{
	int taken, status = pt_qry_cond_branch(w->query, &taken);

	if (status < 0)
		return take_target(w);
	w->status = status;
	return taken ? pop(w) : -pte_bad_retcomp;
}

/* Go where control goes behind the last instruction of @b. */
static int leave(struct pt_walk *w, const struct code_block *b)
{
	w->ip = block_end(b);
	switch (b->iclass) {
	case ptic_other:
	case ptic_ptwrite:
		return 0;
	case ptic_cond_jump:
		return take_branch(w, b);
	case ptic_call:
		/* A call of the next instruction is no call: it reads the instruction pointer. */
		if (!b->direct || b->target != block_end(b))
			push(w, block_end(b));
		break;
	case ptic_return:
		return take_return(w);
	default:
		break;
	}
	if (!goes_directly(b))
		return take_target(w);
	w->ip = b->target;
	return 0;
}

/* ---- events ----------------------------------------------------------------- */

/* Read the event that comes next. Returns 1: it is in w->event; 0: there is none here; or a libipt error. */
static int read_event(struct pt_walk *w)
{
	int status;

	if (w->ahead)
		return 1;
	if (!(w->status & pts_event_pending))
		return 0;
	w->before_last = w->before;
	pt_qry_get_offset(w->query, &w->before);
	status = pt_qry_event(w->query, &w->event, sizeof(w->event));
	if (status < 0)
		return status;
	w->status = status;
	w->ahead = true;
	/* libipt 2.0 gives no event its time, which goes on when the next one is read. */
	if (!w->event.has_tsc && pt_walk_time(w, &w->event.tsc) >= 0)
		w->event.has_tsc = 1;
	return 1;
}

/* Does the event that was read happen before the instruction at a certain address, and at which? */
static bool has_address(const struct pt_event *ev, uint64_t *ip)
{
	switch (ev->type) {
	case ptev_async_disabled:
		*ip = ev->variant.async_disabled.at;
		return true;
	case ptev_async_branch:
		*ip = ev->variant.async_branch.from;
		return true;
	case ptev_async_paging:
		*ip = ev->variant.async_paging.ip;
		break;
	case ptev_async_vmcs:
		*ip = ev->variant.async_vmcs.ip;
		break;
	case ptev_exec_mode:
		*ip = ev->variant.exec_mode.ip;
		break;
	case ptev_tsx:
		*ip = ev->variant.tsx.ip;
		break;
	case ptev_exstop:
		*ip = ev->variant.exstop.ip;
		break;
	case ptev_mwait:
		*ip = ev->variant.mwait.ip;
		break;
	default:
		return false;
	}
	return !ev->ip_suppressed;
}

/* Does it happen with an instruction, whose address the code tells? */
static bool is_of_insn(const struct pt_event *ev)
{
	return ev->type == ptev_paging || ev->type == ptev_vmcs || ev->type == ptev_ptwrite ||
	       (ev->type == ptev_disabled && !ev->status_update);
}

static bool enters_vm(struct pt_walk *w, uint64_t tsc)
{
	enum code_result why;
	struct insn insn;

	return !code_blocks_insn(w->blocks, w->cr3, tsc, w->mode, w->ip, &insn, &why) &&
	       insn.special == INSN_ENTERS_VM;
}

static bool branches(const struct code_block *b)
{
	return b->iclass != ptic_other && b->iclass != ptic_ptwrite;
}

/* Does control go from w->ip to @to without a packet, within a few instructions? */
static bool leads_to(struct pt_walk *w, uint64_t to)
{
	uint64_t at = w->ip, tsc = 0;

	pt_walk_time(w, &tsc);
	for (unsigned int left = NEAR; at != to; left--) {
		enum code_result why;
		struct insn insn;

		if (!left || code_blocks_insn(w->blocks, w->cr3, tsc, w->mode, at, &insn, &why))
			return false;
		if (insn.pt.iclass == ptic_cond_jump || insn.special == INSN_ENTERS_VM ||
		    insn.special == INSN_CALLS_VMM)
			return false;
		if (insn.direct)
			at = insn.target;
		else if (!insn_ends_block(&insn))
			at += insn.pt.size;
		else
			return false;
	}
	return true;
}

/*
 * Control came to w->ip by the last instruction of @b. The erratum: the packet of a branch may be wrong if a
 * transaction is aborted right behind it. If the code does not lead to the place of the abort, the branch went there.
 */
static void mend_abort(struct pt_walk *w, const struct code_block *b)
{
	const struct pt_event *ev = &w->event;

	if (w->config->errata.bdm64 && w->ahead && ev->type == ptev_tsx && ev->variant.tsx.aborted &&
	    !ev->ip_suppressed && branches(b) && !leads_to(w, ev->variant.tsx.ip))
		w->ip = ev->variant.tsx.ip;
}

/* Does an event happen before the instruction at w->ip? Returns the status. */
static int arrive(struct pt_walk *w)
{
	struct pt_event *ev = &w->event;
	int found = read_event(w);
	uint64_t ip, tsc = 0;

	if (found < 0)
		return found;
	/* Where packets are disabled, no code that is traced leads to it. */
	if (!found || (w->enabled && (is_of_insn(ev) || (has_address(ev, &ip) && ip != w->ip))))
		return status_of(w, 0);
	if (ev->type == ptev_async_disabled) {
		pt_walk_time(w, &tsc);
		/* The erratum: the CPU said so of an entry of a virtual machine, which disabled packets by itself. */
		if (w->config->errata.skd022 && enters_vm(w, tsc)) {
			ev->type = ptev_disabled;
			ev->variant.disabled.ip = ev->variant.async_disabled.ip;
			return status_of(w, 0);
		}
		w->resume = w->ip;
	}
	return status_of(w, pts_event_pending);
}

/* The same, where control came there by the last instruction of @b. */
static int arrive_from(struct pt_walk *w, const struct code_block *b)
{
	int status = read_event(w);

	if (status < 0)
		return status;
	mend_abort(w, b);
	return arrive(w);
}

/* Is @ip in no range that is traced? */
static bool is_filtered_out(const struct pt_conf_addr_filter *f, uint64_t ip)
{
	const uint64_t range[][2] = {
		{ f->addr0_a, f->addr0_b }, { f->addr1_a, f->addr1_b },
		{ f->addr2_a, f->addr2_b }, { f->addr3_a, f->addr3_b },
	};
	bool filters = false, traced = false;

	for (unsigned int i = 0; i < ARRAY_SIZE(range); i++) {
		unsigned int kind = f->config.addr_cfg >> 4 * i & 0xf;
		bool inside = ip >= range[i][0] && ip <= range[i][1];

		/* Also where a range is traced that it lies in. */
		if (kind == 2 && inside)
			return true;
		filters |= kind == 1;
		traced |= kind == 1 && inside;
	}
	return filters && !traced;
}

/* Is @b's last instruction the one that disabled packets? */
static bool disables(const struct pt_walk *w, const struct code_block *b)
{
	if (w->event.ip_suppressed)
		return changes_cr3(b) ||
		       /* The erratum: a branch out of the traced ranges may not tell its target. */
		       (w->config->errata.skl014 && goes_directly(b) &&
			is_filtered_out(&w->config->addr_filter, b->target));
	if (!branches(b))
		return false;
	return !goes_directly(b) || b->target == w->event.variant.disabled.ip;
}

/* Where code goes on, probably, that leaves the traced code by @b's last instruction. */
static uint64_t resumes_at(const struct code_block *b)
{
	if (goes_directly(b))
		return b->target;
	switch (b->iclass) {
	case ptic_other:
	case ptic_ptwrite:
	case ptic_call:
	case ptic_far_call:
		return block_end(b);
	default:
		return 0;
	}
}

/* No more events of the last instruction come. */
static void end_wait(struct pt_walk *w)
{
	w->waits = w->took_paging = w->took_vmcs = w->took_ptwrite = false;
}

/* Returns 1 if an event happens with the last instruction of @b, 0, or a libipt error. */
static int meets_event(struct pt_walk *w, const struct code_block *b)
{
	int found = read_event(w);

	if (found <= 0)
		return found;
	switch (w->event.type) {
	case ptev_disabled:
		if (w->event.status_update || !disables(w, b))
			return 0;
		w->resume = resumes_at(b);
		end_wait(w);
		return 1;
	case ptev_paging:
		if (w->took_paging || !changes_cr3(b))
			return 0;
		w->took_paging = true;
		break;
	case ptev_vmcs:
		if (w->took_vmcs || !(is_far(b) || b->special == INSN_LOADS_VMCS))
			return 0;
		w->took_vmcs = true;
		break;
	case ptev_ptwrite:
		/* The packets may tell of which one it is. */
		if (w->took_ptwrite || b->iclass != ptic_ptwrite ||
		    (!w->event.ip_suppressed && w->event.variant.ptwrite.ip != block_last(b)))
			return 0;
		w->took_ptwrite = true;
		break;
	default:
		return 0;
	}
	/* Control goes on behind the event. */
	w->held = *b;
	w->waits = true;
	return 1;
}

/* The last instruction of @b has run. Returns the status. */
static int finish(struct pt_walk *w, const struct code_block *b)
{
	int status = meets_event(w, b);

	if (status)
		return status < 0 ? status : status_of(w, pts_event_pending);
	end_wait(w);
	status = leave(w, b);
	return status < 0 ? status : arrive_from(w, b);
}

/*
 * Returns 0 or a libipt error. From 2.1 on, libipt also tells for a PSB whether packets are enabled: the flow
 * has not reached its address yet.
 */
static int apply_event(struct pt_walk *w)
{
	const struct pt_event *ev = &w->event;

	switch (ev->type) {
	case ptev_enabled:
		if (ev->status_update)
			return w->enabled ? 0 : -pte_bad_status_update;
		if (w->enabled)
			return -pte_bad_context;
		w->event.variant.enabled.resumed = ev->variant.enabled.ip == w->resume;
		w->ip = ev->variant.enabled.ip;
		w->enabled = true;
		break;
	case ptev_disabled:
	case ptev_async_disabled:
		if (ev->status_update)
			return w->enabled ? -pte_bad_status_update : 0;
		if (!w->enabled)
			return -pte_bad_context;
		w->enabled = false;
		break;
	case ptev_async_branch:
		if (!w->enabled)
			return -pte_bad_context;
		w->ip = ev->variant.async_branch.to;
		break;
	case ptev_paging:
		w->cr3 = ev->variant.paging.cr3;
		break;
	case ptev_async_paging:
		w->cr3 = ev->variant.async_paging.cr3;
		break;
	case ptev_overflow:
		w->enabled = !ev->ip_suppressed;
		w->ip = ev->ip_suppressed ? 0 : ev->variant.overflow.ip;
		w->resume = 0;
		break;
	case ptev_exec_mode:
		/* A PSB says so again: in another mode, other code has run. */
		if (ev->status_update && w->enabled && w->mode != ptem_unknown &&
		    w->mode != ev->variant.exec_mode.mode)
			return -pte_bad_status_update;
		w->mode = ev->variant.exec_mode.mode;
		break;
	case ptev_stop:
		if (w->enabled)
			return -pte_bad_context;
		break;
	default:
		break;
	}
	return 0;
}

int pt_walk_event(struct pt_walk *w, struct pt_event *event)
{
	int status;

	if (!w->ahead)
		return -pte_bad_query;
	status = apply_event(w);
	if (status < 0)
		return status;
	*event = w->event;
	w->ahead = false;
	return w->waits ? finish(w, &w->held) : arrive(w);
}

/* ---- the walk --------------------------------------------------------------- */

int pt_walk_sync(struct pt_walk *w, uint64_t offset)
{
	int status;

	w->ip = w->resume = 0;
	w->before = w->before_last = 0;
	w->cr3 = CODE_NO_CR3;
	w->mode = ptem_unknown;
	w->enabled = w->ahead = false;
	end_wait(w);
	w->top = w->depth = 0;
	status = pt_qry_sync_set(w->query, &w->ip, offset);
	if (status < 0)
		return status;
	w->status = status;
	w->enabled = !(status & pts_ip_suppressed);
	return arrive(w);
}

/* The number of instructions of @b before the one at @ip; all, if there is none. */
static unsigned int insns_before(const struct code_block *b, uint64_t ip)
{
	uint64_t at = b->ip;
	unsigned int i;

	for (i = 0; i < b->count && at != ip; i++)
		at += b->size[i];
	return i;
}

/* No event is pending or read ahead, and the trace has not ended. */
static bool is_calm(const struct pt_walk *w)
{
	return !w->ahead && !(w->status & (pts_event_pending | pts_eos));
}

/* Is the time still @tsc, as far as packets tell? */
static bool is_same_time(const struct pt_walk *w, uint64_t tsc)
{
	uint64_t now;

	return pt_walk_time(w, &now) < 0 || now == tsc;
}

/* Does pt_walk_next() go on behind @b, as far as @reach says? */
static bool reaches_over(enum walk_reach reach, const struct code_block *b)
{
	return reach == WALK_ALL || (reach == WALK_FUNCTION && (b->iclass == ptic_other || b->iclass == ptic_cond_jump));
}

/* The last instruction of @walked has run, and nothing is pending. Walk over blocks that are known while that is so. */
static int walk_on(struct pt_walk *w, uint64_t tsc, enum walk_reach reach, unsigned int limit, struct walked *walked)
{
	const struct code_block *b = walked->block;
	int status;

	w->space = code_space(w->blocks->code, w->cr3, 0);
	while (is_calm(w) && reaches_over(reach, b) && walked->before + b->count < limit && is_same_time(w, tsc)) {
		const struct code_block *next = code_blocks_known(w->blocks, w->space, tsc, w->mode, w->ip);

		if (!next)
			break;
		b = next;
		walked->before += walked->count;
		walked->block = b;
		walked->count = b->count;
		status = leave(w, b);
		if (status < 0)
			return status;
	}
	return arrive_from(w, b);
}

int pt_walk_next(struct pt_walk *w, uint64_t tsc, enum walk_reach reach, unsigned int limit, struct walked *walked)
{
	const struct code_block *b;
	uint64_t ip;
	int status;

	walked->before = walked->count = 0;
	if (!w->enabled)
		return w->status & pts_eos ? -pte_eos : -pte_no_enable;
	walked->ip = w->ip;
	if (w->mode == ptem_unknown)
		return -pte_bad_insn;
	status = code_blocks_find(w->blocks, w->cr3, tsc, w->mode, w->ip, &b, &walked->why);
	if (status < 0)
		return status;
	walked->block = b;
	walked->count = b->count;
	if (w->ahead && has_address(&w->event, &ip) && ip > b->ip && ip < block_end(b)) {
		walked->count = insns_before(b, ip);
		if (walked->count < b->count) {
			w->ip = ip;
			return arrive(w);
		}
	}
	status = finish(w, b);
	if (status < 0 || !is_calm(w) || b->ip == w->blocks->alone)
		return status;
	return walk_on(w, tsc, reach, limit, walked);
}
