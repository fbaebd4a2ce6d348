/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_KCSAN_CHECKS_H
#define SHIM_LINUX_KCSAN_CHECKS_H

static inline void kcsan_nestable_atomic_begin(void)
{
}

static inline void kcsan_nestable_atomic_end(void)
{
}

#endif /* SHIM_LINUX_KCSAN_CHECKS_H */
