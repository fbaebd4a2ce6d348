/* SPDX-License-Identifier: GPL-2.0 */
/* There is one CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define this_cpu_read(name)		(name)
#define this_cpu_write(name, value)	((name) = (value))

#endif /* SHIM_LINUX_PERCPU_H */
