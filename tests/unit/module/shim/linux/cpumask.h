/* SPDX-License-Identifier: GPL-2.0 */
/* Pages are the test's. */
#ifndef SHIM_LINUX_CPUMASK_H
#define SHIM_LINUX_CPUMASK_H

struct cpumask;
struct page;
struct vm_area_struct;

#endif /* SHIM_LINUX_CPUMASK_H */
