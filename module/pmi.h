/* SPDX-License-Identifier: GPL-2.0 */
/* The performance-monitoring interrupt: NMI handlers. */
#ifndef AUXT_PMI_H
#define AUXT_PMI_H

int auxt_pmi_init(void);
void auxt_pmi_exit(void);

#endif /* AUXT_PMI_H */
