/* SPDX-License-Identifier: GPL-2.0-only */
/* The performance-monitoring interrupt: NMI handlers and the LVT entry. */
#ifndef AUXT_PMI_H
#define AUXT_PMI_H

#include <linux/types.h>

bool auxt_pmi_exists(unsigned int version);
int auxt_pmi_init(void);
void auxt_pmi_exit(void);

/* On the CPU, interrupts off. */
void auxt_pmi_route(void);
void auxt_pmi_unroute(bool pmi_pending);

#endif /* AUXT_PMI_H */
