/* SPDX-License-Identifier: GPL-2.0-only */
/* Only NMIs are played: the rest is off anyway. */
#ifndef SHIM_LINUX_IRQFLAGS_H
#define SHIM_LINUX_IRQFLAGS_H

#define raw_local_irq_save(flags)	((flags) = 0)
#define raw_local_irq_restore(flags)	((void)(flags))
#define local_irq_save(flags)		((flags) = 0)
#define local_irq_restore(flags)	((void)(flags))

#endif /* SHIM_LINUX_IRQFLAGS_H */
