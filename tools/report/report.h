/* SPDX-License-Identifier: GPL-2.0-only */
/* auxtrace report: a sink of calls (decode/calls.h) that sums them up by function. */
#ifndef REPORT_H
#define REPORT_H

#include "contrast.h"
#include "decode/functions.h"
#include "page.h"
#include "rows.h"

struct report {
	struct calls_sink sink;
	const char *compare;	/* the function whose slowest call is compared with its others; NULL: none */
	struct functions functions;
	struct rows rows;
	struct contrast contrast;
	struct page *page;	/* takes calls and windows, too; NULL: there is none */
	uint64_t cut;		/* calls that are not whole */
	struct open_call *innermost[4096];	/* by stack and function, the innermost open call of each */
};

/* @compare, @page and rows.by may be set behind this. */
void report_begin(struct report *r);
void report_free(struct report *r);

#endif
