/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_ASM_TSC_H
#define SHIM_ASM_TSC_H

#include <linux/types.h>

extern unsigned int tsc_khz;

u64 rdtsc(void);

#endif /* SHIM_ASM_TSC_H */
