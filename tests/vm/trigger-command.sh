#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --on and list in a guest with a stock kernel: trigger-command-guest.sh.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
kernel=${1:-6.1}
[ $# -eq 0 ] || shift
make -s -C "$top" all >&2
# Virtual time: no timer interrupt gets between a trigger and the next.
exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout 300 "$@" \
	--module "$("$top/scripts/build-module" "$kernel")" \
	--file "$top/build/tools/auxtrace" --file "$here/guest-check.sh" \
	--file "$here/trigger-command-guest.sh" -- trigger-command-guest.sh
