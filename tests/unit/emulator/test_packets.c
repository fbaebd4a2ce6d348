// SPDX-License-Identifier: GPL-2.0-only
/* Every kind of packet of the model equals libipt's encoding, byte by byte. */
#include "machine.h"

static void psb_plus_in_full(void **state)
{
	struct machine *m = *state;

	m->tsc = 84 * 1000 / 2 + 5;	/* ART tick 1000, 5 TSC ticks into it */
	mark(m);
	start(m, OS | USER | BRANCH_EN | TSC_EN | MTC_EN);
	EXPECT(m, P_PSB, P_TSC(42005), P_TMA(1000, 5), P_PIP(0x1000), P_CBR(CBR_RATIO), P_PSBEND,
	       P_MODE64, P_PGE(KERN + 2));
}

static void tsc_has_56_bits(void **state)
{
	struct machine *m = *state;

	m->tsc = 0x123456789abcdefULL;
	mark(m);
	start(m, USER | BRANCH_EN | TSC_EN);
	EXPECT(m, P_PSB, P_TSC(0x23456789abcdefULL), P_CBR(CBR_RATIO), P_PSBEND);
}

static void tma_at_its_limits(void **state)
{
	struct machine *m = *state;

	m->tsc = 42ULL * 0x1ffff + 41;	/* CTC is the ART's low 16 bits */
	mark(m);
	start(m, USER | BRANCH_EN | TSC_EN | MTC_EN);
	EXPECT(m, P_PSB, P_TSC(42ULL * 0x1ffff + 41), P_TMA(0xffff, 41), P_CBR(CBR_RATIO),
	       P_PSBEND);
}

static void tnt_of_each_length(void **state)
{
	struct machine *m = *state;

	start(m, OS | USER | BRANCH_EN);
	for (unsigned int n = 1; n <= 6; n++) {
		for (unsigned int bits = 0; bits < 1U << n; bits++) {
			mark(m);
			for (unsigned int i = n; i-- > 0;)
				branch(m, bits >> i & 1 ? PTM_JCC_TAKEN : PTM_JCC_NOT_TAKEN, KERN,
				       KERN + 2, KERN + 2);
			branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN + 0x10);
			EXPECT(m, P_TNT(n, bits), P_TIP16(KERN + 0x10));
		}
	}
}

static void ip_compression_of_each_kind(void **state)
{
	struct machine *m = *state;

	start(m, OS | USER | BRANCH_EN);
	mark(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0xffffffff8100fffeULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0xffffffff9234fffeULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0x00007fffffff0000ULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0x00007fffffff0000ULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0x1234567812345678ULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0xffff800000000000ULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0xffff800000010000ULL);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0xffff800100010000ULL);
	EXPECT(m, P_TIP16(0xfffe),
	       P_IP(ppt_tip, pt_ipc_update_32, 0x9234fffe),
	       P_TIP(0x00007fffffff0000ULL),
	       P_TIP16(0),
	       P_IP(ppt_tip, pt_ipc_full, 0x1234567812345678ULL),
	       P_TIP(0xffff800000000000ULL),
	       P_IP(ppt_tip, pt_ipc_update_32, 0x10000),	/* bit 16 alone */
	       P_TIP(0xffff800100010000ULL));	/* bit 32 alone */
}

static void last_ip_is_unknown_after_psb(void **state)
{
	struct machine *m = *state;
	uint64_t psbs;

	/* An IP whose upper bits are 0 equals LastIP 0 there, but no decoder may need that. */
	start(m, OS | USER | BRANCH_EN);
	psbs = counter(m, PTM_N_PSB);
	do {
		mark(m);
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, 0x1234);
	} while (counter(m, PTM_N_PSB) == psbs);
	EXPECT(m, P_TIP16(0x1234), P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_MODE64, P_FUP(0x1234),
	       P_PSBEND);
}

static void pip_has_cr3_51_to_5(void **state)
{
	struct machine *m = *state;
	struct ptm_context ctx = kernel_ctx;

	start(m, OS | USER | BRANCH_EN);
	mark(m);
	ctx.cr3 = 0x000ffedcba987fffULL;
	ptm_cr3_write(m->ptm, &ctx, KERN + 5);
	EXPECT(m, P_PIP(0x000ffedcba987fe0ULL));
}

static void mode_exec_of_each_mode(void **state)
{
	struct machine *m = *state;
	struct ptm_context ctx16 = { .cr3 = 0x1000 };

	start(m, OS | USER | BRANCH_EN);
	mark(m);
	far_to(m, PTM_FAR, &user32_ctx, KERN, KERN + 0x20);
	far_to(m, PTM_FAR, &ctx16, KERN, KERN + 0x30);
	far_to(m, PTM_FAR, &ctx16, KERN, KERN + 0x40);
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + 0x50);
	EXPECT(m, P_MODE(0, 1), P_TIP16(KERN + 0x20), P_MODE(0, 0), P_TIP16(KERN + 0x30),
	       P_TIP16(KERN + 0x40), P_MODE64, P_TIP16(KERN + 0x50));
}

static void cyc_of_each_length(void **state)
{
	static const uint64_t cycles[] = {
		1, 31, 32, 4095, 4096, (1ULL << 19) - 1, 1ULL << 19, 1ULL << 40,
	};
	struct machine *m = *state;

	start(m, OS | USER | BRANCH_EN | CYC_EN);
	for (unsigned int i = 0; i < sizeof(cycles) / sizeof(cycles[0]); i++) {
		mark(m);
		m->tsc += cycles[i];
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		EXPECT(m, P_CYC(cycles[i]), P_TIP16(KERN));
	}
}

static void fup_pgd_and_trace_stop(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, 0x5000);
	wr(m, ADDR0_B, 0x5fff);
	start(m, OS | USER | BRANCH_EN | ADDR_CFG(0, 2));
	mark(m);
	branch(m, PTM_JMP, KERN, KERN + 2, 0x5000);
	EXPECT(m, P_IP(ppt_tip_pgd, pt_ipc_sext_48, 0x5000), P_STOP);

	stop(m);
	start(m, OS | USER | BRANCH_EN);
	mark(m);
	stop(m);
	EXPECT(m, P_FUP16(KERN), P_PGD_NO_IP);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(psb_plus_in_full), T(tsc_has_56_bits), T(tma_at_its_limits),
		T(tnt_of_each_length), T(ip_compression_of_each_kind),
		T(last_ip_is_unknown_after_psb), T(pip_has_cr3_51_to_5),
		T(mode_exec_of_each_mode), T(cyc_of_each_length), T(fup_pgd_and_trace_stop),
	};

	return cmocka_run_group_tests_name("packets", tests, NULL, NULL);
}
