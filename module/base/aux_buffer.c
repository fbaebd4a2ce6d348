// SPDX-License-Identifier: GPL-2.0
/* The pages that user space maps. */

#include <linux/anon_inodes.h>
#include <linux/auxtrace.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "compat/compat.h"
#include "core/data_ring.h"
#include "base/aux_buffer.h"

/* Pages that lie one after the other in user space. */
struct area {
	struct page **page;
	unsigned long nr;	/* allocated so far */
};

/* What one CPU has. */
struct aux_pages {
	struct area aux;
	struct area data;
	void *data_map;		/* see auxt_aux_buffer_data() */
	struct page *status;
	struct page *user;
};

/**
 * struct auxt_aux_buffer - the pages of a session
 * @file: owns this struct: its last put frees everything
 * @mm: whose locked memory is charged
 * @charge: pages charged
 * @nr_pages: pages of one AUX area
 * @nr_data: pages of one data ring
 * @nr_cpus: entries in @cpu_pages
 * @cpu_pages: by CPU number; NULL for a CPU that is not the session's
 */
struct auxt_aux_buffer {
	struct file *file;
	struct mm_struct *mm;
	unsigned long charge;
	unsigned long nr_pages;
	unsigned long nr_data;
	unsigned int nr_cpus;
	struct aux_pages *cpu_pages[];
};

/* Pages that are handled without a look at what else waits for the CPU. */
#define BATCH	512UL

static void area_free(struct area *area)
{
	while (area->nr) {
		__free_page(area->page[--area->nr]);
		if (!(area->nr % BATCH))
			cond_resched();
	}
	kvfree(area->page);
}

static void pages_free(struct aux_pages *cpu_pages)
{
	if (!cpu_pages)
		return;
	vunmap(cpu_pages->data_map);
	area_free(&cpu_pages->aux);
	area_free(&cpu_pages->data);
	if (cpu_pages->status)
		__free_page(cpu_pages->status);
	if (cpu_pages->user)
		__free_page(cpu_pages->user);
	kfree(cpu_pages);
}

/*
 * Chunks as large as the node gives without effort, because neighbours in the
 * area that are neighbours in memory spare the hardware's and the reader's TLB;
 * other nodes' when this one has no page left. (An order beyond the allocator's
 * greatest is refused at once.) Split, so that each page has its own count:
 * get_user_pages() needs that.
 */
static int area_alloc(struct area *area, unsigned long nr_pages, int node)
{
	unsigned int order = ilog2(nr_pages);
	gfp_t where = __GFP_THISNODE;
	unsigned long i;

	area->page = kvcalloc(nr_pages, sizeof(*area->page), GFP_KERNEL | __GFP_NOWARN);
	if (!area->page)
		return -ENOMEM;
	while (area->nr < nr_pages) {
		gfp_t gfp = GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN | where;
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		while (1UL << order > nr_pages - area->nr)
			order--;
		/* The last resort may try hard, but not kill for it. */
		gfp |= order || where ? __GFP_NORETRY : __GFP_RETRY_MAYFAIL;
		page = alloc_pages_node(node, gfp, order);
		if (!page && order) {
			order--;
			continue;
		}
		if (!page && where) {
			where = 0;
			order = ilog2(nr_pages);
			continue;
		}
		if (!page)
			return -ENOMEM;
		if (order)
			split_page(page, order);
		for (i = 0; i < 1UL << order; i++)
			area->page[area->nr++] = page + i;
		cond_resched();
	}
	return 0;
}

/* A writer's view: each slot several times in a row, so that no record wraps there. */
static void *area_map(const struct area *area, u32 slots, unsigned int times)
{
	unsigned long per_slot = area->nr / slots, nr = area->nr * times, i;
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL | __GFP_NOWARN);
	void *map;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = area->page[i / (times * per_slot) * per_slot + i % per_slot];
		if (!(i % BATCH))
			cond_resched();
	}
	map = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return map;
}

static struct aux_pages *pages_new(const struct auxtrace_setup *setup, int node)
{
	struct aux_pages *cpu_pages = kzalloc_node(sizeof(*cpu_pages), GFP_KERNEL, node);
	int err = -ENOMEM;

	if (!cpu_pages)
		return ERR_PTR(-ENOMEM);
	cpu_pages->status = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
	cpu_pages->user = alloc_pages_node(node, GFP_KERNEL | __GFP_ZERO, 0);
	if (cpu_pages->status && cpu_pages->user)
		err = area_alloc(&cpu_pages->aux, setup->aux_size >> PAGE_SHIFT, node);
	if (!err && setup->data_size)
		err = area_alloc(&cpu_pages->data, setup->data_size >> PAGE_SHIFT, node);
	if (!err && setup->data_size) {
		cpu_pages->data_map = area_map(&cpu_pages->data, auxt_data_slots(setup), 2);
		if (!cpu_pages->data_map)
			err = -ENOMEM;
	}
	if (err) {
		pages_free(cpu_pages);
		return ERR_PTR(err);
	}
	return cpu_pages;
}

static void aux_buffer_free(struct auxt_aux_buffer *buffer)
{
	unsigned int cpu;

	for (cpu = 0; cpu < buffer->nr_cpus; cpu++)
		pages_free(buffer->cpu_pages[cpu]);
	account_locked_vm(buffer->mm, buffer->charge, false);
	mmdrop(buffer->mm);
	kvfree(buffer);
}

static int aux_buffer_release(struct inode *inode, struct file *file)
{
	aux_buffer_free(file->private_data);
	return 0;
}

static const struct file_operations aux_buffer_fops = {
	.owner = THIS_MODULE,
	.release = aux_buffer_release,
};

/* Pages for what is kept for each page: struct area, and the kernel's map of a data ring. */
static u64 bookkeeping(u64 nr_aux, u64 nr_data)
{
	return DIV_ROUND_UP((nr_aux + 3 * nr_data) * sizeof(void *), PAGE_SIZE);
}

/**
 * auxt_aux_buffer_new() - allocate and charge the pages of a session
 * @cpus: its CPUs
 * @setup: checked
 * @tables: pages that the trace PMU needs for each CPU, charged here with the rest
 *
 * Return: the buffer, with one reference; -ENOMEM (also beyond RLIMIT_MEMLOCK) or
 * -EINTR.
 */
struct auxt_aux_buffer *auxt_aux_buffer_new(const struct cpumask *cpus, const struct auxtrace_setup *setup,
				  unsigned long tables)
{
	u64 nr_pages = setup->aux_size >> PAGE_SHIFT;
	u64 nr_data = setup->data_size >> PAGE_SHIFT;
	u64 charge = cpumask_weight(cpus) *
		     (nr_pages + nr_data + 2 + bookkeeping(nr_pages, nr_data) + tables);
	struct auxt_aux_buffer *buffer;
	unsigned int cpu;
	int err;

	/* Before anything is asked of the allocator: it must not try in vain for long. */
	if (nr_pages > totalram_pages() || nr_data > totalram_pages() ||
	    charge > totalram_pages())
		return ERR_PTR(-ENOMEM);

	buffer = kvzalloc(struct_size(buffer, cpu_pages, nr_cpu_ids), GFP_KERNEL);
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->nr_cpus = nr_cpu_ids;
	buffer->nr_pages = nr_pages;
	buffer->nr_data = nr_data;
	buffer->charge = charge;

	err = account_locked_vm(current->mm, charge, true);
	if (err) {
		kvfree(buffer);
		return ERR_PTR(err == -EINTR ? err : -ENOMEM);
	}
	buffer->mm = current->mm;
	mmgrab(buffer->mm);

	for_each_cpu(cpu, cpus) {
		struct aux_pages *cpu_pages = pages_new(setup, cpu_to_node(cpu));

		if (IS_ERR(cpu_pages)) {
			err = PTR_ERR(cpu_pages);
			goto err_free;
		}
		buffer->cpu_pages[cpu] = cpu_pages;
	}

	buffer->file = anon_inode_getfile("[auxtrace]", &aux_buffer_fops, buffer, O_RDWR | O_CLOEXEC);
	if (IS_ERR(buffer->file)) {
		err = PTR_ERR(buffer->file);
		goto err_free;
	}
	return buffer;

err_free:
	aux_buffer_free(buffer);
	return ERR_PTR(err);
}

/**
 * auxt_aux_buffer_put() - the session lets go
 * @buffer: its buffer
 */
void auxt_aux_buffer_put(struct auxt_aux_buffer *buffer)
{
	fput(buffer->file);
}

/* Also in NMIs. */
notrace struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu, unsigned long n)
{
	return buffer->cpu_pages[cpu]->aux.page[n];
}
NOKPROBE_SYMBOL(auxt_aux_buffer_aux_page);

/**
 * auxt_aux_buffer_map_aux() - an AUX area as one range of kernel addresses
 * @buffer: the buffer
 * @cpu: the CPU
 * @slots: into how many the area is divided
 * @times: how often each of them shall be there, in a row
 *
 * Return: the map, to be given back by vunmap() before the buffer; or NULL.
 */
void *auxt_aux_buffer_map_aux(struct auxt_aux_buffer *buffer, int cpu, u32 slots, unsigned int times)
{
	return area_map(&buffer->cpu_pages[cpu]->aux, slots, times);
}

/**
 * auxt_aux_buffer_data() - a data ring for its writers
 * @buffer: the buffer of a session with data rings
 * @cpu: the CPU
 *
 * Return: its slots, each mapped twice in a row.
 */
void *auxt_aux_buffer_data(struct auxt_aux_buffer *buffer, int cpu)
{
	return buffer->cpu_pages[cpu]->data_map;
}

struct auxtrace_status_page *auxt_aux_buffer_status(struct auxt_aux_buffer *buffer, int cpu)
{
	return page_address(buffer->cpu_pages[cpu]->status);
}

const struct auxtrace_user_page *auxt_aux_buffer_user(struct auxt_aux_buffer *buffer, int cpu)
{
	return page_address(buffer->cpu_pages[cpu]->user);
}

/**
 * auxt_aux_buffer_mmap() - map a region
 * @buffer: the buffer of the session
 * @vma: its offset is an AUXTRACE_MMAP_OFFSET()
 *
 * Return: 0, or as the ABI says at mmap.
 */
int auxt_aux_buffer_mmap(struct auxt_aux_buffer *buffer, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = offset >> 44;
	unsigned int region = offset >> 40 & 0xf;
	unsigned long clear = VM_MAYEXEC | VM_MAYWRITE;
	unsigned long count, addr = vma->vm_start;
	struct page **pages;
	struct aux_pages *cpu_pages;
	int err;

	/* vm_pgoff has 52 bits: what does not fit in a file offset has no CPU either. */
	if (offset != AUXTRACE_MMAP_OFFSET(cpu, region) ||
	    vma->vm_pgoff != offset >> PAGE_SHIFT || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (region > AUXTRACE_REGION_DATA || (region == AUXTRACE_REGION_DATA && !buffer->nr_data))
		return -EINVAL;
	if (cpu >= buffer->nr_cpus || !buffer->cpu_pages[cpu])
		return -ENODEV;
	cpu_pages = buffer->cpu_pages[cpu];

	switch (region) {
	case AUXTRACE_REGION_STATUS:
		pages = &cpu_pages->status;
		count = 1;
		break;
	case AUXTRACE_REGION_USER:
		pages = &cpu_pages->user;
		count = 1;
		clear = VM_MAYEXEC;
		break;
	case AUXTRACE_REGION_DATA:
		pages = cpu_pages->data.page;
		count = buffer->nr_data;
		break;
	default:
		pages = cpu_pages->aux.page;
		count = buffer->nr_pages;
	}
	if (vma->vm_end - vma->vm_start != count << PAGE_SHIFT)
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC || (clear & VM_MAYWRITE && vma->vm_flags & VM_WRITE))
		return -EACCES;

	auxt_vm_flags_mod(vma, VM_DONTCOPY | VM_DONTEXPAND | VM_DONTDUMP, clear);
	while (count) {
		unsigned long batch = min(count, BATCH), left = batch;

		if (fatal_signal_pending(current))
			return -EINTR;
		err = vm_insert_pages(vma, addr, pages, &left);
		if (err)
			return err;
		cond_resched();
		pages += batch;
		addr += batch << PAGE_SHIFT;
		count -= batch;
	}
	auxt_vma_set_file(vma, buffer->file);
	return 0;
}
