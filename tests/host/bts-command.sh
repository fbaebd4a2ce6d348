#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The auxtrace command with --source bts in a guest with a stock kernel, and on a
# machine whose Intel PT the module cannot use: tests/guest/bts-command.sh.
#   bts-command.sh [SERIES [OPTION of scripts/vm]...]
set -euo pipefail

me=bts-command
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kernel=${1:-6.1}
[ $# -eq 0 ] || shift
vm_prepare "$kernel"
mapfile -t files < <(guest_script bts-command.sh)

# guest MACHINE SECONDS OPTION...
guest()
{
	local machine=$1 seconds=$2
	shift 2
	# Virtual time: no timer interrupt comes between a trigger and the next.
	"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout "$seconds" "$@" \
		"${files[@]}" -- bts-command.sh "$machine"
}

status=0
guest both 700 "$@" || status=$?
guest only 300 --emulator-arg --profile --emulator-arg skylake:-topa:-topa-multi "$@" || status=$?
exit "$status"
