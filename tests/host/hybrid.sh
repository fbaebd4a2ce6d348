#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots machines whose CPUs differ in Intel PT, with the better one first and last, and runs
# tests/guest/test_hybrid.c there.
#   hybrid.sh [--kernel SERIES]
set -euo pipefail

me=hybrid
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=6.1
options kernel "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage

status=0
for rich in 0 1; do
	profiles=(skylake icelake)
	echo "-- CPU 0: ${profiles[1 - rich]}, CPU 1: ${profiles[rich]}"
	"$top/tests/host/run.sh" --kernel "$kernel" --smp 2 --limit 400 --set AUXTRACE_RICH_CPU="$rich" \
		--emulator-arg --profile --emulator-arg "${profiles[1 - rich]}" \
		--emulator-arg --hybrid --emulator-arg "1:${profiles[rich]}" test_hybrid || status=$?
done
exit "$status"
