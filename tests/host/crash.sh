#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Crashes a stock kernel while a session traces all CPUs, by tests/guest/crash.sh, and tests in
# the crash kernel (kdump) that the history is in memory and the hardware off: test_crash.c.
#   crash.sh [--kernel SERIES] [--module FILE] [--source pt|bts] [--append STRING] [--cpu N]
#            [--work DIR] [panic | oops | plain]...
#   panic   sysrq-c with a crash kernel loaded
#   oops    an oops in an interrupt, which starts the crash kernel without panic()
#   plain   a panic without a crash kernel; the host reads the machine's memory
set -euo pipefail

me=crash
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=6.1 module='' source=pt append='' cpu=1 keep=''
options 'kernel module source append cpu work' "$@"
[ ${#operands[@]} -gt 0 ] || operands=(panic oops plain)

guest=$build/tests-guest
make --no-print-directory -s -C "$top/tests/guest" OUT="$guest" tests >&2
[ -n "$module" ] || module=$("$top/scripts/build-module" "$kernel")
eval "$("$top/scripts/kernel" "$kernel" image)"
work_directory

files=(--module "$module" --file "$guest/crash" --file "$top/tests/guest/crash.sh")
crash_files=(--file "$guest/test_crash" --file "$top/tests/guest/suite.sh"
	--file "${vmlinuz:?}:/bin/vmlinuz")

# with_crash_kernel HOW [OPTION of scripts/vm]...
with_crash_kernel()
{
	local how=$1

	shift
	"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 1G --timeout 600 --work "$work/$(basename "$how")" --crash \
		--append "crashkernel=256M $append" "${files[@]}" "${crash_files[@]}" "$@" \
		-- env AUXTRACE_TEST_SOURCE="$source" crash.sh "$cpu" "$how"
}

plain()
{
	local status=0 ram=$work/ram

	"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 1G --timeout 600 --work "$work/plain" \
		--append "$append" "${files[@]}" \
		--emulator-arg -object --emulator-arg "memory-backend-file,id=ram,size=1G,share=on,mem-path=$ram" \
		--emulator-arg -machine --emulator-arg memory-backend=ram \
		-- env AUXTRACE_TEST_SOURCE="$source" crash.sh plain > "$work/said" 2> "$work/vm.log" || status=$?
	[ "$status" -ne 77 ] || return 77
	# The panic is a complaint.
	if [ "$status" -ne 125 ] || ! grep -q 'Kernel panic - not syncing: sysrq' "$work/plain/console.log"; then
		cat "$work/said" "$work/vm.log"
		echo "crash: the kernel did not panic (status $status)"
		return 1
	fi
	sed -n '/^-- plan/,/^-- end/{/^--/!p}' "$work/said" | base64 -d > "$work/plan"
	AUXTRACE_TEST_SOURCE=$source AUXTRACE_PLAN=$work/plan AUXTRACE_MEMORY=$ram \
		"$guest/test_crash" || return 1
}

for how in "${operands[@]}"; do
	echo "-- $how"
	case $how in
	panic) part with_crash_kernel panic ;;
	oops)
		oops=$("$top/scripts/build-module" --source "$top/tests/guest/oops" "$kernel")
		part with_crash_kernel /bin/oops.ko --file "$oops"
		;;
	plain) part plain ;;
	*) bad_usage ;;
	esac
done
verdicts_end
