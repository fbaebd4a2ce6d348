/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was found of the machine, for auxtrace info and the self-test, in the order of the findings. */
#ifndef FINDINGS_H
#define FINDINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct source;

enum verdict {
	YES,
	NO,			/* tracing with the finding's source, or at all, is impossible */
	NOTE,
};

struct finding {
	const struct source *source; /* NULL: concerns all sources */
	const char *name;
	enum verdict verdict;
	char text[400];
};

void finding_add(const struct source *source, const char *name, enum verdict verdict,
		 const char *format, ...) __attribute__((format(printf, 4, 5)));

/* Finding number @i, or NULL behind the last one. */
const struct finding *finding_at(unsigned int i);

/* Is there no NO about @source? NULL: among those that concern all sources. */
bool findings_allow(const struct source *source);

/* All findings: a line each; or a JSON array, as the member of an object, without a newline behind it. */
void findings_text(FILE *out);
void findings_json(FILE *out);

#endif
