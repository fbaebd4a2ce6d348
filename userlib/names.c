// SPDX-License-Identifier: LGPL-2.1-or-later
/* Names of the ABI's constants. */
#include "internal.h"
#include "module/trigger/kinds.h"

AUXTRACE_API const char *auxtrace_action_name(uint32_t action)
{
	return action < AUXT_NR_TRIGGER_ACTIONS ? auxt_trigger_actions[action].name : "?";
}

AUXTRACE_API const char *auxtrace_cause_name(uint32_t cause)
{
	static const char *const names[] = {
		[AUXTRACE_CAUSE_ERROR] = "error", [AUXTRACE_CAUSE_FOREIGN] = "foreign",
		[AUXTRACE_CAUSE_USER] = "user", [AUXTRACE_CAUSE_SESSION] = "session",
		[AUXTRACE_CAUSE_CPU] = "cpu", [AUXTRACE_CAUSE_FULL] = "full",
		[AUXTRACE_CAUSE_SNAPSHOT] = "snapshot", [AUXTRACE_CAUSE_TRIGGER] = "trigger",
		[AUXTRACE_CAUSE_TASK] = "task",
	};

	return cause < ARRAY_SIZE(names) && names[cause] ? names[cause] : "?";
}
