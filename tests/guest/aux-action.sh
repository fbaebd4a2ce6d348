#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs in the guest: records the same flow by auxtrace and by perf. Several times, as an
# interrupt may come within any recording.
set -eu
export HOME=/out
cd /out

run()
{
	log=$1
	shift
	if ! "$@" > "$log" 2>&1; then
		echo "$* failed:"
		cat "$log"
		exit 1
	fi
	grep -q "^$(uname -r)$" "$log"
}

for n in 1 2 3 4; do
	run ours.log auxtrace record -o "ours.$n" -k -C 0 --start-paused \
		--on 'syscall:newuname:enter=resume,pid=command' \
		--on 'syscall:newuname:exit=pause,pid=command' -- uname -r
	# No braces: perf groups the events itself.
	PATH="/perf:$PATH" run perf.log perf record --kcore -o "perf.data.$n" -e \
		intel_pt/aux-action=start-paused/k,syscalls:sys_enter_newuname/aux-action=resume/,syscalls:sys_exit_newuname/aux-action=pause/ \
		uname -r
	cat ours.log perf.log
done
cp /proc/kallsyms kallsyms
