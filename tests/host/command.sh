#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The auxtrace command in a guest with a stock kernel: tests/guest/command.sh.
#   command.sh [SERIES]
set -euo pipefail

me='command'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
kernel=${1:-6.1}
vm_prepare "$kernel"
mapfile -t files < <(guest_script command.sh)
exec "$top/scripts/vm" --kernel "$kernel" --smp 2 --mem 2G --timeout 1000 "${files[@]}" -- command.sh
