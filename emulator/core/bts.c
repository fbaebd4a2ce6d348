// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branch Trace Store (SDM, "BTS and DS Save Area"): the source and target of
 * each taken branch, far transfer, interrupt and exception, written to the
 * buffer that IA32_DS_AREA points to, by linear addresses. The CPL after a branch
 * decides whether it is recorded, so a return to user code shows a kernel address
 * even with BTS_OFF_OS.
 *
 * The DS area is read for each record: software may change it at any time.
 */
#include "state.h"

/* The first fields of the DS save area in its 64-bit format. */
#define DS_INDEX	8	/* offset */
struct ds_fields {
	uint64_t base, index, maximum, threshold;
};

#define RECORD_BYTES	24	/* from, to, flags; the flags are written as 0 */

/*
 * LBR, BTF, FREEZE_LBRS, FREEZE_PERFMON, FREEZE_WHILE_SMM, RTM: writable on each
 * CPU; all but FREEZE_PERFMON have no effect.
 */
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

/*
 * Converts between the area's byte order and the host's. By words, not bytes: if
 * the compiler does not merge eight byte accesses into one, they cost more than
 * the rest of the record.
 */
static uint64_t le64(uint64_t v)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? v : __builtin_bswap64(v);
}

static bool fields_read(struct ptm *p, struct ds_fields *ds)
{
	uint64_t raw[4];

	if (!p->ops->virt_read(p->opaque, p->bts.ds_area, raw, sizeof(raw)))
		return false;
	ds->base = le64(raw[0]);
	ds->index = le64(raw[1]);
	ds->maximum = le64(raw[2]);
	ds->threshold = le64(raw[3]);
	return true;
}

static bool fits(const struct ds_fields *ds)
{
	return ds->index <= ds->maximum && ds->maximum - ds->index >= RECORD_BYTES;
}

static bool record_write(struct ptm *p, uint64_t at, uint64_t from, uint64_t to)
{
	uint64_t raw[RECORD_BYTES / 8] = { le64(from), le64(to) };

	return p->ops->virt_write(p->opaque, at, raw, sizeof(raw));
}

static bool index_write(struct ptm *p, uint64_t index)
{
	uint64_t raw = le64(index);

	return p->ops->virt_write(p->opaque, p->bts.ds_area + DS_INDEX, &raw, sizeof(raw));
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

	/* The index names the next record's place, so it wraps at once. */
	ds.index += RECORD_BYTES;
	if (!fits(&ds) && circular)
		ds.index = ds.base;
	if (!index_write(p, ds.index)) {
		ptm_count(p, PTM_N_BTS_UNMAPPED);
		return;
	}
	ptm_count(p, PTM_N_BTS);

	/* GLOBAL_STATUS has no bit for BTS: software compares index and threshold. */
	if (!circular && ds.index >= ds.threshold)
		ptm_pmi(p);
}
