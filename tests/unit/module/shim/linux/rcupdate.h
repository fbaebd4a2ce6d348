/* SPDX-License-Identifier: GPL-2.0-only */
/* Nobody reads when the tests wait for readers, but an irq_work may still be read: irq_work.h. */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

__attribute__((weak)) unsigned int shim_grace_periods;
__attribute__((weak)) const volatile bool *shim_reads_later[8];

static inline void synchronize_rcu(void)
{
	shim_grace_periods++;
	for (int i = 0; i < 8; i++) {
		if (shim_reads_later[i])
			(void)*shim_reads_later[i];
		shim_reads_later[i] = NULL;
	}
}

#endif /* SHIM_LINUX_RCUPDATE_H */
