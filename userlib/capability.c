// SPDX-License-Identifier: LGPL-2.1-or-later
/* The capabilities that INFO returns: tagged items, one after another. */
#include <errno.h>
#include <string.h>

#include "internal.h"

static const struct auxtrace_cap *cap_at(const struct auxtrace_session *s, size_t at)
{
	return (const void *)((const char *)s->caps + at);
}

int capabilities_check(struct auxtrace_session *s)
{
	size_t at = 0;

	while (at < s->caps_len) {
		size_t left = s->caps_len - at;
		const struct auxtrace_cap *cap = cap_at(s, at);

		if (left >= sizeof(*cap) && cap->tag == AUXTRACE_CAP_END) {
			s->caps_len = at;
			break;
		}
		if (left < sizeof(*cap) || cap->size < sizeof(*cap) || cap->size > left ||
		    cap->size % 8)
			return fail(EBADE, "the module reports a malformed capability at byte %zu", at);
		at += cap->size;
	}
	return 0;
}

bool capability_get(const struct auxtrace_session *s, uint32_t tag, void *to, size_t size)
{
	const struct auxtrace_cap *cap;

	memset(to, 0, size);
	for (size_t at = 0; at < s->caps_len; at += cap->size) {
		cap = cap_at(s, at);
		if (cap->tag == tag) {
			memcpy(to, cap, size < cap->size ? size : cap->size);
			return true;
		}
	}
	return false;
}

AUXTRACE_API int auxtrace_capability(const struct auxtrace_session *s, uint32_t tag, void *to,
				     size_t size)
{
	if (capability_get(s, tag, to, size))
		return 0;
	return fail(ENOENT, "this machine, or the module, has no capability %#x", tag);
}

uint32_t capability_pmu_state(const struct auxtrace_session *s, uint32_t pmu)
{
	struct auxtrace_cap_pmu cap;

	if (!capability_get(s, AUXTRACE_CAP_PMU(pmu), &cap, sizeof(cap)))
		return AUXTRACE_PMU_STATE_NO_CPUID;
	return cap.state;
}
