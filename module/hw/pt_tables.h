/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ToPA tables of a channel: memory, and which pages of the AUX area are which region. Functions
 * named auxt_pt_single_* are for CPUs whose tables have one entry.
 */
#ifndef AUXT_PT_TABLES_H
#define AUXT_PT_TABLES_H

#include "hw/topa.h"
#include "hw/topa_single.h"

struct auxt_channel;
struct auxtrace_setup;

/* Task context. */
unsigned long auxt_pt_tables_pages(const struct auxtrace_setup *setup);
struct auxt_topa *auxt_pt_tables_new(struct auxt_channel *ch);
void auxt_pt_tables_free(struct auxt_topa *topa, unsigned int slots, bool keep_tables);
unsigned long auxt_pt_single_pages(const struct auxtrace_setup *setup);
struct auxt_topa_single *auxt_pt_single_new(struct auxt_channel *ch);
void auxt_pt_single_free(struct auxt_topa_single *single, bool keep_table);

/* Any context, also NMI. */
u64 auxt_pt_page_phys(const void *area, unsigned long page);
void auxt_pt_single_clear(const struct auxt_channel *ch, unsigned long page, size_t from);

#endif /* AUXT_PT_TABLES_H */
