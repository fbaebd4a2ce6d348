#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Does each command of docs/recipes.md print what stands there? In a guest with a stock kernel: tests/guest/recipes.sh.
#   recipes.sh [--work DIR] [SERIES]
set -euo pipefail

me='recipes'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "" "${operands[@]}"
work_directory
make -s --no-print-directory -C "$top/examples" >&2
mapfile -t files < <(guest_script recipes.sh)
# --out: what each command printed
exec "$top/scripts/vm" "${system[@]}" --smp 2 --icount 4 --timeout 600 --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$build/examples/sessions" --file "$build/examples/inventory" --file "$top/docs/recipes.md" \
	--file "$top/examples/inventory.c:/usr/src/inventory.c" --file "$top/examples/sessions.c:/usr/src/sessions.c" \
	-- "$shell" /bin/recipes.sh "$top/examples"
