/* SPDX-License-Identifier: GPL-2.0-only */
/* There is one CPU. */
#ifndef SHIM_LINUX_PERCPU_H
#define SHIM_LINUX_PERCPU_H

#include <linux/atomic.h>

#define __percpu
#define DECLARE_PER_CPU(type, name)	extern __typeof__(type) name
#define DEFINE_PER_CPU(type, name)	__typeof__(type) name
#define this_cpu_read(name)		(name)
#define this_cpu_write(name, value)	((name) = (value))
#define this_cpu_inc_return(name)	(++(name))
#define this_cpu_dec_return(name)	(--(name))
#define this_cpu_inc(name) \
	do { shim_point(); (name)++; shim_point(); } while (0)
#define this_cpu_cmpxchg(name, old, new) cmpxchg_local(&(name), old, new)

#endif /* SHIM_LINUX_PERCPU_H */
