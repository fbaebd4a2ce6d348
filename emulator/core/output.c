// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the trace to memory (SDM, Intel PT, "Trace Output"): to the regions of
 * ToPA tables or to a single range. Bytes are staged within the current region.
 * They reach memory when the stage or the region is full, when an output MSR is
 * read and when TraceEn is cleared; software must not rely on them earlier, as a
 * real CPU buffers too. The model caches the current table entry only, or a line
 * of entries with PTM_KNOB_TOPA_CACHE, and only until TraceEn is cleared. Software's
 * later changes to the table then take effect.
 */
#include <string.h>

#include "state.h"

#define ENTRY_END	(1ULL << 0)
#define ENTRY_INT	(1ULL << 2)
#define ENTRY_STOP	(1ULL << 4)
#define ENTRY_SIZE(e)	(4096ULL << ((e) >> 6 & 0xf))
#define ENTRY_RSVD	0xc2aULL	/* bits 1, 3, 5, 10, 11 */

/* A CPU with single-entry tables raises the PMI this many bytes early ("ToPA PMI"). */
#define EARLY_PMI_BYTES	512

/* out_mask with ToPA: bits 31:7 index the entry, bits 6:0 read as ones. */
#define INDEX_STEP	0x80U

static uint64_t too_high(const struct ptm *p)
{
	return ~0ULL << p->profile->maxphyaddr;
}

static void operational_error(struct ptm *p)
{
	p->error = true;
	p->region_ok = false;
	ptm_count(p, PTM_N_ERRORS);
	ptm_trigger_off(p);
}

/* With an empty stage: how much of it the rest of the region can take. */
static void stage_limit(struct ptm *p)
{
	uint64_t space = p->region_size - p->region_off;

	p->stage_cap = space < STAGE_BYTES ? space : STAGE_BYTES;
}

static bool region_set(struct ptm *p, uint64_t base, uint64_t size)
{
	if (p->region_off >= size)
		return false;

	p->region_base = base;
	p->region_size = size;
	p->region_ok = true;
	p->early_pmi_sent = false;
	stage_limit(p);
	return true;
}

/* "Single-Range Output" and its errors. */
static bool single_load(struct ptm *p)
{
	uint64_t mask = p->out_mask;

	if (mask & (mask + 1))
		return false;		/* not contiguous */
	if (p->out_base & mask)
		return false;		/* base and mask overlap */

	return region_set(p, p->out_base, mask + 1);
}

static bool line_read(struct ptm *p, uint64_t at, uint8_t raw[8])
{
	uint64_t line_at = at & ~(TOPA_LINE - 1ULL);

	if (!p->line_valid || p->line_at != line_at) {
		p->line_at = line_at;
		p->line_valid = p->ops->phys_read(p->opaque, line_at, p->line, TOPA_LINE);
	}
	if (p->line_valid)
		memcpy(raw, p->line + (at - line_at), 8);
	return p->line_valid;
}

static bool entry_read(struct ptm *p, uint64_t index, uint64_t *entry)
{
	uint64_t at = p->out_base + index * 8;
	uint8_t raw[8];

	if (!p->knob[PTM_KNOB_TOPA_CACHE] || !line_read(p, at, raw))
		if (!p->ops->phys_read(p->opaque, at, raw, sizeof(raw)))
			return false;

	*entry = 0;
	for (int i = 7; i >= 0; i--)
		*entry = *entry << 8 | raw[i];
	return true;
}

/* "Single Output Region ToPA Implementation": entry 1 must be an END to this table. */
static bool single_entry_ok(struct ptm *p, uint64_t index)
{
	uint64_t second;

	if (p->profile->leaf14_0_ecx & OUT_TOPA_MULTI)
		return true;

	return index == 0 && entry_read(p, 1, &second) && (second & ENTRY_END) &&
	       !(second & (ENTRY_INT | ENTRY_STOP | ENTRY_RSVD)) &&
	       (second & ~0xfffULL) == p->out_base;
}

/* "ToPA Errors". Follows END at most once: entry 0 of a table is never END. */
static bool topa_load(struct ptm *p)
{
	for (;;) {
		uint64_t index = p->out_mask >> 7, entry, base;

		if (p->out_base & 0xfff)
			return false;
		if (!entry_read(p, index, &entry))
			return false;

		base = entry & ~0xfffULL;
		if ((entry & ENTRY_RSVD) || (base & too_high(p)))
			return false;

		if (entry & ENTRY_END) {
			if (index == 0 || (entry & (ENTRY_INT | ENTRY_STOP)))
				return false;
			if (!(p->profile->leaf14_0_ecx & OUT_TOPA_MULTI) &&
			    (index != 1 || base != p->out_base))
				return false;
			p->out_base = base;
			p->out_mask = INDEX_STEP - 1;
			continue;
		}

		if (!single_entry_ok(p, index))
			return false;
		if (base & (ENTRY_SIZE(entry) - 1))
			return false;

		p->region_entry = entry;
		return region_set(p, base, ENTRY_SIZE(entry));
	}
}

static void region_load(struct ptm *p)
{
	if (!(p->ctl & CTL_TOPA ? topa_load(p) : single_load(p)))
		operational_error(p);
}

void ptm_output_start(struct ptm *p)
{
	p->line_valid = false;
	region_load(p);
}

void ptm_output_forget(struct ptm *p)
{
	p->region_ok = false;
}

/* The current region has been written completely. */
static void region_full(struct ptm *p)
{
	uint64_t entry = p->region_entry;

	if (!(p->ctl & CTL_TOPA)) {
		p->region_off = 0;
		stage_limit(p);
		return;
	}

	if ((entry & ENTRY_INT) && !p->early_pmi_sent)
		ptm_topa_pmi(p);

	if (entry & ENTRY_STOP) {
		/* OutputOffset stays at the region's size, as on a CPU. */
		p->stopped = true;
		p->region_ok = false;
		ptm_trigger_off(p);
		return;
	}

	p->region_off = 0;
	p->out_mask += INDEX_STEP;
	region_load(p);
}

static bool region_write(struct ptm *p, uint64_t at, unsigned int n)
{
	uint64_t *fail = &p->knob[PTM_KNOB_WRITE_FAIL];

	if (*fail && !--*fail)
		return false;
	return p->ops->phys_write(p->opaque, at, p->stage, n);
}

void ptm_output_flush(struct ptm *p)
{
	unsigned int n = p->stage_n;

	if (!p->region_ok)
		return;

	if (n) {
		uint64_t at = p->region_base + p->region_off - n;

		p->stage_n = 0;
		if (!region_write(p, at, n)) {
			/* "Restricted Memory Access": the address has no memory. */
			p->region_off -= n;
			p->count[PTM_N_LOST] += n;
			operational_error(p);
			return;
		}
		p->count[PTM_N_BYTES] += n;
	}

	if (p->region_off == p->region_size) {
		region_full(p);
		return;
	}

	if (!(p->profile->leaf14_0_ecx & OUT_TOPA_MULTI) && (p->ctl & CTL_TOPA) &&
	    (p->region_entry & ENTRY_INT) && !p->early_pmi_sent &&
	    p->region_size - p->region_off <= EARLY_PMI_BYTES) {
		p->early_pmi_sent = true;
		ptm_topa_pmi(p);
	}
	stage_limit(p);
}

static void output_slowly(struct ptm *p, const uint8_t *bytes, unsigned int n)
{
	if (p->overflow) {
		uint64_t *left = &p->knob[PTM_KNOB_DROP];

		*left -= n < *left ? n : *left;
		p->count[PTM_N_LOST] += n;
		return;
	}

	while (n && p->region_ok) {
		unsigned int part = p->stage_cap - p->stage_n;

		if (part > n)
			part = n;
		memcpy(p->stage + p->stage_n, bytes, part);
		p->stage_n += part;
		p->region_off += part;
		p->byte_cnt += part;
		bytes += part;
		n -= part;
		if (p->stage_n == p->stage_cap)
			ptm_output_flush(p);
	}
	/* The trace stopped or failed within this packet: the rest is lost. */
	p->count[PTM_N_LOST] += n;
}

void ptm_output(struct ptm *p, const uint8_t *bytes, unsigned int n)
{
	if (!p->trigger_en)
		return;

	if (p->overflow || n >= p->stage_cap - p->stage_n) {
		output_slowly(p, bytes, n);
		return;
	}

	memcpy(p->stage + p->stage_n, bytes, n);
	p->stage_n += n;
	p->region_off += n;
	p->byte_cnt += n;
}
