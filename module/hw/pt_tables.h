/* SPDX-License-Identifier: GPL-2.0-only */
/* The ToPA tables of a channel: memory, and which page of the AUX area is which region. */
#ifndef AUXT_PT_TABLES_H
#define AUXT_PT_TABLES_H

#include "hw/topa.h"

struct auxt_channel;
struct auxtrace_setup;

/* Task context. */
unsigned long auxt_pt_tables_pages(const struct auxtrace_setup *setup);
struct auxt_topa *auxt_pt_tables_new(struct auxt_channel *ch);
void auxt_pt_tables_free(struct auxt_topa *topa, unsigned int slots, bool keep_tables);

#endif /* AUXT_PT_TABLES_H */
