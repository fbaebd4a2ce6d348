/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_POLL_H
#define SHIM_LINUX_POLL_H

#define EPOLLIN		0x001
#define EPOLLPRI	0x002
#define EPOLLERR	0x008
#define EPOLLRDNORM	0x040

struct file;
struct poll_table_struct;

#endif /* SHIM_LINUX_POLL_H */
