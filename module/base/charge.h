/* SPDX-License-Identifier: GPL-2.0-only */
/* Memory that a session locks, charged to the user who made it. */
#ifndef AUXT_CHARGE_H
#define AUXT_CHARGE_H

#include <linux/atomic.h>
#include <linux/types.h>

struct cred;

/**
 * struct auxt_charge - what one part of a session is charged with
 * @cred: credentials of the user who is charged; NULL: nobody is
 * @limit: the user's limit, in pages, as it was at auxt_charge_begin()
 * @pages: pages charged
 */
struct auxt_charge {
	const struct cred *cred;
	unsigned long limit;
	atomic_long_t pages;
};

/* Task context. */
void auxt_charge_begin(struct auxt_charge *charge);
int auxt_charge_add(struct auxt_charge *charge, unsigned long pages);
void auxt_charge_sub(struct auxt_charge *charge, unsigned long pages);
void auxt_charge_end(struct auxt_charge *charge);

#endif /* AUXT_CHARGE_H */
