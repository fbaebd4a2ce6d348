// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints whose symbols the kernel does not export: it exports a walk over all of them. */

#include <linux/kprobes.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include "trigger/tracepoint.h"

struct tracepoint_search {
	const char *name;
	struct tracepoint *found;
};

static void tracepoint_match(struct tracepoint *tp, void *priv)
{
	struct tracepoint_search *search = priv;

	if (!strcmp(tp->name, search->name))
		search->found = tp;
}
NOKPROBE_SYMBOL(tracepoint_match);

/**
 * auxt_tracepoint_find() - find a tracepoint of the kernel proper
 * @name: its name
 *
 * Return: the tracepoint, or NULL if this kernel has none of that name.
 */
struct tracepoint *auxt_tracepoint_find(const char *name)
{
	struct tracepoint_search search = { .name = name };

	for_each_kernel_tracepoint(tracepoint_match, &search);
	return search.found;
}
NOKPROBE_SYMBOL(auxt_tracepoint_find);
