// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The flow of one CPU from its BTS records.
 *
 * A record is a taken branch. From its target to the source of the next branch control
 * runs straight code: decoding the instructions from the one must arrive exactly at the other.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <auxtrace.h>

#include "flow_event.h"
#include "insn.h"
#include "window_span.h"

#define RECORD		sizeof(struct auxtrace_branch)
#define CACHED		(1u << 15)

/*
 * BTS has no CR3, so an address has one code at most in a recording, or one of each process that is
 * known to run: cache by these.
 */
struct cache {
	struct insn insn[CACHED];
	uint32_t pid[CACHED];
};

struct bts_flow {
	struct flow *f;
	struct cache *cache;
	const uint8_t *bytes;	/* of the trace */
	uint64_t first;		/* AUX position of the first of them */
	uint64_t offset;	/* added to a position, gives the offset in the file */
	const struct window_span *span;
	struct insn *block;	/* straight code that walk() found */
	size_t count, space;
	size_t stop;		/* instructions up to the first that may stop tracing; 0: none */
	uint64_t at;		/* target of the last branch */
	uint64_t then;		/* read the kernel's code as it was at this time; 0: as it is at the end */
	struct insn once;	/* an instruction of such code */
	uint64_t before;	/* TSC behind the current branch; 0: not known */
	uint64_t abort;		/* target of the last XBEGIN, for its abort */
	bool known;		/* @at is valid */
	bool one_thread;	/* the window is of one thread */
	bool skipping;		/* a skip of code that is not in the recording was emitted */
};

/* @mode: AUXTRACE_SETUP_KERNEL or _USER. */
static bool traces(const struct bts_flow *b, uint32_t mode)
{
	return b->f->meta->flags & mode;
}

/* ---- code --------------------------------------------------------------- */

enum found {
	FOUND,
	FOUND_NO_WAY,		/* no straight code leads there */
	FOUND_UNRECORDED,	/* user code that is not in the recording */
	FOUND_NO_CODE,
	FOUND_NO_INSN,
};

static const char *const not_found[] = {
	[FOUND_NO_WAY] = "no straight code",
	[FOUND_UNRECORDED] = "user code that is not in the recording",
	[FOUND_NO_CODE] = "no memory mapped at this address",
	[FOUND_NO_INSN] = "no instruction at this address",
};

static enum found read_bytes(struct flow *f, uint64_t tsc, uint64_t ip, uint8_t *bytes, size_t *size)
{
	size_t got = 0;

	f->in_probes = false;
	switch (code_read(f->code, CODE_NO_CR3, tsc, ip, bytes, INSN_MAX, size)) {
	case CODE_OK:
		break;
	case CODE_PROBES:
		f->in_probes = true;
		return FOUND_UNRECORDED;
	case CODE_NO_TASK:
		return FOUND_UNRECORDED;
	case CODE_NO_MAPPING:
		return FOUND_NO_CODE;
	}
	/* An instruction may continue in the next mapping. */
	if (*size < INSN_MAX &&
	    code_read(f->code, CODE_NO_CR3, tsc, ip + *size, bytes + *size, INSN_MAX - *size, &got) == CODE_OK)
		*size += got;
	return FOUND;
}

static enum found fetch(struct bts_flow *b, uint64_t ip, const struct insn **insn)
{
	const struct run *run = flow_thread(b->f);
	size_t at = (ip ^ ip >> 16) % CACHED;
	uint32_t pid = run && !code_is_kernel(ip) ? run->pid : 0;
	struct insn *kept = b->then ? &b->once : &b->cache->insn[at];
	uint8_t bytes[INSN_MAX];
	enum pt_exec_mode mode;
	enum found found;
	size_t size;

	*insn = kept;
	if (!b->then && kept->pt.size && kept->pt.ip == ip && b->cache->pid[at] == pid)
		return FOUND;
	found = read_bytes(b->f, b->then, ip, bytes, &size);
	if (found != FOUND)
		return found;
	if (!b->then)
		b->cache->pid[at] = pid;
	mode = code_is_32bit(b->f->code, CODE_NO_CR3, 0, ip) ? ptem_32bit : ptem_64bit;
	return insn_decode(kept, mode, ip, bytes, size) ? FOUND : FOUND_NO_INSN;
}

/* ---- straight code ------------------------------------------------------ */

static void append(struct bts_flow *b, const struct insn *insn)
{
	if (b->count == b->space) {
		b->space = b->space ? 2 * b->space : 64;
		b->block = xrealloc(b->block, b->space * sizeof(*b->block));
	}
	b->block[b->count++] = *insn;
}

static enum found walk_code(struct bts_flow *b, uint64_t goal, enum pt_insn_class gate)
{
	uint64_t ip = b->at;

	b->count = b->stop = 0;
	while (ip < goal) {
		const struct insn *insn;
		enum found found = fetch(b, ip, &insn);

		if (found != FOUND)
			return found;
		append(b, insn);
		ip += insn->pt.size;
		if (insn->may_stop && !b->stop)
			b->stop = b->count;
		if (insn->begins_tx)
			b->abort = insn->target;
		if (insn_ends_block(insn)) {
			if (insn->pt.iclass == gate && (gate != ptic_far_call || ip == goal))
				return FOUND;
			return FOUND_NO_WAY;
		}
	}
	return ip == goal ? FOUND : FOUND_NO_WAY;
}

/*
 * The time of a branch is not known well enough to say whether the kernel had patched the code by then. If
 * the code as it is at the end does not lead on, it may be that of the begin of the window.
 */
static bool may_be_patched(const struct bts_flow *b, uint64_t ip)
{
	return code_is_kernel(ip) && b->f->tsc && code_was_patched(b->f->code);
}

/*
 * Walk straight code from b->at to before @goal, and keep it in b->block. An instruction of
 * class @gate leaves the traced code and ends the walk; a far call returns behind itself,
 * so it must end at @goal.
 */
static enum found walk(struct bts_flow *b, uint64_t goal, enum pt_insn_class gate)
{
	/* Of generated code, what is there at the end may be another program's. */
	const uint64_t first = code_is_generated(b->f->code, b->f->tsc, b->at) ? b->f->tsc : 0;
	enum found found;

	b->then = first;
	found = walk_code(b, goal, gate);
	if (found != FOUND && may_be_patched(b, b->at)) {
		b->then = first ? 0 : b->f->tsc;
		found = walk_code(b, goal, gate);
		b->then = first;
		if (found != FOUND)
			found = walk_code(b, goal, gate);
	}
	b->then = 0;
	return found;
}

/* The kernel switches to another thread. */
static void emit_switch(struct bts_flow *b)
{
	struct flow *f = b->f;
	size_t run = runs_after_switch(&f->runs, f->run, f->switched, f->tsc, b->before ?: UINT64_MAX);

	f->switched = true;
	flow_emit_run(f, run);
}

/* Emit the first @count instructions of the block. */
static void emit_insns(struct bts_flow *b, size_t count)
{
	struct flow *f = b->f;

	for (size_t i = 0; i < count; i++) {
		flow_emit_enable(f, b->block[i].pt.ip, false);
		b->skipping = false;
		f->sum->instructions++;
		if (b->block[i].pt.ip == f->switch_ip)
			emit_switch(b);
		f->view->insn(f->view, f, &b->block[i].pt);
	}
}

static void emit_unknown_code(struct bts_flow *b, uint64_t ip)
{
	if (!b->skipping)
		flow_emit_skip(b->f, ip);
	b->skipping = true;
}

/* ---- branches ----------------------------------------------------------- */

/* Does the instruction branch to @to? Otherwise an interrupt or exception came before it. */
static bool goes(const struct bts_flow *b, const struct insn *insn, uint64_t to)
{
	if (insn->direct)
		return insn->target == to;
	/* Only interrupts and exceptions go to an entry. */
	if (!insn->interrupt && code_is_entry(b->f->code, to, false))
		return false;
	switch (insn->pt.iclass) {
	case ptic_call:
	case ptic_return:
	case ptic_jump:
		return code_is_kernel(insn->pt.ip) || !code_is_kernel(to);
	case ptic_far_call:
	case ptic_far_return:
	case ptic_far_jump:
		return true;
	default:
		return false;
	}
}

static void fail_at(struct bts_flow *b, uint64_t position, const char *why, uint64_t from, uint64_t to)
{
	char message[160];

	snprintf(message, sizeof(message), "%s, from %#" PRIx64 " to %#" PRIx64, why, from, to);
	flow_emit_error(b->f, position + b->offset, from, message);
}

/*
 * Was tracing stopped and started again within the window, for the trace interrupt or to
 * update the status page? That is possible behind instructions that may stop it.
 */
static bool was_stopped(struct bts_flow *b)
{
	if (!b->stop)
		return false;
	emit_insns(b, b->stop);
	flow_emit_disable(b->f, 0, false);
	return true;
}

/* Is it the exception of a breakpoint (INT3) in place of the block's last instruction? */
static bool is_breakpoint(const struct bts_flow *b, const struct branch *branch)
{
	return b->count && branch->from == b->block[b->count - 1].pt.ip + 1 &&
	       b->block[b->count - 1].pt.size > 1 && code_is_entry(b->f->code, branch->to, true);
}

/* Emit the straight code from the previous branch to this one. */
static void take_block(struct bts_flow *b, struct branch *branch, uint64_t position)
{
	/* Straight code only goes forward; but tracing may have been stopped on the way. */
	enum found found = walk(b, branch->from < b->at ? UINT64_MAX : branch->from, ptic_error);

	if (found == FOUND_UNRECORDED) {
		emit_unknown_code(b, b->at);
		return;
	}
	if (found == FOUND_NO_WAY && is_breakpoint(b, branch)) {
		/* The recording has the instruction it replaced, which did not run. */
		branch->from--;
		b->count--;
	} else if (found != FOUND) {
		if (was_stopped(b))
			flow_emit_enable(b->f, branch->from, b->span && b->span->seq);
		else
			fail_at(b, position, not_found[found], b->at, branch->from);
		return;
	}
	branch->walked = true;
	for (size_t i = 0; i < b->count; i++)
		branch->bytes += b->block[i].pt.size;
	branch->instructions = b->count;
	emit_insns(b, b->count);
}

static void emit_async(struct bts_flow *b, struct branch *branch)
{
	branch->async = true;
	b->f->view->async(b->f->view, b->f, branch->from, branch->to, true);
}

/* The instruction at @from as it was, if that goes where the branch went; else as it is. */
static enum found fetch_patched(struct bts_flow *b, const struct branch *branch, const struct insn **insn)
{
	bool was_there;

	b->then = b->f->tsc;
	was_there = fetch(b, branch->from, insn) == FOUND && goes(b, *insn, branch->to);
	b->then = 0;
	return was_there ? FOUND : fetch(b, branch->from, insn);
}

/* Emit the branch: the instruction at @from, or the interrupt or exception before it. */
static void take_branch(struct bts_flow *b, struct branch *branch, uint64_t position)
{
	struct flow *f = b->f;
	const struct insn *insn;
	enum found found = fetch(b, branch->from, &insn);

	if ((found != FOUND || !goes(b, insn, branch->to)) && may_be_patched(b, branch->from))
		found = fetch_patched(b, branch, &insn);
	/* An interrupt needs no knowledge of the instruction that it came before. */
	if (found == FOUND_UNRECORDED && branch->walked && code_is_entry(f->code, branch->to, false)) {
		flow_emit_enable(f, branch->from, false);
		b->skipping = false;
		emit_async(b, branch);
		return;
	}
	if (found == FOUND_UNRECORDED) {
		emit_unknown_code(b, branch->from);
		return;
	}
	if (found != FOUND) {
		fail_at(b, position, not_found[found], branch->from, branch->to);
		return;
	}
	flow_emit_enable(f, branch->from, false);
	b->skipping = false;
	if (goes(b, insn, branch->to)) {
		branch->instructions++;
		branch->bytes += insn->pt.size;
		f->sum->instructions++;
		f->view->insn(f->view, f, &insn->pt);
	} else if (code_is_entry(f->code, branch->to, true) || (b->abort && branch->to == b->abort)) {
		emit_async(b, branch);
	} else {
		fail_at(b, position, "no branch that goes there", branch->from, branch->to);
	}
}

/*
 * The untraced kernel returned to user code. BTS does not record where the kernel was
 * entered. That is known if straight code leads to the address of the return.
 */
static void take_return_to_user(struct bts_flow *b, const struct branch *branch)
{
	bool continued = b->known && walk(b, branch->to, ptic_far_call) == FOUND;

	if (continued)
		emit_insns(b, b->count);
	flow_emit_disable(b->f, b->at, !continued);
	b->skipping = false;
	flow_emit_enable(b->f, branch->to, continued);
}

/* Untraced user code entered the kernel, after the kernel had returned to it. */
static void take_entry_from_user(struct bts_flow *b, const struct branch *branch, uint64_t position)
{
	if (b->known) {
		enum found found = walk(b, UINT64_MAX, ptic_far_return);

		if (found == FOUND)
			emit_insns(b, b->count);
		else if (!was_stopped(b))
			fail_at(b, position, not_found[found], b->at, branch->from);
		flow_emit_disable(b->f, 0, false);
	}
	flow_emit_enable(b->f, branch->to, false);
}

/* The index of thread @tid: it ran at @tsc, or else right behind that (@other 1) or before it (-1). */
static size_t run_of(const struct flow *f, uint64_t tsc, uint32_t tid, int other)
{
	size_t run = runs_at(&f->runs, tsc);

	if (run < f->runs.count && f->runs.run[run].tid == tid)
		return run;
	run += other;
	return run < f->runs.count && f->runs.run[run].tid == tid ? run : f->runs.count;
}

/*
 * A window begins. Its record says between which threads it is. If one of them is the thread to come,
 * the kernel's switch to that one is still ahead.
 */
static void begin_threads(struct bts_flow *b)
{
	const struct auxtrace_record_window *w = b->span->record;
	struct flow *f = b->f;
	size_t first = f->runs.count, last = first;

	if (w) {
		first = run_of(f, w->begin_time, w->begin_tid, 1);
		last = run_of(f, w->end_time, w->tid, -1);
	}
	b->one_thread = first == last && first < f->runs.count;
	f->switched = false;
	if (w && w->begin_cause == AUXTRACE_CAUSE_TASK && f->switch_ip && first && first < f->runs.count) {
		f->switched = true;
		first--;
	}
	flow_emit_run(f, f->switch_ip || b->one_thread ? first : f->runs.count);
}

/*
 * If the kernel is traced, its switches tell threads apart. Else the thread is known if the CPU switched
 * to no other one in the window, or between the times that bound the branch.
 */
static void emit_thread(struct bts_flow *b, const struct branch *branch)
{
	struct flow *f = b->f;
	size_t first = runs_at(&f->runs, branch->after), last = runs_at(&f->runs, branch->before);

	if (b->one_thread || (f->switch_ip && flow_thread(f)))
		return;
	flow_emit_run(f, first == last ? first : f->runs.count);
}

static void take_record(struct bts_flow *b, const struct auxtrace_branch *record, uint64_t position)
{
	struct branch branch = { .from = record->from, .to = record->to, .flags = record->flags };
	struct flow *f = b->f;

	records_bounds(&f->records, position, position + RECORD, &branch.after, &branch.before);
	f->tsc = branch.after;
	b->before = branch.before;
	emit_thread(b, &branch);
	f->sum->branches++;
	if (!branch.from) {
		take_return_to_user(b, &branch);
	} else if (!traces(b, AUXTRACE_SETUP_USER) && !code_is_kernel(branch.from)) {
		take_entry_from_user(b, &branch, position);
	} else {
		if (b->known)
			take_block(b, &branch, position);
		take_branch(b, &branch, position);
	}
	if (f->view->branch)
		f->view->branch(f->view, f, &branch);
	b->at = branch.to;
	b->known = true;
}

/*
 * The end, behind the last branch. An instruction of the kernel stops the hardware: if
 * kernel code is traced, straight code leads to it. Otherwise it is unknown how far control came.
 */
static void end_flow(struct bts_flow *b)
{
	const struct auxtrace_record_window *w = b->span ? b->span->record : NULL;
	bool lost = w && (w->end_cause == AUXTRACE_CAUSE_FULL || w->end_cause == AUXTRACE_CAUSE_ERROR ||
			  w->end_cause == AUXTRACE_CAUSE_FOREIGN);

	if (b->known && !lost && code_is_kernel(b->at) && walk(b, UINT64_MAX, ptic_error) != FOUND)
		was_stopped(b);
	flow_emit_disable(b->f, b->at, b->known);
}

/* Decode positions [begin, end). @begin need not be that of a record. */
static void decode(struct bts_flow *b, uint64_t begin, uint64_t end)
{
	struct auxtrace_branch record;
	uint64_t position = auxtrace_branch_next(begin);

	b->known = b->skipping = false;
	b->abort = 0;
	b->f->open = false;
	b->f->sum->unsynced += (position < end ? position : end) - begin;
	for (; position < end && end - position >= RECORD; position += RECORD) {
		if (*b->f->stop)
			break;
		memcpy(&record, b->bytes + (position - b->first), RECORD);
		take_record(b, &record, position);
		if (!b->f->samples)
			flow_passed(b->f, position + RECORD - b->first + b->f->cpu->pad);
	}
	if (position < end && !*b->f->stop)
		b->f->sum->unsynced += end - position;
	end_flow(b);
}

/* ---- files -------------------------------------------------------------- */

static void begin(struct bts_flow *b, struct flow *f)
{
	*b = (struct bts_flow){ .f = f, .cache = xcalloc(1, sizeof(*b->cache)) };
	f->cr3 = CODE_NO_CR3;
	f->tsc = 0;
}

static void end(struct bts_flow *b)
{
	free(b->cache);
	free(b->block);
}

static void decode_area(struct flow *f)
{
	const struct meta_cpu *cpu = f->cpu;
	struct window_spans all;
	struct bts_flow b;
	uint64_t size;

	size = f->aux.size > cpu->pad ? f->aux.size - cpu->pad : 0;
	window_spans_find(&all, &f->records, cpu->begin, cpu->begin + size);
	begin(&b, f);
	b.bytes = size ? f->aux.data + cpu->pad : NULL;
	b.first = cpu->begin;
	b.offset = -cpu->origin;
	if (all.count)
		f->view->cpu(f->view, cpu->cpu);
	for (size_t i = 0; i < all.count && !*f->stop; i++) {
		const struct window_span *s = &all.span[i];

		if (f->window && s->seq != f->window)
			continue;
		b.span = s;
		f->sum->windows++;
		f->sum->bytes += s->end - s->begin;
		begin_threads(&b);
		f->view->window(f->view, f, s->seq);
		decode(&b, s->begin, s->end);
	}
	end(&b);
	window_spans_free(&all);
}

static void decode_samples(struct flow *f)
{
	struct bts_flow b;

	begin(&b, f);
	if (f->records.nr_samples)
		f->view->cpu(f->view, f->cpu->cpu);
	for (size_t i = 0; i < f->records.nr_samples && !*f->stop; i++) {
		const struct auxtrace_record_sample *sample = &f->records.sample[i]->sample;

		f->view->sample(f->view, f, i + 1, sample);
		f->sum->unsampled += !f->records.bytes[i];
		if (!f->records.bytes[i] || !sample->length)
			continue;
		f->sum->samples++;
		f->sum->bytes += sample->length;
		b.bytes = f->records.bytes[i];
		b.first = sample->aux_end - sample->length;
		b.offset = -b.first;
		decode(&b, b.first, sample->aux_end);
	}
	end(&b);
}

/* Records do not say where threads change, so there is one turn. */
static bool bts_step(struct flow *f)
{
	if (f->samples)
		decode_samples(f);
	else
		decode_area(f);
	return false;
}

const struct flow_decoder bts_decoder = { .step = bts_step };
