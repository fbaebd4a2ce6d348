#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots machines whose CPUs differ in Intel PT, with the better one first and last, and runs
# tests/guest/test_hybrid.c there.
#   hybrid.sh [--kernel SERIES]
set -euo pipefail

usage()
{
	echo "usage: hybrid.sh [--kernel SERIES]" >&2
	exit 2
}

kernel=6.1
case $#:${1-} in
0:) ;;
2:--kernel) kernel=$2 ;;
*) usage ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
status=0
for rich in 0 1; do
	profiles=(skylake icelake)
	echo "-- CPU 0: ${profiles[1 - rich]}, CPU 1: ${profiles[rich]}"
	"$here/run.sh" --kernel "$kernel" --smp 2 --limit 400 --set AUXTRACE_RICH_CPU="$rich" \
		--emulator-arg --profile --emulator-arg "${profiles[1 - rich]}" \
		--emulator-arg --hybrid --emulator-arg "1:${profiles[rich]}" test_hybrid || status=$?
done
exit "$status"
