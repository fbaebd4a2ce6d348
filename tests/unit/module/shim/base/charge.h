/* SPDX-License-Identifier: GPL-2.0-only */
/* Locked memory of a user whose limit the test sets. */
#ifndef SHIM_BASE_CHARGE_H
#define SHIM_BASE_CHARGE_H

#include <errno.h>

struct auxt_charge {
	unsigned long pages;
};

/* In pages: the sum of all charges, and their limit. */
__attribute__((weak)) unsigned long shim_locked, shim_lock_limit = 1ul << 40;

static inline void auxt_charge_begin(struct auxt_charge *charge)
{
	charge->pages = 0;
}

static inline int auxt_charge_add(struct auxt_charge *charge, unsigned long pages)
{
	if (shim_locked + pages > shim_lock_limit)
		return -ENOMEM;
	shim_locked += pages;
	charge->pages += pages;
	return 0;
}

static inline void auxt_charge_sub(struct auxt_charge *charge, unsigned long pages)
{
	shim_locked -= pages;
	charge->pages -= pages;
}

static inline void auxt_charge_end(struct auxt_charge *charge)
{
	auxt_charge_sub(charge, charge->pages);
}

#endif /* SHIM_BASE_CHARGE_H */
