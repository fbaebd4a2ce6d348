// SPDX-License-Identifier: GPL-2.0-only
/* BTS: DEBUGCTL and DS_AREA, which branches are recorded, where, and when a PMI is raised. */
#include <string.h>

#include "machine.h"

#define DEBUGCTL	0x1d9
#define DS_AREA		0x600
#define TR		BIT(6)
#define BTS		BIT(7)
#define BTINT		BIT(8)
#define OFF_OS		BIT(9)
#define OFF_USR		BIT(10)

#define USER_IP		0x400000ULL

/* The save area and the buffer, as offsets in RAM and from LINEAR. */
#define DS		0x20000
#define BUFFER		0x21000
#define RECORD		24
#define CAPACITY	4	/* records */

struct record {
	uint64_t from, to, flags;
};

/* A buffer of CAPACITY records and the extra byte that the SDM requires; threshold after @n. */
static void area(struct machine *m, unsigned int threshold)
{
	put64(m, DS, LINEAR + BUFFER);
	put64(m, DS + 8, LINEAR + BUFFER);
	put64(m, DS + 16, LINEAR + BUFFER + CAPACITY * RECORD + 1);
	put64(m, DS + 24, LINEAR + BUFFER + threshold * RECORD);
	wr(m, DS_AREA, LINEAR + DS);
}

static unsigned int index_of(const struct machine *m)
{
	uint64_t offset = get64(m, DS + 8) - LINEAR - BUFFER;

	assert_int_equal(offset % RECORD, 0);
	return offset / RECORD;
}

static struct record record(const struct machine *m, unsigned int i)
{
	uint64_t at = BUFFER + i * RECORD;

	return (struct record){ get64(m, at), get64(m, at + 8), get64(m, at + 16) };
}

static void assert_record(const struct machine *m, unsigned int i, uint64_t from, uint64_t to)
{
	struct record r = record(m, i);

	assert_int_equal(r.from, from);
	assert_int_equal(r.to, to);
	assert_int_equal(r.flags, 0);
}

static void jump(struct machine *m, uint64_t from, uint64_t to)
{
	branch(m, PTM_JMP, from, from + 2, to);
}

static void debugctl_bits(void **state)
{
	static const struct {
		unsigned int bit;
		uint32_t needs;		/* PTM_F_*, 0: on each CPU */
	} present[] = {
		{ 0, 0 }, { 1, 0 }, { 6, PTM_F_BTS }, { 7, PTM_F_BTS }, { 8, PTM_F_BTS },
		{ 9, PTM_F_DS_CPL }, { 10, PTM_F_DS_CPL }, { 11, 0 }, { 12, 0 }, { 14, 0 },
		{ 15, 0 },
	};
	static const uint32_t features[] = { 0, PTM_F_BTS, PTM_F_BTS | PTM_F_DS_CPL };

	for (unsigned int f = 0; f < 3; f++) {
		struct ptm_profile profile = *ptm_profile_at(0);
		struct machine *m;

		profile.features = features[f];
		m = machine_new(&profile);
		for (unsigned int bit = 0; bit < 64; bit++) {
			bool ok = false;

			for (unsigned int i = 0; i < sizeof(present) / sizeof(present[0]); i++)
				ok |= present[i].bit == bit &&
				      (present[i].needs & features[f]) == present[i].needs;
			assert_int_equal(wr_faults(m, DEBUGCTL, BIT(bit)), !ok);
			assert_int_equal(rd(m, DEBUGCTL), ok ? BIT(bit) : 0);
			wr(m, DEBUGCTL, 0);
		}
		machine_free(m);
	}
}

static void ds_area_is_canonical(void **state)
{
	struct machine *m = *state;

	wr(m, DS_AREA, 0xfffffe0000001000ULL);
	assert_true(wr_faults(m, DS_AREA, 0x0000800000000000ULL));
	assert_true(wr_faults(m, DS_AREA, 0xfffe000000000000ULL));
	assert_int_equal(rd(m, DS_AREA), 0xfffffe0000001000ULL);
}

/* Only completed WRMSRs of software count: INIT clears DEBUGCTL too. */
static void writes_of_each_msr_are_counted(void **state)
{
	struct machine *m = *state;
	uint64_t of_pt = counter(m, PTM_N_WRMSR);

	for (unsigned int n = 1; n <= 2; n++) {
		wr(m, DEBUGCTL, TR | BTS);
		assert_int_equal(counter(m, PTM_N_WRMSR_DEBUGCTL), n);
		assert_int_equal(counter(m, PTM_N_WRMSR_DS_AREA), n - 1);
		wr(m, DS_AREA, LINEAR + DS);
		assert_int_equal(counter(m, PTM_N_WRMSR_DEBUGCTL), n);
		assert_int_equal(counter(m, PTM_N_WRMSR_DS_AREA), n);
	}
	assert_true(wr_faults(m, DEBUGCTL, BIT(63)));
	assert_true(wr_faults(m, DS_AREA, BIT(63)));
	ptm_reset(m->ptm, true);
	assert_int_equal(counter(m, PTM_N_WRMSR_DEBUGCTL), 2);
	assert_int_equal(counter(m, PTM_N_WRMSR_DS_AREA), 2);
	assert_int_equal(counter(m, PTM_N_WRMSR), of_pt);
}

static void without_bts_there_is_no_ds_area(void **state)
{
	struct ptm_profile none = *ptm_profile_at(0);
	struct machine *m;

	none.features = 0;
	m = machine_new(&none);
	assert_true(wr_faults(m, DS_AREA, 0));
	assert_true(rd_faults(m, DS_AREA));
	machine_free(m);
}

static void each_taken_branch_is_a_record(void **state)
{
	static const struct {
		enum ptm_branch_kind kind;
		bool recorded;
	} kinds[] = {
		{ PTM_JCC_NOT_TAKEN, false }, { PTM_JCC_TAKEN, true }, { PTM_JMP, true },
		{ PTM_CALL, true }, { PTM_JMP_INDIRECT, true }, { PTM_CALL_INDIRECT, true },
		{ PTM_RET, true }, { PTM_FAR, true }, { PTM_EVENT, true },
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		area(m, CAPACITY + 1);
		memset(m->ram + BUFFER, 0xff, RECORD);
		wr(m, DEBUGCTL, TR | BTS);
		ptm_branch(m->ptm, kinds[i].kind, &kernel_ctx, KERN + i, KERN + i + 2, KERN + 0x100);
		assert_int_equal(index_of(m), kinds[i].recorded);
		if (kinds[i].recorded)
			assert_record(m, 0, KERN + i, KERN + 0x100);
	}
	assert_int_equal(counter(m, PTM_N_BTS), 8);
}

static void both_tr_and_bts_are_needed(void **state)
{
	static const struct {
		uint64_t debugctl;
		bool on;
	} cases[] = {
		{ 0, false }, { TR, false }, { BTS, false }, { TR | BTS, true },
	};
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	for (unsigned int i = 0; i < 4; i++) {
		wr(m, DEBUGCTL, cases[i].debugctl);
		assert_int_equal(ptm_bts_active(m->ptm), cases[i].on);
		assert_int_equal(ptm_near_wanted(m->ptm), cases[i].on);
		assert_int_equal(ptm_far_wanted(m->ptm), cases[i].on);
		assert_false(ptm_tracing(m->ptm));
		jump(m, KERN, KERN + 0x10);
		assert_int_equal(index_of(m), cases[i].on);
	}
}

static void off_os_leaves_the_users_and_the_way_back_to_it(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS | OFF_OS);
	assert_false(ptm_near_wanted(m->ptm));
	assert_true(ptm_far_wanted(m->ptm));
	jump(m, KERN, KERN + 0x10);
	far_to(m, PTM_FAR, &user_ctx, KERN + 0x10, USER_IP);	/* IRET */
	assert_true(ptm_bts_active(m->ptm));
	jump(m, USER_IP, USER_IP + 0x10);
	far_to(m, PTM_EVENT, &kernel_ctx, USER_IP + 0x10, KERN);
	assert_false(ptm_bts_active(m->ptm));
	assert_int_equal(index_of(m), 2);
	assert_record(m, 0, KERN + 0x10, USER_IP);	/* shows a kernel address */
	assert_record(m, 1, USER_IP, USER_IP + 0x10);
}

static void off_usr_leaves_the_kernels_and_the_way_into_it(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS | OFF_USR);
	assert_true(ptm_near_wanted(m->ptm));
	assert_true(ptm_far_wanted(m->ptm));
	far_to(m, PTM_FAR, &user_ctx, KERN + 0x10, USER_IP);
	assert_false(ptm_near_wanted(m->ptm));
	jump(m, USER_IP, USER_IP + 0x10);
	far_to(m, PTM_EVENT, &kernel_ctx, USER_IP + 0x10, KERN);
	jump(m, KERN, KERN + 0x20);
	assert_int_equal(index_of(m), 2);
	assert_record(m, 0, USER_IP + 0x10, KERN);
	assert_record(m, 1, KERN, KERN + 0x20);
}

static void both_off_bits_leave_nothing(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS | OFF_USR | OFF_OS);
	assert_false(ptm_far_wanted(m->ptm));
	far_to(m, PTM_FAR, &user_ctx, KERN + 0x10, USER_IP);
	far_to(m, PTM_FAR, &kernel_ctx, USER_IP, KERN);
	assert_int_equal(index_of(m), 0);
}

static void a_wrmsr_brings_the_cpl_that_nobody_reported(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	far_to(m, PTM_FAR, &user_ctx, KERN, USER_IP);
	wr(m, DEBUGCTL, TR | BTS | OFF_USR);	/* WRMSR runs in the kernel only */
	assert_true(ptm_bts_active(m->ptm));
}

static void without_btint_the_buffer_is_a_circle(void **state)
{
	struct machine *m = *state;

	area(m, 1);
	wr(m, DEBUGCTL, TR | BTS);
	for (unsigned int i = 0; i < CAPACITY; i++) {
		assert_int_equal(index_of(m), i);
		jump(m, KERN + i, KERN + 0x100 + i);
	}
	assert_int_equal(index_of(m), 0);
	jump(m, KERN + CAPACITY, KERN + 0x100 + CAPACITY);
	assert_int_equal(index_of(m), 1);
	assert_record(m, 0, KERN + CAPACITY, KERN + 0x100 + CAPACITY);
	assert_record(m, 1, KERN + 1, KERN + 0x101);
	assert_int_equal(m->pmis, 0);
	assert_int_equal(counter(m, PTM_N_BTS_FULL), 0);
}

static void an_index_at_the_end_of_the_circle_begins_anew(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	put64(m, DS + 8, LINEAR + BUFFER + CAPACITY * RECORD);
	wr(m, DEBUGCTL, TR | BTS);
	jump(m, KERN, KERN + 0x10);
	assert_record(m, 0, KERN, KERN + 0x10);
	assert_int_equal(index_of(m), 1);
}

static void with_btint_what_does_not_fit_is_dropped_and_counted(void **state)
{
	struct machine *m = *state;
	uint8_t behind[RECORD];

	area(m, CAPACITY + 1);
	memcpy(behind, m->ram + BUFFER + CAPACITY * RECORD, RECORD);
	wr(m, DEBUGCTL, TR | BTS | BTINT);
	for (unsigned int i = 0; i < CAPACITY + 3; i++)
		jump(m, KERN + i, KERN + 0x100);
	assert_int_equal(index_of(m), CAPACITY);
	assert_int_equal(counter(m, PTM_N_BTS), CAPACITY);
	assert_int_equal(counter(m, PTM_N_BTS_FULL), 3);
	assert_memory_equal(behind, m->ram + BUFFER + CAPACITY * RECORD, RECORD);
}

static void a_buffer_without_room_for_one_takes_none(void **state)
{
	static const uint64_t modes[] = { TR | BTS, TR | BTS | BTINT };
	struct machine *m = *state;

	for (unsigned int i = 0; i < 2; i++) {
		area(m, 0);
		put64(m, DS + 16, LINEAR + BUFFER + RECORD - 1);
		wr(m, DEBUGCTL, modes[i]);
		jump(m, KERN, KERN + 0x10);
		assert_int_equal(index_of(m), 0);
		assert_int_equal(counter(m, PTM_N_BTS_FULL), i + 1);
	}
	assert_int_equal(m->pmis, 0);
}

static void a_buffer_with_room_for_just_one_takes_it(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	put64(m, DS + 16, LINEAR + BUFFER + RECORD);
	wr(m, DEBUGCTL, TR | BTS | BTINT);
	jump(m, KERN, KERN + 0x10);
	assert_record(m, 0, KERN, KERN + 0x10);
	assert_int_equal(index_of(m), 1);
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(index_of(m), 1);
	assert_int_equal(counter(m, PTM_N_BTS), 1);
	assert_int_equal(counter(m, PTM_N_BTS_FULL), 1);
}

static void at_the_threshold_each_record_interrupts(void **state)
{
	struct machine *m = *state;

	area(m, 2);
	wr(m, DEBUGCTL, TR | BTS | BTINT);
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(m->pmis, 0);
	jump(m, KERN, KERN + 0x10);	/* the index is at the threshold now */
	assert_int_equal(m->pmis, 1);
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(m->pmis, 2);
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);	/* GLOBAL_STATUS has no bit for BTS */
}

static void an_unmapped_area_or_buffer_drops_and_counts(void **state)
{
	static const uint64_t holes[] = { DS, BUFFER };
	struct machine *m = *state;

	for (unsigned int i = 0; i < 2; i++) {
		area(m, 1);
		m->hole = holes[i];
		wr(m, DEBUGCTL, TR | BTS | BTINT);
		jump(m, KERN, KERN + 0x10);
		assert_int_equal(counter(m, PTM_N_BTS_UNMAPPED), i + 1);
		assert_int_equal(counter(m, PTM_N_BTS), 0);
		assert_int_equal(m->pmis, 0);
		assert_int_equal(index_of(m), 0);
	}
	m->hole = 0;
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(counter(m, PTM_N_BTS), 1);
}

/* Its record is in the buffer, but the index does not count it. */
static void a_save_area_that_cannot_be_written_drops_and_counts(void **state)
{
	struct machine *m = *state;

	area(m, 1);
	m->read_only = DS;
	wr(m, DEBUGCTL, TR | BTS | BTINT);
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(counter(m, PTM_N_BTS_UNMAPPED), 1);
	assert_int_equal(counter(m, PTM_N_BTS), 0);
	assert_int_equal(m->pmis, 0);
	assert_int_equal(index_of(m), 0);
	m->read_only = 0;
	jump(m, KERN, KERN + 0x10);
	assert_int_equal(counter(m, PTM_N_BTS), 1);
	assert_int_equal(m->pmis, 1);
}

static void the_area_is_read_for_each_record(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS | BTINT);
	jump(m, KERN, KERN + 0x10);
	put64(m, DS + 8, LINEAR + BUFFER);	/* as a driver empties it */
	jump(m, KERN + 0x10, KERN + 0x20);
	assert_record(m, 0, KERN + 0x10, KERN + 0x20);
}

static void pt_and_bts_tell_the_same_branch(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS);
	start(m, OS | USER | BRANCH_EN);
	mark(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN + 0x30);
	EXPECT(m, P_TIP16(KERN + 0x30));
	assert_record(m, 0, KERN, KERN + 0x30);
}

static void init_stops_bts_and_keeps_the_area(void **state)
{
	struct machine *m = *state;

	area(m, CAPACITY + 1);
	wr(m, DEBUGCTL, TR | BTS);
	ptm_reset(m->ptm, true);
	assert_int_equal(rd(m, DEBUGCTL), 0);
	assert_false(ptm_far_wanted(m->ptm));
	assert_int_equal(rd(m, DS_AREA), LINEAR + DS);
	ptm_reset(m->ptm, false);
	assert_int_equal(rd(m, DS_AREA), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(debugctl_bits), T(ds_area_is_canonical),
		T(writes_of_each_msr_are_counted),
		cmocka_unit_test(without_bts_there_is_no_ds_area),
		T(each_taken_branch_is_a_record), T(both_tr_and_bts_are_needed),
		T(off_os_leaves_the_users_and_the_way_back_to_it),
		T(off_usr_leaves_the_kernels_and_the_way_into_it), T(both_off_bits_leave_nothing),
		T(a_wrmsr_brings_the_cpl_that_nobody_reported),
		T(without_btint_the_buffer_is_a_circle),
		T(an_index_at_the_end_of_the_circle_begins_anew),
		T(with_btint_what_does_not_fit_is_dropped_and_counted),
		T(a_buffer_without_room_for_one_takes_none),
		T(a_buffer_with_room_for_just_one_takes_it),
		T(at_the_threshold_each_record_interrupts),
		T(an_unmapped_area_or_buffer_drops_and_counts),
		T(a_save_area_that_cannot_be_written_drops_and_counts),
		T(the_area_is_read_for_each_record), T(pt_and_bts_tell_the_same_branch),
		T(init_stops_bts_and_keeps_the_area),
	};

	return cmocka_run_group_tests_name("bts", tests, NULL, NULL);
}
