#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The auxtrace command in a guest with a stock kernel, or in a full Debian:
# tests/guest/command.sh.
#   command.sh [SERIES | --distro SUITE]
set -euo pipefail

me='command'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "distro" "$@"
set -- "${operands[@]}"
system "${distro-}" "$@"
mapfile -t files < <(guest_script command.sh)
exec "$top/scripts/vm" "${system[@]}" --smp 2 --mem 2G --timeout 1000 "${files[@]}" -- "$shell" /bin/command.sh
