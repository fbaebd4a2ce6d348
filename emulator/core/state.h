/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * struct ptm and the functions that the files of the model share. Private to
 * the model.
 *
 * ptm_output() takes whole packets. The packets of one event (FUP, PIP,
 * MODE.Exec, TIP) form a group, which nothing may interrupt. So PSB+, MTC and
 * the end of an overflow come between groups only: in ptm_branch(),
 * ptm_cr3_write(), ptm_ptwrite(), ptm_wake() and the MSR writes.
 */
#ifndef PTM_STATE_H
#define PTM_STATE_H

#include "ptm.h"
#include "registers.h"
#include "synthetic.h"

/* IA32_RTIT_CTL */
#define CTL_TRACE_EN	(1ULL << 0)
#define CTL_CYC_EN	(1ULL << 1)
#define CTL_OS		(1ULL << 2)
#define CTL_USER	(1ULL << 3)
#define CTL_PWR_EVT_EN	(1ULL << 4)
#define CTL_FUP_ON_PTW	(1ULL << 5)
#define CTL_CR3_FILTER	(1ULL << 7)
#define CTL_TOPA	(1ULL << 8)
#define CTL_MTC_EN	(1ULL << 9)
#define CTL_TSC_EN	(1ULL << 10)
#define CTL_DIS_RETC	(1ULL << 11)
#define CTL_PTW_EN	(1ULL << 12)
#define CTL_BRANCH_EN	(1ULL << 13)
#define CTL_MTC_FREQ	14
#define CTL_CYC_THRESH	19
#define CTL_PSB_FREQ	24
#define CTL_EVENT_EN	(1ULL << 31)
#define CTL_DIS_TNT	(1ULL << 55)
#define CTL_ADDR_CFG(n)	(32 + 4 * (n))
#define CTL_FIELD	0xfULL

/* IA32_RTIT_STATUS */
#define STATUS_FILTER_EN	(1ULL << 0)
#define STATUS_CONTEXT_EN	(1ULL << 1)
#define STATUS_TRIGGER_EN	(1ULL << 2)
#define STATUS_ERROR		(1ULL << 4)
#define STATUS_STOPPED		(1ULL << 5)
#define STATUS_BYTE_CNT		32
#define STATUS_BYTE_CNT_MAX	0x1ffffULL

/* CPUID.(14H,0):EBX and ECX */
#define CAP_CR3_FILTER	(1U << 0)
#define CAP_PSB_CYC	(1U << 1)
#define CAP_IP_FILTER	(1U << 2)	/* and MSRs that survive a warm reset */
#define CAP_MTC		(1U << 3)
#define CAP_PTWRITE	(1U << 4)
#define CAP_POWER	(1U << 5)	/* power events */
#define CAP_EVENT	(1U << 7)	/* event trace */
#define CAP_DIS_TNT	(1U << 8)
#define OUT_TOPA	(1U << 0)
#define OUT_TOPA_MULTI	(1U << 1)
#define OUT_SINGLE	(1U << 2)

/* C-states are those of MWAIT's hints: the state less 1 in bits 7:4, the sub-state in 3:0. */
#define C1		0x00
#define WAKE_INTERRUPT	(1U << 0)	/* PWRX's wake reason */

/* Types of CFE and EVD packets, and the flag in MODE.Exec */
#define CFE_INTR	1
#define CFE_IRET	2
#define EVD_CR2		0
#define MODE_IF		(1U << 2)

#define RET_STACK_DEPTH	64
#define TNT_BITS	6	/* what one short TNT holds */
#define STAGE_BYTES	128
#define TOPA_LINE	64
#define LOG_ENTRIES	1024

/* The bits of IA32_DEBUGCTL that have an effect here */
#define DEBUGCTL_TR		(1ULL << 6)
#define DEBUGCTL_BTS		(1ULL << 7)
#define DEBUGCTL_BTINT		(1ULL << 8)
#define DEBUGCTL_BTS_OFF_OS	(1ULL << 9)
#define DEBUGCTL_BTS_OFF_USR	(1ULL << 10)
#define DEBUGCTL_FREEZE_PMC	(1ULL << 12)	/* FREEZE_PERFMON_ON_PMI */

#define PMU_FIXED_0	32	/* bit of the first fixed counter in the GLOBAL registers */
#define PMU_WIDTH	48
#define PMU_WIDTH_MASK	((1ULL << PMU_WIDTH) - 1)
#define GLOBAL_TOPA_PMI	(1ULL << 55)	/* of IA32_PERF_GLOBAL_STATUS */

struct pmu {
	uint64_t count[PMU_FIXED_0 + PMU_FIXED];	/* by that bit */
	uint64_t evtsel[PMU_GP], fixed_ctrl;
	uint64_t global_status, global_ctrl;
	/* Which counters instructions and branches advance, at CPL 0 and above it. */
	uint64_t by_insn[2], by_branch[2];
};

struct bts {
	uint64_t ds_area, debugctl;
	bool records[2];	/* branches are recorded, at CPL 0 and above it */
};

struct ip_range {
	uint64_t first, last;
};

struct msr_use {
	uint64_t reads, writes, faults;	/* reads and writes exclude faults */
};

struct log_entry {
	enum { LOG_RDMSR, LOG_WRMSR, LOG_PMI } what;
	bool fault;
	uint32_t msr;
	uint64_t instructions, value;
};

struct ptm {
	const struct ptm_profile *profile;
	const struct ptm_ops *ops;
	void *opaque;

	/* The MSRs; out_mask excludes OutputOffset, which is region_off. */
	uint64_t ctl, out_base, cr3_match, addr[2 * MAX_RANGES];
	uint32_t out_mask;
	bool error, stopped;
	uint64_t byte_cnt;	/* bytes since the last PSB */

	/* Derived from the MSRs and the CPU's state ("Packet Enable Control"). */
	bool trigger_en, context_en, filter_en, packet_en;
	struct ptm_context ctx;
	bool asleep;		/* between ptm_sleep() and ptm_wake() */
	struct ip_range filter[MAX_RANGES], stop[MAX_RANGES];
	unsigned int n_filter, n_stop;
	uint64_t psb_period;

	/* Flow */
	uint64_t last_ip;
	bool ip_full;		/* send a full IP: a decoder may not know LastIP */
	int mode_sent;		/* payload of the last MODE.Exec, -1: none is valid */
	uint8_t tnt, tnt_n;
	unsigned int ret_top, ret_n;
	uint64_t ret_stack[RET_STACK_DEPTH];

	/* Time; every public function that can make packets clears @now first. */
	uint64_t now;		/* TSC during this call, 0: not read yet */
	uint64_t mtc_period_no, mtc_due;	/* last CTC >> MTCFreq; TSC of the next */
	uint64_t cyc_from, tnt_tsc;	/* TSC of the last CYC, of the oldest TNT bit */
	unsigned int stride_left;

	/* Output; the region is the current ToPA entry's or the single range. */
	bool region_ok;
	uint64_t region_base, region_size;
	uint64_t region_off;	/* includes what is staged */
	uint64_t region_entry;	/* the ToPA entry */
	bool early_pmi_sent;
	unsigned int stage_n, stage_cap;
	uint8_t stage[STAGE_BYTES];
	bool line_valid;
	uint64_t line_at;	/* address of the cached line of the table (PTM_KNOB_TOPA_CACHE) */
	uint8_t line[TOPA_LINE];

	/* Overflow on demand; knob[PTM_KNOB_DROP] has the bytes still to drop */
	bool overflow;
	bool psb_forced;	/* the overflow dropped state that only a PSB+ restores */

	struct pmu pmu;
	struct bts bts;
	uint64_t pmi_in;	/* branches until the pending PMI; 0: none is pending */

	bool synthetic;		/* the synthetic MSRs are present */
	uint64_t knob[PTM_KNOBS], knob_power_up[PTM_KNOBS];
	uint64_t count[PTM_COUNTERS];
	struct msr_use use[MSR_SLOTS];
	struct log_entry log[LOG_ENTRIES];
	uint64_t log_n;		/* since power-up; the next goes to log_n % LOG_ENTRIES */
};

/* 0 at CPL 0, else 1: the distinction of the OS and USR bits of BTS and PMU. */
static inline unsigned int ring(const struct ptm *p)
{
	return p->ctx.cpl != 0;
}

static inline bool canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

static inline void ptm_count(struct ptm *p, enum ptm_counter which)
{
	p->count[which]++;
}

/*
 * The TSC, read once in a call of the model: all packets of the call have the
 * same time, however long the host takes to make them.
 */
static inline uint64_t ptm_now(struct ptm *p)
{
	if (!p->now)
		p->now = p->ops->tsc(p->opaque);
	return p->now;
}

/* enables.c */
void ptm_ranges_load(struct ptm *p);
void ptm_update_enables(struct ptm *p, uint64_t ip);
void ptm_trigger_off(struct ptm *p);	/* Error, Stopped or disabled: no more packets */
bool ptm_stops_at(const struct ptm *p, uint64_t ip);
bool ptm_mode_without_branches(const struct ptm *p);

/* output.c */
void ptm_output(struct ptm *p, const uint8_t *bytes, unsigned int n);
void ptm_output_start(struct ptm *p);	/* TraceEn was set: load the first region */
void ptm_output_flush(struct ptm *p);	/* all staged bytes are in memory afterwards */
void ptm_output_forget(struct ptm *p);	/* TraceEn was cleared: drop the cached region */

/* packet.c: none of these flushes TNT bits */
void ptm_tnt_packet(struct ptm *p, uint8_t bits, unsigned int n);
void ptm_tip(struct ptm *p, uint64_t ip);
void ptm_pge(struct ptm *p, uint64_t ip);
void ptm_pgd(struct ptm *p, uint64_t ip);
void ptm_pgd_no_ip(struct ptm *p);
void ptm_fup(struct ptm *p, uint64_t ip);
void ptm_pip(struct ptm *p);
void ptm_mode_exec(struct ptm *p);
bool ptm_mode_changed(const struct ptm *p);	/* since the last MODE.Exec */
void ptm_mode_exec_if_changed(struct ptm *p);
void ptm_psb(struct ptm *p);
void ptm_psbend(struct ptm *p);
void ptm_ovf(struct ptm *p);
void ptm_stop(struct ptm *p);
void ptm_tsc(struct ptm *p, uint64_t tsc);
void ptm_tma(struct ptm *p, uint16_t ctc, uint16_t fast);
void ptm_mtc(struct ptm *p, uint8_t ctc);
void ptm_cbr(struct ptm *p);
void ptm_cyc(struct ptm *p, uint64_t cycles);
void ptm_ptw(struct ptm *p, uint64_t value, bool is64, bool fup);	/* @fup: one follows */
void ptm_mwait_packet(struct ptm *p, uint32_t hints, uint32_t extensions);
void ptm_pwre(struct ptm *p, uint8_t state);
void ptm_exstop(struct ptm *p, bool fup);
void ptm_pwrx(struct ptm *p, uint8_t state);
void ptm_cfe(struct ptm *p, uint8_t type, uint8_t vector, bool fup);
void ptm_evd(struct ptm *p, uint8_t type, uint64_t value);

/* group.c */
void ptm_tnt(struct ptm *p, bool taken);
void ptm_tnt_flush(struct ptm *p);
void ptm_group(struct ptm *p);	/* flush TNT, then the group's CYC */
void ptm_cyc_upto(struct ptm *p, uint64_t tsc);

/* timing.c */
void ptm_time_start(struct ptm *p);	/* TSC and TMA, where enabled */
void ptm_time_check(struct ptm *p);	/* an MTC, if one is due */

/* psb.c */
void ptm_psb_plus(struct ptm *p, uint64_t ip);
void ptm_overflow_end(struct ptm *p, uint64_t ip);

/* flow.c */
void ptm_enable(struct ptm *p, const struct ptm_context *ctx, uint64_t nlip);
void ptm_disable(struct ptm *p, uint64_t clip);
void ptm_warm_stop(struct ptm *p);	/* TraceEn is cleared without a WRMSR: no packets */

/* msr.c */
bool rtit_read(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t *value);
bool rtit_write(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t value,
		const struct ptm_context *ctx, uint64_t clip, uint64_t nlip);

/* pmu.c */
void pmu_power_up(struct pmu *u);
bool pmu_read(const struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t *value);
bool pmu_write(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t value);
void pmu_cpuid(uint32_t regs[4]);	/* they are 0 before */
bool pmu_interrupts(const struct pmu *u, unsigned int bit);
void pmu_freeze(struct pmu *u);	/* no counter counts until GLOBAL_CTRL is written */

/* pmu_count.c */
void pmu_branch(struct ptm *p);	/* a branch has retired at ctx.cpl */

/* pmi.c */
void ptm_pmi(struct ptm *p);
void ptm_topa_pmi(struct ptm *p);
void pmi_branch(struct ptm *p);	/* a branch was reported while a PMI is pending */

/* bts.c */
bool bts_read(const struct ptm *p, uint32_t msr, uint64_t *value);
bool bts_write(struct ptm *p, uint32_t msr, uint64_t value);
void bts_record(struct ptm *p, uint64_t from, uint64_t to);	/* ptm_bts_active() holds */

/* synthetic.c */
bool synthetic_owns(uint32_t msr);
bool synthetic_read(const struct ptm *p, uint32_t msr, uint64_t *value);
bool synthetic_write(struct ptm *p, uint32_t msr, uint64_t value);

/* knob.c */
bool knob_write(struct ptm *p, enum ptm_knob which, uint64_t value);
/* Must this WRMSR raise #GP? Counts it. */
bool knob_refuses_wrmsr(struct ptm *p, const struct msr_bank *bank, uint32_t msr,
			uint64_t value);

/* report.c */
void log_access(struct ptm *p, const struct msr_bank *bank, uint32_t msr, bool write,
		uint64_t value, bool fault);
void log_pmi(struct ptm *p);

#endif /* PTM_STATE_H */
