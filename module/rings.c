// SPDX-License-Identifier: GPL-2.0
/* The pages that user space maps. */

#include <linux/anon_inodes.h>
#include <linux/auxtrace.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "compat/compat.h"
#include "rings.h"

/* What one CPU has. */
struct ring {
	struct page **aux;
	unsigned long nr_aux;	/* allocated so far */
	struct page *status;
	struct page *user;
};

/**
 * struct auxt_rings - the pages of a session
 * @file: owns this struct: its last put frees everything
 * @mm: whose locked memory is charged
 * @charge: pages charged
 * @nr_pages: pages of one AUX area
 * @nr_cpus: entries in @ring
 * @ring: by CPU number; NULL for a CPU that is not the session's
 */
struct auxt_rings {
	struct file *file;
	struct mm_struct *mm;
	unsigned long charge;
	unsigned long nr_pages;
	unsigned int nr_cpus;
	struct ring *ring[];
};

static void ring_free(struct ring *ring)
{
	if (!ring)
		return;
	while (ring->nr_aux)
		__free_page(ring->aux[--ring->nr_aux]);
	kvfree(ring->aux);
	if (ring->status)
		__free_page(ring->status);
	if (ring->user)
		__free_page(ring->user);
	kfree(ring);
}

/*
 * Chunks as large as the node gives without effort, because neighbours in the
 * area that are neighbours in memory spare the hardware's and the reader's TLB.
 * Split, so that each page has its own count: get_user_pages() needs that.
 */
static int ring_alloc_aux(struct ring *ring, unsigned long nr_pages, int node)
{
	unsigned int order = min_t(unsigned int, ilog2(nr_pages), 9);
	unsigned long i;

	while (ring->nr_aux < nr_pages) {
		gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | __GFP_RETRY_MAYFAIL;
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		while (1UL << order > nr_pages - ring->nr_aux)
			order--;
		if (order)
			gfp = (gfp | __GFP_NORETRY) & ~__GFP_RETRY_MAYFAIL;
		page = alloc_pages_node(node, gfp, order);
		if (!page && !order)
			return -ENOMEM;
		if (!page) {
			order--;
			continue;
		}
		if (order)
			split_page(page, order);
		for (i = 0; i < 1UL << order; i++)
			ring->aux[ring->nr_aux++] = page + i;
		cond_resched();
	}
	return 0;
}

static struct ring *ring_new(unsigned long nr_pages, int node)
{
	struct ring *ring = kzalloc_node(sizeof(*ring), GFP_KERNEL, node);
	int err = -ENOMEM;

	if (!ring)
		return ERR_PTR(-ENOMEM);
	ring->aux = kvcalloc(nr_pages, sizeof(*ring->aux), GFP_KERNEL | __GFP_NOWARN);
	ring->status = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
	ring->user = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
	if (ring->aux && ring->status && ring->user)
		err = ring_alloc_aux(ring, nr_pages, node);
	if (err) {
		ring_free(ring);
		return ERR_PTR(err);
	}
	return ring;
}

static void rings_free(struct auxt_rings *rings)
{
	unsigned int cpu;

	for (cpu = 0; cpu < rings->nr_cpus; cpu++)
		ring_free(rings->ring[cpu]);
	account_locked_vm(rings->mm, rings->charge, false);
	mmdrop(rings->mm);
	kvfree(rings);
}

static int rings_release(struct inode *inode, struct file *file)
{
	rings_free(file->private_data);
	return 0;
}

static const struct file_operations rings_fops = {
	.owner = THIS_MODULE,
	.release = rings_release,
};

/**
 * auxt_rings_new() - allocate and charge the pages of a session
 * @cpus: its CPUs
 * @aux_size: bytes of each AUX area, a power of two
 *
 * Return: the rings, with one reference; -ENOMEM (also beyond RLIMIT_MEMLOCK) or
 * -EINTR.
 */
struct auxt_rings *auxt_rings_new(const struct cpumask *cpus, u64 aux_size)
{
	u64 nr_pages = aux_size >> PAGE_SHIFT;
	u64 charge = cpumask_weight(cpus) * (nr_pages + 2);
	struct auxt_rings *rings;
	unsigned int cpu;
	int err;

	/* Before anything is asked of the allocator: it must not try in vain for long. */
	if (nr_pages > totalram_pages() || charge > totalram_pages())
		return ERR_PTR(-ENOMEM);

	rings = kvzalloc(struct_size(rings, ring, nr_cpu_ids), GFP_KERNEL);
	if (!rings)
		return ERR_PTR(-ENOMEM);
	rings->nr_cpus = nr_cpu_ids;
	rings->nr_pages = nr_pages;
	rings->charge = charge;

	err = account_locked_vm(current->mm, charge, true);
	if (err) {
		kvfree(rings);
		return ERR_PTR(err == -EINTR ? err : -ENOMEM);
	}
	rings->mm = current->mm;
	mmgrab(rings->mm);

	for_each_cpu(cpu, cpus) {
		struct ring *ring = ring_new(nr_pages, cpu_to_node(cpu));

		if (IS_ERR(ring)) {
			err = PTR_ERR(ring);
			goto err_free;
		}
		rings->ring[cpu] = ring;
	}

	rings->file = anon_inode_getfile("[auxtrace]", &rings_fops, rings, O_RDWR | O_CLOEXEC);
	if (IS_ERR(rings->file)) {
		err = PTR_ERR(rings->file);
		goto err_free;
	}
	return rings;

err_free:
	rings_free(rings);
	return ERR_PTR(err);
}

/**
 * auxt_rings_put() - the session lets go
 * @rings: its rings
 */
void auxt_rings_put(struct auxt_rings *rings)
{
	fput(rings->file);
}

struct page *auxt_rings_aux_page(struct auxt_rings *rings, int cpu, unsigned long n)
{
	return rings->ring[cpu]->aux[n];
}

struct auxtrace_status_page *auxt_rings_status(struct auxt_rings *rings, int cpu)
{
	return page_address(rings->ring[cpu]->status);
}

const struct auxtrace_user_page *auxt_rings_user(struct auxt_rings *rings, int cpu)
{
	return page_address(rings->ring[cpu]->user);
}

/**
 * auxt_rings_mmap() - map a region
 * @rings: the rings of the session
 * @vma: its offset is an AUXTRACE_MMAP_OFFSET()
 *
 * Return: 0, or as the ABI says at mmap.
 */
int auxt_rings_mmap(struct auxt_rings *rings, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = offset >> 44;
	unsigned int region = offset >> 40 & 0xf;
	unsigned long clear = VM_MAYEXEC | VM_MAYWRITE;
	unsigned long count, addr = vma->vm_start;
	struct page **pages;
	struct ring *ring;
	int err;

	/* vm_pgoff has 52 bits: what does not fit in a file offset has no CPU either. */
	if (offset != AUXTRACE_MMAP_OFFSET(cpu, region) ||
	    vma->vm_pgoff != offset >> PAGE_SHIFT || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (region > AUXTRACE_REGION_AUX)
		return -EINVAL;
	if (cpu >= rings->nr_cpus || !rings->ring[cpu])
		return -ENODEV;
	ring = rings->ring[cpu];

	switch (region) {
	case AUXTRACE_REGION_STATUS:
		pages = &ring->status;
		count = 1;
		break;
	case AUXTRACE_REGION_USER:
		pages = &ring->user;
		count = 1;
		clear = VM_MAYEXEC;
		break;
	default:
		pages = ring->aux;
		count = rings->nr_pages;
	}
	if (vma->vm_end - vma->vm_start != count << PAGE_SHIFT)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC || (clear & VM_MAYWRITE && vma->vm_flags & VM_WRITE))
		return -EACCES;

	auxt_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, clear);
	while (count) {
		unsigned long batch = min(count, 512UL), left = batch;

		err = vm_insert_pages(vma, addr, pages, &left);
		if (err)
			return err;
		pages += batch;
		addr += batch << PAGE_SHIFT;
		count -= batch;
	}
	auxt_vma_set_file(vma, rings->file);
	return 0;
}
