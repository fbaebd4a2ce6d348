#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: the given cmocka programs, one after the other, each within a time
# limit. scripts/suite counts their cases; a line before and one after each program frame
# them. Exit status: 1 if a program failed, 77 if none could run.
AUXTRACE_KO=${AUXTRACE_KO:-/modules/auxtrace.ko}
export AUXTRACE_KO
limit=$((${SUITE_LIMIT:-400} * ${SLOWNESS:-1}))

now()
{
	cut -d ' ' -f 1 /proc/uptime
}

verdict=77
for program in "$@"; do
	echo "== $program"
	before=$(now) status=0
	timeout -s KILL "$limit" "$program" 2>&1 || status=$?
	# What was killed may have left the last line without an end.
	echo
	echo "== $program: status $status, $(now | awk -v a="$before" '{ printf "%.1f", $1 - a }') s"
	case $status in
	0) [ "$verdict" -eq 1 ] || verdict=0 ;;
	77) ;;
	*) verdict=1 ;;
	esac
done
exit "$verdict"
