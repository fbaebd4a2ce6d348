// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "meta.h"
#include "tool.h"

#define FORMAT_VERSION	1

/* "cpu N key value key value ..."; unknown keys are ignored. */
static bool parse_cpu(struct meta *meta, char *text, const char *dir)
{
	struct meta_cpu *c;
	char *save, *key = strtok_r(text, " ", &save);

	if (!key || strspn(key, "0123456789") != strlen(key))
		return wrong("%s/meta: a cpu line without its number", dir);
	if (strlen(key) > 5 || strtoul(key, NULL, 10) > MAX_CPU)
		return wrong("%s/meta: cpu %s: no kernel has so many CPUs", dir, key);
	meta->cpu = xrealloc(meta->cpu, (meta->nr_cpus + 1) * sizeof(*c));
	c = &meta->cpu[meta->nr_cpus++];
	memset(c, 0, sizeof(*c));
	c->window_begin = UINT64_MAX;
	c->cpu = strtoul(key, NULL, 10);
	while ((key = strtok_r(NULL, " ", &save))) {
		const struct {
			const char *key;
			uint64_t *value;
		} fields[] = {
			{ "begin", &c->begin }, { "read", &c->read }, { "produced", &c->produced },
			{ "overwritten", &c->overwritten }, { "windows", &c->windows },
			{ "window_begin", &c->window_begin }, { "gaps", &c->gaps },
			{ "pad", &c->pad }, { "data_read", &c->data_read },
		};
		const char *value = strtok_r(NULL, " ", &save);

		if (!value)
			return wrong("%s/meta: cpu %u: %s has no value", dir, c->cpu, key);
		for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
			if (!strcmp(key, fields[i].key))
				*fields[i].value = strtoull(value, NULL, 0);
	}
	if (c->pad > c->begin)
		return wrong("%s/meta: cpu %u: pad is more than begin", dir, c->cpu);
	c->origin = c->begin - c->pad;
	return true;
}

/* "trigger ID hits N acted N ... on LABEL"; the label goes to the end of the line. */
static bool parse_trigger(struct meta *meta, char *text, const char *dir)
{
	struct meta_trigger *t;
	char *on = strstr(text, " on "), *save, *key, *value;

	if (on)
		*on = 0;
	key = strtok_r(text, " ", &save);
	if (!key || strspn(key, "0123456789") != strlen(key))
		return wrong("%s/meta: a trigger line without its number", dir);
	meta->trigger = xrealloc(meta->trigger, (meta->nr_triggers + 1) * sizeof(*t));
	t = &meta->trigger[meta->nr_triggers++];
	*t = (struct meta_trigger){ .id = strtoul(key, NULL, 10), .text = xstrdup(on ? on + 4 : "") };
	while ((key = strtok_r(NULL, " ", &save)) && (value = strtok_r(NULL, " ", &save))) {
		const struct {
			const char *key;
			uint64_t *value;
		} fields[] = {
			{ "hits", &t->hits }, { "acted", &t->acted }, { "held", &t->held },
			{ "idle", &t->idle }, { "missed", &t->missed },
		};

		for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++)
			if (!strcmp(key, fields[i].key))
				*fields[i].value = strtoull(value, NULL, 0);
	}
	return true;
}

/* "filter trace|stop FIRST LAST" */
static bool parse_filter(struct meta *meta, const char *text, const char *dir)
{
	struct meta_filter filter;
	char action[8];

	if (sscanf(text, "%7s %" SCNx64 " %" SCNx64, action, &filter.first, &filter.last) != 3 ||
	    (strcmp(action, "trace") && strcmp(action, "stop")) || meta->nr_filters == META_FILTERS)
		return wrong("%s/meta: \"filter %s\": expected at most %d filters, each trace or stop with two addresses",
		    dir, text, META_FILTERS);
	filter.stop = !strcmp(action, "stop");
	meta->filter[meta->nr_filters++] = filter;
	return true;
}

static bool parse_line(struct meta *meta, const char *key, char *value, const char *dir)
{
	const struct {
		const char *key;
		unsigned int *value;
	} small[] = {
		{ "cpu_family", &meta->cpu_family }, { "cpu_model", &meta->cpu_model },
		{ "cpu_stepping", &meta->cpu_stepping }, { "tsc_art_num", &meta->tsc_art_num },
		{ "tsc_art_den", &meta->tsc_art_den },
		{ "max_nonturbo_ratio", &meta->max_nonturbo_ratio },
		{ "time_shift", &meta->time_shift }, { "time_mult", &meta->time_mult },
		{ "flags", &meta->flags }, { "pmu", &meta->pmu },
	};
	const struct {
		const char *key;
		uint64_t *value;
	} large[] = {
		{ "time_zero", &meta->time_zero }, { "tsc_khz", &meta->tsc_khz },
		{ "config", &meta->config }, { "kcore_tsc", &meta->kcore_tsc },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(small); i++)
		if (!strcmp(key, small[i].key))
			*small[i].value = strtoul(value, NULL, 0);
	if (meta->time_shift > 63)
		return wrong("%s/meta: time_shift %u: the clock's shift is at most 63", dir, meta->time_shift);
	for (unsigned int i = 0; i < ARRAY_SIZE(large); i++)
		if (!strcmp(key, large[i].key))
			*large[i].value = strtoull(value, NULL, 0);
	if (!strcmp(key, "mono_begin"))
		sscanf(value, "%" SCNu64 " %" SCNu64, &meta->begin.tsc, &meta->begin.ns);
	if (!strcmp(key, "mono_end"))
		sscanf(value, "%" SCNu64 " %" SCNu64, &meta->end.tsc, &meta->end.ns);
	if (!strcmp(key, "release"))
		snprintf(meta->release, sizeof(meta->release), "%s", value);
	if (!strcmp(key, "cpu"))
		return parse_cpu(meta, value, dir);
	if (!strcmp(key, "trigger"))
		return parse_trigger(meta, value, dir);
	if (!strcmp(key, "filter"))
		return parse_filter(meta, value, dir);
	return true;
}

static bool read_lines(struct meta *meta, FILE *f, const char *dir)
{
	unsigned long version = 0;
	char *line = NULL;
	bool right = true;
	size_t size = 0;

	while (right && getline(&line, &size, f) > 0) {
		char *value = strchr(line, ' ');

		line[strcspn(line, "\n")] = 0;
		if (!value)
			continue;
		*value++ = 0;
		if (!strcmp(line, "auxtrace_recording"))
			version = strtoul(value, NULL, 10);
		else
			right = parse_line(meta, line, value, dir);
	}
	free(line);
	if (!right)
		return false;
	if (version != FORMAT_VERSION)
		return wrong("%s/meta: a recording of format %lu; this version reads format %d", dir, version, FORMAT_VERSION);
	return meta->nr_cpus || wrong("%s/meta names no CPU", dir);
}

struct meta *meta_read(const char *dir)
{
	struct meta *meta;
	char path[4200];
	bool right;
	FILE *f;

	snprintf(path, sizeof(path), "%s/meta", dir);
	f = open_text(path);
	if (!f && errno == ENOENT)
		say("%s is not a complete recording: it has no file meta, which auxtrace record writes last", dir);
	else if (!f)
		say("cannot read %s: %s", path, strerror(errno));
	if (!f)
		return NULL;
	meta = xcalloc(1, sizeof(*meta));
	right = read_lines(meta, f, dir);
	fclose(f);
	if (right)
		return meta;
	meta_free(meta);
	return NULL;
}

const char *meta_trigger_text(const struct meta *meta, uint32_t id)
{
	for (unsigned int i = 0; i < meta->nr_triggers; i++)
		if (meta->trigger[i].id == id)
			return meta->trigger[i].text;
	return "";
}

uint64_t meta_mono_tsc(const struct meta *meta, uint64_t ns)
{
	const struct clock_pair *begin = &meta->begin, *end = &meta->end;

	if (ns <= begin->ns || end->ns <= begin->ns)
		return 0;
	return begin->tsc + (unsigned __int128)(ns - begin->ns) * (end->tsc - begin->tsc) / (end->ns - begin->ns);
}

bool meta_clock(const struct meta *meta, uint64_t tsc, uint64_t *ns)
{
	if (meta->time_mult)
		*ns = clock_to_ns(tsc, meta->time_zero, meta->time_mult, meta->time_shift);
	else if (meta->tsc_khz)
		*ns = (uint64_t)((unsigned __int128)tsc * 1000000 / meta->tsc_khz);
	else
		return false;
	return true;
}

uint64_t meta_tsc(const struct meta *meta, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX / 2, at;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		/* The clock may count from before the TSC began: modulo 2^64. */
		if (!meta_clock(meta, middle, &at))
			return 0;
		if ((int64_t)(at - ns) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool meta_duration(const struct meta *meta, uint64_t ticks, uint64_t *ns)
{
	uint64_t zero;

	if (!meta_clock(meta, 0, &zero) || !meta_clock(meta, ticks, ns))
		return false;
	*ns -= zero;
	return true;
}

void meta_free(struct meta *meta)
{
	for (unsigned int i = 0; i < meta->nr_triggers; i++)
		free(meta->trigger[i].text);
	free(meta->trigger);
	free(meta->cpu);
	free(meta);
}
