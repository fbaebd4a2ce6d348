/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the packets alone say, without the code: where windows begin, and where
 * control comes back from code that is not in the recording.
 */
#ifndef PT_PACKETS_H
#define PT_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "lib/meta.h"

struct records;

struct window {
	uint64_t seq;		/* as the kernel counts; 0: not known */
	uint64_t begin;		/* offset of its first PSB in the file */
	size_t enables;		/* TIP.PGE packets before it */
};

struct windows {
	struct window *window;
	size_t count;
	bool exact;		/* all have their number */
	uint64_t *enable;	/* offsets of all TIP.PGE packets */
	size_t nr_enables;
};

/*
 * A window begins with a PSB while packets are off; the first PSB of all is one's
 * begin, or that of what is left of it. In a trace of user code only,
 * a PSB in the middle of a system call looks the same. WINDOW records tell them apart;
 * without these @exact is false then, and only windows that the recording places
 * have their number.
 */
void windows_find(struct windows *w, const struct pt_config *config, const struct meta_cpu *cpu,
		  const struct records *records, bool kernel);
/* TIP.PGE packets before @offset. */
size_t windows_enables(const struct windows *w, uint64_t offset);
void windows_free(struct windows *w);

struct return_point {
	uint64_t offset;	/* behind the packet that brings control back */
	uint64_t ip;		/* to where */
	uint64_t cr3;		/* in which address space, as far as packets say */
	uint64_t tsc;		/* newest TSC packet before it; 0: none */
	bool overflow;		/* an OVF ends what can be said */
};

/* The last PSB that begins before @offset, or a negative libipt error. */
int64_t packets_last_psb(const struct pt_config *config, uint64_t offset);

/*
 * User code that is not known runs where a decoder has got to @offset. Find where it ends: at the next entry to the kernel, or where packets go
 * on again after they were off. Returns false if the trace ends before.
 */
bool packets_find_return(const struct pt_config *config, uint64_t offset, uint64_t cr3,
			 struct return_point *point);

/*
 * Overwrite what was decoded before @point with a PSB+ that makes its state, so
 * that a decoder can synchronize there. Returns the PSB's offset, or
 * -pte_nomem if there is no room before @point, and other libipt errors.
 */
int64_t packets_write_psb(const struct pt_config *config, const struct return_point *point);

#endif
