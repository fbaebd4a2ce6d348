#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# record --on and list in a guest with a stock kernel.
#   trigger-command.sh command|events [SERIES [OPTION of scripts/vm]...]
# runs tests/guest/trigger-command.sh or trigger-events.sh.
set -euo pipefail

me=trigger-command
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
part=${1:-command} kernel=${2:-6.1}
shift $(($# < 2 ? $# : 2))
vm_prepare "$kernel"
mapfile -t files < <(guest_script "trigger-$part.sh")
# Virtual time: no timer interrupt comes between a trigger and the next.
exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --icount 4 --timeout 1000 "$@" \
	"${files[@]}" -- "trigger-$part.sh"
