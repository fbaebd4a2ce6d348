// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	if (f->open) {
		f->open = false;
		f->view->disable(f->view, f, ip, known);
	}
	f->reached = 0;
}

void flow_emit_block(const struct flow *f, const struct code_block *block, unsigned int count)
{
	struct pt_insn insn = { .ip = block->ip, .mode = block->mode };

	if (f->view->block) {
		f->view->block(f->view, f, block, count);
		return;
	}
	for (unsigned int i = 0; i < count; i++) {
		insn.size = block->size[i];
		insn.iclass = i + 1 < block->count ? ptic_other : block->iclass;
		f->view->insn(f->view, f, &insn);
		insn.ip += insn.size;
	}
}

void flow_note_skip(struct flow *f, uint64_t ip)
{
	struct flow_sum *sum = f->sum;

	sum->skips++;
	for (size_t i = 0; i < sum->nr_skipped; i++)
		if (sum->skipped[i].cr3 == f->cr3 && sum->skipped[i].probes == f->in_probes) {
			sum->skipped[i].times++;
			return;
		}
	sum->skipped = xrealloc(sum->skipped, (sum->nr_skipped + 1) * sizeof(*sum->skipped));
	sum->skipped[sum->nr_skipped++] = (struct skipped){ f->cr3, ip, 1, f->in_probes };
}

void flow_emit_skip(struct flow *f, uint64_t ip)
{
	flow_note_skip(f, ip);
	flow_emit_disable(f, ip, true);
	f->view->skip(f->view, f, ip, f->cr3);
}

void flow_emit_error(struct flow *f, uint64_t offset, uint64_t ip, const char *message)
{
	f->sum->errors++;
	flow_emit_disable(f, 0, false);
	f->view->error(f->view, f, offset, ip, message);
}

void flow_emit_run(struct flow *f, size_t run)
{
	const struct run *before = flow_thread(f), *now;

	f->run = run;
	now = flow_thread(f);
	if (before && now && before->tid == now->tid && before->pid == now->pid)
		return;
	code_run_by(f->code, now ? now->pid : 0);
	if (before != now && f->view->thread)
		f->view->thread(f->view, f);
}

const struct flow_decoder *flow_decoder_of(uint32_t pmu)
{
	switch (pmu) {
	case AUXTRACE_PMU_INTEL_PT:
		return &pt_decoder;
	case AUXTRACE_PMU_INTEL_BTS:
		return &bts_decoder;
	default:
		return NULL;
	}
}

static bool map_trace(struct flow *f, const struct meta_cpu *cpu)
{
	char path[4200];
	int err;

	snprintf(path, sizeof(path), "%s/cpu%u.aux", f->dir, cpu->cpu);
	err = map_file(path, true, &f->aux);
	if (err)
		return wrong("cannot read %s: %s", path, strerror(-err));
	if (f->aux.size != cpu->pad + cpu->read)
		say("%s has %zu bytes, meta says %" PRIu64 ": the recording is damaged", path, f->aux.size,
		    cpu->pad + cpu->read);
	return true;
}

bool flow_begin(struct flow *f, const struct meta_cpu *cpu)
{
	if (!records_read(&f->records, f->dir, cpu))
		return false;
	if (!f->samples && !map_trace(f, cpu)) {
		records_free(&f->records);
		return false;
	}
	f->cpu = cpu;
	f->open = false;
	runs_find(&f->runs, &f->records, f->side, cpu->cpu, f->meta->flags);
	f->run = f->runs.count;
	f->switch_ip = code_kernel_function(f->code, SWITCH_FUNCTION);
	f->turn_tsc = 0;
	f->switched = false;
	f->decoded_here = 0;
	return true;
}

/* All CPUs' threads write the counter: not for each record of BTS. */
#define PASSED_STEP	4096

static void count_decoded(struct flow *f, uint64_t offset)
{
	/* It orders nothing: who reads it only shows it. */
	atomic_fetch_add_explicit(f->decoded, offset - f->decoded_here, memory_order_relaxed);
	f->sum->decoded += offset - f->decoded_here;
	f->decoded_here = offset;
}

void flow_passed(struct flow *f, uint64_t offset)
{
	if (offset < f->decoded_here + PASSED_STEP)
		return;
	count_decoded(f, offset);
	if (f->view->passed)
		f->view->passed(f->view);
}

void flow_resume(const struct flow *f)
{
	const struct run *t = flow_thread(f);

	code_run_by(f->code, t ? t->pid : 0);
}

bool flow_step(struct flow *f, const struct flow_decoder *decoder)
{
	bool more;

	flow_resume(f);
	more = decoder->step(f);
	if (!more && !*f->stop)
		count_decoded(f, f->aux.size);
	return more;
}

void flow_end(struct flow *f)
{
	runs_free(&f->runs);
	records_free(&f->records);
	unmap_file(&f->aux);
	f->cpu = NULL;
}

const struct run *flow_thread(const struct flow *f)
{
	const struct run *run = f->run < f->runs.count ? &f->runs.run[f->run] : NULL;

	return run && !run->lost ? run : NULL;
}

void flow_sum_add(struct flow_sum *sum, const struct flow_sum *more)
{
	sum->samples += more->samples;
	sum->unsampled += more->unsampled;
	sum->instructions += more->instructions;
	sum->windows += more->windows;
	sum->bytes += more->bytes;
	sum->errors += more->errors;
	sum->overflows += more->overflows;
	sum->unsynced += more->unsynced;
	sum->branches += more->branches;
	sum->decoded += more->decoded;
}

void flow_sum_free(struct flow_sum *sum)
{
	free(sum->skipped);
	*sum = (struct flow_sum){ 0 };
}

bool flow_clock(const struct flow *f, uint64_t tsc, uint64_t *ns)
{
	return meta_clock(f->meta, tsc, ns);
}
