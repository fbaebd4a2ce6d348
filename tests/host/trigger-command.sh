#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# record --on and list in a guest with a stock kernel.
#   trigger-command.sh command|events [KERNEL [OPTION OF scripts/vm]...]
# runs tests/guest/trigger-command.sh or trigger-events.sh.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$(dirname "$here")")
part=${1:-command} kernel=${2:-6.1}
shift $(($# < 2 ? $# : 2))
make -s -C "$top" all >&2
# Virtual time: no timer interrupt gets between a trigger and the next.
exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout 1000 "$@" \
	--module "$("$top/scripts/build-module" "$kernel")" \
	--file "$top/build/tools/auxtrace" --file "$top/tests/guest/lib/check.sh" \
	--file "$top/tests/guest/trigger-$part.sh" -- "trigger-$part.sh"
