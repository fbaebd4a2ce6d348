# shellcheck shell=sh
# SPDX-License-Identifier: GPL-2.0
#
# What scripts in the guest that check the auxtrace command have in common; to be
# sourced. $failed is their exit status.
# shellcheck disable=SC2034

failed=0

# check TEXT COMMAND...: the text is true if the command succeeds.
check()
{
	text=$1
	shift
	if "$@" > /tmp/out 2>&1; then
		echo "ok: $text"
	else
		echo "FAILED: $text"
		sed 's/^/  | /' /tmp/out | tail -n 60
		failed=1
	fi
}

# says PATTERN COMMAND...
says()
{
	pattern=$1
	shift
	"$@" > /tmp/said 2>&1
	cat /tmp/said
	grep -qE "$pattern" /tmp/said
}

# What script shows is in /tmp/script.
decodes()
{
	auxtrace script "$@" > /tmp/script 2> /tmp/summary
	result=$?
	cat /tmp/summary
	grep -q 'decode errors: 0' /tmp/summary && [ "$result" -eq 0 ]
}
