/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_HRTIMER_H
#define AUXT_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

/* hrtimer_setup() replaced hrtimer_init(), which left @function to the caller. */
static inline void auxt_hrtimer_setup(struct hrtimer *timer,
				      enum hrtimer_restart (*function)(struct hrtimer *),
				      clockid_t clock, enum hrtimer_mode mode)
{
#ifdef AUXT_HAVE_HRTIMER_SETUP
	hrtimer_setup(timer, function, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = function;
#endif
}

#endif /* AUXT_COMPAT_HRTIMER_H */
