// SPDX-License-Identifier: GPL-2.0-or-later
/* Names and ranges of the knobs (synthetic.h). */
#include <stdlib.h>
#include <string.h>

#include "state.h"

static const struct knob {
	const char *name;
	uint64_t first, last;	/* 0 and 1: written off and on */
} knobs[PTM_KNOBS] = {
	[PTM_KNOB_DROP] = { "drop", 1, UINT32_MAX },
	[PTM_KNOB_PMI_SKID] = { "pmi-skid", 0, UINT32_MAX },
	[PTM_KNOB_PMI_WITHHOLD] = { "pmi-withhold", 0, 1 },
	[PTM_KNOB_TOPA_CACHE] = { "topa-cache", 0, 1 },
	[PTM_KNOB_WRITE_FAIL] = { "write-fail", 0, UINT32_MAX },
	[PTM_KNOB_WRMSR_FAULT] = { "wrmsr-fault", 0, UINT32_MAX },
	[PTM_KNOB_WRMSR_REFUSE] = { "wrmsr-refuse", 0, UINT32_MAX },
};

bool knob_write(struct ptm *p, enum ptm_knob which, uint64_t value)
{
	if (value < knobs[which].first || value > knobs[which].last)
		return false;
	p->knob[which] = value;
	if (which == PTM_KNOB_DROP)
		p->overflow = p->trigger_en;
	else if (which == PTM_KNOB_PMI_SKID && p->pmi_in > value)
		p->pmi_in = value ? value : 1;
	return true;
}

bool knob_refuses_wrmsr(struct ptm *p, const struct msr_bank *bank, uint32_t msr,
			uint64_t value)
{
	uint64_t *fault = &p->knob[PTM_KNOB_WRMSR_FAULT];
	uint64_t *refuse = &p->knob[PTM_KNOB_WRMSR_REFUSE];
	bool drives = bank->part == PART_PT || msr == MSR_DEBUGCTL;
	bool acknowledges = msr == MSR_GLOBAL_OVF_CTRL && value == GLOBAL_TOPA_PMI;

	if (*fault && (drives || acknowledges) && !--*fault)
		return true;
	if (!drives)
		return false;
	if (*refuse > 1) {
		--*refuse;
		return false;
	}
	return *refuse;
}

static bool is_switch(const struct knob *k)
{
	return k->last == 1;
}

static bool value_parse(const struct knob *k, const char *text, uint64_t *value)
{
	char *end;

	if (is_switch(k)) {
		*value = !strcmp(text, "on");
		return *value || !strcmp(text, "off");
	}
	/* strtoull() alone would take signs and blanks. */
	if (*text < '0' || *text > '9')
		return false;
	*value = strtoull(text, &end, 10);
	return !*end;
}

static size_t describe(const struct knob *k, char *to, size_t size)
{
	if (is_switch(k))
		return snprintf(to, size, "%s=on|off", k->name);
	return snprintf(to, size, "%s=N with N from %llu to %llu", k->name,
			(unsigned long long)k->first, (unsigned long long)k->last);
}

static void no_such_knob(const char *text, size_t len, char *why, size_t size)
{
	size_t n = snprintf(why, size, "no knob '%.*s'; accepted are:", (int)len, text);

	for (unsigned int i = 0; i < PTM_KNOBS && n < size; i++) {
		n += snprintf(why + n, size - n, "%s ", i ? "," : "");
		if (n < size)
			n += describe(&knobs[i], why + n, size - n);
	}
}

bool ptm_knob_set(struct ptm *p, const char *assignment, char *why, size_t why_size)
{
	size_t len = strcspn(assignment, "=");
	const char *text = assignment + len;
	uint64_t value;
	size_t n;

	if (*text)
		text++;
	for (unsigned int i = 0; i < PTM_KNOBS; i++) {
		const struct knob *k = &knobs[i];

		if (strlen(k->name) != len || memcmp(k->name, assignment, len))
			continue;
		if (value_parse(k, text, &value) && knob_write(p, i, value)) {
			p->knob_power_up[i] = value;
			return true;
		}
		n = snprintf(why, why_size, "'%s' is no value of knob %s; accepted is ", text, k->name);
		if (n < why_size)
			describe(k, why + n, why_size - n);
		return false;
	}
	no_such_knob(assignment, len, why, why_size);
	return false;
}
