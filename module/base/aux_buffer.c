// SPDX-License-Identifier: GPL-2.0-only
/* The pages of a session that user space maps. */

#include <linux/anon_inodes.h>
#include <linux/auxtrace.h>
#include <linux/err.h>
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/overflow.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include "base/aux_buffer.h"
#include "base/charge.h"
#include "base/user_index.h"
#include "compat/compat.h"

/**
 * struct aux_area - pages that user space maps as one range
 * @page: the pages
 * @nr: number of pages allocated so far
 */
struct aux_area {
	struct page **page;
	unsigned long nr;
};

/* The pages of one CPU. */
struct aux_pages {
	struct aux_area aux;
	struct aux_area data;
	void *data_map;		/* see auxt_aux_buffer_data() */
	struct page *status;
	struct page *user;
	bool keep_aux;		/* see auxt_aux_buffer_keep() */
};

/**
 * struct auxt_aux_buffer - the pages of a session
 * @file: owns this struct: its last reference frees everything
 * @charge: what they are charged to
 * @nr_pages: pages of one AUX area
 * @nr_data: pages of one data ring
 * @nr_cpus: entries in @cpu_pages
 * @cpu_pages: by CPU number; NULL for a CPU outside of the session
 */
struct auxt_aux_buffer {
	struct file *file;
	struct auxt_charge charge;
	unsigned long nr_pages;
	unsigned long nr_data;
	unsigned int nr_cpus;
	struct aux_pages *cpu_pages[];
};

/* Pages handled between two calls of cond_resched(). */
#define AUX_BUFFER_BATCH	512UL

/* Pages that user space maps. Before 5.11 a page that is charged to a memory cgroup cannot be. */
#ifdef AUXT_HAVE_MAPPED_KMEM
# define AUX_BUFFER_GFP	(GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN)
#else
# define AUX_BUFFER_GFP	(GFP_KERNEL | __GFP_ZERO | __GFP_NOWARN)
#endif

static void aux_buffer_free_area(struct aux_area *area)
{
	while (area->nr) {
		__free_page(area->page[--area->nr]);
		if (!(area->nr % AUX_BUFFER_BATCH))
			cond_resched();
	}
	kvfree(area->page);
}
NOKPROBE_SYMBOL(aux_buffer_free_area);

static void aux_buffer_free_pages(struct aux_pages *cpu_pages)
{
	if (!cpu_pages)
		return;
	vunmap(cpu_pages->data_map);
	if (cpu_pages->keep_aux)
		cpu_pages->aux.nr = 0;
	aux_buffer_free_area(&cpu_pages->aux);
	aux_buffer_free_area(&cpu_pages->data);
	if (cpu_pages->status)
		__free_page(cpu_pages->status);
	if (cpu_pages->user)
		__free_page(cpu_pages->user);
	kfree(cpu_pages);
}
NOKPROBE_SYMBOL(aux_buffer_free_pages);

/**
 * auxt_session_calloc() - allocate an array for a session
 * @n: number of elements
 * @size: size of one
 *
 * Return: the array, zeroed, for kvfree(); or NULL.
 */
void *auxt_session_calloc(size_t n, size_t size)
{
	size_t bytes = array_size(n, size);

	if (bytes <= PAGE_SIZE)
		return kzalloc(bytes, AUXT_SESSION_GFP);
	return __vmalloc(bytes, AUXT_SESSION_GFP | __GFP_ZERO);
}
NOKPROBE_SYMBOL(auxt_session_calloc);

/*
 * Allocates chunks as large as the node has free, which takes few calls of the allocator. Falls
 * back to smaller chunks, then to other nodes. (The allocator refuses an order beyond its maximum
 * at once.) Chunks are split so that each page has a reference count of its own, which
 * get_user_pages() needs.
 */
static int aux_buffer_alloc_area(struct aux_area *area, unsigned long nr_pages, int node)
{
	unsigned int order = ilog2(nr_pages);
	gfp_t where = __GFP_THISNODE;
	unsigned long i;

	area->page = auxt_session_calloc(nr_pages, sizeof(*area->page));
	if (!area->page)
		return -ENOMEM;
	while (area->nr < nr_pages) {
		gfp_t gfp = AUX_BUFFER_GFP | where;
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		while (1UL << order > nr_pages - area->nr)
			order--;
		/* Reclaim hard only for a single page of any node; never invoke the OOM killer. */
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
NOKPROBE_SYMBOL(aux_buffer_alloc_area);

/* Maps each slot several times in a row for writers, so that no record wraps. */
static void *aux_buffer_map_area(const struct aux_area *area, u32 slots, unsigned int times)
{
	unsigned long per_slot = area->nr / slots, nr = area->nr * times, i;
	struct page **pages = kvmalloc_array(nr, sizeof(*pages), GFP_KERNEL | __GFP_NOWARN);
	void *map;

	if (!pages)
		return NULL;
	for (i = 0; i < nr; i++) {
		pages[i] = area->page[i / (times * per_slot) * per_slot + i % per_slot];
		if (!(i % AUX_BUFFER_BATCH))
			cond_resched();
	}
	map = vmap(pages, nr, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	return map;
}
NOKPROBE_SYMBOL(aux_buffer_map_area);

static struct aux_pages *aux_buffer_new_pages(const struct auxtrace_setup *setup, u32 data_slots,
					      int node)
{
	struct aux_pages *cpu_pages = kzalloc_node(sizeof(*cpu_pages), AUXT_SESSION_GFP, node);
	int err = -ENOMEM;

	if (!cpu_pages)
		return ERR_PTR(-ENOMEM);
	cpu_pages->status = alloc_pages_node(node, AUX_BUFFER_GFP | __GFP_RETRY_MAYFAIL, 0);
	cpu_pages->user = alloc_pages_node(node, AUX_BUFFER_GFP | __GFP_RETRY_MAYFAIL, 0);
	if (cpu_pages->status && cpu_pages->user)
		err = aux_buffer_alloc_area(&cpu_pages->aux, setup->aux_size >> PAGE_SHIFT, node);
	if (!err && setup->data_size)
		err = aux_buffer_alloc_area(&cpu_pages->data, setup->data_size >> PAGE_SHIFT, node);
	if (!err && setup->data_size) {
		cpu_pages->data_map = aux_buffer_map_area(&cpu_pages->data, data_slots, 2);
		if (!cpu_pages->data_map)
			err = -ENOMEM;
	}
	if (err) {
		aux_buffer_free_pages(cpu_pages);
		return ERR_PTR(err);
	}
	return cpu_pages;
}
NOKPROBE_SYMBOL(aux_buffer_new_pages);

static void aux_buffer_free(struct auxt_aux_buffer *buffer)
{
	unsigned int cpu;

	for (cpu = 0; cpu < buffer->nr_cpus; cpu++)
		aux_buffer_free_pages(buffer->cpu_pages[cpu]);
	auxt_charge_end(&buffer->charge);
	kvfree(buffer);
}
NOKPROBE_SYMBOL(aux_buffer_free);

static int aux_buffer_release(struct inode *inode, struct file *file)
{
	aux_buffer_free(file->private_data);
	return 0;
}
NOKPROBE_SYMBOL(aux_buffer_release);

static const struct file_operations aux_buffer_fops = {
	.owner = THIS_MODULE,
	.release = aux_buffer_release,
};

/* Pages that hold the arrays of struct aux_area and the page tables of the data rings' maps. */
static u64 aux_buffer_bookkeeping(u64 nr_aux, u64 nr_data)
{
	return DIV_ROUND_UP((nr_aux + 3 * nr_data) * sizeof(void *), PAGE_SIZE);
}
NOKPROBE_SYMBOL(aux_buffer_bookkeeping);

/**
 * auxt_aux_buffer_new() - allocate and charge the pages of a session
 * @cpus: its CPUs
 * @setup: checked
 * @tables: pages that the trace PMU needs for each CPU, charged here with the rest
 * @data_slots: slots of each data ring
 *
 * Return: the buffer, with one reference; or ERR_PTR(-ENOMEM), also beyond RLIMIT_MEMLOCK or the
 * limit of the memory cgroup; or ERR_PTR(-EINTR) after a fatal signal.
 */
struct auxt_aux_buffer *auxt_aux_buffer_new(const struct cpumask *cpus,
					    const struct auxtrace_setup *setup,
					    unsigned long tables, u32 data_slots)
{
	u64 nr_pages = setup->aux_size >> PAGE_SHIFT;
	u64 nr_data = setup->data_size >> PAGE_SHIFT;
	u64 charge = cpumask_weight(cpus) *
		     (nr_pages + nr_data + 2 + aux_buffer_bookkeeping(nr_pages, nr_data) + tables);
	struct auxt_aux_buffer *buffer;
	unsigned int cpu;
	int err;

	/* Refuse at once a size that the allocator would refuse after a long reclaim. */
	if (nr_pages > totalram_pages() || nr_data > totalram_pages() ||
	    charge > totalram_pages())
		return ERR_PTR(-ENOMEM);

	buffer = auxt_session_calloc(1, struct_size(buffer, cpu_pages, nr_cpu_ids));
	if (!buffer)
		return ERR_PTR(-ENOMEM);
	buffer->nr_cpus = nr_cpu_ids;
	buffer->nr_pages = nr_pages;
	buffer->nr_data = nr_data;

	auxt_charge_begin(&buffer->charge);
	err = auxt_charge_add(&buffer->charge, charge);
	if (err) {
		auxt_charge_end(&buffer->charge);
		kvfree(buffer);
		return ERR_PTR(err);
	}

	for_each_cpu(cpu, cpus) {
		struct aux_pages *cpu_pages;

		cpu_pages = aux_buffer_new_pages(setup, data_slots, cpu_to_node(cpu));
		if (IS_ERR(cpu_pages)) {
			err = PTR_ERR(cpu_pages);
			goto err_free;
		}
		buffer->cpu_pages[cpu] = cpu_pages;
	}

	buffer->file = anon_inode_getfile("[auxtrace]", &aux_buffer_fops, buffer,
					  O_RDWR | O_CLOEXEC);
	if (IS_ERR(buffer->file)) {
		err = PTR_ERR(buffer->file);
		goto err_free;
	}
	return buffer;

err_free:
	aux_buffer_free(buffer);
	return ERR_PTR(err);
}
NOKPROBE_SYMBOL(auxt_aux_buffer_new);

/**
 * auxt_aux_buffer_put() - drop the session's reference; mappings hold their own
 * @buffer: the session's buffer
 */
void auxt_aux_buffer_put(struct auxt_aux_buffer *buffer)
{
	fput(buffer->file);
}
NOKPROBE_SYMBOL(auxt_aux_buffer_put);

/**
 * auxt_aux_buffer_keep() - never free the pages of an AUX area
 * @buffer: the buffer
 * @cpu: the CPU, whose hardware may go on writing to them
 */
void auxt_aux_buffer_keep(struct auxt_aux_buffer *buffer, int cpu)
{
	buffer->cpu_pages[cpu]->keep_aux = true;
}
NOKPROBE_SYMBOL(auxt_aux_buffer_keep);

/**
 * auxt_aux_buffer_aux_page() - a page of an AUX area
 * @buffer: the buffer
 * @cpu: the CPU
 * @n: number of the page in the area
 *
 * Any context, also NMI.
 *
 * Return: the page.
 */
struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu,
				      unsigned long n)
{
	return buffer->cpu_pages[cpu]->aux.page[n];
}
NOKPROBE_SYMBOL(auxt_aux_buffer_aux_page);

/**
 * auxt_aux_buffer_map_aux() - an AUX area as one range of kernel addresses
 * @buffer: the buffer
 * @cpu: the CPU
 * @slots: number of slots of the area
 * @times: copies of each slot, in a row
 *
 * Return: the map, or NULL. The caller calls vunmap() before it drops the buffer.
 */
void *auxt_aux_buffer_map_aux(struct auxt_aux_buffer *buffer, int cpu, u32 slots,
			      unsigned int times)
{
	return aux_buffer_map_area(&buffer->cpu_pages[cpu]->aux, slots, times);
}
NOKPROBE_SYMBOL(auxt_aux_buffer_map_aux);

/**
 * auxt_aux_buffer_data() - a CPU's data ring as its writers see it
 * @buffer: the buffer of a session with data rings
 * @cpu: the CPU
 *
 * Return: the slots, each mapped twice in a row.
 */
void *auxt_aux_buffer_data(struct auxt_aux_buffer *buffer, int cpu)
{
	return buffer->cpu_pages[cpu]->data_map;
}
NOKPROBE_SYMBOL(auxt_aux_buffer_data);

/**
 * auxt_aux_buffer_status() - a CPU's status page
 * @buffer: the buffer
 * @cpu: the CPU
 *
 * Return: the page.
 */
struct auxtrace_status_page *auxt_aux_buffer_status(struct auxt_aux_buffer *buffer, int cpu)
{
	return page_address(buffer->cpu_pages[cpu]->status);
}
NOKPROBE_SYMBOL(auxt_aux_buffer_status);

/**
 * auxt_aux_buffer_user() - a CPU's user page
 * @buffer: the buffer
 * @cpu: the CPU
 *
 * Return: the page.
 */
const struct auxtrace_user_page *auxt_aux_buffer_user(struct auxt_aux_buffer *buffer, int cpu)
{
	return page_address(buffer->cpu_pages[cpu]->user);
}
NOKPROBE_SYMBOL(auxt_aux_buffer_user);

/**
 * auxt_aux_buffer_mmap() - map a region
 * @buffer: the buffer of the session
 * @vma: its offset is an AUXTRACE_MMAP_OFFSET()
 *
 * Return: 0; -EINVAL wrong offset or length, a private mapping, or no data ring; -EACCES a
 * protection that the region does not allow; -ENODEV a CPU that is not the session's; -EINTR a
 * fatal signal; -ENOMEM.
 */
int auxt_aux_buffer_mmap(struct auxt_aux_buffer *buffer, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = offset >> 20;
	unsigned int region = offset >> 16 & 0xf;
	unsigned long clear = VM_MAYEXEC | VM_MAYWRITE;
	unsigned long count, addr = vma->vm_start;
	struct page **pages;
	struct aux_pages *cpu_pages;
	int err;

	/* The shift above lost the upper bits of an offset beyond 64 bits, which names no CPU. */
	if (offset != AUXTRACE_MMAP_OFFSET(cpu, region) ||
	    vma->vm_pgoff != offset >> PAGE_SHIFT || !(vma->vm_flags & VM_MAYSHARE))
		return -EINVAL;
	if (region > AUXTRACE_REGION_DATA || (region == AUXTRACE_REGION_DATA && !buffer->nr_data))
		return -EINVAL;
	if (!auxt_user_index(&cpu, buffer->nr_cpus))
		return -ENODEV;
	cpu_pages = buffer->cpu_pages[cpu];
	if (!cpu_pages)
		return -ENODEV;

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
		unsigned long batch = min(count, AUX_BUFFER_BATCH), left = batch;

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
NOKPROBE_SYMBOL(auxt_aux_buffer_mmap);
