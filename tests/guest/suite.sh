#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
#
# Runs in the guest: the given cmocka programs, one after the other, each within
# a time limit. The last line says "N passed, N failed, N skipped"; the exit
# status is 0 only if none failed, and 77 if none could run.
AUXTRACE_KO=${AUXTRACE_KO:-/modules/auxtrace.ko}
export AUXTRACE_KO
limit=${SUITE_LIMIT:-400}
# An NMI takes as long as its virtual CPU waits for a real one. To tell of that is an NMI of
# some thousand branches more, which BTS of the kernel records.
echo 1000000000000 2>/dev/null > /sys/kernel/debug/x86/nmi_longest_ns
echo 0 2>/dev/null > /proc/sys/kernel/perf_cpu_time_max_percent
passed=0 failed=0 skipped=0

# Counts what cmocka said of each test, before it says it again in its summary.
count()
{
	sed '/^\[==========\] [0-9]* test(s) run/,$d' /tmp/log | grep -c "^\[$1\]"
}

for program in "$@"; do
	echo "== $program"
	before=$(cut -d ' ' -f 1 /proc/uptime)
	{
		timeout -s KILL "$limit" "$program" 2>&1
		echo $? > /tmp/status
	} | tee /tmp/log
	status=$(cat /tmp/status)
	after=$(cut -d ' ' -f 1 /proc/uptime)
	ok=$(count '       OK ') bad=$(count '  FAILED  ') skip=$(count '  SKIPPED ')
	if [ "$status" -eq 77 ]; then
		skip=$((skip + 1))
	elif [ "$status" -ne "$bad" ]; then
		# Not the number of its failed tests: it did not get to its end.
		bad=$((bad + 1))
		echo "$program: ended with status $status in $(grep '^\[ RUN ' /tmp/log | tail -n 1)"
	fi
	passed=$((passed + ok)) failed=$((failed + bad)) skipped=$((skipped + skip))
	awk -v a="$before" -v b="$after" -v p="$program" -v ok="$ok" -v bad="$bad" -v skip="$skip" \
		'BEGIN { printf "== %s: %d passed, %d failed, %d skipped, %.1f s\n", p, ok, bad, skip, b - a }'
done

echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] || exit 1
[ "$passed" -gt 0 ] || exit 77
