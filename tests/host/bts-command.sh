#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The auxtrace command with --source bts in a guest with a stock kernel, and on a
# machine whose Intel PT the module cannot use: tests/guest/bts-command.sh.
#   bts-command.sh [SERIES [OPTION of scripts/vm]...]
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
kernel=${1:-6.1}
[ $# -eq 0 ] || shift
make -s -C "$top" all >&2
module=$("$top/scripts/build-module" "$kernel")

# guest MACHINE SECONDS OPTION...
guest()
{
	local machine=$1 seconds=$2
	shift 2
	# Virtual time: no timer interrupt gets between a trigger and the next.
	"$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout "$seconds" "$@" \
		--module "$module" --file "$top/build/tools/auxtrace" --file "$top/tests/guest/lib/check.sh" \
		--file "$top/tests/guest/bts-command.sh" -- bts-command.sh "$machine"
}

status=0
guest both 700 "$@" || status=$?
guest only 300 --bench-arg --profile --bench-arg broadwell "$@" || status=$?
exit "$status"
