/* SPDX-License-Identifier: GPL-2.0-only */
/* How many packets of Intel PT of which kind are in a trace. No code is needed to tell. */
#ifndef SELFTEST_PACKETS_H
#define SELFTEST_PACKETS_H

#include <stddef.h>
#include <stdint.h>

/*
 * @bytes: from the first PSB to the end of the last packet. @tnts: packets, each of several branches. @tips: without those that
 * say where tracing begins and ends. @last_psb: where the last PSB begins, counted from the first one
 */
struct packets {
	uint64_t bytes, psbs, last_psb, tnts, tips, cycs, mtcs, ptws, pwrxs;
};

/* Of @size bytes of trace. Returns NULL, or what is wrong with the packet behind @p->bytes. */
const char *packets_count(struct packets *p, const uint8_t *trace, size_t size);

#endif
