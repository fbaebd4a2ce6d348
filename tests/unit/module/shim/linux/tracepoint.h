/* SPDX-License-Identifier: GPL-2.0-only */
/* One tracepoint, whose probe the test calls. */
#ifndef SHIM_LINUX_TRACEPOINT_H
#define SHIM_LINUX_TRACEPOINT_H

struct tracepoint {
	const char *name;
	void *probe;
	void *data;
};

extern struct tracepoint shim_process_exit;

#define for_each_kernel_tracepoint(fn, priv)	fn(&shim_process_exit, priv)
#define tracepoint_synchronize_unregister()	((void)0)

static inline int tracepoint_probe_register(struct tracepoint *tp, void *probe, void *data)
{
	tp->probe = probe;
	tp->data = data;
	return 0;
}

static inline int tracepoint_probe_unregister(struct tracepoint *tp, void *probe, void *data)
{
	tp->probe = NULL;
	return 0;
}

#endif /* SHIM_LINUX_TRACEPOINT_H */
