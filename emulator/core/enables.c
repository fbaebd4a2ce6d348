// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TriggerEn, ContextEn, FilterEn and PacketEn, and the TraceStop ranges (SDM,
 * Intel PT, "Packet Generation Enable Controls").
 */
#include "state.h"

/* Sorts the IA32_RTIT_ADDRn ranges by their ADDRn_CFG: filter or TraceStop. */
void ptm_ranges_load(struct ptm *p)
{
	p->n_filter = 0;
	p->n_stop = 0;
	for (unsigned int i = 0; i < MAX_RANGES; i++) {
		struct ip_range range = { p->addr[2 * i], p->addr[2 * i + 1] };
		unsigned int cfg = p->ctl >> CTL_ADDR_CFG(i) & CTL_FIELD;

		if (cfg == 1)
			p->filter[p->n_filter++] = range;
		else if (cfg == 2)
			p->stop[p->n_stop++] = range;
	}
}

static bool in_ranges(const struct ip_range *range, unsigned int n, uint64_t ip)
{
	for (unsigned int i = 0; i < n; i++)
		if (ip >= range[i].first && ip <= range[i].last)
			return true;
	return false;
}

static bool filter_en(const struct ptm *p, uint64_t ip)
{
	return !p->n_filter || in_ranges(p->filter, p->n_filter, ip);
}

/* "Context Enable" */
static bool context_en(const struct ptm *p)
{
	if (p->ctx.smm)
		return false;
	if (!(p->ctl & (p->ctx.cpl ? CTL_USER : CTL_OS)))
		return false;
	return !(p->ctl & CTL_CR3_FILTER) || p->ctx.cr3 >> 5 == p->cr3_match >> 5;
}

/* Updates the enables for the instruction at @ip, the next to execute. */
void ptm_update_enables(struct ptm *p, uint64_t ip)
{
	p->context_en = p->trigger_en && context_en(p);
	p->filter_en = p->trigger_en && filter_en(p, ip);
	p->packet_en = p->context_en && p->filter_en && (p->ctl & CTL_BRANCH_EN);
}

/* EventEn has MODE.Exec tell the changes of IF also if no branch is traced. */
bool ptm_mode_without_branches(const struct ptm *p)
{
	return (p->ctl & CTL_EVENT_EN) && !(p->ctl & CTL_BRANCH_EN) && p->context_en &&
	       p->filter_en;
}

void ptm_trigger_off(struct ptm *p)
{
	p->trigger_en = false;
	p->context_en = false;
	p->filter_en = false;
	p->packet_en = false;
	p->tnt = 0;
	p->tnt_n = 0;
	p->ret_n = 0;
	p->overflow = false;
}

/* "Filtering by IP": a branch into a TraceStop range stops the trace. */
bool ptm_stops_at(const struct ptm *p, uint64_t ip)
{
	return p->n_stop && p->context_en && in_ranges(p->stop, p->n_stop, ip);
}
