// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "decode/records.h"
#include "lib/duration.h"
#include "time_limits.h"

/* Seconds with up to nine digits behind the point, in ns. NULL if @text has none, else what is behind them. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t unit = 1000000000;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	if (__builtin_mul_overflow(strtoull(text, &end, 10), unit, ns) || errno)
		return NULL;
	if (*end != '.')
		return end;
	for (end++; *end >= '0' && *end <= '9'; end++) {
		unit /= 10;
		*ns += (*end - '0') * unit;
	}
	return end;
}

/* When the first freeze of any CPU was, by the kernel's clock. */
static uint64_t freeze_time(const char *dir, const struct meta *meta)
{
	uint64_t first = UINT64_MAX, ns = 0;

	for (unsigned int i = 0; i < meta->nr_cpus; i++) {
		struct records r;

		must(records_read(&r, dir, &meta->cpu[i]));
		for (size_t j = 0; j < r.nr_triggers; j++) {
			uint64_t tsc = auxtrace_record_end(r.trigger[j])->time;

			if (r.trigger[j]->trigger.action == AUXTRACE_ACTION_FREEZE && tsc < first)
				first = tsc;
		}
		records_free(&r);
	}
	if (first == UINT64_MAX)
		die(1, "--time: no event froze this recording");
	meta_clock(meta, first, &ns);
	return ns;
}

/* A limit in ns. NULL if @text does not begin with one, else what is behind it. */
static const char *parse_limit(const char *text, const char *dir, const struct meta *meta, uint64_t *ns)
{
	static const char freeze[] = "freeze";
	size_t length;
	uint64_t distance;
	bool before;

	if (strncmp(text, freeze, sizeof(freeze) - 1))
		return parse_seconds(text, ns);
	*ns = freeze_time(dir, meta);
	text += sizeof(freeze) - 1;
	if (*text != '-' && *text != '+')
		return text;
	before = *text++ == '-';
	length = strcspn(text, ",");
	if (!parse_time(text, length, &distance))
		return NULL;
	*ns += before ? -distance : distance;
	return text + length;
}

void time_limits_parse(struct calls_cut *c, const char *text, const char *dir, const struct meta *meta)
{
	const char *at = text;
	uint64_t ns;

	if (!meta_clock(meta, 0, &ns))
		die(1, "--time: this recording has no clock");
	if (*at != ',') {
		at = parse_limit(at, dir, meta, &ns);
		if (at)
			c->begin = meta_tsc(meta, ns);
	}
	if (at && *at == ',' && !at[1])
		return;
	at = at && *at == ',' ? parse_limit(at + 1, dir, meta, &ns) : NULL;
	if (!at || *at)
		die(EXIT_USAGE, "--time %s: it takes BEGIN,END in seconds as script shows them, or as freeze-2ms; either may be empty",
		    text);
	c->end = meta_tsc(meta, ns);
	if (c->end <= c->begin)
		die(EXIT_USAGE, "--time %s: the end is not behind the begin", text);
}
