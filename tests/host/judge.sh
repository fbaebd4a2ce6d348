#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The judges, judged: on a kernel that checks itself, a module with a fault of each kind,
# tests/host/faulty, fails the run in a machine of scripts/vm, and one without passes it.
#   judge.sh SERIES
set -euo pipefail

kernel=${1:?usage: judge.sh SERIES}
case $kernel in
*-debug | *-kcsan) ;;
*)
	echo "judge: $kernel does not check itself" >&2
	exit 2
	;;
esac
me=judge
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
work_directory
module=$("$top/scripts/build-module" --source "$top/tests/host/faulty" "$kernel" "$work")

# machine COMMAND...: its exit status is $status, what it says in $work/said.
machine()
{
	status=0
	"$top/scripts/vm" --kernel "$kernel" --work "$work/vm" --file "$module:/faulty.ko" -- "$@" > "$work/said" 2>&1 ||
		status=$?
}

# What the machine said is shown if the command fails.
shown()
{
	"$@" || { cat "$work/said"; return 1; }
}

# found KIND PATTERN
found()
{
	machine insmod /faulty.ko kind="$1"
	verdict "$1 fails the run" shown [ "$status" = 125 ]
	verdict "and is named: $2" shown grep -qE "^(vm: the kernel complained|init): .*$2" "$work/said"
}

machine insmod /faulty.ko
verdict "a module without a fault passes" shown [ "$status" = 0 ]
case $kernel in
*-debug)
	found use_after_free 'KASAN: (slab-)?use-after-free'
	found vmalloc_out_of_bounds 'KASAN: vmalloc-out-of-bounds'
	found shift_out_of_bounds 'UBSAN: shift-out-of-bounds'
	found locks_in_two_orders 'possible circular locking'
	found sleep_in_atomic 'sleeping function called'
	found free_active_timer 'ODEBUG: free active'
	found add_twice 'list_add double add'
	found leak 'kmemleak'
	machine sh -c 'echo 0 > /proc/self/fail-nth && [ -e /sys/kernel/debug/kcov ] &&
		[ -d /sys/kernel/debug/failslab ] && [ -d /sys/kernel/debug/fail_page_alloc ]'
	verdict "fail-nth, failslab, fail_page_alloc and KCOV are there" shown [ "$status" = 0 ]
	verdict "KCOV traces the module" sh -c "nm '$module' | grep -q __sanitizer_cov_trace_pc"
	# What turned itself off finds nothing.
	machine sh -c 'echo off > /sys/kernel/debug/kmemleak'
	verdict "kmemleak off fails the run" shown [ "$status" = 125 ]
	;;
*-kcsan)
	found race_for_data 'KCSAN: data-race'
	;;
esac
verdicts_end
