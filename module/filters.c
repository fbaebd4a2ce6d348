// SPDX-License-Identifier: GPL-2.0-only
/* Filters from user space. */

#include <linux/auxtrace.h>
#include <linux/err.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/uaccess.h>
#include <asm/cpufeature.h>
#include <asm/io.h>
#include <asm/processor.h>
#include "compat/lam.h"
#include "core/filters.h"
#include "filters.h"
#include "info.h"

/* A write of any other address to the registers of a range faults. */
static bool filters_is_canonical(u64 address)
{
	unsigned int unused = 64 - boot_cpu_data.x86_virt_bits;

	return (u64)((s64)(address << unused) >> unused) == address;
}

static bool filters_is_valid(const struct auxtrace_filter *filter)
{
	return (filter->action == AUXTRACE_FILTER_TRACE ||
		filter->action == AUXTRACE_FILTER_STOP) &&
	       !filter->reserved && filter->first <= filter->last &&
	       filters_is_canonical(filter->first) && filters_is_canonical(filter->last);
}

/* With an earlier filter of the same action. */
static bool filters_overlaps(const struct auxt_filters *filters,
			     const struct auxtrace_filter *filter)
{
	const struct auxtrace_filter *other;

	for (other = filters->filter; other < filter; other++)
		if (other->action == filter->action && other->first <= filter->last &&
		    filter->first <= other->last)
			return true;
	return false;
}

static int filters_get_ranges(struct auxt_filters *filters, const struct auxtrace_setup *setup)
{
	const void __user *from = u64_to_user_ptr(setup->filters);
	u32 i;
	int err;

	if (!setup->nr_filters)
		return 0;
	if (setup->filter_size < sizeof(struct auxtrace_filter) || setup->filter_size % 8 ||
	    setup->filter_size > PAGE_SIZE)
		return -EINVAL;
	if (setup->nr_filters > ARRAY_SIZE(filters->filter))
		return -EOPNOTSUPP;
	for (i = 0; i < setup->nr_filters; i++) {
		struct auxtrace_filter *filter = &filters->filter[i];

		err = copy_struct_from_user(filter, sizeof(*filter), from + i * setup->filter_size,
					    setup->filter_size);
		if (err)
			return err;
		if (!filters_is_valid(filter) || filters_overlaps(filters, filter))
			return -EINVAL;
	}
	filters->nr = setup->nr_filters;
	return 0;
}

static int filters_get_address_space(struct auxt_filters *filters,
				     const struct auxtrace_setup *setup)
{
	struct mm_struct *mm = auxt_task_get_mm(setup->tid);

	if (IS_ERR(mm))
		return PTR_ERR(mm);
	filters->cr3 = auxt_filters_cr3(__pa(mm->pgd), auxt_mm_lam(mm), setup->flags,
					boot_cpu_has(X86_FEATURE_PTI), boot_cpu_has(X86_FEATURE_PCID));
	if (filters->cr3) {
		mmgrab(mm);
		filters->mm = mm;
	}
	mmput(mm);
	return filters->cr3 ? 0 : -EOPNOTSUPP;
}

/**
 * auxt_filters_get() - copy the filters of a SETUP from user space, and find its address space
 * @filters: the result; auxt_filters_put() releases it
 * @setup: says what it is
 *
 * Return: 0; -EINVAL a filter is invalid, or its size; -E2BIG a filter has what this version does
 * not know; -EOPNOTSUPP there are more than any CPU has, or auxt_filters_cr3() has no CR3; -EFAULT; -ESRCH no such thread; -ENXIO it has no address space.
 */
int auxt_filters_get(struct auxt_filters *filters, const struct auxtrace_setup *setup)
{
	int err;

	*filters = (struct auxt_filters) { };
	err = filters_get_ranges(filters, setup);
	if (!err && setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE)
		err = filters_get_address_space(filters, setup);
	return err;
}

/**
 * auxt_filters_put() - release what auxt_filters_get() has found
 * @filters: the filters of a session that no CPU has any more
 */
void auxt_filters_put(struct auxt_filters *filters)
{
	if (filters->mm)
		mmdrop(filters->mm);
	filters->mm = NULL;
}
