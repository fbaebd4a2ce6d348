/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The pages that user space maps: of each channel an AUX area, a data ring, a
 * status page and a user page. They belong to a file of their own, which the
 * session and every mapping hold: they go with the last of these, whatever
 * happens to the session or the CPU.
 */
#ifndef AUXT_RINGS_H
#define AUXT_RINGS_H

#include <linux/cpumask.h>
#include <linux/mm.h>

struct auxtrace_setup;
struct auxtrace_status_page;
struct auxtrace_user_page;

struct auxt_rings;

struct auxt_rings *auxt_rings_new(const struct cpumask *cpus, const struct auxtrace_setup *setup,
				  unsigned long tables);
void auxt_rings_put(struct auxt_rings *rings);

struct page *auxt_rings_aux_page(struct auxt_rings *rings, int cpu, unsigned long n);
void *auxt_rings_map_aux(struct auxt_rings *rings, int cpu, u32 slots, unsigned int times);
void *auxt_rings_data(struct auxt_rings *rings, int cpu);
struct auxtrace_status_page *auxt_rings_status(struct auxt_rings *rings, int cpu);
const struct auxtrace_user_page *auxt_rings_user(struct auxt_rings *rings, int cpu);

int auxt_rings_mmap(struct auxt_rings *rings, struct vm_area_struct *vma);

#endif /* AUXT_RINGS_H */
