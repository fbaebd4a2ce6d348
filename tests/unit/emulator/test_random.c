// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random programs: libipt's instruction flow decoder must decode the model's trace to
 * exactly the instructions that were executed. The seeds are fixed.
 *
 * The program is real x86-64 code in memory, in two user and two kernel areas. An
 * executor with its own table of instructions runs it and makes the choices
 * (branches, returns, events, CR3 loads, WRMSR). It tracks when the trace is on by
 * the SDM's text, independent of the model, and which packets of event trace there must
 * be. BTS is on too, and each record must be the branch that was just taken.
 *
 * A loop that makes no packet is ambiguous in any trace; so direct JMPs go forward
 * only, and direct CALLs go to later functions.
 */
#include <stdlib.h>
#include <string.h>

#include "event_trace.h"
#include "machine.h"

#define AREA_SIZE	0x10000U
#define AREAS		4
#define FUNCTIONS	24	/* in each area */
#define BLOCKS		12	/* in each function */
#define DEPTH		96	/* of a call stack; more than the CPU's 64 */
#define FRAMES		8
#define TOPA_TABLE	TABLE_AT

/* CPUID.(14H,0):EBX and ECX */
#define HAS_CR3_FILTER	BIT(0)
#define HAS_PSB_CYC	BIT(1)
#define HAS_IP_FILTER	BIT(2)
#define HAS_MTC		BIT(3)
#define HAS_PTWRITE	BIT(4)
#define HAS_POWER	BIT(5)
#define HAS_EVENT	BIT(7)
#define HAS_TOPA	BIT(0)
#define HAS_TOPA_MULTI	BIT(1)
#define HAS_SINGLE	BIT(2)

#define DEBUGCTL	0x1d9
#define DS_AREA		0x600
#define DS_AT		0x20000
#define BTS_AT		0x21000
#define BTS_RECORD	24
#define BTS_ROOM	100
#define BTS_ON		0xc0	/* TR, BTS */
#define BTS_INT		BIT(8)
#define BTS_OFF_OS	BIT(9)
#define BTS_OFF_USR	BIT(10)

/* Of CFE and EVD */
#define CFE_INTR	1
#define CFE_IRET	2
#define EVD_CR2		0
#define PAGE_FAULT	14

enum kind {
	PLAIN, JCC, JMP, CALL, CALL_NEXT, CALL_IND, JMP_IND, RETURN, SYSCALL, SYSRET, IRET,
	INT_N, MOV_CR3, WRMSR, PTWRITE, HLT, STI, CLI, POPF,
};

struct insn {
	enum kind kind;
	uint8_t len;
	uint64_t target;
};

static const uint64_t area_base[AREAS] = {
	0x0000000000400000ULL, 0x00007ffff7dd0000ULL,
	0xffffffff81000000ULL, 0xffffffffa0000000ULL,
};

struct program {
	uint8_t code[AREAS][AREA_SIZE];
	struct insn insn[AREAS][AREA_SIZE];
	uint64_t block[AREAS][FUNCTIONS][BLOCKS];
	uint64_t end[AREAS][FUNCTIONS];
};

struct call_stack {
	uint64_t ret[DEPTH];
	unsigned int n;
};

struct frame {
	uint64_t ip;
	uint8_t cpl;
	bool iflag;
};

struct window {
	size_t byte, insn, overflow;	/* its start in each of the lists */
};

struct run {
	struct machine *m;
	struct ptm_profile profile;
	struct program *prog;
	uint64_t rng;

	uint64_t ip;
	struct ptm_context ctx;
	struct call_stack stack[2];	/* user, kernel */
	struct frame frame[FRAMES];
	unsigned int frames;

	/* The executor's own state of the enables. */
	uint64_t ctl, cr3_match, range[2];
	bool filter_en;
	bool overflows;		/* whether to make overflows */
	bool dropping;
	uint64_t ovfs;

	uint64_t debugctl;
	unsigned int bts_n;	/* records in the buffer */
	size_t records[2];	/* correct ones, from user and kernel */
	unsigned int bts_pmis;

	uint64_t *ptw;		/* operands of the PTWRITEs that are traced */
	size_t ptw_n, ptw_room, ptw_seen;
	/* Addresses of those FUPs that are EXSTOP's, or a CFE's or a MODE.Exec's own. */
	uint64_t *fup;
	size_t fup_n, fup_room, fup_seen, hlts;
	struct event_packets expected, traced;	/* of event trace: by the executor, and in the trace */

	uint64_t *log;
	size_t log_n, log_room;
	size_t *resume;			/* log index after each overflow */
	size_t resume_n;
	struct window *window;
	size_t windows;
	size_t branches, events, enables, compared;
};

static uint32_t any(struct run *r)
{
	/* xorshift64* */
	r->rng ^= r->rng >> 12;
	r->rng ^= r->rng << 25;
	r->rng ^= r->rng >> 27;
	return r->rng * 0x2545f4914f6cdd1dULL >> 32;
}

static uint32_t below(struct run *r, uint32_t n)
{
	return (uint64_t)any(r) * n >> 32;
}

static bool one_in(struct run *r, uint32_t n)
{
	return below(r, n) == 0;
}

/* The program */

struct emitter {
	struct program *prog;
	unsigned int area;
	uint32_t at;
};

static uint64_t here(const struct emitter *e)
{
	return area_base[e->area] + e->at;
}

static struct insn *put(struct emitter *e, enum kind kind, const char *bytes, unsigned int len)
{
	struct insn *insn = &e->prog->insn[e->area][e->at];

	assert_true(e->at + len <= AREA_SIZE);
	memcpy(&e->prog->code[e->area][e->at], bytes, len);
	*insn = (struct insn){ .kind = kind, .len = len };
	e->at += len;
	return insn;
}

/* The displacement is filled in when all blocks have an address. */
static void put_rel32(struct emitter *e, enum kind kind, const char *opcode, unsigned int n)
{
	char bytes[8] = { 0 };

	memcpy(bytes, opcode, n);
	put(e, kind, bytes, n + 4);
}

static void put_block(struct run *r, struct emitter *e, bool kernel, bool last)
{
	static const char *const plain[] = { "\x90", "\x48\x89\xc3", "\x0f\x1f\x00" };
	static const unsigned int plain_len[] = { 1, 3, 3 };
	static const enum kind iflag_kind[] = { STI, CLI, POPF };
	static const char *const iflag[] = { "\xfb", "\xfa", "\x9d" };
	uint32_t pick;

	for (unsigned int n = below(r, 4); n--;) {
		unsigned int i = below(r, 3);

		put(e, PLAIN, plain[i], plain_len[i]);
	}
	if ((r->profile.leaf14_0_ebx & HAS_PTWRITE) && one_in(r, 8))
		put(e, PTWRITE, "\xf3\x48\x0f\xae\xe0", 5);
	if (kernel && (r->profile.leaf14_0_ebx & HAS_POWER) && one_in(r, 16))
		put(e, HLT, "\xf4", 1);
	if (kernel && one_in(r, 8)) {
		unsigned int i = below(r, 3);

		put(e, iflag_kind[i], iflag[i], 1);
	}
	if (kernel && one_in(r, 8)) {
		put(e, WRMSR, "\x0f\x30", 2);
	} else if (kernel && !last && one_in(r, 16)) {
		put(e, MOV_CR3, "\x0f\x22\xd8", 3);
		/*
		 * libipt attributes a TIP.PGD without IP directly after a PIP to the
		 * MOV CR3, though it may belong to an IRET that follows.
		 */
		put_rel32(e, JCC, "\x0f\x85", 2);
		return;
	}

	pick = last ? 90 + below(r, 10) : below(r, 100);
	if (pick < 45)
		put_rel32(e, JCC, one_in(r, 2) ? "\x0f\x84" : "\x0f\x8c", 2);
	else if (pick < 50)
		put_rel32(e, JMP, "\xe9", 1);
	else if (pick < 64)
		put_rel32(e, CALL, "\xe8", 1);
	else if (pick < 66)
		put(e, CALL_NEXT, "\xe8\0\0\0\0", 5);
	else if (pick < 72)
		put(e, CALL_IND, "\xff\xd0", 2);
	else if (pick < 76)
		put(e, JMP_IND, "\xff\xe0", 2);
	else if (pick < 78)
		put(e, INT_N, "\xcd\x80", 2);
	else if (pick < 83 && kernel)
		put(e, IRET, "\x48\xcf", 2);
	else if (pick < 85 && kernel)
		put(e, SYSRET, "\x48\x0f\x07", 3);
	else if (pick < 82)
		put(e, SYSCALL, "\x0f\x05", 2);
	else
		put(e, RETURN, "\xc3", 1);
}

static void fix_targets(struct run *r, unsigned int area)
{
	struct program *p = r->prog;

	for (unsigned int f = 0; f < FUNCTIONS; f++) {
		uint64_t ip = p->block[area][f][0];

		while (ip < p->end[area][f]) {
			uint32_t at = ip - area_base[area];
			struct insn *insn = &p->insn[area][at];
			unsigned int b, later = 0;
			int32_t rel;

			ip += insn->len;
			if (insn->kind != JCC && insn->kind != JMP && insn->kind != CALL)
				continue;

			while (later < BLOCKS && p->block[area][f][later] < ip)
				later++;
			if (insn->kind == JCC) {
				insn->target = p->block[area][f][below(r, BLOCKS)];
			} else if (insn->kind == JMP) {
				b = later < BLOCKS ? later + below(r, BLOCKS - later) : BLOCKS;
				/* The last block has no later one: jump to the next instruction. */
				insn->target = b < BLOCKS ? p->block[area][f][b] : ip;
			} else {
				b = f + 1 < FUNCTIONS ? f + 1 + below(r, FUNCTIONS - f - 1) : f;
				/* The last function calls its next instruction. */
				insn->target = b > f ? p->block[area][b][0] : ip;
			}
			rel = insn->target - ip;
			memcpy(&p->code[area][at + insn->len - 4], &rel, 4);
		}
	}
}

static void make_program(struct run *r)
{
	struct program *p = calloc(1, sizeof(*p));

	assert_non_null(p);
	r->prog = p;
	for (unsigned int area = 0; area < AREAS; area++) {
		struct emitter e = { p, area, 0x40 };

		for (unsigned int f = 0; f < FUNCTIONS; f++) {
			for (unsigned int b = 0; b < BLOCKS; b++) {
				p->block[area][f][b] = here(&e);
				put_block(r, &e, area >= 2, b == BLOCKS - 1);
			}
			p->end[area][f] = here(&e);
			e.at += below(r, 600);	/* never executed */
		}
		fix_targets(r, area);
	}
}

static int area_of(uint64_t ip)
{
	for (int area = 0; area < AREAS; area++)
		if (ip - area_base[area] < AREA_SIZE)
			return area;
	return -1;
}

static uint64_t any_function(struct run *r, bool kernel)
{
	return r->prog->block[kernel * 2 + below(r, 2)][below(r, FUNCTIONS)][0];
}

static uint64_t any_block(struct run *r, bool kernel)
{
	return r->prog->block[kernel * 2 + below(r, 2)][below(r, FUNCTIONS)][below(r, BLOCKS)];
}

/* The executor's state of the enables */

static bool context_en(const struct run *r)
{
	return (r->ctl & TRACE_EN) && (r->ctl & (r->ctx.cpl ? USER : OS)) &&
	       (!(r->ctl & CR3_FILTER) || r->ctx.cr3 == r->cr3_match);
}

static void landed(struct run *r)
{
	r->filter_en = !(r->ctl & ADDR_CFG(0, 1)) ||
		       (r->ip >= r->range[0] && r->ip <= r->range[1]);
}

static bool packet_en(const struct run *r)
{
	return context_en(r) && r->filter_en;
}

static void log_insn(struct run *r)
{
	if (r->log_n == r->log_room) {
		r->log_room = 2 * r->log_room + 1024;
		r->log = realloc(r->log, r->log_room * sizeof(*r->log));
		assert_non_null(r->log);
	}
	r->log[r->log_n++] = r->ip;
}

/* A FUP with this address will have an EXSTOP before it, or what event_packets_take() makes one. */
static void expect_fup(struct run *r, uint64_t ip)
{
	if (r->fup_n == r->fup_room) {
		r->fup_room = 2 * r->fup_room + 64;
		r->fup = realloc(r->fup, r->fup_room * sizeof(*r->fup));
		assert_non_null(r->fup);
	}
	r->fup[r->fup_n++] = ip;
}

/* While packets are enabled, the trace always tells the flag; without event trace it tells 0. */
static void expect_iflag(struct run *r)
{
	if (packet_en(r))
		event_packets_iflag(&r->expected, (r->ctl & EVENT_EN) && r->ctx.iflag);
}

/* After each call of the model: records whether the overflow has ended. */
static void check_overflow(struct run *r)
{
	if (!r->dropping || counter(r->m, PTM_N_OVF) == r->ovfs)
		return;

	r->dropping = false;
	r->ovfs++;
	r->resume = realloc(r->resume, (r->resume_n + 1) * sizeof(*r->resume));
	assert_non_null(r->resume);
	r->resume[r->resume_n++] = r->log_n;
}

/* BTS */

static void bts_empty(struct run *r)
{
	put64(r->m, DS_AT + 8, LINEAR + BTS_AT);
	r->bts_n = 0;
}

static void bts_start(struct run *r)
{
	put64(r->m, DS_AT, LINEAR + BTS_AT);
	put64(r->m, DS_AT + 16, LINEAR + BTS_AT + BTS_ROOM * BTS_RECORD + 1);
	put64(r->m, DS_AT + 24, LINEAR + BTS_AT + (BTS_ROOM - 10) * BTS_RECORD);
	wr(r->m, DS_AREA, LINEAR + DS_AT);
	bts_empty(r);
}

static void bts_choose(struct run *r)
{
	static const uint64_t filter[] = { 0, BTS_OFF_OS, BTS_OFF_USR };

	r->debugctl = one_in(r, 4) ? 0 : BTS_ON | (one_in(r, 2) ? BTS_INT : 0) | filter[below(r, 3)];
	assert_true(ptm_wrmsr(r->m->ptm, DEBUGCTL, r->debugctl, &r->ctx, r->ip, r->ip + 2));
	bts_empty(r);
}

/* A branch was taken: checks BTS by the executor's own rule of what is recorded. */
static void check_bts(struct run *r, uint64_t from, uint64_t to)
{
	uint64_t at = BTS_AT + r->bts_n * BTS_RECORD;

	if (!(r->debugctl & BTS_ON) || (r->debugctl & (r->ctx.cpl ? BTS_OFF_USR : BTS_OFF_OS))) {
		assert_int_equal(get64(r->m, DS_AT + 8), LINEAR + at);
		return;
	}

	assert_int_equal(get64(r->m, at), from);
	assert_int_equal(get64(r->m, at + 8), to);
	r->records[r->ctx.cpl == 0]++;
	r->bts_n++;
	if ((r->debugctl & BTS_INT) && r->bts_n >= BTS_ROOM - 10)
		r->bts_pmis++;
	if (r->bts_n == BTS_ROOM) {
		/* Wraps by itself, or is emptied as by a driver. */
		if (r->debugctl & BTS_INT)
			bts_empty(r);
		r->bts_n = 0;
	}
	assert_int_equal(get64(r->m, DS_AT + 8), LINEAR + BTS_AT + r->bts_n * BTS_RECORD);
}

static void near(struct run *r, enum ptm_branch_kind kind, uint64_t next, uint64_t to)
{
	uint64_t from = r->ip;

	r->branches++;
	r->ip = to;
	if (ptm_near_wanted(r->m->ptm))
		ptm_branch(r->m->ptm, kind, NULL, from, next, to);
	if (kind != PTM_JCC_NOT_TAKEN) {
		landed(r);
		check_bts(r, from, to);
	}
	check_overflow(r);
}

/* A far transfer or an event, to @to. */
static void go_to(struct run *r, const struct frame *to)
{
	r->branches++;
	r->ctx.cpl = to->cpl;
	r->ctx.iflag = to->iflag;
	r->ip = to->ip;
}

static void gone(struct run *r, uint64_t from)
{
	landed(r);
	check_bts(r, from, r->ip);
	check_overflow(r);
	expect_iflag(r);
}

/*
 * A CFE is told if the context before or behind it is traced, whatever the IP filter says. The address is known
 * if it was traced before: @ip is its own FUP's then, unless that is the branch's.
 */
static void expect_cfe(struct run *r, uint8_t type, uint8_t vector, uint64_t ip, bool was_traced, bool own_fup)
{
	const struct event_packet cfe = {
		.what = EVENT_CFE, .type = type, .value = vector, .ip = was_traced && own_fup };

	if (!(r->ctl & EVENT_EN) || (!was_traced && !context_en(r)))
		return;
	event_packets_add(&r->expected, &cfe);
	if (cfe.ip)
		expect_fup(r, ip);
}

static void far(struct run *r, enum ptm_branch_kind kind, uint64_t next, const struct frame *to)
{
	bool was_traced = context_en(r);
	uint64_t from = r->ip;

	go_to(r, to);
	if (ptm_far_wanted(r->m->ptm))
		ptm_branch(r->m->ptm, kind, &r->ctx, from, next, to->ip);
	if (kind == PTM_IRET)
		expect_cfe(r, CFE_IRET, 0, from, was_traced, true);
	gone(r, from);
}

/* @next: where the handler returns to. */
static void interrupt(struct run *r, uint64_t next)
{
	const struct frame handler = { any_function(r, true), 0, false };
	struct ptm_interrupt interrupt = { .vector = any(r) };
	bool was_traced = context_en(r), packet = packet_en(r);
	uint64_t from = r->ip;

	if (one_in(r, 4))
		interrupt = (struct ptm_interrupt){
			.vector = PAGE_FAULT, .page_fault = true, .cr2 = (uint64_t)any(r) << 32 | any(r) };
	r->events++;
	r->frame[r->frames++] = (struct frame){ next, r->ctx.cpl, r->ctx.iflag };
	go_to(r, &handler);
	if (ptm_far_wanted(r->m->ptm))
		ptm_interrupt(r->m->ptm, &interrupt, &r->ctx, from, handler.ip);
	if (interrupt.page_fault && (r->ctl & EVENT_EN) && (was_traced || context_en(r)))
		event_packets_add(&r->expected, &(struct event_packet){
			.what = EVENT_EVD, .type = EVD_CR2, .value = interrupt.cr2 });
	expect_cfe(r, CFE_INTR, interrupt.vector, from, was_traced, !packet);
	gone(r, from);
}

static void event(struct run *r)
{
	if (r->frames < FRAMES)
		interrupt(r, r->ip);
}

static void leave_kernel(struct run *r, enum ptm_branch_kind kind, uint64_t next, bool to_user)
{
	struct frame frame = { any_block(r, false), 3, true };

	while (r->frames) {
		frame = r->frame[--r->frames];
		if (!to_user || frame.cpl)
			break;
		frame = (struct frame){ any_block(r, false), 3, true };
	}
	far(r, kind, next, &frame);
}

static void push_call(struct call_stack *s, uint64_t next)
{
	if (s->n == DEPTH) {
		memmove(s->ret, s->ret + 1, (DEPTH - 1) * sizeof(s->ret[0]));
		s->n--;
	}
	s->ret[s->n++] = next;
}

static void ret(struct run *r, uint64_t next)
{
	struct call_stack *s = &r->stack[!r->ctx.cpl];
	uint64_t to;

	to = s->n ? s->ret[--s->n] : any_block(r, !r->ctx.cpl);
	if (one_in(r, 30))		/* retpoline, longjmp: not where the CALL said */
		to = any_block(r, !r->ctx.cpl);
	else if (one_in(r, 60) && s->n)	/* skips a frame */
		to = s->ret[--s->n];
	near(r, PTM_RET, next, to);
}

/* Regions of 4K and 8K, some with INT, in one or two circular tables. */
static void choose_output(struct run *r)
{
	const uint32_t has = r->profile.leaf14_0_ecx;
	struct machine *m = r->m;
	uint64_t at = OUT_AT;
	unsigned int n = 1 + below(r, 5);

	if (!(has & HAS_TOPA) || ((has & HAS_SINGLE) && one_in(r, 4))) {
		single_range(m, OUT_AT, 128ULL << below(r, 8));
		r->ctl &= ~TOPA;
		return;
	}
	if (!(has & HAS_TOPA_MULTI)) {
		put64(m, TOPA_TABLE, OUT_AT | E_SIZE(below(r, 2)) | E_INT);
		put64(m, TOPA_TABLE + 8, TOPA_TABLE | E_END);
		wr(m, OUTPUT_BASE, TOPA_TABLE);
		wr(m, OUTPUT_MASK, (uint64_t)below(r, 4096) << 32 | 0x7f);
		r->ctl |= TOPA;
		return;
	}

	for (unsigned int i = 0; i < n; i++) {
		unsigned int size = one_in(r, 4);

		put64(m, TOPA_TABLE + 8 * i, at | E_SIZE(size) | (one_in(r, 2) ? E_INT : 0));
		at += 0x4000;
	}
	put64(m, TOPA_TABLE + 8 * n, (TOPA_TABLE + 0x1000) | E_END);
	put64(m, TOPA_TABLE + 0x1000, at);
	put64(m, TOPA_TABLE + 0x1008, TOPA_TABLE | E_END);
	wr(m, OUTPUT_BASE, TOPA_TABLE);
	wr(m, OUTPUT_MASK, (uint64_t)below(r, 4096) << 32 | 0x7f);
	r->ctl |= TOPA;
}

static void choose_config(struct run *r)
{
	static const uint64_t who[] = { OS | USER, USER, OS };
	static const unsigned int mtc[] = { 0, 3, 6, 9 };
	const uint32_t has = r->profile.leaf14_0_ebx;
	unsigned int area = below(r, AREAS), f = below(r, FUNCTIONS), g = below(r, FUNCTIONS);

	r->ctl = BRANCH_EN | who[below(r, 3)];
	if (has & HAS_PSB_CYC)
		r->ctl |= PSB_FREQ(below(r, 3));
	if (one_in(r, 4))
		r->ctl |= DIS_RETC;
	if (one_in(r, 2))
		r->ctl |= TSC_EN;
	if ((has & HAS_MTC) && (r->ctl & TSC_EN) && one_in(r, 2))
		r->ctl |= MTC_EN | MTC_FREQ(mtc[below(r, 4)]);
	if ((has & HAS_PSB_CYC) && one_in(r, 3))
		r->ctl |= CYC_EN | CYC_THRESH(below(r, 13));
	if ((has & HAS_PTWRITE) && one_in(r, 2))
		r->ctl |= PTW_EN | (one_in(r, 2) ? FUP_ON_PTW : 0);
	if ((has & HAS_POWER) && one_in(r, 2))
		r->ctl |= PWR_EVT_EN;
	if ((has & HAS_EVENT) && one_in(r, 2))
		r->ctl |= EVENT_EN;
	if ((has & HAS_IP_FILTER) && one_in(r, 4)) {
		r->ctl |= ADDR_CFG(0, 1);
		r->range[0] = r->prog->block[area][f < g ? f : g][0];
		r->range[1] = r->prog->end[area][f < g ? g : f] - 1;
		wr(r->m, ADDR0_A, r->range[0]);
		wr(r->m, ADDR0_B, r->range[1]);
	}
	if (has & HAS_CR3_FILTER) {
		if (one_in(r, 4))
			r->ctl |= CR3_FILTER;
		r->cr3_match = (1 + below(r, 3)) << 12;
		wr(r->m, CR3_MATCH, r->cr3_match);
	}
}

static void new_window(struct run *r)
{
	struct window w = { r->m->tee_n, r->log_n, r->resume_n };

	r->window = realloc(r->window, (r->windows + 1) * sizeof(w));
	assert_non_null(r->window);
	r->window[r->windows++] = w;
}

/* A WRMSR of the program; true if it stopped tracing and so is not in the trace. */
static bool wrmsr(struct run *r, uint64_t next)
{
	struct machine *m = r->m;

	if (one_in(r, 100))
		bts_choose(r);
	if (r->ctl & TRACE_EN) {
		if (one_in(r, 200)) {
			assert_true(ptm_wrmsr(m->ptm, CTL, 0, &r->ctx, r->ip, next));
			r->ctl &= ~TRACE_EN;
			check_overflow(r);
			return true;
		}
		if (r->overflows && one_in(r, 50)) {
			wr(m, MSR_PTM_DROP, 1 + below(r, 100));
			r->dropping = true;
		}
		return false;
	}

	if (one_in(r, 2))
		return false;

	/* Start a new window, or continue the old one. */
	if (!r->windows || one_in(r, 2)) {
		choose_config(r);
		choose_output(r);
		wr(m, STATUS, 0);
		new_window(r);
	}
	r->enables++;
	r->ctl |= TRACE_EN;
	assert_true(ptm_wrmsr(m->ptm, CTL, r->ctl, &r->ctx, r->ip, next));
	return false;
}

static void ptwrite(struct run *r, uint64_t next)
{
	uint64_t value = (uint64_t)any(r) << 32 | any(r);

	if (packet_en(r) && (r->ctl & PTW_EN)) {
		if (r->ptw_n == r->ptw_room) {
			r->ptw_room = 2 * r->ptw_room + 64;
			r->ptw = realloc(r->ptw, r->ptw_room * sizeof(*r->ptw));
			assert_non_null(r->ptw);
		}
		r->ptw[r->ptw_n++] = value;
	}
	ptm_ptwrite(r->m->ptm, value, true, r->ip, next);
	r->ip = next;
	check_overflow(r);
}

static void hlt(struct run *r, uint64_t next)
{
	if (context_en(r) && (r->ctl & PWR_EVT_EN)) {
		r->hlts++;
		expect_fup(r, r->ip);
	}
	ptm_sleep(r->m->ptm, NULL, r->ip);
	r->m->tsc += below(r, 1000);
	r->ip = next;
	ptm_wake(r->m->ptm, next);
	check_overflow(r);
}

static void change_iflag(struct run *r, enum kind kind, uint64_t next)
{
	bool iflag = kind == STI || (kind == POPF && one_in(r, 2));

	if (packet_en(r) && (r->ctl & EVENT_EN) && iflag != r->ctx.iflag)
		expect_fup(r, r->ip);
	r->ctx.iflag = iflag;
	if (ptm_near_wanted(r->m->ptm))
		ptm_iflag(r->m->ptm, iflag, r->ip);
	r->ip = next;
	check_overflow(r);
}

static void step(struct run *r)
{
	const struct insn *insn;
	uint64_t next;
	int area;
	bool kernel;

	r->m->tsc += below(r, 8);
	if (one_in(r, 20000))
		r->m->tsc += any(r) >> 8;	/* idle time */

	if (one_in(r, 150))
		event(r);

	area = area_of(r->ip);
	assert_int_not_equal(area, -1);
	insn = &r->prog->insn[area][r->ip - area_base[area]];
	assert_int_not_equal(insn->len, 0);
	next = r->ip + insn->len;
	kernel = !r->ctx.cpl;

	if (insn->kind == INT_N) {
		/* FUP holds its own address, so a decoder does not see it execute. */
		if (r->frames == FRAMES)
			r->frames = 0;
		interrupt(r, next);
		return;
	}
	if (insn->kind == WRMSR) {
		bool was = packet_en(r), traced = r->ctl & TRACE_EN;

		if (!wrmsr(r, next) && was)
			log_insn(r);
		r->ip = next;
		if (!traced)
			landed(r);
		expect_iflag(r);
		return;
	}

	if (packet_en(r))
		log_insn(r);

	switch (insn->kind) {
	case PLAIN:
		r->ip = next;
		break;
	case JCC:
		if (one_in(r, 2))
			near(r, PTM_JCC_TAKEN, next, insn->target);
		else
			near(r, PTM_JCC_NOT_TAKEN, next, next);
		break;
	case JMP:
		near(r, PTM_JMP, next, insn->target);
		break;
	case CALL:
	case CALL_NEXT:
		push_call(&r->stack[kernel], next);
		near(r, PTM_CALL, next, insn->kind == CALL ? insn->target : next);
		break;
	case CALL_IND:
		push_call(&r->stack[kernel], next);
		near(r, PTM_CALL_INDIRECT, next, any_function(r, kernel));
		break;
	case JMP_IND:
		near(r, PTM_JMP_INDIRECT, next, any_block(r, kernel));
		break;
	case RETURN:
		ret(r, next);
		break;
	case SYSCALL:
		if (r->frames == FRAMES)
			r->frames = 0;
		r->frame[r->frames++] = (struct frame){ next, 3, r->ctx.iflag };
		far(r, PTM_FAR, next, &(struct frame){ any_function(r, true), 0, false });
		break;
	case SYSRET:
		leave_kernel(r, PTM_FAR, next, true);
		break;
	case IRET:
		leave_kernel(r, PTM_IRET, next, false);
		break;
	case STI:
	case CLI:
	case POPF:
		change_iflag(r, insn->kind, next);
		break;
	case PTWRITE:
		ptwrite(r, next);
		break;
	case HLT:
		hlt(r, next);
		break;
	case MOV_CR3:
		r->ctx.cr3 = (1 + below(r, 3)) << 12;
		r->ip = next;
		ptm_cr3_write(r->m->ptm, &r->ctx, next);
		check_overflow(r);
		break;
	default:
		fail_msg("instruction of unknown kind");
	}
	expect_iflag(r);
}

/* Decoding */

static int read_code(uint8_t *buffer, size_t size, const struct pt_asid *asid, uint64_t ip,
		     void *context)
{
	const struct program *p = context;
	int area = area_of(ip);
	size_t room;

	if (area < 0)
		return -pte_nomap;
	room = area_base[area] + AREA_SIZE - ip;
	if (size > room)
		size = room;
	memcpy(buffer, &p->code[area][ip - area_base[area]], size);
	return size;
}

/* Decodes bytes @from to @to and compares with log entries @at to @end, overflows from @overflow. */
static void decode(struct run *r, size_t from, size_t to, size_t at, size_t end, size_t overflow)
{
	struct pt_insn_decoder *decoder;
	struct pt_image *image;
	struct pt_config config;
	int status;

	pt_config_init(&config);
	config.begin = r->m->tee + from;
	config.end = r->m->tee + to;
	decoder = pt_insn_alloc_decoder(&config);
	assert_non_null(decoder);
	image = pt_image_alloc(NULL);
	assert_non_null(image);
	assert_int_equal(pt_image_set_callback(image, read_code, r->prog), 0);
	assert_int_equal(pt_insn_set_image(decoder, image), 0);

	status = pt_insn_sync_set(decoder, 0);
	assert_true(status >= 0);
	for (;;) {
		struct pt_insn insn;
		uint64_t offset = 0;

		while (status >= 0 && (status & pts_event_pending)) {
			struct pt_event ev;

			status = pt_insn_event(decoder, &ev, sizeof(ev));
			if (status >= 0 && ev.type == ptev_overflow) {
				assert_true(overflow < r->resume_n);
				assert_true(at <= r->resume[overflow]);
				at = r->resume[overflow++];
			}
			/* It is unknown which of them an overflow dropped. */
			if (status >= 0 && ev.type == ptev_ptwrite && !r->overflows) {
				assert_true(r->ptw_seen < r->ptw_n);
				assert_int_equal(ev.variant.ptwrite.payload, r->ptw[r->ptw_seen]);
				r->ptw_seen++;
			}
			if (status >= 0 && ev.type == ptev_exstop && !ev.ip_suppressed &&
			    !r->overflows) {
				assert_true(r->fup_seen < r->fup_n);
				assert_int_equal(ev.variant.exstop.ip, r->fup[r->fup_seen]);
				r->fup_seen++;
			}
		}
		if (status >= 0 && !(status & pts_eos))
			status = pt_insn_next(decoder, &insn, sizeof(insn));
		else if (status >= 0)
			break;
		if (status == -pte_eos)
			break;
		pt_insn_get_offset(decoder, &offset);
		if (status < 0)
			fail_msg("%s at byte %llu of %zu, instruction %zu of %zu",
				 pt_errstr(pt_errcode(status)), (unsigned long long)offset,
				 to - from, at, end);
		if (at >= end || insn.ip != r->log[at])
			fail_msg("byte %llu: decoded %llx, executed %llx (instruction %zu of %zu)",
				 (unsigned long long)offset, (unsigned long long)insn.ip,
				 (unsigned long long)(at < end ? r->log[at] : 0), at, end);
		at++;
		r->compared++;
	}
	if (at != end)
		fail_msg("decoded up to instruction %zu of %zu", at, end);

	pt_insn_free_decoder(decoder);
	pt_image_free(image);
}

/* The packets of event trace, with RFLAGS.IF where it changes, are those that the executor expects. */
static void compare_events(const struct run *r)
{
	for (size_t i = 0; i < r->traced.n && i < r->expected.n; i++) {
		const struct event_packet *got = &r->traced.at[i], *want = &r->expected.at[i];

		if (got->what != want->what || got->type != want->type || got->ip != want->ip ||
		    got->value != want->value)
			fail_msg("event packet %zu: kind %d, type %d, IP %d, %llx; expected %d, %d, %d, %llx", i,
				 got->what, got->type, got->ip, (unsigned long long)got->value,
				 want->what, want->type, want->ip, (unsigned long long)want->value);
	}
	assert_int_equal(r->traced.n, r->expected.n);
}

static void run_for(struct run *r, const char *profile, uint64_t seed, size_t branches,
		    bool overflows)
{
	char why[256];

	memset(r, 0, sizeof(*r));
	if (!ptm_profile_parse(profile, &r->profile, why, sizeof(why)))
		fail_msg("%s", why);
	r->m = machine_new(&r->profile);
	r->m->tsc = 1000000;
	r->rng = seed;
	r->overflows = overflows;
	make_program(r);
	bts_start(r);
	event_packets_init(&r->expected);
	event_packets_init(&r->traced);
	r->ctx = (struct ptm_context){ .cr3 = 0x1000, .cs_l = true };
	r->ip = any_function(r, true);

	while (r->branches < branches)
		step(r);
	while (r->ctl & TRACE_EN)
		step(r);
	event_packets_take(&r->traced, r->m->tee, r->m->tee_n);
	if (!overflows)
		compare_events(r);
}

static void end_run(struct run *r)
{
	machine_free(r->m);
	free(r->prog);
	free(r->log);
	free(r->ptw);
	free(r->fup);
	event_packets_free(&r->expected);
	event_packets_free(&r->traced);
	free(r->resume);
	free(r->window);
}

/* Checks that a run covered enough to prove something. */
static void assert_variety(const struct run *r, size_t branches)
{
	struct machine *m = r->m;

	print_message("seed run: %zu branches, %zu events, %zu windows, %zu enables, "
		      "%zu overflows, %zu instructions traced, %zu bytes, %u PMIs\n"
		      "          %zu user and %zu kernel BTS records, equal to the branches taken\n",
		      r->branches, r->events, r->windows, r->enables, r->resume_n, r->log_n,
		      m->tee_n, m->pmis, r->records[0], r->records[1]);
	assert_true(r->log_n > branches / 2);
	assert_true(r->windows > 20);
	assert_true(r->enables > r->windows);
	assert_int_equal(r->resume_n > 50, r->overflows);
	assert_true(m->pmis > r->bts_pmis + 5);
	assert_int_equal(m->pmis, counter(m, PTM_N_PMI));
	assert_true(counter(m, PTM_N_MTC) > 100);
	assert_true(counter(m, PTM_N_CYC) > 100);
	assert_true(counter(m, PTM_N_PIP) > 100);
	assert_true(counter(m, PTM_N_PGE) > counter(m, PTM_N_PSB));
	assert_int_equal(counter(m, PTM_N_ERRORS), 0);
	assert_int_equal(counter(m, PTM_N_BYTES), m->tee_n);
	assert_true(r->records[0] > branches / 20);
	assert_true(r->records[1] > branches / 20);
	assert_int_equal(counter(m, PTM_N_BTS), r->records[0] + r->records[1]);
	assert_int_equal(counter(m, PTM_N_BTS_FULL) + counter(m, PTM_N_BTS_UNMAPPED), 0);
}

static void assert_compared(const struct run *r)
{
	print_message("          %zu instructions decoded, equal to those executed\n",
		      r->compared);
	if (r->overflows)
		assert_true(r->compared > r->log_n / 10 * 8);	/* the rest was lost */
	else
		assert_int_equal(r->compared, r->log_n);
}

static void whole_stream(void **state)
{
	const size_t branches = 10000000;
	struct run r;

	run_for(&r, "gracemont", 0x5eed0001, branches, false);
	assert_variety(&r, branches);
	decode(&r, 0, r.m->tee_n, 0, r.log_n, 0);
	assert_compared(&r);
	print_message("          %zu PTWRITEs, %zu HLTs, %llu CFEs, %llu EVDs, %zu FUPs of these and of RFLAGS.IF\n",
		      r.ptw_seen, r.hlts, (unsigned long long)counter(r.m, PTM_N_CFE),
		      (unsigned long long)counter(r.m, PTM_N_EVD), r.fup_seen);
	assert_true(r.ptw_seen > branches / 1000);
	assert_int_equal(r.ptw_seen, r.ptw_n);
	assert_true(r.hlts > branches / 1000);
	assert_true(counter(r.m, PTM_N_CFE) > branches / 1000);
	assert_true(counter(r.m, PTM_N_EVD) > branches / 10000);
	assert_true(r.fup_seen > r.hlts + branches / 1000);
	assert_int_equal(r.fup_seen, r.fup_n);
	end_run(&r);
}

static void by_windows(const char *profile, uint64_t seed)
{
	const size_t branches = 1500000;
	struct run r;

	run_for(&r, profile, seed, branches, true);
	assert_variety(&r, branches);
	for (size_t i = 0; i < r.windows; i++) {
		const struct window *w = &r.window[i];
		bool last = i + 1 == r.windows;

		decode(&r, w->byte, last ? r.m->tee_n : w[1].byte, w->insn,
		       last ? r.log_n : w[1].insn, w->overflow);
	}
	assert_compared(&r);
	end_run(&r);
}

static void each_window_on_its_own(void **state)
{
	by_windows("skylake", 0x5eed0002);
}

static void each_window_with_event_trace(void **state)
{
	by_windows("gracemont", 0x5eed0003);
}

static const char *const sets[] = {
	"skylake", "icelake", "broadwell", "gracemont", "icelake:-cr3-filter", "icelake:-psb-cyc",
	"icelake:-ip-filter", "icelake:-mtc", "icelake:-topa:-topa-multi",
	"icelake:-topa-multi", "icelake:-single-range",
};
#define SETS	(sizeof(sets) / sizeof(sets[0]))

/* Returns how many instructions were compared. */
static size_t program(const char *set, uint64_t seed, size_t branches, bool overflows)
{
	struct run r;
	size_t compared;

	run_for(&r, set, seed, branches, overflows);
	if (r.windows)
		decode(&r, 0, r.m->tee_n, 0, r.log_n, 0);
	if (!overflows)
		assert_int_equal(r.fup_seen, r.fup_n);
	compared = r.compared;
	end_run(&r);
	return compared;
}

static void many_small_programs(void **state)
{
	for (unsigned int i = 0; i < SETS; i++) {
		size_t compared = 0;

		for (uint64_t seed = 1; seed <= 30; seed++)
			compared += program(sets[i], seed * 0x9e3779b97f4a7c15ULL, 10000, seed & 1);
		print_message("%s: %zu instructions decoded, equal to those executed\n",
			      sets[i], compared);
		assert_true(compared > 30000);
	}
}

/* Argument "long" runs this alone: a large program for each set of capabilities. */
static void large_programs(void **state)
{
	const size_t branches = 10000000;

	for (unsigned int i = 0; i < SETS; i++) {
		size_t compared = program(sets[i], 0x5eed0100 + i, branches, i & 1);

		print_message("%s: %zu branches, %zu instructions decoded, equal to those executed\n",
			      sets[i], branches, compared);
		assert_true(compared > branches / 2);
	}
}

int main(int argc, char **argv)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_stream), cmocka_unit_test(each_window_on_its_own),
		cmocka_unit_test(each_window_with_event_trace),
		cmocka_unit_test(many_small_programs),
	};
	static const struct CMUnitTest long_tests[] = {
		cmocka_unit_test(large_programs),
	};

	if (argc == 2 && !strcmp(argv[1], "long"))
		return cmocka_run_group_tests_name("random-long", long_tests, NULL, NULL);
	if (argc != 1) {
		fprintf(stderr, "usage: test_random [long]\n");
		return 2;
	}
	return cmocka_run_group_tests_name("random", tests, NULL, NULL);
}
