#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
#
# `auxtrace record true` takes no longer than stock perf's `perf record -e intel_pt// true`, both with kernel and user
# code, in one guest with a stock kernel. Time there is virtual, an instruction 16 ns, so the host's load does
# not matter; a repeated string instruction counts once for each element.
#   record-true.sh [--work DIR] [SERIES]
set -euo pipefail

me='record-true'
# shellcheck source=tests/host/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
options "work" "$@"
[ ${#operands[@]} -le 1 ] || bad_usage
system "" "${operands[@]}"
work_directory
perf=$("$top/tests/oracle/perf" "${series%%-*}")
mapfile -t files < <(guest_script record-true.sh)
"$top/scripts/vm" "${system[@]}" --smp 2 --mem 2G --icount 4 --timeout 900 --work "$work/vm" --out "$work/out" "${files[@]}" \
	--file "$build/tests-guest/elapsed" --file "$perf:/perf" -- "$shell" /bin/record-true.sh

median()
{
	sort -n "$work/out/$1" | sed -n 2p
}

not_slower()
{
	[ "$(wc -l < "$work/out/ours")" -eq 3 ] && [ "$(wc -l < "$work/out/theirs")" -eq 3 ] &&
		[ "$(median ours)" -le "$(median theirs)" ]
}

verdict "of $(median ours) us, perf's $(median theirs): auxtrace record true takes no longer" not_slower
verdicts_end
