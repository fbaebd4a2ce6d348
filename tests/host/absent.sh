#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Boots machines that lack something that the module needs, and tests what it reports
# there: tests/guest/test_absent.c.
#   absent.sh [--kernel SERIES]
set -euo pipefail

me=absent
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

kernel=6.1
options kernel "$@"
[ ${#operands[@]} -eq 0 ] || bad_usage

status=0
for machine in neither no-pmu no-topa no-ds bts-disabled no-ds-cpl; do
	append=''
	case $machine in
	neither) emulator=(--no-synthetic-msrs --cpu intel-pt=off) ;;
	no-topa) emulator=(--profile skylake:-topa:-topa-multi) ;;
	no-pmu) emulator=(--cpu pmu=off) ;;
	no-ds) emulator=(--profile skylake:-bts:-ds-cpl) ;;
	# In the model IA32_MISC_ENABLE[11] follows the CPUID bits. clearcpuid clears what the
	# kernel derives from it: X86_FEATURE_BTS, bit 13 of its word 3.
	bts-disabled) emulator=() append=clearcpuid=109 ;;
	no-ds-cpl) emulator=(--profile skylake:-ds-cpl) ;;
	esac
	arguments=()
	for argument in "${emulator[@]}"; do
		arguments+=(--emulator-arg "$argument")
	done
	echo "-- $machine"
	"$top/tests/host/run.sh" --kernel "$kernel" --smp 1 --limit 400 --set AUXTRACE_MACHINE="$machine" \
		--append "$append" "${arguments[@]}" test_absent || status=$?
done
exit "$status"
