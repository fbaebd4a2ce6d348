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
for machine in neither no-pmu no-topa no-ds bts-disabled no-ds-cpl; do
	append=''
	case $machine in
	neither) bench=(--no-bench-msrs --cpu intel-pt=off) ;;
	no-topa) bench=(--profile broadwell) ;;
	no-pmu) bench=(--cpu pmu=off) ;;
	no-ds) bench=(--profile skylake:-bts:-ds-cpl) ;;
	# The model's IA32_MISC_ENABLE[11] goes with the CPUID bits; what the kernel makes of it is
	# X86_FEATURE_BTS, bit 13 of its word 3.
	bts-disabled) bench=() append=clearcpuid=109 ;;
	no-ds-cpl) bench=(--profile skylake:-ds-cpl) ;;
	esac
	arguments=()
	for argument in "${bench[@]}"; do
		arguments+=(--bench-arg "$argument")
	done
	echo "-- $machine"
	"$here/run.sh" --kernel "$kernel" --smp 1 --limit 400 --set AUXTRACE_MACHINE="$machine" \
		--append "$append" "${arguments[@]}" test_absent || status=$?
done
exit "$status"
