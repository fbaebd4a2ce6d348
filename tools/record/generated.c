// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "generated.h"
#include "lib/bpf_image.h"
#include "lib/clock.h"
#include "lib/tool.h"

#define AGAIN_NS	20000000	/* so long after the first reading comes the second */

struct piece {
	uint64_t tsc, address;
	uint32_t size;
	char *name;
	unsigned int times;	/* it was read: 2 are enough */
	int64_t again_ns;	/* when the second time is due */
};

struct generated {
	struct piece *piece;	/* what has come and not gone */
	size_t count;
	unsigned long lost;
	bool refused;		/* the caller may not read /proc/kcore */
	int said;		/* the error that was said last */
};

struct generated *generated_new(void)
{
	return xcalloc(1, sizeof(struct generated));
}

static void forget(struct generated *g, size_t i)
{
	free(g->piece[i].name);
	g->piece[i] = g->piece[--g->count];
}

void generated_free(struct generated *g)
{
	if (!g)
		return;
	while (g->count)
		forget(g, g->count - 1);
	free(g->piece);
	free(g);
}

static size_t find(const struct generated *g, uint64_t address)
{
	size_t i;

	for (i = 0; i < g->count && g->piece[i].address != address; i++)
		;
	return i;
}

void generated_came(struct generated *g, uint64_t tsc, uint64_t address, uint32_t size, const char *name)
{
	size_t i = find(g, address);

	/* perf has lost the record that it went. */
	if (i < g->count) {
		g->lost += !g->piece[i].times && !g->refused;
		forget(g, i);
	}
	/* Some kernels do not name a program that has subprograms. */
	list_grow(g->piece, g->count);
	g->piece[g->count++] = (struct piece){
		.tsc = tsc, .address = address, .size = size, .name = xstrdup(*name ? name : "bpf_prog"),
	};
}

void generated_went(struct generated *g, struct auxtrace_recording *recording, uint64_t tsc, uint64_t address)
{
	size_t i = find(g, address);

	/* What was there before the recording began has been read then. */
	if (i == g->count)
		return;
	if ((auxtrace_recording_end_kernel_code(recording, tsc, address) ||
	     (bpf_is_image(g->piece[i].name) && g->piece[i].times < 2)) && !g->refused)
		g->lost++;
	forget(g, i);
}

static int64_t due(const struct piece *p)
{
	if (!p->times)
		return 0;
	return p->times == 1 ? p->again_ns : INT64_MAX;
}

/* EFAULT: the memory is gone. Then so is the code, which perf reports. */
static void tell_failure(struct generated *g)
{
	g->refused = errno == EACCES || errno == EPERM;
	if (errno == EFAULT || errno == g->said)
		return;
	g->said = errno;
	say("code that the kernel generates meanwhile (BPF) is not recorded: %s", auxtrace_error());
}

bool generated_read(struct generated *g, struct auxtrace_recording *recording)
{
	int64_t now = clock_now_ns();
	bool any = false;

	for (size_t i = 0; !g->refused && i < g->count; i++) {
		struct piece *p = &g->piece[i];

		if (due(p) > now)
			continue;
		if (auxtrace_recording_add_kernel_code(recording, p->tsc, p->address, p->size, p->name))
			tell_failure(g);
		if (!p->times++)
			p->again_ns = now + AGAIN_NS;
		any = true;
	}
	return any;
}

int64_t generated_due(const struct generated *g)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; !g->refused && i < g->count; i++)
		if (due(&g->piece[i]) < first)
			first = due(&g->piece[i]);
	return first;
}

unsigned long generated_lost(const struct generated *g)
{
	return g->lost;
}
