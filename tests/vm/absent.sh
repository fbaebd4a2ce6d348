#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Boots machines that lack what the module needs, and tests what it says of them.
#   absent.sh [--kernel SERIES]
set -euo pipefail

kernel=6.1
case $# in
0) ;;
2) [ "$1" = --kernel ] || { echo "usage: absent.sh [--kernel SERIES]" >&2; exit 2; }
	kernel=$2 ;;
*) echo "usage: absent.sh [--kernel SERIES]" >&2; exit 2 ;;
esac

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
status=0
for missing in CPUID TOPA PMI; do
	case $missing in
	CPUID) bench=(--bench-arg --no-bench-msrs --bench-arg --cpu --bench-arg intel-pt=off) ;;
	TOPA) bench=(--bench-arg --profile --bench-arg broadwell) ;;
	PMI) bench=(--bench-arg --cpu --bench-arg pmu=off) ;;
	esac
	echo "-- a machine without $missing"
	"$here/run.sh" --kernel "$kernel" --smp 1 --limit 120 --set AUXTRACE_MISSING="$missing" \
		"${bench[@]}" test_absent || status=$?
done
exit "$status"
