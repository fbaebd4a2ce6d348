// SPDX-License-Identifier: GPL-2.0
#include <stdlib.h>

#include "flow_event.h"

void flow_emit_enable(struct flow *f, uint64_t ip, bool resumed)
{
	if (f->open)
		return;
	f->open = true;
	f->resumed = resumed;
	f->view->enable(f->view, f, ip);
}

void flow_emit_disable(struct flow *f, uint64_t ip, bool known)
{
	if (!f->open)
		return;
	f->open = false;
	f->view->disable(f->view, f, ip, known);
}

static void note_skip(struct flow *f, uint64_t ip)
{
	struct skipped *s;

	f->skips++;
	for (size_t i = 0; i < f->nr_skipped; i++)
		if (f->skipped[i].cr3 == f->cr3 && f->skipped[i].probes == f->in_probes) {
			f->skipped[i].times++;
			return;
		}
	f->skipped = xrealloc(f->skipped, (f->nr_skipped + 1) * sizeof(*s));
	f->skipped[f->nr_skipped++] = (struct skipped){ f->cr3, ip, 1, f->in_probes };
}

void flow_emit_skip(struct flow *f, uint64_t ip)
{
	note_skip(f, ip);
	flow_emit_disable(f, ip, true);
	f->view->skip(f->view, f, ip, f->cr3);
}

void flow_emit_error(struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	f->errors++;
	flow_emit_disable(f, 0, false);
	f->view->error(f->view, f, offset, ip, message);
}

void flow_free(struct flow *f)
{
	free(f->skipped);
	f->skipped = NULL;
	f->nr_skipped = 0;
}

bool flow_clock(const struct flow *f, uint64_t tsc, uint64_t *ns)
{
	const struct meta *m = f->meta;

	if (m->time_mult)
		*ns = m->time_zero + (uint64_t)(((unsigned __int128)tsc * m->time_mult) >> m->time_shift);
	else if (m->tsc_khz)
		*ns = (uint64_t)((unsigned __int128)tsc * 1000000 / m->tsc_khz);
	else
		return false;
	return true;
}

bool flow_time(const struct flow *f, uint64_t *ns)
{
	uint64_t tsc = f->tsc;

	/* MTC and CYC packets advance the time between events: ask the decoder now. */
	if (f->decoder && pt_insn_time(f->decoder, &tsc, NULL, NULL) < 0)
		return false;
	return tsc && flow_clock(f, tsc, ns);
}
