// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ToPA tables of a channel: one ring of tables for each slot of its AUX area. Or, where tables have
 * one entry, one table for all slots.
 */

#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include "base/aux_buffer.h"
#include "base/page.h"
#include "core/channel.h"
#include "hw/pt_tables.h"

/**
 * auxt_pt_page_phys() - physical address of a page of the AUX area
 * @area: the channel
 * @page: number of the page in the area
 *
 * Return: the address.
 */
u64 auxt_pt_page_phys(const void *area, unsigned long page)
{
	const struct auxt_channel *ch = area;

	return page_to_phys(auxt_aux_buffer_aux_page(ch->buffer, ch->cpu, page));
}
NOKPROBE_SYMBOL(auxt_pt_page_phys);

static void pt_tables_free_one(struct auxt_topa *topa, bool keep_tables)
{
	unsigned int i;

	if (topa->tables && !keep_tables)
		for (i = 0; i < topa->nr_tables; i++)
			free_page((unsigned long)topa->tables[i]);
	kvfree(topa->tables);
	kvfree(topa->phys);
}
NOKPROBE_SYMBOL(pt_tables_free_one);

static int pt_tables_alloc(struct auxt_topa *topa, unsigned long nr_regions, int node)
{
	unsigned int i;

	topa->nr_regions = nr_regions;
	topa->nr_tables = auxt_topa_nr_tables(nr_regions);
	topa->tables = auxt_session_calloc(topa->nr_tables, sizeof(*topa->tables));
	topa->phys = auxt_session_calloc(topa->nr_tables, sizeof(*topa->phys));
	if (!topa->tables || !topa->phys)
		return -ENOMEM;
	for (i = 0; i < topa->nr_tables; i++) {
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		page = alloc_pages_node(node, AUXT_SESSION_GFP | __GFP_ZERO, 0);
		if (!page)
			return -ENOMEM;
		topa->tables[i] = page_address(page);
		topa->phys[i] = page_to_phys(page);
	}
	return 0;
}
NOKPROBE_SYMBOL(pt_tables_alloc);

static int pt_tables_fill(struct auxt_topa *topa, struct auxt_channel *ch, unsigned int slot)
{
	unsigned long nr_pages = ch->aux.size >> PAGE_SHIFT;
	unsigned long per_lap = nr_pages >> topa->order;
	unsigned long nr_regions = auxt_topa_nr_regions(ch->aux.size, topa->order, ch->aux.overwrite);
	unsigned long i;
	int err;

	err = pt_tables_alloc(topa, nr_regions, cpu_to_node(ch->cpu));
	if (err)
		return err;
	auxt_topa_link(topa);
	for (i = 0; i < nr_regions; i++) {
		auxt_topa_set_region(topa, i, auxt_pt_page_phys(ch, slot * nr_pages +
							     ((i % per_lap) << topa->order)));
		/* Overwrite: one interrupt a lap. Full trace: pt_arm() moves the marks. */
		if (ch->aux.overwrite && i % per_lap == per_lap - 1)
			auxt_topa_mark(topa, i, TOPA_ENTRY_INT);
		if (!(i % TOPA_REGIONS_PER_TABLE))
			cond_resched();
	}
	ch->aux.cycle = (u64)nr_regions << auxt_topa_shift(topa);
	return 0;
}
NOKPROBE_SYMBOL(pt_tables_fill);

/* Regions of all slots have one order, which this finds. Returns -EINTR after a fatal signal. */
static int pt_tables_order(const struct auxt_channel *ch, unsigned int *order)
{
	unsigned long nr_pages = (unsigned long)(ch->now.slots * ch->aux.size >> PAGE_SHIFT);
	unsigned long batch = min(nr_pages, 1ul << TOPA_MOST_ORDER), page;

	/* In full trace no reader is woken later than at twice the watermark. */
	*order = auxt_topa_order(ch->aux.size, ch->aux.overwrite,
				 ch->aux.overwrite ? ~0ull : ch->aux.watermark);
	for (page = 0; page < nr_pages; page += batch) {
		if (fatal_signal_pending(current))
			return -EINTR;
		*order = auxt_topa_contiguous(*order, page, batch, auxt_pt_page_phys, ch);
		cond_resched();
	}
	return 0;
}
NOKPROBE_SYMBOL(pt_tables_order);

/**
 * auxt_pt_tables_pages() - memory that auxt_pt_tables_new() takes for one channel at most
 * @setup: setup of the session, checked
 *
 * Return: pages, for the charge of locked memory. Regions are of single pages, if no memory is contiguous.
 */
unsigned long auxt_pt_tables_pages(const struct auxtrace_setup *setup)
{
	u32 slots = max(setup->slots, 1U);
	unsigned long regions = auxt_topa_nr_regions(setup->aux_size / slots, 0,
						     setup->flags & AUXTRACE_SETUP_OVERWRITE);
	unsigned long tables = (unsigned long)slots * auxt_topa_nr_tables(regions);

	/* struct auxt_topa keeps two addresses of each table. */
	return tables + DIV_ROUND_UP(tables * (sizeof(u64 *) + sizeof(u64)), PAGE_SIZE);
}
NOKPROBE_SYMBOL(auxt_pt_tables_pages);

/**
 * auxt_pt_tables_new() - tables for each slot of a channel's AUX area
 * @ch: the channel; its pages exist. Sets the cycle, the regions and the margin of its position
 *
 * Return: an array with one element per slot; or ERR_PTR(-ENOMEM), or ERR_PTR(-EINTR) after a fatal
 * signal.
 */
struct auxt_topa *auxt_pt_tables_new(struct auxt_channel *ch)
{
	struct auxt_topa *topa = kcalloc(ch->now.slots, sizeof(*topa), AUXT_SESSION_GFP);
	unsigned int order, slot;
	int err;

	if (!topa)
		return ERR_PTR(-ENOMEM);
	err = pt_tables_order(ch, &order);
	ch->aux.region = AUXT_PAGE_SIZE << order;
	ch->aux.margin = ch->aux.region;
	for (slot = 0; !err && slot < ch->now.slots; slot++) {
		topa[slot].order = order;
		err = pt_tables_fill(&topa[slot], ch, slot);
	}
	if (!err)
		return topa;
	auxt_pt_tables_free(topa, ch->now.slots, false);
	return ERR_PTR(err);
}
NOKPROBE_SYMBOL(auxt_pt_tables_new);

/**
 * auxt_pt_tables_free() - undo auxt_pt_tables_new()
 * @topa: what it returned
 * @slots: number of slots
 * @keep_tables: never free the tables themselves, which the hardware may go on reading
 */
void auxt_pt_tables_free(struct auxt_topa *topa, unsigned int slots, bool keep_tables)
{
	unsigned int slot;

	for (slot = 0; slot < slots; slot++)
		pt_tables_free_one(&topa[slot], keep_tables);
	kfree(topa);
}
NOKPROBE_SYMBOL(auxt_pt_tables_free);

/* ---- tables of one entry ------------------------------------------------- */

/**
 * auxt_pt_single_pages() - memory that auxt_pt_single_new() takes for one channel
 * @setup: setup of the session, checked
 *
 * Return: pages, for the charge of locked memory.
 */
unsigned long auxt_pt_single_pages(const struct auxtrace_setup *setup)
{
	/* The table, and a byte for each page of the area. */
	return 1 + DIV_ROUND_UP(setup->aux_size >> PAGE_SHIFT, PAGE_SIZE);
}
NOKPROBE_SYMBOL(auxt_pt_single_pages);

static int pt_single_fill(struct auxt_topa_single *single, struct auxt_channel *ch)
{
	unsigned long per_slot = ch->aux.size >> PAGE_SHIFT;
	unsigned long nr_pages = ch->now.slots * per_slot, page = 0;
	struct page *table = alloc_pages_node(cpu_to_node(ch->cpu), AUXT_SESSION_GFP | __GFP_ZERO, 0);

	if (!table)
		return -ENOMEM;
	single->table = page_address(table);
	single->phys = page_to_phys(table);
	auxt_topa_single_link(single);
	single->orders = auxt_session_calloc(nr_pages, sizeof(*single->orders));
	if (!single->orders)
		return -ENOMEM;
	while (page < nr_pages) {
		if (fatal_signal_pending(current))
			return -EINTR;
		page = auxt_topa_single_find(single->orders, page, per_slot, auxt_pt_page_phys, ch);
		cond_resched();
	}
	ch->aux.cycle = ch->aux.size;
	return 0;
}
NOKPROBE_SYMBOL(pt_single_fill);

/**
 * auxt_pt_single_new() - a table of one entry, and the regions that the AUX area has
 * @ch: the channel; its pages exist. Sets the cycle of its position
 *
 * Return: the table; or ERR_PTR(-ENOMEM), or ERR_PTR(-EINTR) after a fatal signal.
 */
struct auxt_topa_single *auxt_pt_single_new(struct auxt_channel *ch)
{
	struct auxt_topa_single *single = kzalloc_node(sizeof(*single), AUXT_SESSION_GFP,
						       cpu_to_node(ch->cpu));
	int err;

	if (!single)
		return ERR_PTR(-ENOMEM);
	err = pt_single_fill(single, ch);
	if (!err)
		return single;
	auxt_pt_single_free(single, false);
	return ERR_PTR(err);
}
NOKPROBE_SYMBOL(auxt_pt_single_new);

/**
 * auxt_pt_single_free() - undo auxt_pt_single_new()
 * @single: what it returned
 * @keep_table: never free the table itself, which the hardware may go on reading
 */
void auxt_pt_single_free(struct auxt_topa_single *single, bool keep_table)
{
	if (!keep_table)
		free_page((unsigned long)single->table);
	kvfree(single->orders);
	kfree(single);
}
NOKPROBE_SYMBOL(auxt_pt_single_free);

/**
 * auxt_pt_single_clear() - fill the end of a page of the AUX area with zeros
 * @ch: the channel, with the hardware off
 * @page: number of the page in the area
 * @from: offset of the first byte
 */
void auxt_pt_single_clear(const struct auxt_channel *ch, unsigned long page, size_t from)
{
	struct page *at = auxt_aux_buffer_aux_page(ch->buffer, ch->cpu, page);

	memset((char *)auxt_page_address(at) + from, 0, PAGE_SIZE - from);
}
NOKPROBE_SYMBOL(auxt_pt_single_clear);
