// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event trace: which events make packets, their bytes, and RFLAGS.IF in MODE.Exec. The bytes
 * are those of the SDM's packet definitions: libipt before 2.1 cannot encode them.
 */
#include "machine.h"

#define ON	(OS | USER | BRANCH_EN | EVENT_EN)

/* The traced code is in one block of 64K: its addresses have two bytes. */
#define LOW(n)		((n) & 0xff), ((n) >> 8 & 0xff)
#define B_TIP(n)	0x2d, LOW(n)
#define B_PGE(n)	0x31, LOW(n)
#define B_PGE48(n)	0x71, LOW(n), 0x00, 0x81, 0xff, 0xff
#define B_FUP(n)	0x3d, LOW(n)
#define B_FUP48(n)	0x7d, LOW(n), 0x00, 0x81, 0xff, 0xff
#define B_PGD		0x01
#define B_PGD_IP(n)	0x21, LOW(n)
#define B_CFE(t, v)	0x02, 0x13, (t), (v)
#define B_CFE_IP(t, v)	0x02, 0x13, (t) | 0x80, (v)
#define B_CR2(b)	0x02, 0x53, 0x00, (b), 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88
#define CR2(b)		(0x8877665544332200 + (b))
#define B_MODE64	0x99, 0x01
#define B_MODE64_IF	0x99, 0x05
#define B_MODE32_IF	0x99, 0x06
#define B_CBR		0x02, 0x03, CBR_RATIO, 0x00
#define B_PIP		0x02, 0x43, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00
#define B_PSB8		0x02, 0x82, 0x02, 0x82, 0x02, 0x82, 0x02, 0x82
#define B_PSB		B_PSB8, B_PSB8
#define B_PSBEND	0x02, 0x23

#define INTR	1
#define IRET	2

#define AT	0x21		/* the instruction, behind KERN */
#define NEXT	0x23
#define ISR	0x100

static const struct ptm_context kernel_if = { .cr3 = 0x1000, .cs_l = true, .iflag = true };
static const struct ptm_context user_if = { .cr3 = 0x1000, .cpl = 3, .cs_l = true, .iflag = true };
static const struct ptm_context user32_if = { .cr3 = 0x1000, .cpl = 3, .cs_d = true, .iflag = true };

static int setup(void **state)
{
	*state = machine_new(ptm_profile_find("gracemont"));
	return 0;
}

static void interrupt(struct machine *m, uint8_t vector, const struct ptm_context *ctx)
{
	const struct ptm_interrupt interrupt = { .vector = vector, .cr2 = CR2(0x99) };

	ptm_interrupt(m->ptm, &interrupt, ctx, KERN + AT, KERN + ISR);
}

static void page_fault(struct machine *m, const struct ptm_context *ctx)
{
	const struct ptm_interrupt fault = { .vector = 14, .page_fault = true, .cr2 = CR2(0x11) };

	ptm_interrupt(m->ptm, &fault, ctx, KERN + AT, KERN + ISR);
}

static void iret(struct machine *m, const struct ptm_context *ctx)
{
	far_to(m, PTM_IRET, ctx, KERN + ISR, KERN + AT);
}

static void iflag(struct machine *m, bool on)
{
	ptm_iflag(m->ptm, on, KERN + AT);
}

static void expect_no_events(struct machine *m)
{
	assert_int_equal(counter(m, PTM_N_CFE), 0);
	assert_int_equal(counter(m, PTM_N_EVD), 0);
}

/* An interrupt's CFE has the branch's FUP, an IRET's one of its own. */
static void an_interrupt_and_its_return(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	interrupt(m, 0xec, &kernel_ctx);
	iret(m, &kernel_ctx);
	EXPECT_BYTES(m, B_CFE(INTR, 0xec), B_FUP(AT), B_TIP(ISR), B_CFE_IP(IRET, 0), B_FUP(ISR), B_TIP(AT));
	assert_int_equal(counter(m, PTM_N_CFE), 2);
	assert_int_equal(counter(m, PTM_N_EVD), 0);
}

static void a_page_fault_has_its_address(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	page_fault(m, &kernel_ctx);
	EXPECT_BYTES(m, B_CR2(0x11), B_CFE(INTR, 14), B_FUP(AT), B_TIP(ISR));
	assert_int_equal(counter(m, PTM_N_EVD), 1);
}

/* Vector 14 of another kind, as INT 14, has none. */
static void another_vector_14_has_no_address(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	interrupt(m, 14, &kernel_ctx);
	EXPECT_BYTES(m, B_CFE(INTR, 14), B_FUP(AT), B_TIP(ISR));
}

static void branches_before_them_come_before_them(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + AT);
	page_fault(m, &kernel_ctx);
	EXPECT_BYTES(m, 0x06, B_CR2(0x11), B_CFE(INTR, 14), B_FUP(AT), B_TIP(ISR));
}

/* In a trace of the kernel: into the context there is no address, out of it there is. */
static void from_user_code_to_the_traced_kernel(void **state)
{
	struct machine *m = *state;

	start_at(m, OS | BRANCH_EN | EVENT_EN, &user_ctx, KERN + 2);
	mark(m);
	page_fault(m, &kernel_ctx);
	iret(m, &user_ctx);
	EXPECT_BYTES(m, B_CR2(0x11), B_CFE(INTR, 14), B_MODE64, B_PGE48(ISR),
		     B_CFE_IP(IRET, 0), B_FUP(ISR), B_PGD);
}

static void from_the_kernel_to_traced_user_code(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN | EVENT_EN, &user_ctx, KERN + 2);
	mark(m);
	page_fault(m, &kernel_ctx);
	iret(m, &user_ctx);
	EXPECT_BYTES(m, B_CR2(0x11), B_CFE(INTR, 14), B_FUP(AT), B_PGD, B_CFE(IRET, 0), B_PGE(AT));
}

/* Neither before nor after it: a user's trace has nothing of the kernel's faults. */
static void out_of_context_there_are_none(void **state)
{
	struct machine *m = *state;

	start_at(m, USER | BRANCH_EN | EVENT_EN, &kernel_ctx, KERN + 2);
	mark(m);
	page_fault(m, &kernel_if);
	iflag(m, false);
	iret(m, &kernel_ctx);
	EXPECT_NOTHING(m);
	expect_no_events(m);
}

/* FilterEn does not matter to CFE; without a branch it has its own FUP. */
static void out_of_the_filter_they_have_an_address(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, KERN + 0x1000);
	wr(m, ADDR0_B, KERN + 0x1fff);
	start(m, ON | ADDR_CFG(0, 1));
	mark(m);
	interrupt(m, 0x20, &kernel_ctx);
	iret(m, &kernel_ctx);
	EXPECT_BYTES(m, B_CFE_IP(INTR, 0x20), B_FUP48(AT), B_CFE_IP(IRET, 0), B_FUP(ISR));
}

static void into_the_filter_there_are_both(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, KERN + ISR);
	wr(m, ADDR0_B, KERN + ISR + 0xf);
	start(m, ON | ADDR_CFG(0, 1));
	mark(m);
	interrupt(m, 0x20, &kernel_ctx);
	iret(m, &kernel_ctx);
	EXPECT_BYTES(m, B_CFE_IP(INTR, 0x20), B_FUP48(AT), B_MODE64, B_PGE(ISR),
		     B_CFE_IP(IRET, 0), B_FUP(ISR), B_PGD_IP(AT));
}

/* Out of the filter, IF is told when packets are enabled again. */
static void out_of_the_filter_there_is_no_mode(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, KERN + ISR);
	wr(m, ADDR0_B, KERN + ISR + 0xf);
	start(m, ON | ADDR_CFG(0, 1));
	mark(m);
	iflag(m, true);
	EXPECT_NOTHING(m);
	branch(m, PTM_JMP, KERN + AT, KERN + NEXT, KERN + ISR);
	EXPECT_BYTES(m, B_MODE64_IF, B_PGE48(ISR));
}

static void without_branches_all_have_an_address(void **state)
{
	struct machine *m = *state;

	start(m, OS | USER | EVENT_EN);
	mark(m);
	page_fault(m, &kernel_ctx);
	iret(m, &kernel_ctx);
	EXPECT_BYTES(m, B_CR2(0x11), B_CFE_IP(INTR, 14), B_FUP48(AT), B_CFE_IP(IRET, 0), B_FUP(ISR));
}

/* Then MODE.Exec has a FUP with the target, where the context that is entered is traced. */
static void without_branches_mode_has_the_target(void **state)
{
	struct machine *m = *state;

	start_at(m, OS | USER | EVENT_EN, &kernel_if, KERN + 2);
	mark(m);
	interrupt(m, 0x20, &kernel_ctx);
	iret(m, &user32_if);
	iflag(m, false);
	EXPECT_BYTES(m, B_CFE_IP(INTR, 0x20), B_FUP48(AT), B_MODE64, B_FUP(ISR),
		     B_CFE_IP(IRET, 0), B_FUP(ISR), B_MODE32_IF, B_FUP(AT), 0x99, 0x02, B_FUP(AT));
}

static void psb_has_the_flag(void **state)
{
	struct machine *m = *state;

	mark(m);
	start_at(m, OS | EVENT_EN, &kernel_if, KERN + 2);
	EXPECT_BYTES(m, B_PSB, B_PIP, B_CBR, B_MODE64_IF, B_PSBEND);
	stop(m);
	mark(m);
	start_at(m, OS | USER | EVENT_EN | BRANCH_EN, &kernel_if, KERN + 2);
	EXPECT_BYTES(m, B_PSB, B_PIP, B_CBR, B_PSBEND, B_MODE64_IF, B_PGE48(2));
}

/* Enabled again in the same window, without a PSB+. */
static void an_enable_has_the_flag(void **state)
{
	struct machine *m = *state;

	start(m, OS | EVENT_EN);
	stop(m);
	mark(m);
	assert_true(ptm_wrmsr(m->ptm, CTL, OS | EVENT_EN | TRACE_EN, &kernel_if, KERN, KERN + 2));
	EXPECT_BYTES(m, B_CBR, B_MODE64_IF, B_FUP48(2));
}

/* STI, CLI and POPF: the FUP has their address. */
static void instructions_change_if(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + AT);
	iflag(m, true);
	iflag(m, true);
	iflag(m, false);
	EXPECT_BYTES(m, 0x06, B_MODE64_IF, B_FUP(AT), B_MODE64, B_FUP(AT));
}

static void transfers_change_if(void **state)
{
	struct machine *m = *state;

	start_at(m, ON, &kernel_if, KERN + 2);
	mark(m);
	interrupt(m, 0x20, &kernel_ctx);
	iret(m, &kernel_if);
	far_to(m, PTM_FAR, &user_if, KERN + AT, KERN);
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + ISR);
	EXPECT_BYTES(m, B_CFE(INTR, 0x20), B_FUP(AT), B_MODE64, B_TIP(ISR),
		     B_CFE_IP(IRET, 0), B_FUP(ISR), B_MODE64_IF, B_TIP(AT),
		     B_TIP(0), B_MODE64, B_TIP(ISR));
}

/* A PSB+ that is due comes behind the next branch, and has the new flag. */
static void psb_comes_behind_the_next_branch(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	while (S_BYTES(rd(m, STATUS)) < 2048 - 4)
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	mark(m);
	iflag(m, true);
	EXPECT_BYTES(m, B_MODE64_IF, B_FUP(AT));
	mark(m);
	branch(m, PTM_JMP, KERN + AT, KERN + NEXT, KERN);
	EXPECT_BYTES(m, B_PSB, B_PIP, B_CBR, B_MODE64_IF, B_FUP48(0), B_PSBEND);
}

static void none_unless_enabled(void **state)
{
	static const struct {
		uint64_t ctl, status;
	} cases[] = {
		{ OS | USER | BRANCH_EN | TRACE_EN, 0 },	/* no EventEn */
		{ ON | TRACE_EN, S_STOPPED },
		{ ON | TRACE_EN, S_ERROR },
		{ ON, 0 },					/* no TraceEn */
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t modes;

		wr(m, STATUS, cases[i].status);
		wr(m, CTL, cases[i].ctl);
		modes = counter(m, PTM_N_MODE);
		page_fault(m, &kernel_ctx);
		iret(m, &kernel_ctx);
		iflag(m, true);
		expect_no_events(m);
		assert_int_equal(counter(m, PTM_N_MODE), modes);
		stop(m);
	}
}

/* Without EventEn the flag in PSB+ is 0 too. */
static void without_event_trace_the_flag_is_0(void **state)
{
	struct machine *m = *state;

	mark(m);
	start_at(m, OS | BRANCH_EN, &kernel_if, KERN + 2);
	EXPECT_BYTES(m, B_PSB, B_PIP, B_CBR, B_PSBEND, B_MODE64, B_PGE48(2));
}

/* An SMI is no interrupt: its CFE is not modelled. */
static void an_smi_has_none(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	far_to(m, PTM_EVENT, &smm_ctx, KERN + AT, KERN + ISR);
	EXPECT_BYTES(m, B_FUP(AT), B_PGD);
	expect_no_events(m);
}

static void an_overflow_takes_them(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	wr(m, MSR_PTM_DROP, 15);
	mark(m);
	page_fault(m, &kernel_ctx);
	EXPECT_BYTES(m, 0x02, 0xf3, B_FUP48(ISR));
	expect_no_events(m);
}

static void the_bit_faults_where_cpuid_has_none(void **state)
{
	struct machine *m = *state;

	wr(m, CTL, EVENT_EN);
	machine_free(m);
	*state = m = machine_new(ptm_profile_find("icelake"));
	assert_true(wr_faults(m, CTL, EVENT_EN));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(an_interrupt_and_its_return), T(a_page_fault_has_its_address),
		T(another_vector_14_has_no_address), T(branches_before_them_come_before_them),
		T(from_user_code_to_the_traced_kernel), T(from_the_kernel_to_traced_user_code),
		T(out_of_context_there_are_none), T(out_of_the_filter_they_have_an_address),
		T(into_the_filter_there_are_both), T(out_of_the_filter_there_is_no_mode),
		T(without_branches_all_have_an_address), T(without_branches_mode_has_the_target),
		T(psb_has_the_flag), T(an_enable_has_the_flag), T(instructions_change_if),
		T(transfers_change_if), T(psb_comes_behind_the_next_branch), T(none_unless_enabled),
		T(without_event_trace_the_flag_is_0), T(an_smi_has_none), T(an_overflow_takes_them),
		T(the_bit_faults_where_cpuid_has_none),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
