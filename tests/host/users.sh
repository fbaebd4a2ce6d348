#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The auxtrace command and the README's example without root, in a guest with a stock kernel:
# tests/guest/users.sh.
#   users.sh [--source pt|bts] [SERIES]
set -euo pipefail

me='users'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
source=pt
options "source" "$@"
set -- "${operands[@]}"
system "" "$@"
mapfile -t files < <(guest_script users.sh)
make -s --no-print-directory -C "$top/examples" >&2
exec "$top/scripts/vm" "${system[@]}" --smp 2 --mem 1G --timeout 600 "${files[@]}" \
	--file "$build/examples/region" --file "$(command -v setpriv):/bin/full-setpriv" \
	-- "$shell" /bin/users.sh "$source"
