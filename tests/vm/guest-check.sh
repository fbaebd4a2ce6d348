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

has()
{
	grep -E "$1" /tmp/script
}

has_not()
{
	! grep -E "$1" /tmp/script
}

# windows NUMBER: as script shows them.
windows()
{
	n=$(grep -c '^ *[0-9]* window' /tmp/script)
	echo "$n windows, expected $1"
	[ "$n" -eq "$1" ]
}

record()
{
	auxtrace record -o "$@"
}

# refused PATTERN OPTION...: by record, which says why.
refused()
{
	pattern=$1
	shift
	auxtrace record -o refused "$@" -- true > /tmp/said 2>&1
	got=$?
	cat /tmp/said
	[ "$got" -ne 0 ] && grep -qE "$pattern" /tmp/said
}

# trigger RECORDING hits|acted|... ID: a figure of a trigger's line in meta.
trigger()
{
	sed -n "s/^trigger $3 .*\b$2 \([0-9]*\).*/\1/p" "$1/meta"
}

# acted RECORDING ID NUMBER
acted()
{
	n=$(trigger "$1" acted "$2")
	echo "trigger $2 of $1 acted $n times, expected $3"
	[ "$n" -eq "$3" ]
}
