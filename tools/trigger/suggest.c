// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "suggest.h"

/* The distance of a name that contains the wanted one. */
#define CONTAINED	2

/* Names that differ in more than half of the letters are not similar. */
static unsigned int limit(const char *wanted)
{
	return (strlen(wanted) + 1) / 2;
}

/* Levenshtein distance: how many letters to insert, remove or replace. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[SUGGEST_LENGTH + 1];
	size_t len = strlen(b);

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		unsigned int corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= len; j++) {
			unsigned int d = corner + (a[i - 1] != b[j - 1]);

			corner = row[j];
			if (row[j] + 1 < d)
				d = row[j] + 1;
			if (row[j - 1] + 1 < d)
				d = row[j - 1] + 1;
			row[j] = d;
		}
	}
	return row[len];
}

void suggest_begin(struct suggestions *n, const char *wanted)
{
	n->wanted = wanted;
	n->count = 0;
}

void suggest_offer(struct suggestions *n, const char *name)
{
	size_t len = strlen(name), wanted = strlen(n->wanted);
	unsigned int most = limit(n->wanted), d, i;

	if (len >= SUGGEST_LENGTH || !wanted)
		return;
	if (strstr(name, n->wanted)) {
		d = CONTAINED;
	} else {
		if (labs((long)len - (long)wanted) > (long)most)
			return;
		d = distance(n->wanted, name);
		if (d > most)
			return;
	}
	for (i = 0; i < n->count; i++)
		if (!strcmp(n->best[i].name, name))
			return;
	/* Sort by distance, then by length. */
	for (i = 0; i < n->count; i++)
		if (d < n->best[i].distance ||
		    (d == n->best[i].distance && len < strlen(n->best[i].name)))
			break;
	if (i == SUGGEST_NAMES)
		return;
	if (n->count < SUGGEST_NAMES)
		n->count++;
	memmove(&n->best[i + 1], &n->best[i], (n->count - i - 1) * sizeof(*n->best));
	n->best[i].distance = d;
	memcpy(n->best[i].name, name, len + 1);
}

const char *suggest_text(struct suggestions *n)
{
	size_t at = 0;

	*n->text = 0;
	for (unsigned int i = 0; i < n->count; i++)
		at += snprintf(n->text + at, sizeof(n->text) - at, "%s%s",
			       i ? ", " : n->count > 1 ? "; near it are " : "; near it is ",
			       n->best[i].name);
	return n->text;
}
