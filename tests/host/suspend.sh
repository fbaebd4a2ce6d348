#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# A machine sleeps in S3: with sessions of the device (tests/guest/test_suspend_ram.c), and while auxtrace records
# (tests/guest/suspend.sh).
#   suspend.sh [--kernel SERIES] [--source pt|bts] [--work DIR]
set -euo pipefail

me='suspend'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kernel=6.1 source=pt
options "kernel source work" "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage
system "" "$kernel"
work_directory

echo "-- the device"
part "$top/tests/host/run.sh" --kernel "$kernel" --module "$module" --source "$source" --suspend --smp 4 --mem 512M --limit 600 \
	--work "$work/device" test_suspend_ram
echo "-- the command"
mapfile -t files < <(guest_script suspend.sh)
part "$top/scripts/vm" "${system[@]}" --suspend --smp 2 --mem 1G --timeout 600 --work "$work/vm" "${files[@]}" \
	--file "$build/tests-guest/brief" -- "$shell" /bin/suspend.sh "$source"
verdicts_end
