// SPDX-License-Identifier: GPL-2.0-only
/*
 * The packets of each change of flow. First the rows of the SDM's "Packet
 * Generation under Different Enable Conditions", named as there: number of the
 * operation, letter of the enables. Then RET compression, the filters, overflow
 * and PSB+ within a trace.
 */
#include <string.h>

#include "machine.h"

/*
 * One 64K block: code at KERN, an IP range of 0x1000 at IN, another at STOP.
 * A row starts tracing at @start with @ctx and the ranges of @ctl, makes @fill
 * conditional branches, and then the operation. The operation's own address is
 * @start or, for events, the pushed address.
 */
#define IN	(KERN + 0x4000)
#define OUT	(KERN + 0x2000)
#define STOP	(KERN + 0x6000)
#define FILTER	ADDR_CFG(0, 1)
#define TSTOP	ADDR_CFG(1, 2)
#define ON	(OS | USER | BRANCH_EN)

enum operation {
	BRANCH,		/* ptm_branch() */
	LOAD_CR3,
	ENABLE,		/* WRMSR TraceEn 0 -> 1, PacketByteCnt 0 */
	ENABLE_GOES_ON,	/* the same, PacketByteCnt not 0 */
	DISABLE,
};

static const struct ptm_context kernel_cr3 = { .cr3 = 0x2000, .cpl = 0, .cs_l = true };
static const struct ptm_context kernel16_ctx = { .cr3 = 0x1000, .cpl = 0 };
static const struct ptm_context user16_ctx = { .cr3 = 0x1000, .cpl = 3 };
static const struct ptm_context user_cr3 = { .cr3 = 0x2000, .cpl = 3, .cs_l = true };

struct row {
	const char *name;
	uint64_t ctl;
	const struct ptm_context *before;
	uint64_t start;
	unsigned int fill;
	enum operation op;
	enum ptm_branch_kind kind;
	const struct ptm_context *after;
	uint64_t to;
	bool was, is;		/* PacketEn before and after, as in the SDM's row */
	unsigned int n;
	struct pt_packet expected[9];
};

#define E(count, ...)	.n = (count), .expected = { __VA_ARGS__ }
#define NONE		.n = 0
#define NEAR(k, a)	.op = BRANCH, .kind = (k), .after = NULL, .to = (a)
#define FAR(k, c, a)	.op = BRANCH, .kind = (k), .after = (c), .to = (a)
#define FROM(c, a)	.before = (c), .start = (a)

#define PGE_FULL	P_PGE
#define PGD_FULL(a)	P_IP(ppt_tip_pgd, pt_ipc_sext_48, a)

static const struct row rows[] = {
	/* WRMSR that sets TraceEn */
	{ "2a_enable_bytecnt_packeten_0_0", USER | BRANCH_EN | TSC_EN, FROM(&kernel_ctx, KERN),
	  .op = ENABLE_GOES_ON, .was = 0, .is = 0, E(2, P_TSC(4200), P_CBR(CBR_RATIO)) },
	{ "2b_enable_psb_packeten_0_0", USER | BRANCH_EN | TSC_EN | MTC_EN, FROM(&kernel_ctx, KERN),
	  .op = ENABLE, .was = 0, .is = 0,
	  E(5, P_PSB, P_TSC(4200), P_TMA(100, 0), P_CBR(CBR_RATIO), P_PSBEND) },
	{ "2d_enable_bytecnt_packeten_0_1", ON | TSC_EN | MTC_EN, FROM(&kernel_ctx, KERN),
	  .op = ENABLE_GOES_ON, .was = 0, .is = 1,
	  E(5, P_TSC(4200), P_TMA(100, 0), P_CBR(CBR_RATIO), P_MODE64, PGE_FULL(KERN)) },
	{ "2d_enable_bytecnt_without_timing", ON, FROM(&user_ctx, KERN), .op = ENABLE_GOES_ON,
	  .was = 0, .is = 1, E(3, P_CBR(CBR_RATIO), P_MODE64, PGE_FULL(KERN)) },
	{ "2d_enable_bytecnt_in_16_bit_code", ON, FROM(&user16_ctx, KERN), .op = ENABLE_GOES_ON,
	  .was = 0, .is = 1, E(3, P_CBR(CBR_RATIO), P_MODE(0, 0), PGE_FULL(KERN)) },
	{ "2e_enable_psb_packeten_0_1", ON, FROM(&kernel_ctx, KERN), .op = ENABLE, .was = 0,
	  .is = 1, E(6, P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND, P_MODE64,
		     PGE_FULL(KERN)) },
	{ "2e_enable_psb_without_os_has_no_pip", USER | BRANCH_EN, FROM(&user_ctx, KERN),
	  .op = ENABLE, .was = 0, .is = 1,
	  E(5, P_PSB, P_CBR(CBR_RATIO), P_PSBEND, P_MODE64, PGE_FULL(KERN)) },
	{ "2_enable_in_a_tracestop_range", ON | TSTOP, FROM(&kernel_ctx, STOP), .op = ENABLE,
	  .was = 0, .is = 0, E(5, P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND, P_STOP) },

	/* WRMSR that clears TraceEn */
	{ "3a_disable_packeten_0_0", USER | BRANCH_EN, FROM(&kernel_ctx, KERN), .op = DISABLE,
	  .was = 0, .is = 0, NONE },
	{ "3b_disable_packeten_1_0", ON, FROM(&kernel_ctx, KERN), .op = DISABLE, .was = 1,
	  .is = 0, E(2, P_FUP16(KERN), P_PGD_NO_IP) },
	{ "3b_disable_flushes_tnt", ON, FROM(&kernel_ctx, KERN), .fill = 2, .op = DISABLE,
	  .was = 1, .is = 0, E(3, P_TNT(2, 2), P_FUP16(KERN), P_PGD_NO_IP) },

	/* MOV CR3 */
	{ "5a_cr3_packeten_0_0_no_context", ON | CR3_FILTER, FROM(&kernel_cr3, KERN),
	  .op = LOAD_CR3, .after = &(const struct ptm_context){ .cr3 = 0x3000, .cs_l = true },
	  .was = 0, .is = 0, NONE },
	{ "5f_cr3_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT), .op = LOAD_CR3,
	  .after = &kernel_cr3, .was = 0, .is = 0, E(1, P_PIP(0x2000)) },
	{ "5f_cr3_packeten_0_0_without_os", USER | BRANCH_EN, FROM(&kernel_ctx, OUT),
	  .op = LOAD_CR3, .after = &kernel_cr3, .was = 0, .is = 0, NONE },
	{ "5b_cr3_packeten_0_1", ON | CR3_FILTER, FROM(&kernel_cr3, KERN), .op = LOAD_CR3,
	  .after = &kernel_ctx, .was = 0, .is = 1,
	  E(3, P_PIP(0x1000), P_MODE64, PGE_FULL(KERN + 3)) },
	{ "5c_cr3_packeten_1_0", ON | CR3_FILTER, FROM(&kernel_ctx, KERN), .fill = 1,
	  .op = LOAD_CR3, .after = &kernel_cr3, .was = 1, .is = 0,
	  E(2, P_TNT(1, 1), P_PGD_NO_IP) },
	{ "5d_cr3_packeten_1_1", ON, FROM(&kernel_ctx, KERN), .fill = 1, .op = LOAD_CR3,
	  .after = &kernel_cr3, .was = 1, .is = 1, E(2, P_TNT(1, 1), P_PIP(0x2000)) },
	{ "5d_cr3_same_value", ON, FROM(&kernel_ctx, KERN), .op = LOAD_CR3,
	  .after = &kernel_ctx, .was = 1, .is = 1, E(1, P_PIP(0x1000)) },

	/* Direct near JMP and CALL */
	{ "6a_jmp_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT), NEAR(PTM_JMP, OUT + 9),
	  .was = 0, .is = 0, NONE },
	{ "6b_jmp_packeten_1_0", ON | FILTER, FROM(&kernel_ctx, IN), NEAR(PTM_JMP, OUT),
	  .was = 1, .is = 0, E(1, P_PGD16(OUT)) },
	{ "6b_call_packeten_1_0_tracestop", ON | TSTOP, FROM(&kernel_ctx, KERN), .fill = 3,
	  NEAR(PTM_CALL, STOP), .was = 1, .is = 0,
	  E(3, P_TNT(3, 5), P_PGD16(STOP), P_STOP) },
	{ "6_jmp_packeten_0_0_tracestop", ON | FILTER | TSTOP, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JMP, STOP), .was = 0, .is = 0, E(1, P_STOP) },
	{ "6c_jmp_packeten_0_1", ON | FILTER, FROM(&kernel_ctx, OUT), NEAR(PTM_JMP, IN),
	  .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "6d_jmp_packeten_1_1", ON, FROM(&kernel_ctx, KERN), NEAR(PTM_JMP, OUT),
	  .was = 1, .is = 1, NONE },
	{ "6d_call_packeten_1_1", ON | FILTER, FROM(&kernel_ctx, IN), NEAR(PTM_CALL, IN + 9),
	  .was = 1, .is = 1, NONE },

	/* Conditional branch, taken */
	{ "7a_jcc_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JCC_TAKEN, OUT + 9), .was = 0, .is = 0, NONE },
	{ "7b_jcc_packeten_0_1", ON | FILTER, FROM(&kernel_ctx, OUT), NEAR(PTM_JCC_TAKEN, IN),
	  .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "7e_jcc_packeten_1_0_tnt_empty", ON | FILTER, FROM(&kernel_ctx, IN),
	  NEAR(PTM_JCC_TAKEN, OUT), .was = 1, .is = 0, E(1, P_PGD_NO_IP) },
	{ "7e_jcc_packeten_1_0_tracestop", ON | TSTOP, FROM(&kernel_ctx, KERN),
	  NEAR(PTM_JCC_TAKEN, STOP), .was = 1, .is = 0, E(2, P_PGD_NO_IP, P_STOP) },
	{ "7f_jcc_packeten_1_0_tnt_not_empty", ON | FILTER, FROM(&kernel_ctx, IN), .fill = 1,
	  NEAR(PTM_JCC_TAKEN, OUT), .was = 1, .is = 0, E(2, P_TNT(1, 1), P_PGD_NO_IP) },
	{ "7c_jcc_packeten_1_1_buffered", ON, FROM(&kernel_ctx, KERN), .fill = 4,
	  NEAR(PTM_JCC_TAKEN, OUT), .was = 1, .is = 1, NONE },
	{ "7d_jcc_packeten_1_1_fills_tnt", ON, FROM(&kernel_ctx, KERN), .fill = 5,
	  NEAR(PTM_JCC_TAKEN, OUT), .was = 1, .is = 1, E(1, P_TNT(6, 0x2b)) },

	/* Conditional branch, not taken */
	{ "8a_not_taken_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JCC_NOT_TAKEN, OUT + 2), .was = 0, .is = 0, NONE },
	{ "8_not_taken_into_range_changes_nothing", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JCC_NOT_TAKEN, IN), .was = 0, .is = 0, NONE },
	{ "8_not_taken_out_of_range_changes_nothing", ON | FILTER, FROM(&kernel_ctx, IN),
	  .fill = 5, NEAR(PTM_JCC_NOT_TAKEN, OUT), .was = 1, .is = 1, E(1, P_TNT(6, 0x2a)) },
	{ "8b_not_taken_buffered", ON, FROM(&kernel_ctx, KERN), .fill = 1,
	  NEAR(PTM_JCC_NOT_TAKEN, KERN + 2), .was = 1, .is = 1, NONE },
	{ "8d_not_taken_fills_tnt", ON, FROM(&kernel_ctx, KERN), .fill = 5,
	  NEAR(PTM_JCC_NOT_TAKEN, KERN + 2), .was = 1, .is = 1, E(1, P_TNT(6, 0x2a)) },

	/* Indirect near JMP and CALL, RET */
	{ "9a_indirect_jmp_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JMP_INDIRECT, OUT + 9), .was = 0, .is = 0, NONE },
	{ "9a_ret_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT), NEAR(PTM_RET, OUT + 9),
	  .was = 0, .is = 0, NONE },
	{ "9b_indirect_jmp_packeten_0_1", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_JMP_INDIRECT, IN), .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "9b_indirect_call_packeten_0_1", ON | FILTER, FROM(&kernel_ctx, OUT),
	  NEAR(PTM_CALL_INDIRECT, IN), .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "9b_ret_packeten_0_1", ON | FILTER, FROM(&kernel_ctx, OUT), NEAR(PTM_RET, IN),
	  .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "9c_indirect_jmp_packeten_1_0", ON | FILTER, FROM(&kernel_ctx, IN), .fill = 2,
	  NEAR(PTM_JMP_INDIRECT, OUT), .was = 1, .is = 0, E(2, P_TNT(2, 2), P_PGD16(OUT)) },
	{ "9c_indirect_call_packeten_1_0", ON | FILTER, FROM(&kernel_ctx, IN),
	  NEAR(PTM_CALL_INDIRECT, OUT), .was = 1, .is = 0, E(1, P_PGD16(OUT)) },
	{ "9c_ret_packeten_1_0", ON | FILTER, FROM(&kernel_ctx, IN), NEAR(PTM_RET, OUT),
	  .was = 1, .is = 0, E(1, P_PGD16(OUT)) },
	{ "9c_ret_packeten_1_0_tracestop", ON | TSTOP, FROM(&kernel_ctx, KERN),
	  NEAR(PTM_RET, STOP), .was = 1, .is = 0, E(2, P_PGD16(STOP), P_STOP) },
	{ "9d_indirect_jmp_packeten_1_1", ON, FROM(&kernel_ctx, KERN), .fill = 2,
	  NEAR(PTM_JMP_INDIRECT, OUT), .was = 1, .is = 1, E(2, P_TNT(2, 2), P_TIP16(OUT)) },
	{ "9d_indirect_call_packeten_1_1", ON, FROM(&kernel_ctx, KERN),
	  NEAR(PTM_CALL_INDIRECT, OUT), .was = 1, .is = 1, E(1, P_TIP16(OUT)) },
	{ "9d_ret_packeten_1_1", ON, FROM(&kernel_ctx, KERN), NEAR(PTM_RET, OUT),
	  .was = 1, .is = 1, E(1, P_TIP16(OUT)) },

	/* Far branch */
	{ "10a_far_packeten_0_0_no_context", USER | BRANCH_EN, FROM(&kernel_ctx, KERN),
	  FAR(PTM_FAR, &kernel_cr3, OUT), .was = 0, .is = 0, NONE },
	{ "10f_far_packeten_0_0", ON | FILTER, FROM(&kernel_ctx, OUT),
	  FAR(PTM_FAR, &kernel_ctx, OUT + 9), .was = 0, .is = 0, NONE },
	{ "10f_far_packeten_0_0_cr3", ON | FILTER, FROM(&kernel_ctx, OUT),
	  FAR(PTM_FAR, &kernel_cr3, OUT + 9), .was = 0, .is = 0, E(1, P_PIP(0x2000)) },
	{ "10f_far_packeten_0_0_tracestop", ON | FILTER | TSTOP, FROM(&kernel_ctx, OUT),
	  FAR(PTM_FAR, &user_ctx, STOP), .was = 0, .is = 0, E(1, P_STOP) },
	{ "10b_far_packeten_0_1", USER | BRANCH_EN, FROM(&kernel_ctx, KERN),
	  FAR(PTM_FAR, &user_ctx, OUT), .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(OUT)) },
	{ "10b_far_packeten_0_1_cr3_mode", ON | FILTER, FROM(&kernel_ctx, OUT),
	  FAR(PTM_FAR, (&(const struct ptm_context){ .cr3 = 0x2000, .cpl = 3, .cs_d = true }), IN),
	  .was = 0, .is = 1, E(3, P_PIP(0x2000), P_MODE(0, 1), PGE_FULL(IN)) },
	{ "10c_far_packeten_1_0_no_context", USER | BRANCH_EN, FROM(&user_ctx, OUT), .fill = 1,
	  FAR(PTM_FAR, &kernel_ctx, KERN), .was = 1, .is = 0,
	  E(2, P_TNT(1, 1), P_PGD_NO_IP) },
	{ "10d_far_packeten_1_0", ON | FILTER, FROM(&kernel_ctx, IN),
	  FAR(PTM_FAR, &user_ctx, OUT), .was = 1, .is = 0, E(1, P_PGD16(OUT)) },
	{ "10d_far_packeten_1_0_cr3_tracestop", ON | TSTOP, FROM(&kernel_ctx, KERN),
	  FAR(PTM_FAR, &user_cr3, STOP), .was = 1, .is = 0,
	  E(3, P_PIP(0x2000), P_PGD16(STOP), P_STOP) },
	{ "10e_far_packeten_1_1", ON, FROM(&kernel_ctx, KERN), .fill = 3,
	  FAR(PTM_FAR, &user_ctx, OUT), .was = 1, .is = 1,
	  E(2, P_TNT(3, 5), P_TIP16(OUT)) },
	{ "10e_far_packeten_1_1_cr3_mode", ON, FROM(&kernel_ctx, KERN),
	  FAR(PTM_FAR, (&(const struct ptm_context){ .cr3 = 0x2000, .cpl = 3, .cs_d = true }), OUT),
	  .was = 1, .is = 1, E(3, P_PIP(0x2000), P_MODE(0, 1), P_TIP16(OUT)) },

	{ "10e_far_packeten_1_1_cr3_without_os", USER | BRANCH_EN, FROM(&user_ctx, KERN),
	  FAR(PTM_FAR, &user_cr3, OUT), .was = 1, .is = 1, E(1, P_TIP16(OUT)) },

	/* Interrupts, exceptions and INT n: FUP holds the pushed address */
	{ "11a_event_packeten_0_0_no_context", USER | BRANCH_EN, FROM(&kernel_ctx, KERN),
	  FAR(PTM_EVENT, &kernel_ctx, OUT), .was = 0, .is = 0, NONE },
	{ "11f_event_packeten_0_0_cr3", ON | FILTER, FROM(&kernel_ctx, OUT),
	  FAR(PTM_EVENT, &kernel_cr3, OUT + 9), .was = 0, .is = 0, E(1, P_PIP(0x2000)) },
	{ "11b_event_packeten_0_1", ON | FILTER, FROM(&user_ctx, OUT),
	  FAR(PTM_EVENT, &kernel_ctx, IN), .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "11b_event_packeten_0_1_os_alone", OS | BRANCH_EN, FROM(&user_ctx, OUT),
	  FAR(PTM_EVENT, &kernel_ctx, IN), .was = 0, .is = 1, E(2, P_MODE64, PGE_FULL(IN)) },
	{ "11c_event_packeten_1_0_no_context", USER | BRANCH_EN, FROM(&user_ctx, OUT), .fill = 1,
	  FAR(PTM_EVENT, &kernel_ctx, KERN), .was = 1, .is = 0,
	  E(3, P_TNT(1, 1), P_FUP16(OUT), P_PGD_NO_IP) },
	{ "11d_event_packeten_1_0", ON | FILTER, FROM(&user_ctx, IN),
	  FAR(PTM_EVENT, &kernel_ctx, KERN), .was = 1, .is = 0,
	  E(2, P_FUP16(IN), P_PGD16(KERN)) },
	{ "11d_event_packeten_1_0_cr3_tracestop", ON | TSTOP, FROM(&user_ctx, KERN),
	  FAR(PTM_EVENT, &kernel_cr3, STOP), .was = 1, .is = 0,
	  E(4, P_FUP16(KERN), P_PIP(0x2000), P_PGD16(STOP), P_STOP) },
	{ "11e_event_packeten_1_1", ON, FROM(&user_ctx, OUT), .fill = 2,
	  FAR(PTM_EVENT, &kernel_ctx, KERN), .was = 1, .is = 1,
	  E(3, P_TNT(2, 2), P_FUP16(OUT), P_TIP16(KERN)) },
	{ "11e_event_packeten_1_1_cr3_mode", ON, FROM(&user32_ctx, OUT),
	  FAR(PTM_EVENT, &kernel_cr3, KERN), .was = 1, .is = 1,
	  E(4, P_FUP16(OUT), P_PIP(0x2000), P_MODE64, P_TIP16(KERN)) },

	/* SMI: ContextEn becomes 0 */
	{ "14b_smi_packeten_1_0", ON, FROM(&kernel_ctx, KERN), FAR(PTM_EVENT, &smm_ctx, OUT),
	  .was = 1, .is = 0, E(2, P_FUP16(KERN), P_PGD_NO_IP) },

	/* BranchEn 0: only the PIP remains */
	{ "branchen_0_cr3_alone", OS | USER, FROM(&kernel_ctx, KERN), .op = LOAD_CR3,
	  .after = &kernel_cr3, .was = 0, .is = 0, E(1, P_PIP(0x2000)) },
	{ "branchen_0_event", OS | USER, FROM(&user_ctx, KERN),
	  FAR(PTM_EVENT, &kernel_ctx, OUT), .was = 0, .is = 0, NONE },
	{ "branchen_0_disable", OS | USER, FROM(&kernel_ctx, KERN), .op = DISABLE,
	  .was = 0, .is = 0, NONE },
};
#define ROWS	(sizeof(rows) / sizeof(rows[0]))

static void prepare(struct machine *m)
{
	m->tsc = 4200;
	wr(m, ADDR0_A, IN);
	wr(m, ADDR0_B, IN + 0xfff);
	wr(m, ADDR1_A, STOP);
	wr(m, ADDR1_B, STOP + 0xfff);
	wr(m, CR3_MATCH, 0x1000);
}

/* PacketEn, from IA32_RTIT_STATUS. */
static bool packet_en(struct machine *m, const struct row *r)
{
	const uint64_t all = S_FILTER_EN | S_CONTEXT_EN | S_TRIGGER_EN;

	return (r->ctl & BRANCH_EN) && (rd(m, STATUS) & all) == all;
}

static void row(void **state)
{
	const struct row *r = *state;
	struct machine *m = machine_new(ptm_profile_at(0));
	bool stops;

	prepare(m);
	if (r->op == ENABLE || r->op == ENABLE_GOES_ON) {
		mark(m);
		wr(m, STATUS, r->op == ENABLE ? 0 : BIT(32));
		assert_true(ptm_wrmsr(m->ptm, CTL, r->ctl | TRACE_EN, r->before, r->start - 2,
				      r->start));
	} else {
		start_at(m, r->ctl, r->before, r->start);
		/* Taken, not taken, ... without moving. */
		for (unsigned int i = 0; i < r->fill; i++)
			branch(m, i & 1 ? PTM_JCC_NOT_TAKEN : PTM_JCC_TAKEN, r->start,
			       r->start + 2, r->start);
		assert_int_equal(packet_en(m, r), r->was);
		mark(m);
		switch (r->op) {
		case BRANCH:
			ptm_branch(m->ptm, r->kind, r->after, r->start, r->start + 5, r->to);
			break;
		case LOAD_CR3:
			ptm_cr3_write(m->ptm, r->after, r->start + 3);
			break;
		default:
			assert_true(ptm_wrmsr(m->ptm, CTL, r->ctl, r->before, r->start,
					      r->start + 2));
			break;
		}
	}
	expect(m, r->expected, r->n);

	stops = r->n && r->expected[r->n - 1].type == ppt_stop;
	assert_int_equal(rd(m, STATUS) & S_STOPPED ? 1 : 0, stops);

	assert_int_equal(packet_en(m, r), r->is);
	machine_free(m);
}

/* RET compression */

static void ret(struct machine *m, uint64_t to)
{
	branch(m, PTM_RET, KERN + 0x900, KERN + 0x901, to);
}

static void call(struct machine *m, uint64_t next)
{
	branch(m, PTM_CALL, next - 5, next, KERN + 0x800);
}

static void ret_to_its_call_is_a_taken_bit(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	call(m, KERN + 0x100);
	branch(m, PTM_CALL_INDIRECT, KERN + 0x1fe, KERN + 0x200, KERN + 0x300);
	ret(m, KERN + 0x200);
	ret(m, KERN + 0x100);
	branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
	stop(m);
	EXPECT(m, P_TIP16(KERN + 0x300), P_TNT(3, 6), P_FUP16(KERN), P_PGD_NO_IP);
}

static void ret_elsewhere_is_a_tip_and_distrusts_the_stack(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	call(m, KERN + 0x100);
	call(m, KERN + 0x200);
	ret(m, KERN + 0x300);
	ret(m, KERN + 0x200);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x300), P_TIP16(KERN + 0x200), P_TIP16(KERN + 0x100));
}

static void ret_without_call_is_a_tip(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	ret(m, KERN + 0x100);
	call(m, KERN + 0x100);
	ret(m, KERN + 0x100);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100), P_TNT(1, 1), P_TIP16(KERN + 0x100));
}

static void ret_stack_is_64_deep(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	for (unsigned int i = 0; i < 70; i++)
		call(m, KERN + 0x1000 + 16 * i);
	mark(m);
	for (unsigned int i = 70; i-- > 6;)
		ret(m, KERN + 0x1000 + 16 * i);
	/* The 65th has been dropped. */
	ret(m, KERN + 0x1000 + 16 * 5);
	EXPECT(m, P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f),
	       P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f), P_TNT(6, 0x3f),
	       P_TNT(4, 0xf), P_TIP16(KERN + 0x1000 + 16 * 5));
}

static void ret_stack_forgets_what_fell_out_of_it(void **state)
{
	struct machine *m = *state;
	uint64_t tips;

	/* Recursion: all return addresses are equal. */
	start(m, ON);
	for (unsigned int i = 0; i < 70; i++)
		call(m, KERN + 0x100);
	tips = counter(m, PTM_N_TIP);
	for (unsigned int i = 0; i < 64; i++)
		ret(m, KERN + 0x100);
	assert_int_equal(counter(m, PTM_N_TIP), tips);
	ret(m, KERN + 0x100);
	assert_int_equal(counter(m, PTM_N_TIP), tips + 1);
}

static void call_to_next_instruction_is_not_pushed(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	branch(m, PTM_CALL, KERN + 0xfb, KERN + 0x100, KERN + 0x100);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
}

static void disretc_turns_compression_off(void **state)
{
	struct machine *m = *state;

	start(m, ON | DIS_RETC);
	mark(m);
	call(m, KERN + 0x100);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
}

static void distnt_leaves_out_conditional_branches_and_compressed_rets(void **state)
{
	struct machine *m = machine_new(ptm_profile_find("gracemont"));

	start(m, ON | DIS_TNT);
	mark(m);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 0x20);
	branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
	call(m, KERN + 0x100);
	ret(m, KERN + 0x100);
	ret(m, KERN + 0x200);
	EXPECT(m, P_TIP16(KERN + 0x200));
	assert_int_equal(counter(m, PTM_N_TNT), 0);
	stop(m);
	start(m, ON | DIS_TNT | DIS_RETC);
	mark(m);
	call(m, KERN + 0x100);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
	machine_free(m);
}

static void calls_before_pge_do_not_count(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN, &user_ctx, KERN);
	call(m, KERN + 0x100);
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + 0x10);
	far_to(m, PTM_FAR, &user_ctx, KERN, KERN + 0x20);
	mark(m);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
}

static void compressed_ret_that_leaves_the_range_has_its_ip(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start_at(m, ON | FILTER, &kernel_ctx, IN);
	branch(m, PTM_CALL, IN, OUT, IN + 0x10);
	mark(m);
	ret(m, OUT);
	EXPECT(m, P_PGD16(OUT));
}

static void nothing_leans_on_the_time_before_enable(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	call(m, KERN + 0x100);
	stop(m);
	mark(m);
	wr(m, CTL, ON | TRACE_EN);	/* PacketByteCnt is not 0 */
	ret(m, KERN + 0x100);
	EXPECT(m, P_CBR(CBR_RATIO), P_MODE64, PGE_FULL(KERN + 2), P_TIP16(KERN + 0x100));
}

/* TNT bits that no packet has taken when tracing ends at once, by an error or by an INIT. */
static void pending_bits_end_with_their_window(void **state)
{
	struct machine *m = *state;

	for (unsigned int init = 0; init < 2; init++) {
		start(m, ON);
		mark(m);
		wr(m, MSR_PTM_KNOB + PTM_KNOB_WRITE_FAIL, !init);
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
		branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
		branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
		if (init)
			ptm_reset(m->ptm, true);
		else
			rd(m, OUTPUT_MASK);	/* writes the TIP */
		assert_int_equal(rd(m, STATUS) & (S_ERROR | S_TRIGGER_EN), init ? 0 : S_ERROR);
		stop(m);

		mark(m);
		start(m, ON);
		branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
		stop(m);
		EXPECT(m, P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND, P_MODE64,
		       PGE_FULL(KERN + 2), P_TNT(1, 0), P_FUP16(KERN), P_PGD_NO_IP);
	}
}

/* Filters */

static void ip_range_is_inclusive(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start_at(m, ON | FILTER, &kernel_ctx, OUT);
	mark(m);
	branch(m, PTM_JMP, OUT, OUT + 5, IN - 1);
	branch(m, PTM_JMP, OUT, OUT + 5, IN + 0x1000);
	branch(m, PTM_JMP, OUT, OUT + 5, IN);
	branch(m, PTM_JMP, OUT, OUT + 5, IN + 0xfff);
	branch(m, PTM_JMP, OUT, OUT + 5, IN + 0x1000);
	EXPECT(m, P_MODE64, PGE_FULL(IN), P_PGD16(IN + 0x1000));
}

static void two_ip_ranges_are_a_union(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start_at(m, ON | FILTER | ADDR_CFG(1, 1), &kernel_ctx, OUT);
	mark(m);
	branch(m, PTM_JMP, OUT, OUT + 5, STOP);
	branch(m, PTM_JMP, OUT, OUT + 5, IN);
	branch(m, PTM_JMP, OUT, OUT + 5, OUT);
	EXPECT(m, P_MODE64, PGE_FULL(STOP), P_PGD16(OUT));
}

/* In the middle of the second range, away from the bounds of the first. */
static void each_ip_range_has_its_own_end(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start_at(m, ON | FILTER | ADDR_CFG(1, 1), &kernel_ctx, OUT);
	mark(m);
	branch(m, PTM_JMP, OUT, OUT + 5, STOP + 0x800);
	branch(m, PTM_JMP, OUT, OUT + 5, OUT);
	EXPECT(m, P_MODE64, PGE_FULL(STOP + 0x800), P_PGD16(OUT));
}

static void a_range_no_longer_set_does_not_stop(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start(m, ON | TSTOP);
	stop(m);
	start(m, ON);
	mark(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, STOP);
	EXPECT(m, P_TIP16(STOP));
	assert_int_equal(rd(m, STATUS) & S_STOPPED, 0);
}

static void cr3_filter_follows_the_context_switch(void **state)
{
	struct machine *m = *state;
	struct ptm_context ctx = kernel_ctx;

	prepare(m);
	start(m, USER | BRANCH_EN | CR3_FILTER);
	mark(m);
	far_to(m, PTM_FAR, &user_cr3, KERN, OUT);		/* another process */
	far_to(m, PTM_EVENT, &kernel_cr3, OUT, KERN);
	ctx.cr3 = 0x1000 | 0x1f;	/* bits 4:0 are ignored */
	ptm_cr3_write(m->ptm, &ctx, KERN + 3);
	ctx.cpl = 3;
	far_to(m, PTM_FAR, &ctx, KERN + 9, OUT);		/* the matching CR3 */
	far_to(m, PTM_EVENT, &kernel_ctx, OUT + 4, KERN);
	EXPECT(m, P_MODE64, PGE_FULL(OUT), P_FUP16(OUT + 4), P_PGD_NO_IP);
}

static void near_branches_without_context_are_ignored(void **state)
{
	struct machine *m = *state;

	start(m, USER | BRANCH_EN);
	assert_false(ptm_tracing(m->ptm));
	mark(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, OUT);
	far_to(m, PTM_FAR, &user_ctx, KERN, OUT);
	assert_true(ptm_tracing(m->ptm));
	EXPECT(m, P_MODE64, PGE_FULL(OUT));
}

static void nothing_happens_while_traceen_is_clear(void **state)
{
	struct machine *m = *state;

	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	far_to(m, PTM_FAR, &user_ctx, KERN, OUT);
	ptm_cr3_write(m->ptm, &kernel_cr3, OUT);
	EXPECT_NOTHING(m);
	assert_int_equal(m->tee_n, 0);
}

static void trace_stop_keeps_quiet_until_cleared(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start(m, ON | TSTOP);
	branch(m, PTM_JMP, KERN, KERN + 5, STOP);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	mark(m);
	branch(m, PTM_JMP_INDIRECT, STOP, STOP + 5, OUT);
	far_to(m, PTM_EVENT, &kernel_ctx, OUT, KERN);
	stop(m);
	EXPECT_NOTHING(m);

	wr(m, STATUS, 0);
	mark(m);
	start(m, ON);
	EXPECT(m, P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND, P_MODE64, PGE_FULL(KERN + 2));
}

/* PSB+ inside a trace */

static void psb_comes_when_its_period_is_full(void **state)
{
	struct machine *m = *state;

	for (unsigned int freq = 0; freq <= 5; freq++) {
		uint64_t psbs, bytes;

		start(m, ON | PSB_FREQ(freq));
		psbs = counter(m, PTM_N_PSB);
		bytes = S_BYTES(rd(m, STATUS));
		assert_int_equal(bytes, 16 + 8 + 4 + 2 + 2 + 7);
		do {
			mark(m);
			bytes = S_BYTES(rd(m, STATUS));
			assert_true(bytes < 2048U << freq);
			branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
		} while (counter(m, PTM_N_PSB) == psbs);
		assert_true(bytes + 3 >= 2048U << freq);
		EXPECT(m, P_TIP16(OUT), P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_MODE64,
		       P_FUP(OUT), P_PSBEND);
		assert_int_equal(S_BYTES(rd(m, STATUS)), 16 + 8 + 4 + 2 + 7 + 2);
		stop(m);
		single_range(m, OUT_AT, OUT_SIZE);
	}
}

static void psb_flushes_tnt_and_clears_the_ret_stack(void **state)
{
	struct machine *m = *state;
	uint64_t psbs;

	start(m, ON);
	psbs = counter(m, PTM_N_PSB);
	call(m, KERN + 0x100);
	while (S_BYTES(rd(m, STATUS)) < 2047)
		branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
	/* The TNT of the sixth branch fills the period. */
	mark(m);
	for (unsigned int i = 0; i < 5; i++)
		branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
	EXPECT_NOTHING(m);
	branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 4);
	assert_int_equal(counter(m, PTM_N_PSB), psbs + 1);
	EXPECT(m, P_TNT(6, 0x3e), P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_MODE64,
	       P_FUP(KERN + 4), P_PSBEND);
	mark(m);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
}

static void psb_never_parts_an_events_packets(void **state)
{
	struct machine *m = *state;
	uint64_t psbs;

	/* The event's own FUP fills the period. */
	start_at(m, ON, &user_ctx, KERN);
	psbs = counter(m, PTM_N_PSB);
	while (S_BYTES(rd(m, STATUS)) < 2046)
		branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
	assert_int_equal(S_BYTES(rd(m, STATUS)), 2046);
	mark(m);
	far_to(m, PTM_EVENT, &kernel_cr3, KERN + 2, OUT);
	assert_int_equal(counter(m, PTM_N_PSB), psbs + 1);
	EXPECT(m, P_FUP16(KERN + 2), P_PIP(0x2000), P_TIP16(OUT), P_PSB, P_PIP(0x2000),
	       P_CBR(CBR_RATIO), P_MODE64, P_FUP(OUT), P_PSBEND);
}

static void psb_outside_the_filter_has_no_ip(void **state)
{
	struct machine *m = *state;
	uint64_t psbs;

	/* Only PIPs are written there; the earlier MODE.Exec does not count. */
	prepare(m);
	start_at(m, ON | FILTER, &kernel_ctx, IN);
	branch(m, PTM_JMP, IN, IN + 5, OUT);
	psbs = counter(m, PTM_N_PSB);
	do {
		mark(m);
		ptm_cr3_write(m->ptm, &kernel_cr3, OUT);
	} while (counter(m, PTM_N_PSB) == psbs);
	EXPECT(m, P_PIP(0x2000), P_PSB, P_PIP(0x2000), P_CBR(CBR_RATIO), P_PSBEND);
	mark(m);
	branch(m, PTM_JMP, OUT, OUT + 5, IN);
	EXPECT(m, P_MODE64, PGE_FULL(IN));
}

/* The mode of 16-bit code is 0, which is no mode that was sent before. */
static void the_mode_of_16_bit_code_is_sent_after_a_psb(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start_at(m, ON | FILTER, &kernel16_ctx, OUT);
	mark(m);
	branch(m, PTM_JMP, OUT, OUT + 5, IN);
	EXPECT(m, P_MODE(0, 0), PGE_FULL(IN));
}

/* Overflow on demand */

static void overflow_ends_in_ovf_and_fup(void **state)
{
	struct machine *m = *state;
	uint64_t lost = counter(m, PTM_N_LOST);

	start(m, ON);
	call(m, KERN + 0x100);
	mark(m);
	wr(m, MSR_PTM_DROP, 5);
	assert_int_equal(rd(m, MSR_PTM_DROP), 5);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	assert_int_equal(rd(m, MSR_PTM_DROP), 2);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT + 4);
	assert_int_equal(rd(m, MSR_PTM_DROP), 0);
	EXPECT(m, P_OVF, P_FUP(OUT + 4));
	assert_int_equal(counter(m, PTM_N_LOST), lost + 6);
	assert_int_equal(counter(m, PTM_N_OVF), 1);

	/* No IP compression refers to packets before the overflow. */
	mark(m);
	ret(m, KERN + 0x100);
	EXPECT(m, P_TIP16(KERN + 0x100));
}

static void overflow_swallows_buffered_tnt(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
	mark(m);
	wr(m, MSR_PTM_DROP, 1);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
	stop(m);
	EXPECT(m, P_OVF, P_FUP(OUT), P_TNT(1, 0), P_FUP16(KERN), P_PGD_NO_IP);
}

static void overflow_that_ends_without_packeten(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN, &user_ctx, OUT);
	mark(m);
	wr(m, MSR_PTM_DROP, 1);
	far_to(m, PTM_FAR, &kernel_ctx, OUT, KERN);
	EXPECT(m, P_OVF);
	mark(m);
	far_to(m, PTM_FAR, &user_ctx, KERN, OUT);
	EXPECT(m, P_MODE64, PGE_FULL(OUT));
}

static void overflow_that_ends_before_16_bit_code(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN, &user16_ctx, OUT);
	wr(m, MSR_PTM_DROP, 1);
	far_to(m, PTM_FAR, &kernel_ctx, OUT, KERN);
	mark(m);
	far_to(m, PTM_FAR, &user16_ctx, KERN, OUT);
	EXPECT(m, P_MODE(0, 0), PGE_FULL(OUT));
}

/* What was lost before the INIT is not of the next window. */
static void overflow_that_an_init_cut_short_asks_for_no_psb(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	wr(m, MSR_PTM_DROP, 100);
	ptm_cr3_write(m->ptm, &kernel_cr3, KERN + 5);
	ptm_reset(m->ptm, true);
	mark(m);
	/* PacketByteCnt is not 0, so it begins without a PSB. */
	wr(m, CTL, USER | BRANCH_EN | TRACE_EN);
	stop(m);
	EXPECT(m, P_OVF);
}

static void overflow_that_took_state_is_followed_by_psb(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	wr(m, MSR_PTM_DROP, 8);
	ptm_cr3_write(m->ptm, &kernel_cr3, KERN + 5);
	EXPECT(m, P_OVF, P_FUP(KERN + 5), P_PSB, P_PIP(0x2000), P_CBR(CBR_RATIO), P_MODE64,
	       P_FUP(KERN + 5), P_PSBEND);
}

static void overflow_that_took_a_mode_is_followed_by_psb(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN, &user_ctx, OUT);
	mark(m);
	wr(m, MSR_PTM_DROP, 1);
	far_to(m, PTM_FAR, &user32_ctx, OUT, OUT + 8);
	EXPECT(m, P_OVF, P_FUP(OUT + 8), P_PSB, P_CBR(CBR_RATIO), P_MODE(0, 1), P_FUP(OUT + 8),
	       P_PSBEND);
}

static void overflow_that_took_a_psb_gives_it_back(void **state)
{
	struct machine *m = *state;

	wr(m, MSR_PTM_DROP, 1);
	start(m, USER | BRANCH_EN);
	mark(m);
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + 8);
	EXPECT(m, P_OVF, P_PSB, P_CBR(CBR_RATIO), P_PSBEND);
}

static void overflow_gives_time_again(void **state)
{
	struct machine *m = *state;

	m->tsc = 4200;
	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	wr(m, MSR_PTM_DROP, 1);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	EXPECT(m, P_OVF, P_FUP(OUT), P_TSC(4200), P_TMA(100, 0));
}

static void overflow_cut_short_by_disable(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	wr(m, MSR_PTM_DROP, 1000);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	stop(m);
	EXPECT(m, P_OVF);
	assert_int_equal(rd(m, MSR_PTM_DROP), 0);

	mark(m);
	start(m, ON);
	EXPECT(m, P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND, P_MODE64, PGE_FULL(KERN + 2));
}

/* An error leaves no place for the OVF. */
static void overflow_cut_short_by_an_error_goes_on_in_the_next_window(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	wr(m, MSR_PTM_KNOB + PTM_KNOB_WRITE_FAIL, 1);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	wr(m, MSR_PTM_DROP, 1);
	rd(m, OUTPUT_MASK);	/* writes the TIP */
	assert_int_equal(rd(m, STATUS) & (S_ERROR | S_TRIGGER_EN), S_ERROR);
	stop(m);
	assert_int_equal(rd(m, MSR_PTM_DROP), 1);

	start(m, USER | BRANCH_EN);
	far_to(m, PTM_FAR, &user_ctx, KERN, OUT);
	EXPECT(m, P_OVF, P_FUP(OUT), P_PSB, P_CBR(CBR_RATIO), P_MODE64, P_FUP(OUT), P_PSBEND);
}

static void overflow_armed_before_enable_takes_the_psb(void **state)
{
	struct machine *m = *state;

	wr(m, MSR_PTM_DROP, 1);
	mark(m);
	start(m, ON);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, OUT);
	EXPECT(m, P_OVF, P_FUP(OUT), P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_MODE64, P_FUP(OUT),
	       P_PSBEND);
}

static void overflow_into_a_tracestop_range(void **state)
{
	struct machine *m = *state;

	prepare(m);
	start(m, ON | TSTOP);
	mark(m);
	wr(m, MSR_PTM_DROP, 1000);
	branch(m, PTM_JMP, KERN, KERN + 5, STOP);
	EXPECT(m, P_OVF, P_STOP);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest others[] = {
		T(ret_to_its_call_is_a_taken_bit),
		T(ret_elsewhere_is_a_tip_and_distrusts_the_stack), T(ret_without_call_is_a_tip),
		T(ret_stack_is_64_deep),
		T(ret_stack_forgets_what_fell_out_of_it), T(call_to_next_instruction_is_not_pushed),
		T(distnt_leaves_out_conditional_branches_and_compressed_rets),
		T(disretc_turns_compression_off), T(calls_before_pge_do_not_count),
		T(compressed_ret_that_leaves_the_range_has_its_ip),
		T(nothing_leans_on_the_time_before_enable), T(pending_bits_end_with_their_window),
		T(ip_range_is_inclusive), T(two_ip_ranges_are_a_union),
		T(each_ip_range_has_its_own_end), T(a_range_no_longer_set_does_not_stop),
		T(cr3_filter_follows_the_context_switch),
		T(near_branches_without_context_are_ignored),
		T(nothing_happens_while_traceen_is_clear), T(trace_stop_keeps_quiet_until_cleared),
		T(psb_comes_when_its_period_is_full), T(psb_flushes_tnt_and_clears_the_ret_stack),
		T(psb_never_parts_an_events_packets), T(psb_outside_the_filter_has_no_ip),
		T(the_mode_of_16_bit_code_is_sent_after_a_psb),
		T(overflow_ends_in_ovf_and_fup), T(overflow_swallows_buffered_tnt),
		T(overflow_that_ends_without_packeten), T(overflow_that_ends_before_16_bit_code),
		T(overflow_that_an_init_cut_short_asks_for_no_psb),
		T(overflow_that_took_state_is_followed_by_psb), T(overflow_that_took_a_mode_is_followed_by_psb),
		T(overflow_that_took_a_psb_gives_it_back), T(overflow_gives_time_again),
		T(overflow_cut_short_by_disable),
		T(overflow_cut_short_by_an_error_goes_on_in_the_next_window),
		T(overflow_armed_before_enable_takes_the_psb),
		T(overflow_into_a_tracestop_range),
	};
	static struct CMUnitTest tests[ROWS + sizeof(others) / sizeof(others[0])];

	for (unsigned int i = 0; i < ROWS; i++) {
		tests[i] = (struct CMUnitTest){
			.name = rows[i].name,
			.test_func = row,
			.initial_state = (void *)&rows[i],
		};
	}
	memcpy(tests + ROWS, others, sizeof(others));

	return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
