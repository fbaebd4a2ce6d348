// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * The config word of Intel PT, in the terms of perf's intel_pt format
 * (/sys/bus/event_source/devices/intel_pt/format).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define DEFAULT_CONFIG	"tsc,mtc,mtc_period=3,psb_period=3"

static uint32_t mtc_periods(const struct auxtrace_cap_intel_pt *pt)
{
	return pt->mtc_periods;
}

static uint32_t cyc_thresholds(const struct auxtrace_cap_intel_pt *pt)
{
	return pt->cyc_thresholds;
}

static uint32_t psb_periods(const struct auxtrace_cap_intel_pt *pt)
{
	return pt->psb_periods;
}

#define CYC	(1ULL << 1)
#define MTC	(1ULL << 9)
#define PT	(1ULL << 0)
#define PTW	(1ULL << 12)

const struct config_term config_terms[] = {
	{ "pt", 0, 1, 0, NULL, NULL },
	{ "cyc", 1, 1, 0, NULL, NULL },
	{ "pwr_evt", 4, 1, 0, NULL, NULL },
	{ "fup_on_ptw", 5, 1, PTW, "ptw", NULL },
	{ "mtc", 9, 1, 0, NULL, NULL },
	{ "tsc", 10, 1, 0, NULL, NULL },
	{ "noretcomp", 11, 1, 0, NULL, NULL },
	{ "ptw", 12, 1, 0, NULL, NULL },
	{ "branch", 13, 1, PT, "pt", NULL },
	{ "mtc_period", 14, 4, MTC, "mtc", mtc_periods },
	{ "cyc_thresh", 19, 4, CYC, "cyc", cyc_thresholds },
	{ "psb_period", 24, 4, 0, NULL, psb_periods },
	{ "event", 31, 1, 0, NULL, NULL },
	{ "notnt", 55, 1, 0, NULL, NULL },
};
const unsigned int nr_config_terms = ARRAY_SIZE(config_terms);

static const struct config_term *find_term(const char *name, size_t len)
{
	for (unsigned int i = 0; i < nr_config_terms; i++)
		if (strlen(config_terms[i].name) == len &&
		    !memcmp(config_terms[i].name, name, len))
			return &config_terms[i];
	return NULL;
}

static int unknown_term(const char *name, size_t len)
{
	char list[256] = "";

	for (unsigned int i = 0; i < nr_config_terms; i++) {
		if (i)
			strcat(list, ", ");
		strcat(list, config_terms[i].name);
	}
	return fail(EINVAL, "unknown config term \"%.*s\"; the terms are %s", (int)len, name, list);
}

static int parse_term(const char *text, size_t len, uint64_t *config)
{
	size_t name_len = strcspn(text, "=,");
	const struct config_term *term;
	unsigned long value = 1;
	char *end;

	term = find_term(text, name_len);
	if (!term)
		return unknown_term(text, name_len);
	if (name_len < len) {
		const char *number = text + name_len + 1;

		value = strtoul(number, &end, 0);
		if (end == number || end != text + len || *number == '-')
			return fail(EINVAL, "\"%.*s\" is not a value for %s: it takes a number",
				    (int)(text + len - number), number, term->name);
	} else if (term->bits > 1) {
		return fail(EINVAL, "%s needs a value: %s=0 to %s=%u", term->name, term->name,
			    term->name, (1u << term->bits) - 1);
	}
	if (errno == ERANGE || value >> term->bits)
		return fail(ERANGE, "%.*s is out of range: %s is at most %u", (int)len, text,
			    term->name, (1u << term->bits) - 1);
	*config &= ~CONFIG_TERM_MASK(term);
	*config |= (uint64_t)value << term->shift;
	return 0;
}

AUXTRACE_API int auxtrace_config_parse(const char *terms, uint64_t *config)
{
	uint64_t result = 0;

	while (*terms) {
		size_t len = strcspn(terms, ",");

		errno = 0;
		if (parse_term(terms, len, &result))
			return -1;
		terms += len;
		if (*terms == ',' && !*++terms)
			return fail(EINVAL, "a config term is missing after the last comma");
	}
	*config = result;
	return 0;
}

AUXTRACE_API int auxtrace_config_format(uint64_t config, char *buf, size_t size)
{
	char out[256] = "";
	int len = 0;

	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];
		uint64_t value = config_term_value(t, config);

		config &= ~CONFIG_TERM_MASK(t);
		if (!value)
			continue;
		len += sprintf(out + len, "%s%s", len ? "," : "", t->name);
		if (t->bits > 1)
			len += sprintf(out + len, "=%" PRIu64, value);
	}
	if (config)
		len += sprintf(out + len, "%s%#" PRIx64, len ? "," : "", config);
	return snprintf(buf, size, "%s", out);
}

uint64_t config_default(const struct auxtrace_cap_intel_pt *pt)
{
	uint64_t config = 0;

	auxtrace_config_parse(DEFAULT_CONFIG, &config);
	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];
		uint64_t value = config_term_value(t, config);

		if (!value)
			continue;
		if (CONFIG_TERM_MASK(t) & ~pt->config ||
		    (t->values && !(t->values(pt) >> value & 1)))
			config &= ~CONFIG_TERM_MASK(t);
	}
	return config;
}
