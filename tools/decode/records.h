/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The records of one CPU's data ring: cpuN.data of a recording. */
#ifndef RECORDS_H
#define RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <auxtrace.h>

#include "lib/meta.h"
#include "lib/tool.h"

/* Bytes before @position were traced before @tsc, all others after it. */
struct anchor {
	uint64_t position, tsc;
};

struct records {
	const struct meta_cpu *cpu;
	struct mapped file;
	const struct auxtrace_record_window **window; /* by number */
	size_t nr_windows;
	struct mapped slots;	/* cpuN.samples: bytes of samples that were in slots */
	uint64_t slots_used;	/* bytes of it that belong to a record so far */
	const uint8_t **bytes;	/* of each sample; NULL: not in the recording */
	const union auxtrace_record **sample; /* SAMPLE records, oldest first */
	size_t nr_samples;
	const union auxtrace_record **trigger; /* TRIGGER records, by position */
	size_t nr_triggers;
	const union auxtrace_record *start; /* the first ITRACE_START record, or NULL */
	const union auxtrace_record **switches; /* SWITCH records, and LOST records between them */
	size_t nr_switches;
	uint64_t lost;		/* records, by LOST records */
	struct anchor *anchor;	/* by time */
	size_t nr_anchors;
};

/* Without a file there are no records. Returns false, with a message, if it cannot be read; reports damage. */
bool records_read(struct records *r, const char *dir, const struct meta_cpu *cpu);
void records_free(struct records *r);

/* Window number @seq, or NULL. */
const struct auxtrace_record_window *records_window(const struct records *r, uint64_t seq);
/* The window that begins with the byte at @position, or NULL. */
const struct auxtrace_record_window *records_begin(const struct records *r, uint64_t position);
/* The window that contains the byte at @position, or NULL. */
const struct auxtrace_record_window *records_within(const struct records *r, uint64_t position);

/* The first TRIGGER record of trigger @id at @position that is not older than @tsc, or NULL. */
const struct auxtrace_record_trigger *records_trigger(const struct records *r, uint32_t id, uint64_t position, uint64_t tsc);

/* "whole", "overwritten in part" or "gone", in the recording's trace. */
const char *records_part(const struct records *r, const struct auxtrace_record_window *w);

/*
 * The TSCs between which bytes [begin, end) were traced, according to the windows and AUX
 * records; 0: not known.
 */
void records_bounds(const struct records *r, uint64_t begin, uint64_t end, uint64_t *after,
		    uint64_t *before);

/* Print all records, one a line. */
void records_print(const struct records *r);

#endif
