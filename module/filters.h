/* SPDX-License-Identifier: GPL-2.0-only */
/* Filters from user space. */
#ifndef AUXT_FILTERS_H
#define AUXT_FILTERS_H

struct auxt_filters;
struct auxtrace_setup;

int auxt_filters_get(struct auxt_filters *filters, const struct auxtrace_setup *setup);
void auxt_filters_put(struct auxt_filters *filters);

#endif /* AUXT_FILTERS_H */
