/* SPDX-License-Identifier: GPL-2.0-only */
/* No CPU comes or goes. */
#ifndef SHIM_LINUX_CPU_H
#define SHIM_LINUX_CPU_H

#define cpus_read_lock()
#define cpus_read_unlock()

#endif /* SHIM_LINUX_CPU_H */
