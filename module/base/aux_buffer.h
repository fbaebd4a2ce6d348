/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a session that user space maps: for each CPU an AUX area, a data ring, a
 * status page and a user page. They belong to an anonymous file, to which the session and
 * every mapping hold a reference. The last reference frees them, so a mapping stays valid
 * after the session is closed or the CPU is gone.
 */
#ifndef AUXT_AUX_BUFFER_H
#define AUXT_AUX_BUFFER_H

#include <linux/cpumask.h>
#include <linux/mm.h>

/*
 * For the memory of a session, which user space sizes: charged to the caller's memory cgroup. At
 * its limit, and where memory is short, the allocation fails; it does not invoke the OOM killer.
 */
#define AUXT_SESSION_GFP	(GFP_KERNEL_ACCOUNT | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

/*
 * An array of such memory, zeroed; for kvfree(). More than a page is of single pages: kvcalloc() with
 * these flags would try hard to get it in one piece, which for the pages of a large area takes long,
 * and without __GFP_RETRY_MAYFAIL it could invoke the OOM killer.
 */
void *auxt_session_calloc(size_t n, size_t size);

struct auxtrace_setup;
struct auxtrace_status_page;
struct auxtrace_user_page;

struct auxt_aux_buffer;

struct auxt_aux_buffer *auxt_aux_buffer_new(const struct cpumask *cpus,
					    const struct auxtrace_setup *setup,
					    unsigned long tables, u32 data_slots);
void auxt_aux_buffer_put(struct auxt_aux_buffer *buffer);
void auxt_aux_buffer_keep(struct auxt_aux_buffer *buffer, int cpu);

struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu, unsigned long n);
void *auxt_aux_buffer_map_aux(struct auxt_aux_buffer *buffer, int cpu, u32 slots,
			      unsigned int times);
void *auxt_aux_buffer_data(struct auxt_aux_buffer *buffer, int cpu);
struct auxtrace_status_page *auxt_aux_buffer_status(struct auxt_aux_buffer *buffer, int cpu);
const struct auxtrace_user_page *auxt_aux_buffer_user(struct auxt_aux_buffer *buffer, int cpu);

int auxt_aux_buffer_mmap(struct auxt_aux_buffer *buffer, struct vm_area_struct *vma);

#endif /* AUXT_AUX_BUFFER_H */
