// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of the ABI's constants. */
#include "internal.h"

AUXTRACE_API const char *auxtrace_action_name(uint32_t action)
{
	static const char *const names[] = {
		[AUXTRACE_ACTION_NONE] = "none", [AUXTRACE_ACTION_PAUSE] = "pause",
		[AUXTRACE_ACTION_RESUME] = "resume", [AUXTRACE_ACTION_SAMPLE] = "sample",
		[AUXTRACE_ACTION_FREEZE] = "freeze",
	};

	return action < ARRAY_SIZE(names) ? names[action] : "?";
}

AUXTRACE_API const char *auxtrace_cause_name(uint32_t cause)
{
	static const char *const names[] = {
		[AUXTRACE_CAUSE_ERROR] = "error", [AUXTRACE_CAUSE_FOREIGN] = "foreign",
		[AUXTRACE_CAUSE_USER] = "user", [AUXTRACE_CAUSE_SESSION] = "session",
		[AUXTRACE_CAUSE_CPU] = "cpu", [AUXTRACE_CAUSE_FULL] = "full",
		[AUXTRACE_CAUSE_SNAPSHOT] = "snapshot", [AUXTRACE_CAUSE_TRIGGER] = "trigger",
	};

	return cause < ARRAY_SIZE(names) && names[cause] ? names[cause] : "?";
}
