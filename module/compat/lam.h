/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_LAM_H
#define AUXT_COMPAT_LAM_H

#include <linux/compiler.h>
#include <linux/mm_types.h>
#include <linux/types.h>

/* The bits of CR3 by which a process has turned linear-address masking (LAM) on; 0: it has not. */
static inline u64 auxt_mm_lam(const struct mm_struct *mm)
{
#if defined(AUXT_HAVE_LAM) && defined(CONFIG_ADDRESS_MASKING)
	return READ_ONCE(mm->context.lam_cr3_mask);
#else
	return 0;
#endif
}

#endif /* AUXT_COMPAT_LAM_H */
