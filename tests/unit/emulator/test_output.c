// SPDX-License-Identifier: GPL-2.0-only
/*
 * Output: ToPA tables and their errors, single range and its errors, PMI, STOP,
 * and the state that the MSRs show to the guest.
 */
#include <string.h>

#include "machine.h"

#define ON	(OS | USER | BRANCH_EN)
#define TABLE2	(TABLE_AT + 0x1000)
#define REGION(n) (OUT_AT + (n) * 0x100000ULL)	/* 1 MiB apart */

/* OUTPUT_MASK_PTRS in ToPA mode. */
static uint64_t at_entry(uint64_t index, uint64_t offset)
{
	return offset << 32 | index << 7 | 0x7f;
}

static void table(struct machine *m, uint64_t base, unsigned int n, const uint64_t *entries)
{
	for (unsigned int i = 0; i < n; i++)
		put64(m, base + 8 * i, entries[i]);
}
#define TABLE(m, at, ...) do { \
	const uint64_t entries_[] = { __VA_ARGS__ }; \
	table(m, at, sizeof(entries_) / sizeof(entries_[0]), entries_); \
} while (0)

static void topa(struct machine *m, uint64_t base, uint64_t mask_ptrs)
{
	wr(m, OUTPUT_BASE, base);
	wr(m, OUTPUT_MASK, mask_ptrs);
}

/* Makes @bytes to @bytes + 200 of trace, all in memory; less if tracing ends. */
static void trace(struct machine *m, uint64_t bytes)
{
	uint64_t to;

	rd(m, OUTPUT_MASK);
	to = m->tee_n + bytes;
	while (m->tee_n < to && (rd(m, STATUS) & S_TRIGGER_EN))
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	rd(m, OUTPUT_MASK);
}

/* The trace was written, in order, to the circular range of @size bytes at @base. */
static void assert_ring(struct machine *m, uint64_t base, uint64_t size)
{
	size_t first = m->tee_n > size ? m->tee_n - size : 0;

	for (size_t i = first; i < m->tee_n; i++)
		assert_int_equal(m->ram[base + i % size], m->tee[i]);
}

static void assert_error(struct machine *m)
{
	assert_int_equal(rd(m, STATUS) & 0x3f, S_ERROR);
	assert_int_equal(counter(m, PTM_N_ERRORS), 1);
	assert_int_equal(m->pmis, 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	assert_true(ptm_enabled(m->ptm));
	assert_false(ptm_tracing(m->ptm));
}

/* Valid ToPA */

static void topa_fills_regions_in_order(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(1) | E_SIZE(1), REGION(2), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA | PSB_FREQ(5));
	trace(m, 4096 + 8192 + 3000);
	assert_memory_equal(m->ram + REGION(0), m->tee, 4096);
	assert_memory_equal(m->ram + REGION(1), m->tee + 4096, 8192);
	assert_memory_equal(m->ram + REGION(2), m->tee + 12288, m->tee_n - 12288);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(2, m->tee_n - 12288));
	assert_int_equal(rd(m, OUTPUT_BASE), TABLE_AT);
	assert_int_equal(rd(m, STATUS) & (S_ERROR | S_STOPPED), 0);
	assert_int_equal(m->pmis, 0);
}

static void topa_end_leads_around(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(0) + 4096, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 5 * 4096);
	assert_ring(m, REGION(0), 8192);
	assert_int_equal(rd(m, OUTPUT_BASE), TABLE_AT);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(m->tee_n / 4096 % 2, m->tee_n % 4096));
}

static void topa_end_leads_to_another_table(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), TABLE2 | E_END);
	TABLE(m, TABLE2, REGION(1), REGION(2), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 4096 + 10);
	assert_int_equal(rd(m, OUTPUT_BASE), TABLE2);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(0, m->tee_n - 4096));
	trace(m, 8192);
	assert_int_equal(rd(m, OUTPUT_BASE), TABLE_AT);
	assert_memory_equal(m->ram + REGION(1), m->tee + 4096, 4096);
	assert_memory_equal(m->ram + REGION(2), m->tee + 8192, 4096);
}

static void topa_starts_where_the_msrs_say(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(1, 0x123));
	start(m, ON | TOPA);
	trace(m, 100);
	assert_memory_equal(m->ram + REGION(1) + 0x123, m->tee, m->tee_n);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(1, 0x123 + m->tee_n));
}

static void topa_goes_on_where_it_was_stopped(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(0) + 4096, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	for (unsigned int i = 0; i < 300; i++) {
		start(m, ON | TOPA);
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		stop(m);
	}
	assert_ring(m, REGION(0), 8192);
	assert_true(m->tee_n > 8192);
}

static void topa_size_of_each_encoding(void **state)
{
	struct machine *m = *state;

	/* 4K to 4M fit in this machine's memory; for bigger ones only the end is tested. */
	for (unsigned int n = 0; n <= 9; n++) {
		uint64_t size = 4096ULL << n;

		TABLE(m, TABLE_AT, (size < REGION(0) ? REGION(0) : size) | E_SIZE(n),
		      REGION(3), TABLE_AT | E_END);
		topa(m, TABLE_AT, at_entry(0, size - 4));
		start(m, ON | TOPA);
		assert_int_equal(rd(m, STATUS) & S_ERROR, 0);
		stop(m);
		assert_int_equal(rd(m, OUTPUT_BASE), TABLE_AT);
		assert_int_equal(rd(m, OUTPUT_MASK) & 0xffffffff, at_entry(1, 0));
	}
}

static void topa_last_size_needs_its_offset_below(void **state)
{
	struct machine *m = *state;

	/* 128M: aligned base 0, offset inside of this machine's memory. */
	TABLE(m, TABLE_AT, 0 | E_SIZE(15), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, REGION(0)));
	start(m, ON | TOPA);
	trace(m, 100);
	stop(m);
	assert_memory_equal(m->ram + REGION(0), m->tee, m->tee_n);
	topa(m, TABLE_AT, at_entry(0, 128ULL << 20));
	start(m, ON | TOPA);
	assert_int_equal(rd(m, STATUS) & S_ERROR, S_ERROR);
}

/* INT */

static void topa_int_asks_for_a_pmi(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0) | E_INT, REGION(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 3800);
	assert_int_equal(m->pmis, 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	trace(m, 300);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(counter(m, PTM_N_PMI), 1);
	assert_int_equal(m->tee_at_pmi, 4096);	/* all of the region is in memory */
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
	wr(m, GLOBAL_OVF_CTRL, BIT(55));
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);

	trace(m, 4096);
	assert_int_equal(m->pmis, 1);	/* the second region has no INT */
	trace(m, 4096);
	assert_int_equal(m->pmis, 2);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
	assert_int_equal(rd(m, STATUS) & 0x37, 0x7);	/* and tracing continues */
}

static void topa_int_comes_with_the_last_byte(void **state)
{
	struct machine *m = *state;
	size_t n;

	TABLE(m, TABLE_AT, REGION(0) | E_INT, REGION(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 4096 - 39 - 3));
	start(m, ON | TOPA);	/* 39 bytes */
	n = m->pmis;
	assert_int_equal(n, 0);
	/* No MSR is read, TraceEn stays set: the branch itself must raise it. */
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(m->pmis, 1);
}

static void topa_entry_is_read_again_at_enable(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	stop(m);
	put64(m, TABLE_AT, REGION(0) | E_INT);
	start(m, ON | TOPA);
	trace(m, 4096);
	assert_int_equal(m->pmis, 1);
}

/* STOP */

static void topa_stop_sets_stopped(void **state)
{
	struct machine *m = *state;
	uint64_t lost = counter(m, PTM_N_LOST);

	TABLE(m, TABLE_AT, REGION(0), REGION(1) | E_STOP, REGION(2), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 3 * 4096);
	assert_int_equal(m->tee_n, 8192);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	assert_int_equal(rd(m, OUTPUT_BASE), TABLE_AT);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(1, 4096));	/* offset == size */
	assert_int_equal(m->pmis, 0);
	assert_false(ptm_tracing(m->ptm));

	/* Nothing comes after it, not even at TraceEn 1 -> 0. */
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 0x10);
	stop(m);
	assert_int_equal(m->tee_n, 8192);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(1, 4096));
	assert_true(counter(m, PTM_N_LOST) - lost < 16);	/* the rest of one packet */
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
}

static void topa_stop_with_int(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0) | E_STOP | E_INT, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 8192);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(m->tee_at_pmi, 4096);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
}

static void topa_stopped_and_full_is_no_error_until_cleared(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0) | E_STOP, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 8192);
	stop(m);
	wr(m, CTL, ON | TOPA | TRACE_EN);	/* Stopped is still set */
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	stop(m);
	wr(m, STATUS, 0);
	wr(m, CTL, ON | TOPA | TRACE_EN);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_ERROR);	/* offset == size */
}

/* Operational errors of ToPA: each sets Error only */

struct bad_table {
	const char *name;
	uint64_t base, mask_ptrs;
	uint64_t entries[3];
	uint64_t second[2];	/* at TABLE2 */
};

#define GOOD	REGION(0)
static const struct bad_table bad_tables[] = {
	{ "error_entry_bit_1_reserved", TABLE_AT, 0x7f, { GOOD | BIT(1) }, { 0 } },
	{ "error_entry_bit_3_reserved", TABLE_AT, 0x7f, { GOOD | BIT(3) }, { 0 } },
	{ "error_entry_bit_5_reserved", TABLE_AT, 0x7f, { GOOD | BIT(5) }, { 0 } },
	{ "error_entry_bit_10_reserved", TABLE_AT, 0x7f, { GOOD | BIT(10) }, { 0 } },
	{ "error_entry_bit_11_reserved", TABLE_AT, 0x7f, { GOOD | BIT(11) }, { 0 } },
	{ "error_entry_base_at_maxphyaddr", TABLE_AT, 0x7f, { BIT(40) }, { 0 } },
	{ "error_entry_base_bit_63", TABLE_AT, 0x7f, { GOOD | BIT(63) }, { 0 } },
	{ "error_entry_base_not_size_aligned", TABLE_AT, 0x7f, { (GOOD + 4096) | E_SIZE(1) }, { 0 } },
	{ "error_offset_equals_size", TABLE_AT, 4096ULL << 32 | 0x7f, { GOOD }, { 0 } },
	{ "error_offset_beyond_size", TABLE_AT, 0xffffffffULL << 32 | 0x7f, { GOOD }, { 0 } },
	{ "error_table_not_4k_aligned", TABLE_AT + 0x80, 0x7f, { GOOD, GOOD, GOOD }, { 0 } },
	{ "error_end_in_entry_0", TABLE_AT, 0x7f, { TABLE2 | E_END }, { GOOD } },
	{ "error_end_with_int", TABLE_AT, 0xff, { GOOD, TABLE2 | E_END | E_INT }, { GOOD } },
	{ "error_end_with_stop", TABLE_AT, 0xff, { GOOD, TABLE2 | E_END | E_STOP }, { GOOD } },
	{ "error_end_with_a_reserved_bit", TABLE_AT, 0xff, { GOOD, TABLE2 | E_END | BIT(1) },
	  { GOOD } },
	{ "error_end_base_at_maxphyaddr", TABLE_AT, 0xff, { GOOD, BIT(40) | E_END }, { GOOD } },
	{ "error_end_leads_to_end", TABLE_AT, 0xff, { GOOD, TABLE2 | E_END }, { TABLE_AT | E_END } },
	{ "error_table_not_in_memory", RAM_SIZE, 0x7f, { 0 }, { 0 } },
	{ "error_entry_not_in_memory", RAM_SIZE - 4096, 0x7f | 512 << 7, { 0 }, { 0 } },
};
#define BAD_TABLES	(sizeof(bad_tables) / sizeof(bad_tables[0]))

static void bad_at_enable(void **state)
{
	const struct bad_table *b = *state;
	struct machine *m = machine_new(ptm_profile_at(0));

	table(m, TABLE_AT, 3, b->entries);
	table(m, TABLE2, 2, b->second);
	topa(m, b->base, b->mask_ptrs);
	start(m, ON | TOPA);
	trace(m, 100);
	assert_int_equal(m->tee_n, 0);
	assert_error(m);
	/* The MSRs still hold the position. */
	if (b->second[0] != (TABLE_AT | E_END)) {
		assert_int_equal(rd(m, OUTPUT_BASE), b->base);
		assert_int_equal(rd(m, OUTPUT_MASK), b->mask_ptrs);
	}
	stop(m);
	assert_int_equal(m->tee_n, 0);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_ERROR);
	machine_free(m);
}

static void error_met_on_the_way(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), REGION(1) | BIT(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 8192);
	assert_int_equal(m->tee_n, 4096);
	assert_error(m);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(1, 0));	/* points at the wrong entry */
}

static void error_region_without_memory(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0), RAM_SIZE, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 0));
	start(m, ON | TOPA);
	trace(m, 4096);
	stop(m);
	assert_int_equal(m->tee_n, 4096);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_ERROR);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(1, 0));
	assert_true(counter(m, PTM_N_LOST) > 0);
	assert_int_equal(counter(m, PTM_N_BYTES), 4096);
}

static void error_is_cleared_by_software(void **state)
{
	struct machine *m = *state;

	topa(m, TABLE_AT, at_entry(0, 0));
	put64(m, TABLE_AT, BIT(1));
	start(m, ON | TOPA);
	assert_error(m);
	stop(m);
	TABLE(m, TABLE_AT, REGION(0), TABLE_AT | E_END);
	start(m, ON | TOPA);
	assert_int_equal(rd(m, STATUS) & 0x3f, 7);
	trace(m, 100);
	assert_true(m->tee_n >= 100);
}

/* CPUs with single-entry tables */

static struct machine *one_entry(uint64_t first, uint64_t second)
{
	struct machine *m = machine_new(ptm_profile_find("broadwell"));

	TABLE(m, TABLE_AT, first, second, REGION(2), TABLE_AT | E_END);
	topa(m, TABLE_AT, 0x7f);
	wr(m, STATUS, 0);
	wr(m, CTL, ON | TOPA | TRACE_EN);
	return m;
}

static void one_entry_goes_around(void **state)
{
	struct machine *m = one_entry(REGION(0), TABLE_AT | E_END);

	trace(m, 3 * 4096);
	assert_ring(m, REGION(0), 4096);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(0, m->tee_n % 4096));
	machine_free(m);
}

static void one_entry_pmi_comes_early(void **state)
{
	struct machine *m = one_entry(REGION(0) | E_INT, TABLE_AT | E_END);

	trace(m, 3300);
	assert_int_equal(m->pmis, 0);
	trace(m, 300);
	assert_int_equal(m->pmis, 1);
	assert_true(m->tee_at_pmi < 4096);
	trace(m, 500);
	assert_int_equal(m->pmis, 1);	/* once per round */
	trace(m, 4096);
	assert_int_equal(m->pmis, 2);
	machine_free(m);
}

/* A read of the offset writes all bytes before it: each packet is looked at. They are of three bytes. */
static void one_entry_pmi_comes_512_bytes_before_the_end(void **state)
{
	static const struct {
		uint64_t begin, before;		/* the offset before the one that brings the PMI */
	} cases[] = { { 0, 3582 }, { 1, 3583 }, { 2, 3581 } };

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine *m = machine_new(ptm_profile_find("broadwell"));
		uint64_t offset = 0, last;

		TABLE(m, TABLE_AT, REGION(0) | E_INT, TABLE_AT | E_END);
		topa(m, TABLE_AT, at_entry(0, cases[i].begin));
		wr(m, STATUS, 0);
		wr(m, CTL, ON | TOPA | TRACE_EN);
		do {
			last = offset;
			branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
			offset = rd(m, OUTPUT_MASK) >> 32;
			assert_int_equal(m->pmis, offset >= 4096 - 512);
		} while (offset < 4096 - 512);
		assert_int_equal(last, cases[i].before);
		machine_free(m);
	}
}

/* Within the last bytes of a region with STOP: one PMI, although both reasons for one hold. */
static void one_entry_pmi_at_the_stop_comes_once(void **state)
{
	struct machine *m = machine_new(ptm_profile_find("broadwell"));

	TABLE(m, TABLE_AT, REGION(0) | E_INT | E_STOP, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 4096 - 100));
	wr(m, STATUS, 0);
	wr(m, CTL, ON | TOPA | TRACE_EN);
	while (ptm_tracing(m->ptm))
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	assert_int_equal(m->pmis, 1);
	machine_free(m);
}

static void one_entry_second_must_be_end(void **state)
{
	/* END with INT, STOP or a reserved bit is none. */
	const uint64_t seconds[] = {
		REGION(1), TABLE_AT, TABLE_AT | E_END | E_INT, TABLE_AT | E_END | E_STOP,
		TABLE_AT | E_END | BIT(1),
	};

	for (unsigned int i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
		struct machine *m = one_entry(REGION(0), seconds[i]);

		assert_error(m);
		machine_free(m);
	}
}

static void one_entry_end_must_lead_back(void **state)
{
	struct machine *m = one_entry(REGION(0), TABLE2 | E_END);

	assert_error(m);
	machine_free(m);
}

static void one_entry_index_must_be_0(void **state)
{
	struct machine *m = one_entry(REGION(0), TABLE_AT | E_END);

	stop(m);
	topa(m, TABLE_AT, at_entry(2, 0));
	wr(m, CTL, ON | TOPA | TRACE_EN);
	assert_error(m);
	machine_free(m);
}

static void one_entry_table_changed_while_tracing(void **state)
{
	struct machine *m = one_entry(REGION(0), TABLE_AT | E_END);

	put64(m, TABLE_AT + 8, TABLE2 | E_END);
	trace(m, 8192);
	assert_int_equal(m->tee_n, 4096);
	assert_error(m);
	machine_free(m);
}

/* Output that ends within a group of packets */

static void stop_inside_the_psb_of_an_enable(void **state)
{
	struct machine *m = *state;

	TABLE(m, TABLE_AT, REGION(0) | E_STOP, TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 4096 - 20));
	start(m, ON | TOPA);
	assert_int_equal(m->tee_n, 20);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_STOPPED);
	assert_int_equal(S_BYTES(rd(m, STATUS)), 20);
	assert_int_equal(rd(m, OUTPUT_MASK), at_entry(0, 4096));
	/* The rest of the PIP, which was cut. */
	assert_int_equal(counter(m, PTM_N_LOST), 4);
	assert_false(ptm_tracing(m->ptm));
	assert_int_equal(counter(m, PTM_N_PGE), 0);
	stop(m);
	assert_int_equal(m->tee_n, 20);
}

static void error_inside_an_event(void **state)
{
	struct machine *m = *state;

	/* FUP fits, TIP does not, and no valid region follows. */
	TABLE(m, TABLE_AT, REGION(0), BIT(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 4096 - 39 - 3));
	start(m, ON | TOPA);
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 8);
	assert_int_equal(m->tee_n, 42);
	assert_error(m);
	stop(m);
	assert_int_equal(m->tee_n, 42);
}

static void error_before_a_tracestop_is_not_stopped(void **state)
{
	struct machine *m = *state;

	/* PGD fills the region: Error, so TraceStop has nothing left to stop. */
	wr(m, ADDR0_A, KERN + 0x100);
	wr(m, ADDR0_B, KERN + 0x1ff);
	TABLE(m, TABLE_AT, REGION(0), BIT(1), TABLE_AT | E_END);
	topa(m, TABLE_AT, at_entry(0, 4096 - 39 - 3));
	start(m, ON | TOPA | ADDR_CFG(0, 2));
	branch(m, PTM_JMP, KERN, KERN + 5, KERN + 0x100);
	assert_error(m);
	assert_int_equal(counter(m, PTM_N_STOP), 0);
}

static void error_in_a_tracestop_is_not_stopped(void **state)
{
	struct machine *m = *state;

	/* The address of the staged bytes has no memory. */
	wr(m, ADDR0_A, KERN + 0x100);
	wr(m, ADDR0_B, KERN + 0x1ff);
	single_range(m, RAM_SIZE, 4096);
	start(m, ON | ADDR_CFG(0, 2));
	branch(m, PTM_JMP, KERN, KERN + 5, KERN + 0x100);
	assert_error(m);
}

/* Single range */

static void single_range_goes_around(void **state)
{
	struct machine *m = *state;

	single_range(m, REGION(0), 4096);
	start(m, ON);
	trace(m, 3 * 4096 + 1000);
	assert_ring(m, REGION(0), 4096);
	assert_int_equal(rd(m, OUTPUT_MASK), (m->tee_n % 4096) << 32 | 4095);
	assert_int_equal(rd(m, OUTPUT_BASE), REGION(0));
	assert_int_equal(m->pmis, 0);
	assert_int_equal(m->ram[REGION(0) + 4096], 0);
}

static void single_range_of_the_least_size(void **state)
{
	struct machine *m = *state;

	single_range(m, REGION(0) + 128, 128);
	start(m, ON);
	trace(m, 1000);
	assert_ring(m, REGION(0) + 128, 128);
	assert_int_equal(m->ram[REGION(0) + 127], 0);
	assert_int_equal(m->ram[REGION(0) + 256], 0);
}

static void single_range_starts_at_its_offset(void **state)
{
	struct machine *m = *state;

	wr(m, OUTPUT_BASE, REGION(0));
	wr(m, OUTPUT_MASK, 0x800ULL << 32 | 0xfff);
	start(m, ON);
	trace(m, 100);
	stop(m);
	assert_memory_equal(m->ram + REGION(0) + 0x800, m->tee, m->tee_n);
}

static void single_range_mask_not_contiguous(void **state)
{
	struct machine *m = *state;

	wr(m, OUTPUT_BASE, REGION(0));
	wr(m, OUTPUT_MASK, 0x17ff);
	start(m, ON);
	assert_error(m);
}

static void single_range_base_overlaps_mask(void **state)
{
	struct machine *m = *state;

	wr(m, OUTPUT_BASE, REGION(0) + 0x800);
	wr(m, OUTPUT_MASK, 0xfff);
	start(m, ON);
	assert_error(m);
}

static void single_range_offset_beyond_mask(void **state)
{
	struct machine *m = *state;

	wr(m, OUTPUT_BASE, REGION(0));
	wr(m, OUTPUT_MASK, 0x1000ULL << 32 | 0xfff);
	start(m, ON);
	assert_error(m);
}

static void single_range_without_memory(void **state)
{
	struct machine *m = *state;

	single_range(m, RAM_SIZE, 4096);
	start(m, ON);
	stop(m);
	assert_int_equal(rd(m, STATUS) & 0x3f, S_ERROR);
	assert_int_equal(m->tee_n, 0);
}

/* The state in the MSRs */

static void bytes_are_in_memory_when_an_output_msr_is_read(void **state)
{
	struct machine *m = *state;

	start(m, ON | PSB_FREQ(5));
	for (unsigned int i = 1; i <= 1000; i++) {
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		if (i & 1)
			assert_int_equal(rd(m, OUTPUT_BASE), OUT_AT);
		else
			assert_int_equal(rd(m, OUTPUT_MASK) >> 32, 39 + 3 * i);
		assert_int_equal(m->tee_n, 39 + 3 * i);
	}
}

static void bytes_are_in_memory_when_traceen_is_cleared(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	wr(m, CTL, 0);
	assert_int_equal(m->tee_n, 39 + 3 + 3 + 1);
	assert_int_equal(counter(m, PTM_N_BYTES), m->tee_n);
}

static void packetbytecnt_counts(void **state)
{
	struct machine *m = *state;

	start(m, ON | PSB_FREQ(5));
	assert_int_equal(S_BYTES(rd(m, STATUS)), 39);
	for (unsigned int i = 1; i <= 1000; i++) {
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		assert_int_equal(S_BYTES(rd(m, STATUS)), 39 + 3 * i);
	}
	stop(m);
	assert_int_equal(S_BYTES(rd(m, STATUS)), 39 + 3000 + 4);

	/* Counting continues from the value that software writes. */
	wr(m, STATUS, 0xffffULL << 32);
	wr(m, CTL, ON | PSB_FREQ(5) | TRACE_EN);
	assert_int_equal(counter(m, PTM_N_PSB), 1);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(counter(m, PTM_N_PSB), 2);
}

static void untraced_branches_cost_no_write(void **state)
{
	struct machine *m = *state;
	unsigned int writes = m->writes;

	for (unsigned int i = 0; i < 1000; i++)
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(m->writes, writes);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest others[] = {
		T(topa_fills_regions_in_order), T(topa_end_leads_around),
		T(topa_end_leads_to_another_table), T(topa_starts_where_the_msrs_say),
		T(topa_goes_on_where_it_was_stopped), T(topa_size_of_each_encoding),
		T(topa_last_size_needs_its_offset_below), T(topa_int_asks_for_a_pmi),
		T(topa_int_comes_with_the_last_byte), T(topa_entry_is_read_again_at_enable),
		T(topa_stop_sets_stopped), T(topa_stop_with_int),
		T(topa_stopped_and_full_is_no_error_until_cleared),
		T(error_met_on_the_way), T(error_region_without_memory),
		T(error_is_cleared_by_software),
		cmocka_unit_test(one_entry_goes_around), cmocka_unit_test(one_entry_pmi_comes_early),
		cmocka_unit_test(one_entry_pmi_comes_512_bytes_before_the_end),
		cmocka_unit_test(one_entry_pmi_at_the_stop_comes_once),
		cmocka_unit_test(one_entry_second_must_be_end),
		cmocka_unit_test(one_entry_end_must_lead_back),
		cmocka_unit_test(one_entry_index_must_be_0),
		cmocka_unit_test(one_entry_table_changed_while_tracing),
		T(stop_inside_the_psb_of_an_enable), T(error_inside_an_event),
		T(error_before_a_tracestop_is_not_stopped), T(error_in_a_tracestop_is_not_stopped),
		T(single_range_goes_around), T(single_range_of_the_least_size),
		T(single_range_starts_at_its_offset), T(single_range_mask_not_contiguous),
		T(single_range_base_overlaps_mask), T(single_range_offset_beyond_mask),
		T(single_range_without_memory), T(bytes_are_in_memory_when_an_output_msr_is_read),
		T(bytes_are_in_memory_when_traceen_is_cleared), T(packetbytecnt_counts),
		T(untraced_branches_cost_no_write),
	};
	static struct CMUnitTest tests[BAD_TABLES + sizeof(others) / sizeof(others[0])];

	for (unsigned int i = 0; i < BAD_TABLES; i++) {
		tests[i] = (struct CMUnitTest){
			.name = bad_tables[i].name,
			.test_func = bad_at_enable,
			.initial_state = (void *)&bad_tables[i],
		};
	}
	memcpy(tests + BAD_TABLES, others, sizeof(others));

	return cmocka_run_group_tests_name("output", tests, NULL, NULL);
}
