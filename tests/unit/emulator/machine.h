/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A machine for the PT model: memory, a clock and a PMI line, with libipt's encoder
 * to check what the model writes.
 *
 * cmocka requires these headers before its own.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <intel-pt.h>

#include "ptm.h"
#include "synthetic.h"

/* IA32_RTIT_* by the SDM's numbers, independent of the model's header. */
#define OUTPUT_BASE	0x560
#define OUTPUT_MASK	0x561
#define CTL		0x570
#define STATUS		0x571
#define CR3_MATCH	0x572
#define ADDR0_A		0x580
#define ADDR0_B		0x581
#define ADDR1_A		0x582
#define ADDR1_B		0x583
#define GLOBAL_STATUS	0x38e
#define GLOBAL_OVF_CTRL	0x390

#define BIT(n)		(1ULL << (n))
#define TRACE_EN	BIT(0)
#define CYC_EN		BIT(1)
#define OS		BIT(2)
#define USER		BIT(3)
#define PWR_EVT_EN	BIT(4)
#define DIS_TNT		BIT(55)
#define FUP_ON_PTW	BIT(5)
#define CR3_FILTER	BIT(7)
#define TOPA		BIT(8)
#define MTC_EN		BIT(9)
#define TSC_EN		BIT(10)
#define DIS_RETC	BIT(11)
#define PTW_EN		BIT(12)
#define BRANCH_EN	BIT(13)
#define MTC_FREQ(n)	((uint64_t)(n) << 14)
#define CYC_THRESH(n)	((uint64_t)(n) << 19)
#define PSB_FREQ(n)	((uint64_t)(n) << 24)
#define EVENT_EN	BIT(31)
#define ADDR_CFG(i, v)	((uint64_t)(v) << (32 + 4 * (i)))

#define S_FILTER_EN	BIT(0)
#define S_CONTEXT_EN	BIT(1)
#define S_TRIGGER_EN	BIT(2)
#define S_ERROR		BIT(4)
#define S_STOPPED	BIT(5)
#define S_BYTES(v)	((v) >> 32 & 0x1ffff)

#define E_END	BIT(0)
#define E_INT	BIT(2)
#define E_STOP	BIT(4)
#define E_SIZE(n)	((uint64_t)(n) << 6)	/* 4K << n */

#define RAM_SIZE	(4U << 20)
#define OUT_AT		(1U << 20)	/* default single range: 1 MiB here */
#define OUT_SIZE	(1U << 20)
#define TABLE_AT	0x10000

/* RAM as the kernel's page tables map it; all but machine.hole, one page. */
#define LINEAR	0xffff888000000000ULL

/* Addresses of the traced code, all in one 64K block. */
#define KERN	0xffffffff81000000ULL

struct machine {
	struct ptm *ptm;
	uint8_t *ram;
	uint8_t *tee;		/* every byte written to RAM by the model, in order */
	size_t tee_n, tee_room, mark;
	uint64_t tsc, tsc_step;
	unsigned int pmis;
	size_t tee_at_pmi;	/* bytes in RAM at the last PMI */
	unsigned int writes;
	uint64_t hole;		/* page of RAM that is not mapped at LINEAR; 0: none */
	uint64_t read_only;	/* page of RAM that is mapped there, but not for writes; 0: none */
	uint64_t instructions;	/* retired, for the log */
};

extern const struct ptm_context kernel_ctx, user_ctx, user32_ctx, smm_ctx;

struct machine *machine_new(const struct ptm_profile *profile);
void machine_free(struct machine *m);

/* cmocka fixtures: *state becomes a machine of the default profile. */
int machine_setup(void **state);
int machine_teardown(void **state);

/* WRMSR and RDMSR in the kernel, at KERN; these must not raise #GP. */
void wr(struct machine *m, uint32_t msr, uint64_t value);
uint64_t rd(struct machine *m, uint32_t msr);
bool wr_faults(struct machine *m, uint32_t msr, uint64_t value);
bool rd_faults(struct machine *m, uint32_t msr);

void single_range(struct machine *m, uint64_t base, uint64_t size);
/* Writes TraceEn | @ctl with PacketByteCnt 0; @nlip: the instruction after the WRMSR. */
void start_at(struct machine *m, uint64_t ctl, const struct ptm_context *ctx, uint64_t nlip);
void start(struct machine *m, uint64_t ctl);
void stop(struct machine *m);

void branch(struct machine *m, enum ptm_branch_kind kind, uint64_t from, uint64_t next,
	    uint64_t to);
void far_to(struct machine *m, enum ptm_branch_kind kind, const struct ptm_context *ctx,
	    uint64_t from, uint64_t to);

void put64(struct machine *m, uint64_t at, uint64_t value);
uint64_t get64(const struct machine *m, uint64_t at);
uint64_t counter(struct machine *m, enum ptm_counter which);

/* The next expect() checks what is written from here on. */
void mark(struct machine *m);
/* What was written since mark() equals, byte by byte, these packets as libipt encodes them. */
void expect(struct machine *m, const struct pt_packet *packets, size_t n);
#define EXPECT(m, ...) do { \
	const struct pt_packet expected_[] = { __VA_ARGS__ }; \
	expect(m, expected_, sizeof(expected_) / sizeof(expected_[0])); \
} while (0)
#define EXPECT_NOTHING(m) expect(m, NULL, 0)

/* The same of packets that libipt's encoder does not know before 2.1. */
void expect_bytes(struct machine *m, const uint8_t *bytes, size_t n);
#define EXPECT_BYTES(m, ...) do { \
	const uint8_t expected_[] = { __VA_ARGS__ }; \
	expect_bytes(m, expected_, sizeof(expected_)); \
} while (0)

#define P_PSB		{ .type = ppt_psb }
#define P_PSBEND	{ .type = ppt_psbend }
#define P_OVF		{ .type = ppt_ovf }
#define P_STOP		{ .type = ppt_stop }
#define P_TNT(n, bits)	{ .type = ppt_tnt_8, .payload.tnt = { (n), (bits) } }
#define P_IP(t, c, a)	{ .type = (t), .payload.ip = { (c), (a) } }
/* With the full IP, and with its low 16 bits. */
#define P_TIP(a)	P_IP(ppt_tip, pt_ipc_sext_48, a)
#define P_TIP16(a)	P_IP(ppt_tip, pt_ipc_update_16, a)
#define P_PGE(a)	P_IP(ppt_tip_pge, pt_ipc_sext_48, a)
#define P_PGE16(a)	P_IP(ppt_tip_pge, pt_ipc_update_16, a)
#define P_PGD16(a)	P_IP(ppt_tip_pgd, pt_ipc_update_16, a)
#define P_PGD_NO_IP	P_IP(ppt_tip_pgd, pt_ipc_suppressed, 0)
#define P_FUP(a)	P_IP(ppt_fup, pt_ipc_sext_48, a)
#define P_FUP16(a)	P_IP(ppt_fup, pt_ipc_update_16, a)
#define P_PIP(c)	{ .type = ppt_pip, .payload.pip = { .cr3 = (c) } }
#define P_MODE(l, d)	{ .type = ppt_mode, \
	.payload.mode = { pt_mol_exec, { .exec = { (l), (d) } } } }
#define P_MODE64	P_MODE(1, 0)
#define P_TSC(v)	{ .type = ppt_tsc, .payload.tsc = { (v) } }
#define P_TMA(c, f)	{ .type = ppt_tma, .payload.tma = { (c), (f) } }
#define P_MTC(c)	{ .type = ppt_mtc, .payload.mtc = { (c) } }
#define P_CBR(r)	{ .type = ppt_cbr, .payload.cbr = { (r) } }
#define P_CYC(v)	{ .type = ppt_cyc, .payload.cyc = { (v) } }
#define P_PTW(v, c, f)	{ .type = ppt_ptw, .payload.ptw = { .payload = (v), .plc = (c), .ip = (f) } }
#define P_MWAIT(h, e)	{ .type = ppt_mwait, .payload.mwait = { .hints = (h), .ext = (e) } }
#define P_PWRE(s, u, h)	{ .type = ppt_pwre, \
	.payload.pwre = { .state = (s), .sub_state = (u), .hw = (h) } }
#define P_EXSTOP(f)	{ .type = ppt_exstop, .payload.exstop = { .ip = (f) } }
#define P_PWRX_INT(l, d) { .type = ppt_pwrx, \
	.payload.pwrx = { .last = (l), .deepest = (d), .interrupt = 1 } }

#define CBR_RATIO	0x20	/* of the default profile */

#endif /* MACHINE_H */
