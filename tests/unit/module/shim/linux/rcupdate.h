/* SPDX-License-Identifier: GPL-2.0 */
/* Nobody reads when the tests wait for readers. */
#ifndef SHIM_LINUX_RCUPDATE_H
#define SHIM_LINUX_RCUPDATE_H

#define synchronize_rcu()	((void)0)

#endif /* SHIM_LINUX_RCUPDATE_H */
