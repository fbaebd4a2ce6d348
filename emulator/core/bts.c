// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branch Trace Store (SDM, "BTS and DS Save Area"): from and to of each taken
 * branch, far transfer, interrupt and exception, in memory that
 * IA32_DS_AREA leads to, by linear addresses. Whether a branch is recorded
 * depends on the CPL behind it; so a return to the user's code tells a kernel
 * address even with BTS_OFF_OS.
 *
 * The area is read for each record: software may change it at any time.
 */
#include "state.h"

/* The DS save area's first fields in its 64-bit format. */
#define DS_INDEX	8
struct ds_fields {
	uint64_t base, index, maximum, threshold;
};

#define RECORD_BYTES	24	/* from, to, flags; no flag is defined any more */

/* LBR, BTF, FREEZE_LBRS, FREEZE_PERFMON, FREEZE_WHILE_SMM, RTM: kept alone */
#define DEBUGCTL_ALWAYS	((1ULL << 0) | (1ULL << 1) | (1ULL << 11) | DEBUGCTL_FREEZE_PMC | \
			 (1ULL << 14) | (1ULL << 15))

static uint64_t debugctl_bits(const struct ptm *p)
{
	uint64_t bits = DEBUGCTL_ALWAYS;

	if (p->profile->features & PTM_F_BTS)
		bits |= DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT;
	if (p->profile->features & PTM_F_DS_CPL)
		bits |= DEBUGCTL_BTS_OFF_OS | DEBUGCTL_BTS_OFF_USR;
	return bits;
}

bool bts_read(const struct ptm *p, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_DEBUGCTL) {
		*value = p->bts.debugctl;
		return true;
	}
	*value = p->bts.ds_area;
	return p->profile->features & PTM_F_BTS;
}

bool bts_write(struct ptm *p, uint32_t msr, uint64_t v)
{
	struct bts *b = &p->bts;
	bool on;

	if (msr == MSR_DS_AREA) {
		if (!(p->profile->features & PTM_F_BTS) || !canonical(v))
			return false;
		b->ds_area = v;
		return true;
	}

	if (v & ~debugctl_bits(p))
		return false;
	b->debugctl = v;
	on = (v & DEBUGCTL_TR) && (v & DEBUGCTL_BTS);
	b->records[0] = on && !(v & DEBUGCTL_BTS_OFF_OS);
	b->records[1] = on && !(v & DEBUGCTL_BTS_OFF_USR);
	return true;
}

bool ptm_bts_active(const struct ptm *p)
{
	return p->bts.records[ring(p)];
}

/* Written out: compilers make one access of these, but not of a loop. */
static void put64(uint8_t *to, uint64_t v)
{
	to[0] = v;
	to[1] = v >> 8;
	to[2] = v >> 16;
	to[3] = v >> 24;
	to[4] = v >> 32;
	to[5] = v >> 40;
	to[6] = v >> 48;
	to[7] = v >> 56;
}

static uint64_t get64(const uint8_t *from)
{
	return (uint64_t)from[0] | (uint64_t)from[1] << 8 |
	       (uint64_t)from[2] << 16 | (uint64_t)from[3] << 24 |
	       (uint64_t)from[4] << 32 | (uint64_t)from[5] << 40 |
	       (uint64_t)from[6] << 48 | (uint64_t)from[7] << 56;
}

static bool fields_read(struct ptm *p, struct ds_fields *ds)
{
	uint8_t raw[32];

	if (!p->ops->virt_read(p->opaque, p->bts.ds_area, raw, sizeof(raw)))
		return false;
	ds->base = get64(raw);
	ds->index = get64(raw + DS_INDEX);
	ds->maximum = get64(raw + 16);
	ds->threshold = get64(raw + 24);
	return true;
}

static bool fits(const struct ds_fields *ds)
{
	return ds->index <= ds->maximum && ds->maximum - ds->index >= RECORD_BYTES;
}

static bool record_write(struct ptm *p, uint64_t at, uint64_t from, uint64_t to)
{
	uint8_t raw[RECORD_BYTES] = { 0 };

	put64(raw, from);
	put64(raw + 8, to);
	return p->ops->virt_write(p->opaque, at, raw, sizeof(raw));
}

static bool index_write(struct ptm *p, uint64_t index)
{
	uint8_t raw[8];

	put64(raw, index);
	return p->ops->virt_write(p->opaque, p->bts.ds_area + DS_INDEX, raw, sizeof(raw));
}

void bts_record(struct ptm *p, uint64_t from, uint64_t to)
{
	bool circular = !(p->bts.debugctl & DEBUGCTL_BTINT);
	struct ds_fields ds;

	if (!fields_read(p, &ds)) {
		ptm_count(p, PTM_N_BTS_UNMAPPED);
		return;
	}

	if (!fits(&ds) && circular)
		ds.index = ds.base;
	if (!fits(&ds)) {
		ptm_count(p, PTM_N_BTS_FULL);
		return;
	}
	if (!record_write(p, ds.index, from, to)) {
		ptm_count(p, PTM_N_BTS_UNMAPPED);
		return;
	}

	/* The index is where the next record goes: around at once. */
	ds.index += RECORD_BYTES;
	if (!fits(&ds) && circular)
		ds.index = ds.base;
	if (!index_write(p, ds.index)) {
		ptm_count(p, PTM_N_BTS_UNMAPPED);
		return;
	}
	ptm_count(p, PTM_N_BTS);

	/* Nothing in GLOBAL_STATUS tells of it: software compares as well. */
	if (!circular && ds.index >= ds.threshold)
		ptm_pmi(p);
}
