/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's part of a fake channel's data ring, as <linux/auxtrace.h> describes
 * it, byte for byte and without hurry. The records' content tells itself.
 */
#ifndef RINGWRITER_H
#define RINGWRITER_H

#include "fakedev.h"

#include <auxtrace.h>

/* Write record number @n (from 1), of a size and kind that follow from @n. */
void write_record(unsigned int cpu, uint64_t n);
/* The bytes that it has. */
uint64_t record_size(uint64_t n);
/* Fails the test unless @record is number @n. */
void check_record(const union auxtrace_record *record, uint64_t n);
/* Number of @record; fails the test if it is none of ours, or torn. */
uint64_t record_number(const union auxtrace_record *record);

/* Any record, as it stands. */
void write_bytes(unsigned int cpu, const void *record, uint64_t size);
void write_window(unsigned int cpu, uint64_t window, uint64_t begin, uint64_t end,
		  uint32_t begin_cause, uint32_t end_cause);

/* SNAPSHOT with SLOT: put the present one aside and go on in @slot. */
void switch_slot(unsigned int cpu, uint32_t slot, struct auxtrace_cut *cut);

#endif
