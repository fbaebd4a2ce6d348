// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests of the PMU, ToPA and BTS for a performance-monitoring interrupt (PMI). */
#include "state.h"

static void deliver(struct ptm *p)
{
	log_pmi(p);
	p->ops->pmi(p->opaque);
}

void ptm_pmi(struct ptm *p)
{
	ptm_count(p, PTM_N_PMI);
	/* "Freezing ... Counters on PMI": before version 4 GLOBAL_CTRL is cleared. */
	if (p->bts.debugctl & DEBUGCTL_FREEZE_PMC)
		pmu_freeze(&p->pmu);

	if (p->knob[PTM_KNOB_PMI_WITHHOLD])
		ptm_count(p, PTM_N_PMI_WITHHELD);
	else if (!p->knob[PTM_KNOB_PMI_SKID])
		deliver(p);
	else if (!p->pmi_in)	/* there is one interrupt line: pending PMIs merge */
		p->pmi_in = p->knob[PTM_KNOB_PMI_SKID];
}

void pmi_branch(struct ptm *p)
{
	if (!--p->pmi_in)
		deliver(p);
}

void ptm_topa_pmi(struct ptm *p)
{
	p->pmu.global_status |= GLOBAL_TOPA_PMI;
	ptm_pmi(p);
}
