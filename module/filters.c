// SPDX-License-Identifier: GPL-2.0
/* Filters from user space. */

#include <linux/auxtrace.h>
#include <linux/errno.h>
#include <linux/mm.h>
#include <linux/uaccess.h>
#include <asm/processor.h>
#include "core/filters.h"
#include "filters.h"

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

/**
 * auxt_filters_get() - copy the filters of a SETUP from user space
 * @filters: the result
 * @setup: says where they are
 *
 * Return: 0; -EINVAL a filter is invalid, or its size; -E2BIG a filter has what this version does
 * not know; -EOPNOTSUPP there are more than any CPU has; -EFAULT.
 */
int auxt_filters_get(struct auxt_filters *filters, const struct auxtrace_setup *setup)
{
	const void __user *from = u64_to_user_ptr(setup->filters);
	u32 i;
	int err;

	filters->nr = 0;
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
