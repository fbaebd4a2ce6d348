// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters and log of the model, to be read outside the guest. */
#include <inttypes.h>

#include "state.h"

static const char *const names[] = {
	[PTM_N_WRMSR] = "WRMSR", [PTM_N_WRMSR_CTL] = "WRMSR_CTL",
	[PTM_N_WRMSR_STATUS] = "WRMSR_STATUS", [PTM_N_WRMSR_BASE] = "WRMSR_BASE",
	[PTM_N_WRMSR_MASK] = "WRMSR_MASK", [PTM_N_FAULTS] = "FAULTS", [PTM_N_PMI] = "PMI",
	[PTM_N_ERRORS] = "ERRORS", [PTM_N_BYTES] = "BYTES", [PTM_N_LOST] = "LOST",
	[PTM_N_PSB] = "PSB", [PTM_N_OVF] = "OVF", [PTM_N_TNT] = "TNT", [PTM_N_TIP] = "TIP",
	[PTM_N_PGE] = "PGE", [PTM_N_PGD] = "PGD", [PTM_N_FUP] = "FUP", [PTM_N_PIP] = "PIP",
	[PTM_N_MODE] = "MODE", [PTM_N_TSC] = "TSC", [PTM_N_TMA] = "TMA", [PTM_N_MTC] = "MTC",
	[PTM_N_CBR] = "CBR", [PTM_N_CYC] = "CYC", [PTM_N_STOP] = "STOP", [PTM_N_PTW] = "PTW",
	[PTM_N_PMI_WITHHELD] = "PMI_WITHHELD", [PTM_N_OVERFLOW] = "OVERFLOW",
	[PTM_N_BTS] = "BTS", [PTM_N_BTS_FULL] = "BTS_FULL",
	[PTM_N_BTS_UNMAPPED] = "BTS_UNMAPPED", [PTM_N_WRMSR_DEBUGCTL] = "WRMSR_DEBUGCTL",
	[PTM_N_WRMSR_DS_AREA] = "WRMSR_DS_AREA", [PTM_N_PWRE] = "PWRE",
	[PTM_N_EXSTOP] = "EXSTOP", [PTM_N_PWRX] = "PWRX", [PTM_N_MWAIT] = "MWAIT",
	[PTM_N_CFE] = "CFE", [PTM_N_EVD] = "EVD",
};
_Static_assert(sizeof(names) / sizeof(names[0]) == PTM_COUNTERS, "a counter has no name");

static struct log_entry *log_next(struct ptm *p)
{
	struct log_entry *e = &p->log[p->log_n++ % LOG_ENTRIES];

	e->instructions = p->ops->instructions ? p->ops->instructions(p->opaque) : 0;
	return e;
}

void log_access(struct ptm *p, const struct msr_bank *bank, uint32_t msr, bool write,
		uint64_t value, bool fault)
{
	struct msr_use *use = &p->use[bank->slot + (msr - bank->first)];
	struct log_entry *e = log_next(p);

	e->what = write ? LOG_WRMSR : LOG_RDMSR;
	e->fault = fault;
	e->msr = msr;
	e->value = value;
	if (fault)
		use->faults++;
	else if (write)
		use->writes++;
	else
		use->reads++;
}

void log_pmi(struct ptm *p)
{
	log_next(p)->what = LOG_PMI;
}

static void msr_print(FILE *to, const struct msr_bank *bank, uint32_t msr)
{
	if (bank->n > 1)
		fprintf(to, "%s%u %#x", bank->name, msr - bank->first, msr);
	else
		fprintf(to, "%s %#x", bank->name, msr);
}

static void uses_print(const struct ptm *p, FILE *to)
{
	const struct msr_bank *bank;

	for (unsigned int i = 0; (bank = msr_bank_at(i)); i++) {
		for (unsigned int k = 0; k < bank->n; k++) {
			const struct msr_use *use = &p->use[bank->slot + k];

			if (!use->reads && !use->writes && !use->faults)
				continue;
			fputs("msr ", to);
			msr_print(to, bank, bank->first + k);
			fprintf(to, " reads %" PRIu64 " writes %" PRIu64 " faults %" PRIu64 "\n",
				use->reads, use->writes, use->faults);
		}
	}
}

static void entry_print(FILE *to, const struct log_entry *e)
{
	fprintf(to, "log %" PRIu64, e->instructions);
	if (e->what == LOG_PMI) {
		fputs(" pmi\n", to);
		return;
	}

	fputs(e->what == LOG_WRMSR ? " wrmsr " : " rdmsr ", to);
	msr_print(to, msr_bank(e->msr), e->msr);
	if (e->fault)
		fputs(" #GP\n", to);
	else
		fprintf(to, " %#" PRIx64 "\n", e->value);
}

void ptm_report(const struct ptm *p, FILE *to)
{
	uint64_t first = p->log_n > LOG_ENTRIES ? p->log_n - LOG_ENTRIES : 0;

	for (unsigned int i = 0; i < PTM_COUNTERS; i++)
		fprintf(to, "counter %s %" PRIu64 "\n", names[i], p->count[i]);
	uses_print(p, to);
	fprintf(to, "log-lost %" PRIu64 "\n", first);
	for (uint64_t i = first; i < p->log_n; i++)
		entry_print(to, &p->log[i % LOG_ENTRIES]);
}
